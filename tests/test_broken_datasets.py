"""Data that is there but broken: one error that names the file, and never the stand-in in its place."""

import io
import os
import pickle
import shutil

import cv2
import data_folders as folders
import numpy as np
import pytest
import scipy.io

from normint import datasets, paths
from normint.datasets import stand_ins


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Return an empty data folder; asking for a stand-in is an error."""

    def refuse():
        raise AssertionError("a stand-in was taken for data that is there")

    (tmp_path / "data").mkdir()
    monkeypatch.setenv("NORMINT_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(paths, "root", lambda: tmp_path / "repository")
    for name in folders.WRITERS:
        monkeypatch.setattr(stand_ins, name, refuse)
    return tmp_path / "data"


def cut(share):
    return lambda path: path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


def flip(share):
    """Change one bit."""

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


def text(words):
    return lambda path: path.write_text(words)


def lines(change):
    """Change the lines of a table."""
    return lambda path: path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")


def png(image):
    return lambda path: folders.write_png(path, image)


def tiff(image):
    return lambda path: cv2.imwrite(str(path), image)


def mat(**variables):
    return lambda path: scipy.io.savemat(path, variables)


def npz(**arrays):
    return lambda path: np.savez(path, **arrays)


SEEN, GREY8 = folders.IMAGES[0], np.full((10, 12), 255, np.uint8)
IN_ANY_FILE = {"removed": remove, "a folder": folder, "empty": text(""), "words": text("404: not found")}

CAT = {
    "003.png": {
        **IN_ANY_FILE, "cut in the middle": cut(0.5), "last byte": cut(0.999), "flipped": flip(0.5),
        "8 bits": png((SEEN >> 8).astype(np.uint8)), "grey": png(SEEN[..., 0]), "other size": png(SEEN[:-1]),
    },
    "mask.png": {**IN_ANY_FILE, "cut": cut(0.7), "flipped": flip(0.6), "black": png(0 * GREY8)},
    "light_directions.txt": {
        **IN_ANY_FILE, "too few rows": lines(lambda rows: rows[:-1]),
        "too many": lines(lambda rows: rows * 2),
        "too few columns": lines(lambda rows: [row[:13] for row in rows]), "cut": cut(0.55),
        "a word": lines(lambda rows: [*rows[:-1], "0.1 0.2 left"]),
        "NaN": lines(lambda rows: ["nan 0 1", *rows[1:]]),
        "bytes": lambda path: path.write_bytes(bytes(range(256))),
    },
    "light_intensities.txt": {
        **IN_ANY_FILE, "too few rows": lines(lambda rows: rows[1:]),
        "zero": lines(lambda rows: ["0 1 1", *rows[1:]]),
        "infinite": lines(lambda rows: ["inf 1 1", *rows[1:]]),
    },
    "Normal_gt.mat": {
        **IN_ANY_FILE, "cut in the middle": cut(0.5), "header only": cut(0.03), "last byte": cut(0.9995),
        "flipped": flip(0.5), "other shape": mat(Normal_gt=folders.NORMALS[:-1]),
        "other axes": mat(Normal_gt=np.moveaxis(folders.NORMALS, 2, 0)),
        "other key": mat(normals=folders.NORMALS),
        "words in it": mat(Normal_gt="see the paper"), "complex": mat(Normal_gt=1j * folders.NORMALS),
        "version 7.3": text("MATLAB 7.3 MAT-file".ljust(124) + "\x00\x02IM" + "\x89HDF\r\n"),
    },
    "filenames.txt": {"removed": remove, "a folder": folder, "empty": text("\n \n")},
}  # fmt: skip
STORED = folders.beethoven_arrays()
BEETHOVEN = {
    **IN_ANY_FILE, "cut in the middle": cut(0.5), "before the lights": cut(0.9), "last byte": cut(0.99999),
    "two images": mat(**{**STORED, "I": STORED["I"][..., :2]}),
    "other size": mat(**{**STORED, "I": STORED["I"][:200], "mask": STORED["mask"][:200]}),
    "real images": mat(**{**STORED, "I": STORED["I"] / 255}),
    "no lights": mat(I=STORED["I"], mask=STORED["mask"]),
    "other mask": mat(**{**STORED, "mask": STORED["mask"][:-1]}),
    "empty mask": mat(**{**STORED, "mask": 0 * STORED["mask"]}),
}  # fmt: skip
WIDE = np.zeros((384, 512, 3), np.uint8)
PEPPERS = {
    **IN_ANY_FILE, "cut in the middle": cut(0.5), "cut at the start": cut(0.001), "last byte": cut(0.99999),
    "the other image of that name": tiff(WIDE), "grey": tiff(np.zeros((512, 512), np.uint8)),
    "16 bits": tiff(np.zeros((512, 512, 3), np.uint16)),
    "real numbers": tiff(np.zeros((512, 512, 3), np.float32)),
}  # fmt: skip
DEPTH_AND_NORMALS = {
    "normal_map.png": {**IN_ANY_FILE, "cut": cut(0.6), "flipped": flip(0.4), "grey": png(SEEN[..., 0])},
    "mask.png": {"a folder": folder, "empty": text(""), "cut": cut(0.8), "other size": png(GREY8.T)},
    "K.txt": {
        "a folder": folder, "empty": text(""), "words": text("fx fy cx"),
        "other size": text("1 0 5\n0 1 5\n"),
        "no focal length": text("0 0 5\n0 9 5\n0 0 1\n"), "negative": text("9 0 6\n0 -9 5\n0 0 1\n"),
        "skew": text("9 1 6\n0 9 5\n0 0 1\n"), "in columns": text("9 0 0\n0 9 0\n6 5 1\n"),
    },
    "depth_gt.npz": {
        **IN_ANY_FILE, "cut in the middle": cut(0.5), "last byte": cut(0.999), "flipped": flip(0.5),
        "other key": npz(depth=folders.DEPTH), "other shape": npz(depth_gt=folders.DEPTH.T),
        "words in it": npz(depth_gt=folders.DEPTH.astype(str)),
        "one array": lambda path: path.write_bytes(npy()),
    },
}  # fmt: skip


def npy():
    file = io.BytesIO()
    np.save(file, folders.DEPTH)
    return file.getvalue()


def cases():
    for loader, files in (("cat", CAT), ("depth_and_normals", DEPTH_AND_NORMALS)):
        for file, damages in files.items():
            for name, damage in damages.items():
                yield pytest.param(loader, file, damage, id=f"{loader}-{file}-{name}")
    for loader, damages in (("beethoven", BEETHOVEN), ("peppers", PEPPERS)):
        for name, damage in damages.items():
            if damage is not remove:  # that is not broken data but none
                yield pytest.param(loader, "", damage, id=f"{loader}-{name}")


@pytest.mark.parametrize(("loader", "file", "damage"), list(cases()))
def test_broken_file(data, loader, file, damage):
    path = folders.WRITERS[loader](data) / file
    getattr(datasets, loader)()
    damage(path)
    expected = FileNotFoundError if damage is remove else ValueError
    for which in ("auto", "real"):
        with pytest.raises(expected) as caught:
            getattr(datasets, loader)(which)
        assert type(caught.value) is expected
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("loader", ["cat", "depth_and_normals"])
@pytest.mark.parametrize("as_file", [False, True], ids=["an empty folder", "a file"])
def test_broken_folder(data, loader, as_file):
    path = folders.WRITERS[loader](data)
    shutil.rmtree(path)
    path.write_text("moved") if as_file else path.mkdir()
    with pytest.raises((FileNotFoundError, ValueError), match=path.name):
        getattr(datasets, loader)()


def test_a_name_in_the_list_that_no_file_can_have(data):
    path = folders.write_cat(data)
    (path / "filenames.txt").write_text("001.png\n002.png\n003.png\n004.png\n00\0.png\n")
    with pytest.raises(ValueError, match="cannot be read") as caught:
        datasets.cat()
    assert str(path) in str(caught.value)


def test_broken_data_is_not_passed_over_for_other_data(data, tmp_path):
    folders.write_cat(tmp_path / "repository" / "data")
    assert datasets.cat().data == "real"
    path = folders.write_cat(data) / "002.png"
    cut(0.5)(path)
    with pytest.raises(ValueError, match="002.png") as caught:
        datasets.cat()
    assert str(path) in str(caught.value)


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("raw", [False, True], ids=["array of objects", "pickle"])
def test_nothing_is_ever_unpickled(data, tmp_path, raw):
    path = folders.write_normal_map(data) / "depth_gt.npz"
    trap = np.full((10, 12), None)
    trap[0, 0] = Trap(tmp_path / "sprung")
    path.write_bytes(pickle.dumps(trap)) if raw else np.savez(path, depth_gt=trap)
    with pytest.raises(ValueError, match="depth_gt.npz is not a NumPy file of numbers"):
        datasets.depth_and_normals()
    assert not (tmp_path / "sprung").exists()
    pickle.loads(pickle.dumps(trap))  # the trap works
    assert (tmp_path / "sprung").exists()
