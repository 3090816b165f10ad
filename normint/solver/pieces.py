"""The connected pieces of a domain: nothing that happens in one is known in another."""

import copy

import numpy as np

from normint.compiling import ANYTHING, FAST, njit

ROWS = 256  # at a time
NOTHING = np.zeros((0, 0))  # an image that is not given: kernels are then compiled once, not with None again


class Pieces:
    """What hangs together by edges of positive weight.

    Parameters
    ----------
    mask : ndarray of bool
        The domain Ω.
    weights : (ndarray, ndarray), optional
        Of the edges downwards and to the right; ones by default.
    diagonal : ndarray, optional
        λ of each pixel, zero outside the mask.

    Attributes
    ----------
    labels : ndarray of int32
        From 1 on, in the order of their first pixels; 0 outside the mask.
    sizes : ndarray of int
        The pixels of each piece, that of number 0 being 0.
    largest : ndarray
        The largest weight of each piece, zero if it has no edge.
    smallest : float
        The smallest positive weight of all.

    Examples
    --------
    >>> pieces = Pieces(np.array([[True, True, False, True]]))
    >>> pieces.labels
    array([[1, 1, 0, 2]], dtype=int32)
    >>> depth = np.array([[1.0, 3.0, np.nan, 7.0]])
    >>> pieces.settle(depth)
    >>> depth
    array([[-1.,  1., nan,  0.]])
    """

    def __init__(self, mask, weights=None, diagonal=None):
        self.diagonal = diagonal
        down, right = (NOTHING, NOTHING) if weights is None else weights
        if mask.all() and (weights is None or _are_positive(down[:-1], right[:, :-1])):
            self.labels, self.sizes = np.ones(mask.shape, np.int32), np.array([0, mask.size])
        else:
            self.labels = np.zeros(mask.shape, np.int32)
            self.sizes = _label(mask, down, right, self.labels)
        self.smallest, self.largest = 1.0, (self.sizes > 1).astype(float)
        if weights is not None:
            self.smallest, _ = _extremes(mask, down, right, self.labels, self.largest)
        self.weight = np.zeros(self.sizes.size)  # Σ λ of each
        if diagonal is not None:
            _add_up(self.labels, diagonal, NOTHING, self.weight)

    def reweighted(self, mask, weights):
        """Return the same pieces with the extremes of other weights, or None if these divide Ω otherwise."""
        same = copy.copy(self)
        same.largest = np.zeros_like(self.largest)
        same.smallest, unchanged = _extremes(mask, *weights, self.labels, same.largest)
        return same if unchanged else None

    def settle(self, depth, prior=None):
        """Give each piece the constant that costs least, in place: zero mean where no λ holds it.

        Outside the pieces the depth becomes NaN.

        Parameters
        ----------
        depth : ndarray
        prior : ndarray, optional
            z⁰, finite everywhere; needed where λ is positive.
        """
        total = np.zeros(self.sizes.size)
        _add_up(self.labels, depth, NOTHING, total)
        constant = total / np.maximum(self.sizes, 1)
        held = self.weight > 0
        if held.any():
            pulled = np.zeros(self.sizes.size)
            for top in range(0, len(depth), ROWS):  # so that no further image is held
                rows = slice(top, top + ROWS)
                _add_up(self.labels[rows], self.diagonal[rows], depth[rows] - prior[rows], pulled)
            constant[held] = pulled[held] / self.weight[held]
        constant[0] = np.nan
        _subtract(self.labels, constant, depth)

    def members(self, chosen):
        """List the pixels of some pieces, along the shorter side of the rectangle around each.

        Parameters
        ----------
        chosen : ndarray of int
            The numbers of the pieces.

        Returns
        -------
        members : ndarray of int64
            Row · columns + column of the pixels, piece after piece.
        begin : ndarray of int64
            Where each of the chosen pieces begins among them, and where the last one ends.
        tall : ndarray of bool
            Whether each is numbered row by row, having no more columns than rows, or column by column.
        """
        begin = np.concatenate([[0], np.cumsum(self.sizes[chosen])])
        free = np.full(self.sizes.size, -1)
        free[chosen] = begin[:-1]
        members = np.empty(begin[-1], np.int64)
        _list(self.labels, free, members)
        tall = np.empty(len(chosen), bool)
        _turn_wide_ones(members, begin, self.labels.shape[1], tall)
        return members, begin, tall

    def renumbered(self, chosen):
        """Return labels that count only some pieces, and are zero in the others.

        Parameters
        ----------
        chosen : ndarray of bool
            Whether each piece counts.
        """
        labels = np.empty_like(self.labels)
        _renumber(self.labels, np.where(chosen, np.cumsum(chosen), 0).astype(np.int32), labels)
        return labels


def _are_positive(*arrays):
    """Tell whether all numbers are: the common case, in which nothing has to be numbered."""
    return all(array.min(initial=1.0) > 0 for array in arrays)


