"""From fine to coarse: pixels, then nodes, are joined into aggregates that become the next level's nodes.

A block of 2x2 pixels (or cells) becomes as many aggregates as it has strongly connected parts, so that no
aggregate reaches across a depth discontinuity or from one piece of the domain to another. Coarse levels are
therefore graphs, whose edges :mod:`normint.solver.coarse_graph` collects. All their nodes stand in one
numbering: node 0 is nowhere (its value stays zero), the first coarse level starts at node 1, each next level
where the last one ends. Within a level the cells of a checkerboard's red fields come first, which makes
Gauss-Seidel in the order of the numbers a red-black sweep.
"""

import numpy as np

from normint.compiling import FAST, INNER, njit

STRONG = 0.1  # an edge joins two clusters when its weight is at least this part of the weaker one's diagonal
LARGEST = 6  # nodes in an aggregate, so that a block in which a long path winds does not become one node
HANGING = 0.75  # a node with this part of its diagonal in one edge follows its neighbour and does not count
FIRST_ENDS, SECOND_ENDS = (0, 2, 0, 1), (1, 3, 2, 3)  # of the four edges inside a block of 2x2 pixels


@njit(inline="always", **FAST)
def pixel_of_block(number, k):
    """Return the colour and the row of one of the four pixels of the block whose upper row is k.

    They are numbered from left to right and down. In a checkerboard k is odd, so that they are black and red,
    then red and black: the lower row has the colours of the upper one the other way round.
    """
    below = number >> 1
    return (number + 1 + below) & 1, k + below


@njit(inline="always", **FAST)
def _block_of(row, col, cols):
    """Return the number of the 2x2 block that cell (row, col) lies in; there are ``cols`` cells in a row."""
    return (row >> 1) * ((cols + 1) >> 1) + (col >> 1)


@njit(inline="always", **FAST)
def inner_resistance(total, count):
    """Return half the mean resistance of an aggregate's inner edges: their count over their total weight."""
    return 0.5 * count / total if count > 0 else 0.0


@njit(**FAST)
def aggregate_pixels(
    weight_down, weight_right, diagonal, inverse, aggregate, first, last, block, extra, resistance
):
    """Join the pixels of each 2x2 block and return the number of nodes, counting node 0.

    Sets per pixel its ``aggregate`` (0: left to the smoother), per cell its range of nodes, per node the
    ``block`` of 2x2 cells it lies in, its own weight ``extra`` and its inner ``resistance``.
    """
    _, height, width = weight_down.shape
    rows, cols = (height - 2) // 2, width - 2
    weight, size, order = np.empty(4), np.empty(4), np.empty(4, np.int64)
    parent, members, node = np.empty(4, np.int32), np.empty(4, np.int32), np.empty(4, np.int64)
    inner, count = np.empty(4), np.empty(4, np.int64)
    end = 1
    for colour in range(2):
        for cell_row in range(rows):
            k = 2 * cell_row + 1
            for m in range(1 + ((cell_row + colour) & 1), cols + 1, 2):
                cell = cell_row * cols + m - 1
                first[cell] = end
                weight[0], weight[1] = weight_right[1, k, m], weight_right[0, k + 1, m]
                weight[2], weight[3] = weight_down[1, k, m], weight_down[0, k, m]
                if diagonal is None and _all_strong(weight, inverse, k, m):  # the common case
                    aggregate[0, k, m] = aggregate[1, k, m] = end
                    aggregate[0, k + 1, m] = aggregate[1, k + 1, m] = end
                    total = weight[0] + weight[1] + weight[2] + weight[3]
                    extra[end], resistance[end] = 0.0, inner_resistance(total, 4)
                    end += 1
                else:
                    _cluster(weight, diagonal, inverse, k, m, parent, size, members, order)
                    end = _number(
                        parent, weight, diagonal, k, m, end, node, inner, count, aggregate, extra, resistance
                    )
                last[cell] = end
                for new in range(first[cell], end):
                    block[new] = _block_of(cell_row, m - 1, cols)
    return end


