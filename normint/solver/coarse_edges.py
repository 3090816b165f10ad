"""The edges of a coarse level, collected from those of the finer one, and the matrix they make up.

Piecewise-constant interpolation makes coarse edges too stiff: two aggregates are not joined at their border
but at their centres. Each weight is reduced as for resistances in series, w / (1 + w (R_a + R_b)/2), by half
at most: by about half in smooth regions, hardly across a weak curve.
"""

import numpy as np

from normint.compiling import FAST, INNER, WITHIN, njit
from normint.solver.coarsening import FIRST_ENDS, SECOND_ENDS, cell_of, edge_weight, node_of_block
from normint.solver.grid import DOWN, INVERSE, OWN, RESISTANCE, RIGHT, UNIT, ZERO, U, place, rows_of, spread

STIFFNESS = 0.9  # how far a weight is reduced towards that of resistances in series


@njit(**FAST)
def connect(nodes, where, extras, line, parents, extra_parents, coarse, cells, new, span):
    """Set the matrix of the next level; return the edges of its extra nodes: row, middle, column, value."""
    rows, cols = (where[1] - 2) // 2, where[2] - 2
    begin, cell, row, _, column, value = extras
    end = cells[0] + 2 * cells[1] * cells[2]
    _between_blocks(nodes, where, coarse, cells)
    # Edges that lead to an extra node; sizes are upper bounds.
    ends = np.empty((2, 12 * len(parents) + column.size + 1), np.int32)
    weight, found = np.empty(ends.shape[1], nodes.dtype), ZERO
    for y in range(rows):
        for x in range(cols):
            if line[y * cols + x] >= 0:
                found = _around_block(nodes, where, line, parents, coarse, cells, y, x, ends, weight, found)
    for n in range(cell.size):
        a = np.int64(extra_parents[n])
        for entry in range(row[n], row[n + 1]):
            node = np.int64(column[entry])
            if begin <= node < begin + n:
                continue  # between two extra nodes, and noted already
            if node >= begin:
                b = np.int64(extra_parents[node - begin])
            else:
                b = _parent_of(where, line, parents, cells, node)
            if 0 < a < end and 0 < b < end and a != b:
                _add_to_grid(coarse, cells, a, b, value[entry])
            elif a != b:
                found = _note(a, b, value[entry], coarse, ends, weight, found)
    if len(nodes) > UNIT:
        _own_weights(nodes, where, line, parents, coarse, cells)
        for n in range(cell.size):
            coarse[OWN, extra_parents[n]] += nodes[OWN, begin + n]
        coarse[OWN, 0] = 0  # nowhere
    edges = _rows(ends, weight, found, end, new.size)
    _soften(coarse, cells, end, edges[0], edges[2], edges[3])
    _spans(coarse, cells, span)
    return edges


@njit(**WITHIN)
def _parent(line, parents, cells, cols, y, x, number):
    """Return the parent of one of the four nodes of block (y, x)."""
    special = line[y * cols + x]
    return np.int64(parents[special, number]) if special >= 0 else place(cells, y, x)


@njit(**WITHIN)
def _parent_of(where, line, parents, cells, node):
    """Return the parent of a node of the grid."""
    y, x = cell_of(where, node)
    return _parent(line, parents, cells, where[2] - 2, y >> 1, x >> 1, 2 * (y & 1) + (x & 1))


