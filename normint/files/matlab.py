"""The arrays of numbers in Matlab files, read so that a damaged file can do no harm.

SciPy's reader of version 5 ends the process, without any error, at some damaged files, and makes room for as
many numbers as a file claims to have. So only older versions, which it reads another way, are left to it.
"""

import struct
import zlib
from io import BytesIO
from itertools import islice
from math import prod

import numpy as np

from normint.files.reading import check_room

__all__ = ["read_matlab"]

_MATRIX, _COMPRESSED = 14, 15  # kinds of elements
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_NUMBERS = range(6, 16)  # classes of matrices; others are texts, cells, structures, objects, sparse
_COMPLEX = 0x800  # among the flags of a matrix
_HEAD = 2**16  # bytes in which flags, shape and name of a matrix stand


def read_matlab(path, data, names=None):
    """Return the arrays of real numbers of a Matlab file up to version 7.

    Parameters
    ----------
    path : path-like
        For messages.
    data : bytes
        What is in the file.
    names : list of str, optional
        Those to read; by default all.

    Returns
    -------
    dict of ndarray
        By their names, in the types they are stored in.
    """
    if data.startswith(b"MATLAB 7.3"):
        raise ValueError(f"{path} is a Matlab file of version 7.3; save it with the option '-v7'")
    if b"\0" in data[:4]:
        return _read_version_4(path, data, names)
    try:
        order = {b"IM": "<", b"MI": ">"}[bytes(data[126:128])]
        found = [_matrix(kind, part, order) for kind, part in _elements(memoryview(data)[128:], order)]
    except (ValueError, LookupError, struct.error, zlib.error) as error:
        raise _damaged(path) from error
    wanted = [matrix for matrix in found if matrix and (names is None or matrix.name in names)]
    if wanted:
        largest = " × ".join(map(str, max((matrix.shape for matrix in wanted), key=prod)))
        check_room(f"{path} with {largest} numbers", sum(matrix.bytes for matrix in wanted))
    try:
        return {matrix.name: matrix.read() for matrix in wanted}
    except (ValueError, LookupError, struct.error, zlib.error) as error:
        raise _damaged(path) from error


class _Matrix:
    """A matrix of real numbers, of which only the beginning has been read."""

    def __init__(self, whole, size, order, shape, name):
        self.whole, self.order, self.shape, self.name = whole, order, shape, name
        self.bytes = size + 8 * prod(shape)

    def read(self):
        """Return the numbers as an array."""
        *_, (kind, values) = islice(_elements(self.whole(), self.order), 4)
        numbers = np.frombuffer(values, np.dtype(_TYPES[kind]).newbyteorder(self.order))
        return numbers.reshape(self.shape, order="F").astype(_TYPES[kind])


def _matrix(kind, part, order):
    """Return the matrix of an element of the file; None if it is something else."""
    size = len(part)
    if kind == _COMPRESSED:
        head = memoryview(zlib.decompressobj().decompress(part, _HEAD))
        kind, size = struct.unpack_from(order + "II", head)
        head, packed = head[8:], part

        def whole():
            unpacking = zlib.decompressobj()
            data = unpacking.decompress(packed, size + 8 + 1)  # one more, to come to the checksum at its end
            if not unpacking.eof:
                raise ValueError("the matrix has another length")
            return memoryview(data)[8:]

    else:
        head = part

        def whole():
            return part

    if kind != _MATRIX:
        return None
    parts = [content for _, content in islice(_elements(head, order), 3)]
    flags = struct.unpack_from(order + "I", parts[0])[0]
    if flags & 0xFF not in _NUMBERS or flags & _COMPLEX or not parts[2]:
        return None
    shape = struct.unpack(f"{order}{len(parts[1]) // 4}i", parts[1])
    if not shape or min(shape) < 0:
        raise ValueError("a shape of nothing")
    return _Matrix(whole, size, order, shape, bytes(parts[2]).decode("latin-1"))


def _elements(data, order):
    """Yield the kinds and contents of the elements of a file or of a matrix."""
    place = 0
    while place + 8 <= len(data):
        kind, size = struct.unpack_from(order + "II", data, place)
        start, step = place + 8, 8 + size
        if kind >> 16:  # so short that it stands beside its kind
            kind, size, start, step = kind & 0xFFFF, kind >> 16, place + 4, 8
        elif kind != _COMPRESSED:
            step += -size % 8
        if start + size > len(data):
            raise ValueError("the file ends too early")
        yield kind, data[start : start + size]
        place += step


def _read_version_4(path, data, names):
    from scipy.io import loadmat

    try:
        found = loadmat(BytesIO(data), variable_names=names)
    except Exception as error:  # whatever a damaged file makes the reader stumble over
        raise _damaged(path) from error
    return {name: array for name, array in found.items() if isinstance(array, np.ndarray)}


def _damaged(path):
    return ValueError(f"{path} is not a Matlab file that can be read: it is damaged or too new")
