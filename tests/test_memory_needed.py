"""What does not fit into the memory is refused before any work, with what it needs and what to do."""

import struct
import subprocess
import sys

import cv2
import numpy as np
import pytest

import normint
from benchmarks import cases
from benchmarks.memory import peak_bytes
from normint import cli, integration, paths, shortage
from normint.files import mapped
from normint.files.arrays import read_array
from normint.files.images import decode_image
from normint.files.normal_maps import read_normals


@pytest.fixture
def eight_gigabytes(monkeypatch):
    monkeypatch.setattr(shortage, "available", lambda: 8e9)


class Untouched(np.ndarray):
    """A large image that takes no memory, and of which nobody may compute anything."""

    def __array_ufunc__(self, *_, **__):
        raise AssertionError("work was done")

    def __array_function__(self, *_, **__):
        raise AssertionError("work was done")


def large(shape=(20_000, 10_000)):
    return np.broadcast_to(np.zeros(1, np.float32), shape).view(Untouched)


def test_a_large_map_is_refused_before_any_work(eight_gigabytes):
    with pytest.raises(MemoryError) as refused:
        normint.integrate(large(), large())
    assert str(refused.value) == (
        "p of 20000 × 10000 pixels, 200 million of them around the mask, integrated by quadratic, needs "
        "18.0 GB of memory; there are only 8.0 GB; normint.integrate_tiles integrates by least squares "
        "tile by tile"
    )