@njit(**INNER)
def _between_blocks(nodes, where, coarse, cells):
    """Sum the two edges from each block downwards, and to the right, as if all blocks were one node."""
    real, width = nodes.dtype.type, where[2]
    vertical, horizontal = np.zeros(width, nodes.dtype), np.zeros(width, nodes.dtype)
    first, last = U(1), U(width - 1)
    for upper in range(1, where[1] - 1, 2):
        red, black = where[0] + upper * width, where[0] + (where[1] + upper) * width
        # Downwards from the lower row, s and b; to the right from the upper red and the lower black, r and b.
        r, s, t = U(red), U(red + width), U(red + 2 * width)
        v, b, c = U(black), U(black + width), U(black + 2 * width)
        if len(nodes) == UNIT:
            for m in range(first, last):
                one = nodes[INVERSE, s + m] * nodes[INVERSE, c + m]
                other = nodes[INVERSE, b + m] * nodes[INVERSE, t + m]
                vertical[m] = (real(1) if one > 0 else real(0)) + (real(1) if other > 0 else real(0))
            for m in range(first, last):
                one = nodes[INVERSE, r + m] * nodes[INVERSE, v + U(1) + m]
                other = nodes[INVERSE, b + m] * nodes[INVERSE, s + U(1) + m]
                horizontal[m] = (real(1) if one > 0 else real(0)) + (real(1) if other > 0 else real(0))
        else:
            for m in range(first, last):
                vertical[m] = nodes[DOWN, s + m] + nodes[DOWN, b + m]
                horizontal[m] = nodes[RIGHT, r + m] + nodes[RIGHT, b + m]
        spread(vertical, (upper + 1) >> 1, coarse, np.int64(DOWN), cells)
        spread(horizontal, (upper + 1) >> 1, coarse, np.int64(RIGHT), cells)


@njit(**INNER)
def _around_block(nodes, where, line, parents, coarse, cells, y, x, ends, weight, found):
    """Collect anew the edges inside a block of several nodes, and those that lead out of it."""
    rows, cols, end = (where[1] - 2) // 2, where[2] - 2, cells[0] + 2 * cells[1] * cells[2]
    special = line[y * cols + x]
    for edge in range(4):
        one, other = FIRST_ENDS[edge], SECOND_ENDS[edge]
        a, b = node_of_block(where, one, y, x), node_of_block(where, other, y, x)
        w = edge_weight(nodes, a, b, edge > 1)
        a, b = np.int64(parents[special, one]), np.int64(parents[special, other])
        if w > 0 and a != b:
            found = _note(a, b, w, coarse, ends, weight, found)
    for side in range(4):  # below, to the right, above, to the left
        downwards, back = side % 2 == 0, side >= 2
        v, u = y - (downwards and back), x - (not downwards and back)
        next_v, next_u = v + downwards, u + (not downwards)
        if v < 0 or u < 0 or next_v == rows or next_u == cols:
            continue
        if back and line[v * cols + u] >= 0:
            continue  # collected from there
        total = nodes.dtype.type(0)
        for i in range(2):
            one, other = (2 + i, i) if downwards else (1 + 2 * i, 2 * i)
            a, b = node_of_block(where, one, v, u), node_of_block(where, other, next_v, next_u)
            w = edge_weight(nodes, a, b, downwards)
            if w > 0:
                a = _parent(line, parents, cells, cols, v, u, one)
                b = _parent(line, parents, cells, cols, next_v, next_u, other)
                if 0 < a < end and 0 < b < end:
                    total += w
                else:
                    found = _note(a, b, w, coarse, ends, weight, found)
        coarse[DOWN if downwards else RIGHT, place(cells, v, u)] = total
    return found


@njit(**WITHIN)
def _note(a, b, w, coarse, ends, weight, found):
    """Note an edge to an extra node; one to a node left to the smoother weighs on the other end itself."""
    if a == 0 or b == 0:
        coarse[OWN, a + b] += w
        return found
    ends[0, found], ends[1, found], weight[found] = a, b, w
    return found + 1


@njit(**INNER)
def _add_to_grid(coarse, cells, a, b, w):
    """Add to the weight of the edge between two neighbours of the grid."""
    (y, x), (v, u) = cell_of(cells, a), cell_of(cells, b)
    if y == v:
        coarse[RIGHT, a if x < u else b] += w
    else:
        coarse[DOWN, a if y < v else b] += w


@njit(**INNER)
def _own_weights(nodes, where, line, parents, coarse, cells):
    """Add what the nodes of the grid weigh themselves to their parents."""
    for colour in range(2):
        for k in range(1, where[1] - 1):
            start, total = where[0] + (colour * where[1] + k) * where[2], nodes.dtype.type(0)
            for node in range(U(start), U(start + where[2])):
                total += nodes[OWN, node]
            if total > 0:
                for node in range(start + 1, start + where[2] - 1):
                    if nodes[OWN, node] > 0:
                        coarse[OWN, _parent_of(where, line, parents, cells, node)] += nodes[OWN, node]


