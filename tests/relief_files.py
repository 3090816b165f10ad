"""A small relief, its normal map in every format, and runs of `normint integrate` on it in this process."""

import cv2
import numpy as np
from scipy.io import savemat

from normint import cli
from normint.normals.convert import gradient_to_normals

ROWS, COLUMNS = 20, 24
U, V = np.mgrid[:ROWS, :COLUMNS].astype(float)
MASK = (U - 10) ** 2 + (V - 12) ** 2 < 81
DEPTH = -0.02 * (U - 8) ** 2 + 0.01 * (U - 8) * (V - 11) - 0.03 * (V - 11) ** 2
P, Q = -0.04 * (U - 8) + 0.01 * (V - 11), -0.06 * (V - 11) + 0.01 * (U - 8)
NORMALS = gradient_to_normals(P, Q)  # along u, v, z
XYZ = np.stack([NORMALS[..., 1], -NORMALS[..., 0], NORMALS[..., 2]], axis=-1)


def as_colours(normals, dtype):
    """Return normals as colours, as normal maps are painted."""
    return np.rint((normals + 1) / 2 * np.iinfo(dtype).max).astype(dtype)


def write(path, array=XYZ):
    """Write an array with the library that people use for that format, and return the path."""
    if path.suffix == ".npy":
        np.save(path, array)
    elif path.suffix == ".npz":
        np.savez(path, normals=array)
    elif path.suffix == ".mat":
        savemat(path, {"N": array})
    elif path.suffix == ".exr":
        import OpenEXR

        with OpenEXR.File({}, {"RGB" if array.ndim == 3 else "Y": array}) as file:
            file.write(str(path))
    else:
        assert cv2.imwrite(str(path), array[..., ::-1] if array.ndim == 3 else array)
    return path


def make(path):
    """Make a folder with a normal map of 16 bits and a mask."""
    path.mkdir()
    write(path / "normal_map.png", as_colours(XYZ, np.uint16))
    write(path / "mask.png", MASK.astype(np.uint8) * 255)
    return path


def run(*arguments):
    """Run the command in this process, into normint-out if nothing else is said, and return its exit code."""
    out = () if "--out" in arguments else ("--out", "normint-out")
    return run_beside(*arguments, *out)


def run_beside(*arguments):
    """Run the command in this process, as it is written, and return its exit code."""
    return cli.main(["integrate", *map(str, arguments)])


def contents(path):
    """Return all files below a folder, hidden ones too."""
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def assert_refused(capsys, code, *words, expected=1):
    """Check the exit code, and that there is one line of error with these words in it and nothing else."""
    output = capsys.readouterr()
    assert (code, output.out) == (expected, "")
    assert output.err.startswith("normint: error: ") and output.err.count("\n") == 1
    for word in words:
        assert str(word) in output.err
