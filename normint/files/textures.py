"""Photographs on meshes: what colour a point of the surface has."""

import numpy as np

from normint.extras import extra

__all__ = ["as_texture", "material", "texture_coordinates"]

STRETCH = 1.02  # that a texture may be wider, or narrower, than the depth map


def texture_coordinates(points, shape):
    """Return the places in a picture, from its lower left corner, of points (u, v, …) in an image.

    Parameters
    ----------
    points : ndarray
        Rows and columns. The middle of the first pixel is at 0, 0.
    shape : (int, int)
        Of the image.

    Returns
    -------
    ndarray
        n×2: to the right and up, from 0 to 1.

    Examples
    --------
    >>> texture_coordinates(np.array([[0.0, 0.0], [1.0, 3.0]]), (2, 4))
    array([[0.125, 0.75 ],
           [0.875, 0.25 ]])
    """
    return np.stack([(points[:, 1] + 0.5) / shape[1], 1 - (points[:, 0] + 0.5) / shape[0]], axis=1)


def as_texture(texture, shape):
    """Check a picture of the surface, and return it with 8 bits.

    Parameters
    ----------
    texture : array_like
        rows×columns or rows×columns×3: 8 or 16 bits, or real numbers from 0 to 1.
    shape : (int, int)
        Of the depth map; the texture may have more or fewer pixels.

    Returns
    -------
    ndarray of uint8

    Examples
    --------
    >>> as_texture([[0.0, 1.0]], (2, 4))
    array([[  0, 255]], dtype=uint8)
    >>> as_texture(np.zeros((100, 100)), (100, 150))
    Traceback (most recent call last):
    ...
    ValueError: texture has 100 rows and 100 columns; expected the view of the depth map, 100 and 150, ...
    """
    texture = np.asarray(texture)
    if texture.size == 0 or not (texture.ndim == 2 or (texture.ndim == 3 and texture.shape[2] == 3)):
        raise ValueError(f"texture has shape {texture.shape}; expected (rows, columns) or (rows, columns, 3)")
    rows, columns = texture.shape[:2]
    if not 1 / STRETCH <= rows * shape[1] / (columns * shape[0]) <= STRETCH:
        raise ValueError(
            f"texture has {rows} rows and {columns} columns; expected the view of the depth map, "
            f"{shape[0]} and {shape[1]}, or a multiple"
        )
    if texture.dtype.kind == "f" and not (
        np.isfinite(texture).all() and 0 <= texture.min() <= texture.max() <= 1
    ):
        raise ValueError("texture has real numbers outside 0 to 1; expected those, or 8 or 16 bits")
    if texture.dtype.kind != "f" and texture.dtype not in (np.uint8, np.uint16):
        raise ValueError(f"texture has type {texture.dtype}; expected 8 or 16 bits, or real numbers")
    largest = 1.0 if texture.dtype.kind == "f" else np.iinfo(texture.dtype).max
    return texture if texture.dtype == np.uint8 else np.rint(texture * (255.0 / largest)).astype(np.uint8)


def material(texture, shape):
    """Return a dull material, grey or with a texture as `as_texture` takes it, that all formats can hold."""
    from trimesh.visual.material import PBRMaterial

    # Without these two, viewers take it for polished metal.
    dull = {"metallicFactor": 0.0, "roughnessFactor": 1.0}
    if texture is None:
        return PBRMaterial(baseColorFactor=[200, 200, 200, 255], **dull)
    picture = as_texture(texture, shape)
    with extra("mesh", "a texture"):
        from PIL import Image

    return PBRMaterial(baseColorTexture=Image.fromarray(picture), baseColorFactor=[255] * 4, **dull)
