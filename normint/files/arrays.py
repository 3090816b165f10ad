"""The one array of a file that a caller wants: of images, EXR, NPY, NPZ and MAT files, all bits kept."""

import warnings
from contextlib import contextmanager
from io import BytesIO
from math import prod
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from normint.files.exr import read_exr
from normint.files.images import decode_image
from normint.files.mapped import map_npy
from normint.files.matlab import read_matlab
from normint.files.reading import check_room, read_regular

__all__ = ["ARRAYS", "FORMATS", "read_array", "read_arrays", "read_named", "read_table"]

ARRAYS = (".exr", ".npy", ".npz", ".mat")  # by names, if there are several
FORMATS = (".png", ".tif", ".tiff", *ARRAYS, ".jpg", ".jpeg", ".webp", ".hdr")
NUMBERS = "biuf"  # kinds of types: truth values, whole and real numbers


def read_array(path, expected, fits, variable=None, *, alpha=False):
    """Read the one array of a file that fits.

    Parameters
    ----------
    path : path-like
        With a suffix of `FORMATS`.
    expected : str
        What fits, in words.
    fits : callable
        Tells of an array whether it does.
    variable : str, optional
        The array of a file that holds several, by its name; else the only one that fits.
    alpha : bool
        Whether to keep the transparency of images, as a fourth channel.

    Returns
    -------
    ndarray
        Of truth values, whole or real numbers. Images have red first.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        # A missing file is said to be missing, whatever it is called.
        read_regular(path)
        raise ValueError(f"{path} has a name that ends in {suffix!r}; expected one of {', '.join(FORMATS)}")
    if suffix in ARRAYS:
        arrays = read_exr(path, alpha=True) if alpha and suffix == ".exr" else read_arrays(path)
        return _choose(path, arrays, expected, fits, variable)
    image = decode_image(path, alpha=alpha)
    if not fits(image):
        raise ValueError(f"{path} has shape {image.shape}; expected {expected}")
    return image


def read_arrays(path, names=None):
    """Read the arrays of a file that may hold several.

    Parameters
    ----------
    path : path-like
        With a suffix of `ARRAYS`.
    names : list of str, optional
        Those of an NPZ or MAT file to read; by default all. A name that is not there is passed over.

    Returns
    -------
    dict of ndarray
        By their names; that of the only one of an NPY file is "". Nothing is ever unpickled.
    """
    suffix = Path(path).suffix.lower()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of readers about files that they then refuse, or not
        if suffix == ".mat":
            return read_matlab(path, read_regular(path), names)
        if suffix == ".exr":
            return read_exr(path)
        return _read_numpy(path, names)


def read_named(path, **shapes):
    """Read arrays whose names and shapes are known from an NPZ or MAT file.

    Parameters
    ----------
    path : path-like
    **shapes : tuple of int
        By the names of the arrays.

    Returns
    -------
    dict of ndarray
        Of truth values, whole or real numbers, by their names.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "depth.npz"
    >>> np.savez(file, depth=[[1.0, 2.0]], note="of a wall")
    >>> read_named(file, depth=(1, 2))
    {'depth': array([[1., 2.]])}
    """
    found = read_arrays(path, list(shapes))
    for name, shape in shapes.items():
        if name not in found:
            raise ValueError(f"{path} has no variable {name!r}")
        if found[name].shape != tuple(shape) or found[name].dtype.kind not in NUMBERS:
            raise ValueError(f"{path}: {name} has shape {found[name].shape}; expected {shape} numbers")
    return {name: found[name] for name in shapes}


def read_table(path, shape=None):
    """Read finite numbers from a text file, row by row.

    Parameters
    ----------
    path : path-like
    shape : (int, int), optional
        The rows and columns that it must have.

    Returns
    -------
    ndarray of float64
    """
    data = read_regular(path)
    check_room(path, 20 * len(data))  # each number is a text of its own before it is one
    try:
        lines = data.decode("utf-8-sig").splitlines()
        table = np.array([line.split() for line in lines if line.strip()], dtype=np.float64)
    except ValueError:  # words, rows of different lengths, bytes that are no text
        raise ValueError(f"{path} is not a table of numbers") from None
    shape = table.shape if shape is None else tuple(shape)
    if table.shape != shape or not np.isfinite(table).all():
        raise ValueError(f"{path} has a table of {table.shape} numbers; expected {shape}, all finite")
    return table


def _choose(path, arrays, expected, fits, variable):
    """Return the array of that name, or the only one that fits."""
    numbers = {name: array for name, array in arrays.items() if array.dtype.kind in NUMBERS}
    listed = ", ".join(f"{name or 'shape'} {array.shape}" for name, array in arrays.items()) or "nothing"
    if variable is not None and list(arrays) != [""]:
        if variable not in arrays:
            raise ValueError(f"{path} has no variable {variable!r}; it has {listed}")
        numbers = {name: array for name, array in numbers.items() if name == variable}
    fitting = [name for name, array in numbers.items() if fits(array)]
    if not fitting:
        raise ValueError(f"{path} has {listed}; expected {expected}")
    if len(fitting) > 1:
        raise ValueError(f"{path} has several arrays that fit: {', '.join(fitting)}; choose one by its name")
    return numbers[fitting[0]]


def _read_numpy(path, names):
    with _refusing(f"{path} is not a NumPy file of numbers that can be read"):
        if (mapped := map_npy(path)) is not None:
            return {"": mapped}
    data = read_regular(path)
    with _refusing(f"{path} is not a NumPy file of numbers that can be read"):
        members = _members(data, names)
        headers = [_shape_and_bytes(file, length) for file, length in members.values()]
    if headers:
        largest = " × ".join(map(str, max(headers, key=lambda header: header[1])[0]))
        check_room(f"{path} with {largest} numbers", sum(size for _, size in headers))
    with _refusing(f"{path} is not a NumPy file of numbers that can be read"):
        read = np.lib.format.read_array
        return {name: read(file, allow_pickle=False) for name, (file, _) in members.items()}


def _members(data, names):
    """Return the arrays of an NPY or NPZ file as open files, with their lengths, by their names."""
    if not data.startswith(b"PK"):
        return {"": (BytesIO(data), len(data))}
    archive = ZipFile(BytesIO(data))
    found = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    return {
        name: (archive.open(info), info.file_size)
        for name, info in found.items()
        if info.filename.endswith(".npy") and (names is None or name in names)
    }


def _shape_and_bytes(file, length):
    """Return the shape of an array and its bytes, from its header; no more than its file holds."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    size = prod(shape) * dtype.itemsize
    if not 0 <= size <= length:
        raise ValueError("the file is too short for its array")
    file.seek(0)
    return shape, size


@contextmanager
def _refusing(text):
    """Turn whatever a damaged file makes a reader stumble over into one error."""
    try:
        yield
    except Exception as error:
        raise ValueError(text) from error
