"""What the slopes predict about the step along each edge, and how far that prediction can be trusted.

An edge joins a pixel to its neighbour below or to the right. On a smooth surface the mean of the two slopes
is the step in depth. Where the slope itself changes abruptly it is not, and what is better depends on why
it does.
"""

from typing import NamedTuple

import numpy as np

from normint.compiling import FAST, njit
from normint.methods.calibrated.constants import CONSTANTS

# Kinds of edges.
PLAIN, KINK, CURVED, CONTOUR, BESIDE_CONTOUR = range(5)


class Predictions(NamedTuple):
    """Images of shape 2×rows×columns: the edges downwards, and to the right."""

    exists: np.ndarray
    step: np.ndarray  # z_j - z_i, as the slopes predict it
    variance: np.ndarray
    kind: np.ndarray
    bend: np.ndarray  # squared significance of an abrupt change of either slope, in standard deviations


def predict(p, q, mask, sigma, contours=True, constants=CONSTANTS.prediction):
    """Predict the step of every edge from the slopes along its line of pixels.

    Parameters
    ----------
    p, q : ndarray
        Finite slopes, rows×columns.
    mask : ndarray of bool
    sigma : ndarray
        The standard deviation of a slope's noise at each pixel, > 0 inside the mask.
    contours : bool
        Whether to look for contours; otherwise they are taken for kinks.
    constants : Prediction

    Returns
    -------
    Predictions

    Notes
    -----
    Let g be the slope along the line, the edge lie between pixels 0 and 1, and κ_i = g_{i-1} - 2g_i +
    g_{i+1}.

    *Plain*: κ_0 or κ_1 may be noise. The step is ½(g_0 + g_1), the variance σ²/2.

    *Kink*: κ_0 and κ_1 are significant, of opposite signs: the slope changes abruptly by about κ, somewhere
    along the edge. If it may be anywhere, the mean has a variance of κ²/12 more.

    *Curved*: they are significant and of equal signs. The step is ½(g_0 + g_1) - (κ_0 + κ_1)/24, which is
    exact for slopes that are cubic along the line.

    *Contour*: a rounded body ends between two pixels. With d the way from its last pixel to the contour and b
    the slope behind, the body's depth falls like a square root, so its slope exceeds b by P(x) = √(R/2x) at
    the distance x. From P_1 = P(d) and P_2 = P(d + 1) at its last two pixels, d = P_2²/(P_1² - P_2²), and
    the step to the contour is b + 2dP_1. That of an edge beside it, inside the body, is b + 2P_iP_j/(P_i +
    P_j): of a square root it is the harmonic mean of the slopes, not the arithmetic one, which gives the
    step. This is the step if the body touches what lies behind; if it does not, the edge is a
    discontinuity.

    Multiplying depth and slopes by a constant, adding a plane, mirroring and transposing change the steps
    as they change the depth, and nothing else.

    Examples
    --------
    A ball on the ground: its last step is predicted well although the mean of the slopes is far off.

    >>> x = np.arange(60) - 0.3
    >>> height = np.sqrt(np.maximum(50**2 - x**2, 0.0))
    >>> slope = np.where(height > 0, -x / np.where(height > 0, height, 1.0), 0.0)[np.newaxis]
    >>> found = predict(0 * slope, slope, np.ones((1, 60), bool), np.full((1, 60), 0.01))
    >>> int(np.flatnonzero(found.kind[1, 0] == CONTOUR)[0])
    50
    >>> [round(float(v), 1) for v in (height[51] - height[50], found.step[1, 0, 50], slope[0, 50:52].mean())]
    [-5.5, -5.2, -4.5]
    """
    exists = np.zeros((2, *mask.shape), bool)
    exists[0, :-1] = mask[:-1] & mask[1:]
    exists[1, :, :-1] = mask[:, :-1] & mask[:, 1:]
    down = _along_columns(p, q, mask, sigma, contours, constants)
    right = _along_columns(q.T, p.T, mask.T, sigma.T, contours, constants)
    right = (np.ascontiguousarray(image.T) for image in right)
    return Predictions(exists, *(np.stack(pair) for pair in zip(down, right, strict=True)))


def _along_columns(slope, other, mask, sigma, contours, constants):
    slope, other, mask, sigma = (np.ascontiguousarray(image) for image in (slope, other, mask, sigma))
    step, bend, variance = np.zeros(slope.shape), np.zeros(slope.shape), np.ones(slope.shape)
    kind = np.full(slope.shape, PLAIN, np.int8)
    _smooth_edges(slope, other, mask, sigma, constants, step, variance, kind, bend)
    if contours:
        _contours(slope, mask, sigma, constants, step, variance, kind)
    return step, variance, kind, bend