@njit(**INNER)
def _rows(ends, weight, found, begin, count):
    """Sort the edges by their extra ends, each edge at both if both are, and add up parallel ones.

    Those to nodes of the grid come first; ``middle`` is where they end.
    """
    start = np.zeros(count + 2, np.int32)
    for side in range(2):
        for edge in range(found):
            if ends[side, edge] >= begin:
                start[ends[side, edge] - begin + 2] += 1
    for n in range(count + 1):
        start[n + 1] += start[n]
    column, value = np.empty(start[count + 1], np.int32), np.empty(start[count + 1], weight.dtype)
    for extra in range(2):
        for edge in range(found):
            for side in range(2):
                a, b = ends[side, edge], ends[1 - side, edge]
                if a >= begin and (b >= begin) == (extra == 1):
                    free = start[a - begin + 1]
                    column[free], value[free] = b, weight[edge]
                    start[a - begin + 1] = free + 1
    row, middle, end = np.zeros(count + 1, np.int32), np.zeros(count, np.int32), 0
    for n in range(count):
        for entry in range(start[n], start[n + 1]):
            to, w, same = column[entry], value[entry], row[n]
            while same < end and column[same] != to:
                same += 1
            if same == end:
                column[end], value[end] = to, w
                end += 1
            else:
                value[same] += w
        row[n + 1] = middle[n] = end
        while middle[n] > row[n] and column[middle[n] - 1] >= begin:
            middle[n] -= 1
    return row, middle, column[:end].copy(), value[:end].copy()


@njit(**WITHIN)
def _softer(w, one, other, stiffness, half):
    return w / (stiffness * min(half + half, half * w * (one + other)) + (half + half))


@njit(**INNER)
def _soften(coarse, cells, begin, row, column, value):
    """Reduce the weights, and set the diagonal."""
    real = coarse.dtype.type
    stiffness, half, first, last = real(STIFFNESS), real(0.5), U(1), U(cells[2] - 1)
    for colour in range(2):
        for k in range(1, cells[1] - 1):
            h, _, b, _, g = rows_of(cells, colour, k)
            for m in range(first, last):
                near, far = coarse[RESISTANCE, h + m], coarse[RESISTANCE, b + m]
                coarse[DOWN, h + m] = _softer(coarse[DOWN, h + m], near, far, stiffness, half)
            for m in range(first, last):
                near, far = coarse[RESISTANCE, h + m], coarse[RESISTANCE, g + m]
                coarse[RIGHT, h + m] = _softer(coarse[RIGHT, h + m], near, far, stiffness, half)
    for colour in range(2):
        for k in range(1, cells[1] - 1):
            h, a, _, l, _ = rows_of(cells, colour, k)
            for m in range(first, last):
                total = coarse[DOWN, h + m] + coarse[DOWN, a + m] + coarse[OWN, h + m]
                coarse[INVERSE, h + m] = total + (coarse[RIGHT, h + m] + coarse[RIGHT, l + m])
    for n in range(row.size - 1):
        total = coarse[OWN, begin + n]
        for entry in range(row[n], row[n + 1]):
            other = column[entry]
            near, far = coarse[RESISTANCE, begin + n], coarse[RESISTANCE, other]
            value[entry] = _softer(value[entry], near, far, stiffness, half)
            total += value[entry]
            if other < begin:
                coarse[INVERSE, other] += value[entry]
        coarse[INVERSE, begin + n] = total
    for node in range(U(cells[0]), U(begin + row.size - 1)):
        total = coarse[INVERSE, node]
        coarse[INVERSE, node] = real(1) / total if total > 0 else real(0)


@njit(**INNER)
def _spans(coarse, cells, span):
    """Set the columns that each row of a grid occupies."""
    for k in range(1, cells[1] - 1):
        first, last = cells[2], 0
        for colour in range(2):
            here, begin, end = cells[0] + (colour * cells[1] + k) * cells[2], 1, cells[2] - 1
            while begin < end and coarse[INVERSE, here + begin] == 0:
                begin += 1
            while end > begin and coarse[INVERSE, here + end - 1] == 0:
                end -= 1
            if begin < end:
                first, last = min(first, begin), max(last, end)
        span[cells[3] + k, 0], span[cells[3] + k, 1] = min(first, last), last
