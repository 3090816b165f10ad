"""The coarse levels of the multigrid solver, and one cycle over them.

A cycle visits the first coarse level once; from there down, each level is solved by up to two steps of
conjugate gradients (a K-cycle), which makes the convergence independent of the number of levels.
"""

import numpy as np

from normint.compiling import FAST, SHORT_ROWS, njit
from normint.solver import coarse_graph, coarsening, elimination

SMALLEST = 32  # a level of at most this many nodes is solved directly
ENOUGH = 0.25  # a first step that leaves no more than this part of the residual needs no second
SAME = 1e-10  # two directions whose squared sine is smaller are one
EFFORT = 0.7  # a level may cost this part of what the level above costs, or it is visited less often


class Hierarchy:
    """The coarse levels of a system on the pixel grid, and one cycle over them.

    Parameters
    ----------
    weight_down, weight_right : array
        Weights of the edges, as a checkerboard.
    diagonal : array or None
        Each pixel's own weight λ, as a checkerboard.
    inverse : array
        One over the diagonal of the matrix, zero outside the domain.
    workspace : Workspace
        Where the memory comes from.

    Notes
    -----
    Aggregates carry piecewise-constant corrections, so a coarse matrix is that of a graph again, its weights
    sums of fine ones [1]_, rescaled because constants are stiff [2]_. The K-cycle makes up for the crude
    interpolation.

    References
    ----------
    .. [1] Y. Notay, "An aggregation-based algebraic multigrid method", ETNA 37, 2010.
    .. [2] D. Braess, "Towards algebraic multigrid for elliptic problems of second order", Computing 55, 1995.
    """

    def __init__(self, weight_down, weight_right, diagonal, inverse, workspace):
        self._workspace = workspace
        _, height, width = weight_down.shape
        cells = (height - 2) // 2, width - 2
        self._first_level(weight_down, weight_right, diagonal, inverse, cells[0] * cells[1])
        while self.starts[-1] - self.starts[-2] > SMALLEST:
            self._next_level(cells)
            cells = (cells[0] + 1) // 2, (cells[1] + 1) // 2
        begin, end = self.starts[-2:]
        self.factors = np.empty((end - begin, max(end - begin - 1, 0)))
        self.pivots = self._extra[begin:end].copy()
        _dense(begin, end, self.row, self.column, self.value, self.factors)
        elimination.factorise(self.factors, self.pivots)
        vectors = workspace.zeros("coarse vectors", (4, end))
        self.right_side, self.solution, self.direction, self.product = vectors
        self.starts, self.twice = np.array(self.starts), _visits(self.sizes)
        self._steps = np.zeros((3, len(self.sizes)))

    def _first_level(self, weight_down, weight_right, diagonal, inverse, blocks):
        """Make the nodes of the first coarse level from pixels in so many blocks."""
        empty = self._workspace.empty
        # Sizes are upper bounds: memory that is never touched is never used.
        self.pixel_aggregate = self._workspace.zeros("pixel_aggregate", weight_down.shape, np.uint32)
        self._first, self._last = empty("cells", (2, blocks), np.int32)
        self._extra, self._resistance = empty("extra", 4 * blocks + 1), empty("resistance", 4 * blocks + 1)
        self._block = empty("block", 4 * blocks + 1, np.int32)
        end = coarsening.aggregate_pixels(
            weight_down, weight_right, diagonal, inverse,
            self.pixel_aggregate, self._first, self._last, self._block, self._extra, self._resistance,
        )  # fmt: skip
        lists = self._lists(end, 8 * blocks)
        edges = coarse_graph.pixel_edges(
            weight_down, weight_right, diagonal,
            self.pixel_aggregate, self._first, self._last, self._extra, *lists,
        )  # fmt: skip
        nodes, entries = 2 * end + 64, 4 * edges + 64
        self.row, self.middle = empty("row", nodes, np.uint32), empty("middle", nodes, np.uint32)
        self.inverse, self.aggregate = empty("inverse", nodes), empty("aggregate", nodes, np.uint32)
        self.column, self.value = empty("column", entries, np.uint32), empty("value", entries)
        self._grow(nodes, entries)
        self.row[1] = 0
        self.starts = [1, end]
        self._assemble(lists)

    def _next_level(self, cells):
        """Make the nodes of another level from those of the last one, which lie in so many rows of cells."""
        begin, end = self.starts[-2:]
        edges = int(self.row[end] - self.row[begin])
        if 2 * end - begin >= len(self.row) or self.row[end] + edges > len(self.column):
            self._grow(2 * (2 * end - begin), 2 * int(self.row[end] + edges))
        new_end = coarsening.aggregate_nodes(
            begin, end, self.row, self.middle, self.column, self.value, self.inverse, self._extra,
            cells, self._first, self._last, self._block, self.aggregate,
        )  # fmt: skip
        lists = self._lists(new_end, edges)
        coarse_graph.node_edges(
            begin, end, new_end, self.row, self.column, self.value,
            self._extra, self.aggregate, self._resistance, *lists,
        )  # fmt: skip
        self.starts.append(new_end)
        self._assemble(lists)

    def _grow(self, nodes, entries):
        """Make room in the arrays of all levels, keeping what is there."""
        grown = self._workspace.grown
        self.row, self.middle = grown("row", self.row, nodes), grown("middle", self.middle, nodes)
        self.inverse = grown("inverse", self.inverse, nodes)
        self.aggregate = grown("aggregate", self.aggregate, nodes)
        self.column, self.value = grown("column", self.column, entries), grown("value", self.value, entries)
        self._extra = grown("extra", self._extra, nodes)
        self._resistance = grown("resistance", self._resistance, nodes)
        self._block = grown("block", self._block, nodes)

    def _lists(self, nodes, edges):
        """Return room for the edges of one level, listed at their lower ends: starts, columns and values."""
        empty = self._workspace.empty
        return empty("upper", nodes + 1, np.int32), empty("columns", edges, np.int32), empty("values", edges)

    def _assemble(self, lists):
        """Store the matrix of the last level."""
        matrix = self.row, self.middle, self.column, self.value, self.inverse
        coarse_graph.assemble(*self.starts[-2:], *lists, self._extra, self._resistance, *matrix)

    @property
    def sizes(self):
        """Number of nodes of each coarse level."""
        return np.diff(self.starts).tolist()

    def cycle(self):
        """Improve ``solution`` for ``right_side`` on the first coarse level."""
        matrix = self.row, self.middle, self.column, self.value, self.inverse, self.aggregate
        vectors = self.right_side, self.solution, self.direction, self.product
        _cycle(self.starts, self.twice, *matrix, self.factors, self.pivots, *vectors, self._steps)


