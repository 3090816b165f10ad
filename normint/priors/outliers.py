"""A prior of which some values are wrong: λ that varies over the image."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normint import inputs
from normint.curl import gradient_noise, robust_spread
from normint.integration import integrate
from normint.priors.weights import known_values, merge, noise_between_neighbours

__all__ = ["distrust_outliers"]


def distrust_outliers(
    p: ArrayLike, q: ArrayLike, prior: ArrayLike, mask: ArrayLike | None = None, *,
    weight: float | None = None, noise: float | None = None, size: int = 1, cutoff: float = 3.0,
    max_iterations: int = 20,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
    """Merge with a prior of which some values are wrong: λ falls where the result disagrees with the prior.

    Parameters
    ----------
    p, q, mask
        As for :func:`normint.integrate`.
    prior : array_like
        z⁰; NaN where there is none.
    weight : float, optional
        λ of a value in full trust; by default σ_g²/σ_z² from `gradient_noise` and `noise`.
    noise : float, optional
        σ_z of the good values; by default `prior_noise`.
    size : int
        Side of the blocks of pixels that share a value, as for :func:`normint.priors.choose_weight`.
    cutoff : float
        At so many σ_z the trust has fallen to a quarter.
    max_iterations : int

    Returns
    -------
    depth : ndarray
        NaN outside the mask.
    trust : ndarray
        Between 0 and 1 where there is a prior, NaN elsewhere; λ = weight·trust.

    Notes
    -----
    Geman and McClure's estimator Σ λσ² r²/(σ² + r²) in place of Σ λr², r = z - z⁰, by reweighted least
    squares: trust = (1 + r²/σ²)⁻². It is not convex. The start is the depth of the gradient alone, shifted by
    the median difference in each piece, and σ shrinks from what the residuals show there to cutoff·σ_z, by
    half each time.

    References
    ----------
    S. Geman and D. McClure, "Statistical Methods for Tomographic Image Reconstruction", 1987.

    Examples
    --------
    >>> prior = np.zeros((20, 20))
    >>> prior[5, 5] = 50.0
    >>> depth, trust = distrust_outliers(np.zeros((20, 20)), np.zeros((20, 20)), prior, weight=1.0, noise=1.0)
    >>> bool(trust[5, 5] < 1e-4), bool(trust[0, 0] > 0.99), bool(np.abs(depth).max() < 0.01)
    (True, True, True)
    """
    p, q, mask = inputs.as_gradient(p, q, mask)
    prior, known = known_values(prior, mask)
    cutoff = inputs.as_positive("cutoff", cutoff)
    max_iterations = inputs.as_count("max_iterations", max_iterations)
    depth = integrate(p, q, mask).depth
    noise = noise_between_neighbours(prior - depth, size) if noise is None else noise
    noise = inputs.as_positive("noise", noise)
    weight = gradient_noise(p, q, mask) ** 2 / noise**2 if weight is None else weight
    weight = inputs.as_positive("weight", weight)
    residual = prior - depth - _piecewise_median(prior - depth, mask)
    last, scale = cutoff * noise, cutoff * max(noise, robust_spread(residual[known]))
    trust = np.where(known, 0.0, np.nan)
    for _ in range(max_iterations):
        before, trust = trust, (1 + (residual / scale) ** 2) ** -2.0
        if scale == last and np.nanmax(np.abs(trust - before)) < 1e-3:
            break
        depth = merge(p, q, np.where(known, prior, np.nan), mask, weight=weight * trust, size=size)
        residual, scale = np.where(known, depth - prior, np.nan), max(last, scale / 2)
    return depth, trust


def _piecewise_median(difference: NDArray[np.float64], mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    from scipy.ndimage import label, median

    labels, count = label(mask)
    known = np.isfinite(difference)
    medians = np.zeros(count + 1)
    present = np.unique(labels[known])
    medians[present] = median(difference[known], labels[known], present)
    return medians[labels]
