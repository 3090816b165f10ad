"""The coarse levels of the multigrid solver, and one cycle over them.

A cycle visits the first coarse level once; from there down, each level is solved by up to two steps of
conjugate gradients (a K-cycle), which makes the convergence independent of the number of levels.
"""

from typing import NamedTuple

import numpy as np

from normint.compiling import FAST, INNER, WITHIN, njit
from normint.solver import elimination
from normint.solver.coarse_edges import connect
from normint.solver.coarsening import Extras, aggregate, cell_of, node_of_block
from normint.solver.grid import (
    DOWN,
    INVERSE,
    ONE,
    OWN,
    PRODUCT,
    RESISTANCE,
    RIGHT,
    UNIT,
    ZERO,
    D,
    E,
    R,
    U,
    ascend,
    descend,
    multiply_row,
    place,
    rows_of,
    shape_for,
)  # fmt: skip

SMALLEST = 32  # a level of at most this many nodes is solved directly
ENOUGH = 0.25  # a first step that leaves no more than this part of the residual needs no second
SAME = 1e-6  # two directions whose squared sine is smaller are one
# Steps are one to two corrections long. Where a constant is free it costs nothing, and rounding errors in the
# mean of the right-hand side ask for a step of any length: such a length is not taken.
SHORTEST, LONGEST = 0.2, 5.0
EFFORT = 0.85  # a level may cost this part of what the level above costs, or it is visited less often
EXTRA = 16  # nodes of a grid that one extra node takes as long as
DEEPEST = 64  # levels


class Lists(NamedTuple):
    """What the grids of the coarse levels do not hold: extra nodes, and nodes moved to another parent."""

    extra: np.ndarray  # where the extra nodes of each level begin in the next three
    row: np.ndarray
    middle: np.ndarray
    parent: np.ndarray
    column: np.ndarray
    value: np.ndarray
    move: np.ndarray  # where the moved nodes of each level begin in the next one
    moved: np.ndarray  # see :func:`_moved`