@njit(inline="always", **FAST)
def _all_strong(weight, inverse, k, m):
    """Tell whether all four edges inside a block of pixels are strong."""
    weakest = min(min(weight[0], weight[1]), min(weight[2], weight[3]))
    upper = min(inverse[0, k, m], inverse[1, k, m])
    lower = min(inverse[0, k + 1, m], inverse[1, k + 1, m])
    return weakest * min(upper, lower) >= STRONG


@njit(inline="always", **FAST)
def _cluster(weight, diagonal, inverse, k, m, parent, size, members, order):
    """Join the pixels of one block along strong edges; those left to the smoother have no parent (−1)."""
    for i in range(4):
        colour, row = pixel_of_block(i, k)
        own = 0.0 if diagonal is None else diagonal[colour, row, m]
        # A pixel alone, or held by its own weight, is solved by the smoother.
        held = inverse[colour, row, m] == 0 or 2 * own * inverse[colour, row, m] >= 1
        parent[i] = -1 if held else i
        size[i] = 0.0 if held else 1.0 / inverse[colour, row, m]
    _sort(weight, order)
    for edge in range(4):
        members[edge] = 1
    for edge in order:
        a, b = FIRST_ENDS[edge], SECOND_ENDS[edge]
        if weight[edge] > 0 and parent[a] >= 0 and parent[b] >= 0:
            _join(parent, size, members, np.int32(a), np.int32(b), weight[edge], np.int64(0))


@njit(inline="always", **FAST)
def _number(parent, weight, diagonal, k, m, begin, node, inner, count, aggregate, extra, resistance):
    """Make the clusters of one block the nodes from ``begin`` on, and return where they end.

    Uses ``node`` for the pixels' nodes, and ``inner`` and ``count`` for the nodes' inner edges.
    """
    end = begin
    for i in range(4):
        colour, row = pixel_of_block(i, k)
        node[i] = 0
        if parent[i] == i:
            node[i] = end
            inner[end - begin], count[end - begin], extra[end] = 0.0, 0, 0.0
            end += 1
        elif parent[i] >= 0:
            node[i] = node[parent[i]]
        aggregate[colour, row, m] = node[i]
        if diagonal is not None and node[i] > 0:
            extra[node[i]] += diagonal[colour, row, m]
    for edge in range(4):
        a = node[FIRST_ENDS[edge]]
        if a > 0 and a == node[SECOND_ENDS[edge]] and weight[edge] > 0:
            inner[a - begin] += weight[edge]
            count[a - begin] += 1
    for a in range(begin, end):
        resistance[a] = inner_resistance(inner[a - begin], count[a - begin])
    return end


@njit(**INNER)
def _sort(weight, order):
    """Order the edges from the strongest to the weakest, by insertion; many of them by Shell's method."""
    for edge in range(weight.size):
        order[edge] = edge
    gap = 1
    while 64 * gap < weight.size:
        gap = 3 * gap + 1
    while gap > 0:
        for end in range(gap, weight.size):
            edge, place = order[end], end
            while place >= gap and weight[order[place - gap]] < weight[edge]:
                order[place] = order[place - gap]
                place -= gap
            order[place] = edge
        gap //= 3


@njit(**INNER)
def _join(parent, size, members, a, b, weight, offset):
    """Join the clusters of a and b if the edge between them is strong; size is a cluster's largest diagonal.

    The largest, so that a pixel with weak edges all round cannot bridge two regions.
    """
    while parent[a - offset] != a:
        a = parent[a - offset]
    while parent[b - offset] != b:
        b = parent[b - offset]
    if a == b or weight < STRONG * min(size[a - offset], size[b - offset]):
        return
    a, b = min(a, b), max(a, b)
    total = members[a - offset] + members[b - offset]
    for i in (a, b):
        if members[i - offset] == 1 and weight >= HANGING * size[i - offset]:
            total -= 1
    if total <= LARGEST or total < members[a - offset] + members[b - offset]:
        parent[b - offset] = a
        members[a - offset] = max(total, 1)
        size[a - offset] = max(size[a - offset], size[b - offset])


