"""Damaged and hostile files are read or refused: an exit code, at most one line of error, nothing else."""

import io
import os
import pickle
import resource
import struct
import sys
import warnings
import zipfile
import zlib
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import cv2
import numpy as np
import scipy.io

from normint import cli

try:
    import OpenEXR
except ImportError:
    OpenEXR = None

ROOM = 2 * 2**30  # bytes more than the process has at first: no small file may need them
SUFFIXES = [".png", ".tiff", ".npy", ".npz", ".mat", *([".exr"] if OpenEXR else [])]
ROLES = ("normals", "mask", "camera", "prior", "initial", "folder")
NUMBERS = (0, 1, 3, 2**15 - 1, 2**16 - 1, 2**31 - 1, 2**32 - 1, 100_000)  # to put where sizes may stand


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def trial(seed, folder):
    """Damage one of the files of a command line, and run it."""
    rng = np.random.default_rng(seed)
    role = ROLES[rng.integers(len(ROLES))]
    suffix = ".txt" if role == "camera" else SUFFIXES[rng.integers(len(SUFFIXES))]
    shape = tuple(rng.integers(1, 12, 2).tolist())
    with warnings.catch_warnings(action="ignore"):  # about odd numbers that are meant to be odd
        data = hostile(rng, _array(rng, role, shape), suffix, folder)
    name = f"damaged{suffix}"
    (folder / name).write_bytes(data)
    line = _line(role, name, shape, folder)
    before = _contents(folder)
    told = f"{' '.join(line)} with {name} of {len(data)} bytes, {data[:80]!r}"
    code, out, err = run(line, folder)
    assert code in (0, 1, 2, 3), f"exit code {code}: {told}: {err}"
    errors = [text for text in err.splitlines() if not text.startswith("normint: warning: ")]
    assert len(errors) <= 1 and all(text.startswith("normint: error: ") for text in errors), f"{told}: {err}"
    assert bool(errors) == (code in (1, 2)), f"exit code {code}: {told}: {err}"
    assert not (folder / "sprung").exists(), f"unpickled: {told}"
    if errors:
        assert out == "", f"printed {out!r}: {told}"
        assert _contents(folder) == before, f"something was written: {told}"
    else:
        depth = np.load(folder / "out" / "depth.npy", allow_pickle=False)
        assert not np.isinf(depth).any() and np.isfinite(depth).any(), f"no depth: {told}"


def run(line, folder):
    """Run a command here, in a folder and with little memory; return its code and what it printed."""
    out, err, home = io.StringIO(), io.StringIO(), os.getcwd()
    with _little_memory(), redirect_stdout(out), redirect_stderr(err):
        os.chdir(folder)
        try:
            code = cli.main(line)
        except Exception as error:
            code = f"{type(error).__name__}: {error}"
        finally:
            os.chdir(home)
    return code, out.getvalue(), err.getvalue()


def hostile(rng, array, suffix, folder):
    """Return the bytes of a file that holds an array, or not quite, or something else."""
    way = rng.integers(10)
    if way == 0:
        return rng.bytes(int(rng.integers(0, 300)))
    if way == 1:
        return _trap(rng, suffix, folder)
    if way == 2:
        kinds = ["f2", "f4", "f8", "i1", "i8", "u4", "?", "c16", "U3", "M8[s]", "V5"]
        array = np.zeros(rng.integers(0, 4, rng.integers(0, 5)), kinds[rng.integers(len(kinds))])
    if way == 3 and array.dtype.kind == "f":
        array.flat[rng.integers(0, array.size, 5)] = rng.choice(
            [np.nan, np.inf, -np.inf, 1e308, 0, 1e-320], 5
        )
    data = bytearray(_encode(array, suffix) or b"")
    for _ in range(rng.integers(0, 4) if way > 3 else 0):
        _damage(rng, data, suffix)
    return _with_checksums(bytes(data)) if rng.random() < 0.7 else bytes(data)


def _damage(rng, data, suffix):
    """Change some bytes: one, a number that may be a size, a part that is gone or there twice, the end."""
    if not data:
        return
    way, place = rng.integers(6), int(rng.integers(len(data)))
    if rng.random() < 0.6:
        place = min(place, int(rng.integers(200)))  # where the headers are
    if way < 2:
        data[place] = int(rng.integers(256))
    elif way == 2:
        number = NUMBERS[rng.integers(len(NUMBERS))]
        data[place : place + 4] = struct.pack("<>"[rng.integers(2)] + "I", number)
    elif way == 3:
        del data[place : place + int(rng.integers(1, 40))]
    elif way == 4:
        other = int(rng.integers(len(data)))
        data[place:place] = data[other : other + int(rng.integers(1, 40))]
    else:
        del data[place:]


