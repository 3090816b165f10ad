"""Moves of a discontinuity to where it costs least: the pixels beside it may belong to the other side."""

import numpy as np
from scipy.ndimage import distance_transform_cdt

from normint.compiling import FAST, njit
from normint.domain import bounding_box
from normint.methods.calibrated.energy import cost
from normint.methods.calibrated.minimum_cut import minimum_cut
from normint.solver.pieces import root

UNIT = 1000  # capacities are whole numbers, so many to a unit of energy
JUMP = 4.0  # x from which an edge is a discontinuity that may be moved sideways
REACH = 8  # pixels on either side of it that may change sides; those further away need another round
OUTLINE = 12  # pixels by which the outline of a piece that moves may change: more, since pieces are coarse
# x up to which an edge agrees with the first of two depths, and up to which they differ by the same at both
# of its ends.
AGREES, EQUAL = 0.5, 0.05


def relocate(residual, spread, price, exists, upwards):
    """Find which pixels beside discontinuities should join the other side.

    Parameters
    ----------
    residual, spread, price : ndarray
        Of the edges, see :func:`normint.methods.calibrated.energy.cost`.
    exists : ndarray of bool
    upwards : bool
        Whether pixels of the lower side are lifted to the upper one, or the other way round.

    Returns
    -------
    ndarray or None
        By how much each pixel moves; None if nothing is gained.

    Notes
    -----
    A pixel that changes sides moves by the height of the discontinuity, which is taken from the nearest
    edge that it crosses. Which pixels do is a choice of yes or no for each of them, with a cost for each
    edge that depends on its two ends: a minimum cut of a graph, found by the maximum flow through it.
    (The few edges for which it is cheaper that their ends choose differently cannot be expressed by a cut;
    they are charged to one end.)
    """
    jump = _jumps(residual, spread, price, exists)
    height = _band(residual, jump, exists, upwards)
    return _choose_alone(residual, spread, price, exists, height)


def refine(residual, spread, price, exists, inside, offset):
    """Move a piece by an offset, with the outline that costs least.

    Parameters
    ----------
    residual, spread, price, exists
        As for :func:`relocate`.
    inside : ndarray of bool
        The piece.
    offset : float

    Returns
    -------
    move : ndarray or None
        By how much each pixel moves; None if nothing is gained.
    gain : float
        By how much that lowers the energy.
    """
    box = bounding_box(inside, OUTLINE + 1)
    r, *rest = (np.ascontiguousarray(edges[:, *box]) for edges in (residual, spread, price, exists))
    inside = inside[box]
    deep = distance_transform_cdt(inside, metric="chessboard") > OUTLINE
    near = distance_transform_cdt(~inside, metric="chessboard") <= OUTLINE
    height = np.where(near & ~deep, offset, 0.0)
    base = np.where(deep, offset, 0.0)
    shifted = r.copy()
    shifted[0, :-1] += base[1:] - base[:-1]
    shifted[1, :, :-1] += base[:, 1:] - base[:, :-1]
    shifted[~rest[-1]] = 0.0
    move = _choose_alone(shifted, *rest, height)
    move = base if move is None else base + move
    gain = _gain(r, *rest, move)
    if gain <= 0:
        return None, 0.0
    whole = np.zeros(residual.shape[1:])
    whole[box] = move
    return whole, gain


def fuse(residual, spread, price, exists, other):
    """Take from each of two depths what costs less.

    Parameters
    ----------
    residual, spread, price, exists
        As for :func:`relocate`, of the first depth.
    other : ndarray
        By how much the second depth exceeds it.

    Returns
    -------
    ndarray or None
        By how much each pixel moves: not at all, or to the second depth. None if nothing is gained.

    Notes
    -----
    Neighbours that the second depth shifts by the same, and whose edge agrees with the first, move together:
    between them neither depth has a discontinuity.

    Examples
    --------
    Of 0 0 9 9 0 and 5 0 0 0 0, the better in each place:

    >>> first, second = np.array([[0.0, 0, 9, 9, 0]]), np.array([[5.0, 0, 0, 0, 0]])
    >>> ones, price = np.ones((2, 1, 5)), np.ones((2, 1, 5, 2))
    >>> exists, residual = np.zeros((2, 1, 5), bool), np.zeros((2, 1, 5))
    >>> exists[1, 0, :-1], residual[1, 0, :-1] = True, np.diff(first[0])
    >>> first + fuse(residual, ones, price, exists, second - first)
    array([[0., 0., 0., 0., 0.]])
    """
    groups = _together(residual, spread, price, exists, other)
    return _choose(residual, spread, price, exists, other, *groups)


