"""Files that are damaged, hostile or enormous: refused by name, in one line, before any work."""

import io
import os
import pickle
import re
import shutil
import struct
import subprocess
import sys
import threading
import warnings
import zipfile
import zlib

import data_folders as folders
import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from relief_files import MASK, NORMALS, XYZ, as_colours, assert_refused, run, write

from normint import datasets, paths, shortage
from normint.datasets import stand_ins
from normint.files.arrays import FORMATS
from normint.files.images import hushed, read_image, write_image
from normint.files.matlab import read_matlab
from normint.files.normal_maps import read_camera, read_depth, read_mask, read_normals

try:
    import OpenEXR
except ImportError:
    OpenEXR = None

needs_openexr = pytest.mark.skipif(OpenEXR is None, reason="pip install 'normint[exr]'")
SIDE = 100_000
SMOOTH = np.add.outer(np.arange(60), np.arange(80)).astype(np.uint16) * 400
RNG = np.random.default_rng(0)


def refused(path, read=read_image, error=ValueError):
    """Check that a file is refused by exactly this kind of error, which names it; return the message."""
    with pytest.raises(error, match=re.escape(str(path))) as caught:
        read(path)
    assert type(caught.value) is error and "\n" not in str(caught.value)
    return str(caught.value)


# Ways to damage a file.


def cut(share):
    return lambda path: path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


def flip(share):
    def change(path):
        data = bytearray(path.read_bytes())
        data[int(share * len(data))] ^= 1
        path.write_bytes(data)

    return change


def remove(path):
    path.unlink()


def folder(path):
    path.unlink()
    path.mkdir()


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def text(words):
    return lambda path: path.write_text(words)


def lines(change):
    """Change the lines of a table."""
    return lambda path: path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")


def image(values):
    return lambda path: folders.write_png(path, values)


def mat(**variables):
    return lambda path: scipy.io.savemat(path, variables)


def npz(**arrays):
    return lambda path: np.savez(path, **arrays)


def npy(array):
    def change(path):
        with open(path, "wb") as file:
            np.save(file, array)

    return change


SEEN, GREY8 = folders.IMAGES[0], np.full((10, 12), 255, np.uint8)
ANY = {"removed": remove, "a folder": folder, "a pipe": pipe, "empty": text(""), "words": text("404: no")}
THERE = {name: damage for name, damage in ANY.items() if damage is not remove}
STORED = folders.beethoven_arrays()

