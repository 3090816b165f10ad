"""From fine to coarse: the nodes of each block of 2x2 are joined, and become the next level's nodes.

Most blocks become one node, and so a grid becomes a grid of half as many rows and columns. But no aggregate
may reach across a depth discontinuity, or from one piece of the domain to another. Where a block falls into
several strongly connected parts, the largest one takes the place in the grid, and the others become *extra*
nodes, which are kept in a list with their edges. A node that its own weight holds is left to the smoother:
its parent is node 0, which is nowhere.

All coarse levels stand one behind the other in the same array. A level has its grid, then its extra nodes;
the grid of the first begins at 0, where there is padding.
"""

from typing import NamedTuple

import numpy as np

from normint.compiling import FAST, INNER, WITHIN, njit
from normint.solver.grid import DOWN, INVERSE, OWN, RESISTANCE, RIGHT, UNIT, ZERO, U, place, spread

STRONG = 0.1  # an edge joins two clusters when its weight is at least this part of the weaker one's diagonal
LARGEST = 6  # nodes in an aggregate, so that a block in which a long path winds does not become one node
HANGING = 0.75  # a node with this part of its diagonal in one edge follows its neighbour and does not count
FIRST_ENDS, SECOND_ENDS = (0, 2, 0, 1), (1, 3, 2, 3)  # of the four edges inside a block

# What is noted of a block's nodes and edges while they are joined, one row of an array for each.
NODE, ROOT, COUNT, PART, ONE_END, OTHER_END, ORDER = range(7)
SIZE, WEIGHT = range(2)


class Extras(NamedTuple):
    """The extra nodes of a level, and their edges."""

    begin: int  # where they begin among the nodes
    cell: np.ndarray  # in which each lies
    row: np.ndarray  # where the edges of each begin, and where the last ones end
    middle: np.ndarray  # where those that lead to the grid end
    column: np.ndarray  # the other ends
    value: np.ndarray  # the weights


@njit(**WITHIN)
def node_of_block(where, number, y, x):
    """Return one of the four nodes of a block, numbered left to right and down: black, red, red, black."""
    below = number >> 1
    return where[0] + (((number + 1 + below) & 1) * where[1] + 2 * y + 1 + below) * where[2] + x + 1


@njit(**WITHIN)
def cell_of(where, node):
    """Return the row and the column of a node of a grid: that of a pixel, or of a cell."""
    k, m = (node - where[0]) // where[2], (node - where[0]) % where[2]
    colour, k = (1, k - where[1]) if k >= where[1] else (0, k)
    return k - 1, 2 * m + ((k + colour) & 1) - 2


@njit(**WITHIN)
def edge_weight(nodes, node, other, downwards):
    """Return the weight of a node's edge to the one below it, or to the right."""
    if len(nodes) == UNIT:
        return nodes.dtype.type(nodes[INVERSE, node] > 0 and nodes[INVERSE, other] > 0)
    return nodes[DOWN, node] if downwards else nodes[RIGHT, node]


@njit(**FAST)
def aggregate(nodes, where, begin, cell, row, column, value, coarse, cells):
    """Find the parents of all nodes of a level.

    ``begin`` to ``value`` are its extra nodes. ``cells`` is where the next level's grid is in ``coarse``; the
    resistances of its nodes are set there.

    Returns
    -------
    line : of each block, its line in ``parents``, or −1 if all its nodes go to the cell's own node
    parents : of a block's four nodes
    extra_parents : of the extra nodes
    new : the cells of the next level's extra nodes
    new_resistance : theirs
    """
    real = nodes.dtype.type
    rows, cols, count = (where[1] - 2) // 2, where[2] - 2, cell.size
    # Sizes are upper bounds: memory that is never touched is never used.
    line, parents = np.empty(rows * cols, np.int32), np.empty((rows * cols, 4), np.int32)
    extra_parents, new = np.zeros(count, np.int32), np.empty(3 * rows * cols + count, np.int64)
    new_resistance = np.empty(new.size, nodes.dtype)
    first, following = np.empty(rows * cols if count > 0 else 0, np.int32), np.empty(count, np.int32)
    _by_block(cell, 2 * where[2], cols, first, following)
    notes = np.empty((7, max(count, column.size) + 4), np.int32)
    sizes = np.empty((2, notes.shape[1]), nodes.dtype)
    total, mean = np.zeros(where[2], nodes.dtype), np.zeros(where[2], nodes.dtype)
    extras, lines, made = cells[0] + 2 * cells[1] * cells[2], 0, 0
    for y in range(rows):
        _whole(nodes, where, 2 * y + 1, total)
        for m in range(total.size):
            mean[m] = real(2) / total[m] if total[m] > 0 else real(0)
        spread(mean, y + 1, coarse, np.int64(RESISTANCE), cells)
        for x in range(cols):
            line[y * cols + x] = -1
            extra = first[y * cols + x] if count > 0 else -1
            if total[x + 1] > 0 and extra < 0:
                continue  # the common case
            if len(nodes) == UNIT and not _in_two(nodes, where, y, x, coarse, place(cells, y, x)):
                continue
            inside = _members(nodes, where, begin, y, x, extra, following, notes, sizes)
            if inside == 0:
                continue
            found = _edges(nodes, where, begin, count, row, column, value, y, x, inside, notes, sizes)
            _sort(sizes, found, notes)
            for edge in range(found):
                _join(notes, sizes, notes[ORDER, edge])
            parts, largest = _number(notes, inside)
            main = place(cells, y, x)
            # The largest part becomes the cell's own node, the others extra ones.
            for part in range(parts):
                mean_resistance = _resistance(notes, sizes, found, part)
                if part == largest:
                    coarse[RESISTANCE, main] = mean_resistance
                else:
                    new[made], new_resistance[made] = y * 2 * cells[2] + x, mean_resistance
                    made += 1
            plain = extra < 0
            for i in range(4):
                parents[lines, i] = 0
            for i in range(inside):
                part = notes[PART, i]
                to = extras + made - parts + 1 + part - (part > largest)
                to = 0 if part < 0 else (main if part == largest else to)
                plain = plain and to == main
                if count > 0 and notes[NODE, i] >= begin:
                    extra_parents[notes[NODE, i] - begin] = to
                else:
                    for number in range(4):
                        if node_of_block(where, number, y, x) == notes[NODE, i]:
                            parents[lines, number] = to
            if not plain:
                line[y * cols + x] = lines
                lines += 1
    return line, parents[:lines].copy(), extra_parents, new[:made].copy(), new_resistance[:made].copy()


