"""From fine to coarse: pixels, then nodes, are joined into aggregates that become the next level's nodes.

A block of 2x2 pixels (or cells) becomes as many aggregates as it has strongly connected parts, so that no
aggregate reaches across a depth discontinuity or from one piece of the domain to another. Coarse levels are
therefore graphs. All their nodes stand in one numbering: node 0 is nowhere (its value stays zero), the first
coarse level starts at node 1, each next level where the last one ends. Within a level the cells of a
checkerboard's red fields come first, which makes Gauss-Seidel in the order of the numbers a red-black sweep.
"""

import numpy as np

from normint.compiling import FAST, njit

STRONG = 0.1  # an edge joins two clusters when its weight is at least this part of the weaker one's diagonal
LARGEST = 6  # nodes in an aggregate, so that a block in which a long path winds does not become one node
HANGING = 0.75  # a node with this part of its diagonal in one edge follows its neighbour and does not count
STIFFNESS = 0.9  # how far a coarse weight is reduced towards that of resistances in series


@njit(**FAST)
def aggregate_pixels(u, v, diagonal, inverse, aggregate, first, last, block, extra, resistance):
    """Join the pixels of each 2x2 block and return the number of nodes, counting node 0.

    Sets per pixel its ``aggregate`` (0: left to the smoother), per cell its range of nodes, per node the
    ``block`` of 2x2 cells it lies in, its own weight ``extra`` and its inner ``resistance``.
    """
    _, height, width = u.shape
    rows, cols = (height - 2) // 2, width - 2
    ends_a, ends_b = (0, 2, 0, 1), (1, 3, 2, 3)
    weight, size = np.empty(4), np.empty(4)
    parent, order, node = np.empty(4, np.int64), np.empty(4, np.int64), np.empty(4, np.int64)
    inner, count, members = np.empty(4), np.empty(4, np.int64), np.empty(4, np.int64)
    n = 1
    for colour in range(2):
        for cell_row in range(rows):
            k = 2 * cell_row + 1
            for m in range(1 + ((cell_row + colour) & 1), cols + 1, 2):
                # The block's pixels are (black, red) in row k and (red, black) in row k + 1.
                cell = cell_row * cols + m - 1
                first[cell] = n
                weight[0], weight[1] = v[1, k, m], v[0, k + 1, m]
                weight[2], weight[3] = u[1, k, m], u[0, k, m]
                if diagonal is None:
                    weakest = min(min(weight[0], weight[1]), min(weight[2], weight[3]))
                    upper = min(inverse[0, k, m], inverse[1, k, m])
                    lower = min(inverse[0, k + 1, m], inverse[1, k + 1, m])
                    if weakest * min(upper, lower) >= STRONG:  # the common case: all four edges are strong
                        aggregate[:, k, m], aggregate[:, k + 1, m] = n, n
                        extra[n], resistance[n] = 0.0, _resistance(weight.sum(), 4)
                        block[n] = (cell_row >> 1) * ((cols + 1) >> 1) + ((m - 1) >> 1)
                        n += 1
                        last[cell] = n
                        continue
                for i in range(4):
                    c, y = (i + 1 + (i >> 1)) & 1, k + (i >> 1)
                    d = inverse[c, y, m]
                    own = 0.0 if diagonal is None else diagonal[c, y, m]
                    # A pixel alone, or held by its own weight, is solved by the smoother.
                    held = d == 0 or 2 * own * d >= 1
                    parent[i] = -1 if held else i
                    size[i] = 0.0 if held else 1.0 / d
                _sort(weight, order)
                members[:] = 1
                for t in range(4):
                    i = order[t]
                    a, b = ends_a[i], ends_b[i]
                    if weight[i] > 0 and parent[a] >= 0 and parent[b] >= 0:
                        _join(parent, size, members, a, b, weight[i], 0)
                start = n
                for i in range(4):
                    c, y = (i + 1 + (i >> 1)) & 1, k + (i >> 1)
                    node[i] = 0
                    if parent[i] == i:
                        node[i] = n
                        inner[n - start], count[n - start], extra[n] = 0.0, 0, 0.0
                        n += 1
                    elif parent[i] >= 0:
                        node[i] = node[parent[i]]
                    aggregate[c, y, m] = node[i]
                    if diagonal is not None and node[i] > 0:
                        extra[node[i]] += diagonal[c, y, m]
                for i in range(4):
                    a = node[ends_a[i]]
                    if a > 0 and a == node[ends_b[i]] and weight[i] > 0:
                        inner[a - start] += weight[i]
                        count[a - start] += 1
                for a in range(start, n):
                    resistance[a] = _resistance(inner[a - start], count[a - start])
                    block[a] = (cell_row >> 1) * ((cols + 1) >> 1) + ((m - 1) >> 1)
                last[cell] = n
    return n


