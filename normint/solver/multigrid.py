"""Our solver of the weighted 5-point system: conjugate gradients preconditioned by aggregation multigrid.

The matrix A has one row for each pixel and one weight for each edge between neighbours. A step of conjugate
gradients needs e ≈ A⁻¹r, and one cycle of multigrid provides it:

1. Two red-black Gauss-Seidel sweeps over the pixels (:mod:`normint.solver.grid`) remove what is rough in the
   error.
2. What is left is smooth, and so known from one number for each block of 2x2 pixels. The residuals of a block
   are added up: the right-hand side of a system of the same kind on a quarter of the nodes. Where a block is
   crossed by a jump or lies in two pieces of the domain, it becomes several nodes
   (:mod:`normint.solver.coarsening`); weights between blocks are sums of those between pixels, made softer
   (:mod:`normint.solver.coarse_edges`).
3. That system is solved approximately by the same means, down to a few nodes
   (:mod:`normint.solver.hierarchy`).
4. The blocks' numbers are added to the pixels, and two more sweeps follow.

All this is done in single precision, in a few passes over memory. Depths are added up, and residuals computed
anew, in double precision: single precision carries a residual along for four digits, then the true one takes
its place. Each piece of the domain is measured in units of its own weights and its own right-hand side, so
that none hides another. Parts that hang together by very small weights alone are placed in double precision
whenever depths are added up (:mod:`normint.solver.offsets`).
"""

import numpy as np

from normint.solver import grid as passes
from normint.solver import memory, pixels
from normint.solver.grid import OWN, UNIT, R, shape_for
from normint.solver.hierarchy import Hierarchy, move_down, move_up
from normint.solver.pieces import NOTHING
from normint.solver.threads import band_count, share, share_rows

SWEEPS = 2  # over the pixels, before and after the coarse levels
CHANGE = 3.0  # tolerances by which the last step may change a depth, beside the largest depth
SAFE = 0.5  # of the tolerance is where iterations end that single precision counts
DIGITS = 1e-4  # by which single precision carries a residual along
FEWER_DIGITS = 1e-2  # where parts are placed in between
DRIFT = 0.1  # parts by which what was carried along may differ from the true residual
GROWTH = 3.0  # of a residual that has met its rounding errors
STALLED = 3  # true residuals in a row that are hardly better: nothing is left but rounding errors
MORE = 20  # steps beyond the tolerance, for depths that still change
UNEQUAL = 10.0  # norms of pieces that differ by more are made equal
TINY = 1e-12  # norms from here to its inverse, and what is computed from them, fit into single precision


