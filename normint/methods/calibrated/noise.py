"""How noisy normals are, measured by the curl of their slopes: no surface needs to be known for that."""

import itertools
from typing import NamedTuple

import numpy as np

from normint.compiling import FAST, njit
from normint.curl import curl_of_squares
from normint.methods.calibrated.constants import CONSTANTS
from normint.methods.calibrated.windows import box_sum, local_median

TO_EDGE = 1.4826 / 2  # from the median |curl| to the standard deviation of one of the four edges around it
HALF_OCTAVES = np.arange(-6, 9)  # the median is sought between 1/8 and 16 times that of the whole image
FEWEST = 30  # squares; of fewer, a median says too little
SMOOTH = 5  # pixels over which slopes are averaged to tell how steep a place is, whatever the noise
BINS = 8  # of steepness
BENT = 0.9  # the tenth of the squares with the largest changes of slope tells how a bend misleads
LEAST_BEND, LARGEST_BEND = 0.03, 0.3  # a crease anywhere along an edge has 1/√12 = 0.29
LARGEST_CURL = 5.0  # standard deviations, of a square within a larger one
INDEPENDENT = 2**0.5  # along a line, means of two neighbours share pixels: their sum has twice the variance
WILD = 5.0  # deviations; of noise alone, one pixel in some ten thousand would exceed it


class Noise(NamedTuple):
    """What is uncertain about the step of an edge, seen as S² = (level/c^exponent)² + (bend·D)².

    c is the smaller facing cosine n_z of its two pixels, D the difference of their slopes along it.
    """

    levels: np.ndarray  # at each pixel, the standard deviation of an edge that is seen straight on
    typical: float  # that of the whole image
    exponent: float  # 1 for noise in the normals, which a slope divides by n_z; 0 for noise in the slopes
    bend: float


def facing(p, q):
    """Return n_z, the cosine between the normal and the direction to the viewer."""
    return 1.0 / np.sqrt(1.0 + p * p + q * q)


def measure(p, q, mask, constants=CONSTANTS):
    """Measure the noise of the slopes around each pixel.

    Parameters
    ----------
    p, q : ndarray
        Finite slopes.
    mask : ndarray of bool
    constants : Constants

    Returns
    -------
    Noise

    Notes
    -----
    The curl around a square of four pixels is a sum of four edges; see :mod:`normint.curl`. Its median
    absolute value, in a window around each pixel, does not care about the few squares on a discontinuity. It
    is read off how many squares have a |curl| below levels that are half an octave apart: one pass over the
    image, whatever the window.

    Errors that neighbours share, as photographs bring them, hardly show in a square of four pixels. They add
    up around larger ones: if the curl there is larger than independent noise allows, all levels are raised.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> level = np.where(np.arange(200) < 100, 0.02, 0.08)
    >>> p, q = level * rng.standard_normal((2, 100, 200))
    >>> levels = measure(p, q, np.ones((100, 200), bool)).levels
    >>> [round(float(levels[50, column]) * 2**0.5, 2) for column in (50, 150)]
    [0.02, 0.08]
    """
    across, along, square = curl_of_squares(p, q, mask)
    curl = np.where(square, across - along, 0.0)
    size, floor = np.abs(curl), constants.rounding
    exponent = _exponent(size[square], _around(facing(*_smoothed(p, q, mask)))[square], floor)
    cosine = facing(p, q) ** exponent
    scaled = size * _around(cosine)
    middle = float(np.median(scaled[square])) if square.any() else 0.0
    typical = max(TO_EDGE * middle, floor)
    levels = np.full(mask.shape, typical)
    if TO_EDGE * middle > floor:
        octaves = middle * 2.0 ** (0.5 * HALF_OCTAVES)
        found = local_median(scaled, square, int(constants.window), octaves, FEWEST)
        levels = _at_pixels(found, TO_EDGE * middle, floor)
    bend = _bend(p, q, size, square, cosine, typical)
    shared = _shared(p, q, curl, square, levels / cosine, bend, constants.loop)
    return Noise(shared * levels, shared * typical, exponent, bend)