@njit(**FAST)
def _sort(weight, order):
    """Order the edges from the strongest to the weakest."""
    for i in range(weight.size):
        t = i
        while t > 0 and weight[order[t - 1]] < weight[i]:
            order[t] = order[t - 1]
            t -= 1
        order[t] = i


@njit(**FAST)
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
def _resistance(inner, count):
    return 0.5 * count / inner if count > 0 else 0.0


@njit(**FAST)
def _is_whole(aggregate, k, m):
    """Tell whether all four pixels of a block belong to one node."""
    n = aggregate[0, k, m]
    return n > 0 and n == aggregate[1, k, m] and n == aggregate[0, k + 1, m] and n == aggregate[1, k + 1, m]


@njit(**FAST)
def pixel_edges(u, v, diagonal, aggregate, first, last, extra, upper, column, value):
    """List each node's edges to nodes of higher number; edges to pixels left out weigh on the node itself."""
    _, height, width = u.shape
    rows, cols = (height - 2) // 2, width - 2
    n, count = 0, 0
    upper[1] = 0
    for colour in range(2):
        for cell_row in range(rows):
            k = 2 * cell_row + 1
            for m in range(1 + ((cell_row + colour) & 1), cols + 1, 2):
                cell = cell_row * cols + m - 1
                n = first[cell]
                if diagonal is None and last[cell] == n + 1 and _is_whole(aggregate, k, m):
                    # The common case: the block is one node. Those of black fields have no later neighbours.
                    if colour == 0:
                        o = k + 1
                        for w, x, a, b in (
                            (v[0, k, m], v[1, o, m], aggregate[1, k, m + 1], aggregate[0, o, m + 1]),
                            (v[0, k, m - 1], v[1, o, m - 1], aggregate[0, k, m - 1], aggregate[1, o, m - 1]),
                            (u[0, o, m], u[1, o, m], aggregate[1, k + 2, m], aggregate[0, k + 2, m]),
                            (u[0, k - 1, m], u[1, k - 1, m], aggregate[0, k - 1, m], aggregate[1, k - 1, m]),
                        ):
                            if w > 0:
                                column[count], value[count] = a, w
                                count += 1
                            if x > 0 and w > 0 and a == b:
                                value[count - 1] += x
                            elif x > 0:
                                column[count], value[count] = b, x
                                count += 1
                    upper[n + 1] = count
                    continue
                for n in range(first[cell], last[cell]):
                    start = count
                    for i in range(4):
                        c, y = (i + 1 + (i >> 1)) & 1, k + (i >> 1)
                        if aggregate[c, y, m] != n:
                            continue
                        o, odd = 1 - c, i & 1
                        for w, b in (
                            (u[c, y, m], aggregate[o, y + 1, m]),
                            (u[o, y - 1, m], aggregate[o, y - 1, m]),
                            (v[c, y, m], aggregate[o, y, m + odd]),
                            (v[o, y, m - 1 + odd], aggregate[o, y, m - 1 + odd]),
                        ):
                            if w > 0 and b == 0:
                                extra[n] += w
                            elif w > 0 and b > n:
                                t = start
                                while t < count and column[t] != b:
                                    t += 1
                                if t == count:
                                    column[t], value[t] = b, 0.0
                                    count += 1
                                value[t] += w
                    upper[n + 1] = count
    return count


