"""Read the files of a data set, and say in one sentence what is wrong with them."""

from os import PathLike
from pathlib import Path

import numpy as np

from normint.datasets.records import DepthAndNormals, ImageSet
from normint.domain import bounding_box
from normint.files.arrays import read_named, read_table
from normint.files.images import read_image
from normint.files.normal_maps import read_mask, read_stored
from normint.files.reading import check_room, read_regular
from normint.normals.maps import decode, directions, known, turned

XYZ = directions("xyz")  # the axes of all these files: right, up, to the camera


def read_diligent(folder: str | PathLike, *, crop: bool = False) -> ImageSet:
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
    text = read_regular(folder / "filenames.txt").decode("utf-8-sig", errors="replace")
    names = [line.strip() for line in text.splitlines() if line.strip()]
    if not names:
        raise ValueError(f"{folder / 'filenames.txt'} is empty; expected one image name per line")
    for name in names:
        _check_inside(folder, name)
    lights = read_table(folder / "light_directions.txt", (len(names), 3))
    intensities = read_table(folder / "light_intensities.txt", (len(names), 3))
    if not (intensities > 0).all():
        raise ValueError(f"{folder / 'light_intensities.txt'} has values that are not positive")
    masks = sorted(folder.rglob("mask.png"), key=lambda path: (len(path.parts), path))
    if not masks:
        raise FileNotFoundError(f"{folder / 'mask.png'} is missing, and there is none below")
    mask = read_mask(masks[0])
    normals = read_named(folder / "Normal_gt.mat", Normal_gt=(*mask.shape, 3))["Normal_gt"]
    box = bounding_box(mask, margin=1) if crop else np.s_[:, :]
    wanted = {"bits": 16, "colour": True, "shape": mask.shape}
    # Three channels of 16 bits: one by one, and then together.
    check_room(f"{folder} of {len(names)} images", 2 * 6 * len(names) * mask[box].size)
    images = [read_image(folder / name, **wanted)[box] for name in names]
    return ImageSet(
        np.stack(images), turned(lights, XYZ), intensities, mask[box], turned(normals[box], XYZ),
        name=folder.name.removesuffix("PNG"),
    )  # fmt: skip


def read_beethoven(path: str | PathLike) -> ImageSet:
    """Read `Beethoven.mat`: three 8-bit images `I`, a `mask`, and three lights `S`.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    ImageSet
        The lights are as stored: in an order and along axes that the file does not tell.
    """
    found = read_named(path, I=(256, 256, 3), mask=(256, 256), S=(3, 3))
    if found["I"].dtype != np.uint8:
        raise ValueError(f"{path}: I has type {found['I'].dtype}; expected uint8")
    if not (found["mask"] > 0).any():
        raise ValueError(f"{path}: mask is empty; expected a mask with something inside")
    images = np.moveaxis(found["I"], 2, 0).copy()
    return ImageSet(images, found["S"].astype(np.float64), None, found["mask"] > 0, name="Beethoven")


def read_normal_map(folder: str | PathLike) -> DepthAndNormals:
    """Read a folder with `normal_map.png` and, if there, `mask.png`, `K.txt` and `depth_gt.npz`.

    Parameters
    ----------
    folder : path-like
        As `normint integrate` reads it: other formats do as well. The components of the normals are x
        (right; red), y (up; green) and z (to the camera; blue).

    Returns
    -------
    DepthAndNormals
        Its mask has only pixels with a normal: what is black, grey or zero is outside. Its depth grows away
        from the camera if there is one, and towards the viewer if there is none; the file's always away.
    """
    folder = Path(folder)
    stored = read_stored(folder)
    normals = turned(decode(stored.normals), XYZ)
    mask = known(normals) if stored.mask is None else known(normals) & stored.mask
    stored.check(mask)
    with np.errstate(invalid="ignore", divide="ignore"):  # outside
        normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    normals[~mask] = np.nan
    depth = None
    if (folder / "depth_gt.npz").exists():
        found = read_named(folder / "depth_gt.npz", depth_gt=mask.shape)["depth_gt"]
        depth = np.where(mask, found.astype(np.float64), np.nan)
        if stored.camera is None:  # stored as a distance, but without a camera ours is towards the viewer
            depth = -depth
    return DepthAndNormals(normals, mask, depth, stored.camera, name=folder.name)


def _check_inside(folder, name):
    """Refuse a name that leads out of the folder: by its first letter, by "..", or by a link."""
    try:
        inside = (folder / name).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # no file has such a name, or links go in a circle
        return
    if not inside:
        raise ValueError(f"{folder / 'filenames.txt'} has {name!r}; expected names of images in this folder")