@njit(**FAST)
def aggregate_nodes(
    begin, end, row, middle, column, value, inverse, extra, cells, first, last, block, aggregate
):
    """Join the nodes begin to end within blocks of 2x2 cells; the new ones are numbered from ``end``.

    Overwrites ``first`` and ``last``, which then speak of the new, larger cells. Returns where the nodes end.
    """
    rows, cols = cells
    new_rows, new_cols = (rows + 1) // 2, (cols + 1) // 2
    nodes, entries = end - begin, row[end] - row[begin]
    parent, size, joined = np.empty(nodes, np.int32), np.empty(nodes), np.empty(nodes, np.int32)
    for i in range(begin, end):
        size[i - begin] = 1.0 / inverse[i] if inverse[i] > 0 else 0.0
        parent[i - begin] = i if size[i - begin] > 2.0 * extra[i] else -1
        joined[i - begin] = 1
    weight, member = np.empty(entries), np.empty(nodes, np.int32)
    first_ends, second_ends = np.empty(entries, np.int32), np.empty(entries, np.int32)
    order = np.empty(entries, np.int64)
    new_first, new_last = np.empty(new_rows * new_cols, np.int32), np.empty(new_rows * new_cols, np.int32)
    new_end = end
    for colour in range(2):
        for block_row in range(new_rows):
            for block_col in range((block_row + colour) & 1, new_cols, 2):
                here = block_row * new_cols + block_col
                new_first[here] = new_end
                members, count, fields, weakest, largest = 0, 0, 0, np.inf, 0.0
                for y in range(2 * block_row, min(2 * block_row + 2, rows)):
                    for x in range(2 * block_col, min(2 * block_col + 2, cols)):
                        fields += last[y * cols + x] > first[y * cols + x]
                        for a in range(first[y * cols + x], last[y * cols + x]):
                            if parent[a - begin] < 0:
                                aggregate[a] = 0
                                continue
                            member[members] = a
                            members += 1
                            largest = max(largest, size[a - begin])
                            for entry in range(middle[a], row[a + 1]):
                                b = column[entry]
                                if block[b] == here and parent[b - begin] >= 0:
                                    weight[count] = value[entry]
                                    first_ends[count], second_ends[count] = a, b
                                    weakest = min(weakest, value[entry])
                                    count += 1
                # Four edges between four nodes, one a cell, go round: the common case needs no sorting.
                if members == 4 and count == 4 and fields == 4 and weakest >= STRONG * largest:
                    for i in range(4):
                        aggregate[member[i]] = new_end
                    new_end += 1
                else:
                    _sort(weight[:count], order)
                    for edge in order[:count]:
                        ends = first_ends[edge], second_ends[edge]
                        _join(parent, size, joined, *ends, weight[edge], begin)
                    new_end = _number_nodes(member[:members], parent, begin, new_end, aggregate)
                for node in range(new_first[here], new_end):
                    block[node] = _block_of(block_row, block_col, new_cols)
                new_last[here] = new_end
    for cell in range(new_first.size):
        first[cell], last[cell] = new_first[cell], new_last[cell]
    return new_end


@njit(inline="always", **FAST)
def _number_nodes(members, parent, begin, new_end, aggregate):
    """Give each cluster among the members the next number, and return where the numbers end."""
    for node in members:
        if parent[node - begin] == node:
            aggregate[node] = new_end
            new_end += 1
    for node in members:
        root = node
        while parent[root - begin] != root:
            root = parent[root - begin]
        aggregate[node] = aggregate[root]
    return new_end