DAMAGES = {
    ("cat", "003.png"): {
        **ANY, "half": cut(0.5), "last byte": cut(0.999), "flipped": flip(0.5), "grey": image(SEEN[..., 0]),
        "8 bits": image((SEEN >> 8).astype(np.uint8)), "other size": image(SEEN[:-1]),
    },
    ("cat", "mask.png"): {**ANY, "cut": cut(0.7), "flipped": flip(0.6), "black": image(0 * GREY8)},
    ("cat", "light_directions.txt"): {
        **ANY, "too few rows": lines(lambda rows: rows[:-1]), "too many": lines(lambda rows: rows * 2),
        "too few columns": lines(lambda rows: [row[:13] for row in rows]), "cut": cut(0.55),
        "a word": lines(lambda rows: [*rows[:-1], "0.1 0.2 left"]),
        "NaN": lines(lambda rows: ["nan 0 1", *rows[1:]]),
        "bytes": lambda path: path.write_bytes(bytes(range(256))),
    },
    ("cat", "light_intensities.txt"): {
        **ANY, "zero": lines(lambda rows: ["0 1 1", *rows[1:]]),
        "infinite": lines(lambda rows: ["inf 1 1", *rows[1:]]),
    },
    ("cat", "Normal_gt.mat"): {
        **ANY, "half": cut(0.5), "header only": cut(0.03), "last byte": cut(0.9995), "flipped": flip(0.5),
        "other shape": mat(Normal_gt=folders.NORMALS[:-1]), "other key": mat(normals=folders.NORMALS),
        "words in it": mat(Normal_gt="see the paper"), "complex": mat(Normal_gt=1j * folders.NORMALS),
        "version 7.3": text("MATLAB 7.3 MAT-file".ljust(124) + "\x00\x02IM" + "\x89HDF\r\n"),
    },
    ("cat", "filenames.txt"): {"removed": remove, "a folder": folder, "a pipe": pipe, "empty": text("\n \n")},
    ("beethoven", ""): {
        **THERE, "half": cut(0.5), "before the lights": cut(0.9), "last byte": cut(0.99999),
        "two images": mat(**{**STORED, "I": STORED["I"][..., :2]}),
        "real images": mat(**{**STORED, "I": STORED["I"] / 255}),
        "no lights": mat(I=STORED["I"], mask=STORED["mask"]),
        "other mask": mat(**{**STORED, "mask": STORED["mask"][:-1]}),
        "empty mask": mat(**{**STORED, "mask": 0 * STORED["mask"]}),
    },
    ("peppers", ""): {
        **THERE, "half": cut(0.5), "cut at the start": cut(0.001), "last byte": cut(0.99999),
        "other size": image(np.zeros((384, 512, 3), np.uint8)), "grey": image(np.zeros((512, 512), np.uint8)),
        "16 bits": image(np.zeros((512, 512, 3), np.uint16)),
        "real numbers": image(np.zeros((512, 512, 3), np.float32)),
    },
    ("depth_and_normals", "normal_map.png"): {
        **ANY, "cut": cut(0.6), "flipped": flip(0.4), "grey": image(SEEN[..., 0]),
    },
    ("depth_and_normals", "mask.png"): {**THERE, "cut": cut(0.8), "other size": image(GREY8.T)},
    ("depth_and_normals", "K.txt"): {
        **THERE, "other size": text("1 0 5\n0 1 5\n"), "no focal length": text("0 0 5\n0 9 5\n0 0 1\n"),
        "negative": text("9 0 6\n0 -9 5\n0 0 1\n"), "skew": text("9 1 6\n0 9 5\n0 0 1\n"),
        "neither by rows nor by columns": text("9 0 0\n0 9 0\n6 5 2\n"),
    },
    ("depth_and_normals", "depth_gt.npz"): {
        **ANY, "half": cut(0.5), "last byte": cut(0.999), "flipped": flip(0.5),
        "other key": npz(depth=folders.DEPTH), "other shape": npz(depth_gt=folders.DEPTH.T),
        "words in it": npz(depth_gt=folders.DEPTH.astype(str)), "one array": npy(folders.DEPTH),
    },
}  # fmt: skip
CASES = [
    pytest.param(loader, file, damage, id=f"{loader}-{file}-{name}")
    for (loader, file), damages in DAMAGES.items()
    for name, damage in damages.items()
]


class TestDataSets:
    """Data that is there but broken is an error that names the file, and never the stand-in in its place."""

    @pytest.fixture(autouse=True)
    def data(self, tmp_path, monkeypatch):
        def refuse():
            raise AssertionError("a stand-in was taken for data that is there")

        (tmp_path / "data").mkdir()
        monkeypatch.setenv("NORMINT_DATA", str(tmp_path / "data"))
        monkeypatch.setattr(paths, "root", lambda: tmp_path / "repository")
        for name in folders.WRITERS:
            monkeypatch.setattr(stand_ins, name, refuse)
        return tmp_path / "data"

    @pytest.mark.parametrize(("loader", "file", "damage"), CASES)
    def test_broken_file(self, data, loader, file, damage):
        path = folders.WRITERS[loader](data) / file
        damage(path)
        expected = FileNotFoundError if damage is remove else ValueError
        for which in ("auto", "real"):
            refused(path, lambda _, which=which: getattr(datasets, loader)(which), expected)

    @pytest.mark.parametrize("loader", ["cat", "depth_and_normals"])
    @pytest.mark.parametrize("as_file", [False, True], ids=["an empty folder", "a file"])
    def test_broken_folder(self, data, loader, as_file):
        path = folders.WRITERS[loader](data)
        shutil.rmtree(path)
        path.write_text("moved") if as_file else path.mkdir()
        with pytest.raises((FileNotFoundError, ValueError), match=path.name):
            getattr(datasets, loader)()

    @pytest.mark.parametrize("kind", ["absolute", "above", "link", "no name"])
    def test_a_list_of_images_stays_in_its_folder(self, data, kind):
        path = folders.write_cat(data)
        names = (path / "filenames.txt").read_text().split()
        secret = data / "DiLiGenT" / "secret.png"
        (path / names[0]).rename(secret)
        (path / names[0]).symlink_to("../../secret.png")
        first = {"absolute": secret, "above": "../../secret.png", "link": names[0], "no name": "00\0.png"}[
            kind
        ]
        (path / "filenames.txt").write_text("\n".join([str(first), *names[1:]]))
        words = (
            "cannot be read" if kind == "no name" else r"filenames\.txt has .*; expected names of images in"
        )
        with pytest.raises(ValueError, match=words) as caught:
            datasets.cat()
        assert str(path) in str(caught.value)

    def test_broken_data_is_not_passed_over_for_other_data(self, data, tmp_path):
        folders.write_cat(tmp_path / "repository" / "data")
        assert datasets.cat().data == "real"
        path = folders.write_cat(data) / "002.png"
        cut(0.5)(path)
        refused(path, lambda _: datasets.cat())

    @pytest.mark.parametrize("raw", [False, True], ids=["array of objects", "pickle"])
    def test_nothing_is_ever_unpickled(self, data, tmp_path, raw):
        class Trap:
            def __reduce__(self):
                return os.mkdir, (str(tmp_path / "sprung"),)

        path = folders.write_normal_map(data) / "depth_gt.npz"
        trap = np.full((10, 12), None)
        trap[0, 0] = Trap()
        path.write_bytes(pickle.dumps(trap)) if raw else np.savez(path, depth_gt=trap)
        with pytest.raises(ValueError, match="depth_gt.npz is not a NumPy file of numbers"):
            datasets.depth_and_normals()
        assert not (tmp_path / "sprung").exists()
        pickle.loads(pickle.dumps(trap))  # the trap works
        assert (tmp_path / "sprung").exists()


