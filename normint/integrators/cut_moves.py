"""Moves of a discontinuity to where it costs least: the pixels beside it may belong to the other side."""

import numpy as np
from numba import njit
from scipy.ndimage import distance_transform_cdt

from normint.boxes import bounding_box
from normint.checkerboard import FAST
from normint.integrators.minimum_cut import minimum_cut

REACH = 8  # pixels on either side of a discontinuity that may change sides
OUTLINE = 12  # pixels by which the outline of a piece that moves may change
LARGE = 4.0  # x from which an edge is a discontinuity here
UNIT = 1000  # capacities are whole numbers, of so many parts of the price of an edge


def relocate(residual, variance, price, exists, upwards):
    """Find which pixels beside discontinuities should join the other side.

    Parameters
    ----------
    residual, variance, price : ndarray
        Of shape 2×rows×columns: an edge costs price·x/(1 + x) with x = residual²/variance.
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
    """
    jump = exists & (residual**2 >= LARGE * variance)
    height, pixels = _band(residual, jump, exists, upwards)
    if pixels.size == 0:
        return None
    move = _choose(residual, variance, price, exists, height, pixels)
    # Capacities are rounded: what looks like a gain may be none.
    return move if move is not None and _gain(residual, variance, price, exists, move) > 1.0 / UNIT else None


def refine(residual, variance, price, exists, inside, offset):
    """Move a piece by an offset, with the outline that costs least.

    Parameters
    ----------
    residual, variance, price, exists
        As for :func:`relocate`.
    inside : ndarray of bool
        The piece, whose outline may change by :data:`OUTLINE` pixels.
    offset : float

    Returns
    -------
    move : ndarray or None
        By how much each pixel moves; None if nothing is gained.
    gain : float
        By how much that lowers the energy.
    """
    box = bounding_box(inside, OUTLINE + 1)
    r, *rest = (edges[:, *box] for edges in (residual, variance, price, exists))
    inside = inside[box]
    deep = distance_transform_cdt(inside, metric="chessboard") > OUTLINE
    near = distance_transform_cdt(~inside, metric="chessboard") <= OUTLINE
    height = np.where(near & ~deep, offset, 0.0)
    base = np.where(deep, offset, 0.0)
    shifted = r.copy()
    shifted[0, :-1] += base[1:] - base[:-1]
    shifted[1, :, :-1] += base[:, 1:] - base[:, :-1]
    shifted[~rest[-1]] = 0.0
    move = _choose(shifted, *rest, height, np.flatnonzero(height))
    move = base if move is None else base + move
    gain = _gain(r, *rest, move)
    if gain <= 0:
        return None, 0.0
    whole = np.zeros(residual.shape[1:])
    whole[box] = move
    return whole, gain


def _choose(residual, variance, price, exists, height, pixels):
    """Return the heights of those pixels that should move by them, zero elsewhere."""
    number = np.full(height.shape, -1)
    number.ravel()[pixels] = np.arange(pixels.size)
    ends, *capacities = _graph(residual, variance, price, exists, height, number, pixels.size)
    moved = minimum_cut(*ends, *(np.rint(UNIT * c).astype(np.int64) for c in capacities))
    if not moved.any():
        return None
    move = np.zeros(height.shape)
    move.ravel()[pixels[moved]] = height.ravel()[pixels[moved]]
    return move


@njit(**FAST)
def _band(residual, jump, exists, upwards):
    """Return the height by which pixels would change sides, and the numbers of those near a discontinuity."""
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
    return height, pixels[:count]


@njit(**FAST)
def _cost(r, v, c):
    x = r * r / v
    return c * x / (1.0 + x)


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
                    gain += _cost(r, w, c) - _cost(r + change, w, c)
    return gain


@njit(**FAST)
def _graph(residual, v, price, exists, height, number, count):
    """Write the energy of all choices as a graph: what each pixel's choice costs, and each pair's."""
    _, rows, cols = residual.shape
    source, sink = np.zeros(count), np.zeros(count)
    ends, capacity = np.empty((2, 2 * count), np.int64), np.empty(2 * count)
    pairs = 0
    for axis in range(2):
        for i in range(rows - 1 + axis):
            for j in range(cols - axis):
                a, b = number[i, j], number[i + 1 - axis, j + axis]
                if not exists[axis, i, j] or (a < 0 and b < 0):
                    continue
                r, w, c = residual[axis, i, j], v[axis, i, j], price[axis, i, j]
                stay = _cost(r, w, c)
                first = _cost(r - height[i, j], w, c) if a >= 0 else stay
                second = _cost(r + height[i + 1 - axis, j + axis], w, c) if b >= 0 else stay
                if b < 0:
                    sink[a] += first - stay
                elif a < 0:
                    sink[b] += second - stay
                else:
                    both = _cost(r - height[i, j] + height[i + 1 - axis, j + axis], w, c)
                    weight = first + second - stay - both
                    if weight <= 0.0 and second < first:  # no cut can express it: say that b moves first
                        sink[b] += second - stay
                        sink[a] += both - second
                        continue
                    sink[a] += first - stay
                    sink[b] += both - first
                    if weight > 0.0:
                        ends[0, pairs], ends[1, pairs], capacity[pairs] = b, a, weight
                        pairs += 1
    for k in range(count):
        if sink[k] < 0.0:
            source[k], sink[k] = -sink[k], 0.0
    return ends[:, :pairs], capacity[:pairs], source, sink