def wild_slopes(p, q, mask, levels):
    """Find single pixels whose slopes contradict all around them.

    Parameters
    ----------
    p, q, mask
        As for :func:`measure`.
    levels : ndarray
        Of the noise of an edge, as it returns them; a slope's is √2 times as large.

    Returns
    -------
    ndarray of bool

    Notes
    -----
    If the slopes of one pixel are wrong by (a, b), the curls of its four squares are wrong by ±½(a - b) at
    the upper left and the lower right, and by ±½(a + b) at the two others: opposite at opposite squares. A
    discontinuity does not do that. So half the difference of opposite curls has to exceed `WILD` times the
    noise, and their sum.

    Examples
    --------
    >>> p, q = np.zeros((2, 5, 6))
    >>> q[2, 3] = 1.0
    >>> [index.tolist() for index in np.nonzero(wild_slopes(p, q, p == 0, np.full(p.shape, 0.01)))]
    [[2], [3]]
    """
    across, along, square = curl_of_squares(p, q, mask)
    curl = np.where(square, across - along, 0.0)
    pairs = (curl[:-1, :-1], curl[1:, 1:]), (curl[:-1, 1:], curl[1:, :-1])
    odd = np.maximum(*(np.abs(one - other) for one, other in pairs)) / 2
    even = np.maximum(*(np.abs(one + other) for one, other in pairs))
    wild = np.zeros(mask.shape, bool)
    wild[1:-1, 1:-1] = mask[1:-1, 1:-1] & (odd > np.maximum(WILD * 2**0.5 * levels[1:-1, 1:-1], even))
    return wild


def _around(image):
    """Return the least of the four pixels of each square."""
    rows = np.minimum(image[:-1], image[1:])
    return np.minimum(rows[:, :-1], rows[:, 1:])


def _smoothed(p, q, mask):
    """Return slopes averaged over a few pixels: on flat ground, noise would pass for steepness."""
    inside = np.maximum(box_sum(mask, SMOOTH), 0.5)
    return (box_sum(s if mask.all() else np.where(mask, s, 0.0), SMOOTH) / inside for s in (p, q))


@njit(**FAST)
def _at_pixels(half_octaves, middle, floor):
    """Turn medians of the squares into the levels of their pixels: each is the mean of four squares."""
    rows, cols = half_octaves.shape
    local, levels = np.empty((rows + 2, cols + 2)), np.empty((rows + 1, cols + 1))
    for i in range(rows):
        for j in range(cols):
            steps = half_octaves[i, j] + HALF_OCTAVES[0] if half_octaves[i, j] >= 0.0 else 0.0
            local[i + 1, j + 1] = max(middle * 2.0 ** (0.5 * steps), floor)
    # Beyond the border as at the border; one by one, since rows set at once take seconds to compile.
    for j in range(1, cols + 1):
        local[0, j], local[rows + 1, j] = local[1, j], local[rows, j]
    for i in range(rows + 2):
        local[i, 0], local[i, cols + 1] = local[i, 1], local[i, cols]
    for i in range(rows + 1):
        for j in range(cols + 1):
            levels[i, j] = 0.25 * (local[i, j] + local[i + 1, j] + local[i, j + 1] + local[i + 1, j + 1])
    return levels


def _exponent(size, cosine, floor):
    """Tell whether noise is in the normals (1) or in the slopes (0).

    Noise in the normals is divided by n_z: log |curl|, over bins of log n_z, falls with the slope -1. Bends
    blur that, so it is a decision and no measurement. If all faces the viewer alike, it hardly matters.
    """
    if size.size < BINS * FEWEST:
        return 0.0
    cosine = np.round(cosine, 9)  # so that what is equal but for rounding shares a bin
    edges = np.quantile(cosine, np.arange(1, BINS) / BINS)
    by_bin, begin = _grouped(cosine, size, edges)
    groups = [by_bin[:, start:end] for start, end in itertools.pairwise(begin) if start < end]
    x = np.log([np.median(group[0]) for group in groups])
    y = np.log(np.maximum([np.median(group[1]) for group in groups], floor))
    if len(x) < 3 or np.ptp(x) < 0.2:
        return 0.0
    return float(np.polyfit(x, y, 1)[0] < -0.5)


@njit(**FAST)
def _grouped(values, others, edges):
    """Return values and others in groups: those up to the first edge, to the second, and so on."""
    bins, begin = np.empty(values.size, np.uint8), np.zeros(edges.size + 2, np.int64)
    for k in range(values.size):
        group = 0
        for edge in edges:
            group += values[k] > edge
        bins[k] = group
        begin[group + 1] += 1
    begin = np.cumsum(begin)
    place, result = begin.copy(), np.empty((2, values.size))
    for k in range(values.size):
        m = place[bins[k]]
        result[0, m], result[1, m] = values[k], others[k]
        place[bins[k]] += 1
    return result, begin


