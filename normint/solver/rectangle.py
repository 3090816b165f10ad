"""A full rectangle with weights of one and the same λ everywhere: two cosine transforms solve it exactly."""

import numpy as np
import scipy.fft

from normint.compiling import FAST, njit


def is_quick(mask, weights, diagonal):
    """Tell whether a system is of this kind, and its sides are lengths that transforms are quick for."""
    if weights is not None or not mask.all():
        return False
    if diagonal is not None and (diagonal != diagonal[0, 0]).any():
        return False
    return all(scipy.fft.next_fast_len(n, real=True) == n for n in mask.shape)


class Rectangle:
    """The system on a full rectangle.

    Parameters
    ----------
    diagonal : ndarray or None
        λ, the same for all pixels.

    Notes
    -----
    The type-2 cosine transform diagonalises the 5-point Laplacian with free boundary: its eigenvalues are
    4 sin²(πi/2m) + 4 sin²(πj/2n).
    """

    def __init__(self, diagonal=None):
        self.weight = 0.0 if diagonal is None else float(diagonal[0, 0])

    def solve(self, flux_down, flux_right, slopes, prior, initial, tolerance, max_iterations, callback):
        """Return the depth, the number of iterations, which is one, and the residual, which is rounding."""
        b = minus_divergence(flux_down, flux_right, slopes)
        if self.weight:
            b += self.weight * prior
        if callback is not None:
            callback(1, 0.0)
        return cosine_solution(b, self.weight), 1, 0.0


def cosine_solution(b, weight=0.0):
    """Return z with L z + λz = b, where −L is the 5-point Laplacian with free boundary; b is used up.

    Without λ, the mean of b is left out, and z has zero mean.
    """
    b = scipy.fft.dctn(b, type=2, overwrite_x=True, workers=1)
    _divide(b, *(4 * np.sin(np.pi * np.arange(n) / (2 * n)) ** 2 for n in b.shape), weight)
    return scipy.fft.idctn(b, type=2, overwrite_x=True, workers=1)


@njit(**FAST)
def minus_divergence(flux_down, flux_right, slopes):
    """Return what flows into each pixel of a rectangle less what flows out; slopes are at pixels."""
    rows, cols = flux_down.shape
    b, below, right = np.empty((rows, cols)), np.zeros(cols), np.zeros(cols + 1)
    half = 0.5 if slopes else 0.0
    for i in range(rows):
        for j in range(cols):
            b[i, j] = below[j]
        if i + 1 < rows:
            for j in range(cols):
                below[j] = (1 - half) * flux_down[i, j]
            for j in range(cols if slopes else 0):
                below[j] += half * flux_down[i + 1, j]
            for j in range(cols):
                b[i, j] -= below[j]
        for j in range(cols - 1):
            right[j + 1] = (1 - half) * flux_right[i, j]
        for j in range(cols - 1 if slopes else 0):
            right[j + 1] += half * flux_right[i, j + 1]
        for j in range(cols):
            b[i, j] += right[j] - right[j + 1]
    return b


@njit(**FAST)
def _divide(coefficients, eigenvalues_u, eigenvalues_v, weight):
    """Divide by the sums of eigenvalues and weight, in place; without a weight the constant mode is 0."""
    constant = coefficients[0, 0] / weight if weight > 0 else 0.0
    for i in range(eigenvalues_u.size):
        for j in range(eigenvalues_v.size):
            coefficients[i, j] /= eigenvalues_u[i] + eigenvalues_v[j] + weight
    coefficients[0, 0] = constant