class TestCommand:
    """One line of error, and nothing is written."""

    def test_damaged(self, relief, tmp_path, capsys):
        (relief / "K.txt").write_text("one two three")
        assert_refused(capsys, run(relief), "K.txt, line 1, column 1: 'one' is not a number")
        cut(0.9)(relief / "normal_map.png")
        assert_refused(capsys, run(relief), "normal_map.png ends too early")
        assert not (tmp_path / "normint-out").exists()

    @pytest.mark.parametrize("option", ["--mask", "--camera", "--prior"])
    def test_missing(self, relief, capsys, option):
        weight = ("--prior-weight", 1) if option == "--prior" else ()
        assert_refused(capsys, run(relief, option, "none.npy", *weight), "none.npy is missing")
        assert_refused(capsys, run("nowhere"), "nowhere is missing")
        os.mkdir("empty")
        assert_refused(capsys, run("empty"), "normal_map.png is missing")

    @pytest.mark.parametrize("suffix", FORMATS)
    def test_pipes(self, relief, capsys, suffix):
        """Nobody writes into them: a command that opened one would wait for ever."""
        name = f"pipe{suffix}"
        os.mkfifo(name)
        assert_refused(capsys, run(name), f"{name} cannot be read: it is a pipe or a device")
        for option in (["--mask"], ["--camera"], ["--prior-weight", 1, "--prior"]):
            assert_refused(capsys, run(relief, *option, name), name)

    def test_devices_and_links_in_a_circle(self, relief, capsys):
        for device in ("/dev/zero", "/dev/null"):
            assert_refused(
                capsys, run(relief, "--camera", device), f"{device} cannot be read: it is a pipe or a"
            )
        os.symlink("circle.npy", "circle.npy")
        assert_refused(capsys, run("circle.npy"), "circle.npy cannot be read: Too many levels of symbolic")
        (relief / "K.txt").symlink_to("K.txt")
        assert run(relief) == 0  # it is not there

    def test_shapes_that_differ(self, relief, capsys):
        np.save("turned.npy", MASK.T.astype(float))
        words = "turned.npy has shape (24, 20); expected (20, 24) numbers"
        assert_refused(capsys, run(relief, "--mask", "turned.npy"), words)
        assert_refused(capsys, run(relief, "--prior", "turned.npy", "--prior-weight", 1), words)

    def test_empty_masks_and_maps(self, relief, capsys):
        np.save("empty.npy", np.zeros(MASK.shape))
        assert_refused(capsys, run(relief, "--mask", "empty.npy"), "empty.npy is empty")
        np.save("n.npy", np.where(MASK[..., np.newaxis], XYZ, 0))
        np.save("outside.npy", ~MASK)
        assert_refused(capsys, run("n.npy", "--mask", "outside.npy"), "n.npy", "expected a mask that belongs")
        for suffix in (".png", ".npy", ".mat"):
            path = write(relief / f"zero{suffix}", np.zeros((4, 5, 3), np.uint8))
            assert_refused(capsys, run(path), f"zero{suffix}: normals are NaN or zero everywhere")

    def test_archives_without_arrays(self, relief, capsys):
        np.savez("empty.npz")
        with zipfile.ZipFile("text.npz", "w") as archive:
            archive.writestr("readme.txt", "no arrays")
        for name in ("empty.npz", "text.npz"):
            assert_refused(capsys, run(name), f"{name} has nothing; expected three components a pixel")

    def test_exr_without_a_library(self, relief, monkeypatch, capsys):
        (relief / "n.exr").write_bytes(b"\x76\x2f\x31\x01" + bytes(50))
        monkeypatch.setitem(sys.modules, "OpenEXR", None)
        assert_refused(capsys, run(relief / "n.exr"), "n.exr cannot be read", "pip install 'normint[exr]'")