def _bend(p, q, size, square, cosine, typical):
    """Return which part of the change of slope along an edge its step may be wrong by."""
    if np.count_nonzero(square) < FEWEST:
        return 0.1
    change, noise = _changes(p, q, cosine, square)
    noise *= typical**2
    bent = change >= noise * np.quantile(change / noise, BENT)
    change = np.maximum(change[bent], 1e-30)
    # What noise alone leads to is no bend.
    square_ratio = (1.4826 * np.median(size[square][bent] / np.sqrt(change))) ** 2 - np.median(
        noise[bent] / change
    )
    return float(np.clip(np.sqrt(max(square_ratio, 0.0)), LEAST_BEND, LARGEST_BEND))


@njit(**FAST)
def _changes(p, q, cosine, square):
    """Return ΣD² over the four edges of each square, and Σc⁻²."""
    rows, cols = square.shape
    change, noise = np.empty((2, np.sum(square)))
    k = 0
    for i in range(rows):
        for j in range(cols):
            if not square[i, j]:
                continue
            a, b, c, d = cosine[i, j], cosine[i, j + 1], cosine[i + 1, j], cosine[i + 1, j + 1]
            change[k] = (p[i + 1, j] - p[i, j]) ** 2 + (p[i + 1, j + 1] - p[i, j + 1]) ** 2
            change[k] += (q[i, j + 1] - q[i, j]) ** 2 + (q[i + 1, j + 1] - q[i + 1, j]) ** 2
            noise[k] = min(a, c) ** -2 + min(b, d) ** -2 + min(a, b) ** -2 + min(c, d) ** -2
            k += 1
    return change, noise


def _shared(p, q, curl, square, deviation, bend, side):
    """Return by which factor the curl around large squares exceeds what independent noise would be."""
    if min(square.shape) < side:
        return 1.0
    inside = _whole(box_sum(square, side), side) == side * side
    if np.count_nonzero(inside) < FEWEST:
        return 1.0
    down, right, small = _variances(p, q, curl, deviation, bend)
    total = _lines(down, right, side)
    ratio = np.median(np.abs(_whole(box_sum(small, side), side)[inside]) / np.sqrt(total[inside]))
    return max(1.0, 1.4826 * float(ratio) / INDEPENDENT)


def _whole(sums, side):
    """Return those sums over a square of which all lies inside."""
    first = side // 2
    return sums[first : first + sums.shape[0] - side + 1, first : first + sums.shape[1] - side + 1]


@njit(**FAST)
def _variances(p, q, curl, deviation, bend):
    """Return the variances of all edges, and the curl of squares where it is none of a jump or wild slope.

    Shared errors are small in each square.
    """
    rows, cols = p.shape
    down, right, small = np.zeros((rows, cols)), np.zeros((rows, cols)), np.zeros(curl.shape)
    for i in range(rows):
        for j in range(cols):
            if i + 1 < rows:
                down[i, j] = max(deviation[i, j], deviation[i + 1, j]) ** 2
                down[i, j] += (bend * (p[i + 1, j] - p[i, j])) ** 2
            if j + 1 < cols:
                right[i, j] = max(deviation[i, j], deviation[i, j + 1]) ** 2
                right[i, j] += (bend * (q[i, j + 1] - q[i, j])) ** 2
    for i in range(rows - 1):
        for j in range(cols - 1):
            largest = max(
                max(deviation[i, j], deviation[i, j + 1]), max(deviation[i + 1, j], deviation[i + 1, j + 1])
            )
            if abs(curl[i, j]) <= 2.0 * LARGEST_CURL * largest:
                small[i, j] = curl[i, j]
    return down, right, small


@njit(**FAST)
def _lines(down, right, side):
    """Return the sum of the variances along the four sides of each large square."""
    rows, cols = down.shape
    total = np.zeros((rows - side, cols - side))
    for i in range(rows - side):
        row = total[i]
        for k in range(side):
            for j in range(cols - side):
                row[j] += down[i + k, j] + down[i + k, j + side] + right[i, j + k] + right[i + side, j + k]
    return total
