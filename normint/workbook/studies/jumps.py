"""How often is an edge a jump? It depends on its two normals, and on how the nearer side falls away.

An edge joins a pixel to the next one, downwards or to the right. Where one body ends before another, the
nearer one usually turns away from the camera towards its contour, and the two normals have nothing to do with
each other. So a jump shows in both: in the angle, and in the slope of the nearer side towards the edge.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from normint.domain import NEIGHBOURS
from normint.metrics import unexplained_steps
from normint.surfaces.sculptures import sculpture, spoiling
from normint.workbook.progress import bar

LEARNING = range(0, 120, 2)  # sculptures: so many, because most have too much noise
QUIET = 0.005  # the largest noise to learn from: noise makes angles larger
JUMP = 1.0  # pixels; what the slopes leave open by more is a jump
CUT = 0.1  # the weight below which an edge is cut
SURE = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)  # bins of confidence
ANGLES = np.array([0.0, 0.5, 1, 2, 4, 8, 16, 32, 64, 180])  # degrees
FALLS = np.array([-np.inf, -4, -2, -1, -0.5, 0, 0.5, 1, 2, 4, 8, np.inf])


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges of one scene or of many.

    Attributes
    ----------
    angle : ndarray
        Between the two normals, in radians.
    falls : ndarray
        2×count: how steeply the nearer side falls towards the edge, should the residual be negative, and
        should it be positive.
    jump : ndarray of int
        The sign of the residual where the depth jumps, else 0.
    """

    angle: np.ndarray
    falls: np.ndarray
    jump: np.ndarray

    @classmethod
    def joined(cls, parts):
        """Put edges of several scenes together."""
        parts = list(parts)
        return cls(*(np.concatenate([getattr(e, k) for e in parts], -1) for k in cls.__dataclass_fields__))


@dataclass(frozen=True)
class Odds:
    """The odds of a jump of one sign against none: a θ² (F + √(1 + F²))ᵐ + b.

    Attributes
    ----------
    a, m, b : float
    loss : float
        The mean negative log-likelihood of an edge.
    """

    a: float
    m: float
    b: float
    loss: float = np.nan

    def __call__(self, angle, fall):
        """Return the odds for an angle θ in radians and a fall F."""
        return self.a * np.square(angle) * np.exp(self.m * np.arcsinh(fall)) + self.b


START = Odds(0.05, 1.5, 1e-4)  # of a fit


@dataclass(frozen=True, eq=False)
class Frequencies:
    """How often edges jump, over bins of the angle (rows) and of the fall (columns).

    Attributes
    ----------
    angles, falls : ndarray
        The limits of the bins; angles in degrees.
    count, jumps : ndarray
        How many edges there are, each counted for both signs but not for the one against which it jumps; and
        how many of them jump.
    angle : ndarray
        The root of the mean squared angle of each row, in degrees; NaN where it is empty.
    fall : ndarray
        The mean fall of each column, in the mean of arsinh F; NaN where it is empty.
    """

    angles: np.ndarray
    falls: np.ndarray
    count: np.ndarray
    jumps: np.ndarray
    angle: np.ndarray
    fall: np.ndarray

    @property
    def share(self):
        """The share of jumps, o/(1 + o) for odds o; NaN where there are no edges."""
        return np.divide(self.jumps, self.count, out=np.full(self.count.shape, np.nan), where=self.count > 0)