@njit(**FAST)
def _label(mask, down, right, labels):
    """Number the pieces; return how many pixels each has."""
    rows, cols = mask.shape
    parent = np.empty(rows * cols + 1, np.int32)  # memory that is never touched is never used
    count = 0
    for i in range(rows):
        for j in range(cols):
            if not mask[i, j]:
                continue
            above, before = 0, 0
            if i > 0 and mask[i - 1, j] and (down.size == 0 or down[i - 1, j] > 0):
                above = root(parent, labels[i - 1, j])
            if j > 0 and mask[i, j - 1] and (right.size == 0 or right[i, j - 1] > 0):
                before = root(parent, labels[i, j - 1])
            if above == 0 and before == 0:
                count += 1
                parent[count] = count
                labels[i, j] = count
            elif above == 0 or before == 0:
                labels[i, j] = max(above, before)
            else:
                labels[i, j] = min(above, before)
                parent[max(above, before)] = labels[i, j]
    number, pieces = np.empty(count + 1, np.int32), 0
    number[0] = 0
    for k in range(1, count + 1):  # a root comes before the others of its set
        if parent[k] == k:
            pieces += 1
            number[k] = pieces
        else:
            number[k] = number[root(parent, k)]
    sizes = np.zeros(pieces + 1, np.int64)
    for i in range(rows):
        run, k, same = 0, 0, 0  # so many pixels before this one had label k, which becomes the number same
        for j in range(cols):
            if labels[i, j] != k:
                sizes[same] += run
                run, k = 0, labels[i, j]
                same = number[k]
            labels[i, j] = same
            run += 1
        sizes[same] += run
    sizes[0] = 0
    return sizes


@njit(**FAST)
def root(parent, k):
    """Return the root of the set of k, and shorten the way to it: each member knows another of its set."""
    while parent[k] != k:
        parent[k] = parent[parent[k]]
        k = parent[k]
    return k


@njit(**FAST)
def _add_up(labels, values, factors, total):
    """Add the values, times their factors, to the total of their piece."""
    rows, cols = labels.shape
    for i in range(rows):
        run, k = 0.0, 0
        for j in range(cols):
            if labels[i, j] != k:
                total[k] += run
                run, k = 0.0, labels[i, j]
            if k > 0:
                run += values[i, j] * factors[i, j] if factors.size > 0 else values[i, j]
        total[k] += run


@njit(**ANYTHING)
def _subtract(labels, constant, depth):
    for i in range(labels.shape[0]):
        for j in range(labels.shape[1]):
            depth[i, j] -= constant[labels[i, j]]


@njit(**FAST)
def _extremes(mask, down, right, labels, largest):
    """Return the smallest positive weight of all edges, and set the largest of each piece.

    Also tells whether the weights are positive between pixels of the same piece, and only there.
    """
    rows, cols = mask.shape
    smallest, unchanged = np.inf, True
    largest[:] = 0.0
    for i in range(rows):
        for way in range(2):
            y, x = (i + 1, 0) if way == 0 else (i, 1)
            if y == rows:
                continue
            most, k = 0.0, 0
            for j in range(cols - x):
                here, there = labels[i, j], labels[y, j + x]
                if here == 0 or there == 0:
                    continue
                w = down[i, j] if way == 0 else right[i, j]
                unchanged &= (w > 0) == (here == there)
                if here != k:
                    largest[k] = max(largest[k], most)
                    most, k = 0.0, here
                if w > 0:
                    smallest, most = min(smallest, w), max(most, w)
            largest[k] = max(largest[k], most)
    largest[0] = 0.0
    return smallest, unchanged


@njit(**FAST)
def _list(labels, free, members):
    """Write each pixel to the next free place of its piece; a piece without one (−1) is passed over."""
    rows, cols = labels.shape
    for i in range(rows):
        for j in range(cols):
            k = labels[i, j]
            if free[k] >= 0:
                members[free[k]] = i * cols + j
                free[k] += 1


@njit(**FAST)
def _turn_wide_ones(members, begin, cols, tall):
    """Order the pixels of pieces with more columns than rows by columns; tell which are not such."""
    for piece in range(tall.size):
        pixels = members[begin[piece] : begin[piece + 1]]
        left, right = cols, 0
        for pixel in pixels:
            left, right = min(left, pixel % cols), max(right, pixel % cols)
        tall[piece] = pixels[-1] // cols - pixels[0] // cols >= right - left
        if tall[piece]:
            continue
        free = np.zeros(right - left + 2, np.int64)  # where the next pixel of each column goes
        for pixel in pixels:
            free[pixel % cols - left + 1] += 1
        for j in range(right - left + 1):
            free[j + 1] += free[j]
        for pixel in pixels.copy():
            pixels[free[pixel % cols - left]] = pixel
            free[pixel % cols - left] += 1


@njit(**FAST)
def _renumber(labels, numbers, result):
    for i in range(labels.shape[0]):
        for j in range(labels.shape[1]):
            result[i, j] = numbers[labels[i, j]]