class Multigrid:
    """The system on some pieces of a domain, ready to be solved for one right-hand side after the other.

    Parameters
    ----------
    labels : ndarray of int32
        The piece of each pixel, zero where there is none to solve.
    largest : ndarray
        The largest weight of each piece: matrices are divided by it.
    weights : (ndarray, ndarray) or None
        Weights of the edges downwards and to the right; None for ones.
    diagonal : ndarray or None
        Each pixel's own weight λ.
    offsets : Offsets or None
        Of parts that hang together by weights too small for single precision.
    precision : type
        Of the preconditioner.
    """

    def __init__(self, labels, largest, weights=None, diagonal=None, offsets=None, precision=np.float32):
        self.labels, self.precision = labels, precision
        self.uneven = weights is not None or diagonal is not None
        height, width = shape_for(*labels.shape)
        self.where, size = (0, height, width, 0), 2 * height * width
        self._workspace = own = memory.take()
        self.nodes = own.zeros("fine", (OWN + 1 if self.uneven else UNIT, size), precision)
        self._x, self._sums = own.empty("x", size), np.zeros((height, 3))
        self._span = np.zeros((height, 2), np.int32)
        self.reweight(largest, weights, diagonal, offsets)
        alone = offsets is not None and offsets.alone
        if alone:  # on coarse levels
            self._load(offsets.labels, offsets.normal)
        self.hierarchy = Hierarchy(self.nodes, self.where, own)
        if alone:
            self._load(labels, self.normal)

    def reweight(self, largest, weights, diagonal, offsets):
        """Replace the weights of the pixels' edges and λ; the coarse levels stay, a little out of date."""
        self.weights, self.diagonal, self.offsets = weights, diagonal, offsets
        self.normal = np.divide(1.0, largest, out=np.zeros(largest.size), where=largest > 0)
        self._load(self.labels, self.normal)

    def _load(self, labels, normal):
        """Set the matrix, without edges between different labels."""
        images = (NOTHING, NOTHING) if self.weights is None else self.weights
        if self.uneven and self.weights is None:
            images = (np.ones(labels.shape),) * 2
        own = NOTHING if self.diagonal is None else self.diagonal
        grid = normal, self.nodes, self._span, *self.where[1:3]
        share_rows(pixels.load, labels.shape, labels, (*images, own), *grid)

    def __del__(self):
        if hasattr(self, "_workspace"):
            memory.give_back(self._workspace)

    def solve(self, flux_down, flux_right, slopes, prior, initial, tolerance, max_iterations, callback):
        """Return the depth (zero where nothing is solved), the number of iterations and the residual.

        That is the relative one of the piece where it is largest. Iterations end when it is below the
        tolerance and, with weights or λ, the last one changed no depth much: where weights are small, a depth
        may be wrong by any amount and the residual hardly tell.
        """
        weights = (NOTHING, NOTHING) if self.weights is None else self.weights
        own, prior = (NOTHING, NOTHING) if self.diagonal is None else (self.diagonal, prior)
        self._data = self.labels, weights, (flux_down, flux_right), slopes, own, prior
        depth = np.zeros(self.labels.shape) if initial is None else np.where(self.labels > 0, initial, 0.0)
        if self.offsets is not None:
            self.offsets.settle(depth, *self._data[2:])
            initial = depth
        scale, left, factors = self._start(NOTHING if initial is None else depth)
        if not scale.any():
            return np.zeros(self.labels.shape), 0, 0.0
        back = np.divide(self.normal, factors, out=np.zeros(factors.size), where=factors > 0)
        whole, norm = _norm(scale * factors), _norm(left * factors)
        relative, target = _largest_ratio(left, scale), SAFE * tolerance * whole
        self._x[:] = 0.0
        self._forget()
        iterations, stalled, more, best, moving = 0, 0, 0, np.inf, False
        while relative > tolerance or moving:
            goal = max(target, SAFE * (DIGITS if self.offsets is None else FEWER_DIGITS) * norm)
            count, norm = self._iterate(norm, goal, max_iterations - iterations, callback, iterations, whole)
            iterations += count
            moving = self._gather(back, depth, CHANGE * tolerance)
            if iterations >= max_iterations and norm > goal:
                return depth, iterations, norm / whole
            left, carried = self._residual(depth, factors)[1], norm
            relative, norm = _largest_ratio(left, scale), _norm(left * factors)
            if abs(norm - carried) > DRIFT * norm:  # the last direction is not orthogonal to it
                self._forget()
            stalled = stalled + 1 if relative > max(0.5 * best, tolerance) else 0
            best = min(best, relative)
            more = more + 1 if relative <= tolerance else 0
            if stalled == STALLED or more == MORE or iterations >= max_iterations:
                break
            # Where only the depth still changes, one step more.
            target = 0.999 * norm if relative <= tolerance else SAFE * norm * tolerance / relative
        return depth, iterations, relative

    def _start(self, depth):
        """Return the norms of b and of the residual in each piece, and factors that make pieces alike."""
        factors = self.normal
        scale, left = self._residual(depth, factors)
        sizes = (scale * factors)[scale > 0]
        if sizes.size and (sizes.max() > UNEQUAL * sizes.min() or not TINY < sizes.min() < 1 / TINY):
            factors = np.divide(1.0, scale, out=np.zeros(scale.size), where=scale > 0)
            scale, left = self._residual(depth, factors)
        return scale, left, factors

    def _residual(self, depth, factors):
        """Set the residual of a depth; return the norms of b and of the residual in each piece."""
        squares = np.zeros((band_count(len(self.labels)), 2, factors.size))
        here = factors, *self.where[1:3], self.nodes, squares
        share_rows(pixels.residual, self.labels.shape, *self._data, depth, *here)
        norms = np.sqrt(squares.sum(axis=0))
        norms[:, 0] = 0.0
        return norms if depth.size else norms[[0, 0]]

    def _gather(self, factors, depth, least):
        """Add what was found to the depth; tell whether the last step changed a piece by more than least."""
        change, largest = np.zeros((2, band_count(len(depth)), factors.size if self.uneven else 0))
        here, before = (self.nodes, factors, *self.where[1:3]), depth.copy() if self.offsets else None
        share_rows(pixels.gather, depth.shape, self.labels, self._x, *here, depth, change, largest)
        if self.offsets is not None:
            self.offsets.settle(depth, *self._data[2:])
            change, largest = (self._largest(image) for image in (depth - before, depth))
            return bool(np.any(change > least * largest))
        if not self.uneven or self._length is None:
            return self.uneven
        return bool((self._length * change.max(axis=0) > least * largest.max(axis=0)).any())

    def _largest(self, image):
        """Return the largest of each piece, ignoring signs."""
        if self.normal.size == 2:
            return np.abs(image).max()
        largest = np.zeros(self.normal.size)
        np.maximum.at(largest, self.labels, np.abs(image))
        return largest

    def _forget(self):
        """Begin with a new direction."""
        self._curvature, self._length = 0.0, None

    def _iterate(self, norm, goal, most, callback, before, whole):
        """Take steps until ‖r‖ is at the goal, or rounding errors prevail; return how many, and ‖r‖."""
        count, least = 0, norm
        while norm > goal and count < most:
            advanced = self._advance()
            if advanced is None or not advanced <= GROWTH * least:
                self._forget()
                return max(count, 1), least  # the true residual will tell
            count, norm, least = count + 1, advanced, min(least, advanced)
            if callback is not None:
                callback(before + count, norm / whole)
        return count, norm

    def _advance(self):
        """Take one step of flexible conjugate gradients; return ‖r‖, or None if no step leads further."""
        coarse, sums, real = self.hierarchy, self._sums, self.precision
        cells, moves = coarse.places[0], (coarse.moved, 0, coarse.moved.shape[1])
        fine = self.nodes, self._span, self.where
        share(passes.descend, fine, 2 * SWEEPS + 1, SWEEPS, coarse.nodes, cells)
        coarse.nodes[R, 2 * cells[1] * cells[2] : coarse.ends[0]] = 0.0
        move_down(self.nodes, self.where, *moves, coarse.nodes)
        coarse.cycle()
        move_up(self.nodes, *moves, coarse.nodes)
        share(passes.ascend, fine, 2 * SWEEPS + 1, SWEEPS, coarse.nodes, cells, sums)
        e_dot_ae, e_dot_ad, e_dot_r = sums.sum(axis=0)
        # d ← e + β d is A-orthogonal to the last d, so its curvature d·Ad needs no further product.
        beta = -e_dot_ad / self._curvature if self._curvature > 0 else 0.0
        curvature = e_dot_ae + beta * e_dot_ad
        if not (curvature > 0 and e_dot_r > 0):
            return None
        self._curvature, self._length = curvature, e_dot_r / curvature
        share(passes.step, fine, 1, real(self._length), real(beta), self._x, sums)
        return np.sqrt(sums[:, 0].sum())


def _norm(values):
    return float(np.sqrt(np.sum(values**2)))


def _largest_ratio(left, scale):
    return float(np.divide(left, scale, out=np.zeros(left.size), where=scale > 0).max())
