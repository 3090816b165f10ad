"""Large files that are mapped into memory instead of read: the system loads what is used, and may drop it."""

import mmap
import struct
from pathlib import Path

import numpy as np

from normint.files.reading import open_regular

__all__ = ["map_npy", "map_tiff", "tiff_tags"]

LARGE = 2**26  # bytes: smaller files are read, and may then be changed by whoever likes to

# Tags of a TIFF, and those without which, or with these values, its pixels simply follow each other.
WIDTH, LENGTH, BITS, SAMPLES = 256, 257, 258, 277
_OFFSETS, _COUNTS, _FORMAT = 273, 279, 339
_PLAIN = {
    259: (1,),
    262: (1, 2),
    266: (1,),
    274: (1,),
    284: (1,),
    317: (1,),
}  # compression, colours, order, …
_TYPES = {(1, 8): "u1", (1, 16): "u2", (3, 16): "f2", (3, 32): "f4", (3, 64): "f8"}
_VALUES = {1: "B", 3: "H", 4: "I", 16: "Q"}  # types of the values of tags


def map_npy(path):
    """Return the array of a large NPY file, or None if it is small or another kind of file.

    A damaged file raises an error of some kind.
    """
    if (begin := _begin_of_large(path)) is None or not begin.startswith(b"\x93NUMPY"):
        return None
    return np.lib.format.open_memmap(path, mode="r")


def map_tiff(path):
    """Return the image of a large TIFF file without compression, or None if it is another kind of file.

    Grey or in colour, of 8 or 16 bits or of real numbers.
    """
    begin = _begin_of_large(path)
    if begin is None or begin[:4] not in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return None
    with open_regular(path) as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        tags = tiff_tags(data)
        rows, columns, samples = tags[LENGTH][0], tags[WIDTH][0], tags.get(SAMPLES, (1,))[0]
        offsets, counts = (np.array(tags[tag], np.int64) for tag in (_OFFSETS, _COUNTS))
        kind = _TYPES.get((*set(tags.get(_FORMAT, (1,))), *set(tags[BITS])))
    except (struct.error, KeyError):
        return None
    plain = all(tags.get(tag, values[:1])[0] in values for tag, values in _PLAIN.items())
    if not plain or kind is None or samples not in (1, 3) or (offsets[1:] != (offsets + counts)[:-1]).any():
        return None
    dtype = np.dtype(kind).newbyteorder("<" if begin[:2] == b"II" else ">")
    size = rows * columns * samples
    if counts.sum() != size * dtype.itemsize or offsets[0] + counts.sum() > len(data):
        return None
    image = np.frombuffer(data, dtype, size, int(offsets[0]))
    return image.reshape((rows, columns, samples) if samples > 1 else (rows, columns))


def tiff_tags(data):
    """Return the values of each tag of a TIFF's first image that holds whole numbers."""
    order = "<" if data[:2] == b"II" else ">"
    big = 43 in (data[2], data[3])  # the form for files above 4 GB, with wider numbers
    place, count, entry, inline = ("Q", "Q", "HHQ", 8) if big else ("I", "H", "HHI", 4)
    (start,) = struct.unpack_from(order + place, data, 8 if big else 4)
    (number,) = struct.unpack_from(order + count, data, start)
    head, tags = struct.calcsize(order + entry), {}
    for k in range(min(number, 200)):
        at = start + struct.calcsize(order + count) + k * (head + inline)
        tag, kind, values = struct.unpack_from(order + entry, data, at)
        if kind in _VALUES and 0 < values <= len(data):
            size = struct.calcsize(_VALUES[kind])
            where = at + head
            if values * size > inline:  # they stand elsewhere
                (where,) = struct.unpack_from(order + place, data, where)
            tags[tag] = struct.unpack_from(f"{order}{values}{_VALUES[kind]}", data, where)
    return tags


def _begin_of_large(path):
    """Return the first bytes of a large plain file, or None."""
    try:
        if Path(path).stat().st_size < LARGE:
            return None
        with open_regular(path) as file:
            return file.read(8)
    except (OSError, ValueError):
        return None  # whoever reads it says why
