"""Our solver: small pieces by elimination, large ones by multigrid."""

import numpy as np
import scipy.ndimage

from normint.solver import elimination
from normint.solver.elimination import SMALL
from normint.solver.multigrid import Multigrid


class BySize:
    """Small pieces exactly, the others together and, where that did not do for one, that one alone.

    Parameters
    ----------
    mask : ndarray of bool
    weights : (ndarray, ndarray) or None
        Weights of the edges downwards and to the right; None for ones.
    diagonal : ndarray or None
        Each pixel's own weight λ, zero outside the mask.
    pieces : Pieces
    """

    def __init__(self, mask, weights, diagonal, pieces):
        self.mask, self.weights, self.diagonal, self.pieces = mask, weights, diagonal, pieces
        large = pieces.sizes > SMALL
        self.small = np.flatnonzero(pieces.sizes * ~large)
        self.members = pieces.members(self.small) if self.small.size else None
        self.multigrid = None
        if large.any():
            if self.small.size:
                mask = large[pieces.labels]
                diagonal = None if diagonal is None else np.where(mask, diagonal, 0.0)
            several = np.count_nonzero(large) > 1
            self.multigrid = Multigrid(mask, weights, diagonal, pieces if several else None)

    def solve(self, flux_down, flux_right, slopes, prior, initial, tolerance, max_iterations, callback):
        """Return the depth (NaN outside the mask), the number of iterations and the largest residual."""
        fluxes, stop = (flux_down, flux_right), (tolerance, max_iterations, callback)
        if self.multigrid is None:
            depth, iterations, residual = np.full(self.mask.shape, np.nan), 1, 0.0
            if callback is not None:
                callback(1, 0.0)
        else:
            depth, iterations, residual = self.multigrid.solve(*fluxes, slopes, prior, initial, *stop)
        if np.ndim(residual):
            # Beside a piece with large slopes, one with small ones hardly counts: it is then solved alone.
            left = np.flatnonzero(~self.multigrid.solved(residual, tolerance))
            if left.size and iterations < max_iterations:
                boxes = scipy.ndimage.find_objects(self.pieces.labels)
                for k in left:
                    data = *fluxes, slopes, prior, tolerance, max_iterations
                    more, residual[k] = self._solve_alone(k, boxes[k - 1], depth, *data)
                    iterations = max(iterations, more)
            residual = residual.max()
        if self.small.size:
            data = self.weights, self.diagonal, fluxes, slopes, prior
            elimination.solve_pieces(self.pieces.labels, *self.members, *data, depth)
        return depth, iterations, residual

    def _solve_alone(self, k, box, depth, flux_down, flux_right, slopes, prior, tolerance, max_iterations):
        """Set the depth of one piece; return the number of iterations and the residual."""
        inside = self.pieces.labels[box] == k

        def part(image):
            return None if image is None else np.ascontiguousarray(image[box])

        weights = None if self.weights is None else tuple(map(part, self.weights))
        diagonal = None if self.diagonal is None else np.where(inside, self.diagonal[box], 0.0)
        found, iterations, residual = Multigrid(inside, weights, diagonal).solve(
            part(flux_down), part(flux_right), slopes, part(prior), None, tolerance, max_iterations, None
        )
        depth[box][inside] = found[inside]
        return iterations, residual
