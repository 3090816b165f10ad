"""How noisy normals are, measured by the curl of their slopes: no surface needs to be known for that."""

from typing import NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter

from normint.curl import curl_of_squares
from normint.methods.calibrated.constants import CONSTANTS

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
    is read off the shares of squares whose |curl| lies below levels half an octave apart, each a mean over
    the window: a few passes over the image, whatever the window.

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
        half_octaves = _median(scaled / middle, square, constants.window)
        local = np.maximum(TO_EDGE * middle * 2.0 ** (0.5 * half_octaves), floor)
        padded = np.pad(local, 1, mode="edge")
        levels = 0.25 * (padded[:-1, :-1] + padded[1:, :-1] + padded[:-1, 1:] + padded[1:, 1:])
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
    inside = np.maximum(uniform_filter(mask.astype(float), SMOOTH, mode="constant"), 0.5 / SMOOTH**2)
    return (uniform_filter(np.where(mask, s, 0.0), SMOOTH, mode="constant") / inside for s in (p, q))


def _exponent(size, cosine, floor):
    """Tell whether noise is in the normals (1) or in the slopes (0).

    Noise in the normals is divided by n_z: log |curl|, over bins of log n_z, falls with the slope -1. Bends
    blur that, so it is a decision and no measurement. If all faces the viewer alike, it hardly matters.
    """
    if size.size < BINS * FEWEST:
        return 0.0
    log = np.round(np.log(cosine), 9)  # so that what is equal but for rounding shares a bin
    bins = np.searchsorted(np.quantile(log, np.arange(1, BINS) / BINS), log)
    groups = [bins == k for k in np.unique(bins)]
    x = np.array([np.median(log[group]) for group in groups])
    y = np.log(np.maximum([np.median(size[group]) for group in groups], floor))
    if len(x) < 3 or np.ptp(x) < 0.2:
        return 0.0
    return float(np.polyfit(x, y, 1)[0] < -0.5)


def _bend(p, q, size, square, cosine, typical):
    """Return which part of the change of slope along an edge its step may be wrong by."""
    if np.count_nonzero(square) < FEWEST:
        return 0.1

    def around(down, right):
        return (down[:, 1:] + down[:, :-1] + right[1:] + right[:-1])[square]

    change = around((p[1:] - p[:-1]) ** 2, (q[:, 1:] - q[:, :-1]) ** 2)
    least = np.minimum(cosine[1:], cosine[:-1]), np.minimum(cosine[:, 1:], cosine[:, :-1])
    noise = typical**2 * around(*(cosines**-2.0 for cosines in least))
    bent = change >= noise * np.quantile(change / noise, BENT)
    change = np.maximum(change[bent], 1e-30)
    # What noise alone leads to is no bend.
    square_ratio = (1.4826 * np.median(size[square][bent] / np.sqrt(change))) ** 2 - np.median(
        noise[bent] / change
    )
    return float(np.clip(np.sqrt(max(square_ratio, 0.0)), LEAST_BEND, LARGEST_BEND))


def _shared(p, q, curl, square, deviation, bend, side):
    """Return by which factor the curl around large squares exceeds what independent noise would be."""

    def around(image):
        sums = np.pad(np.cumsum(np.cumsum(image, 0), 1), ((1, 0), (1, 0)))
        return sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]

    def along(variances):
        sums = np.pad(np.cumsum(variances, 0), ((1, 0), (0, 0)))
        return sums[side:] - sums[:-side]

    if min(square.shape) < side:
        return 1.0
    inside = around(square) == side * side
    if np.count_nonzero(inside) < FEWEST:
        return 1.0
    down = np.maximum(deviation[1:], deviation[:-1]) ** 2 + (bend * (p[1:] - p[:-1])) ** 2
    right = np.maximum(deviation[:, 1:], deviation[:, :-1]) ** 2 + (bend * (q[:, 1:] - q[:, :-1])) ** 2
    # Shared errors are small in each square. What is large is a jump or a wild slope, and does not count.
    likely = 2.0 * LARGEST_CURL / _around(1.0 / deviation)
    curl = np.where(np.abs(curl) <= likely, curl, 0.0)
    down, right = along(down), along(right.T).T
    total = down[:, side:] + down[:, :-side] + right[side:] + right[:-side]
    ratio = np.median(np.abs(around(curl))[inside] / np.sqrt(total[inside]))
    return max(1.0, 1.4826 * float(ratio) / INDEPENDENT)


def _median(values, where, window):
    """Return the median over a window around each value, in half octaves."""
    total = uniform_filter(where.astype(float), window, mode="constant")
    level, last = np.full(values.shape, np.nan), np.zeros(values.shape)
    for half_octave in HALF_OCTAVES:
        below = where & (values <= 2.0 ** (0.5 * half_octave))
        share = uniform_filter(below.astype(float), window, mode="constant") / np.maximum(total, 1e-12)
        found = np.isnan(level) & (share >= 0.5)
        level[found] = half_octave - (share[found] - 0.5) / np.maximum(share[found] - last[found], 1e-12)
        last = share
        if not np.isnan(level).any():
            break
    level[np.isnan(level)] = HALF_OCTAVES[-1]
    level[total * window**2 < FEWEST] = 0.0
    return np.maximum(level, HALF_OCTAVES[0])
