"""Files that would never end, that claim to be enormous, or that lead elsewhere: refused before any work."""

import io
import os
import struct
import subprocess
import sys
import threading
import zipfile
import zlib

import data_folders as folders
import numpy as np
import pytest
import scipy.io
from relief_files import XYZ, assert_refused, make, run

from normint import datasets
from normint.files import reading
from normint.files.images import hushed
from normint.files.normal_maps import read_normals
from normint.files.reading import available

SIDE = 100_000


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Work in a folder of its own, so that nothing is written into another."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def folder(tmp_path):
    return make(tmp_path / "relief")


class TestNoPlainFiles:
    """Nobody writes into these pipes: a command that opened one would wait for ever."""

    @pytest.mark.parametrize(
        "name", ["pipe.png", "pipe.tiff", "pipe.npy", "pipe.npz", "pipe.mat", "pipe.exr"]
    )
    def test_normals(self, capsys, name):
        os.mkfifo(name)
        assert_refused(capsys, run(name), f"{name} cannot be read: it is a pipe or a device")

    @pytest.mark.parametrize("suffix", ["png", "npy", "txt"])
    @pytest.mark.parametrize("option", ["--mask", "--camera", "--prior"])
    def test_options(self, folder, capsys, option, suffix):
        os.mkfifo(f"pipe.{suffix}")
        weight = ("--prior-weight", 1) if option == "--prior" else ()
        assert_refused(capsys, run(folder, option, f"pipe.{suffix}", *weight), f"pipe.{suffix}")

    @pytest.mark.parametrize("name", ["normal_map.png", "mask.png", "K.txt"])
    def test_in_a_folder(self, folder, capsys, name):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
        assert_refused(capsys, run(folder), f"{name} cannot be read: it is a pipe or a device")

    @pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
    def test_devices(self, folder, capsys, device):
        assert_refused(capsys, run(folder, "--camera", device), f"{device} cannot be read: it is a pipe or a")

    def test_links_in_a_circle(self, folder, capsys):
        os.symlink("circle.npy", "circle.npy")
        assert_refused(
            capsys, run("circle.npy"), "circle.npy cannot be read: Too many levels of symbolic links"
        )
        (folder / "K.txt").symlink_to("K.txt")
        assert run(folder) == 0  # it is not there

    def test_data_sets(self, tmp_path, monkeypatch):
        monkeypatch.setenv("NORMINT_DATA", str(tmp_path))
        path = folders.write_cat(tmp_path) / "filenames.txt"
        path.unlink()
        os.mkfifo(path)
        with pytest.raises(ValueError, match="filenames.txt cannot be read: it is a pipe"):
            datasets.cat()


@pytest.mark.parametrize("kind", ["absolute", "above", "link"])
def test_a_list_of_images_stays_in_its_folder(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("NORMINT_DATA", str(tmp_path / "data"))
    path = folders.write_cat(tmp_path / "data")
    names = (path / "filenames.txt").read_text().split()
    (path / names[0]).rename(tmp_path / "data" / "DiLiGenT" / "secret.png")
    (path / names[0]).symlink_to("../../secret.png")
    lead = {"absolute": str(path.parents[1] / "secret.png"), "above": "../../secret.png", "link": names[0]}[
        kind
    ]
    (path / "filenames.txt").write_text("\n".join([lead, *names[1:]]))
    with pytest.raises(ValueError, match=r"filenames\.txt has .*; expected names of images in this folder"):
        datasets.cat()


def png(rows, columns):
    """Return a PNG that claims to be large."""
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(bytes(99))),
    ]
    chunks = [struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks) + b"\0\0\0\0IEND\xaeB`\x82"


def tiff(rows, columns, order="<"):
    """Return a TIFF that claims to be large, of whole numbers in three channels."""
    start = 8 + 2 + 9 * 12 + 4
    tags = [
        (256, columns),
        (257, rows),
        (258, 16),
        (259, 1),
        (262, 2),
        (273, start),
        (277, 3),
        (278, rows),
        (279, 9),
    ]
    entries = b"".join(struct.pack(order + "HHII", tag, 4, 1, value) for tag, value in tags)
    begin = b"II*\0" if order == "<" else b"MM\0*"
    return begin + struct.pack(order + "IH", 8, len(tags)) + entries + bytes(99)


def big_tiff(rows, columns):
    """Return the same in the form for files above 4 GB."""
    tags = [(256, columns), (257, rows), (258, 16), (277, 3)]
    entries = b"".join(struct.pack("<HHQQ", tag, 4, 1, value) for tag, value in tags)
    return b"II+\0" + struct.pack("<HHQQ", 8, 0, 16, len(tags)) + entries + bytes(99)


