"""Conjugate gradients without a preconditioner, as the paper uses them for Mumford-Shah.

Compiled, on images: a library's, whose dot products wake threads that then wait for the next one, is several
times slower when anything else runs on the machine.
"""

import numpy as np

from normint.compiling import FAST, njit


class Cg:
    """Conjugate gradients for the system of :class:`normint.solver.system.System`."""

    def __init__(self, mask, weights=None, diagonal=None):
        self.mask = mask
        ones = np.ones(mask.shape)
        weights = (ones, ones) if weights is None else weights
        down, right = np.zeros((2, *mask.shape))
        down[:-1] = np.where(mask[:-1] & mask[1:], weights[0][:-1], 0.0)
        right[:, :-1] = np.where(mask[:, :-1] & mask[:, 1:], weights[1][:, :-1], 0.0)
        self.held = np.zeros(mask.shape) if diagonal is None else diagonal
        self.down, self.right = down, right
        self.coupled = bool(down.any()), bool(right.any())  # lines of pixels need half of the work
        self.diagonal = down + right + self.held
        self.diagonal[1:] += down[:-1]
        self.diagonal[:, 1:] += right[:, :-1]

    def solve(self, flux_down, flux_right, slopes, prior, initial, tolerance, max_iterations, callback):
        """Return the depth (NaN outside the mask), the number of iterations and the relative residual."""
        b = self._right_side(flux_down, flux_right, slopes, prior)
        scale = np.sqrt(np.sum(b * b))
        if scale == 0:
            return np.where(self.mask, 0.0, np.nan), 0, 0.0
        z = np.zeros(b.shape) if initial is None else np.where(self.mask, initial, 0.0)
        r, d, a_d = b.copy(), np.empty_like(b), np.empty_like(b)
        matrix = self.down, self.right, self.diagonal, self.coupled
        _multiply(*matrix, z, a_d)
        r -= a_d
        d[:] = r
        square, iteration = np.sum(r * r), 0
        while iteration < max_iterations and np.sqrt(square) > tolerance * scale:
            curvature = _multiply(*matrix, d, a_d)
            square = _advance(z, r, d, a_d, square, curvature)
            iteration += 1
            if callback:
                callback(iteration, np.sqrt(square) / scale)
        return np.where(self.mask, z, np.nan), iteration, np.sqrt(square) / scale

    def _right_side(self, flux_down, flux_right, slopes, prior):
        if slopes:
            flux_down, flux_right = flux_down.copy(), flux_right.copy()
            flux_down[:-1] = 0.5 * (flux_down[:-1] + flux_down[1:])
            flux_right[:, :-1] = 0.5 * (flux_right[:, :-1] + flux_right[:, 1:])
        # Where there is no edge the flux may be anything, NaN included.
        flux_down = np.where(self.down > 0, flux_down, 0.0) * self.down
        flux_right = np.where(self.right > 0, flux_right, 0.0) * self.right
        b = -flux_down - flux_right
        b[1:] += flux_down[:-1]
        b[:, 1:] += flux_right[:, :-1]
        if prior is not None:
            b += self.held * np.where(self.held > 0, prior, 0.0)
        return b


@njit(**FAST)
def _multiply(down, right, diagonal, coupled, x, result):
    """Set ``result`` to the matrix of the system times x, and return the product of both."""
    rows, cols = x.shape
    total = 0.0
    for i in range(rows):
        for j in range(cols):
            result[i, j] = diagonal[i, j] * x[i, j]
        if coupled[0] and i > 0:
            for j in range(cols):
                result[i, j] -= down[i - 1, j] * x[i - 1, j]
        if coupled[0] and i + 1 < rows:
            for j in range(cols):
                result[i, j] -= down[i, j] * x[i + 1, j]
        if coupled[1]:
            for j in range(cols - 1):
                result[i, j] -= right[i, j] * x[i, j + 1]
            for j in range(cols - 1):
                result[i, j + 1] -= right[i, j] * x[i, j]
        for j in range(cols):
            total += result[i, j] * x[i, j]
    return total


@njit(**FAST)
def _advance(z, r, d, a_d, square, curvature):
    """Make one step along d; return the new squared residual."""
    rows, cols = z.shape
    alpha, new = square / curvature, 0.0
    for i in range(rows):
        for j in range(cols):
            z[i, j] += alpha * d[i, j]
        for j in range(cols):
            r[i, j] -= alpha * a_d[i, j]
        for j in range(cols):
            new += r[i, j] * r[i, j]
    beta = new / square
    for i in range(rows):
        for j in range(cols):
            d[i, j] = r[i, j] + beta * d[i, j]
    return new
