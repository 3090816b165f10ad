"""Matlab files give the arrays that another reader gives."""

import io
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from normint.files.matlab import read_matlab

EXAMPLES = sorted(Path(scipy.io.__file__).parent.glob("matlab/tests/data/*.mat"))  # saved by many versions
TYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8", "?"]


def numbers(arrays):
    """Return the arrays of real numbers that have a name."""
    named = {name: array for name, array in arrays.items() if not name.startswith("__")}
    return {n: a for n, a in named.items() if isinstance(a, np.ndarray) and a.dtype.kind in "biuf"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_files_of_many_versions(path):
    data = path.read_bytes()
    try:
        expected = numbers(scipy.io.loadmat(io.BytesIO(data)))
    except Exception:
        expected = None
    try:
        found = numbers(read_matlab(path, data))
    except ValueError as error:
        assert expected is None and path.name in str(error)
        return
    if expected is not None:  # what only the other reader refuses is an odd name
        assert list(found) == list(expected)
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array)
            assert found[name].dtype.str[1:] == array.dtype.str[1:]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (4, 3, 2), (0, 3)])
def test_all_types_and_shapes(dtype, packed, shape):
    array = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    file = io.BytesIO()
    scipy.io.savemat(file, {"a": array, "other": np.ones(7)}, do_compression=packed)
    found = read_matlab("x.mat", file.getvalue(), ["a"])
    assert list(found) == ["a"]
    np.testing.assert_array_equal(found["a"], array)
    assert found["a"].dtype == (np.uint8 if dtype == "?" else dtype)