class TestImages:
    @pytest.fixture
    def path(self, tmp_path):
        write_image(tmp_path / "image.png", SMOOTH)
        return tmp_path / "image.png"

    @pytest.mark.parametrize("kept", [1, 8, 20, 33, 45, 0.5, -12, -1])
    def test_truncated_png(self, path, kept):
        """In its signature, header, data, checksum and end."""
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2 if kept == 0.5 else kept])
        refused(path)

    @pytest.mark.slow
    def test_every_flipped_byte_and_every_missing_part(self, path):
        write_image(path, RNG.integers(0, 65536, (4, 4, 3)).astype(np.uint16))
        data = path.read_bytes()
        for place in range(len(data)):
            path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
            refused(path)
        # Each part that is there is whole, but one of the image's is not there.
        write_image(path, RNG.integers(0, 65536, (200, 200)).astype(np.uint16))
        data, parts, place = path.read_bytes(), [], 8
        while place < len(data):
            parts.append(data[place : place + 12 + int.from_bytes(data[place : place + 4], "big")])
            place += len(parts[-1])
        assert len(parts) > 6
        for gone in range(len(parts)):
            path.write_bytes(data[:8] + b"".join(parts[:gone] + parts[gone + 1 :]))
            refused(path)

    @pytest.mark.parametrize("kept", [0, 4, 200, 5000, 9599])
    def test_truncated_tiff(self, tmp_path, kept):
        path = tmp_path / "image.tiff"
        write_image(path, SMOOTH)
        data = path.read_bytes()
        path.write_bytes(data[: min(kept, len(data) - 1)])
        refused(path)

    @pytest.mark.parametrize("missing", [1, 64, 2000])
    def test_truncated_tiff_whose_directory_comes_first(self, tmp_path, missing):
        pixels = RNG.integers(0, 256, (40, 64)).astype(np.uint8)
        path, data = tmp_path / "image.tiff", tiff(40, 64, bits=8, samples=1, data=pixels.tobytes())
        path.write_bytes(data)
        np.testing.assert_array_equal(read_image(path), pixels)
        path.write_bytes(data[:-missing])
        refused(path)

    @pytest.mark.parametrize(
        "data", [b"", bytes(500), b"<html>404 Not Found</html>", b"version https://git-lfs"]
    )
    def test_no_image_at_all(self, path, data):
        path.write_bytes(data)
        assert "is not an image that can be read" in refused(path)

    def test_no_file(self, tmp_path):
        (tmp_path / "file").touch()
        refused(tmp_path / "none" / "image.png", error=FileNotFoundError)
        refused(tmp_path / "file" / "image.png")
        refused(tmp_path)
        with pytest.raises(ValueError, match="cannot be read"):
            read_image(f"{tmp_path}/image\0.png")

    def test_damaged_parts_are_not_chatted_about(self, path, capfd):
        """The checksums are right and the data are not: the library writes to stderr by itself."""
        path.write_bytes(png(9, 9))
        refused(path)
        assert capfd.readouterr().err == ""

    def test_threads_that_hush_leave_standard_error_as_it_was(self):
        before = os.fstat(2)

        def work():
            for _ in range(200):
                with hushed:
                    pass

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        after = os.fstat(2)
        assert (before.st_dev, before.st_ino, before.st_rdev) == (after.st_dev, after.st_ino, after.st_rdev)


