"""The edges of the coarse levels, collected from those of the finer ones, and the matrices they make up."""

import numpy as np

from normint.compiling import FAST, njit
from normint.solver.coarsening import inner_resistance, pixel_of_block

STIFFNESS = 0.9  # how far a coarse weight is reduced towards that of resistances in series


@njit(**FAST)
def pixel_edges(
    weight_down, weight_right, diagonal, aggregate, first, last, extra, upper, columns, values
):  # fmt: skip
    """List each node's edges to nodes of higher number; edges to pixels left out weigh on the node itself.

    Returns how many there are.
    """
    _, height, width = weight_down.shape
    rows, cols = (height - 2) // 2, width - 2
    count = 0
    upper[1] = 0
    for colour in range(2):
        for cell_row in range(rows):
            k = 2 * cell_row + 1
            for m in range(1 + ((cell_row + colour) & 1), cols + 1, 2):
                cell = cell_row * cols + m - 1
                node = first[cell]
                if diagonal is None and last[cell] == node + 1 and _is_whole(aggregate, k, m):
                    # The common case: the block is one node. Those of black fields have no later neighbours.
                    if colour == 0:
                        count = _edges_of_whole(
                            weight_down, weight_right, aggregate, k, m, count, columns, values
                        )  # fmt: skip
                    upper[node + 1] = count
                    continue
                for node in range(first[cell], last[cell]):
                    count = _edges_of_part(
                        node, weight_down, weight_right, aggregate, k, m, extra, count, columns, values
                    )
                    upper[node + 1] = count
    return count


@njit(inline="always", **FAST)
def _is_whole(aggregate, k, m):
    """Tell whether all four pixels of a block belong to one node."""
    node, lower = aggregate[0, k, m], k + 1
    right = node == aggregate[1, k, m]
    return node > 0 and right and node == aggregate[0, lower, m] and node == aggregate[1, lower, m]


@njit(inline="always", **FAST)
def _edges_of_whole(weight_down, weight_right, aggregate, k, m, count, columns, values):
    """List the edges of a node that is a whole block: two to each side, which may lead to the same node."""
    lower = k + 1
    right = weight_right[0, k, m], weight_right[1, lower, m]
    left = weight_right[0, k, m - 1], weight_right[1, lower, m - 1]
    below = weight_down[0, lower, m], weight_down[1, lower, m]
    above = weight_down[0, k - 1, m], weight_down[1, k - 1, m]
    for weights, a, b in (
        (right, aggregate[1, k, m + 1], aggregate[0, lower, m + 1]),
        (left, aggregate[0, k, m - 1], aggregate[1, lower, m - 1]),
        (below, aggregate[1, k + 2, m], aggregate[0, k + 2, m]),
        (above, aggregate[0, k - 1, m], aggregate[1, k - 1, m]),
    ):
        one, other = weights
        if one > 0:
            columns[count], values[count] = a, one
            count += 1
        if other > 0 and one > 0 and a == b:
            values[count - 1] += other
        elif other > 0:
            columns[count], values[count] = b, other
            count += 1
    return count


@njit(inline="always", **FAST)
def _edges_of_part(node, weight_down, weight_right, aggregate, k, m, extra, count, columns, values):
    """List the edges of a node that is a part of a block."""
    start = count
    for i in range(4):
        colour, row = pixel_of_block(i, k)
        if aggregate[colour, row, m] != node:
            continue
        other, odd = 1 - colour, i & 1
        for weight, b in (
            (weight_down[colour, row, m], aggregate[other, row + 1, m]),
            (weight_down[other, row - 1, m], aggregate[other, row - 1, m]),
            (weight_right[colour, row, m], aggregate[other, row, m + odd]),
            (weight_right[other, row, m - 1 + odd], aggregate[other, row, m - 1 + odd]),
        ):
            if weight > 0 and b == 0:
                extra[node] += weight
            elif weight > 0 and b > node:
                entry = start
                while entry < count and columns[entry] != b:
                    entry += 1
                if entry == count:
                    columns[entry], values[entry] = b, 0.0
                    count += 1
                values[entry] += weight
    return count


@njit(**FAST)
def node_edges(
    begin, end, new_end, row, column, value, extra, aggregate, resistance, upper, columns, values
):  # fmt: skip
    """List the edges between the new nodes end to new_end, each at its lower end; return how many there are.

    Sets what the new nodes weigh themselves, and their inner resistances.
    """
    new = new_end - end
    inner, count, start = np.empty(new), np.empty(new, np.int64), np.empty(new + 1, np.int64)
    free, position = np.empty(new, np.int64), np.empty(new, np.int64)
    start[0] = 0
    for a in range(new):
        inner[a], count[a], start[a + 1], position[a], extra[end + a] = 0.0, 0, 0, -1, 0.0
    for i in range(begin, end):
        a = aggregate[i]
        if a == 0:
            continue
        extra[a] += extra[i]
        start[a - end + 1] += 1
        for entry in range(row[i], row[i + 1]):
            b = aggregate[column[entry]]
            if b == 0:
                extra[a] += value[entry]
            elif b == a:
                inner[a - end] += value[entry]
                count[a - end] += 1
    for a in range(new):
        resistance[end + a] = inner_resistance(inner[a], count[a])
        free[a] = start[a]
        start[a + 1] += start[a]
    member = np.empty(start[new], np.int32)
    for i in range(begin, end):
        a = aggregate[i]
        if a > 0:
            member[free[a - end]] = i
            free[a - end] += 1
    total = 0
    upper[end] = 0
    for a in range(end, new_end):
        start_of_a = total
        for i in member[start[a - end] : start[a - end + 1]]:
            for entry in range(row[i], row[i + 1]):
                b = aggregate[column[entry]]
                if b > a:
                    if position[b - end] < start_of_a:
                        position[b - end] = total
                        columns[total], values[total] = b, 0.0
                        total += 1
                    values[position[b - end]] += value[entry]
        upper[a + 1] = total
    return total


@njit(**FAST)
def assemble(begin, end, upper, columns, values, extra, resistance, row, middle, column, value, inverse):
    """Store the symmetric matrix of the nodes begin to end by rows, lower half before upper half.

    Piecewise-constant interpolation makes coarse edges too stiff: two aggregates are not joined at their
    border but at their centres. Each weight is reduced as for resistances in series,
    w / (1 + w (R_a + R_b)/2), by half at most: by about half in smooth regions, hardly across a weak curve.
    """
    middle[begin:end] = 0
    for i in range(begin, end):
        inverse[i] = extra[i]
        for edge in range(upper[i], upper[i + 1]):
            j, w = columns[edge], values[edge]
            values[edge] = w / (1.0 + STIFFNESS * min(1.0, 0.5 * w * (resistance[i] + resistance[j])))
            middle[j] += 1
    next_entry = row[begin]
    for i in range(begin, end):
        row[i] = next_entry
        middle[i] += next_entry
        next_entry = middle[i] + upper[i + 1] - upper[i]
    row[end] = next_entry
    free = row[begin:end].copy()  # where the next entry of a lower half goes
    for i in range(begin, end):
        entry = middle[i]
        for edge in range(upper[i], upper[i + 1]):
            j, w = columns[edge], values[edge]
            column[entry], value[entry] = j, w
            entry += 1
            column[free[j - begin]], value[free[j - begin]] = i, w
            free[j - begin] += 1
            inverse[i] += w
            inverse[j] += w
    for i in range(begin, end):
        inverse[i] = 1.0 / inverse[i] if inverse[i] > 0 else 0.0