@pytest.mark.parametrize("method", integration.METHODS)
def test_each_method_tells_what_it_needs(method, eight_gigabytes):
    each = integration.METHODS[method].memory
    pixels = int(8e9 / each) + 10**6
    with pytest.raises(MemoryError, match=f"integrated by {method}, needs"):
        normint.integrate(large((pixels // 1000, 1000)), large((pixels // 1000, 1000)), method=method)


def test_a_prior_needs_more(monkeypatch):
    shape = (2000, 1000)
    monkeypatch.setattr(shortage, "available", lambda: 200e6)
    p, q = np.zeros((2, *shape))
    assert normint.integrate(p, q).converged
    with pytest.raises(MemoryError, match="needs 360 MB"):
        normint.integrate(large(shape), large(shape), prior=np.zeros(shape), prior_weight=1.0)


def test_only_the_rectangle_around_the_mask_counts(monkeypatch):
    monkeypatch.setattr(shortage, "available", lambda: 100e6)
    p, mask = np.zeros((2000, 1000)), np.zeros((2000, 1000), bool)
    mask[100:140, 200:300] = True
    assert normint.integrate(p, p, mask).converged
    mask[-1, -1] = True
    with pytest.raises(MemoryError, match="1.52 million"):
        normint.integrate(p, p, mask)


def test_normal_maps_are_refused_as_well(monkeypatch):
    monkeypatch.setattr(shortage, "available", lambda: 50e6)
    normals = np.broadcast_to(np.array([0.6, 0.0, 0.8]), (1500, 1000, 3))
    with pytest.raises(MemoryError, match="1500 × 1000 pixels"):
        normint.integrate_normals(normals, axes="xyz")


def test_the_command_says_so_and_writes_nothing(tmp_path, monkeypatch, capsys):
    normals = np.broadcast_to(np.array([0.6, 0.0, 0.8], np.float32), (1500, 1000, 3))
    np.save(tmp_path / "wall.npy", normals)
    monkeypatch.setenv("NORMINT_MEMORY", "100e6")
    command = ["integrate", str(tmp_path / "wall.npy"), "--axes", "xyz", "--out", str(tmp_path / "out")]
    assert cli.main(command) == 1
    words = (
        "wall.npy of 1500 × 1000 pixels, integrated by quadratic, needs 135 MB of memory; there are only 100"
    )
    assert words in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["wall.npy"]


@pytest.mark.parametrize("text", ["much", "-1", "0", "nan"])
def test_the_limit_of_the_environment_is_a_number(text, monkeypatch):
    monkeypatch.setenv("NORMINT_MEMORY", text)
    with pytest.raises(ValueError, match=f"NORMINT_MEMORY is '{text}'"):
        paths.memory()


def test_the_limit_of_the_environment_counts():
    program = "from normint.shortage import available; print(available())"
    command = [sys.executable, "-c", f"import os; os.environ['NORMINT_MEMORY'] = '1000'; {program}"]
    assert float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) == 1000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rectangle", "disk", "slits"])
def test_least_squares_takes_no_more_than_it_tells(name):
    """Of float64 inputs, whose conversion, 16 bytes, is part of what is told.

    In one of three trials: where the system takes idle memory away, its return counts as needed.
    """
    n = 1024
    assert cases.mask(n, name).any()
    told = integration.memory_of("quadratic", n**2)
    assert any(peak_bytes(n, name) + 16 * n**2 <= told for _ in range(3))


class TestLargeFilesAreMapped:
    @pytest.fixture(autouse=True)
    def all_are_large(self, monkeypatch):
        monkeypatch.setattr(mapped, "LARGE", 0)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_npy(self, tmp_path, dtype, order):
        values = np.asarray(np.arange(2 * 5 * 3).reshape(2, 5, 3), dtype, order=order)
        np.save(tmp_path / "n.npy", values)
        found = read_array(tmp_path / "n.npy", "anything", lambda array: True)
        assert isinstance(found, np.memmap)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, values)

    @pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
    @pytest.mark.parametrize("shape", [(7, 5), (7, 5, 3)])
    @pytest.mark.parametrize("compression", [1, 5])
    def test_tiff_as_opencv_reads_it(self, tmp_path, dtype, shape, compression):
        values = np.random.default_rng(0).integers(0, 200, shape).astype(dtype)
        path = tmp_path / "n.tiff"
        assert cv2.imwrite(str(path), values, [cv2.IMWRITE_TIFF_COMPRESSION, compression])
        found = mapped.map_tiff(path)
        assert (found is None) == (compression != 1 and dtype != np.float64)  # these it never compresses
        expected = values[..., ::-1] if len(shape) == 3 else values  # OpenCV has blue first
        np.testing.assert_array_equal(decode_image(path), expected)

    @pytest.mark.parametrize("order", "<>")
    def test_tiff_of_strips_that_follow_each_other_or_do_not(self, tmp_path, order):
        values = np.arange(24, dtype=f"{order}f4").reshape(6, 4)
        for gap in (0, 4):
            path = tmp_path / f"{gap}.tif"
            path.write_bytes(tiff_of_strips(values, order, rows=2, gap=gap))
            found = mapped.map_tiff(path)
            assert (found is None) == (gap > 0)
            if not gap:
                np.testing.assert_array_equal(found, values)

    def test_damaged_files_are_refused_as_before(self, tmp_path):
        np.save(tmp_path / "n.npy", np.zeros((40, 40, 3)))
        whole = (tmp_path / "n.npy").read_bytes()
        for content in (whole[:-1], whole[:20], whole[:6], b""):
            (tmp_path / "n.npy").write_bytes(content)
            with pytest.raises(ValueError, match="n.npy is not a NumPy file"):
                read_array(tmp_path / "n.npy", "anything", lambda array: True)

    def test_a_mapped_normal_map_gives_the_same_surface(self, tmp_path):
        vase = normint.surfaces.vase(64)
        normals = normint.gradient_to_normals(vase.p, vase.q).astype(np.float32)
        np.save(tmp_path / "n.npy", normals)
        stored = read_normals(tmp_path / "n.npy")
        assert stored.dtype == np.float32
        assert not stored.flags.writeable  # it is the file
        found = normint.integrate_normals(stored, vase.mask, axes="uvz").depth
        expected = normint.integrate_normals(normals.astype(np.float64), vase.mask, axes="uvz").depth
        np.testing.assert_array_equal(found, expected)


def tiff_of_strips(values, order, *, rows, gap):
    """Return the bytes of a TIFF of real numbers, so many rows a strip, with so many bytes between strips."""
    strips = [values[k : k + rows].tobytes() for k in range(0, len(values), rows)]
    counts = [len(strip) for strip in strips]
    places = [8 + k * (counts[0] + gap) for k in range(len(strips))]
    body = b"".join(strip + bytes(gap) for strip in strips)
    lists = 8 + len(body)
    tags = [(256, 3, 1, values.shape[1]), (257, 3, 1, values.shape[0]), (258, 3, 1, 32), (259, 3, 1, 1)]
    tags += [(262, 3, 1, 1), (273, 4, len(strips), lists), (277, 3, 1, 1), (278, 3, 1, rows)]
    tags += [(279, 4, len(strips), lists + 4 * len(strips)), (339, 3, 1, 3)]
    numbers = struct.pack(f"{order}{2 * len(strips)}I", *places, *counts)
    entries = b"".join(
        struct.pack(
            f"{order}HHIHH" if kind == 3 else f"{order}HHII", tag, kind, count, value, *([0] * (kind == 3))
        )
        for tag, kind, count, value in tags
    )
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(f"{order}I", lists + len(numbers))
    return head + body + numbers + struct.pack(f"{order}H", len(tags)) + entries + bytes(4)
