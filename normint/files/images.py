"""Image files with all their bits: the common readers reduce 16-bit colours to 8 without a word.

What is wrong with a file is said in one `ValueError` that names it.
"""

import os
import struct
import sys
import zlib
from contextlib import suppress
from pathlib import Path
from threading import Lock

import cv2
import numpy as np

from normint.files.mapped import BITS, LENGTH, SAMPLES, WIDTH, map_tiff, tiff_tags
from normint.files.reading import check_room, read_regular
from normint.files.writing import write_whole

__all__ = [
    "decode_image", "encode_image", "hushed", "image_size", "read_image", "write_image",
]  # fmt: skip

PNG = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 4, 4: 4, 6: 4}  # of a PNG by its type of colour, as they are decoded
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
    write_whole(path, encode_image(image, suffix))


def encode_image(image, suffix):
    """Return the bytes of an image file, ".png" or ".tiff", of 8 or 16 bits, grey or in colour.

    A ".tiff" may have real numbers of 32 bits as well.
    """
    image = np.asarray(image)
    if image.dtype not in (np.uint8, np.uint16) and (image.dtype, suffix) != (np.float32, ".tiff"):
        raise ValueError(f"image has type {image.dtype}; expected uint8 or uint16")
    if image.size == 0 or not (image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 3)):
        raise ValueError(f"image has shape {image.shape}; expected (rows, columns) or (rows, columns, 3)")
    _, data = cv2.imencode(suffix, image[..., ::-1] if image.ndim == 3 else image)
    return data.tobytes()


def decode_image(path, *, alpha=False):
    """Read any image that OpenCV reads, real numbers included, if there is the memory for it; red first.

    Transparency is dropped, or with `alpha` the fourth channel.
    """
    if (mapped := map_tiff(path)) is not None:
        return mapped
    data = read_regular(path)
    if size := image_size(data):
        rows, columns, depth = size
        what = f"{path} of {rows} × {columns} pixels"
        check_room(what, 2 * rows * columns * depth)  # as it is decoded, and with the red first
        if rows * columns > _MOST_PIXELS or max(rows, columns) > _LONGEST_SIDE:
            raise ValueError(f"{what} is larger than images that OpenCV reads; save it as NPY")
    if data.startswith(PNG):
        _check_png(path, data)
    try:
        with hushed:
            image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED) if data else None
    except cv2.error:
        image = None
    if image is None:
        raise ValueError(f"{path} is not an image that can be read: it is damaged, or of another format")
    if image.ndim == 2:
        return image
    order = [2, 1, 0, 3] if alpha and image.shape[2] == 4 else [2, 1, 0]  # OpenCV keeps blue first
    return np.ascontiguousarray(image[..., order])


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


def image_size(data):
    """Return rows, columns and bytes a pixel of a PNG or TIFF file; None if it is another, or damaged.

    Examples
    --------
    >>> header = struct.pack(">I4sIIBBBBB", 13, b"IHDR", 640, 480, 16, 2, 0, 0, 0)
    >>> image_size(PNG + header)
    (480, 640, 6)
    >>> image_size(b"GIF89a")
    """
    try:
        if data.startswith(PNG):
            columns, rows, bits, colours = struct.unpack_from(">IIBB", data, 16)
            return rows, columns, _CHANNELS.get(colours, 4) * (2 if bits == 16 else 1)
        if data[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
            tags = {tag: values[0] for tag, values in tiff_tags(data).items()}
            return tags[LENGTH], tags[WIDTH], tags.get(SAMPLES, 1) * -(-tags.get(BITS, 1) // 8)
    except (struct.error, KeyError):
        pass
    return None


class Hushed:
    """Keep the image libraries, written in C, from writing to the terminal about files they refuse.

    Standard error goes nowhere as long as any thread wants it so, and then back to where it was. The stream
    is the process's: what other threads write to it meanwhile is not seen either.
    """

    def __init__(self):
        self.lock, self.wanted, self.kept = Lock(), 0, None

    def __enter__(self):
        with self.lock:
            self.wanted += 1
            if self.wanted == 1:
                if sys.stderr is not None:
                    sys.stderr.flush()
                self.kept = None
                with suppress(OSError), open(os.devnull, "wb") as nowhere:
                    self.kept = os.dup(2)  # it fails where standard error is closed
                    os.dup2(nowhere.fileno(), 2)

    def __exit__(self, *_):
        with self.lock:
            self.wanted -= 1
            if self.wanted == 0 and self.kept is not None:
                os.dup2(self.kept, 2)
                os.close(self.kept)


hushed = Hushed()
