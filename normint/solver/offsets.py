"""How high parts of a surface stand that hang together by very small weights alone.

What such weights ask for drowns in rounding errors of single precision. But one number for each part says it,
the solution of a small system Pᵀ A P, where P gives each pixel the number of its part: a graph, whose edges
are those from part to part. No others matter, since in a sum over a part they cancel.
"""

import numpy as np

from normint.domain import NEIGHBOURS
from normint.solver.pieces import Pieces

# Parts can be solved alone where weights between them are below the first, divided by the number of pixels
# (the larger a part, the less it takes to bend it), and weights above the second hold each together.
BENDING, FIRM = 0.02, 0.01
MANY = 10**6  # parts: more would take too much memory, and are not placed
# A surface in which so large a share of the edges is weaker is shattered: a residual hardly tells what many
# small parts ask for of each other, so that they are placed, too.
SHATTERED, SHARE = 2e-5, 0.25


def is_shattered(labels, largest, weights):
    """Tell whether many edges are weak beside the largest of all."""
    least = SHATTERED * largest.max()
    weak = sum(np.count_nonzero((w < least) & (labels > 0)) for w in weights)
    return weak > SHARE * 2 * np.count_nonzero(labels)


class Offsets:
    """The heights of the parts of a domain.

    Parameters
    ----------
    labels : ndarray of int32
        The piece of each pixel, zero where there is none.
    largest : ndarray
        The largest weight of each piece.
    weights, diagonal
        As for :class:`normint.solver.by_size.BySize`.
    weak : float
        Below this part of the largest in their piece, weights do not hold a part together.

    Attributes
    ----------
    labels : ndarray of int32
        The part of each pixel.
    normal : ndarray
        One over the largest weight of each part's piece.
    any, many, alone : bool
        Whether there are parts to place, or too many of them, and whether they can be solved alone.
    """

    def __init__(self, labels, largest, weights, diagonal, weak):
        def parts(least):
            return Pieces(labels > 0, [np.where(w < least, 0.0, w) for w in weights])

        least = (weak * largest)[labels]
        joined = parts(least)
        self.labels, count = joined.labels, joined.sizes.size
        self.any, self.many = largest.size < count <= MANY, count > MANY
        if self.any:
            piece = np.zeros(count, np.int32)
            piece[self.labels] = labels
            self.normal = np.divide(1.0, largest, out=np.zeros(largest.size), where=largest > 0)[piece]
            self._edges = [self._between(*both) for both in zip(weights, NEIGHBOURS, strict=True)]
            strongest = max(np.max(w * self.normal[one], initial=0.0) for _, one, _, w in self._edges)
            self.alone = strongest * labels.size < BENDING and parts(FIRM / weak * least).sizes.size == count
            self._factorise(piece, diagonal)

    def _between(self, weights, ends):
        """Return where edges join two parts: in both images of ends, these parts, and the weights."""
        one, other = (self.labels[end] for end in ends)
        at = np.nonzero((one != other) & (one > 0) & (other > 0) & (weights[ends[0]] > 0))
        return at, one[at], other[at], weights[ends[0]][at]

    def _factorise(self, piece, diagonal):
        import scipy.sparse.linalg

        one, other, w = (np.concatenate(both) for both in list(zip(*self._edges, strict=True))[1:])
        graph = scipy.sparse.coo_array((w * self.normal[one], (one, other)), (piece.size,) * 2)
        graph = graph + graph.T
        total, own = graph.sum(axis=0), np.zeros(piece.size)
        if diagonal is not None:
            own = self.normal * np.bincount(self.labels.ravel(), diagonal.ravel())
        # Where a constant is free, the first part keeps its height.
        first = np.unique(piece, return_index=True)[1][np.bincount(piece, own) == 0]
        own[first] = np.where(total[first] > 0, total[first], 1.0)
        matrix = (scipy.sparse.diags_array(own + total) - graph).tocsc()
        symmetric = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
        self._solve = scipy.sparse.linalg.splu(matrix, "MMD_AT_PLUS_A", **symmetric).solve

    def settle(self, depth, fluxes, slopes, diagonal, prior):
        """Give each part the height that costs least, in place."""
        pull = np.zeros(self.normal.size)
        for (at, one, other, w), flux, (here, there) in zip(self._edges, fluxes, NEIGHBOURS, strict=True):
            asked = 0.5 * (flux[here][at] + flux[there][at]) if slopes else flux[here][at]
            flow = w * (asked - (depth[there][at] - depth[here][at]))
            pull += np.bincount(other, flow, pull.size) - np.bincount(one, flow, pull.size)
        if diagonal.size > 0:
            pull += np.bincount(self.labels.ravel(), (diagonal * (prior - depth)).ravel())
        heights = self._solve(self.normal * pull)
        heights[0] = 0.0
        depth += heights[self.labels]
