"""Methods that the paper names, or argues against, without trying them: weighted least squares, all of them.

Each is a rule that makes weights of the four differences of a pixel from a depth, or from the slopes alone.
"""

import numpy as np

from normint.domain import NEIGHBOURS
from normint.inputs import as_count, as_gradient, as_positive
from normint.solver.system import System

__all__ = [
    "from_integrability",
    "from_smoothed_slopes",
    "indicators",
    "lengths",
    "reweighted",
    "smoothed_diffusion",
]


def reweighted(p, q, rule, *, iterations=50, smoothness=None):
    """Solve weighted least squares again and again, with the weights of the last depth.

    Parameters
    ----------
    p, q : array_like
        On a full rectangle.
    rule : callable
        Called as ``rule(k, r, d)`` with the iteration and two dicts of images: residuals and differences of
        the depth in the directions "down", "up", "right" and "left", zero where there is none. It returns
        weights of the same form.
    iterations : int
    smoothness : callable, optional
        Called as ``smoothness(d)``: weights of differences that should vanish, beside those that should
        follow the slopes.

    Returns
    -------
    ndarray
        The depth after the last iteration, from least squares.
    """
    p, q, mask = as_gradient(p, q)
    iterations = as_count("iterations", iterations)
    z = System(mask).solve(p, q, slopes=True, tolerance=1e-8).depth
    for k in range(iterations):
        d = _differences(z)
        r = {name: np.where(_exists(name, mask), d[name] - slope, 0.0) for name, slope in _slopes(p, q)}
        weights, flux = _edges(rule(k, r, d), p, q, smoothness and smoothness(d))
        system = System(mask, weights, raise_weak=True)
        z = system.solve(*flux, initial=z, tolerance=1e-6, max_iterations=30).depth
    return z


def lengths(*, isotropic=True, least=1e-3):
    """Return the rule of total variation: weights 1/s, with s the length of the residual.

    Parameters
    ----------
    isotropic : bool
        Whether p and q of a pixel share one length √(r_u² + r_v²), or each has its own |r|.
    least : float
        δ of √(s² + δ²) in the end: it falls from 1 by a factor of 0.7. What stays large makes total variation
        differentiable.
    """
    as_positive("least", least)

    def rule(k, r, d):
        delta = max(0.7**k, least)
        if not isotropic:
            return {name: 0.5 / np.sqrt(r[name] ** 2 + delta**2) for name in r}
        weights = {name: np.zeros(r[name].shape) for name in r}
        for u in ("down", "up"):
            for v in ("right", "left"):
                share = 0.25 / np.sqrt(r[u] ** 2 + r[v] ** 2 + delta**2)
                weights[u] += share
                weights[v] += share
        return weights

    return rule


def indicators(mu, epsilon=0.01, *, fields=4):
    """Return the rule of Mumford-Shah with one indicator for each difference, or one for all of a pixel.

    Notes
    -----
    At ε = 0.01 the term ε‖∇w‖² is small beside (w - 1)²/4ε, and left out: w = 1/(1 + 4εμ r²), or with one
    field w = 1/(1 + 2εμ Σ r²) over the four residuals.
    """
    cost = 4 * as_positive("epsilon", epsilon) * as_positive("mu", mu)
    if fields not in (1, 4):
        raise ValueError(f"fields is {fields!r}; expected 1 or 4")

    def rule(k, r, d):
        if fields == 4:
            return {name: (1 + cost * r[name] ** 2) ** -2 for name in r}
        together = 0.5 * sum(residual**2 for residual in r.values())
        return dict.fromkeys(r, (1 + cost * together) ** -2)

    return rule


def smoothed_diffusion(mu, nu):
    """Return the rule of anisotropic diffusion, to be used with a `smoothness`."""
    as_positive("mu", mu), as_positive("nu", nu)

    def rule(k, r, d):
        slope = {name: d[name] - r[name] for name in r}  # p or q
        square = {
            "down": 0.5 * (d["right"] ** 2 + d["left"] ** 2),
            "right": 0.5 * (d["down"] ** 2 + d["up"] ** 2),
        }
        square |= {"up": square["down"], "left": square["right"]}
        return {
            name: 1 / (1 + (d[name] ** 2 + square[name]) / mu**2) / (1 + (slope[name] / nu) ** 2)
            for name in r
        }

    return rule


def from_integrability(p, q, scale):
    """Return a rule whose weights fall where slopes contradict each other: 1/(1 + (curl/scale)²)."""
    p, q, _ = as_gradient(p, q)
    curl = np.gradient(p, axis=1) - np.gradient(q, axis=0)
    weight = 1 / (1 + (curl / as_positive("scale", scale)) ** 2)
    return lambda k, r, d: dict.fromkeys(r, weight)


def from_smoothed_slopes(p, q, scale, *, width=1.0):
    """Return a rule whose weights fall where slopes, smoothed by a Gaussian, are steeper than a scale."""
    from scipy.ndimage import gaussian_filter

    p, q, _ = as_gradient(p, q)
    square = gaussian_filter(p, width) ** 2 + gaussian_filter(q, width) ** 2
    weight = 1 / (1 + square / as_positive("scale", scale) ** 2)
    return lambda k, r, d: dict.fromkeys(r, weight)


def _slopes(p, q):
    return ("down", p), ("up", p), ("right", q), ("left", q)


def _exists(name, mask):
    inside = np.zeros(mask.shape, bool)
    (up, down), (left, right) = NEIGHBOURS
    inside[{"down": up, "up": down, "right": left, "left": right}[name]] = True
    return inside


def _differences(z):
    """Return the four differences of each pixel, zero where there is none."""
    down, right = np.zeros((2, *z.shape))
    down[:-1], right[:, :-1] = np.diff(z, axis=0), np.diff(z, axis=1)
    up, left = np.roll(down, 1, axis=0), np.roll(right, 1, axis=1)
    return {"down": down, "up": up, "right": right, "left": left}


def _edges(weights, p, q, smooth):
    """Add up what the two pixels of an edge say: its weight, and its flux, their weighted mean slope."""
    total, fluxes = [], []
    for axis, (forward, backward, slope) in enumerate((("down", "up", p), ("right", "left", q))):
        after, slope_after = np.roll(weights[backward], -1, axis), np.roll(slope, -1, axis)
        weight = weights[forward] + after
        pull = weights[forward] * slope + after * slope_after
        if smooth is not None:
            weight = weight + smooth[forward] + np.roll(smooth[backward], -1, axis)
        total.append(weight)
        fluxes.append(pull / weight)
    return tuple(total), fluxes