def _array(rng, role, shape):
    """Return a valid array for a role."""
    kinds = (np.uint8, np.uint16, np.float32, np.float64)
    if role in ("normals", "folder"):
        normals = rng.normal(size=(*shape, 3)) + [0, 0, 3]
        normals /= np.linalg.norm(normals, axis=2, keepdims=True)
        kind = kinds[rng.integers(4)]
        return (
            normals.astype(kind)
            if kind in kinds[2:]
            else ((normals + 1) / 2 * np.iinfo(kind).max).astype(kind)
        )
    if role == "camera":
        return np.array([[50.0, 0, shape[1] / 2], [0, 50.0, shape[0] / 2], [0, 0, 1]])
    return (200 * rng.random(shape)).astype(kinds[rng.integers(4)])


def _encode(array, suffix):
    """Return an array as a file; None where the format does not hold it."""
    file = io.BytesIO()
    try:
        if suffix == ".npy":
            np.save(file, array, allow_pickle=False)
        elif suffix == ".npz":
            np.savez_compressed(file, array)
        elif suffix == ".mat":
            scipy.io.savemat(file, {"n": array}, do_compression=bool(array.size % 2))
        elif suffix == ".txt":
            np.savetxt(file, array)
        elif suffix == ".exr":
            return _encode_exr(array)
        elif array.dtype.str[1:] in ("u1", "u2", "f4")[: 2 if suffix == ".png" else 3]:
            return cv2.imencode(suffix, array)[1].tobytes()
    except (ValueError, TypeError, cv2.error, SystemError, RuntimeError):
        return None
    return file.getvalue()


def _encode_exr(array):
    path = Path(f"/proc/self/fd/{(number := os.memfd_create('exr'))}")
    try:
        with OpenEXR.File({}, {"RGB" if array.ndim == 3 else "Y": array.astype(np.float32)}) as file:
            file.write(str(path))
        return path.read_bytes()
    finally:
        os.close(number)


def _trap(rng, suffix, folder):
    """Return a file that makes a folder if anything of it is unpickled."""
    trap = np.array([[Trap(folder / "sprung")]], dtype=object)
    file = io.BytesIO()
    if suffix == ".npz":
        np.savez(file, n=trap)
    elif suffix == ".npy" and rng.random() < 0.5:
        np.save(file, trap)
    else:
        file.write(pickle.dumps(trap))
    return file.getvalue()


def _with_checksums(data):
    """Make the checksums of a PNG or an archive right again, so that the damage comes to the decoder."""
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        done, place = data[:8], 8
        while place + 12 <= len(data):
            length = int.from_bytes(data[place : place + 4], "big")
            if place + 12 + length > len(data):
                break
            body = data[place + 4 : place + 8 + length]
            done += data[place : place + 4] + body + struct.pack(">I", zlib.crc32(body))
            place += 12 + length
        return done + data[place:]
    if data[:2] == b"PK":
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                members = {name: archive.read(name) for name in archive.namelist()}
        except Exception:  # damaged beyond that
            return data
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return file.getvalue()
    return data


def _line(role, name, shape, folder):
    """Write the other files that a role needs, and return the command line."""
    np.save(folder / "n.npy", np.tile([0.0, 0.1, 1.0], (*shape, 1)))
    more = {
        "mask": ["--mask", name],
        "camera": ["--camera", name],
        "prior": ["--prior", name, "--prior-weight", "1"],
        "initial": ["--method", "phi1", "--option", f"initial={name}"],
    }.get(role, [])
    first = "n.npy" if more else name
    if role == "folder":
        (folder / "map").mkdir()
        os.rename(folder / name, folder / "map" / f"normal_map{Path(name).suffix}")
        first = "map"
    return ["integrate", first, "--axes", "uvz", *more, "--option", "least_cosine=0.01", "--out", "out"]


def _contents(folder):
    return {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}


@contextmanager
def _little_memory():
    """Limit the memory of the process to what it has and some more, if the system does that."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ROOM, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
