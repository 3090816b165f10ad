"""Photographs of a surface: Lambert's law, shadows, noise, and whole numbers as a camera gives them."""

import numpy as np

from normint.compiling import njit
from normint.inputs import as_field, as_mask, as_positive
from normint.normals.convert import gradient_to_normals

__all__ = ["cast_shadow", "photograph"]

NEAR = 1e-9  # a ray that passes a pixel's centre this closely passes through it, whatever the rounding


def photograph(
    surface, lights, *, albedo=1.0, intensities=None, mask=None, noise=0.0, rng=None, bits=16, exposure=0.9,
):  # fmt: skip
    """Photograph a surface under one light after another.

    Parameters
    ----------
    surface : Surface
    lights : array_like
        count×3: the directions to the lights, along u (down), v (right) and z (towards the camera); their
        lengths count as intensities.
    albedo : float or array_like
        The surface's own brightness: one number, one per pixel, or rows×columns×3 for a coloured surface.
        Not read outside the mask.
    intensities : array_like, optional
        How strong each light is: count numbers, or count×3 for coloured light. 1 by default.
    mask : array_like, optional
        Where there is a surface; elsewhere is nothing, which is black and casts no shadow. By default
        everywhere.
    noise : float
        Standard deviation of the camera's noise, as a fraction of the brightest pixel of all images.
    rng : numpy.random.Generator, optional
        Where the noise comes from; needed if there is any.
    bits : {8, 16}
    exposure : float
        The brightest pixel without noise, as a fraction of the largest number.

    Returns
    -------
    ndarray of uint8 or uint16
        count×rows×columns, with a last axis of 3 where albedo or intensities have colours.

    Notes
    -----
    I = e·ρ·max(0, n·l), and 0 where the way to the light is blocked. n·l ≤ 0 is an attached shadow.

    Examples
    --------
    >>> from normint.surfaces import vase
    >>> images = photograph(vase(32), [[0, 0, 1], [0, 0.6, 0.8]], exposure=0.8)
    >>> images.shape, images.dtype, int(images.max())
    ((2, 32, 32), dtype('uint16'), 52428)
    """
    lights = _as_lights("lights", lights)
    mask = as_mask(mask, surface.depth.shape)
    if bits not in (8, 16):
        raise ValueError(f"bits is {bits!r}; expected 8 or 16")
    exposure = as_positive("exposure", exposure)
    if noise and not (as_positive("noise", noise) and isinstance(rng, np.random.Generator)):
        raise ValueError(f"rng is a {type(rng).__name__}; expected a numpy.random.Generator")
    albedo = np.asarray(albedo, dtype=np.float64)
    intensities = np.ones(len(lights)) if intensities is None else np.asarray(intensities, dtype=np.float64)
    if intensities.shape not in ((len(lights),), (len(lights), 3)):
        raise ValueError(f"intensities has shape {intensities.shape}; expected one number or three per light")
    if albedo.shape not in ((), mask.shape, (*mask.shape, 3)):
        raise ValueError(f"albedo has shape {albedo.shape}; expected (), {mask.shape} or three of these")
    if albedo.ndim:
        albedo = np.where(mask if albedo.ndim == 2 else mask[..., np.newaxis], albedo, 0.0)
    for name, values in (("albedo", albedo), ("intensities", intensities)):
        if not (np.isfinite(values) & (values >= 0)).all():
            raise ValueError(f"{name} has values that are negative, NaN or infinite; expected numbers ≥ 0")
    coloured = albedo.ndim == 3 or intensities.ndim == 2
    normals = gradient_to_normals(surface.p, surface.q)
    shape = (len(lights), *mask.shape) + ((3,) if coloured else ())
    images = np.zeros(shape)
    for image, light, strength in zip(images, lights, intensities, strict=True):
        shading = np.where(mask & ~cast_shadow(surface.depth, light, mask), np.maximum(normals @ light, 0), 0)
        if coloured:
            shading = shading[..., np.newaxis]
            image[...] = (albedo if albedo.ndim == 3 else albedo[..., np.newaxis]) * shading * strength
        else:
            image[...] = albedo * shading * strength
    largest, brightest = 2**bits - 1, images.max()
    if not brightest > 0:
        raise ValueError("lights leave the surface black; expected one that reaches it")
    photographs = np.empty(shape, dtype=np.uint8 if bits == 8 else np.uint16)
    for seen, image in zip(photographs, images, strict=True):
        image *= exposure * largest / brightest
        if noise:
            image += noise * exposure * largest * rng.standard_normal(image.shape)
        seen[...] = np.clip(np.rint(image), 0, largest)
    return photographs


def cast_shadow(depth, light, mask=None):
    """Find the pixels from which the way to the light is blocked by the surface itself.

    Parameters
    ----------
    depth : array_like
        In pixels, towards the camera.
    light : array_like
        The direction to the light, along u, v and z; z > 0.
    mask : array_like, optional
        Where there is a surface; by default everywhere.

    Returns
    -------
    ndarray of bool

    Notes
    -----
    From each pixel we walk towards the light, pixel by pixel, and compare the height of the ray with the
    depth interpolated there. The walk ends above the highest point. One pixel of depth is forgiven, or the
    curvature of a lit surface would throw shadows on itself.

    Examples
    --------
    A wall 10 pixels high, lit from the left at 45°:

    >>> depth = np.where(np.arange(40) == 10, 10.0, 0.0) * np.ones((3, 1))
    >>> int(cast_shadow(depth, [0.0, -1.0, 1.0])[1].sum())
    8
    """
    light = _as_lights("light", [light])[0]
    depth = np.asarray(depth, dtype=np.float64)
    mask = as_mask(mask, depth.shape)
    depth = np.where(mask, as_field("depth", depth, mask), -np.inf)
    sideways = np.hypot(light[0], light[1])
    if sideways == 0:
        return np.zeros(mask.shape, dtype=bool)
    step_u, step_v, rise = light / sideways
    return _shadow(depth, mask, step_u, step_v, rise, depth.max())


@njit()
def _shadow(depth, mask, step_u, step_v, rise, highest):
    rows, columns = depth.shape
    shadow = np.zeros(depth.shape, dtype=np.bool_)
    for i in range(rows):
        for j in range(columns):
            if not mask[i, j]:
                continue
            u, v, height = i + 0.0, j + 0.0, depth[i, j] + 1.0
            while height < highest:
                u += step_u
                v += step_v
                height += rise
                if not (-NEAR < u < rows - 1 + NEAR and -NEAR < v < columns - 1 + NEAR):
                    break
                r, c = int(u + NEAR), int(v + NEAR)
                a, b = u - r, v - c
                below, beside = r + int(a > NEAR), c + int(b > NEAR)  # neighbours that have a part in it
                above = (1 - a) * ((1 - b) * depth[r, c] + b * depth[r, beside])
                above += a * ((1 - b) * depth[below, c] + b * depth[below, beside])
                if above > height:  # false where a neighbour is outside: −∞, or NaN for a weight of 0
                    shadow[i, j] = True
                    break
    return shadow


def _as_lights(name, values):
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != 3 or not values.size or not np.isfinite(values).all():
        raise ValueError(f"{name} has shape {values.shape}; expected rows of 3 finite numbers")
    behind = values[~(values[:, 2] > 0)]
    if behind.size:
        raise ValueError(f"{name} has {behind[0].tolist()}; expected lights before the surface, with z > 0")
    return values
