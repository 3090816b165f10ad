"""The coarse surface that joins tiles: bilinear on small square cells, and torn where the domain is.

Tiles alone hand on what they know over one overlap at a time. So what is large is found first, all of it
together: the same least squares, among surfaces that are bilinear in each cell. A cell that the mask divides
into pieces has a surface for each, and pieces of neighbouring cells share a corner only if they touch: two
arms of a spiral that pass through the same cells know nothing of each other.
"""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from normint.solver.pieces import Pieces

# Thin pieces do not decide all their corners, and nothing decides a constant. So little, added to the
# diagonal, whose numbers are about 1, decides them and bends nothing.
LITTLE = 1e-10
TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT = range(4)
# The four corners that the difference along an edge depends on: two at its begin, two at its end. And those
# that two cells share, one beside the other: of the first, and of the second.
ALONG = ((TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT), (TOP_LEFT, BOTTOM_LEFT, TOP_RIGHT, BOTTOM_RIGHT))


def number_parts(mask, side):
    """Number the connected parts of the mask in each cell, from 1 on; return the numbers, and how many.

    Parameters
    ----------
    mask : ndarray of bool
        A tile; cells begin at its first pixel.
    side : int
        Of a cell, in pixels.

    Examples
    --------
    >>> number_parts(np.array([[True, True, True, False, True]]), 2)
    (array([[1, 1, 2, 0, 3]], dtype=int32), 3)
    """
    if not mask.any():
        return np.zeros(mask.shape, np.int32), 0
    down, right = np.ones((2, *mask.shape))
    down[side - 1 :: side], right[:, side - 1 :: side] = 0.0, 0.0  # edges from one cell to the next
    pieces = Pieces(mask, (down, right))
    return pieces.labels, pieces.sizes.size - 1


def restricted(side, parts, residual):
    """Return a tile's residual, weighted by the functions of the four corners, for each of its parts."""
    labels = parts.ravel()
    shapes = _shapes(side, parts.shape)
    return np.stack([np.bincount(labels, (shape * residual).ravel()) for shape in shapes], axis=1)


def _shapes(side, shape):
    """Yield the functions of the four corners on a rectangle that begins with a cell."""
    t, s = ((np.arange(n) % side + 0.5) / side for n in shape)
    for vertical in (1 - t, t):
        for horizontal in (1 - s, s):
            yield np.multiply.outer(vertical, horizontal)


