"""The solvers that ours is compared with: pyamg, a sparse factorisation, and conjugate gradients."""

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from normint.compiling import FAST, njit
from normint.domain import NEIGHBOURS
from normint.extras import extra
from normint.solver.pieces import Pieces


class _Assembled:
    """The system as a sparse matrix, its unknowns the pixels of the mask row by row."""

    def __init__(self, mask, weights=None, diagonal=None, pieces=None):
        self.mask = mask
        n = np.count_nonzero(mask)
        number = np.full(mask.shape, -1, np.int32)  # pyamg knows no wider indices
        number[mask] = np.arange(n)
        self.edges = []
        for axis, (here, there) in enumerate(NEIGHBOURS):
            inside = mask[here] & mask[there]
            w = np.ones(mask.shape)[here] if weights is None else weights[axis][here]
            self.edges.append((number[here][inside], number[there][inside], w[inside], here, there, inside))
        i, j, w = (np.concatenate([edge[k] for edge in self.edges]) for k in range(3))
        self.held = np.zeros(n) if diagonal is None else diagonal[mask]
        joined = scipy.sparse.coo_array((w, (i, j)), shape=(n, n)).tocsr()
        joined = joined + joined.T
        self.matrix = (scipy.sparse.diags_array(joined.sum(axis=0) + self.held) - joined).tocsr()
        # Where no λ holds a connected piece, its first pixel is held at zero. The equations of such a piece
        # sum to zero, so this changes no difference of depths, and the matrix becomes regular.
        pieces = Pieces(mask, weights) if pieces is None else pieces
        label = pieces.labels[mask] - 1
        free = np.bincount(label, self.held) == 0
        pinned = np.zeros(n)
        pinned[np.unique(label, return_index=True)[1][free]] = 1.0
        self.regular = (self.matrix + scipy.sparse.diags_array(pinned)).tocsr()

    def right_side(self, flux_down, flux_right, slopes, prior):
        """Return b; with ``slopes`` an edge's flux is the mean of those at its two ends."""
        b = np.zeros(self.held.size) if prior is None else self.held * prior[self.mask]
        for (i, j, w, here, there, inside), flux in zip(self.edges, (flux_down, flux_right), strict=True):
            t = w * (0.5 * (flux[here] + flux[there]) if slopes else flux[here])[inside]
            b -= np.bincount(i, t, b.size)
            b += np.bincount(j, t, b.size)
        return b

    def _finish(self, z, b, iterations):
        scale = np.linalg.norm(b)
        residual = np.linalg.norm(b - self.matrix @ z) / scale if scale else 0.0
        depth = np.full(self.mask.shape, np.nan)
        depth[self.mask] = z
        return depth, iterations, residual


class Pyamg(_Assembled):
    """Conjugate gradients preconditioned by the Ruge-Stüben multigrid of pyamg."""

    def __init__(self, mask, weights=None, diagonal=None, pieces=None):
        with extra("workbook", 'solver="pyamg"'):
            import pyamg
        super().__init__(mask, weights, diagonal, pieces)
        self.conjugate_gradients = pyamg.krylov.cg
        self.levels = pyamg.ruge_stuben_solver(scipy.sparse.csr_matrix(self.regular))

    def solve(self, flux_down, flux_right, slopes, prior, initial, tolerance, max_iterations, callback):
        """Return the depth (NaN outside the mask), the number of iterations and the relative residual."""
        b = self.right_side(flux_down, flux_right, slopes, prior)
        scale = np.linalg.norm(b)
        if scale == 0:
            return self._finish(b, b, 0)
        norms = []
        # The levels are those of the regular matrix, the iteration that of the system itself.
        z, _ = self.conjugate_gradients(
            self.matrix, b, x0=None if initial is None else initial[self.mask], tol=tolerance,
            maxiter=max_iterations, M=self.levels.aspreconditioner(), residuals=norms,
        )  # fmt: skip
        if callback:
            for iteration, norm in enumerate(norms[1:], start=1):
                callback(iteration, norm / scale)
        return self._finish(z, b, len(norms) - 1)


class Direct(_Assembled):
    """A sparse LU factorisation: exact, for small domains and for checking the others."""

    def __init__(self, mask, weights=None, diagonal=None, pieces=None):
        super().__init__(mask, weights, diagonal, pieces)
        self.factors = scipy.sparse.linalg.splu(self.regular.tocsc())

    def solve(self, flux_down, flux_right, slopes, prior, initial, tolerance, max_iterations, callback):
        """Return the depth (NaN outside the mask), 1 for one solution, and the relative residual."""
        b = self.right_side(flux_down, flux_right, slopes, prior)
        depth, _, residual = self._finish(self.factors.solve(b), b, 1)
        if callback:
            callback(1, residual)
        return depth, 1, residual


class ConjugateGradients:
    """Conjugate gradients without a preconditioner, as the paper uses them for Mumford-Shah.

    Compiled, on images: a library's, whose dot products wake threads that then wait for the next one, is
    several times slower when anything else runs on the machine.
    """

    inverse = None  # the preconditioner: what the residual is multiplied by

    def __init__(self, mask, weights=None, diagonal=None, pieces=None):
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
        d[:] = r if self.inverse is None else self.inverse * r
        square, product, iteration = np.sum(r * r), np.sum(r * d), 0
        while iteration < max_iterations and np.sqrt(square) > tolerance * scale:
            curvature = _multiply(*matrix, d, a_d)
            square, product = _advance(z, r, d, a_d, self.inverse, product, curvature)
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


class Jacobi(ConjugateGradients):
    """Conjugate gradients preconditioned by the diagonal, as the bilateral method's authors use them."""

    def __init__(self, mask, weights=None, diagonal=None, pieces=None):
        super().__init__(mask, weights, diagonal, pieces)
        # A pixel without an edge has an equation 0 = 0, and keeps its depth.
        self.inverse = np.divide(1.0, self.diagonal, out=np.zeros(mask.shape), where=self.diagonal > 0)


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
def _advance(z, r, d, a_d, inverse, product, curvature):
    """Make one step along d; return r·r and r·Mr of the new residual, M being 1 or the inverse diagonal."""
    rows, cols = z.shape
    alpha, square, new = product / curvature, 0.0, 0.0
    for i in range(rows):
        for j in range(cols):
            z[i, j] += alpha * d[i, j]
        for j in range(cols):
            r[i, j] -= alpha * a_d[i, j]
        for j in range(cols):
            square += r[i, j] * r[i, j]
        if inverse is not None:
            for j in range(cols):
                new += inverse[i, j] * r[i, j] * r[i, j]
    if inverse is None:
        new = square
    beta = new / product
    for i in range(rows):
        for j in range(cols):
            d[i, j] = (r[i, j] if inverse is None else inverse[i, j] * r[i, j]) + beta * d[i, j]
    return square, new
