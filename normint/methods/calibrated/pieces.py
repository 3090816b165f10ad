"""Pieces of a surface: what hangs together when it may have come apart at the doubtful edges."""

import heapq

import numpy as np
import scipy.ndimage

from normint.compiling import FAST, njit
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
    for r, edge in zip(np.clip(residual, -DOUBT, DOUBT), exists, strict=True):
        total = scipy.ndimage.uniform_filter(np.where(edge, r, 0.0), BOX, mode="constant")
        count = scipy.ndimage.uniform_filter(edge.astype(float), BOX, mode="constant")
        doubtful |= np.abs(total) * BOX >= DOUBT * np.sqrt(np.maximum(count, 1.0 / BOX**2))
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
    order = np.argsort(HIGHEST - level, kind="stable")[: np.count_nonzero(mask)]  # 16 bits sort in two passes
    return _flood(mask, level, order, *passable, *doubt)


def _touch(edges):
    pixels = edges[0] | edges[1]
    pixels[1:] |= edges[0, :-1]
    pixels[:, 1:] |= edges[1, :, :-1]
    return pixels


@njit(**FAST)
def _neighbour(k, way, mask, down, right):
    """Return the number of the neighbour that a passable edge leads to, or −1."""
    rows, cols = mask.shape
    i, j = k // cols, k % cols
    if way == 0 and i > 0 and mask[i - 1, j] and down[i - 1, j]:
        return k - cols
    if way == 1 and i + 1 < rows and mask[i + 1, j] and down[i, j]:
        return k + cols
    if way == 2 and j > 0 and mask[i, j - 1] and right[i, j - 1]:
        return k - 1
    if way == 3 and j + 1 < cols and mask[i, j + 1] and right[i, j]:
        return k + 1
    return -1


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
            heapq.heappush(heap, (doubt, k, m * cols + n))


@njit(**FAST)
def _flood(mask, level, order, down, right, doubt_down, doubt_right):
    rows, cols = mask.shape
    size = rows * cols
    hill = np.full(size, -1, np.int32)  # the hill of each pixel, named by its top
    parent = np.arange(size).astype(np.int32)
    end = 0
    while end < order.size and level[order[end]] > 0:
        k = order[end]
        end += 1
        best = -1
        for way in range(4):
            n = _neighbour(k, way, mask, down, right)
            if n < 0 or hill[n] < 0:
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
        if hill[order[m]] >= 0:
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
