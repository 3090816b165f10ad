"""Normal maps, masks, cameras and depths as people keep them: images, NumPy and Matlab files.

What is wrong with a file is said in one `ValueError` that names it.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from normint.files.arrays import ARRAYS, FORMATS, read_array, read_table
from normint.files.cameras import read_camera
from normint.normals.arrays import as_normal_map
from normint.normals.pose import rotation_of

__all__ = [
    "Stored", "block_shapes", "find_files", "read_camera", "read_confidence", "read_depth", "read_mask",
    "read_normals", "read_pose", "read_stored",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Stored:
    """What the files of a normal map hold, as it is stored.

    Attributes
    ----------
    paths : dict
        As from :func:`find_files`.
    normals : ndarray
        As from :func:`read_normals`.
    mask : ndarray of bool or None
    camera : ndarray or None
    """

    paths: dict
    normals: np.ndarray
    mask: np.ndarray | None
    camera: np.ndarray | None

    def check(self, domain):
        """Refuse a domain, the pixels of the mask that have a normal, that is empty."""
        if not domain.any() and self.mask is None:
            raise ValueError(
                f"{self.paths['normals']} has no normal that is finite and not zero; expected some"
            )
        if not domain.any():
            mask, normals = self.paths["mask"], self.paths["normals"]
            raise ValueError(f"{mask} has no pixel where {normals} has a normal; expected some")


def read_stored(path, *, mask=None, camera=None, variable=None):
    """Read the files of a normal map, and refuse those that do not fit together.

    Parameters
    ----------
    path : path-like
        A folder or a file, as for :func:`find_files`.
    mask, camera : path-like, optional
        Other files than those of the folder; "none" for no file.
    variable : str, optional
        As for :func:`read_normals`.

    Returns
    -------
    Stored
    """
    paths = find_files(path)
    for name, given in (("mask", mask), ("camera", camera)):
        if given is not None:
            paths[name] = None if str(given).lower() == "none" else given
    normals, inside = _read_normals(paths["normals"], variable)
    shape = normals.shape[:2]
    if paths["mask"] is not None:
        found = read_mask(paths["mask"], shape)
        inside = found if inside is None else found & inside
    elif inside is not None:
        paths["mask"] = f"the alpha channel of {paths['normals']}"
    camera = None if paths["camera"] is None else read_camera(paths["camera"], shape)
    return Stored(paths, normals, inside, camera)


def find_files(path):
    """Find the normal map, the mask and the camera that a path stands for.

    Parameters
    ----------
    path : path-like
        A folder with `normal_map.png` (or another suffix of `FORMATS`) and, if there are any, `mask.png`
        and `K.txt`; or the file of a normal map, which then stands alone.

    Returns
    -------
    dict
        Of the paths "normals", "mask" and "camera"; None for what is not there.

    Examples
    --------
    >>> find_files("relief.npy")["normals"].name
    'relief.npy'
    """
    path = Path(path)
    if not path.is_dir():
        return {"normals": path, "mask": None, "camera": None}
    found = {
        "normals": _first(path, "normal_map", FORMATS),
        "mask": _first(path, "mask", FORMATS),
        "camera": _first(path, "K", (".txt",)),
    }
    if found["normals"] is None:
        raise FileNotFoundError(f"{path / 'normal_map.png'} is missing; or name a file instead of the folder")
    return found


def read_normals(path, *, variable=None):
    """Read a normal map.

    Parameters
    ----------
    path : path-like
        PNG, TIFF, JPEG or WebP of 8 or 16 bits; TIFF, EXR, HDR, NPY, NPZ or MAT of real numbers.
    variable : str, optional
        Which array of an NPZ or MAT file, or which layer of an EXR file ("Normal.XYZ", say). Not needed if
        only one has three components a pixel.

    Returns
    -------
    ndarray of float16, float32, float64, uint8 or uint16
        rows×columns×3 as :func:`normint.integrate_normals` takes it: the components in the order and with
        the signs of the file, as real numbers or as colours. Real numbers that are colours become vectors,
        see :func:`normint.normals.arrays.as_normal_map`.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "normals.npy"
    >>> np.save(file, [[[0.5, 0.5, 1.0], [0.8, 0.5, 0.9]]])
    >>> read_normals(file)
    array([[[0. , 0. , 1. ],
            [0.6, 0. , 0.8]]])
    """
    return _read_normals(path, variable)[0]


def _read_normals(path, variable):
    """Return a normal map, and where it is opaque or None."""
    values = read_array(path, "three components a pixel", _is_field, variable, alpha=True)
    if values.dtype == bool:
        raise ValueError(f"{path} holds truth values; expected the numbers of a normal map")
    return as_normal_map(values)


def read_mask(path, shape=None):
    """Read a mask: inside is what is brighter than half of the brightest, or True.

    Parameters
    ----------
    path : path-like
        PNG or TIFF of 8 or 16 bits, EXR, NPY, NPZ or MAT; grey or in colour.
    shape : (int, int), optional
        The rows and columns that it must have.

    Returns
    -------
    ndarray of bool
    """

    def fits(array):
        grey = array.shape if array.ndim == 2 else array.shape[:2] if array.shape[2:] == (3,) else None
        return grey is not None and (shape is None or grey == tuple(shape))

    values = read_array(path, "one number a pixel" if shape is None else f"{shape} numbers", fits)
    values = values if values.ndim == 2 else values.max(axis=2)
    mask = values if values.dtype == bool else values > np.nanmax(values, initial=0) / 2
    if not mask.any():
        raise ValueError(f"{path} is empty; expected a mask with something inside")
    return mask


def read_depth(path, shape, *, scale=1.0, coarse=False):
    """Read a depth map, such as a prior.

    Parameters
    ----------
    path : path-like
        NPY, NPZ, MAT, EXR, or a grey PNG or TIFF.
    shape : (int, int)
        The rows and columns that it must have.
    scale : float
        By which the file's numbers are multiplied: 0.001 for whole millimetres, if metres are wanted.
    coarse : bool
        Whether it may have one value for each block of 2×2, 3×3, … pixels.

    Returns
    -------
    ndarray of float64
        NaN where there is none: what is not finite, and 0 in images of whole numbers.
    """
    shapes = block_shapes(shape) if coarse else {tuple(shape): 1}
    expected = f"{tuple(shape)} numbers" + (", or one for each block of 2×2, 3×3, … pixels" if coarse else "")
    values = read_array(path, expected, lambda array: array.shape in shapes)
    depth = scale * values.astype(np.float64)
    unknown = ~np.isfinite(depth)
    if values.dtype.kind == "u":
        unknown |= values == 0
    depth[unknown] = np.nan
    if unknown.all():
        raise ValueError(f"{path} has no finite number; expected a depth")
    return depth


def block_shapes(shape):
    """Return the shapes of images with one value for each square block of pixels, and the sides of these.

    Examples
    --------
    >>> block_shapes((4, 6))
    {(2, 3): 2, (4, 6): 1}
    """
    sides = range(1, max(1, min(shape) // 2) + 1)
    return {tuple(-(-n // side) for n in shape): side for side in reversed(sides)}


def read_confidence(path, shape):
    """Read how much to trust each pixel, from 0 to 1: images of whole numbers are divided by the largest."""
    values = read_array(path, f"{tuple(shape)} numbers", lambda array: array.shape == tuple(shape))
    largest = np.iinfo(values.dtype).max if values.dtype.kind == "u" else 1
    confidence = np.nan_to_num(values.astype(np.float64) / largest, nan=0.0)
    if confidence.min() < 0 or confidence.max() > 1:
        low, high = confidence.min(), confidence.max()
        raise ValueError(f"{path} has numbers from {low:g} to {high:g}; expected a confidence from 0 to 1")
    if not confidence.any():
        raise ValueError(f"{path} is 0 everywhere; expected a confidence above 0 somewhere")
    return confidence


def read_pose(path, *, inverse=False):
    """Read the pose of a camera.

    Parameters
    ----------
    path : path-like
        4×4, 3×4 or 3×3 numbers, as text, NPY, NPZ or MAT.
    inverse : bool
        Whether the matrix leads from the world to the camera, and not from the camera to the world.

    Returns
    -------
    ndarray
        From the camera to the world, as :func:`normint.integrate_normals` takes it.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "pose.txt"
    >>> _ = file.write_text("0 -1 0\\n1 0 0\\n0 0 1")
    >>> read_pose(file, inverse=True)
    array([[ 0.,  1.,  0.],
           [-1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    shapes = ((4, 4), (3, 4), (3, 3))
    expected = "a matrix of 4×4 or 3×3 numbers"
    if Path(path).suffix.lower() in ARRAYS:
        matrix = read_array(path, expected, lambda array: array.shape in shapes).astype(np.float64)
    else:
        matrix = read_table(path)
    if matrix.shape not in shapes:
        raise ValueError(f"{path} has a table of {matrix.shape} numbers; expected {expected}")
    try:
        rotation_of(matrix)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return rotation_of(matrix).T if inverse else matrix


def _first(folder, stem, suffixes):
    return next((file for suffix in suffixes if (file := folder / f"{stem}{suffix}").exists()), None)


def _is_field(array):
    """Tell whether an array has three components a pixel, or alpha as well: last, as usual, or first."""
    return array.ndim == 3 and bool({3, 4} & {array.shape[2], array.shape[0]}) and array.size > 0
