"""What `normint integrate` writes: a depth map, pictures and meshes of it, and a report."""

import json
import os
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from normint import __version__
from normint.curl import relative_curl
from normint.files.collections import listed, names_in, read_report
from normint.files.height_maps import HEIGHT_MAPS, encode_height_map, heights
from normint.files.images import encode_image
from normint.files.meshes import encode_mesh, mesh_files
from normint.files.preview import preview
from normint.files.results import as_npy
from normint.files.writing import check_plain, first_missing, sweep, write_together
from normint.jumps import find_jumps

ROWS = 256  # at a time
STEPS = 65534  # of 16 bits, when 0 stands for no depth


def planned(arguments):
    """Return the files that are asked for, by what is in them."""

    def place(name):
        """Return the path of a file: in the folder --out or, without one, beside the map, named after it."""
        if arguments.out is not None:
            return Path(arguments.out, name)
        return Path(str(arguments.beside) + f"_{name}".removeprefix("_mesh"))

    files = {"depth": place("depth.npy")}
    if arguments.png:
        files["png"] = place("depth.png")
    if arguments.tiff:
        files["tiff"] = place("depth.tiff")
    for suffix in arguments.mesh:
        suffix = suffix.lower().removeprefix(".")
        main = place(f"mesh.{suffix}")
        for name in mesh_files(main.name, arguments.texture is not None):
            files[f"mesh {suffix} {name}"] = main.with_name(name)
    for kind in arguments.height_map:
        files[f"height {kind.lower()}"] = place(HEIGHT_MAPS[kind.lower()][0])
    if arguments.preview:
        files["preview"] = place("preview.png")
    files["report"] = place("report.json")  # the last: it is there when all others are
    return files


def asked(arguments):
    """Return what was asked for, as far as it decides what comes out: what a report remembers."""
    aside = ("command", "path", "beside", "label", "bar", "out", "force", "json", "quiet")
    return {name: value for name, value in vars(arguments).items() if name not in aside}


def is_done(arguments, source):
    """Tell whether an earlier run made all that is asked for, in the same way, of a map as it is now."""
    files = planned(arguments)
    known = read_report(files["report"])
    if not listed(files["report"]) >= {file.name for file in files.values()}:
        return False
    same = isinstance(known, dict) and known.get("asked") == json.loads(json.dumps(asked(arguments)))
    there = all(file.is_file() for file in files.values())
    return same and there and _changed(source) <= files["report"].stat().st_mtime_ns


def _changed(source):
    """Return when a file, or what is in a folder, changed last; not for what reports of ours list."""
    if not source.is_dir():
        return source.stat().st_mtime_ns if source.exists() else 0
    own = names_in(source)
    return max(file.stat().st_mtime_ns for file in source.iterdir() if file.name not in own)


def clear(folder):
    """Remove what killed runs left in and beside an output folder; return the files that this completed."""
    folder = Path(os.path.abspath(folder))
    for path in {folder, first_missing(folder) or folder}:
        sweep(path.parent, path.name)
    return sweep(folder)


def check_free(files, *, force=False):
    """Refuse to go on if a file cannot be written: it exists, or its folder is none or not ours.

    With `force`, plain files may be replaced that the report beside them lists.
    """
    check_plain(*files.values())
    known = listed(files["report"])
    for path in files.values():
        if os.path.lexists(path):
            if path.name not in known:
                raise FileExistsError(
                    f"{path} exists, and no {files['report'].name} of normint beside it lists it; "
                    "move it away, or choose another --out"
                )
            if not force:
                raise FileExistsError(f"{path} exists; use --force to replace it, or another --out")
        folder = next(parent for parent in path.absolute().parents if os.path.lexists(parent))
        if not folder.is_dir():
            raise NotADirectoryError(f"{folder} is a file; expected a folder to write {path.name} into")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(f"{folder} cannot be written to; expected a folder of yours: --out DIR")


def report(task, result, files, reading, asked_for):
    """Describe an integration, the seconds spent reading, and what was asked, as JSON can hold it."""
    low, high = float(np.nanmin(result.depth)), float(np.nanmax(result.depth))
    summary = {
        "normint": __version__,
        "settings": task.settings,
        "asked": asked_for,
        "rows": result.depth.shape[0],
        "columns": result.depth.shape[1],
        "pixels": int(np.isfinite(result.depth).sum()),
        "seconds": {"reading": reading, "integration": result.seconds},
        "iterations": int(result.iterations),
        "converged": bool(result.converged),
        "energy": float(result.energies[-1]) if len(result.energies) else None,
        "jumps": _jumps(task, result),
        **measure(task),
        "depth": {"least": low, "greatest": high, **_what_it_is(task)},
        **task.finish.told,
    }
    if task.finish.mm:
        summary["mm per pixel"] = task.finish.mm
    if any(kind.startswith("height") for kind in files):
        summary["height maps"] = {
            "near": task.finish.near,
            "0": "nearest" if task.finish.near == "black" else "farthest, and where there is no depth",
            "range": task.finish.lengths(high - low) if task.camera is None else {"any": high - low},
        }
    if "png" in files or "tiff" in files:
        summary["16 bits"] = {"0": "no depth", "depth of 1": low, "depth of 65535": high}
    summary["warnings"] = list(task.notes)
    summary["files"] = [str(file) for file in files.values()]
    names = listed(files["report"]) - {file.name for file in files.values()}
    older = [str(file) for name in sorted(names) if (file := files["report"].with_name(name)).is_file()]
    return summary | ({"older files": older} if older else {})