def npz(rows, columns):
    """Return an archive of zeros that claims to unpack to a large array."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (rows, columns, 3)}
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("n.npy", header.getvalue() + bytes(1000))
    size, claimed = struct.pack("<I", len(header.getvalue()) + 1000), struct.pack("<I", 2**32 - 2)
    return file.getvalue().replace(size, claimed)


def mat(rows, columns):
    """Return a Matlab file that claims to have a large variable."""
    file = io.BytesIO()
    scipy.io.savemat(file, {"n": np.zeros((7, 11, 3))})
    return file.getvalue().replace(struct.pack("<II", 7, 11), struct.pack("<II", rows, columns))


class TestLargeFiles:
    @pytest.mark.parametrize(
        ("suffix", "make", "side"),
        [
            (".png", png, SIDE),
            (".tiff", tiff, SIDE),
            (".tiff", lambda *size: tiff(*size, order=">"), SIDE),
            (".tiff", big_tiff, SIDE),
            (".npz", npz, 12_000),
            (".mat", mat, SIDE),
        ],
    )
    def test_the_size_what_it_needs_and_what_there_is(
        self, tmp_path, monkeypatch, capsys, suffix, make, side
    ):
        monkeypatch.setattr(reading, "available", lambda: 2e9)
        path = tmp_path / f"large{suffix}"
        path.write_bytes(make(side, side))
        size = f"{side} × {side}"
        assert_refused(capsys, run(path), f"large{suffix}", size, "GB of memory; there are only 2.0 GB")

    @pytest.mark.parametrize(("suffix", "make"), [(".png", png), (".tiff", tiff)])
    def test_larger_than_opencv_reads_is_not_damaged(self, tmp_path, monkeypatch, capsys, suffix, make):
        monkeypatch.setattr(reading, "available", lambda: 1e15)
        path = tmp_path / f"large{suffix}"
        path.write_bytes(make(SIDE, SIDE))
        assert_refused(capsys, run(path), f"{SIDE} × {SIDE} pixels is larger than images that OpenCV reads")

    def test_a_file_of_many_bytes(self, monkeypatch, capsys):
        monkeypatch.setattr(reading, "available", lambda: 2e9)
        with open("large.npy", "wb") as file:
            file.truncate(4 * 10**9)  # of nothing, which take no room on the disk
        assert_refused(capsys, run("large.npy"), "large.npy needs 4.0 GB of memory; there are only 2.0 GB")

    def test_exr(self, tmp_path, monkeypatch, capsys):
        OpenEXR = pytest.importorskip("OpenEXR")
        with OpenEXR.File({}, {"RGB": XYZ.astype(np.float32)}) as file:
            file.write("n.exr")
        monkeypatch.setattr(reading, "available", lambda: 10_000)
        assert_refused(capsys, run("n.exr"), "n.exr needs")

    def test_the_work_is_estimated_too(self, folder, tmp_path, monkeypatch, capsys):
        # Around the mask there are 17 × 17 pixels; their file, of some thousand bytes, is read.
        monkeypatch.setattr(reading, "available", lambda: 100 * 17 * 17)
        words = "relief of 17 × 17 pixels, integrated by quadratic, needs 0.0376 MB of memory; there are only"
        assert_refused(capsys, run(folder), words)
        np.save("n.npy", XYZ[:17, :17])
        assert run("n.npy", "--method", "dct", "--quiet") == 0
        assert_refused(capsys, run("n.npy", "--method", "phi1", "--out", "o"), "integrated by phi1, needs")

    def test_a_limit_of_the_process_counts(self):
        program = (
            "import resource; from normint.files.reading import available; before = available();"
            "resource.setrlimit(resource.RLIMIT_AS, (2**31, -1)); print(before, available())"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        before, after = map(float, done.stdout.split())
        assert 0 < after < 2**31 and after <= before

    def test_pixels_that_openexr_cannot_read_are_not_taken(self, capsys):
        OpenEXR = pytest.importorskip("OpenEXR")
        with OpenEXR.File({}, {"RGB": XYZ.astype(np.float32)}) as file:
            file.write("n.exr")
        with open("n.exr", "r+b") as file:
            file.truncate(os.path.getsize("n.exr") - 200)
        assert_refused(capsys, run("n.exr"), "n.exr is not an EXR file that can be read: it is damaged")

    def test_there_is_some(self):
        assert 0 < available() < 2**50


class TestArchives:
    def test_without_arrays(self, tmp_path, capsys):
        np.savez("empty.npz")
        with zipfile.ZipFile("text.npz", "w") as archive:
            archive.writestr("readme.txt", "no arrays")
        for name in ("empty.npz", "text.npz"):
            assert_refused(capsys, run(name), f"{name} has nothing; expected three components a pixel")

    def test_other_files_in_it_are_not_read(self):
        np.savez("n.npz", normals=XYZ)
        with zipfile.ZipFile("n.npz", "a") as archive:
            archive.writestr("notes.txt", "more")
        np.testing.assert_array_equal(read_normals("n.npz"), XYZ)

    def test_cells_and_structures_of_matlab_are_left_alone(self):
        cells = np.array([[1, "two"]], dtype=object)
        scipy.io.savemat("n.mat", {"normals": XYZ, "cells": cells, "more": {"a": 1}, "note": "text"})
        np.testing.assert_array_equal(read_normals("n.mat"), XYZ)
        scipy.io.savemat("c.mat", {"cells": cells})
        with pytest.raises(ValueError, match="c.mat has nothing"):
            read_normals("c.mat")


def test_threads_that_hush_leave_standard_error_as_it_was():
    before, errors = os.fstat(2), []

    def work(seed):
        try:
            for _ in range(200):
                with hushed():
                    pass
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    after = os.fstat(2)
    assert not errors and (before.st_dev, before.st_ino) == (after.st_dev, after.st_ino)
    assert before.st_rdev == after.st_rdev
