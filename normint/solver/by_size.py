"""Our solver: small pieces by elimination, large ones by multigrid."""

import numpy as np

from normint.solver import elimination
from normint.solver.elimination import SMALL
from normint.solver.multigrid import Multigrid
from normint.solver.offsets import SHATTERED, Offsets, is_shattered
from normint.solver.pieces import NOTHING

# Beside the largest weight of all: where parts hang together by smaller ones alone, what these ask for drowns
# in rounding errors of single precision, and whoever only wants a step in the right direction gets none.
WEAK, WEAKER = 1e-7, 1e-10
FEW = 10  # iterations: whoever allows no more does not expect a solution


class BySize:
    """Small pieces exactly, the others together.

    Parameters
    ----------
    mask : ndarray of bool
    weights : (ndarray, ndarray) or None
        Weights of the edges downwards and to the right; None for ones.
    diagonal : ndarray or None
        Each pixel's own weight λ, zero outside the mask.
    pieces : Pieces
    exact : bool
        Whether parts that hang together by very small weights are to be placed to the tolerance; a method
        that goes on to the next system does not need it.
    """

    def __init__(self, mask, weights, diagonal, pieces, *, exact=True):
        self.mask, self.weights, self.diagonal, self.pieces = mask, weights, diagonal, pieces
        large = pieces.sizes > SMALL
        self.small = np.flatnonzero(pieces.sizes * ~large)
        self.members = pieces.members(self.small) if self.small.size else None
        self.multigrid, self._weak = None, WEAK if exact else WEAKER
        if large.any():
            self._large, labels = large, pieces.labels
            if self.small.size:
                labels = pieces.renumbered(large)
            self._set_up(labels)

    def _set_up(self, labels):
        self.multigrid, self._old = Multigrid(labels, *self._data(labels)), False

    def _data(self, labels):
        """Return what multigrid has to know of the weights and λ."""
        largest, offsets = np.concatenate([[0.0], self.pieces.largest[self._large]]), None
        weak, least = self._weak, self.pieces.smallest / largest.max()
        if weak == WEAK and least < SHATTERED and is_shattered(labels, largest, self.weights):
            weak = SHATTERED
        if least < weak:
            offsets = Offsets(labels, largest, self.weights, self.diagonal, weak)
        self._unplaced = offsets is not None and offsets.many
        given = largest, self.weights, self.diagonal
        return *given, offsets if offsets is not None and offsets.any else None

    def reweight(self, weights, diagonal, pieces):
        """Replace the weights and λ; the pieces are the same, with other largest weights."""
        self.weights, self.diagonal, self.pieces = weights, diagonal, pieces
        if self.multigrid is not None:
            self.multigrid.reweight(*self._data(self.multigrid.labels))
            self._old = True

    def solve(self, flux_down, flux_right, slopes, prior, initial, tolerance, max_iterations, callback):
        """Return the depth (anything outside the mask), the number of iterations and the largest residual."""
        fluxes = flux_down, flux_right
        if self.multigrid is None:
            depth, iterations, residual = np.zeros(self.mask.shape), 1, 0.0
            if callback is not None:
                callback(1, 0.0)
        else:
            data, stop = (*fluxes, slopes, prior), (tolerance, max_iterations, callback)
            depth, iterations, residual = self.multigrid.solve(*data, initial, *stop)
            if residual > tolerance and max_iterations > FEW and self._old:
                self._set_up(self.multigrid.labels)
                depth, iterations, residual = self.multigrid.solve(*data, initial, *stop)
            residual = np.nan if self._unplaced else residual  # it would tell nothing
        if self.small.size:
            weights = (NOTHING, NOTHING) if self.weights is None else self.weights
            own, prior = (NOTHING, NOTHING) if self.diagonal is None else (self.diagonal, prior)
            data = weights, own, fluxes, slopes, prior
            elimination.solve_pieces(self.pieces.labels, *self.members, *data, depth)
        return depth, iterations, residual
