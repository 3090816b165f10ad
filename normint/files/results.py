"""A result as a file: its depth, a mesh or a picture of it."""

from io import BytesIO
from pathlib import Path

import numpy as np

from normint.files.images import encode_image
from normint.files.meshes import SUFFIXES, write_mesh
from normint.files.writing import write_whole

__all__ = ["as_npy", "save"]


def save(path, result):
    """Write an Integration to a file, whole or not at all; the name says as what.

    Parameters
    ----------
    path : path-like
        ``.npy``: the depth. One of :data:`normint.files.meshes.SUFFIXES`: the mesh. ``.png``: the picture.
    result : Integration

    Examples
    --------
    >>> save("depth.doc", None)
    Traceback (most recent call last):
    ...
    ValueError: path is depth.doc; expected a name that ends in .npy (depth), .ply, .obj, ...
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        write_whole(path, as_npy(result.depth))
    elif suffix == ".png":
        write_whole(path, encode_image(result.picture(), suffix))
    elif suffix in SUFFIXES:
        write_mesh(path, result.to_mesh())
    else:
        names = f".npy (depth), {', '.join(SUFFIXES)} (mesh) or .png (picture)"
        raise ValueError(f"path is {path}; expected a name that ends in {names}")


def as_npy(array):
    """Return the bytes of an NPY file: numpy's own writing to a file does not say that the disk is full."""
    array, header = np.ascontiguousarray(array), BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    return header.getvalue() + array.data  # a buffer that grows would hold more