@njit(**FAST)
def aggregate_nodes(s, e, row, middle, column, value, inverse, extra, cells, first, last, block, aggregate):
    """Join the nodes s to e within blocks of 2x2 cells; the new ones are numbered from e.

    Overwrites ``first`` and ``last``, which then speak of the new, larger cells. Returns where the nodes end.
    """
    rows, cols = cells
    new_rows, new_cols = (rows + 1) // 2, (cols + 1) // 2
    parent, size, joined = np.empty(e - s, np.int32), np.empty(e - s), np.ones(e - s, np.int32)
    for i in range(s, e):
        size[i - s] = 1.0 / inverse[i] if inverse[i] > 0 else 0.0
        parent[i - s] = i if size[i - s] > 2.0 * extra[i] else -1
    weight = np.empty(row[e] - row[s])
    ends_a, ends_b = np.empty(weight.size, np.int32), np.empty(weight.size, np.int32)
    order, member = np.empty(weight.size, np.int64), np.empty(e - s, np.int32)
    new_first, new_last = np.empty(new_rows * new_cols, np.int32), np.empty(new_rows * new_cols, np.int32)
    n = e
    for colour in range(2):
        for block_row in range(new_rows):
            for block_col in range((block_row + colour) & 1, new_cols, 2):
                here = block_row * new_cols + block_col
                members, count, fields, weakest, largest = 0, 0, 0, np.inf, 0.0
                for y in range(2 * block_row, min(2 * block_row + 2, rows)):
                    for x in range(2 * block_col, min(2 * block_col + 2, cols)):
                        fields += last[y * cols + x] > first[y * cols + x]
                        for a in range(first[y * cols + x], last[y * cols + x]):
                            if parent[a - s] < 0:
                                aggregate[a] = 0
                                continue
                            member[members] = a
                            members += 1
                            largest = max(largest, size[a - s])
                            for t in range(middle[a], row[a + 1]):
                                b = column[t]
                                if block[b] == here and parent[b - s] >= 0:
                                    weight[count], ends_a[count], ends_b[count] = value[t], a, b
                                    weakest = min(weakest, value[t])
                                    count += 1
                # Four edges between four nodes, one a cell, go round: the common case needs no sorting.
                if members == 4 and count == 4 and fields == 4 and weakest >= STRONG * largest:
                    new_first[here], new_last[here] = n, n + 1
                    for i in range(4):
                        aggregate[member[i]] = n
                    block[n] = (block_row >> 1) * ((new_cols + 1) >> 1) + (block_col >> 1)
                    n += 1
                    continue
                if count <= 64:
                    _sort(weight[:count], order)
                else:
                    order[:count] = np.argsort(-weight[:count])
                for t in range(count):
                    _join(parent, size, joined, ends_a[order[t]], ends_b[order[t]], weight[order[t]], s)
                new_first[here] = n
                for i in range(members):
                    if parent[member[i] - s] == member[i]:
                        aggregate[member[i]] = n
                        block[n] = (block_row >> 1) * ((new_cols + 1) >> 1) + (block_col >> 1)
                        n += 1
                new_last[here] = n
                for i in range(members):
                    root = member[i]
                    while parent[root - s] != root:
                        root = parent[root - s]
                    aggregate[member[i]] = aggregate[root]
    first[: new_first.size], last[: new_last.size] = new_first, new_last
    return n


@njit(**FAST)
def node_edges(s, e, n, row, column, value, extra, aggregate, resistance, upper, new_column, new_value):
    """List the edges between the new nodes e to n, each at its lower end, and their inner resistances."""
    inner, count = np.zeros(n - e), np.zeros(n - e, np.int64)
    start = np.zeros(n - e + 1, np.int64)
    extra[e:n] = 0.0
    for i in range(s, e):
        a = aggregate[i]
        if a == 0:
            continue
        extra[a] += extra[i]
        start[a - e + 1] += 1
        for t in range(row[i], row[i + 1]):
            b = aggregate[column[t]]
            if b == 0:
                extra[a] += value[t]
            elif b == a:
                inner[a - e] += value[t]
                count[a - e] += 1
    for a in range(n - e):
        resistance[e + a] = _resistance(inner[a], count[a])
        start[a + 1] += start[a]
    member, free = np.empty(start[n - e], np.int32), start[:-1].copy()
    for i in range(s, e):
        a = aggregate[i]
        if a > 0:
            member[free[a - e]] = i
            free[a - e] += 1
    position = np.full(n - e, -1, np.int64)
    total = 0
    upper[e] = 0
    for a in range(e, n):
        begin = total
        for i in member[start[a - e] : start[a - e + 1]]:
            for t in range(row[i], row[i + 1]):
                b = aggregate[column[t]]
                if b > a:
                    if position[b - e] < begin:
                        position[b - e] = total
                        new_column[total], new_value[total] = b, 0.0
                        total += 1
                    new_value[position[b - e]] += value[t]
        upper[a + 1] = total
    return total


@njit(**FAST)
def assemble(s, e, upper, edge_column, edge_value, extra, resistance, row, middle, column, value, inverse):
    """Store the symmetric matrix of nodes s to e by rows, lower half before upper half.

    Piecewise-constant interpolation makes coarse edges too stiff: two aggregates are not joined at their
    border but at their centres. Each weight is reduced as for resistances in series,
    w / (1 + w (R_a + R_b)/2), by half at most: by about half in smooth regions, hardly across a weak curve.
    """
    middle[s:e] = 0
    for i in range(s, e):
        inverse[i] = extra[i]
        for t in range(upper[i], upper[i + 1]):
            j, w = edge_column[t], edge_value[t]
            edge_value[t] = w / (1.0 + STIFFNESS * min(1.0, 0.5 * w * (resistance[i] + resistance[j])))
            middle[j] += 1
    end = row[s]
    for i in range(s, e):
        row[i] = end
        middle[i] += end
        end = middle[i] + upper[i + 1] - upper[i]
    row[e] = end
    free = row[s:e].copy()  # where the next entry of a lower half goes
    for i in range(s, e):
        t = middle[i]
        for h in range(upper[i], upper[i + 1]):
            j, w = edge_column[h], edge_value[h]
            column[t], value[t] = j, w
            t += 1
            column[free[j - s]], value[free[j - s]] = i, w
            free[j - s] += 1
            inverse[i] += w
            inverse[j] += w
    for i in range(s, e):
        inverse[i] = 1.0 / inverse[i] if inverse[i] > 0 else 0.0