class Hierarchy:
    """The coarse levels of a system on the pixel grid, and one cycle over them.

    Parameters
    ----------
    nodes : ndarray
        What is known of the pixels; see :mod:`normint.solver.grid`.
    where : (int, int, int, int)
        0, the height and the width of their grid, 0.
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

    def __init__(self, nodes, where, workspace):
        self._workspace, real = workspace, nodes.dtype
        room = 4 * where[1] * where[2] // 5 + 4096  # 0.4 of the pixels: a third, and extra nodes
        self.nodes = workspace.empty("coarse", (RESISTANCE + 1, room), real)
        self._span = workspace.zeros("spans", (2 * where[1] + 4 * DEEPEST, 2), np.int32)
        places, levels, moved, self.sizes, end = [], [], [], [], 0
        level = Extras(
            0, np.zeros(0, np.int64), np.zeros(1, np.int32), *np.zeros((2, 0), np.int32), np.zeros(0, real)
        )
        while not places or (self.sizes[-1] > SMALLEST and len(places) < DEEPEST):
            rows = places[-1][1] + places[-1][3] if places else 0
            cells = end, *shape_for((where[1] - 2) // 2, where[2] - 2), rows
            begin = end + 2 * cells[1] * cells[2]
            self._clear(end, begin)
            fine = nodes if not places else self.nodes, where
            line, parents, extra_parents, new, resistance = aggregate(
                *fine, level.begin, level.cell, level.row, level.column, level.value, self.nodes, cells
            )
            moved.append(_moved(fine[0], where, cells, line, parents))
            if places:
                levels.append((level, extra_parents))
            end = begin + len(new)
            self._clear(begin, end)
            self.nodes[RESISTANCE, begin:end] = resistance
            fine = nodes if not places else self.nodes, where
            edges = connect(*fine, level, line, parents, extra_parents, self.nodes, cells, new, self._span)
            level = Extras(begin, new, *edges)
            where = cells
            places.append(cells)
            self.sizes.append(int(np.count_nonzero(self.nodes[INVERSE, cells[0] : end])))
        levels.append((level, np.zeros(len(new), np.int32)))
        self.places = places
        self.ends = [place[0] for place in places[1:]] + [end]
        self.moved, self._lists = moved[0], _joined(levels, moved[1:])
        self._bottom = _factorised(self.nodes, where, end, *level)
        work = self.sizes + EXTRA * np.diff(self._lists.extra)
        self._levels = np.array(places), np.array(self.ends), _visits(work), np.zeros((3, len(places)))

    def _clear(self, begin, end):
        """Make room for the nodes begin to end, with zeros."""
        if end > self.nodes.shape[1]:
            larger = self._workspace.other("coarse", (len(self.nodes), end + end // 4), self.nodes.dtype)
            larger[:, :begin] = self.nodes[:, :begin]
            self.nodes = larger
        self.nodes[:, begin:end] = 0.0

    def cycle(self):
        """Improve the solution for the right-hand side of the first coarse level."""
        _cycle(self.nodes, self._span, *self._levels, self._lists, *self._bottom)


def _joined(levels, moved):
    """Return the lists of all levels, one behind the other."""
    extras, parents = zip(*levels, strict=True)
    starts = np.cumsum([0, *(len(level.column) for level in extras)])
    shifted = list(zip(extras, starts[:-1], strict=True))
    return Lists(
        np.cumsum([0, *(len(level.cell) for level in extras)]),
        np.concatenate([*(level.row[:-1] + start for level, start in shifted), starts[-1:]]).astype(np.int32),
        np.concatenate([level.middle + start for level, start in shifted]).astype(np.int32),
        np.concatenate(parents),
        np.concatenate([level.column for level in extras]),
        np.concatenate([level.value for level in extras]),
        np.cumsum([0, *(part.shape[1] for part in moved)]),
        np.concatenate([np.zeros((3, 0), np.int32), *moved], axis=1),
    )


def _visits(work):
    """Decide which levels are visited up to twice as often as the one above: not the first, nor the last.

    Twice everywhere would be a cost that grows faster than the pixels where levels shrink slowly.
    """
    twice = np.zeros(len(work), bool)
    visits = 1
    for level in range(1, len(work) - 1):
        twice[level] = visits * work[level] <= EFFORT ** (level - 1) * work[1]
        visits *= 1 + twice[level]
    return twice


@njit(**FAST)
def _moved(nodes, where, cells, line, parents):
    """List the red nodes that do not go to their cell's own node: these, that one, and their parents."""
    rows, cols, count = (where[1] - 2) // 2, where[2] - 2, 0
    moved = np.empty((3, 2 * len(parents)), np.int32)
    for y in range(rows):
        for x in range(cols):
            if line[y * cols + x] >= 0:
                main = place(cells, y, x)
                for number in (1, 2):  # the red ones
                    node, to = node_of_block(where, number, y, x), parents[line[y * cols + x], number]
                    if nodes[INVERSE, node] > 0 and to != main:
                        moved[0, count], moved[1, count], moved[2, count] = node, main, to
                        count += 1
    return moved[:, :count].copy()


@njit(**FAST)
def _factorised(nodes, where, end, begin, cell, row, middle, column, value):
    """Return the nodes of the last level, and the factors of their matrix."""
    few, count = np.empty(end - where[0], np.int64), 0
    for node in range(where[0], end):
        if nodes[INVERSE, node] > 0:
            few[count] = node
            count += 1
    band, own = np.zeros((count, max(count - 1, 0))), np.empty(count)
    for i in range(count):
        own[i] = nodes[OWN, few[i]]
        for j in range(i + 1, count):
            if few[j] >= begin:
                for entry in range(row[few[j] - begin], row[few[j] - begin + 1]):
                    if column[entry] == few[i]:
                        band[i, j - i - 1] = value[entry]
            else:
                (y, x), (v, u) = cell_of(where, few[i]), cell_of(where, few[j])
                if abs(y - v) + abs(x - u) == 1:
                    first = few[i] if y < v or x < u else few[j]
                    band[i, j - i - 1] = nodes[DOWN, first] if y != v else nodes[RIGHT, first]
    elimination.factorise(band, own)
    return few[:count].copy(), band, own


@njit(**FAST)
def move_down(nodes, where, moved, begin, end, coarse):
    """Take the residuals of moved nodes from their cells' nodes to their parents."""
    for i in range(begin, end):
        node = moved[0, i]
        k, m = (node - where[0]) // where[2], U((node - where[0]) % where[2])
        h, a, b, l, g = rows_of(where, ZERO, k)
        left = nodes[R, node] - nodes[E, node] / nodes[INVERSE, node]
        if len(nodes) == UNIT:
            left += (nodes[E, a + m] + nodes[E, b + m]) + (nodes[E, l + m] + nodes[E, g + m])
        else:
            left += nodes[DOWN, a + m] * nodes[E, a + m] + nodes[DOWN, h + m] * nodes[E, b + m]
            left += nodes[RIGHT, l + m] * nodes[E, l + m] + nodes[RIGHT, h + m] * nodes[E, g + m]
        coarse[R, moved[1, i]] -= left
        coarse[R, moved[2, i]] += left
    coarse[R, 0] = 0  # nowhere


