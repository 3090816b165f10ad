"""How noisy slopes are, measured by their curl around each pixel."""

import numpy as np
from scipy.ndimage import uniform_filter

TO_DEVIATION = 1.4826 / 2**0.5  # from the median |curl| to a slope's standard deviation, see normint.curl
HALF_OCTAVES = np.arange(-6, 9)  # the median is sought between 1/8 and 16 times that of the whole image
FEWEST = 30  # squares in a window; with fewer, the whole image's level is taken


def noise_levels(p, q, mask, floor, window):
    """Measure the noise of the slopes around each pixel.

    Parameters
    ----------
    p, q : ndarray
        Finite slopes.
    mask : ndarray of bool
    floor : float
        The least level, as a part of the slopes' mean absolute deviation from their median.
    window : int
        The width of the square, in pixels, over which the noise is measured.

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
    >>> levels, _, _ = noise_levels(p, q, np.ones((100, 200), bool), 0.005, 31)
    >>> [round(float(levels[50, column]), 1) for column in (50, 150)]
    [0.1, 0.4]
    """
    deviation = float(np.mean([np.abs(slope[mask] - np.median(slope[mask])).mean() for slope in (p, q)]))
    least = floor * deviation
    square = mask[:-1, :-1] & mask[1:, :-1] & mask[:-1, 1:] & mask[1:, 1:]
    across = (p[:-1, 1:] + p[1:, 1:]) - (p[:-1, :-1] + p[1:, :-1])
    along = (q[1:, :-1] + q[1:, 1:]) - (q[:-1, :-1] + q[:-1, 1:])
    curl = np.abs(0.5 * (across - along))
    middle = float(np.median(curl[square])) if square.any() else 0.0
    typical = max(TO_DEVIATION * middle, least)
    if TO_DEVIATION * middle <= least:
        return np.full(mask.shape, typical), typical, deviation
    local = np.maximum(TO_DEVIATION * middle * 2.0 ** (0.5 * _median(curl / middle, square, window)), least)
    padded = np.pad(local, 1, mode="edge")
    levels = 0.25 * (padded[:-1, :-1] + padded[1:, :-1] + padded[:-1, 1:] + padded[1:, 1:])
    return levels, typical, deviation


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
    level[np.isnan(level)] = HALF_OCTAVES[-1]
    level[total * window**2 < FEWEST] = 0.0
    return np.maximum(level, HALF_OCTAVES[0])