@njit(**INNER)
def _in_two(nodes, where, y, x, coarse, main):
    """Tell whether a block of equal weights has two nodes that do not touch; set the resistance if not."""
    inside, here = 0, 0
    for number in range(4):
        if nodes[INVERSE, node_of_block(where, number, y, x)] > 0:
            inside, here = inside + 1, here | 1 << number
    if inside == 2 and (here == 0b1001 or here == 0b0110):
        return True
    coarse[RESISTANCE, main] = 0.5 if inside > 1 else 0.0
    return False


@njit(**INNER)
def _by_block(cell, stride, cols, first, following):
    """List the extra nodes of each block: the first one, and to each the next."""
    for block in range(first.size):
        first[block] = -1
    for n in range(cell.size - 1, -1, -1):
        block = (cell[n] // stride >> 1) * cols + (cell[n] % stride >> 1)
        following[n], first[block] = first[block], n


@njit(**INNER)
def _whole(nodes, where, upper, total):
    """Set for each block of a row the total weight of its inner edges, or 0 unless all are strong."""
    real = nodes.dtype.type
    red, black = where[0] + upper * where[2], where[0] + (where[1] + upper) * where[2]
    a, b = U(black), U(red)  # the four nodes: black and red, then red and black
    c, d = U(red + where[2]), U(black + where[2])
    first, last = U(1), U(where[2] - 1)
    for m in range(first, last):
        upper_two = min(nodes[INVERSE, a + m], nodes[INVERSE, b + m])
        total[m] = min(upper_two, min(nodes[INVERSE, c + m], nodes[INVERSE, d + m]))
    if len(nodes) == UNIT:
        for m in range(first, last):
            total[m] = real(4) if total[m] > 0 else real(0)
        return
    for m in range(first, last):
        weakest = min(nodes[RIGHT, a + m], nodes[RIGHT, c + m])
        weakest = min(weakest, min(nodes[DOWN, a + m], nodes[DOWN, b + m]))
        total[m] = weakest * total[m]
    for m in range(first, last):
        upper_two = nodes[OWN, a + m] * nodes[INVERSE, a + m] + nodes[OWN, b + m] * nodes[INVERSE, b + m]
        lower_two = nodes[OWN, c + m] * nodes[INVERSE, c + m] + nodes[OWN, d + m] * nodes[INVERSE, d + m]
        total[m] = total[m] if real(2) * (upper_two + lower_two) < real(1) else real(0)
    for m in range(first, last):
        weight = nodes[RIGHT, a + m] + nodes[RIGHT, c + m] + (nodes[DOWN, a + m] + nodes[DOWN, b + m])
        total[m] = weight if total[m] >= real(STRONG) else real(0)


@njit(**INNER)
def _members(nodes, where, begin, y, x, extra, following, notes, sizes):
    """List the nodes of a block, each a part of its own, and return how many there are."""
    inside = 0
    for number in range(4):
        node = node_of_block(where, number, y, x)
        if nodes[INVERSE, node] > 0:
            notes[NODE, inside] = node
            inside += 1
    while extra >= 0:
        if nodes[INVERSE, begin + extra] > 0:
            notes[NODE, inside] = begin + extra
            inside += 1
        extra = following[extra]
    for i in range(inside):
        sizes[SIZE, i] = 1 / nodes[INVERSE, notes[NODE, i]]
        held = len(nodes) > UNIT and 2 * nodes[OWN, notes[NODE, i]] >= sizes[SIZE, i]
        notes[ROOT, i], notes[COUNT, i] = -1 if held else i, 1
    return inside


@njit(**INNER)
def _edges(nodes, where, begin, count, row, column, value, y, x, inside, notes, sizes):
    """List the edges between the nodes of a block, and return how many there are."""
    found = ZERO
    for edge in range(4):
        one = node_of_block(where, FIRST_ENDS[edge], y, x)
        other = node_of_block(where, SECOND_ENDS[edge], y, x)
        weight = edge_weight(nodes, one, other, edge > 1)
        found = _list(notes, sizes, inside, one, other, weight, found)
    for i in range(inside):
        node = np.int64(notes[NODE, i])
        if count > 0 and node >= begin:
            for entry in range(row[node - begin], row[node - begin + 1]):
                if column[entry] < node:  # between two extra nodes, once
                    other = np.int64(column[entry])
                    found = _list(notes, sizes, inside, node, other, value[entry], found)
    return found


@njit(**WITHIN)
def _list(notes, sizes, inside, one, other, weight, found):
    """List an edge if both its ends are in the block, and neither is held."""
    a, b = -1, -1
    for i in range(inside):
        a = i if notes[NODE, i] == one else a
        b = i if notes[NODE, i] == other else b
    if not weight > 0 or a < 0 or b < 0 or notes[ROOT, a] < 0 or notes[ROOT, b] < 0:
        return found
    sizes[WEIGHT, found], notes[ONE_END, found], notes[OTHER_END, found] = weight, a, b
    return found + 1


@njit(**INNER)
def _sort(sizes, count, notes):
    """Order the edges from the strongest to the weakest, by insertion; many of them by Shell's method."""
    for edge in range(count):
        notes[ORDER, edge] = edge
    gap = 1
    while 64 * gap < count:
        gap = 3 * gap + 1
    while gap > 0:
        for end in range(gap, count):
            edge, spot = notes[ORDER, end], end
            while spot >= gap and sizes[WEIGHT, notes[ORDER, spot - gap]] < sizes[WEIGHT, edge]:
                notes[ORDER, spot] = notes[ORDER, spot - gap]
                spot -= gap
            notes[ORDER, spot] = edge
        gap //= 3


@njit(**INNER)
def _join(notes, sizes, edge):
    """Join the parts at the two ends of an edge if it is strong.

    Beside the largest diagonal of a part, so that a node with weak edges all round is no bridge.
    """
    a, b, weight = notes[ONE_END, edge], notes[OTHER_END, edge], sizes[WEIGHT, edge]
    while notes[ROOT, a] != a:
        a = notes[ROOT, a]
    while notes[ROOT, b] != b:
        b = notes[ROOT, b]
    if a == b or weight < STRONG * min(sizes[SIZE, a], sizes[SIZE, b]):
        return
    a, b = min(a, b), max(a, b)
    together = notes[COUNT, a] + notes[COUNT, b]
    count = together
    if notes[COUNT, a] == 1 and weight >= HANGING * sizes[SIZE, a]:
        count -= 1
    if notes[COUNT, b] == 1 and weight >= HANGING * sizes[SIZE, b]:
        count -= 1
    if count <= LARGEST or count < together:
        notes[ROOT, b] = a
        notes[COUNT, a] = max(count, 1)
        sizes[SIZE, a] = max(sizes[SIZE, a], sizes[SIZE, b])


@njit(**INNER)
def _number(notes, inside):
    """Number the parts of a block; return how many there are, and which is the largest."""
    parts, largest, most = 0, 0, 0
    for i in range(inside):
        notes[PART, i] = -1
        if notes[ROOT, i] == i:
            notes[PART, i] = parts
            if notes[COUNT, i] > most:
                largest, most = parts, notes[COUNT, i]
            parts += 1
    for i in range(inside):
        root = notes[ROOT, i]
        if root >= 0:
            while notes[ROOT, root] != root:
                root = notes[ROOT, root]
            notes[PART, i] = notes[PART, root]
    return parts, largest


@njit(**INNER)
def _resistance(notes, sizes, found, part):
    """Return half the mean resistance of the inner edges of a part: half their count over their weight."""
    total, count = 0.0, 0
    for edge in range(found):
        if notes[PART, notes[ONE_END, edge]] == part and notes[PART, notes[OTHER_END, edge]] == part:
            total += sizes[WEIGHT, edge]
            count += 1
    return 0.5 * count / total if count > 0 else 0.0
