"""Cameras in files: the matrix K as text, in whichever order, and maps of rays."""

import numpy as np

from normint.files.arrays import read_array
from normint.files.reading import check_room
from normint.files.tables import read_matrix
from normint.normals.rays import Rays

__all__ = ["read_camera", "read_rays"]

MEMORY_OF_RAYS = 300  # bytes a pixel: rays, their derivatives, and what making them takes
EXPECTED = "the rows (f_x, 0, c_x), (0, f_y, c_y) and (0, 0, 1)"


def read_camera(path, shape):
    """Read a camera matrix from a text file, in whichever order.

    Parameters
    ----------
    path : path-like
        Nine numbers in three lines or in one. By rows or by columns (transposed, as Fortran and Matlab store
        it): the row or column 0 0 1 is the last. x or y first: in the image, the centre is near the middle.
        Or twelve or sixteen numbers, a 3×4 or 4×4 matrix, if what is added is that of the identity.
    shape : (int, int)
        Rows and columns of the image: the centre is near their half, which tells x from y.

    Returns
    -------
    ndarray
        3×3, the row of x (columns) first.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "K.txt"
    >>> _ = file.write_text("0 510 240\\n500 0 320\\n0 0 1")
    >>> read_camera(file, (480, 640))
    array([[500.,   0., 320.],
           [  0., 510., 240.],
           [  0.,   0.,   1.]])
    """
    matrix = _by_rows(path, read_matrix(path))
    x, y, _ = matrix
    rows, columns = shape
    swapped = x[0] == y[1] == 0  # the rows are (0, f_y, c_y) and (f_x, 0, c_x)
    if swapped or (
        abs(x[2] - rows / 2) + abs(y[2] - columns / 2) < abs(x[2] - columns / 2) + abs(y[2] - rows / 2)
    ):
        x, y = y, x
    fx, fy = max(x[:2]), max(y[:2])  # the other number of each row is 0
    if np.count_nonzero(matrix[:2, :2]) != 2 or not (fx > 0 and fy > 0):
        raise ValueError(f"{path} is not the matrix of a camera; expected {EXPECTED}")
    return np.array([[fx, 0, x[2]], [0, fy, y[2]], [0, 0, 1]])


def read_rays(path, shape, axes="opencv"):
    """Read a map of rays: the direction in which each pixel looks.

    Parameters
    ----------
    path : path-like
        EXR, NPY, NPZ, MAT or TIFF of real numbers, of any length: rows×columns×3, or the three first. Zero
        or NaN where the camera sees nothing.
    shape : (int, int)
        Rows and columns of the image.
    axes : str
        As for :class:`normint.normals.rays.Rays`.

    Returns
    -------
    Rays
    """
    wanted = (*shape, 3), (3, *shape)
    values = read_array(path, f"{wanted[0]} numbers", lambda array: array.shape in wanted)
    if values.dtype.kind != "f":
        raise ValueError(
            f"{path} has numbers of type {values.dtype}; expected real numbers of 32 bits or more"
        )
    if values.shape != wanted[0]:
        values = np.moveaxis(values, 0, 2)
    check_room(f"{path} of {shape[0]} × {shape[1]} pixels", MEMORY_OF_RAYS * shape[0] * shape[1])
    try:
        return Rays(values, axes)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _by_rows(path, numbers):
    """Return the 3×3 matrix that numbers stand for, its last row 0 0 1."""
    shapes = {9: [(3, 3)], 12: [(3, 4), (4, 3)], 16: [(4, 4)]}.get(numbers.size)
    if shapes is None or (len(numbers) > 1 and numbers.shape not in shapes):
        found = " × ".join(map(str, numbers.shape))
        raise ValueError(f"{path} has {found} numbers; expected 3 × 3: {EXPECTED}")
    for shape in shapes if len(numbers) == 1 else [numbers.shape]:
        for matrix in (numbers.reshape(shape), numbers.reshape(shape).T):
            trivial = np.eye(*matrix.shape)
            if (
                matrix[2].tolist() == trivial[2].tolist()
                and np.array_equal(np.delete(matrix, np.s_[:3], 1), np.delete(trivial, np.s_[:3], 1))
                and np.array_equal(matrix[3:], trivial[3:])
            ):
                return matrix[:3, :3]
    raise ValueError(f"{path} is not the matrix of a camera; expected {EXPECTED}, by rows or by columns")