def _choose_alone(residual, spread, price, exists, height):
    """Choose for each pixel by itself whether it moves by its height."""
    return _choose(residual, spread, price, exists, height, *_alone(height))


def _choose(residual, spread, price, exists, height, group, count):
    """Choose which groups of pixels move by their heights; return by how much each does, or None."""
    if count == 0:
        return None
    ends, *capacities = _graph(residual, spread, price, exists, height, group, count)
    (there, back), source, sink = (np.rint(UNIT * c).astype(np.int64) for c in capacities)
    moved = minimum_cut(*ends, there, source, sink, back)
    move = _moves(group, moved, height)
    # Capacities are rounded: what looks like a gain may be none.
    return move if _gain(residual, spread, price, exists, move) > 1.0 / UNIT else None


@njit(**FAST)
def _alone(height):
    """Return a group of its own for each pixel that may move, −1 for the others, and how many there are."""
    group, count = np.full(height.shape, -1, np.int32), 0
    for i in range(height.shape[0]):
        for j in range(height.shape[1]):
            if height[i, j] != 0.0:
                group[i, j] = count
                count += 1
    return group, count


@njit(**FAST)
def _moves(group, moved, height):
    """Return by how much each pixel moves if some groups do."""
    move = np.zeros(height.shape)
    for i in range(height.shape[0]):
        for j in range(height.shape[1]):
            if group[i, j] >= 0 and moved[group[i, j]]:
                move[i, j] = height[i, j]
    return move


