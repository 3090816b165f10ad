"""The one array of a file that a caller wants: of PNG, TIFF, EXR, NPY, NPZ and MAT files, all bits kept."""

import os
import sys
import warnings
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np

from normint.exr_files import read_exr
from normint.images.files import read_bytes, read_image

__all__ = [
    "ARRAYS", "FORMATS", "hushed", "read_array", "read_arrays", "read_named", "read_table", "suffix_of",
]  # fmt: skip

ARRAYS = (".exr", ".npy", ".npz", ".mat")  # by names, if there are several
FORMATS = (".png", ".tif", ".tiff", *ARRAYS)
NUMBERS = "biuf"  # kinds of types: truth values, whole and real numbers


def suffix_of(path):
    """Return the end of a file's name that tells its format, in small letters."""
    return Path(path).suffix.lower()


def read_array(path, expected, fits, variable):
    """Read the one array of a file that fits.

    Parameters
    ----------
    path : path-like
        With a suffix of `FORMATS`.
    expected : str
        What fits, in words.
    fits : callable
        Tells of an array whether it does.
    variable : str or None
        The array of a file that holds several, by its name; else the only one that fits.

    Returns
    -------
    ndarray
        Of truth values, whole or real numbers. Images have red first.
    """
    suffix = suffix_of(path)
    if suffix not in FORMATS:
        # A missing file is said to be missing, whatever it is called.
        read_bytes(path)
        raise ValueError(f"{path} has a name that ends in {suffix!r}; expected one of {', '.join(FORMATS)}")
    if suffix in ARRAYS:
        return _choose(path, read_arrays(path), expected, fits, variable)
    with hushed():
        image = _read_picture(path, suffix)
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
    suffix = suffix_of(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of readers about files that they then refuse, or not
        if suffix == ".mat":
            return _read_matlab(path, names)
        if suffix == ".exr":
            with hushed():
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


def read_table(path, shape):
    """Read finite numbers from a text file, row by row.

    Parameters
    ----------
    path : path-like
    shape : (int, int)
        The rows and columns that it must have.

    Returns
    -------
    ndarray of float64
    """
    data = read_bytes(path)
    try:
        lines = data.decode("utf-8-sig").splitlines()
        table = np.array([line.split() for line in lines if line.strip()], dtype=np.float64)
    except ValueError:  # words, rows of different lengths, bytes that are no text
        raise ValueError(f"{path} is not a table of numbers") from None
    if table.shape != tuple(shape) or not np.isfinite(table).all():
        raise ValueError(f"{path} has a table of {table.shape} numbers; expected {tuple(shape)}, all finite")
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
    data = read_bytes(path)
    try:
        loaded = np.load(BytesIO(data), allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"": loaded}
        return {name: loaded[name] for name in loaded.files if names is None or name in names}
    except Exception as error:  # damaged files fail in many ways
        raise ValueError(f"{path} is not a NumPy file of numbers that can be read") from error


def _read_matlab(path, names):
    from scipy.io import loadmat

    data = read_bytes(path)
    if data.startswith(b"MATLAB 7.3"):
        raise ValueError(f"{path} is a Matlab file of version 7.3; save it with the option '-v7'")
    try:
        found = loadmat(BytesIO(data), variable_names=names)
    except Exception as error:  # whatever a damaged file makes the reader stumble over
        raise ValueError(f"{path} is not a Matlab file that can be read: it is damaged or too new") from error
    return {name: array for name, array in found.items() if isinstance(array, np.ndarray)}


def _read_picture(path, suffix):
    """Read an image; TIFF may also have real numbers."""
    return read_image(path) if suffix == ".png" else _decode(path)


def _decode(path):
    """Read any image that OpenCV reads, real numbers included; red first."""
    import cv2

    data = read_bytes(path)
    try:
        image = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_UNCHANGED) if data else None
    except cv2.error:
        image = None
    if image is None:
        raise ValueError(f"{path} is not an image that can be read: it is damaged, or of another format")
    return np.ascontiguousarray(image[..., 2::-1]) if image.ndim == 3 else image


@contextmanager
def hushed():
    """Keep the image libraries, written in C, from writing to the terminal about files they refuse."""
    sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:  # there is no stderr
        yield
        return
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
