"""Poisson image editing: the slopes of one picture inside a shape, the colours of another around it."""

import numpy as np

from normint.inputs import as_mask
from normint.integration import integrate_quietly
from normint.workbook.studies.control_points import as_image

__all__ = ["clone", "seam"]


def clone(target, source, shape):
    """Put a part of one picture into another so that no seam is seen.

    Parameters
    ----------
    target, source : array_like of uint8
        rows×cols×3 each.
    shape : array_like of bool
        Where the source goes; it may not touch the border of the image.

    Returns
    -------
    ndarray of uint8

    Notes
    -----
    Each channel is integrated by least squares on the shape and its neighbours. The slopes are those of the
    source; the neighbours are control points, which have the colours of the target.
    """
    target, source = as_image("target", target), as_image("source", source)
    shape = as_mask(shape, target.shape[:2])
    rim = _rim(shape)
    result = target.copy()
    for channel in range(3):
        p, q = np.gradient(source[..., channel].astype(float))
        prior = np.where(rim, target[..., channel], 0.0)
        z = integrate_quietly(p, q, shape | rim, prior=prior, prior_weight=np.where(rim, 1e6, 0.0)).depth
        result[..., channel] = np.where(
            shape, np.clip(np.rint(np.where(shape, z, 0)), 0, 255), result[..., channel]
        )
    return result


def seam(image, shape):
    """Measure the mean difference of colours across the outline of a shape, in levels of 255."""
    image = as_image("image", image).astype(float)
    shape = as_mask(shape, image.shape[:2])
    steps = [np.abs(np.diff(image, axis=axis)).mean(axis=-1)[np.diff(shape, axis=axis)] for axis in (0, 1)]
    return float(np.concatenate(steps).mean())


def _rim(shape):
    from scipy.ndimage import binary_dilation

    if shape[[0, -1]].any() or shape[:, [0, -1]].any() or not shape.any():
        raise ValueError("shape must have pixels, and none on the border of the image")
    return binary_dilation(shape) & ~shape
