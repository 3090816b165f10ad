"""The coarse levels of the multigrid solver, and one cycle over them.

A cycle visits the first coarse level once; from there down, each level is solved by up to two steps of
conjugate gradients (a K-cycle), which makes the convergence independent of the number of levels.
"""

import numpy as np

from normint.compiling import FAST, SHORT_ROWS, njit
from normint.solver import coarsening, elimination

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
        blocks = cells[0] * cells[1]
        # Sizes are upper bounds: memory that is never touched is never used.
        self.pixel_aggregate = workspace.zeros("pixel_aggregate", weight_down.shape, np.uint32)
        first, last = workspace.empty("cells", (2, blocks), np.int32)
        extra, resistance = (workspace.empty(name, 4 * blocks + 1) for name in ("extra", "resistance"))
        block = workspace.empty("block", 4 * blocks + 1, np.int32)
        end = coarsening.aggregate_pixels(
            weight_down, weight_right, diagonal, inverse,
            self.pixel_aggregate, first, last, block, extra, resistance,
        )  # fmt: skip
        upper, columns, values = self._lists(end, 8 * blocks)
        edges = coarsening.pixel_edges(
            weight_down, weight_right, diagonal,
            self.pixel_aggregate, first, last, extra, upper, columns, values,
        )  # fmt: skip
        self._reserve(2 * end + 64, 4 * edges + 64)
        extra, resistance, block = self._grown(extra, resistance, block)
        self.row[1] = 0
        self._assemble(1, end, upper, columns, values, extra, resistance)
        starts = [1, end]
        while starts[-1] - starts[-2] > SMALLEST:
            s, e = starts[-2:]
            edges = int(self.row[e] - self.row[s])
            if 2 * e - s >= len(self.row) or self.row[e] + edges > len(self.column):
                self._reserve(2 * (2 * e - s), 2 * int(self.row[e] + edges))
                extra, resistance, block = self._grown(extra, resistance, block)
            graph = self.row, self.column, self.value
            n = coarsening.aggregate_nodes(
                s, e, self.row, self.middle, self.column, self.value, self.inverse, extra,
                cells, first, last, block, self.aggregate,
            )  # fmt: skip
            upper, columns, values = self._lists(n, edges)
            coarsening.node_edges(s, e, n, *graph, extra, self.aggregate, resistance, upper, columns, values)
            self._assemble(e, n, upper, columns, values, extra, resistance)
            starts.append(n)
            cells = (cells[0] + 1) // 2, (cells[1] + 1) // 2
        self.starts, self.twice = np.array(starts), _visits(np.diff(starts))
        s, e = starts[-2:]
        self.factors, self.pivots = np.empty((e - s, max(e - s - 1, 0))), extra[s:e].copy()
        _dense(s, e, self.row, self.column, self.value, self.factors)
        elimination.factorise(self.factors, self.pivots)
        vectors = workspace.zeros("coarse vectors", (4, starts[-1]))
        self.right_side, self.solution, self.direction, self.product = vectors

    def _reserve(self, nodes, entries):
        """Make room in the arrays of all levels, keeping what is there."""
        for name, size, kind in (
            ("row", nodes, np.uint32), ("middle", nodes, np.uint32), ("inverse", nodes, float),
            ("aggregate", nodes, np.uint32), ("column", entries, np.uint32), ("value", entries, float),
        ):  # fmt: skip
            array = getattr(self, name, None)
            if array is None:
                setattr(self, name, self._workspace.empty(name, size, kind))
            else:
                setattr(self, name, self._workspace.grown(name, array, size))

    def _grown(self, extra, resistance, block):
        arrays = {"extra": extra, "resistance": resistance, "block": block}
        return (self._workspace.grown(name, array, len(self.row)) for name, array in arrays.items())

    def _lists(self, nodes, edges):
        """Return room for the edges of one level, each listed at its lower end."""
        take = self._workspace.empty
        return take("upper", nodes + 1, np.int32), take("columns", edges, np.int32), take("values", edges)

    def _assemble(self, s, e, upper, columns, values, extra, resistance):
        matrix = self.row, self.middle, self.column, self.value, self.inverse
        coarsening.assemble(s, e, upper, columns, values, extra, resistance, *matrix)

    @property
    def sizes(self):
        """Number of nodes of each coarse level."""
        return np.diff(self.starts).tolist()

    def cycle(self):
        """Improve ``solution`` for ``right_side`` on the first coarse level."""
        matrix = self.row, self.middle, self.column, self.value, self.inverse, self.aggregate
        vectors = self.right_side, self.solution, self.direction, self.product
        _cycle(self.starts, self.twice, *matrix, self.factors, self.pivots, *vectors)


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
def _dense(s, e, row, column, value, band):
    """Copy the edges between nodes s to e, each at its lower end, as the elimination has them."""
    band[:] = 0.0
    for i in range(s, e):
        for t in range(row[i], row[i + 1]):
            j = np.int64(column[t])
            if j > i:
                band[i - s, j - i - 1] = value[t]