@njit(**FAST)
def _smooth_edges(slope, other, mask, sigma, constants, step, variance, kind, bend):
    """Treat every edge downwards as one without a contour."""
    rows, cols = slope.shape
    for i in range(rows - 1):
        for j in range(cols):
            if not (mask[i, j] and mask[i + 1, j]):
                continue
            step[i, j] = 0.5 * (slope[i, j] + slope[i + 1, j])
            noise = 0.5 * (sigma[i, j] ** 2 + sigma[i + 1, j] ** 2)
            variance[i, j] = 0.5 * noise
            above, below = i > 0 and mask[i - 1, j], i + 2 < rows and mask[i + 2, j]
            if not (above and below):
                continue
            for g in (slope, other):
                first = g[i - 1, j] - 2.0 * g[i, j] + g[i + 1, j]
                second = g[i, j] - 2.0 * g[i + 1, j] + g[i + 2, j]
                square = min(first * first, second * second)
                if first * second < 0.0:
                    bend[i, j] = max(bend[i, j], square / (6.0 * noise))  # of noise alone it would be 6σ²
            first = slope[i - 1, j] - 2.0 * slope[i, j] + slope[i + 1, j]
            second = slope[i, j] - 2.0 * slope[i + 1, j] + slope[i + 2, j]
            square = min(first * first, second * second)
            excess = (
                square - 6.0 * constants.significant**2 * noise
            )  # of two such of noise, both are rarely larger
            if excess <= 0.0:
                continue
            if first * second < 0.0:
                kind[i, j] = KINK
                variance[i, j] += excess / 12.0
            else:
                kind[i, j] = CURVED
                step[i, j] -= (first + second) / 24.0
                variance[i, j] += excess / 144.0


@njit(**FAST)
def _contours(slope, mask, sigma, constants, step, variance, kind):
    """Predict the edges downwards at contours, and beside them, anew."""
    rows, cols = slope.shape
    significant, profile, error = constants.significant, constants.contour_profile, constants.contour_error
    for i in range(rows):
        for j in range(cols):
            for way in (-1, 1):  # where the contour lies, seen from the body's last pixel
                if not (mask[i, j] and 0 <= i + way < rows and 0 <= i - 2 * way < rows):
                    continue
                if not (mask[i + way, j] and mask[i - way, j] and mask[i - 2 * way, j]):
                    continue
                behind, noise = slope[i + way, j], sigma[i, j]
                sign = 1.0 if slope[i, j] > behind else -1.0
                last = sign * (slope[i, j] - behind)
                second, third = sign * (slope[i - way, j] - behind), sign * (slope[i - 2 * way, j] - behind)
                if not (last > 2.0**0.5 * second and second > third and second > significant * noise):
                    continue  # or the contour is further away than the next pixel
                if not last - second > 2.0**0.5 * significant * noise:
                    continue
                # The third slope that belongs to a square root with these two: 1/P² is linear.
                expected = 1.0 / np.sqrt(2.0 / second**2 - 1.0 / last**2)
                if abs(third - expected) > profile * expected + significant * noise:
                    continue
                if 0 <= i + 2 * way < rows and mask[i + 2 * way, j]:
                    if abs(slope[i + 2 * way, j] - behind) > profile * last:
                        continue  # what lies behind is not smooth
                d = second**2 / (last**2 - second**2)
                e = min(i, i + way)
                kind[e, j] = CONTOUR
                step[e, j] = behind + sign * 2.0 * d * last
                by_last, by_second = 2.0 * d + 4.0 * d * d, 4.0 * last / second * d * (1.0 + d)
                variance[e, j] = (0.5 + by_last**2 + by_second**2) * noise**2 + (error * last) ** 2
                for k in range(constants.contour_edges):
                    outer, inner = i - k * way, i - (k + 1) * way
                    if not (0 <= inner < rows and mask[inner, j]):
                        break
                    a, b = sign * (slope[outer, j] - behind), sign * (slope[inner, j] - behind)
                    if not a > b > significant * noise:
                        break
                    e = min(outer, inner)
                    kind[e, j] = BESIDE_CONTOUR
                    step[e, j] = behind + sign * 2.0 * a * b / (a + b)
                    parts = 4.0 * (a**4 + b**4) / (a + b) ** 4
                    variance[e, j] = parts * noise**2 + (0.5 * error * (a - b)) ** 2
