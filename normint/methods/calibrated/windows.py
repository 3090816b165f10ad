"""Sums and medians over a window around each pixel of an image, in one pass."""

import numpy as np

from normint.compiling import FAST, njit

__all__ = ["box_sum", "local_median"]


@njit(**FAST)
def box_sum(image, side):
    """Sum an image over the square of `side` pixels around each pixel, as far as the image reaches.

    Parameters
    ----------
    image : ndarray
    side : int
        If it is even, the square reaches further up and to the left.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> box_sum(np.ones((3, 4)), 3)
    array([[4., 6., 6., 4.],
           [6., 9., 9., 6.],
           [4., 6., 6., 4.]])
    """
    rows, cols = image.shape
    before, after = side // 2, side - 1 - side // 2
    result = np.empty((rows, cols))
    column = np.zeros(cols + side - 1)  # sums over rows, with zeros on both sides
    inner = column[before : before + cols]
    for i in range(rows):
        inner[:] = 0.0
        for k in range(max(i - before, 0), min(i + after + 1, rows)):
            row = image[k]
            for j in range(cols):
                inner[j] += row[j]
        total = result[i]
        total[:] = 0.0
        for k in range(side):
            shifted = column[k : k + cols]
            for j in range(cols):
                total[j] += shifted[j]
    return result


@njit(**FAST)
def local_median(values, where, window, levels, fewest):
    """Find the median over a window around each value, between levels that are one apart.

    Parameters
    ----------
    values : ndarray
    where : ndarray of bool
        Which of them count.
    window : int
        The side of the window, or one less if that is odd.
    levels : ndarray
        In ascending order.
    fewest : int
        Of fewer values, no median is taken.

    Returns
    -------
    ndarray
        Between which levels the median lies, counted from the first: half of the values lie below it, if
        those between two levels are spread evenly. At least 0 and at most the last; −1 where there are too
        few values.

    Notes
    -----
    Each column has a histogram of the values in the rows of the window, the window one that is the sum of its
    columns'. From one pixel to the next, one column enters and one leaves.

    Examples
    --------
    >>> values = np.array([[1.0, 2.0, 2.0, 4.0, 4.0]])
    >>> local_median(values, values > 0, 9, np.array([0.5, 1.5, 2.5, 4.5]), 1).round(2)
    array([[1.75, 1.75, 1.75, 1.75, 1.75]])
    """
    rows, cols = values.shape
    reach, last = window // 2, levels.size - 1
    bins = np.empty((rows, cols), np.uint8)  # the first level that is not less; beyond all, one more
    for i in range(rows):
        for j in range(cols):
            bins[i, j] = np.searchsorted(levels, values[i, j]) if where[i, j] else levels.size + 1
    counts = np.zeros(levels.size + 2, np.int32)  # the last is for what does not count
    columns = np.zeros((cols, counts.size), np.int32)
    result = np.empty((rows, cols))
    for i in range(min(reach, rows)):
        for j in range(cols):
            columns[j, bins[i, j]] += 1
    for i in range(rows):
        if i + reach < rows:
            for j in range(cols):
                columns[j, bins[i + reach, j]] += 1
        if i > reach:
            for j in range(cols):
                columns[j, bins[i - reach - 1, j]] -= 1
        counts[:] = 0
        for j in range(-reach, cols):
            if j + reach < cols:
                entering = columns[j + reach]
                for k in range(counts.size):
                    counts[k] += entering[k]
            if j < 0:
                continue
            if j > reach:
                leaving = columns[j - reach - 1]
                for k in range(counts.size):
                    counts[k] -= leaving[k]
            total = 0
            for k in range(levels.size + 1):
                total += counts[k]
            k, below = 0, counts[0]
            while k < last and 2 * below < total:
                k += 1
                below += counts[k]
            if total < fewest:
                result[i, j] = -1.0
            elif k == 0 or 2 * below < total:
                result[i, j] = k
            else:
                result[i, j] = k - (below - 0.5 * total) / counts[k]
    return result