@njit(**FAST)
def move_up(nodes, moved, begin, end, coarse):
    """Add to moved nodes the difference between their parents' and their cells' corrections."""
    for i in range(begin, end):
        nodes[E, moved[0, i]] += coarse[E, moved[2, i]] - coarse[E, moved[1, i]]


@njit(**INNER)
def _extras_first(nodes, begin, first, last, row, middle, column, value):
    """Sweep over a level's extra nodes from zero, and add what that does to the grid's nodes to their R."""
    for n in range(first, last):
        i = begin + n - first
        total = nodes[R, i]
        for entry in range(middle[n], row[n + 1]):
            if column[entry] < i:
                total += value[entry] * nodes[E, column[entry]]
        total *= nodes[INVERSE, i]
        nodes[E, i] = total
        for entry in range(row[n], middle[n]):
            nodes[R, column[entry]] += value[entry] * total


@njit(**INNER)
def _extras_down(nodes, begin, first, last, row, middle, column, value, parent):
    """Add the residuals of the extra nodes to their parents'."""
    for n in range(first, last):
        total = nodes.dtype.type(0)
        for entry in range(row[n], middle[n]):
            total += value[entry] * nodes[E, column[entry]]
        for entry in range(middle[n], row[n + 1]):
            if column[entry] > begin + n - first:
                total += value[entry] * nodes[E, column[entry]]
        nodes[R, parent[n]] += total
    nodes[R, 0] = 0  # nowhere


@njit(**INNER)
def _extras_up(nodes, begin, first, last, row, middle, column, value, parent):
    """Add the parents' corrections to the extra nodes, and what that does to the grid's nodes to their R."""
    for n in range(first, last):
        correction = nodes[E, parent[n]]
        nodes[E, begin + n - first] += correction
        for entry in range(row[n], middle[n]):
            nodes[R, column[entry]] += value[entry] * correction


@njit(**INNER)
def _extras_last(nodes, begin, first, last, row, middle, column, value):
    """Sweep over the extra nodes, and take from R what was added to it."""
    for n in range(last - 1, first - 1, -1):
        i = begin + n - first
        total, old = nodes[R, i], nodes[E, i]
        for entry in range(row[n], middle[n]):
            total += value[entry] * nodes[E, column[entry]]
            nodes[R, column[entry]] -= value[entry] * old
        for entry in range(middle[n], row[n + 1]):
            total += value[entry] * nodes[E, column[entry]]
        nodes[E, i] = total * nodes[INVERSE, i]


@njit(**INNER)
def _multiply(nodes, span, where, begin, first, last, row, middle, column, value):
    """Set the product of a level's matrix with its solution."""
    for colour in range(2):
        for k in range(1, where[1] - 1):
            to = where[0] + (colour * where[1] + k) * where[2]
            multiply_row(nodes, span, where, colour, k, np.int64(E), nodes[PRODUCT], to)
    for n in range(first, last):
        i = begin + n - first
        here = nodes[E, i]
        total = nodes[OWN, i] * here
        for entry in range(row[n], middle[n]):
            flow = value[entry] * (here - nodes[E, column[entry]])
            total += flow
            nodes[PRODUCT, column[entry]] -= flow
        for entry in range(middle[n], row[n + 1]):
            total += value[entry] * (here - nodes[E, column[entry]])
        nodes[PRODUCT, i] = total


@njit(**WITHIN)
def _where(places, level):
    return places[level, 0], places[level, 1], places[level, 2], places[level, 3]


