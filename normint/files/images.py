"""Image files with all their bits: the common readers reduce 16-bit colours to 8 without a word.

What is wrong with a file is said in one `ValueError` that names it.
"""

import os
import stat
import zlib
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from normint.files.available_memory import check_room
from normint.files.headers import PNG, image_size
from normint.files.writing import write_atomically

__all__ = ["decode_image", "encode_image", "read_bytes", "read_image", "read_mask", "write_image"]

_EXACT = (".png", ".tif", ".tiff")  # other formats lose bits or colours
_MOST_PIXELS, _LONGEST_SIDE = 2**30, 2**20  # that OpenCV reads


def read_image(path, *, bits=None, colour=None, shape=None):
    """Read an image file as it is.

    Parameters
    ----------
    path : path-like
        PNG, TIFF, or another format that OpenCV reads.
    bits : {8, 16}, optional
        Refuse another depth.
    colour : bool, optional
        Refuse grey images, or coloured ones. Transparency is dropped.
    shape : (int, int), optional
        Refuse other numbers of rows and columns.

    Returns
    -------
    ndarray of uint8 or uint16
        rows×columns, or rows×columns×3: red, green, blue.
    """
    image = decode_image(path)
    found = 8 * image.dtype.itemsize
    if image.dtype.kind != "u" or (bits is not None and found != bits):
        raise ValueError(f"{path} has {found} bits a channel; expected {bits or '8 or 16'}")
    if colour is not None and colour != (image.ndim == 3):
        kinds = ("grey", "in colour")
        raise ValueError(f"{path} is {kinds[not colour]}; expected an image {kinds[colour]}")
    if shape is not None and image.shape[:2] != tuple(shape):
        raise ValueError(f"{path} has {image.shape[:2]} rows and columns; expected {tuple(shape)}")
    return image


def read_mask(path, shape=None):
    """Read a mask: inside is where an image is brighter than half of its brightest value."""
    image = read_image(path, shape=shape)
    mask = (image if image.ndim == 2 else image.max(axis=2)) > image.max() / 2
    if not mask.any():
        raise ValueError(f"{path} is black; expected a mask with something inside")
    return mask


def write_image(path, image):
    """Write an image of 8 or 16 bits, grey or in colour (red, green, blue), as PNG or TIFF.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "ramp.png"
    >>> ramp = np.linspace(0, 65535, 12).astype(np.uint16).reshape(2, 2, 3)
    >>> write_image(path, ramp)
    >>> bool((read_image(path, bits=16) == ramp).all())
    True
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _EXACT:
        raise ValueError(f"path is {path}; expected a name that ends in {', '.join(_EXACT)}")
    data = encode_image(image, suffix)
    with write_atomically(path) as temporary:
        temporary.write_bytes(data)


def encode_image(image, suffix):
    """Return the bytes of an image file, ".png" or ".tiff", of 8 or 16 bits, grey or in colour."""
    import cv2

    image = np.asarray(image)
    if image.dtype not in (np.uint8, np.uint16):
        raise ValueError(f"image has type {image.dtype}; expected uint8 or uint16")
    if image.size == 0 or not (image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 3)):
        raise ValueError(f"image has shape {image.shape}; expected (rows, columns) or (rows, columns, 3)")
    _, data = cv2.imencode(suffix, image[..., ::-1] if image.ndim == 3 else image)
    return data.tobytes()


def decode_image(path):
    """Read any image that OpenCV reads, real numbers included, if there is the memory for it; red first."""
    import cv2

    data = read_bytes(path)
    if size := image_size(data):
        rows, columns, depth = size
        what = f"{path} of {rows} × {columns} pixels"
        check_room(what, 2 * rows * columns * depth)  # as it is decoded, and with the red first
        if rows * columns > _MOST_PIXELS or max(rows, columns) > _LONGEST_SIDE:
            raise ValueError(f"{what} is larger than images that OpenCV reads; save it as NPY")
    if data.startswith(PNG):
        _check_png(path, data)
    try:
        image = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_UNCHANGED) if data else None
    except cv2.error:
        image = None
    if image is None:
        raise ValueError(f"{path} is not an image that can be read: it is damaged, or of another format")
    return np.ascontiguousarray(image[..., 2::-1]) if image.ndim == 3 else image  # OpenCV keeps blue first


def read_bytes(path):
    """Read a plain file, or raise one error that names it; a pipe or a device might never end."""
    with _naming(path):
        found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a pipe or a device"
        raise ValueError(f"{path} cannot be read: it is {kind}; expected a plain file")
    check_room(path, found.st_size)
    with _naming(path):
        return Path(path).read_bytes()


@contextmanager
def _naming(path):
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} is missing") from None
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise ValueError(f"{path} cannot be read: {getattr(error, 'strerror', error)}") from error


def _check_png(path, data):
    """Walk through the chunks of a PNG: all there, none changed."""
    place = len(PNG)
    while place + 12 <= len(data):
        length = int.from_bytes(data[place : place + 4], "big")
        end = place + 12 + length
        kind = data[place + 4 : place + 8]
        if end > len(data):
            break
        if zlib.crc32(data[place + 4 : end - 4]) != int.from_bytes(data[end - 4 : end], "big"):
            raise ValueError(f"{path} is damaged: the checksum of its part {kind!r} is wrong")
        if kind == b"IEND":
            return
        place = end
    raise ValueError(f"{path} ends too early: it is a part of a PNG file")
