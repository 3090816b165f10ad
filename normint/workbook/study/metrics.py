"""How far a depth is from the truth: everywhere, at jumps, at the border, on smooth parts."""

import numpy as np
from scipy.ndimage import binary_dilation

from normint.inputs import as_positive
from normint.metrics import rmse


def aligned_error(depth, truth, *, scaled):
    """Measure the mean absolute error of a depth after giving it what normals do not tell.

    Parameters
    ----------
    depth, truth : ndarray
        NaN where unknown.
    scaled : bool
        Whether that is the scale, as with a near camera, or a constant, as with a far one.

    Examples
    --------
    >>> aligned_error(np.array([1.0, 2.0, 4.0]), np.array([2.0, 4.0, 8.0]), scaled=True)
    0.0
    """
    same = depth * np.nanmedian(truth / depth) if scaled else depth + np.nanmedian(truth - depth)
    return float(np.nanmean(np.abs(same - truth)))


def unexplained(surface):
    """Return how far each true difference of depth is from what the gradient says, downwards and right.

    Parameters
    ----------
    surface : Surface

    Returns
    -------
    (ndarray, ndarray)
        |z_j - z_i - ½(g_i + g_j)| of the edges that start at each pixel, zero in the last row and column.
    """
    down, right = np.zeros((2, *surface.depth.shape))
    down[:-1] = np.diff(surface.depth, axis=0) - 0.5 * (surface.p[1:] + surface.p[:-1])
    right[:, :-1] = np.diff(surface.depth, axis=1) - 0.5 * (surface.q[:, 1:] + surface.q[:, :-1])
    return np.abs(down), np.abs(right)


def near_jumps(surface, *, least=3.0, distance=2):
    """Mark the pixels within a distance of true jumps.

    Parameters
    ----------
    surface : Surface
        With its exact gradient.
    least : float
        A jump is a difference of depth that the gradient misses by more than so many pixels.
    distance : int
        In pixels, along rows and columns.

    Examples
    --------
    >>> from normint.surfaces import canadian_tent
    >>> int(near_jumps(canadian_tent()).any(axis=0).sum())  # two gable ends, three pixels to each side
    12
    """
    as_positive("least", least)
    return _grow(_ends(*(edges > least for edges in unexplained(surface))), distance)


def error_near_jumps(depth, surface):
    """Measure the RMSE within two pixels of true jumps, after removing the mean difference everywhere."""
    error = depth - surface.depth
    return float(np.sqrt(np.mean((error - error.mean())[near_jumps(surface)] ** 2)))


def border_bias(depth, surface, *, width=2):
    """Measure the RMSE in a frame along the image border, in per cent of the depth's standard deviation."""
    error = depth - surface.depth
    error = error - error.mean()
    frame = np.ones(error.shape, bool)
    frame[width:-width, width:-width] = False
    return float(100 * np.sqrt(np.mean(error[frame] ** 2)) / surface.depth.std())


def staircasing(depth, surface, noise, *, factor=4.0):
    """Measure the share of edges on smooth parts across which the depth makes a step that is not there.

    Parameters
    ----------
    depth : ndarray
    surface : Surface
        The truth, with its exact gradient.
    noise : float
        Standard deviation of the noise of a slope.
    factor : float
        A step is an error of a depth difference that exceeds those two pixels before and after it, along the
        same line, by more than ``factor`` times the noise: bending is no step.

    Returns
    -------
    float
        Between 0 and 1. Smooth parts are more than three pixels away from where a true difference of depth
        is not the mean of the slopes at its ends to a tenth of a pixel: jumps, kinks, strong curvature.
    """
    rough = _grow(_ends(*(edges > 0.1 for edges in unexplained(surface))), 3)
    error = depth - surface.depth
    steps, total = 0, 0
    for along, barred in ((error, rough), (error.T, rough.T)):
        jump = np.abs(np.diff(along, axis=0))
        alone = jump[2:-2] - np.maximum(jump[:-4], jump[4:])
        smooth = ~(barred[2:-3] | barred[3:-2])
        steps += np.count_nonzero(alone[smooth] > factor * noise)
        total += np.count_nonzero(smooth)
    return float(steps / total)


def _ends(down, right):
    """Mark the pixels at both ends of the edges."""
    marks = down | right
    marks[1:] |= down[:-1]
    marks[:, 1:] |= right[:, :-1]
    return marks


def _grow(marks, distance):
    return binary_dilation(marks, iterations=distance) if distance else marks


def _steps(depth, surface):
    return 100 * staircasing(depth, surface, 0.01 * np.hypot(surface.p, surface.q).max())


def _rmse(depth, surface):
    return rmse(depth, surface.depth)


def _inside(depth, surface):
    return rmse(depth, surface.depth, surface.mask)


# By name, from a depth and the exact surface to a number.
METRICS = {
    "rmse": _rmse,
    "near_jumps": error_near_jumps,
    "border_bias": border_bias,
    "inside": _inside,
    "steps": _steps,
}