def edges(p, q, mask, potential, *, away=False):
    """Measure the angle, both falls and the jump of all edges between two pixels of a mask.

    Parameters
    ----------
    p, q : ndarray
        Slopes along u and v, in pixels per pixel.
    mask : ndarray of bool
    potential : ndarray
        What has these slopes: the true depth z in pixels, or f log d. Edges at which it is NaN are left out.
    away : bool
        Whether it grows away from the camera, as f log d does.

    Returns
    -------
    Edges
        First those downwards, then those to the right.

    Notes
    -----
    From a pixel to the next the potential changes by the mean of their slopes g₀ and g₁ and a residual r.
    Whatever lies between, a surface that bends from one slope to the other has |r| ≤ |g₁ − g₀|/2; more by
    `JUMP` is a jump. With z towards the viewer, the first pixel is nearer if r < 0, and falls towards the
    edge by F = −g₀; if r > 0 the second is, and F = g₁. A distance has all signs turned over: the second is
    nearer if r < 0, with F = −g₁, and the first if r > 0, with F = g₀.

    Examples
    --------
    Flat ground, and a step down:

    >>> flat, z = np.zeros((1, 3)), np.array([[5.0, 5.0, 0.0]])
    >>> edges(flat, flat, flat == 0, z).jump
    array([ 0, -1])
    """
    normals = np.stack([-p, -q, np.ones_like(p)], axis=-1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    known = mask & np.isfinite(potential)
    both_axes = zip((p, q), unexplained_steps(potential, p, q), NEIGHBOURS, strict=True)
    return Edges.joined(_along(*one, normals, known, potential, away) for one in both_axes)


def _along(slope, beyond, ends, normals, known, potential, away):
    """Return the edges along one axis."""
    first, second = ends
    both = known[first] & known[second]
    g0, g1 = slope[first][both], slope[second][both]
    # The chord between unit normals tells small angles better than their product.
    chord = np.linalg.norm(normals[first][both] - normals[second][both], axis=-1)
    residual = potential[second][both] - potential[first][both] - (g0 + g1) / 2
    return Edges(
        angle=2 * np.arcsin(np.minimum(chord / 2, 1.0)),
        falls=np.stack([-g1, g0] if away else [-g0, g1]),
        jump=np.where(beyond[both] > JUMP, np.sign(residual), 0).astype(int),
    )


@dataclass(frozen=True, eq=False)
class Calls:
    """What a method calls jumps, beside the truth: one number for each edge.

    Attributes
    ----------
    cut : ndarray of bool
        Whether the method lets the surface jump there.
    confidence : ndarray
        How sure it is of that.
    beyond : ndarray
        By how many pixels the truth jumps there beyond what the slopes at both ends explain.
    """

    cut: np.ndarray
    confidence: np.ndarray
    beyond: np.ndarray

    @classmethod
    def of(cls, result, p, q, mask, potential):
        """Judge an Integration with weights and confidence; the other arguments are as for :func:`edges`."""
        parts, known = [], mask & np.isfinite(potential)
        steps = unexplained_steps(potential, p, q)
        for weight, sure, beyond, (first, second) in zip(
            result.weights, result.confidence, steps, NEIGHBOURS, strict=True
        ):
            both = known[first] & known[second]
            parts.append(cls(weight[first][both] < CUT, sure[first][both], beyond[both]))
        return cls.joined(parts)

    @classmethod
    def joined(cls, parts):
        """Put the calls of several scenes together."""
        parts = list(parts)
        return cls(*(np.concatenate([getattr(one, k) for one in parts]) for k in cls.__dataclass_fields__))

    @property
    def right(self):
        """Whether each call is right: a cut where the truth jumps, none where it does not by a pixel."""
        return np.where(self.cut, self.beyond > JUMP / 4, self.beyond <= JUMP)

    def precision(self):
        """Return the share of the cuts that are jumps."""
        return float(np.mean(self.beyond[self.cut] > JUMP / 2)) if self.cut.any() else 1.0

    def recall(self, least=3.0):
        """Return the share of the jumps of at least so many pixels that are cut."""
        high = self.beyond >= least
        return float(np.mean(self.cut[high])) if high.any() else 1.0

    def reliability(self, limits=SURE):
        """Return, for cuts and for all other edges, the mean confidence, the share right and the number.

        Parameters
        ----------
        limits : sequence of float
            Of the bins of confidence; those with fewer than 30 edges are left out.

        Returns
        -------
        dict
            From "cut" and "held" to an array of rows.
        """
        curves = {}
        for name, which in (("cut", self.cut), ("held", ~self.cut)):
            sure, right = self.confidence[which], self.right[which]
            bins = np.digitize(sure, limits)
            rows = [(sure[bins == k].mean(), right[bins == k].mean(), np.sum(bins == k))
                    for k in range(len(limits) + 1) if np.sum(bins == k) >= 30]  # fmt: skip
            curves[name] = np.array(rows).reshape(-1, 3)
        return curves


def recalibration(calls):
    """Fit how the confidence of a method would have to change so that it is what it says.

    Parameters
    ----------
    calls : Calls
        On data to learn from.

    Returns
    -------
    dict
        From "cut" and "held" to (offset, slope): the log-odds of being right are offset + slope·(the log-odds
        that the confidence states), by logistic regression. (0, 1) if nothing has to change.
    """
    fits = {}
    for name, which in (("cut", calls.cut), ("held", ~calls.cut)):
        sure = np.clip(calls.confidence[which], 1e-9, 1 - 1e-9)
        stated, sign = np.log(sure / (1 - sure)), np.where(calls.right[which], 1.0, -1.0)

        def loss(x, stated=stated, sign=sign):
            wrong = 1 / (1 + np.exp(sign * (x[0] + x[1] * stated)))
            value = -np.mean(np.log1p(-wrong))
            return value, -np.array([np.mean(sign * wrong), np.mean(sign * wrong * stated)])

        unit = loss(np.array([0.0, 1.0]))[0] or 1.0
        best = minimize(lambda x, loss=loss, unit=unit: tuple(part / unit for part in loss(x)), [0.0, 1.0],
                        jac=True, method="BFGS")  # fmt: skip
        fits[name] = tuple(float(part) for part in best.x)
    return fits


def learning_edges(seeds=LEARNING, n=160):
    """Collect the edges of the sculptures that have little noise and more than 8 bits.

    Parameters
    ----------
    seeds : sequence of int
        Those of :func:`normint.surfaces.sculptures.sculpture`; even ones are for learning.
    n : int
        The size of the sculptures.

    Returns
    -------
    Edges
    """
    seeds = [seed for seed, (sigma, bits) in zip(seeds, map(spoiling, seeds), strict=True)
             if sigma <= QUIET and bits != 8]  # fmt: skip
    return Edges.joined(sculpture_edges(sculpture(seed, n)) for seed in bar(seeds, "sculptures"))


def sculpture_edges(figure):
    """Return the edges of a Sculpture, with the slopes as measured."""
    seen = figure.slopes()
    potential = seen.lens.unit * seen.lens.potential(figure.depth)
    return edges(seen.p, seen.q, seen.mask, potential, away=not seen.lens.far)


def frequencies(found, angles=ANGLES, falls=FALLS):
    """Count jumps over bins of the angle and of the fall.

    Parameters
    ----------
    found : Edges
    angles, falls : array_like
        The limits of the bins, growing; angles in degrees. What lies beyond is not counted.

    Returns
    -------
    Frequencies
    """
    angles, falls = np.asarray(angles, dtype=np.float64), np.asarray(falls, dtype=np.float64)
    # Of an edge that jumps the one way nothing is known about the other: what remains has odds o : 1.
    each = np.stack([found.jump <= 0, found.jump >= 0])
    angle = np.degrees(np.broadcast_to(found.angle, each.shape)[each])
    fall, jumps = found.falls[each], np.broadcast_to(found.jump != 0, each.shape)[each]
    bins = np.clip(falls, -1e300, 1e300)

    def total(weights):
        return np.histogram2d(angle, fall, (angles, bins), weights=weights)[0]

    with np.errstate(invalid="ignore"):
        count = total(None)
        rms = np.sqrt(total(angle**2).sum(axis=1) / count.sum(axis=1))
        mean = np.sinh(total(np.arcsinh(fall)).sum(axis=0) / count.sum(axis=0))
    return Frequencies(angles, falls, count.astype(int), total(jumps).astype(int), rms, mean)


def fit_odds(found, start=START):
    """Fit the odds of jumps by maximum likelihood.

    Parameters
    ----------
    found : Edges
        Some of them jumps.
    start : Odds
        Where the search begins.

    Returns
    -------
    Odds

    Notes
    -----
    With the odds o₋ and o₊ of a jump down and up, an edge has none with the probability 1/(1 + o₋ + o₊), and
    a jump of the sign s with o_s/(1 + o₋ + o₊). The search is for log a, m and log b.
    """
    if not found.jump.any():
        raise ValueError("found has no jumps; expected some, or their odds are zero")
    square, turns = np.square(found.angle), np.arcsinh(found.falls)
    jumps = np.stack([found.jump < 0, found.jump > 0])

    def loss(x):
        grown = np.exp(x[0] + x[1] * turns) * square
        odds = grown + np.exp(x[2])
        total = 1 + odds.sum(axis=0)
        value = np.log(total).sum() - np.log(odds[jumps]).sum()
        change = grown / total
        change[jumps] -= grown[jumps] / odds[jumps]
        level = np.exp(x[2]) * (2 / total).sum() - (np.exp(x[2]) / odds[jumps]).sum()
        return value / square.size, np.array([change.sum(), (change * turns).sum(), level]) / square.size

    # The loss of an edge is small; in units of the first one the search stops where it should.
    x = np.array([np.log(start.a), start.m, np.log(start.b)])
    unit = loss(x)[0]
    best = minimize(lambda x: tuple(part / unit for part in loss(x)), x, jac=True, method="BFGS")
    log_a, m, log_b = best.x
    return Odds(float(np.exp(log_a)), float(m), float(np.exp(log_b)), float(best.fun * unit))