def _what_it_is(task):
    """Say in which unit a depth is, and along what."""
    if task.camera is None:
        return {"unit": "pixels", "along": "z, towards the camera"}
    along = {"z": "z, the axis of the camera", "ray": "the ray of each pixel"}[task.camera.measured]
    return {"unit": "that of the prior" if task.prior else "any", "along": along}


def _jumps(task, result):
    """Return where the surface jumps; None if the method lets it jump nowhere."""
    if result.weights is None:
        return None
    height = task.seen.lens.unit * task.seen.lens.potential(task.finish.integrated)
    return find_jumps(np.isfinite(result.depth), result.weights, height=height)._asdict()


def measure(task):
    """Measure how well the depth, not yet flattened, and the normals agree: residuals of slopes, and curl.

    Returns
    -------
    dict
        "residual": mean and median over all neighbours i, j of |z_j − z_i − ½(s_i + s_j)|, where s is
        the slope from i to j and z the depth, or f log d with a camera: in pixels. "relative_curl": see
        :func:`normint.curl.relative_curl`; None where no four pixels form a square.
    """
    p, q, inside, lens = task.seen.p, task.seen.q, task.seen.mask, task.seen.lens
    z = lens.unit * lens.potential(task.finish.integrated)
    pairs = np.count_nonzero(inside[1:] & inside[:-1]) + np.count_nonzero(inside[:, 1:] & inside[:, :-1])
    left, done = np.empty(pairs), 0
    for some in _residuals(z, p, q, inside):
        left[done : done + some.size] = some
        done += some.size
    del z
    try:
        curl = relative_curl(p, q, inside)
    except ValueError:  # no four pixels in a square
        curl = None
    residual = (
        {"mean": float(left.mean()), "median": float(np.median(left, overwrite_input=True))}
        if left.size
        else None
    )
    return {"residual": residual, "relative_curl": curl}


def _residuals(z, p, q, inside):
    """Yield what the slopes miss of the differences of depth, some rows at a time."""
    for top in range(0, len(z), ROWS):
        down, here = slice(top, top + ROWS + 1), slice(top, top + ROWS)
        for depth, slope, known in ((z[down], p[down], inside[down]), (z[here].T, q[here].T, inside[here].T)):
            missed = np.abs(np.diff(depth, axis=0) - 0.5 * (slope[1:] + slope[:-1]))
            yield missed[known[1:] & known[:-1]]


def write(files, task, result, summary, *, force):
    """Write all files, or none."""

    @lru_cache(maxsize=1)
    def meshes(suffix):
        *_, main = (path.name for kind, path in files.items() if kind.startswith(f"mesh {suffix} "))
        return encode_mesh(task.finish.surface, main)

    def content(kind):
        """Return the bytes of one file."""
        if kind == "depth":
            return as_npy(result.depth)
        if kind == "report":
            return (as_text(summary) + "\n").encode()
        if kind == "preview":
            return _as_preview(task, result)
        if kind.startswith("mesh"):
            _, suffix, name = kind.split(" ", 2)
            return meshes(suffix)[name]
        if kind.startswith("height"):
            up = heights(result.depth, far=task.camera is None, near=task.finish.near)
            return encode_height_map(up, kind.split()[1], task.finish.mm or 1.0)
        return encode_image(in_16_bits(result.depth), f".{kind}")

    contents = {path: partial(content, kind) for kind, path in files.items()}
    write_together(contents, check=lambda: check_free(files, force=force))


def as_text(summary):
    """Return a report as JSON; numbers that it cannot hold become null."""
    return json.dumps(_finite(summary), indent=2, allow_nan=False)


def in_16_bits(depth):
    """Scale a depth map to 1…65535, from its least to its greatest value; NaN becomes 0.

    Examples
    --------
    >>> in_16_bits(np.array([[-1.0, 0.0, 1.0, np.nan]]))
    array([[    1, 32768, 65535,     0]], dtype=uint16)
    """
    known = np.isfinite(depth)
    low, high = depth[known].min(), depth[known].max()
    parts = (np.where(known, depth, low) - low) / ((high - low) or 1.0)
    return np.where(known, 1 + np.rint(STEPS * parts), 0).astype(np.uint16)


def _as_preview(task, result):
    return encode_image(preview(result.depth, camera=task.camera, title=task.settings["method"]), ".png")


def _finite(what):
    if isinstance(what, dict):
        return {name: _finite(value) for name, value in what.items()}
    if isinstance(what, (list, tuple)):
        return [_finite(value) for value in what]
    return None if isinstance(what, float) and not np.isfinite(what) else what
