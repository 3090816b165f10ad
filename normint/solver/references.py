"""Library solvers of the weighted 5-point system, to compare with: pyamg and a sparse factorisation."""

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg


class _Assembled:
    """The system as a sparse matrix, its unknowns the pixels of the mask row by row."""

    def __init__(self, mask, weights=None, diagonal=None):
        self.mask = mask
        n = np.count_nonzero(mask)
        number = np.full(mask.shape, -1, np.int32)  # pyamg knows no wider indices
        number[mask] = np.arange(n)
        self.edges = []
        for axis, (here, there) in enumerate(((np.s_[:-1], np.s_[1:]), (np.s_[:, :-1], np.s_[:, 1:]))):
            inside = mask[here] & mask[there]
            w = np.ones(mask.shape)[here] if weights is None else weights[axis][here]
            self.edges.append((number[here][inside], number[there][inside], w[inside], here, there, inside))
        i, j, w = (np.concatenate([edge[k] for edge in self.edges]) for k in range(3))
        self.held = np.zeros(n) if diagonal is None else diagonal[mask]
        joined = scipy.sparse.coo_array((w, (i, j)), shape=(n, n)).tocsr()
        joined = joined + joined.T
        self.matrix = (scipy.sparse.diags_array(joined.sum(axis=0) + self.held) - joined).tocsr()
        # Where no λ holds a connected component, its first pixel is held at zero. The equations of such a
        # component sum to zero, so this changes no difference of depths, and the matrix becomes regular.
        count, label = scipy.sparse.csgraph.connected_components(joined, directed=False)
        free = np.bincount(label, self.held, count) == 0
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

    def __init__(self, mask, weights=None, diagonal=None):
        super().__init__(mask, weights, diagonal)
        import pyamg

        self.levels = pyamg.ruge_stuben_solver(scipy.sparse.csr_matrix(self.regular))

    def solve(self, flux_down, flux_right, slopes, prior, initial, tolerance, max_iterations, callback):
        """Return the depth (NaN outside the mask), the number of iterations and the relative residual."""
        from pyamg.krylov import cg

        b = self.right_side(flux_down, flux_right, slopes, prior)
        scale = np.linalg.norm(b)
        if scale == 0:
            return self._finish(b, b, 0)
        norms = []
        # The levels are those of the regular matrix, the iteration that of the system itself.
        z, _ = cg(
            self.matrix, b, x0=None if initial is None else initial[self.mask], tol=tolerance,
            maxiter=max_iterations, M=self.levels.aspreconditioner(), residuals=norms,
        )  # fmt: skip
        if callback:
            for iteration, norm in enumerate(norms[1:], start=1):
                callback(iteration, norm / scale)
        return self._finish(z, b, len(norms) - 1)


class Direct(_Assembled):
    """A sparse LU factorisation: exact, for small domains and for checking the others."""

    def __init__(self, mask, weights=None, diagonal=None):
        super().__init__(mask, weights, diagonal)
        self.factors = scipy.sparse.linalg.splu(self.regular.tocsc())

    def solve(self, flux_down, flux_right, slopes, prior, initial, tolerance, max_iterations, callback):
        """Return the depth (NaN outside the mask), 1 for one solution, and the relative residual."""
        b = self.right_side(flux_down, flux_right, slopes, prior)
        depth, _, residual = self._finish(self.factors.solve(b), b, 1)
        if callback:
            callback(1, residual)
        return depth, 1, residual
