"""Compare rules that choose the weight λ of a prior with the best λ, which only the truth shows."""

from dataclasses import dataclass, replace

import numpy as np

from normint.integration import integrate_quietly
from normint.metrics import absolute_error, rmse
from normint.normals.convert import gradient_to_normals, normals_to_gradient
from normint.priors import depth_sensor
from normint.priors.weights import Choice, choose_weight, merge, misfit_and_influence
from normint.surfaces import peaks, vase

__all__ = ["Rules", "measure", "scene", "sensed", "study_weights"]


@dataclass(frozen=True, eq=False)
class Rules:
    """The error for many λ, and what each rule makes of the data.

    Attributes
    ----------
    weights, errors : ndarray
        λ, and the error of the merged depth for each.
    marks : dict
        From a rule's name to its (λ, error).
    choice : Choice
        Of the first rule, the one of :func:`normint.priors.choose_weight`.
    depth : ndarray
        The depth merged with that choice.
    """

    weights: np.ndarray
    errors: np.ndarray
    marks: dict
    choice: Choice
    depth: np.ndarray

    def ratio(self, rule):
        """Return the error of a rule relative to the smallest one seen, its own included."""
        smallest = min([self.errors.min(), *(error for _, error in self.marks.values())])
        return float(self.marks[rule][1] / smallest)


def study_weights(p, q, prior, truth, mask=None, *, weights, rng, size=1, to_depth=np.asarray):
    """Merge with many λ, and with those that four rules choose without the truth.

    Parameters
    ----------
    p, q, prior, mask, rng, size
        As for :func:`normint.priors.choose_weight`.
    truth : array_like
        The true depth, finite in the mask.
    weights : sequence of float
        λ to try, in rising order.
    to_depth : callable
        Turns what was integrated into a depth comparable with the truth; see :mod:`normint.normals.camera`.

    Returns
    -------
    Rules
        Its rules are "our rule", "noise of the slopes only" (σ_g²/σ_z²), "cross-validation" (generalised) and
        "discrepancy" (the smallest λ whose misfit is at most σ_z²).

    Examples
    --------
    >>> from normint.surfaces import peaks
    >>> rng = np.random.default_rng(0)
    >>> surface = peaks(48)
    >>> noisy = surface.with_noise(0.2, rng)
    >>> prior = surface.depth + 0.5 * rng.standard_normal((48, 48))
    >>> weights = 10.0 ** np.arange(-4, 3)
    >>> found = study_weights(noisy.p, noisy.q, prior, surface.depth, weights=weights, rng=rng)
    >>> found.ratio("our rule") < 1.1
    True
    """
    weights = np.asarray(weights, dtype=np.float64)
    choice = choose_weight(p, q, prior, mask, rng=rng, size=size)
    misfit, influence = misfit_and_influence(p, q, prior, mask, weights=weights, rng=rng, size=size)
    fits = np.flatnonzero(misfit <= choice.prior_noise**2)
    chosen = {
        "our rule": choice.weight,
        "noise of the slopes only": choice.noise_weight,
        "cross-validation": weights[np.argmin(misfit / (1 - influence) ** 2)],
        "discrepancy": weights[fits[0] if fits.size else -1],
    }

    def merged(weight):
        return to_depth(merge(p, q, prior, mask, weight=weight, size=size))

    marks = {rule: (float(w), absolute_error(merged(w), truth, mask)) for rule, w in chosen.items()}
    errors = np.array([absolute_error(merged(weight), truth, mask) for weight in weights])
    return Rules(weights, errors, marks, choice, merged(choice.weight))


def scene(n):
    """Return peaks on n×n pixels, as deep in proportion for every n: the slopes do not depend on n."""
    s = peaks(n)
    return replace(s, depth=0.038 * n * s.depth, p=0.038 * n * s.p, q=0.038 * n * s.q)


def measure(surface, rng, *, slope_noise=0.1, tilt=0.0, size=9, noise=2.0):
    """Return slopes p, q and the values of a depth sensor, all with errors.

    Parameters
    ----------
    surface : Surface
    rng : numpy.random.Generator
    slope_noise : float
        The standard deviation of the noise of a slope.
    tilt : float
        By how many degrees all normals are turned about the horizontal axis.
    size : int
        The side of the blocks of which the sensor measures the mean depth.
    noise : float
        The standard deviation of its noise, in pixels.
    """
    exact = surface.p, surface.q
    if tilt:
        a = np.radians(tilt)
        turn = np.array([[1, 0, 0], [0, np.cos(a), np.sin(a)], [0, -np.sin(a), np.cos(a)]])
        exact = normals_to_gradient(gradient_to_normals(*exact) @ turn.T)
    p, q = (g + slope_noise * rng.standard_normal(g.shape) for g in exact)
    values = depth_sensor.block_means(surface.depth, size, surface.mask)
    return p, q, values + noise * rng.standard_normal(values.shape)


def sensed(*, surface, n, draw, weights, size=9, **options):
    """Merge slopes and the values of a sensor with many λ, and with those that rules choose.

    Parameters
    ----------
    surface : {"peaks", "vase", "vase and ground"}
    n : int
    draw : int
        Of all noise.
    weights : list of float
        λ to try.
    size, **options
        As for :func:`measure`.

    Returns
    -------
    dict
        For each rule its λ, its error, and that error relative to the least one; the errors of the sensor
        and of the normals alone; and an array, the errors for all λ.
    """
    s = scene(n) if surface == "peaks" else vase(n)
    s = replace(s, mask=np.ones_like(s.mask)) if surface == "vase and ground" else s
    rng = np.random.default_rng(draw)
    p, q, values = measure(s, rng, size=size, **options)
    prior = depth_sensor.refined(values, size, p, q, s.mask)
    found = study_weights(p, q, prior, s.depth, s.mask, weights=weights, size=size, rng=rng)
    row = {"errors": found.errors}
    for rule, (weight, error) in found.marks.items():
        row |= {f"weight, {rule}": weight, f"error, {rule}": error, f"ratio, {rule}": found.ratio(rule)}
    row["prior alone"] = absolute_error(depth_sensor.spread(values, size, s.mask), s.depth)
    row["normals alone, constant given"] = rmse(integrate_quietly(p, q, s.mask).depth, s.depth)
    return row
