"""The one array of a file that a caller wants: of PNG, TIFF, EXR, NPY, NPZ and MAT files, all bits kept."""

import os
import sys
import warnings
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np

from normint.images.files import read_bytes, read_image

__all__ = ["ARRAYS", "FORMATS", "hushed", "read_array", "suffix_of"]

ARRAYS = (".npy", ".npz", ".mat")
FORMATS = (".png", ".tif", ".tiff", ".exr", *ARRAYS)


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
        The array of an NPZ or MAT file, by its name; else the only one that fits.

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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of readers about files that they then refuse, or not
            arrays = _read_matlab(path) if suffix == ".mat" else _read_numpy(path)
        return _choose(path, arrays, expected, fits, variable)
    with hushed():
        image = _read_exr(path) if suffix == ".exr" else _read_picture(path, suffix)
    if not fits(image):
        raise ValueError(f"{path} has shape {image.shape}; expected {expected}")
    return image


def _choose(path, arrays, expected, fits, variable):
    """Return the array of that name, or the only one that fits."""
    numbers = {name: array for name, array in arrays.items() if array.dtype.kind in "biuf"}
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


def _read_numpy(path):
    """Read the array of an NPY file, named "", or those of an NPZ file; nothing is unpickled."""
    data = read_bytes(path)
    try:
        loaded = np.load(BytesIO(data), allow_pickle=False)
        return {"": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
    except Exception as error:  # damaged files fail in many ways
        raise ValueError(f"{path} is not a NumPy file of numbers that can be read") from error


def _read_matlab(path):
    from scipy.io import loadmat

    data = read_bytes(path)
    if data.startswith(b"MATLAB 7.3"):
        raise ValueError(f"{path} is a Matlab file of version 7.3; save it with the option '-v7'")
    try:
        found = loadmat(BytesIO(data))
    except Exception as error:  # whatever a damaged file makes the reader stumble over
        raise ValueError(f"{path} is not a Matlab file that can be read: it is damaged or too new") from error
    return {name: array for name, array in found.items() if isinstance(array, np.ndarray)}


def _read_picture(path, suffix):
    """Read an image; TIFF may also have real numbers."""
    if suffix == ".png":
        return read_image(path)
    return _decode(path, "it is damaged, or of another format")


def _read_exr(path):
    """Read an EXR file with OpenEXR or an OpenCV that was built with it."""
    data = read_bytes(path)
    if not data.startswith(b"\x76\x2f\x31\x01"):
        raise ValueError(f"{path} is not an EXR file")
    try:
        import OpenEXR
    except ImportError:
        os.environ.setdefault("OPENCV_IO_ENABLE_OPENEXR", "1")  # OpenCV reads it at the first EXR file
        return _decode(path, "it is damaged, or there is no reader for EXR: pip install OpenEXR")
    try:
        with OpenEXR.File(str(path)) as file:
            channels = {name: np.asarray(channel.pixels) for name, channel in file.channels().items()}
    except Exception as error:  # damaged files fail in many ways
        raise ValueError(f"{path} is not an EXR file that can be read") from error
    colours = next((image[..., :3] for name, image in channels.items() if name in ("RGB", "RGBA")), None)
    if colours is not None:
        return colours
    if len(channels) != 1:
        raise ValueError(f"{path} has the channels {', '.join(channels)}; expected RGB, or one")
    return next(iter(channels.values()))


def _decode(path, otherwise):
    """Read any image that OpenCV reads, real numbers included; red first."""
    import cv2

    data = read_bytes(path)
    try:
        image = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_UNCHANGED) if data else None
    except cv2.error:
        image = None
    if image is None:
        raise ValueError(f"{path} is not an image that can be read: {otherwise}")
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