class TestOtherFormats:
    @pytest.mark.parametrize("suffix", [*FORMATS, ".jpg", ""])
    def test_missing_or_of_an_unknown_format(self, tmp_path, suffix):
        path = tmp_path / f"n{suffix}"
        assert "is missing" in refused(path, read_normals, FileNotFoundError)
        if suffix not in FORMATS:
            path.touch()
            assert f"ends in '{suffix}'; expected one of .png" in refused(path, read_normals)

    def test_new_matlab_files_and_pickles(self, tmp_path):
        (tmp_path / "n.mat").write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")
        assert "save it with the option '-v7'" in refused(tmp_path / "n.mat", read_normals)
        np.save(tmp_path / "n.npy", np.array([{"a": 1}]), allow_pickle=True)
        assert "not a NumPy file of numbers" in refused(tmp_path / "n.npy", read_normals)

    @needs_openexr
    def test_exr(self, tmp_path):
        path = tmp_path / "n.exr"
        path.write_bytes(b"no exr")
        assert "is not an EXR file" in refused(path, read_normals)
        write(path, XYZ.astype(np.float32))
        whole = path.read_bytes()
        for data in (
            whole[:4] + bytes(50),
            whole[:-200],
        ):  # the library itself goes on without the last pixels
            path.write_bytes(data)
            assert "is not an EXR file that can be read: it is damaged" in refused(path, read_normals)

    @pytest.mark.slow
    @pytest.mark.parametrize("packed", [False, True])
    def test_no_damage_of_one_byte_of_a_matlab_file_does_harm(self, packed):
        file = io.BytesIO()
        scipy.io.savemat(file, {"a": np.arange(6.0).reshape(2, 3)}, do_compression=packed)
        data = file.getvalue()
        for place in range(len(data)):
            for value in (0, 1, 15, 127, 255):
                try:
                    read_matlab("x.mat", data[:place] + bytes([value]) + data[place + 1 :])
                except ValueError as error:
                    assert "x.mat" in str(error)


def png(rows, columns):
    """Return a PNG of this size whose data are too few."""
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(bytes(9))),
    ]
    chunks = [struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks) + b"\0\0\0\0IEND\xaeB`\x82"


def tiff(rows, columns, order="<", bits=16, samples=3, data=bytes(99)):
    """Return a TIFF whose directory, with this size, comes before the data."""
    start = 8 + 2 + 9 * 12 + 4
    tags = [(256, columns), (257, rows), (258, bits), (259, 1), (262, 2 if samples == 3 else 1), (273, start),
            (277, samples), (278, rows), (279, len(data))]  # fmt: skip
    entries = b"".join(struct.pack(order + "HHII", tag, 4, 1, value) for tag, value in tags)
    begin = b"II*\0" if order == "<" else b"MM\0*"
    return begin + struct.pack(order + "IH", 8, len(tags)) + entries + bytes(4) + data


def big_tiff(rows, columns):
    """Return one in the form for files above 4 GB."""
    tags = [(256, columns), (257, rows), (258, 16), (277, 3)]
    entries = b"".join(struct.pack("<HHQQ", tag, 4, 1, value) for tag, value in tags)
    return b"II+\0" + struct.pack("<HHQQ", 8, 0, 16, len(tags)) + entries + bytes(99)


def zip_bomb(rows, columns):
    """Return an archive of zeros that claims to unpack to a large array."""
    header = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (rows, columns, 3)}
    np.lib.format.write_array_header_1_0(header, shape)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("n.npy", header.getvalue() + bytes(1000))
    size, claimed = struct.pack("<I", len(header.getvalue()) + 1000), struct.pack("<I", 2**32 - 2)
    return file.getvalue().replace(size, claimed)


def matlab_bomb(rows, columns):
    """Return a Matlab file that claims to have a large variable."""
    file = io.BytesIO()
    scipy.io.savemat(file, {"n": np.zeros((7, 11, 3))})
    return file.getvalue().replace(struct.pack("<II", 7, 11), struct.pack("<II", rows, columns))


