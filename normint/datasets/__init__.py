"""The data sets of the paper: found, checked and read, or replaced by what the package generates.

`cat`, `beethoven`, `peppers` and `depth_and_normals` give the real data where they find it, and a stand-in
elsewhere; the result says which. `data/README.md` tells where the real data comes from.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeVar

from normint import paths
from normint.datasets import stand_ins
from normint.datasets.reading import read_beethoven, read_diligent, read_normal_map
from normint.datasets.records import DepthAndNormals, ImageSet, Picture
from normint.files.images import read_image

__all__ = [
    "DepthAndNormals",
    "ImageSet",
    "Picture",
    "beethoven",
    "cat",
    "depth_and_normals",
    "diligent",
    "find",
    "measured_objects",
    "peppers",
    "read_beethoven",
    "read_diligent",
    "read_normal_map",
    "rendered_objects",
]

Which = Literal["auto", "real", "stand-in"]
T = TypeVar("T", ImageSet, DepthAndNormals, Picture)
CAT = "DiLiGenT/pmsData/catPNG"
CAT_DEPTH = "bini/cat"
BEETHOVEN = "beethoven/Beethoven.mat"
PEPPERS = "peppers/peppers.tiff"
RENDERS = "renders"


def cat(which: Which = "auto") -> ImageSet:
    """Load the Cat of Figures 10 and 11, cropped to its silhouette; its stand-in is the figurine.

    Parameters
    ----------
    which : {"auto", "real", "stand-in"}
        The real data where it is found and else the stand-in; or one of them in any case.

    Returns
    -------
    ImageSet
    """

    def read(path):
        return replace(read_diligent(path, crop=True), name="Cat")

    return _choose(which, CAT, read, stand_ins.cat)


def beethoven(which: Which = "auto") -> ImageSet:
    """Load the bust of Figure 15, or its stand-in. The lights are in the file's order: see Notes.

    Parameters
    ----------
    which : {"auto", "real", "stand-in"}
        As for :func:`cat`.

    Returns
    -------
    ImageSet

    Notes
    -----
    The rows of the lights are not in the order of the images, and their axes are not documented.
    :func:`normint.normals.light_order.readings` compares all possibilities.
    """
    return _choose(which, BEETHOVEN, read_beethoven, stand_ins.beethoven)


def peppers(which: Which = "auto") -> Picture:
    """Load the image of Figure 16; its stand-in is a photograph in the public domain.

    Parameters
    ----------
    which : {"auto", "real", "stand-in"}
        As for :func:`cat`.

    Returns
    -------
    Picture
    """

    def read(path):
        return Picture(read_image(path, bits=8, colour=True, shape=(512, 512)), "Peppers")

    return _choose(which, PEPPERS, read, stand_ins.peppers)


def depth_and_normals(which: Which = "auto") -> DepthAndNormals:
    """Load the Cat's true normals with its true depth; its stand-in is the figurine.

    Parameters
    ----------
    which : {"auto", "real", "stand-in"}
        As for :func:`cat`.

    Returns
    -------
    DepthAndNormals
    """

    def read(path):
        found = read_normal_map(path)
        if found.depth is None:
            raise FileNotFoundError(_advice(f"{path / 'depth_gt.npz'} is missing"))
        return replace(found, name="Cat")

    return _choose(which, CAT_DEPTH, read, stand_ins.depth_and_normals)


def measured_objects(which: Which = "auto") -> list[DepthAndNormals]:
    """Load all objects with true normals and depth that are there, the Cat first; or its stand-in alone.

    Parameters
    ----------
    which : {"auto", "real", "stand-in"}
        As for :func:`cat`.

    Returns
    -------
    list of DepthAndNormals
    """
    first = depth_and_normals(which)
    if first.data != "real":
        return [first]
    cat_folder = find(CAT_DEPTH)
    return [first, *(one for one in _with_depth(cat_folder.parent) if one.name != cat_folder.name)]


def rendered_objects(which: Which = "auto") -> list[DepthAndNormals]:
    """Load all views of meshes with their normals and exact depths that are there: folders of `renders`.

    Parameters
    ----------
    which : {"auto", "real", "stand-in"}
        As for :func:`cat`. There is no stand-in, but an empty list.

    Returns
    -------
    list of DepthAndNormals
    """
    wanted = _wanted(which)
    try:
        return [] if wanted == "stand-in" else list(_with_depth(find(RENDERS)))
    except FileNotFoundError:
        if wanted == "real":
            raise
        return []


def _with_depth(folder: Path) -> Iterator[DepthAndNormals]:
    """Read the normal maps below a folder whose depth is known."""
    return (read_normal_map(one) for one in sorted(folder.iterdir()) if (one / "depth_gt.npz").is_file())


def diligent(name: str = "cat", *, crop: bool = False) -> ImageSet:
    """Find and read one object of DiLiGenT by its name: "ball", "bear", "buddha", "cat" and so on.

    Parameters
    ----------
    name : str
    crop : bool
        Keep only the mask's surroundings.

    Returns
    -------
    ImageSet
    """
    return read_diligent(find(f"DiLiGenT/pmsData/{name}PNG"), crop=crop)


def find(path: str) -> Path:
    """Find a file or folder of the real data.

    Parameters
    ----------
    path : str
        Relative to the data folder, as listed in `data/README.md`.

    Returns
    -------
    Path
        Below ``$NORMINT_DATA`` or, if it is not there, below `data` of the repository.
    """
    folders = paths.data_folders()
    for folder in folders:
        if (folder / path).exists():
            return folder / path
    places = " and ".join(str(folder) for folder in folders) or "no folder"
    variable = "NORMINT_DATA is the first" if paths.named_data() else "NORMINT_DATA is not set"
    raise FileNotFoundError(_advice(f"{path} was not found (looked in {places}; {variable})"))


def _choose(which: Which, path: str, read: Callable[[Path], T], stand_in: Callable[[], T]) -> T:
    """Read the real data, if wanted and there, or make the stand-in. Broken data is never passed over."""
    wanted = _wanted(which)
    if wanted == "stand-in":
        return stand_in()
    try:
        found = find(path)
    except FileNotFoundError:
        if wanted == "real":
            raise
        return stand_in()
    return read(found)


def _wanted(which: str) -> str:
    """Check which data is wanted; the environment decides where the caller does not."""
    name = "which"
    if which == "auto" and paths.wanted_data():
        name, which = "NORMINT_DATASET", paths.wanted_data()
    if which not in ("auto", "real", "stand-in"):
        raise ValueError(f"{name} is {which!r}; expected auto, real or stand-in")
    return which


def _advice(text: str) -> str:
    return f"{text}; data/README.md says where to get it"
