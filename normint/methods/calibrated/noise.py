"""How noisy slopes are, measured by their curl around each pixel."""

import numpy as np
from scipy.ndimage import uniform_filter

from normint.curl import curl_of_squares
from normint.methods.calibrated.constants import CONSTANTS

TO_DEVIATION = 1.4826 / 2**0.5  # from the median |curl| to a slope's standard deviation, see normint.curl
HALF_OCTAVES = np.arange(-6, 9)  # the median is sought between 1/8 and 16 times that of the whole image


def noise_levels(p, q, mask, constants=CONSTANTS.noise):
    """Measure the noise of the slopes around each pixel.

    Parameters
    ----------
    p, q : ndarray
        Finite slopes.
    mask : ndarray of bool
    constants : Noise

    Returns
    -------
    levels : ndarray
        The standard deviation of a slope at each pixel.
    typical : float
        That of the whole image.
    deviation : float
        The slopes' mean absolute deviation from their median, which neither noise nor a plane changes much.

    Notes
    -----
    :func:`normint.curl.gradient_noise` explains why σ = 1.4826·median|curl|/√2. The median over a window is
    read off the shares of squares whose |curl| lies below levels half an octave apart, each a mean over the
    window: a few passes over the image, whatever the window.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> level = np.where(np.arange(200) < 100, 0.1, 0.4)
    >>> p, q = level * rng.standard_normal((2, 100, 200))
    >>> levels, _, _ = noise_levels(p, q, np.ones((100, 200), bool))
    >>> [round(float(levels[50, column]), 1) for column in (50, 150)]
    [0.1, 0.4]
    """
    deviation = float(np.mean([np.abs(slope[mask] - np.median(slope[mask])).mean() for slope in (p, q)]))
    least = constants.floor * deviation
    across, along, square = curl_of_squares(p, q, mask)
    curl = np.abs(across - along)
    middle = float(np.median(curl[square])) if square.any() else 0.0
    typical = max(TO_DEVIATION * middle, least)
    if TO_DEVIATION * middle <= least:
        return np.full(mask.shape, typical), typical, deviation
    half_octaves = _median(curl / middle, square, constants)
    local = np.maximum(TO_DEVIATION * middle * 2.0 ** (0.5 * half_octaves), least)
    padded = np.pad(local, 1, mode="edge")
    levels = 0.25 * (padded[:-1, :-1] + padded[1:, :-1] + padded[:-1, 1:] + padded[1:, 1:])
    return levels, typical, deviation


def wild_slopes(p, q, mask, levels, constants=CONSTANTS.noise):
    """Find single pixels whose slopes contradict all around them.

    Parameters
    ----------
    p, q, mask, levels
        As for :func:`noise_levels`, and as returned by it.
    constants : Noise

    Returns
    -------
    ndarray of bool

    Notes
    -----
    If the slopes of one pixel are wrong by (a, b), the curls of its four squares are wrong by ±½(a - b) at
    the upper left and the lower right, and by ±½(a + b) at the two others: opposite at opposite squares. A
    discontinuity does not do that. So half the difference of opposite curls has to exceed `wild` times the
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
    wild[1:-1, 1:-1] = mask[1:-1, 1:-1] & (odd > np.maximum(constants.wild * levels[1:-1, 1:-1], even))
    return wild


def _median(values, where, constants):
    """Return the median over a window around each value, in half octaves."""
    window = constants.window
    total = uniform_filter(where.astype(float), window, mode="constant")
    level, last = np.full(values.shape, np.nan), np.zeros(values.shape)
    for half_octave in HALF_OCTAVES:
        below = where & (values <= 2.0 ** (0.5 * half_octave))
        share = uniform_filter(below.astype(float), window, mode="constant") / np.maximum(total, 1e-12)
        found = np.isnan(level) & (share >= 0.5)
        level[found] = half_octave - (share[found] - 0.5) / np.maximum(share[found] - last[found], 1e-12)
        last = share
    level[np.isnan(level)] = HALF_OCTAVES[-1]
    level[total * window**2 < constants.fewest] = 0.0
    return np.maximum(level, HALF_OCTAVES[0])
