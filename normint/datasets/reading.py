"""Read the files of a data set, and say in one sentence what is wrong with them."""

from io import BytesIO
from pathlib import Path

import numpy as np

from normint.datasets.records import DepthAndNormals, ImageSet
from normint.images.files import read_bytes, read_image, read_mask
from normint.progress import bar


def read_diligent(folder, *, crop=False):
    """Read a folder in DiLiGenT's layout.

    Parameters
    ----------
    folder : path-like
        With `filenames.txt`, the 16-bit images it lists, `light_directions.txt`, `light_intensities.txt`,
        `Normal_gt.mat`, and `mask.png` in it or below it.
    crop : bool
        Keep only the mask's bounding box, and one pixel around it.

    Returns
    -------
    ImageSet
    """
    folder = Path(folder)
    text = read_bytes(folder / "filenames.txt").decode("utf-8-sig", errors="replace")
    names = [line.strip() for line in text.splitlines() if line.strip()]
    if not names:
        raise ValueError(f"{folder / 'filenames.txt'} is empty; expected one image name per line")
    lights = _table(folder / "light_directions.txt", (len(names), 3))
    intensities = _table(folder / "light_intensities.txt", (len(names), 3))
    if not (intensities > 0).all():
        raise ValueError(f"{folder / 'light_intensities.txt'} has values that are not positive")
    masks = sorted(folder.rglob("mask.png"), key=lambda path: (len(path.parts), path))
    if not masks:
        raise FileNotFoundError(f"{folder / 'mask.png'} is missing, and there is none below")
    mask = read_mask(masks[0])
    normals = _matrices(folder / "Normal_gt.mat", Normal_gt=(*mask.shape, 3))["Normal_gt"]
    box = _bounding_box(mask) if crop else np.s_[:, :]
    wanted = {"bits": 16, "colour": True, "shape": mask.shape}
    images = [read_image(folder / name, **wanted)[box] for name in bar(names, folder.name)]
    return ImageSet(
        np.stack(images), _from_xyz(lights), intensities, mask[box], _from_xyz(normals[box]),
        name=folder.name.removesuffix("PNG"),
    )  # fmt: skip


def read_beethoven(path):
    """Read `Beethoven.mat`: three 8-bit images `I`, a `mask`, and three lights `S`.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    ImageSet
        The lights are as stored: in an order and along axes that the file does not tell.
    """
    found = _matrices(path, I=(256, 256, 3), mask=(256, 256), S=(3, 3))
    if found["I"].dtype != np.uint8:
        raise ValueError(f"{path}: I has type {found['I'].dtype}; expected uint8")
    if not (found["mask"] > 0).any():
        raise ValueError(f"{path}: mask is empty; expected a mask with something inside")
    images = np.moveaxis(found["I"], 2, 0).copy()
    return ImageSet(images, found["S"].astype(np.float64), None, found["mask"] > 0, name="Beethoven")


def read_normal_map(folder):
    """Read a folder with `normal_map.png` and, if there, `mask.png`, `K.txt` and `depth_gt.npz`.

    Parameters
    ----------
    folder : path-like
        The normals are colours: red is x (right), green y (up), blue z (to the camera), from −1 to 1.

    Returns
    -------
    DepthAndNormals
    """
    folder = Path(folder)
    image = read_image(folder / "normal_map.png", colour=True)
    shape = image.shape[:2]
    mask = read_mask(folder / "mask.png", shape) if (folder / "mask.png").exists() else np.ones(shape, bool)
    normals = _from_xyz(2 * (image / np.iinfo(image.dtype).max) - 1)
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    normals[~mask] = np.nan
    depth = camera = None
    if (folder / "depth_gt.npz").exists():
        depth = np.where(mask, _array(folder / "depth_gt.npz", "depth_gt", shape), np.nan)
    if (folder / "K.txt").exists():
        camera = _camera(folder / "K.txt", shape)
    return DepthAndNormals(normals, mask, depth, camera, name=folder.name)


def _from_xyz(vectors):
    """Turn vectors along x (right), y (up) and z into vectors along u (down), v (right) and z."""
    x, y, z = np.moveaxis(np.asarray(vectors, dtype=np.float64), -1, 0)
    return np.stack([-y, x, z], axis=-1)


def _bounding_box(mask):
    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    return tuple(slice(max(line[0] - 1, 0), line[-1] + 2) for line in (rows, columns))


def _table(path, shape):
    """Read numbers from a text file."""
    try:
        lines = read_bytes(path).decode("utf-8-sig").splitlines()
        table = np.array([line.split() for line in lines if line.strip()], dtype=np.float64)
    except ValueError:  # words, rows of different lengths, bytes that are no text
        raise ValueError(f"{path} is not a table of numbers") from None
    if table.shape != shape or not np.isfinite(table).all():
        raise ValueError(f"{path} has a table of {table.shape} numbers; expected {shape}, all finite")
    return table


def _matrices(path, **shapes):
    """Read arrays of given shapes from a Matlab file."""
    from scipy.io import loadmat

    data = read_bytes(path)
    try:
        found = loadmat(BytesIO(data), variable_names=list(shapes))
    except Exception as error:  # whatever a damaged file makes the reader stumble over
        raise ValueError(f"{path} is not a Matlab file that can be read: it is damaged or too new") from error
    for name, shape in shapes.items():
        if name not in found:
            raise ValueError(f"{path} has no variable {name!r}")
        if found[name].shape != shape or found[name].dtype.kind not in "biuf":
            raise ValueError(f"{path}: {name} has shape {found[name].shape}; expected {shape} numbers")
    return found


def _array(path, name, shape):
    """Read one array of a given shape from an NPZ file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            array = file[name]
    except KeyError:
        raise ValueError(f"{path} has no array {name!r}") from None
    except Exception as error:  # truncated archives fail in many ways
        raise ValueError(f"{path} is not an NPZ file that can be read") from error
    if array.shape != shape or array.dtype.kind not in "iuf":
        raise ValueError(f"{path}: {name} has shape {array.shape}; expected {shape} numbers")
    return array.astype(np.float64)


def _camera(path, shape):
    """Read the 3×3 matrix of a camera; some files have the row of y first, which the centre gives away."""
    matrix = _table(path, (3, 3))
    x, y, last = matrix
    rows, columns = shape
    swapped = x[0] == y[1] == 0  # the rows are (0, f_y, c_y) and (f_x, 0, c_x)
    if swapped or (
        abs(x[2] - rows / 2) + abs(y[2] - columns / 2) < abs(x[2] - columns / 2) + abs(y[2] - rows / 2)
    ):
        x, y = y, x
    fx, fy = max(x[:2]), max(y[:2])  # the other number of each row is 0
    if np.count_nonzero(matrix[:2, :2]) != 2 or not (fx > 0 and fy > 0) or last.tolist() != [0, 0, 1]:
        expected = "the rows (f_x, 0, c_x), (0, f_y, c_y) and (0, 0, 1)"
        raise ValueError(f"{path} is not the matrix of a camera; expected {expected}")
    return np.array([[fx, 0, x[2]], [0, fy, y[2]], [0, 0, 1]])