@njit(**FAST)
def _together(residual, spread, price, exists, other):
    """Return the group of each pixel, numbered row by row, and how many there are."""
    _, rows, cols = residual.shape
    parent = np.arange(rows * cols)
    for axis in range(2):
        for i in range(rows - 1 + axis):
            for j in range(cols - axis):
                if not exists[axis, i, j]:
                    continue
                change = other[i + 1 - axis, j + axis] - other[i, j]
                v = spread[axis, i, j] * min(price[axis, i, j, 0], price[axis, i, j, 1])
                agrees = residual[axis, i, j] ** 2 < AGREES * v
                if agrees and change**2 < EQUAL * v:
                    k = i * cols + j
                    a, b = root(parent, k), root(parent, k + (1 if axis else cols))
                    parent[max(a, b)] = min(a, b)
    group, count = np.empty((rows, cols), np.int32), 0
    for k in range(rows * cols):
        i, j = k // cols, k % cols
        if parent[k] == k:
            group[i, j] = count
            count += 1
        else:
            first = root(parent, k)
            group[i, j] = group[first // cols, first % cols]
    return group, count


@njit(**FAST)
def _jumps(residual, spread, price, exists):
    """Tell which edges are discontinuities that may be moved."""
    jump = np.zeros(exists.shape, np.bool_)
    for axis in range(2):
        for i in range(exists.shape[1]):
            for j in range(exists.shape[2]):
                r, c = residual[axis, i, j], min(price[axis, i, j, 0], price[axis, i, j, 1])
                jump[axis, i, j] = exists[axis, i, j] and r * r >= JUMP * spread[axis, i, j] * c
    return jump


@njit(**FAST)
def _band(residual, jump, exists, upwards):
    """Return the height by which pixels near a discontinuity would change sides."""
    _, rows, cols = residual.shape
    height = np.zeros((rows, cols))
    pixels, count = np.empty(rows * cols, np.int64), 0
    for axis in range(2):
        for i in range(rows - 1 + axis):
            for j in range(cols - axis):
                if not jump[axis, i, j]:
                    continue
                r = residual[axis, i, j]
                there = (r > 0) != upwards  # whether it is the edge's second pixel that would move
                k, m = (i + 1 - axis, j + axis) if there else (i, j)
                h = -r if there else r
                if height[k, m] == 0.0:
                    pixels[count] = k * cols + m
                    count += 1
                if abs(h) > abs(height[k, m]):
                    height[k, m] = h
    first = 0
    for _ in range(REACH - 1):
        last = count
        for n in range(first, last):
            i, j = pixels[n] // cols, pixels[n] % cols
            for way in range(4):
                k, m = i + (way == 1) - (way == 0), j + (way == 3) - (way == 2)
                axis, a, b = way // 2, min(i, k), min(j, m)
                if k < 0 or m < 0 or k >= rows or m >= cols or not exists[axis, a, b] or jump[axis, a, b]:
                    continue
                if height[k, m] == 0.0:
                    height[k, m] = height[i, j]
                    pixels[count] = k * cols + m
                    count += 1
        first = last
    return height


@njit(**FAST)
def _gain(residual, v, price, exists, move):
    _, rows, cols = residual.shape
    gain = 0.0
    for axis in range(2):
        for i in range(rows - 1 + axis):
            for j in range(cols - axis):
                change = move[i + 1 - axis, j + axis] - move[i, j]
                if change != 0.0 and exists[axis, i, j]:
                    r, w, c = residual[axis, i, j], v[axis, i, j], price[axis, i, j]
                    gain += cost(r, w, c) - cost(r + change, w, c)
    return gain


@njit(**FAST)
def _graph(residual, v, price, exists, height, group, count):
    """Write the energy of all choices as a graph: what each group's choice costs, and each pair's.

    A pair costs one thing if only its first end moves, another if only its second does: an arc each way. What
    it costs if both do is shared between them.
    """
    _, rows, cols = residual.shape
    source, sink = np.zeros(count), np.zeros(count)
    pairs = 0
    for axis in range(2):
        for i in range(rows - 1 + axis):
            for j in range(cols - axis):
                a, b = group[i, j], group[i + 1 - axis, j + axis]
                pairs += exists[axis, i, j] and a >= 0 and b >= 0 and a != b
    ends, capacity = np.empty((2, pairs), np.int64), np.empty((2, pairs))
    pairs = 0
    for axis in range(2):
        for i in range(rows - 1 + axis):
            for j in range(cols - axis):
                a, b = group[i, j], group[i + 1 - axis, j + axis]
                if not exists[axis, i, j] or (a < 0 and b < 0):
                    continue
                r, w, c = residual[axis, i, j], v[axis, i, j], price[axis, i, j]
                stay = cost(r, w, c)
                first = cost(r - height[i, j], w, c) - stay if a >= 0 else 0.0
                second = cost(r + height[i + 1 - axis, j + axis], w, c) - stay if b >= 0 else 0.0
                if a < 0 or b < 0:
                    sink[max(a, b)] += first + second
                    continue
                both = cost(r - height[i, j] + height[i + 1 - axis, j + axis], w, c) - stay
                if a == b:
                    sink[a] += both
                    continue
                weight = max(first + second - both, 0.0)  # no cut can express less
                if first + second < both and second < first:  # say that b moves first
                    share = both - second
                else:
                    share = min(max(0.5 * both, first - weight), first)
                sink[a] += share
                sink[b] += both - share
                if weight > 0.0:
                    ends[0, pairs], ends[1, pairs] = a, b
                    capacity[0, pairs], capacity[1, pairs] = first - share, weight - (first - share)
                    pairs += 1
    for k in range(count):
        if sink[k] < 0.0:
            source[k], sink[k] = -sink[k], 0.0
    return ends[:, :pairs], capacity[:, :pairs], source, sink