def _visits(sizes):
    """Decide which levels are visited up to twice as often as the one above: not the first, nor the last.

    Twice everywhere would be a cost that grows faster than the pixels where levels shrink slowly.
    """
    twice = np.zeros(len(sizes), bool)
    visits = 1
    for level in range(1, len(sizes) - 1):
        twice[level] = 2 * visits * sizes[level] <= EFFORT**level * sizes[0]
        visits *= 1 + twice[level]
    return twice


@njit(**FAST)
def _dense(begin, end, row, column, value, band):
    """Copy the edges between the nodes begin to end, each at its lower end, as the elimination has them."""
    band[:] = 0.0
    for i in range(begin, end):
        for entry in range(row[i], row[i + 1]):
            j = np.int64(column[entry])
            if j > i:
                band[i - begin, j - i - 1] = value[entry]


@njit(**SHORT_ROWS)
def _cycle(
    starts, twice, row, middle, column, value, inverse, aggregate, factors, pivots, b, x, direction, product,
    steps,
):  # fmt: skip
    """Run one cycle on the first coarse level, as a loop: going down, then coming up from solved levels.

    All in one function: divided into several, it takes half as long again. ``steps`` is room for what each
    level knows of its first step.
    """
    levels = starts.size - 1
    second, curvature, length = steps[0], steps[1], steps[2]  # is this the level's second step? (1 or 0)
    level, down = 0, True
    while True:
        begin, end = starts[level], starts[level + 1]
        if down and level == levels - 1:
            for i in range(begin, end):
                x[i] = b[i]
            elimination.solve_factorised(factors, pivots, x[begin:end])
            down = False
        elif down:
            b[end : starts[level + 2]] = 0.0
            for i in range(begin, end):
                total = b[i]
                for entry in range(row[i], middle[i]):
                    total += value[entry] * x[column[entry]]
                x[i] = total * inverse[i]
            for i in range(begin, end):
                total = 0.0  # the residual of a sweep from zero: what the later nodes contribute
                for entry in range(middle[i], row[i + 1]):
                    total += value[entry] * x[column[entry]]
                b[aggregate[i]] += total
            level += 1
            second[level] = 0.0
        else:
            if twice[level]:
                b_dot_b, x_dot_b, x_dot_ax, x_dot_ad, ax_dot_b, ax_dot_ax = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                for i in range(begin, end):
                    total = x[i] / inverse[i] if inverse[i] > 0 else 0.0
                    for entry in range(row[i], row[i + 1]):
                        total -= value[entry] * x[column[entry]]
                    x_dot_b += x[i] * b[i]
                    x_dot_ax += x[i] * total
                    if second[level] > 0:
                        x_dot_ad += x[i] * product[i]
                    else:
                        product[i] = total
                        b_dot_b += b[i] * b[i]
                        ax_dot_b += total * b[i]
                        ax_dot_ax += total * total
                if second[level] > 0:
                    # What the second direction adds to the first; nothing, if only rounding errors differ.
                    curvature_2 = x_dot_ax - x_dot_ad * x_dot_ad / curvature[level]
                    length_2 = x_dot_b / curvature_2 if curvature_2 > SAME * x_dot_ax else 0.0
                    length_1 = length[level] - length_2 * x_dot_ad / curvature[level]
                    for i in range(begin, end):
                        x[i] = length_1 * direction[i] + length_2 * x[i]
                else:
                    step = x_dot_b / x_dot_ax if x_dot_ax > 0 else 0.0
                    if (
                        x_dot_ax > 0
                        and b_dot_b - 2 * step * ax_dot_b + step * step * ax_dot_ax > ENOUGH**2 * b_dot_b
                    ):
                        for i in range(begin, end):
                            direction[i] = x[i]
                            b[i] -= step * product[i]
                        curvature[level], length[level] = x_dot_ax, step
                        second[level], down = 1.0, True
                        continue
                    for i in range(begin, end):
                        x[i] *= step
            if level == 0:
                return
            level -= 1
            begin, end = starts[level], starts[level + 1]
            for i in range(begin, end):
                x[i] += x[aggregate[i]]
            for i in range(end - 1, begin - 1, -1):
                total = b[i]
                for entry in range(row[i], row[i + 1]):
                    total += value[entry] * x[column[entry]]
                x[i] = total * inverse[i]
            b[0] = 0.0
