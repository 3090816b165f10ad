"""How much to trust a prior depth: the weight λ of Section 2.4, from the data alone.

All functions take a prior z⁰ as an image that is NaN where nothing is known: a value in every pixel, one for
each block of a coarse depth map (see :mod:`normint.priors.depth_sensor`), or a handful of control points.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normint import inputs
from normint.curl import gradient_noise, robust_spread
from normint.integration import integrate
from normint.priors.depth_sensor import block_means, spread
from normint.solver.system import System

__all__ = ["Choice", "choose_weight", "merge", "misfit_and_influence", "prior_noise"]

LARGEST = 100.0  # beyond, a pixel is at its prior value to 4 %, whatever its four edges say
PER_DECADE = 3  # steps of λ: within one of them the error near its minimum changes little


class Choice(NamedTuple):
    """A weight for a prior, and what it was chosen from."""

    weight: float  # λ, the one to use
    noise_weight: float  # σ_g²/σ_z²: what the noise of the slopes alone asks for
    gradient_noise: float  # σ_g
    prior_noise: float  # σ_z
    tried: NDArray[np.float64]  # values of λ, from the noise weight upwards
    squared_errors: NDArray[np.float64]  # Stein's estimate for each; its own noise may make it negative


def merge(
    p: ArrayLike, q: ArrayLike, prior: ArrayLike, mask: ArrayLike | None = None, *,
    weight: ArrayLike, size: int = 1, tolerance: float = 1e-5,
) -> NDArray[np.float64]:  # fmt: skip
    """Integrate a gradient with a prior that is given at some pixels.

    Parameters
    ----------
    p, q, mask
        As for :func:`normint.integrate`.
    prior : array_like
        z⁰; NaN where there is none.
    weight : float or array_like
        λ of each value. It is not used where there is none.
    size : int
        Side of the blocks of pixels that share a value and its weight: each pixel has λ/size².

    Returns
    -------
    ndarray
        The depth, NaN outside the mask.
    """
    weight = np.where(np.isfinite(prior), weight, 0.0) / inputs.as_count("size", size) ** 2
    return integrate(p, q, mask, prior=prior, prior_weight=weight, tolerance=tolerance).depth


def prior_noise(
    p: ArrayLike, q: ArrayLike, prior: ArrayLike, mask: ArrayLike | None = None, *, size: int = 1
) -> float:
    """Estimate the noise σ_z of a prior by comparing it with the depth that the gradient alone gives.

    Parameters
    ----------
    p, q, prior, mask, size
        As for :func:`merge`.

    Returns
    -------
    float

    Notes
    -----
    The depth from the gradient drifts away from the truth, but slowly: between one value of the prior and the
    next in its row or column, z⁰ - z changes by the noise of the two values, with the variance 2σ_z². Again
    the median of the absolute changes is used, so that a few wrong values do no harm.

    Examples
    --------
    >>> noise = 3.0 * np.random.default_rng(0).standard_normal((64, 64))
    >>> round(prior_noise(np.zeros((64, 64)), np.zeros((64, 64)), noise))
    3
    """
    p, q, mask = inputs.as_gradient(p, q, mask)
    prior, _ = known_values(prior, mask)
    return noise_between_neighbours(prior - integrate(p, q, mask).depth, size)


def choose_weight(
    p: ArrayLike, q: ArrayLike, prior: ArrayLike, mask: ArrayLike | None = None, *,
    rng: np.random.Generator, size: int = 1, probes: int | None = None,
) -> Choice:  # fmt: skip
    """Choose the weight λ of a prior without tuning and without the truth.

    Parameters
    ----------
    p, q, mask
        As for :func:`normint.integrate`.
    prior : array_like
        z⁰; NaN where there is none. The noise of its values should be independent.
    rng : numpy.random.Generator
        For the random signs that estimate a trace.
    size : int
        Side of the blocks of pixels that share a value, as `refined` of the depth sensor makes them.
        λ is the weight of a value; each pixel of its block has λ/size².
    probes : int, optional
        How many images of random signs: by default 4, or fewer if that still makes a thousand signs.

    Returns
    -------
    Choice

    Notes
    -----
    Noise of the slopes with variance σ_g² leaves an error of variance σ_g²/κ in a smooth mode of eigenvalue
    κ; the prior has σ_z² in each mode. Weighting both inversely to their variances is exactly what the energy
    does if λ = σ_g²/σ_z². This is `noise_weight`, a lower bound: jumps or biased normals leave larger errors,
    which a curl does not show but the prior does. So larger λ are tried, and judged by Stein's estimate of
    the mean squared error of the m pixels, or block means, that have a prior,

        S(λ) = ‖z - z⁰‖²/m - σ_z² + 2σ_z² tr(A)/m,

    where A is the matrix by which the prior values enter the depth there (:func:`misfit_and_influence`).
    With few values S is itself noisy. Noise of the prior alone makes differences of S with a standard
    deviation of at most 2σ_z² √(tr(A)/m²); unless the minimum is lower than S at the noise weight by more
    than three of them, the noise weight is kept.

    References
    ----------
    C. Stein, "Estimation of the Mean of a Multivariate Normal Distribution", Annals of Statistics, 1981.

    Examples
    --------
    >>> from normint.metrics import absolute_error
    >>> from normint.surfaces import peaks
    >>> rng = np.random.default_rng(0)
    >>> surface = peaks(64)
    >>> noisy = surface.with_noise(0.1, rng)
    >>> prior = surface.depth + 0.5 * rng.standard_normal(surface.depth.shape)
    >>> choice = choose_weight(noisy.p, noisy.q, prior, rng=rng)
    >>> depth = merge(noisy.p, noisy.q, prior, weight=choice.weight)
    >>> absolute_error(depth, surface.depth) < 0.2 * absolute_error(prior, surface.depth)
    True
    """
    p, q, mask = inputs.as_gradient(p, q, mask)
    prior, known = known_values(prior, mask)
    sigma_g = gradient_noise(p, q, mask)
    sigma_z = noise_between_neighbours(prior - integrate(p, q, mask).depth, size)
    # A weight below this changes the slowest mode by less than 1 %: it only fixes the constant.
    pixels_per_value = size**2 * np.count_nonzero(mask) / np.count_nonzero(known)
    least = 0.01 * (np.pi / max(mask.shape)) ** 2 * pixels_per_value
    noise_weight = LARGEST if sigma_z == 0 else min(max(sigma_g**2 / sigma_z**2, least), LARGEST)
    steps = int(np.ceil(PER_DECADE * np.log10(LARGEST / noise_weight)))
    tried = noise_weight * 10 ** (np.arange(steps + 1) / PER_DECADE)
    which: dict[str, Any] = {"weights": tried, "rng": rng, "size": size, "probes": probes}
    misfit, influence = misfit_and_influence(p, q, prior, mask, **which)
    squared = misfit - sigma_z**2 + 2 * sigma_z**2 * influence
    best, values = int(np.argmin(squared)), np.count_nonzero(known) / size**2
    if squared[0] - squared[best] <= 3 * 2 * sigma_z**2 * np.sqrt(influence[best] / values):
        best = 0  # may be chance
    return Choice(float(tried[best]), noise_weight, sigma_g, sigma_z, tried, squared)


def misfit_and_influence(
    p: ArrayLike, q: ArrayLike, prior: ArrayLike, mask: ArrayLike | None = None, *,
    weights: Sequence[float] | NDArray[np.float64], rng: np.random.Generator, size: int = 1,
    probes: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
    """Measure, for several λ, how far the depth stays from the prior and how much the prior decides.

    Parameters
    ----------
    p, q, prior, mask, rng, size, probes
        As for :func:`choose_weight`.
    weights : sequence of float
        Values of λ.

    Returns
    -------
    misfit : ndarray
        ‖z - z⁰‖²/m over the m pixels, or block means, that have a prior, for each λ.
    influence : ndarray
        tr(A)/m with A = ∂z/∂z⁰ there: 0 if only the gradient decides, 1 if only the prior does.

    Notes
    -----
    The trace is the mean of eᵀAe over vectors e of random signs; Ae is one more integration, of a flat
    gradient with the prior e. From the two numbers come Stein's estimate, see :func:`choose_weight`,
    generalised cross validation, misfit/(1 - influence)², and the discrepancy principle, misfit = σ_z².
    """
    p, q, mask = inputs.as_gradient(p, q, mask)
    prior, known = known_values(prior, mask)
    size = inputs.as_count("size", size)
    if probes is None:
        probes = int(np.clip(np.ceil(1000 * size**2 / np.count_nonzero(known)), 1, 4))
    probes = inputs.as_count("probes", probes)
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng is a {type(rng).__name__}; expected a numpy.random.Generator")
    blocks = tuple(-(-n // size) for n in mask.shape)
    signs = [rng.choice([-1.0, 1.0], blocks) for _ in range(probes)]
    flat, misfit, influence = np.zeros(mask.shape), [], []

    def means(image: NDArray[np.float64]) -> NDArray[np.float64]:  # of the blocks that have a prior
        return block_means(image, size, known, least=0.0)

    for weight in weights:
        weight = inputs.as_positive("weights", weight) / size**2
        system = System(mask, diagonal=np.where(known, weight, 0.0))
        depth = system.solve(p, q, prior, slopes=True, tolerance=1e-5).depth
        misfit.append(np.nanmean(means(depth - prior) ** 2))
        answers = [means(system.solve(flat, flat, spread(e, size, mask)).depth) for e in signs]
        influence.append(np.nanmean(np.array(signs) * answers))
    return np.array(misfit), np.array(influence)


def known_values(prior: Any, mask: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the prior with NaN outside the mask, and where it is known."""
    try:
        prior = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("prior is not an array of numbers; expected an image, NaN where unknown") from None
    if prior.shape != mask.shape:
        raise ValueError(f"prior has shape {prior.shape}; expected {mask.shape}, the shape of the mask")
    known = mask & np.isfinite(prior)
    if not known.any():
        raise ValueError("prior is NaN everywhere in the mask; expected at least one value")
    return np.where(known, prior, np.nan), known


def noise_between_neighbours(difference: NDArray[np.float64], size: int) -> float:
    """Return σ_z from the changes of z⁰ - z between one known value and the next, along rows and columns."""
    difference, changes = block_means(difference, size, np.isfinite(difference), least=0.0), []
    for image in (difference, difference.T):
        rows, _ = np.nonzero(np.isfinite(image))
        changes.append(np.diff(image[np.isfinite(image)])[np.diff(rows) == 0])
    every = np.concatenate(changes)
    if not every.size:
        raise ValueError("prior has no two values in one row or column; expected some, to measure its noise")
    return robust_spread(every) / 2**0.5