class TestLargeFiles:
    @pytest.mark.parametrize(
        ("suffix", "made"),
        [
            (".png", png(SIDE, SIDE)),
            (".tiff", tiff(SIDE, SIDE)),
            (".tiff", tiff(SIDE, SIDE, order=">")),
            (".tiff", big_tiff(SIDE, SIDE)),
            (".npz", zip_bomb(12_000, 12_000)),
            (".mat", matlab_bomb(SIDE, SIDE)),
        ],
    )
    def test_the_size_what_it_needs_and_what_there_is(self, relief, monkeypatch, capsys, suffix, made):
        monkeypatch.setattr(shortage, "available", lambda: 2e9)
        path = relief / f"large{suffix}"
        path.write_bytes(made)
        size = "12000 × 12000" if suffix == ".npz" else f"{SIDE} × {SIDE}"
        assert_refused(capsys, run(path), f"large{suffix}", size, "GB of memory; there are only 2.0 GB")
        monkeypatch.setattr(shortage, "available", lambda: 1e15)
        if suffix in (".png", ".tiff"):
            words = f"{SIDE} × {SIDE} pixels is larger than images that OpenCV reads"
            assert_refused(capsys, run(path), words)

    def test_a_file_of_many_bytes(self, relief, monkeypatch, capsys):
        monkeypatch.setattr(shortage, "available", lambda: 2e9)
        with open("large.npy", "wb") as file:
            file.truncate(4 * 10**9)  # of nothing, which take no room on the disk
        assert_refused(capsys, run("large.npy"), "large.npy needs 4.0 GB of memory; there are only 2.0 GB")

    @needs_openexr
    def test_exr(self, relief, monkeypatch, capsys):
        write(relief / "n.exr", XYZ.astype(np.float32))
        monkeypatch.setattr(shortage, "available", lambda: 10_000)
        assert_refused(capsys, run(relief / "n.exr"), "n.exr needs")

    def test_the_work_is_estimated_too(self, relief, monkeypatch, capsys):
        # Around the mask there are 17 × 17 pixels; their file, of some thousand bytes, is read.
        monkeypatch.setattr(shortage, "available", lambda: 60 * 17 * 17)
        words = "relief of 17 × 17 pixels, integrated by quadratic, needs 0.026 MB of memory; there are only"
        assert_refused(capsys, run(relief), words)
        np.save("n.npy", XYZ[:17, :17])
        assert run("n.npy", "--method", "dct", "--quiet") == 0
        assert_refused(capsys, run("n.npy", "--method", "phi1", "--out", "o"), "integrated by phi1, needs")

    def test_a_limit_of_the_process_counts(self):
        program = (
            "import resource; from normint.shortage import available; before = available();"
            "resource.setrlimit(resource.RLIMIT_AS, (2**31, -1)); print(before, available())"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        before, after = map(float, done.stdout.split())
        assert 0 < after < 2**31 and after <= before < 2**50


whole = {}


@pytest.mark.slow
@settings(max_examples=150)
@given(data=st.data(), suffix=st.sampled_from([*FORMATS, ".txt"]))
def test_any_bytes_are_read_or_refused_by_name(tmp_path_factory, data, suffix):
    home = tmp_path_factory.getbasetemp()
    path = home / f"fuzzed{suffix}"
    if suffix in (".png", ".tiff", ".npy", ".npz", ".mat") and data.draw(st.booleans()):
        if suffix not in whole:
            whole[suffix] = write(home / f"whole{suffix}", as_colours(NORMALS, np.uint8)).read_bytes()
        content = bytearray(whole[suffix])
        for _ in range(data.draw(st.integers(0, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        content = bytes(content[: data.draw(st.integers(0, len(content)))])
    else:
        content = data.draw(st.binary(max_size=300))
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for read, *shape in (
            (read_normals,),
            *((r, (20, 24)) for r in (read_depth, read_mask, read_camera)),
        ):
            try:
                assert isinstance(read(path, *shape), np.ndarray)
            except ValueError as error:
                assert path.name in str(error)


@settings(max_examples=60)
@given(
    array=hnp.arrays(
        st.sampled_from([bool, np.uint8, np.uint16, np.int32, np.float32, np.float64, complex, "U2"]),
        hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
    )
)
def test_any_array_is_read_or_refused_by_name(tmp_path_factory, array):
    path = tmp_path_factory.getbasetemp() / "array.npy"
    np.save(path, array)
    try:
        normals = read_normals(path)
    except ValueError as error:
        assert "array.npy" in str(error)
    else:
        assert normals.shape[2] == 3 and array.ndim == 3
        assert normals.dtype in (np.uint8, np.uint16, np.float64)