@njit(**FAST)
def _cycle(nodes, span, places, ends, twice, steps, lists, bottom, factors, pivots):
    """Run one cycle on the first coarse level, as a loop: going down, then coming up from solved levels.

    ``steps`` is room for what each level knows of its first step: whether there was one, its curvature and
    its length.
    """
    extra, row, middle, parent, column, value, move, moved = lists
    level, down = ZERO, True
    nothing, few = np.empty((0, 3)), np.empty(bottom.size)
    while True:
        where = _where(places, level)
        if down and level == ends.size - 1:
            for i in range(bottom.size):
                few[i] = nodes[R, bottom[i]]
            elimination.solve_factorised(factors, pivots, few)
            for i in range(bottom.size):
                nodes[E, bottom[i]] = few[i]
            down = False
        elif down:
            cells, begin = _where(places, level + 1), where[0] + 2 * where[1] * where[2]
            first, last = extra[level], extra[level + 1]
            _extras_first(nodes, begin, first, last, row, middle, column, value)
            region = ONE, where[1] - 1, ZERO, ZERO
            descend(nodes, span, where, region, ONE, nodes, cells)
            for i in range(cells[0] + 2 * cells[1] * cells[2], ends[level + 1]):
                nodes[R, i] = 0
            move_down(nodes, where, moved, move[level], move[level + 1], nodes)
            _extras_down(nodes, begin, first, last, row, middle, column, value, parent)
            level += 1
            steps[0, level] = 0.0
        else:
            if twice[level]:
                begin, first, last = where[0] + 2 * where[1] * where[2], extra[level], extra[level + 1]
                _multiply(nodes, span, where, begin, first, last, row, middle, column, value)
                down = _step(nodes, where[0], ends[level], steps, level)
                if down:
                    continue
            if level == 0:
                return
            level -= 1
            cells, where = where, _where(places, level)
            begin, first, last = where[0] + 2 * where[1] * where[2], extra[level], extra[level + 1]
            move_up(nodes, moved, move[level], move[level + 1], nodes)
            _extras_up(nodes, begin, first, last, row, middle, column, value, parent)
            region = ONE, where[1] - 1, ZERO, ZERO
            ascend(nodes, span, where, region, ONE, nodes, cells, nothing)
            _extras_last(nodes, begin, first, last, row, middle, column, value)


@njit(**INNER)
def _dot(nodes, one, other, begin, end):
    total = 0.0
    for i in range(U(begin), U(end)):
        total += np.float64(nodes[one, i]) * nodes[other, i]
    return total


@njit(**WITHIN)
def _length(x_dot_b, curvature, otherwise):
    """Return how far a direction leads to the least energy, or something else if rounding errors say it."""
    length = x_dot_b / curvature
    return length if SHORTEST < length < LONGEST else otherwise


@njit(**INNER)
def _step(nodes, begin, end, steps, level):
    """Take a step of conjugate gradients on one level; return whether it needs another one."""
    real, span = nodes.dtype.type, range(U(begin), U(end))
    x_dot_b, x_dot_ax = (
        _dot(nodes, np.int64(E), np.int64(R), begin, end),
        _dot(nodes, np.int64(E), np.int64(PRODUCT), begin, end),
    )
    if steps[0, level] > 0:
        curvature, x_dot_ad = steps[1, level], _dot(nodes, np.int64(D), np.int64(PRODUCT), begin, end)
        # What the second direction adds to the first; nothing, if only rounding errors differ.
        curvature_2 = x_dot_ax - x_dot_ad * x_dot_ad / curvature
        length_2 = _length(x_dot_b, curvature_2, 0.0) if curvature_2 > SAME * x_dot_ax else 0.0
        length_1, length_2 = real(steps[2, level] - length_2 * x_dot_ad / curvature), real(length_2)
        for i in span:
            nodes[E, i] = length_1 * nodes[D, i] + length_2 * nodes[E, i]
        return False
    length = _length(x_dot_b, x_dot_ax, 1.0) if x_dot_ax > 0 else 0.0
    b_dot_b = _dot(nodes, np.int64(R), np.int64(R), begin, end)
    left = length * length * _dot(nodes, np.int64(PRODUCT), np.int64(PRODUCT), begin, end)
    left += b_dot_b - 2 * length * _dot(nodes, np.int64(R), np.int64(PRODUCT), begin, end)
    if left > ENOUGH**2 * b_dot_b and x_dot_ax > 0:
        for i in span:
            nodes[D, i] = nodes[E, i]
            nodes[R, i] -= real(length) * nodes[PRODUCT, i]
        steps[0, level], steps[1, level], steps[2, level] = 1.0, x_dot_ax, length
        return True
    for i in span:
        nodes[E, i] *= real(length)
    return False
