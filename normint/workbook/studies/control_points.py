"""Choose the pixels from which an image is to be restored."""

import numpy as np
from scipy.ndimage import gaussian_laplace

from normint.compiling import njit

CHOICES = ("gradient", "random", "regular", "dithered")


def control_points(image, fraction, choice="gradient", rng=None):
    """Choose the pixels whose colours are kept.

    Parameters
    ----------
    image : array_like of uint8
        rows×cols×3, red, green and blue.
    fraction : float
        How many, as part of all pixels: 0 < fraction ≤ 1. A grid has only nearly so many.
    choice : {"gradient", "random", "regular", "dithered"}
        Where the luminance L of CIE-LAB has the largest gradient, as in the paper; anywhere; on a square
        grid; or as dense as L is curved, see the Notes.
    rng : numpy.random.Generator, optional
        Needed for random points.

    Returns
    -------
    ndarray of bool

    Notes
    -----
    For interpolation by Δz = 0 the best density of points grows with |ΔL| (Belhachmi, Bucur, Burgeth and
    Weickert, 2009). "dithered" takes |ΔL| of the luminance smoothed by one pixel, scaled to the wanted mean
    and cut at 1, and makes points of it by Floyd and Steinberg's error diffusion.

    Examples
    --------
    >>> image = np.zeros((4, 6, 3), np.uint8)
    >>> image[:, 3:] = 255
    >>> control_points(image, 1 / 3)[0]
    array([False, False,  True,  True, False, False])
    """
    image = as_image("image", image)
    if not 0 < fraction <= 1:
        raise ValueError(f"fraction is {fraction!r}; expected a number > 0 and ≤ 1")
    if choice not in CHOICES:
        raise ValueError(f"choice is {choice!r}; expected one of {', '.join(CHOICES)}")
    shape = image.shape[:2]
    count = max(1, round(fraction * shape[0] * shape[1]))
    if choice == "random":
        if rng is None:
            raise ValueError("rng is missing; expected a random generator for random points")
        return _largest(rng.random(shape), count)
    if choice == "regular":
        return _grid(shape, fraction)
    if choice == "gradient":
        return _largest(np.hypot(*np.gradient(luminance(image))), count)
    # The small number spreads points evenly where there is nothing to see.
    curvature = np.abs(gaussian_laplace(luminance(image), 1.0)) + 1e-6
    return _dither(_density(curvature, fraction))


def contours(image):
    """Mark the pixels where the luminance changes at all: for images without shading, both sides of contours.

    Examples
    --------
    >>> image = np.zeros((2, 6, 3), np.uint8)
    >>> image[:, 3:] = 255
    >>> contours(image)[0]
    array([False, False,  True,  True, False, False])
    """
    return np.hypot(*np.gradient(luminance(as_image("image", image)))) > 0


def luminance(image):
    """Compute L of CIE-LAB, from 0 to 100, without the digits in which computers differ."""
    from skimage.color import rgb2lab

    return rgb2lab(image)[..., 0].round(6)


def as_image(name, image):
    """Check a colour image: rows×cols×3 of uint8, and return it as an array.

    Examples
    --------
    >>> as_image("image", np.zeros((4, 4)))
    Traceback (most recent call last):
    ...
    ValueError: image has type float64; expected uint8, colours from 0 to 255
    """
    image = np.asarray(image)
    if image.dtype != np.uint8:
        raise ValueError(f"{name} has type {image.dtype}; expected uint8, colours from 0 to 255")
    if image.ndim != 3 or image.shape[2] != 3 or min(image.shape[:2]) < 2:
        raise ValueError(f"{name} has shape {image.shape}; expected rows×cols×3, at least 2×2 pixels")
    return image


def _largest(values, count):
    """Mark the largest values, exactly so many: of equal ones the first."""
    chosen = np.argsort(-values, axis=None, kind="stable")[:count]
    marks = np.zeros(values.size, dtype=bool)
    marks[chosen] = True
    return marks.reshape(values.shape)


def _grid(shape, fraction):
    counts = [max(1, round(n * fraction**0.5)) for n in shape]
    lines = [((np.arange(k) + 0.5) * n / k).astype(int) for n, k in zip(shape, counts, strict=True)]
    marks = np.zeros(shape, dtype=bool)
    marks[np.ix_(*lines)] = True
    return marks


def _density(values, fraction):
    """Scale positive values so that their mean, when they are cut at 1, is the fraction."""
    low, high = 0.0, 1 / values.min()
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(1, middle * values).mean() < fraction else (low, middle)
    return np.minimum(1, high * values)


@njit()
def _dither(density):
    """Make points of a density: each pixel's error goes on to its neighbours, whole also at the border."""
    rows, cols = density.shape
    rest, marks = density.copy(), np.zeros((rows, cols), np.bool_)
    for i in range(rows):
        for j in range(cols):
            marks[i, j] = rest[i, j] >= 0.5
            error = rest[i, j] - (1.0 if marks[i, j] else 0.0)
            right = 7.0 if j + 1 < cols else 0.0
            left_below = 3.0 if i + 1 < rows and j > 0 else 0.0
            below = 5.0 if i + 1 < rows else 0.0
            right_below = 1.0 if i + 1 < rows and j + 1 < cols else 0.0
            share = error / max(right + left_below + below + right_below, 1.0)
            if right:
                rest[i, j + 1] += right * share
            if below:
                rest[i + 1, j] += below * share
            if left_below:
                rest[i + 1, j - 1] += left_below * share
            if right_below:
                rest[i + 1, j + 1] += right_below * share
    return marks
