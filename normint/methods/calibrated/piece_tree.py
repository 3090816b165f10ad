"""The order in which pieces of a surface belong together: a tree of what agrees along common boundaries."""

import heapq

import numpy as np

from normint.compiling import FAST, njit
from normint.solver.pieces import root

# Edges that agree with nothing, added to each common boundary, so that one edge does not join two pieces.
SHARED = 4.0
# The least energy that holds two pieces together, for each edge of their common boundary, if they are to be
# moved together.
LEAST_AGREEMENT = 0.02


def join(a, b, r, v, c, count):
    """Join pieces by how much of their common boundary agrees, if it is not less than the least part.

    Boundaries are taken to be longer by some shared edges.

    Returns the nodes, each a run of `leaves` given by its first and its length: the pieces, then what
    became of joining two nodes, `left` and `right`.
    """
    price = np.where(r > 0, c[:, 1], c[:, 0])
    agree = price * price * v / (price * v + r * r)
    key = np.minimum(a, b).astype(np.int64) * count + np.maximum(a, b)
    key, pair, total = np.unique(key, return_inverse=True, return_counts=True)
    good = np.bincount(pair, agree, minlength=key.size).astype(np.float64)
    return _join(key // count, key % count, good, total.astype(np.float64), count)


@njit(**FAST)
def _join(pair_a, pair_b, good, total, count):
    """Join pieces, given how much of the common boundary of each pair agrees, and how long it is."""
    # Each cluster keeps a linked list of its pairs; a pair is in two lists.
    head, listed = np.full(count, -1), np.zeros(count, np.int64)
    link = np.full(2 * pair_a.size, -1)
    for k in range(pair_a.size):
        link[2 * k], head[pair_a[k]] = head[pair_a[k]], 2 * k
        link[2 * k + 1], head[pair_b[k]] = head[pair_b[k]], 2 * k + 1
        listed[pair_a[k]] += 1
        listed[pair_b[k]] += 1
    alive = np.ones(pair_a.size, np.bool_)
    heap = [(-0.0, -1, 0)]
    heap.pop()
    stamp = np.zeros(pair_a.size, np.int64)
    for k in range(pair_a.size):
        heap.append((-good[k] / (total[k] + SHARED), k, 0))
    heapq.heapify(heap)
    cluster = np.arange(count)
    table = _table(pair_a.size)
    used = _fill(table, alive, cluster, pair_a, pair_b)
    left, right, node = np.full(2 * count, -1), np.full(2 * count, -1), np.arange(count)
    nodes = count
    while len(heap) > 0:
        score, k, when = heapq.heappop(heap)
        if not alive[k] or when != stamp[k]:
            continue
        if -score < LEAST_AGREEMENT:
            break
        x, y = root(cluster, pair_a[k]), root(cluster, pair_b[k])
        if listed[x] < listed[y]:  # the shorter list is gone through, so that none is too often
            x, y = y, x
        alive[k] = False
        left[nodes], right[nodes] = node[x], node[y]
        node[x] = nodes
        nodes += 1
        cluster[y] = x
        # The pairs of both with a third become one.
        h = head[y]
        while h >= 0:
            following = link[h]
            m = h // 2
            if alive[m]:
                key = _key(x, _third(cluster, pair_a[m], pair_b[m], x), count)
                place = _place(table[0], key)
                if table[0, place] == key:
                    s = table[1, place]
                    good[s] += good[m]
                    total[s] += total[m]
                    alive[m] = False
                    stamp[s] += 1
                    heapq.heappush(heap, (-good[s] / (total[s] + SHARED), s, stamp[s]))
                else:
                    table[0, place], table[1, place] = key, m
                    used += 1
                    link[h], head[x] = head[x], h
                    listed[x] += 1
            h = following
        if 2 * used > table.shape[1]:  # most are of clusters that are no more
            used = _fill(table, alive, cluster, pair_a, pair_b)
    left, right = left[:nodes], right[:nodes]
    return left, right, *_runs(left, right, node, cluster, count)


@njit(**FAST)
def milestones(left, right, bulk, growth):
    """Choose nodes that differ: in a chain of nodes, each with little more than the one before, few do.

    Parameters
    ----------
    left, right : ndarray of int
        The two parts of each node, −1 for a piece.
    bulk : ndarray
        Of each node, the sum of its parts'.
    growth : float
        Greater than 1.

    Returns
    -------
    ndarray of bool
        False for nodes on a way up along the larger parts that lie between two others, of which the upper
        one has at most `growth` times the bulk of the lower one.

    Notes
    -----
    However deep the tree is, the number of chosen nodes over a piece grows with the logarithm of the bulk
    alone, and so what it costs to look at all of them is nearly linear.

    Examples
    --------
    Pieces 0 to 29, joined to a chain 30 to 58:

    >>> left, right = np.full(59, -1), np.full(59, -1)
    >>> left[30:], right[30:] = [0, *range(30, 58)], range(1, 30)
    >>> bulk = np.concatenate([np.ones(30), np.arange(2.0, 31.0)])
    >>> np.flatnonzero(~milestones(left, right, bulk, 1.1))
    array([49, 52, 55])
    """
    chosen, last = np.ones(bulk.size, np.bool_), bulk.copy()
    for n in range(bulk.size):  # parents come after their parts
        if left[n] < 0:
            continue
        larger = left[n] if bulk[left[n]] >= bulk[right[n]] else right[n]
        if bulk[n] <= growth * last[larger]:
            last[n] = last[larger]
            chosen[larger] = last[larger] == bulk[larger]  # it was chosen itself
    return chosen


@njit(**FAST)
def left_by(kind, a, b, position, left, right, first, length):
    """Tell which nodes an edge of some kind leaves: one of its ends lies inside, the other outside.

    Of each node, it is enough to know how far to either side such edges lead in the order of the pieces.
    """
    low, high = first.copy(), first.copy()
    for e in range(kind.size):
        if kind[e]:
            low[a[e]], high[a[e]] = min(low[a[e]], position[b[e]]), max(high[a[e]], position[b[e]])
            low[b[e]], high[b[e]] = min(low[b[e]], position[a[e]]), max(high[b[e]], position[a[e]])
    for n in range(first.size):  # parents come after their parts
        if left[n] >= 0:
            low[n], high[n] = min(low[left[n]], low[right[n]]), max(high[left[n]], high[right[n]])
    return (low < first) | (high >= first + length)


@njit(**FAST)
def _table(pairs):
    """Return an empty table of keys and numbers with room for some pairs, four times over."""
    size = 4
    while size < 4 * pairs:
        size *= 2
    return np.full((2, size), -1)


@njit(**FAST)
def _fill(table, alive, cluster, a, b):
    """Enter the pairs that are alive, and forget all others; return how many there are."""
    table[0] = -1
    used = 0
    for k in range(alive.size):
        if alive[k]:
            key = _key(root(cluster, a[k]), root(cluster, b[k]), cluster.size)
            place = _place(table[0], key)
            table[0, place], table[1, place] = key, k
            used += 1
    return used


@njit(**FAST)
def _key(x, y, count):
    return min(x, y) * count + max(x, y)


@njit(**FAST)
def _place(keys, key):
    """Return where a key is, or the free place where it belongs."""
    place = (key * 2654435761 >> 16) & (keys.size - 1)  # scattered: a prime near 2³² over the golden ratio
    while keys[place] != -1 and keys[place] != key:
        place = (place + 1) & (keys.size - 1)
    return place


@njit(**FAST)
def _third(cluster, a, b, x):
    other = root(cluster, a)
    return root(cluster, b) if other == x else other


@njit(**FAST)
def _runs(left, right, node, cluster, count):
    """Order the pieces so that those of every node follow each other."""
    nodes = left.size
    first, length = np.zeros(nodes, np.int64), np.ones(nodes, np.int64)
    for n in range(count, nodes):
        length[n] = length[left[n]] + length[right[n]]
    place = 0
    for k in range(count):
        if root(cluster, k) == k:
            first[node[k]] = place
            place += length[node[k]]
    leaves = np.empty(count, np.int64)
    for n in range(nodes - 1, -1, -1):  # parents come after their children
        if n >= count:
            first[left[n]] = first[n]
            first[right[n]] = first[n] + length[left[n]]
        else:
            leaves[first[n]] = n
    return first, length, leaves
