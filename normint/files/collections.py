"""Which normal maps a path stands for: a file, a folder of one, a folder of many, or a video."""

import json
import os
import re
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from normint.files.arrays import FORMATS
from normint.files.images import encode_image
from normint.files.normal_maps import find_files
from normint.files.video import VIDEOS, Video

__all__ = ["Found", "find_maps", "listed", "names_in", "read_report"]

LONGEST_REPORT = 1_000_000  # bytes, many more than any report has


@dataclass(frozen=True, eq=False)
class Found:
    """A normal map among others.

    Attributes
    ----------
    path : Path
        A folder or a file, as :func:`normint.files.normal_maps.read_stored` takes it; or that of a video.
    beside : Path
        The map's folder and the first part of the names of what is made of it.
    mask, camera : Path or None
        Files that its folder has for it.
    frame : int or None
        Of the video.
    video : Video or None
    """

    path: Path
    beside: Path
    mask: Path | None = None
    camera: Path | None = None
    frame: int | None = None
    video: Video | None = None

    def __str__(self):
        return str(self.path) if self.frame is None else f"{self.path}, frame {self.frame}"

    @property
    def name(self):
        """What tells it from the others: the name of the folder, of the file, or of the frame."""
        return self.path.resolve().name if self.path.is_dir() else self.beside.name

    @contextmanager
    def file(self):
        """Yield the path to read it from; that of a frame is gone afterwards."""
        if self.video is None:
            yield self.path
            return
        with tempfile.TemporaryDirectory(prefix="normint-") as folder:
            path = Path(folder, f"{self.beside.name}.png")
            path.write_bytes(encode_image(self.video.frame(self.frame), ".png"))
            yield path


def find_maps(path):
    """Find the normal maps that a path stands for.

    Parameters
    ----------
    path : path-like
        A folder with `normal_map.png`, or the file of a normal map: one map. Any other folder: each normal
        map in it, and each folder in it that has a `normal_map.png`; its `mask.png` and `K.txt` hold for all,
        and `a_mask.png` is the mask of `a.png`. A video: each of its frames.

    Returns
    -------
    list of Found
        In the order of the numbers in their names: 2 comes before 10.
    """
    path = Path(path)
    if not path.is_dir():
        if path.suffix.lower() in VIDEOS and path.exists():
            video = Video(path)
            return [
                Found(path, path.with_name(f"{path.stem}_{k:05}"), frame=k, video=video)
                for k in range(video.count)
            ]
        return [Found(path, path.with_suffix(""))]
    if _has_map(path):
        return [Found(path, find_files(path)["normals"].with_suffix(""))]
    files = [file for file in path.iterdir() if file.suffix.lower() in FORMATS and not file.is_dir()]
    own = names_in(path)
    masks = {file.stem: file for file in files if file.stem == "mask" or file.stem.endswith("_mask")}
    camera = path / "K.txt" if (path / "K.txt").exists() else None
    found = [
        Found(file, file.with_suffix(""), masks.get(f"{file.stem}_mask", masks.get("mask")), camera)
        for file in files
        if file.stem not in masks and file.name not in own
    ]
    found += [map for folder in path.iterdir() if _has_map(folder) for map in find_maps(folder)]
    if not found:
        raise FileNotFoundError(
            f"{path / 'normal_map.png'} is missing, and {path} has no other normal map; "
            f"expected a file that ends in {', '.join(FORMATS)}"
        )
    return sorted(found, key=lambda map: _in_order(str(map.path)))


def names_in(folder):
    """Return the names of all files that reports of normint in a folder list: results, not maps."""
    reports = (file for file in Path(folder).iterdir() if file.name.endswith("report.json"))
    return {name for file in reports for name in listed(file)}


def listed(report):
    """Return the names of the files that a report lists, if there is one and normint wrote it."""
    found = read_report(report)
    try:
        names = [*found["files"], *found.get("older files", [])] if found["normint"] else []
        return {Path(name).name for name in names}
    except (TypeError, LookupError, AttributeError):  # a report of another kind
        return set()


def read_report(path):
    """Return what a report holds, or None if it is none."""
    path = Path(path)
    if not (path.is_file() and path.stat().st_size < LONGEST_REPORT):
        return None
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError, OSError):
        return None


def _has_map(folder):
    if not folder.is_dir():
        return False
    return any(os.path.exists(folder / f"normal_map{suffix}") for suffix in FORMATS)


def _in_order(text):
    """Return a key that sorts numbers in names by their size."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text) if part]
