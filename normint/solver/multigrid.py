"""Our solver of the weighted 5-point system: conjugate gradients preconditioned by aggregation multigrid.

The finest level is the pixel grid, stored as in :mod:`normint.solver.checkerboard`; the coarse ones are
graphs (:mod:`normint.solver.coarsening`, :mod:`normint.solver.hierarchy`). Set-up and solution cost a fixed
number of passes over the pixels, whatever the shape of the domain and however the weights vary along curves.
"""

import numpy as np

from normint.solver import checkerboard, memory
from normint.solver.hierarchy import Hierarchy

# The relative residual, at the level of rounding errors, from which an iteration ends that makes it larger
# again by this factor.
ROUNDING, GROWTH = 1e-13, 10.0
RECHECK = 1e-5  # below it, the residual that the iteration carries along is checked against the true one
RESTARTS = 3
CHANGE = 3.0  # tolerances by which the last step may change a depth, beside the largest depth


class Multigrid:
    """The system on a mask, ready to be solved for one right-hand side after the other.

    Parameters
    ----------
    mask : ndarray of bool
    weights : (ndarray, ndarray) or None
        Weights of the edges downwards and to the right; None for ones, which need an eighth of the memory.
    diagonal : ndarray or None
        Each pixel's own weight λ, zero outside the mask.
    pieces : Pieces, optional
        Whose residuals are told apart; needed where the mask has several.
    """

    def __init__(self, mask, weights=None, diagonal=None, pieces=None):
        self.mask, self.pieces = mask, pieces
        self.uneven = weights is not None or diagonal is not None
        shape = checkerboard.shape_for(*mask.shape)
        self._workspace = own = memory.take()
        kind = np.uint8 if weights is None else float
        self.weights = weight_down, weight_right = own.zeros("weights", (2, *shape), kind)
        if weights is None:
            checkerboard.unit_edges(mask, weight_down, weight_right)
        else:
            checkerboard.weighted_edges(mask, *weights, weight_down, weight_right)
        self.diagonal = None
        if diagonal is not None:
            self.diagonal = own.zeros("diagonal", shape)
            checkerboard.scatter(mask, diagonal, self.diagonal)
        # One block of memory for all vectors: the system hands it out faster than many.
        vectors = own.zeros("vectors", (6, *shape))
        self.inverse, self._b, self._x, self._e, self._d, self._ad = vectors
        self._ae, self.span = own.zeros("ae", shape[1:]), np.zeros((shape[1], 2), np.int64)
        checkerboard.inverse_diagonal(*self.weights, self.diagonal, self.inverse, self.span)
        self.hierarchy = Hierarchy(*self.weights, self.diagonal, self.inverse, own)
        self._used = self._broken_off = False
        self._length = 0.0  # of the last step

    def __del__(self):
        if hasattr(self, "_workspace"):
            memory.give_back(self._workspace)

    def solve(self, flux_down, flux_right, slopes, prior, initial, tolerance, max_iterations, callback):
        """Return the depth (NaN outside the mask), the number of iterations and the relative residual.

        With several pieces the tolerance is for the whole, and there is one residual for each.
        """
        matrix = *self.weights, self.inverse, self.span
        b, x = self._b, self._x
        if self._used:
            b[:], x[:] = 0.0, 0.0
        if self._broken_off:  # nothing of what is there may get into this solution
            self._e[:], self._d[:], self._ad[:], self._ae[:] = 0.0, 0.0, 0.0, 0.0
        self._used = self._broken_off = True
        self._length = 0.0
        data = flux_down, flux_right, slopes, self.diagonal, prior
        checkerboard.right_side(self.mask, *self.weights, *data, b)
        scale = np.sqrt(np.vdot(b, b))
        squares = None if self.pieces is None else self._by_piece(checkerboard.sum_of_squares, b)
        # The residual takes the place of b, which is only needed again where the residual is checked.
        check = tolerance < RECHECK
        r = b
        if scale > 0 and (check or initial is not None):
            r = self._workspace.zeros("residual", b.shape)
            if initial is not None:
                checkerboard.scatter(self.mask, initial, x)
            checkerboard.residual(x, b, *matrix, r)
        iterations = 0

        def report(iteration, norm):
            callback(iterations + iteration, norm / scale)

        for _ in range(RESTARTS):
            count, norm = self._iterate(
                r, x, scale, tolerance, max_iterations - iterations, report if callback else None
            )
            iterations += count
            if not check or count == 0:
                break
            norm = np.sqrt(checkerboard.residual(x, b, *matrix, r))
            if norm <= tolerance * scale or iterations >= max_iterations:
                break
        depth = np.full(self.mask.shape, np.nan)
        checkerboard.gather(self.mask, x, depth)
        self._broken_off = not np.isfinite(norm)
        if self.pieces is None:
            return depth, iterations, norm / scale if scale else 0.0
        residual = _divided(self._by_piece(checkerboard.sum_of_squares, r), squares) ** 0.5
        return depth, iterations, residual

    def solved(self, residual, tolerance):
        """Tell of each piece whether the last solution was as good for it as if it were alone."""
        changes = self._by_piece(checkerboard.largest_of, self._d)
        depths = self._by_piece(checkerboard.largest_of, self._x)
        small = abs(self._length) * _divided(changes, depths) <= CHANGE * tolerance
        return (residual <= tolerance) & (small if self.uneven else True)

    def _by_piece(self, function, values):
        found = np.zeros(self.pieces.sizes.size)
        function(self.pieces.labels, values, found)
        return found

    def _iterate(self, r, x, scale, tolerance, max_iterations, callback):
        """Take steps of flexible conjugate gradients, changing x and r = b - A x.

        They end when ‖r‖ ≤ tolerance · scale and, with weights or λ, the last one changed little: where
        weights are small, a depth may be wrong by any amount and the residual hardly tell.
        """
        e, d, ad, ae = self._e, self._d, self._ad, self._ae
        coarse = self.hierarchy
        fine = r, *self.weights, self.inverse, self.span, coarse.pixel_aggregate, e
        norm, change = np.sqrt(np.vdot(r, r)), 0.0
        curvature, iteration, least = 1.0, 0, norm
        while (norm > tolerance * scale or change > CHANGE * tolerance) and iteration < max_iterations:
            iteration += 1
            coarse.right_side[: coarse.starts[1]] = 0.0
            checkerboard.smooth_and_restrict(*fine, coarse.right_side)
            coarse.cycle()
            e_dot_ae, e_dot_ad, e_dot_r = checkerboard.prolong_and_smooth(*fine, coarse.solution, ae, ad)
            # d ← e + β d is A-orthogonal to the last d, so its curvature d·Ad needs no further product.
            beta = -e_dot_ad / curvature if iteration > 1 else 0.0
            curvature = e_dot_ae + beta * e_dot_ad
            if not curvature > 0:  # nothing is left but rounding errors
                return iteration - 1, norm
            self._length = e_dot_r / curvature
            norm = np.sqrt(checkerboard.conjugate_step(x, r, e, ae, d, ad, self._length, beta))
            if self.uneven and self.pieces is None and norm <= tolerance * scale:
                change = abs(self._length) * np.abs(d).max() / np.abs(x).max()
            if callback is not None:
                callback(iteration, norm)
            least = min(least, norm)
            if least <= ROUNDING * scale and norm > GROWTH * least:
                break  # further steps would only add up rounding errors
        return iteration, norm


def _divided(one, other):
    """Divide, with 0 / 0 = 0."""
    return np.divide(one, other, out=np.zeros(one.size), where=other > 0)
