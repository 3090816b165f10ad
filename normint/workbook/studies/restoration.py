"""Restore a colour image from a few pixels, by integrating a gradient that is zero almost everywhere."""

import numpy as np
from scipy.ndimage import uniform_filter

from normint.inputs import as_count, as_mask
from normint.integration import integrate_quietly
from normint.workbook.progress import bar
from normint.workbook.studies.control_points import as_image

SLOPES = {
    "central": np.gradient,  # one-sided on the border
    "forward": lambda z: [np.diff(z, axis=k, append=np.take(z, [-1], axis=k)) for k in range(2)],
    None: lambda z: np.zeros((2, *z.shape)),
}


def restore(
    image, keep, *, gradient="central", prior_weight=10.0, elsewhere=1e-9, method="mumford_shah", **options
):  # fmt: skip
    """Restore an image from its control points, each channel by itself.

    Parameters
    ----------
    image : array_like of uint8
        rows×cols×3. Only what is kept is looked at.
    keep : array_like of bool
        The control points, rows×cols.
    gradient : {"central", "forward", None}
        The differences by which the gradient of the colours is kept at the control points; None sets it to
        zero there too, as it is elsewhere.
    prior_weight, elsewhere : float
        λ at the control points, where z⁰ is the colour, and at other pixels, where z⁰ = 0.
    method : str
        Of :func:`normint.integrate`.
    **options
        Of the method. They are for colours from 0 to 255.

    Returns
    -------
    ndarray of uint8
        Rounded, and clipped to the range 0 to 255.

    Notes
    -----
    An edge of the grid is seen by its two pixels, and the integrators take the mean of what they say: between
    a control point of slope p and another pixel, p/2. Between two control points the colours decide.

    Examples
    --------
    Two colours, from the pixels along the border between them:

    >>> image = np.zeros((4, 6, 3), np.uint8)
    >>> image[:, 3:] = 200
    >>> keep = np.zeros((4, 6), bool)
    >>> keep[:, 2:4] = True
    >>> restore(image, keep, gradient=None, mu=1.0)[0, :, 0]
    array([  0,   0,   0, 200, 200, 200], dtype=uint8)
    """
    image = as_image("image", image)
    keep = as_mask(keep, image.shape[:2])
    if gradient not in SLOPES:
        raise ValueError(f"gradient is {gradient!r}; expected central, forward or None")
    weight = np.where(keep, prior_weight, elsewhere)
    restored = np.empty(image.shape)
    for channel in bar(range(3), method):
        z = image[..., channel].astype(np.float64)
        p, q = (np.where(keep, slope, 0.0) for slope in SLOPES[gradient](z))
        prior = np.where(keep, z, 0.0)
        result = integrate_quietly(p, q, method=method, prior=prior, prior_weight=weight, **options)
        restored[..., channel] = result.depth
    return np.clip(np.rint(restored), 0, 255).astype(np.uint8)


def psnr(image, restored):
    """Compute the peak signal to noise ratio over the three channels, in dB; infinite for equal images.

    Parameters
    ----------
    image, restored : array_like of uint8
        rows×cols×3.

    Notes
    -----
    PSNR = 10 log₁₀(255² / mean squared difference).

    Examples
    --------
    >>> image = np.full((8, 8, 3), 100, np.uint8)
    >>> round(psnr(image, image + np.uint8(1)), 2)
    48.13
    """
    image, restored = _as_pair(image, restored)
    error = np.mean(np.subtract(image, restored, dtype=np.float64) ** 2)
    return float(10 * np.log10(255**2 / error)) if error else np.inf


def ssim(image, restored):
    """Compute the structural similarity, the mean over the channels; 1 for equal images.

    Parameters
    ----------
    image, restored : array_like of uint8
        rows×cols×3, at least 7×7 pixels.
    """
    from skimage.metrics import structural_similarity

    image, restored = _as_pair(image, restored)
    if min(image.shape[:2]) < 7:
        raise ValueError(f"image has {image.shape[0]}×{image.shape[1]} pixels; expected at least 7×7")
    return float(structural_similarity(image, restored, channel_axis=-1))


def numbers_kept(keep, gradient=True):
    """Count what is kept, as parts of the numbers (three a pixel) of the image.

    Parameters
    ----------
    keep : array_like of bool
    gradient : bool
        Whether the gradient of the colours, by central differences, is kept as well.

    Returns
    -------
    colours : float
    slopes : float
        Two for each colour, less those that the kept colours give anyway: of a control point between two
        others, or on the image's border beside another one.

    Examples
    --------
    Five pixels in a row, three of them kept. The middle one's slope to the right is known from the others:

    >>> numbers_kept([[0, 1, 1, 1, 0]])
    (0.6, 0.4)
    """
    keep = np.asarray(keep)
    keep = as_mask(keep, keep.shape)
    if not gradient:
        return float(keep.mean()), 0.0
    missing = 0
    for axis in range(2):
        if keep.shape[axis] > 1:  # else there is no slope
            # The differences on the border are one-sided: there the pixel itself, which is kept, is used.
            padded = np.pad(keep, [(1, 1) if k == axis else (0, 0) for k in range(2)], mode="edge")
            before, after = np.delete(padded, [-2, -1], axis), np.delete(padded, [0, 1], axis)
            missing += np.count_nonzero(keep & ~(before & after))
    return float(keep.mean()), float(missing / keep.size)


def most_different_window(first, second, side):
    """Find the square in which two images differ most.

    Parameters
    ----------
    first, second : ndarray
        rows×cols×3.
    side : int
        Of the square, at most that of the images.

    Returns
    -------
    (slice, slice)
    """
    if not 1 <= as_count("side", side) <= min(first.shape[:2]):
        raise ValueError(f"side is {side}; expected a whole number from 1 to {min(first.shape[:2])}")
    difference = np.abs(np.subtract(first, second, dtype=np.float64)).mean(axis=-1)
    half, rest = side // 2, side - side // 2
    rows, cols = difference.shape
    inside = uniform_filter(difference, side)[half : rows - rest + 1, half : cols - rest + 1]
    i, j = np.unravel_index(inside.argmax(), inside.shape)
    return slice(int(i), int(i) + side), slice(int(j), int(j) + side)


def cartoon(n=192, discs=12, rng=None):
    """Draw discs of one colour each, without shading: what a piecewise-constant model is made for.

    Parameters
    ----------
    n : int
        Side of the image.
    discs : int
    rng : numpy.random.Generator
        Where they are, how large, and which colours they have.

    Returns
    -------
    ndarray of uint8
        n×n×3.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    u, v = np.ogrid[:n, :n]
    image = np.full((n, n, 3), 200, np.uint8)
    for _ in range(discs):
        row, column = rng.uniform(0, n, 2)
        radius = n * rng.uniform(0.08, 0.25)
        image[(u - row) ** 2 + (v - column) ** 2 < radius**2] = rng.integers(0, 256, 3)
    return image


def _as_pair(image, restored):
    image, restored = as_image("image", image), as_image("restored", restored)
    if restored.shape != image.shape:
        raise ValueError(f"restored has shape {restored.shape}; expected {image.shape}, the shape of image")
    return image, restored