@njit(**SHORT_ROWS)
def _cycle(
    starts, twice, row, middle, column, value, inverse, aggregate, factors, pivots, b, x, direction, product,
):  # fmt: skip
    """Run one cycle on the first coarse level, as a loop: going down, then coming up from solved levels."""
    levels = starts.size - 1
    second = np.zeros(levels, np.bool_)  # is this the level's second step?
    curvature, length = np.zeros(levels), np.zeros(levels)
    level, down = 0, True
    while True:
        s, e = starts[level], starts[level + 1]
        if down and level == levels - 1:
            x[s:e] = b[s:e]
            elimination.solve_factorised(factors, pivots, x[s:e])
            down = False
        elif down:
            b[e : starts[level + 2]] = 0.0
            for i in range(s, e):
                t = b[i]
                for h in range(row[i], middle[i]):
                    t += value[h] * x[column[h]]
                x[i] = t * inverse[i]
            for i in range(s, e):
                t = 0.0  # the residual of a sweep from zero: what the later nodes contribute
                for h in range(middle[i], row[i + 1]):
                    t += value[h] * x[column[h]]
                b[aggregate[i]] += t
            level += 1
            second[level] = False
        else:
            if twice[level]:
                bb, xb, xax, xad, axb, axax = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                for i in range(s, e):
                    t = x[i] / inverse[i] if inverse[i] > 0 else 0.0
                    for h in range(row[i], row[i + 1]):
                        t -= value[h] * x[column[h]]
                    xb += x[i] * b[i]
                    xax += x[i] * t
                    if second[level]:
                        xad += x[i] * product[i]
                    else:
                        product[i] = t
                        bb += b[i] * b[i]
                        axb += t * b[i]
                        axax += t * t
                if second[level]:
                    # What the second direction adds to the first; nothing, if only rounding errors differ.
                    curvature_2 = xax - xad * xad / curvature[level]
                    length_2 = xb / curvature_2 if curvature_2 > SAME * xax else 0.0
                    length_1 = length[level] - length_2 * xad / curvature[level]
                    for i in range(s, e):
                        x[i] = length_1 * direction[i] + length_2 * x[i]
                else:
                    t = xb / xax if xax > 0 else 0.0
                    if xax > 0 and bb - 2 * t * axb + t * t * axax > ENOUGH**2 * bb:
                        for i in range(s, e):
                            direction[i] = x[i]
                            b[i] -= t * product[i]
                        curvature[level], length[level] = xax, t
                        second[level], down = True, True
                        continue
                    for i in range(s, e):
                        x[i] *= t
            if level == 0:
                return
            level -= 1
            s, e = starts[level], starts[level + 1]
            for i in range(s, e):
                x[i] += x[aggregate[i]]
            for i in range(e - 1, s - 1, -1):
                t = b[i]
                for h in range(row[i], row[i + 1]):
                    t += value[h] * x[column[h]]
                x[i] = t * inverse[i]
            b[0] = 0.0