class Cells:
    """The coarse system: collect it tile by tile, then `factorise`, then solve as often as needed.

    Parameters
    ----------
    side : int
        Of a cell, in pixels.
    count : int
        The parts of all cells; they are numbered from 1 on, through all tiles.

    Attributes
    ----------
    piece : ndarray of int
        For each part, the connected piece of the whole domain that it belongs to, from 1 on; 0 for part 0,
        which is outside. Known when factorised.
    held_pieces : ndarray of bool
        Whether λ holds each piece. Known when factorised.

    Notes
    -----
    The pixel in row r of its cell is at t = (r + ½)/side, that in column c at s = (c + ½)/side, and the
    surface there is (1 − t)(1 − s) a + (1 − t) s b + t (1 − s) c + t s d, from its four corners. Along an
    edge downwards it differs by (1 − s)(c − a)/side + s (d − b)/side. If the edge leads to the next cell,
    which shares c and d, the difference is from a and b to that cell's own bottom corners, and half as
    large. So of all edges of a part, or between two parts, only three sums are needed: of 1, s and s².
    """

    def __init__(self, side, count):
        self.side, self.count = side, count
        self._groups = ([], [])  # of edges downwards, and to the right: two parts, and three sums
        self._held = np.zeros((count + 1, 4, 4))

    def add(self, parts, rows, columns, weight=None):
        """Take in a tile.

        Parameters
        ----------
        parts : ndarray of int
            The numbers of a tile's parts, and one row and column more, if the image goes on.
        rows, columns : int
            Of the tile itself.
        weight : ndarray, optional
            λ of each pixel of the tile.
        """
        for way, image in enumerate((parts[:, :columns], parts[:rows].T)):
            inner = (rows, columns)[way]
            here, there = image[: min(inner, len(image) - 1)], image[1 : inner + 1]
            across = (np.arange(image.shape[1]) % self.side + 0.5) / self.side
            across = np.broadcast_to(across, here.shape)
            joined = (here > 0) & (there > 0)
            same = joined & (here == there)
            self._groups[way].append(_inside(here[same], across[same]))
            other = joined & ~same
            self._groups[way].append(_between(here[other], there[other], across[other]))
        if weight is not None and weight.any():
            own, shapes = parts[:rows, :columns], list(_shapes(self.side, (rows, columns)))
            low, high = int(own.min()), int(own.max())
            for a in range(4):
                for b in range(4):
                    held = np.bincount((own - low).ravel(), (weight * shapes[a] * shapes[b]).ravel())
                    self._held[low : high + 1, a, b] += held

    def factorise(self):
        """Number the corners, and factorise the system of their heights."""
        down, right = (np.concatenate(groups, axis=1) for groups in self._groups)
        links = [
            (g[:2, g[0] != g[1]].astype(np.int64), along)
            for g, along in zip((down, right), ALONG, strict=True)
        ]
        self.piece = self._number_pieces([pair for pair, _ in links])
        self._corners, unknowns = self._number_corners(links)
        rows, columns, values = [], [], []

        def couple(corners, matrix):
            """Add a matrix of coefficients for each group of corners, one group a column."""
            for a in range(len(corners)):
                for b in range(len(corners)):
                    rows.append(corners[a])
                    columns.append(corners[b])
                    values.append(matrix[a][b])

        for groups, along in zip((down, right), ALONG, strict=True):
            one, other = groups[:2].astype(np.int64)
            corners = [self._corners[one, along[0]], self._corners[one, along[1]]]
            corners += [self._corners[other, along[2]], self._corners[other, along[3]]]
            factor = np.where(one == other, 1.0, 0.5) / self.side
            whole, first, second = groups[2:] * factor**2
            a, b, c = whole - 2 * first + second, first - second, second
            couple(corners, [[a, b, -a, -b], [b, c, -b, -c], [-a, -b, a, b], [-b, -c, b, c]])
        couple(list(self._corners.T), self._held.transpose(1, 2, 0))
        weight = np.bincount(self.piece, self._held.sum(axis=(1, 2)))
        self.held_pieces = weight > 0
        self._held = self._groups = None
        flat = [np.concatenate(lists) for lists in (values, rows, columns)]
        matrix = coo_array((flat[0], (flat[1], flat[2])), shape=(unknowns + 1, unknowns + 1)).tocsc()
        matrix = matrix[:unknowns, :unknowns]
        matrix.setdiag(matrix.diagonal() + LITTLE)
        self._factors, self._unknowns = None, unknowns
        if unknowns:
            symmetric = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0}
            self._factors = splu(matrix, **symmetric, options={"SymmetricMode": True})

    def heights(self, total):
        """Return the correction of each part's corners, from the restricted residual."""
        right = np.bincount(self._corners.ravel(), total.ravel(), self._unknowns + 1)[: self._unknowns]
        solved = self._factors.solve(right) if self._unknowns else right
        return np.append(solved, 0.0)[self._corners]

    def surface(self, parts, heights):
        """Return the coarse surface on a tile, zero outside the mask."""
        shapes = enumerate(_shapes(self.side, parts.shape))
        return sum(shape * heights[parts, corner] for corner, shape in shapes)

    def _number_pieces(self, pairs):
        """Return for each part the connected piece of the domain."""
        one, other = np.concatenate(pairs, axis=1)
        graph = coo_array((np.ones(one.size, bool), (one, other)), shape=(self.count + 1,) * 2)
        return connected_components(graph, directed=False)[1]  # the first, 0, is outside and joined to none

    def _number_corners(self, links):
        """Return the unknown of each part's corners, and how many there are.

        Pieces within one cell have none: their tile solves them.
        """
        one, other = [], []
        for (first, second), along in links:
            for mine, its in ((along[2], along[0]), (along[3], along[1])):
                one.append(4 * first + mine)
                other.append(4 * second + its)
        one, other = np.concatenate(one), np.concatenate(other)
        graph = coo_array((np.ones(one.size, bool), (one, other)), shape=(4 * (self.count + 1),) * 2)
        _, classes = connected_components(graph, directed=False)
        classes = classes.reshape(-1, 4)
        alone = np.ones(self.count + 1, bool)
        for pair, _ in links:
            alone[pair.ravel()] = False
        used, numbers = np.unique(classes[~alone], return_inverse=True)
        corners = np.full(classes.shape, used.size)
        corners[~alone] = numbers.reshape(-1, 4)
        return corners, used.size


def _inside(labels, across):
    """Return the sums over the edges within each part."""
    if not labels.size:
        return np.zeros((5, 0))
    low = int(labels.min())
    sums = [np.bincount(labels - low, across**power) for power in range(3)]
    there = np.flatnonzero(sums[0])
    return np.array([there + low, there + low, *(values[there] for values in sums)])


def _between(one, other, across):
    """Return the sums over the edges between each two parts, which are few."""
    pairs, index = np.unique(np.stack([one, other]), axis=1, return_inverse=True)
    sums = [np.bincount(index.ravel(), across**power, pairs.shape[1]) for power in range(3)]
    return np.array([*pairs, *sums])
