"""Pieces of a surface: what hangs together when it may have come apart at the doubtful edges."""

import heapq

import numpy as np
import scipy.ndimage

from normint.compiling import FAST, njit
from normint.methods.calibrated.windows import box_sum
from normint.solver.pieces import root

HIGHEST = np.int16(32000)  # level; beyond 16000 pixels, distances do not count
# Pixels; over so many edges a bent surface betrays itself although each edge is within the noise.
BOX = 5
# Standard deviations that the mean residual of a box may lie off zero: in a large image there are many boxes,
# and 3 would be exceeded by chance.
DOUBT = 4.0
# A passage narrower than this part of the smaller of two pieces separates them: somewhat more than half, so
# that a neck does, and a waist does not.
NARROW = 0.6
BESIDE = 2  # the level of a pixel beside a doubtful one
FORBIDDEN = 1e300  # doubt that nothing passes (fast arithmetic does not know infinity)


def doubtful_pixels(residual, exists, cut):
    """Find the pixels beside a cut edge, or where many residuals in a row have the same sign.

    Parameters
    ----------
    residual : ndarray
        Of shape 2×rows×columns, in standard deviations. Single ones count as at most `DOUBT`.
    exists, cut : ndarray of bool
        Of the same shape.

    Returns
    -------
    ndarray of bool
    """
    doubtful = _touch(cut)
    for r, edge in zip(residual, exists, strict=True):
        total = box_sum(np.clip(np.where(edge, r, 0.0), -DOUBT, DOUBT), BOX)
        doubtful |= total**2 >= DOUBT**2 * np.maximum(box_sum(edge, BOX), 1.0)
    return doubtful


def pieces(mask, doubtful, passable, doubt):
    """Divide the mask into pieces that are joined by wide passages.

    Parameters
    ----------
    mask, doubtful : ndarray of bool
    passable : ndarray of bool
        Of shape 2×rows×columns: the edges downwards and to the right that no piece is torn along.
    doubt : ndarray
        Of the same shape: how doubtful each edge is, :data:`FORBIDDEN` where nothing may pass.

    Returns
    -------
    labels : ndarray of int
        The piece of each pixel, −1 outside the mask.
    count : int

    Notes
    -----
    The distance D to the nearest doubtful pixel is a landscape whose hills are pieces. Pixels are added
    from the tops downwards. Where two hills meet at a saddle, they become one unless the saddle is lower
    than `NARROW` times the lower top: then the passage is narrow. Doubtful pixels (D = 0) join the pieces
    that the least doubtful edges lead to; those that no piece reaches form pieces of their own.

    Examples
    --------
    Two rooms with a door that is open:

    >>> mask = np.ones((9, 19), bool)
    >>> wall = np.zeros(mask.shape, bool)
    >>> wall[:3, 9] = wall[6:, 9] = True
    >>> edges = np.stack([mask, mask])
    >>> labels, count = pieces(mask, wall, edges, 1.0 * edges)
    >>> count, bool(labels[4, 2] != labels[4, 16])
    (2, True)
    """
    outside = mask & doubtful
    distance = scipy.ndimage.distance_transform_edt(~outside) if outside.any() else np.full(mask.shape, 1.0)
    level = np.where(mask, np.minimum(2.0 * distance, HIGHEST), -1.0).astype(np.int16).ravel()
    return _flood(mask, level, _ways(mask, *passable), *doubt)


def _touch(edges):
    pixels = edges[0] | edges[1]
    pixels[1:] |= edges[0, :-1]
    pixels[:, 1:] |= edges[1, :, :-1]
    return pixels


@njit(**FAST)
def _ways(mask, down, right):
    """Return to which neighbours passable edges lead from each pixel: 1 up, 2 down, 4 left, 8 right."""
    rows, cols = mask.shape
    ways = np.zeros((rows, cols), np.uint8)
    for i in range(rows):
        for j in range(cols):
            if not mask[i, j]:
                continue
            if i + 1 < rows and mask[i + 1, j] and down[i, j]:
                ways[i, j] |= 2
                ways[i + 1, j] |= 1
            if j + 1 < cols and mask[i, j + 1] and right[i, j]:
                ways[i, j] |= 8
                ways[i, j + 1] |= 4
    return ways.ravel()


@njit(**FAST)
def _downwards(level):
    """Return the pixels of level 0 and more, the highest first, and those of the same level in order."""
    highest = max(level.max(), 0)
    begin = np.zeros(highest + 2, np.int64)
    for k in range(level.size):
        if level[k] >= 0:
            begin[highest - level[k] + 1] += 1
    begin = np.cumsum(begin)
    order = np.empty(begin[-1], np.int32)
    for k in range(level.size):
        if level[k] >= 0:
            order[begin[highest - level[k]]] = k
            begin[highest - level[k]] += 1
    return order


@njit(**FAST)
def _offer(heap, k, hill, mask, down, right):
    """Add the neighbours of a pixel that belong to no piece yet to the heap."""
    rows, cols = mask.shape
    i, j = k // cols, k % cols
    for way in range(4):
        m, n = i + (way == 1) - (way == 0), j + (way == 3) - (way == 2)
        if m < 0 or n < 0 or m >= rows or n >= cols or not mask[m, n] or hill[m * cols + n] >= 0:
            continue
        doubt = down[min(i, m), j] if way < 2 else right[i, min(j, n)]
        if doubt < FORBIDDEN:
            heapq.heappush(heap, (doubt, np.int64(k), m * cols + n))


@njit(**FAST)
def _flood(mask, level, ways, doubt_down, doubt_right):
    rows, cols = mask.shape
    size = rows * cols
    order = _downwards(level)
    hill = np.full(size, -1, np.int32)  # the hill of each pixel, named by its top
    parent = np.arange(size).astype(np.int32)
    end = 0
    while end < order.size and level[order[end]] > 0:
        k = order[end]
        end += 1
        best = -1
        for way, n in enumerate((k - cols, k + cols, k - 1, k + 1)):
            if not ways[k] >> way & 1 or hill[n] < 0:
                continue
            top = root(parent, hill[n])
            if best < 0 or top == best:
                best = top
                continue
            high, low = (best, top) if level[best] >= level[top] else (top, best)
            if level[k] >= NARROW * level[low]:
                parent[low] = high
            best = high
        hill[k] = k if best < 0 else best
    # Pixels beside doubtful edges, those first that the least doubtful edges lead to.
    heap = [(0.0, 0, 0)]
    heap.pop()
    for m in range(end):
        if level[order[m]] <= BESIDE:
            _offer(heap, order[m], hill, mask, doubt_down, doubt_right)
    for m in range(end, order.size + 1):
        while len(heap) > 0:
            _, k, n = heapq.heappop(heap)
            if hill[n] < 0:
                hill[n] = hill[k]
                _offer(heap, n, hill, mask, doubt_down, doubt_right)
        if m < order.size and hill[order[m]] < 0:  # out of reach: the first of a piece of its own
            hill[order[m]] = order[m]
            _offer(heap, order[m], hill, mask, doubt_down, doubt_right)
    number = np.full(size, -1, np.int32)
    labels = np.full(size, -1, np.int32)
    count = 0
    for k in range(size):
        if hill[k] >= 0:
            top = root(parent, hill[k])
            if number[top] < 0:
                number[top] = count
                count += 1
            labels[k] = number[top]
    return labels.reshape(rows, cols), count
