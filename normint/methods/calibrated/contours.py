"""Contours of rounded bodies, whose depth falls like a square root: the mean of two slopes is far off."""

import numpy as np

from normint.compiling import FAST, njit

SIGNIFICANT = 3.0  # standard deviations beyond which a difference of slopes is not noise
# The part by which the third slope from a contour may differ from that of a square root, and what lies behind
# from a plane.
PROFILE = 0.25
ERROR = 0.1  # how far real contours are from square roots, in parts of the slope's rise
BESIDE = 3  # edges beside a contour whose steps are those of a square root; further inside, means are as good


def find_contours(p, q, mask, sigma, share, step, variance):
    """Predict the edges at contours, and beside them, anew, if the image shows rounded bodies.

    Parameters
    ----------
    p, q : ndarray
        Finite slopes.
    mask : ndarray of bool
    sigma : ndarray
        The standard deviation of a slope's noise at each pixel, > 0 inside the mask.
    share : float
        The share of the places that may be contours at which the third slope must be that of a square root.
        With less, the image shows creases and relief, where the square root would mislead, and nothing is
        changed.
    step, variance : ndarray
        Of shape 2×rows×columns; changed in place.

    Returns
    -------
    ndarray of bool
        The last edges of rounded bodies.

    Notes
    -----
    A rounded body ends between two pixels. With d the way from its last pixel to the contour and b the slope
    behind, the body's depth falls like a square root, so its slope exceeds b by P(x) = √(R/2x) at the
    distance x. From P₁ = P(d) and P₂ = P(d + 1) at its last two pixels, d = P₂²/(P₁² - P₂²), and the step to
    the contour is b + 2dP₁. That of an edge beside it, inside the body, is b + 2P_iP_j/(P_i + P_j): of a
    square root it is the harmonic mean of the slopes, not the arithmetic one, that gives the step. This is
    the step if the body touches what lies behind; if it does not, the edge is a jump.

    Examples
    --------
    A ball on the ground: its last step is predicted well although the mean of the slopes is far off.

    >>> x = np.arange(60) - 0.3
    >>> height = np.sqrt(np.maximum(50**2 - x**2, 0.0))
    >>> slope = np.where(height > 0, -x / np.where(height > 0, height, 1.0), 0.0)[np.newaxis]
    >>> step, variance = np.zeros((2, 1, 60)), np.ones((2, 1, 60))
    >>> found = find_contours(0 * slope, slope, slope < 1, np.full((1, 60), 0.01), 0.9, step, variance)
    >>> np.flatnonzero(found[1, 0])
    array([50])
    >>> [round(float(v), 1) for v in (height[51] - height[50], step[1, 0, 50], slope[0, 50:52].mean())]
    [-5.5, -5.2, -4.5]
    """
    found, places, obeying = [], 0, 0
    for slope, inside, noise in ((p, mask, sigma), (q.T, mask.T, sigma.T)):
        slope, inside, noise = (np.ascontiguousarray(image) for image in (slope, inside, noise))
        steps, variances = np.zeros(slope.shape), np.zeros(slope.shape)
        last = np.zeros(slope.shape, np.bool_)
        counts = _along_columns(slope, inside, noise, steps, variances, last)
        places, obeying = places + counts[0], obeying + counts[1]
        found.append((steps, variances, last))
    found[1] = tuple(image.T for image in found[1])
    if obeying < share * places:
        return np.zeros(step.shape, bool)
    for axis, (steps, variances, _) in enumerate(found):
        known = variances > 0
        step[axis][known], variance[axis][known] = steps[known], variances[known]
    return np.stack([last for _, _, last in found])


@njit(**FAST)
def _along_columns(slope, mask, sigma, step, variance, last_edge):
    """Predict edges downwards; return how many places may be contours, and how many are square roots."""
    rows, cols = slope.shape
    places, obeying = 0, 0
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
                if not (last > 2.0**0.5 * second and second > third and second > SIGNIFICANT * noise):
                    continue  # or the contour is further away than the next pixel
                if not last - second > 2.0**0.5 * SIGNIFICANT * noise:
                    continue
                if 0 <= i + 2 * way < rows and mask[i + 2 * way, j]:
                    if abs(slope[i + 2 * way, j] - behind) > PROFILE * last:
                        continue  # what lies behind is not smooth
                places += 1
                # The third slope that belongs to a square root with these two: 1/P² is linear.
                expected = 1.0 / np.sqrt(2.0 / second**2 - 1.0 / last**2)
                if abs(third - expected) > PROFILE * expected + SIGNIFICANT * noise:
                    continue
                obeying += 1
                last_edge[min(i, i + way), j] = True
                _predict(slope, mask, noise, i, j, way, behind, sign, step, variance)
    return places, obeying


@njit(**FAST)
def _predict(slope, mask, noise, i, j, way, behind, sign, step, variance):
    """Set the step at a contour, and those beside it inside the body."""
    last, second = sign * (slope[i, j] - behind), sign * (slope[i - way, j] - behind)
    d = second**2 / (last**2 - second**2)
    e = min(i, i + way)
    step[e, j] = behind + sign * 2.0 * d * last
    by_last, by_second = 2.0 * d + 4.0 * d * d, 4.0 * last / second * d * (1.0 + d)
    variance[e, j] = (0.5 + by_last**2 + by_second**2) * noise**2 + (ERROR * last) ** 2
    for k in range(BESIDE):
        outer, inner = i - k * way, i - (k + 1) * way
        if not (0 <= inner < slope.shape[0] and mask[inner, j]):
            break
        a, b = sign * (slope[outer, j] - behind), sign * (slope[inner, j] - behind)
        if not a > b > SIGNIFICANT * noise:
            break
        e = min(outer, inner)
        step[e, j] = behind + sign * 2.0 * a * b / (a + b)
        parts = 4.0 * (a**4 + b**4) / (a + b) ** 4
        variance[e, j] = parts * noise**2 + (0.5 * ERROR * (a - b)) ** 2
