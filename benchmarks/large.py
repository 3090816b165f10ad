"""Measure least squares on large maps: peak memory and time a pixel, whole and in tiles, arrays and files.

Each call is a process of its own, and its peak is that of all it holds: the interpreter, the pages of mapped
files that were read, the depth.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import cv2
import numpy as np
import OpenEXR

import normint
from benchmarks import judge
from normint import paths

BYTES = 120  # a pixel: the limit for a map in one piece
ROWS = 200  # made at a time
HEADER = "call,domain,rows,columns,rounds,bytes a pixel,limit,met,CPU s a megapixel,apart".split(",")


def measure(quick):
    """Yield the rows of large.csv, its header first."""
    yield HEADER
    build = paths.root() / "build"
    build.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=build) as folder:
        yield from of_arrays(Path(folder), 2000 if quick else 10_000)
        yield from of_files(Path(folder), 2000 if quick else 10_000)


def of_arrays(folder, n):
    """Yield the rows of calls on mapped arrays of n×n pixels."""
    make_slopes(folder, n)
    for call, domain in (("integrate", "disk"), ("integrate", "rectangle"), ("integrate_tiles", "disk")):
        yield row(call, domain, n, ["benchmarks.large", str(folder), call, domain])


def of_files(folder, n):
    """Yield the rows of the command on normal maps of n×n pixels."""
    make_slopes(folder, n)
    for suffix in ("npy", "tiff", "exr"):
        path = make_normals(folder, suffix)
        command = ["normint", "integrate", str(path), "--axes", "uvz", "--mask", f"{folder}/mask.npy"]
        command += ["--out", f"{folder}/{suffix}", "--quiet"]
        yield row(f"normint integrate normals.{suffix}", "disk", n, command)
        path.unlink()


def row(call, domain, n, command):
    """Run a module with its arguments, and return the row of what it took."""
    print(f"{call}, {domain} …", flush=True)
    command = [sys.executable, "-m", *command]
    process = subprocess.Popen(command, cwd=paths.root(), stdout=subprocess.PIPE, text=True)
    said = process.stdout.read().split()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(command)} failed")
    peak, seconds = 1024 * used.ru_maxrss / n**2, (used.ru_utime + used.ru_stime) / n**2 * 1e6
    # Of a small map, most of it is the interpreter's, and of tiles those of the tile.
    limit, met = judge(peak, BYTES if n >= 10_000 and call != "integrate_tiles" else None)
    rounds, apart = (said + ["", ""])[:2]
    found = call, domain, n, n, rounds, f"{peak:.3g}", limit, met, f"{seconds:.2g}", apart
    print("  ", *found, flush=True)
    return found


def make_slopes(folder, n):
    """Write the slopes of a smooth surface with noise, as float32, and a disk, a few rows at a time."""
    rng, u, across = np.random.default_rng(0), np.arange(n) * (6 / n), np.linspace(-1, 1, n)
    make = np.lib.format.open_memmap
    slopes = [make(folder / f"{name}.npy", "w+", np.float32, (n, n)) for name in "pq"]
    mask = make(folder / "mask.npy", "w+", bool, (n, n))
    for top in range(0, n, ROWS):
        rows = slice(top, top + ROWS)
        down = u[rows, np.newaxis]
        for file, slope in zip(slopes, (np.cos(down + 2 * u), np.sin(down * u)), strict=True):
            file[rows] = slope + 0.1 * rng.standard_normal(slope.shape)
        mask[rows] = np.hypot(across[rows, np.newaxis], across) < 1


def make_normals(folder, suffix):
    """Write the normals of these slopes, as float32, the components along u, v and z; return the path."""
    p, q = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in "pq")
    path, first = folder / f"normals.{suffix}", folder / "normals.npy"
    normals = np.lib.format.open_memmap(first, "w+", np.float32, (*p.shape, 3))
    for top in range(0, len(p), ROWS):
        rows = slice(top, top + ROWS)
        normals[rows] = normint.gradient_to_normals(p[rows], q[rows])
    if suffix == "tiff":
        cv2.imwrite(str(path), normals[..., ::-1], [cv2.IMWRITE_TIFF_COMPRESSION, 1])
    elif suffix == "exr":
        channels = {name: np.ascontiguousarray(normals[..., k]) for k, name in enumerate("XYZ")}
        header = {"compression": OpenEXR.NO_COMPRESSION, "type": OpenEXR.scanlineimage}
        with OpenEXR.File(header, channels) as file:
            file.write(str(path))
    if path != first:
        first.unlink()
    return path


def main(folder, call, domain):
    """Make one call, and print its rounds and how far it is from the depth that the call before wrote."""
    p, q, mask = (np.load(Path(folder, f"{name}.npy"), mmap_mode="r") for name in ("p", "q", "mask"))
    options = {} if call == "integrate" else {"out": Path(folder, "tiled.npy")}
    result = getattr(normint, call)(p, q, None if domain == "rectangle" else mask, **options)
    assert result.converged
    whole = Path(folder, "whole.npy")
    if call == "integrate" and domain == "disk":
        np.save(whole, result.depth)
    apart = ""
    if call == "integrate_tiles":
        apart = f"{difference(result.depth, np.load(whole, mmap_mode='r')):.1e}"
    print(result.iterations, apart)


def difference(depth, expected):
    """Return the RMSE between two depths as a part of the second one's standard deviation, row by row."""
    sums = np.zeros(4)
    for one, other in zip(depth, expected, strict=True):
        inside = np.isfinite(other)
        apart, other = (one - other)[inside], other[inside]
        sums += inside.sum(), np.sum(apart**2), np.sum(other), np.sum(other**2)
    count, squares, total, whole = sums
    return np.sqrt(squares / count) / np.sqrt(whole / count - (total / count) ** 2)


if __name__ == "__main__":
    main(*sys.argv[1:])
