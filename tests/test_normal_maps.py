"""Normal maps, masks, cameras and depths in files: what was written is what is read, the rest is refused."""

import itertools
import zipfile

import cv2
import numpy as np
import pytest
from relief_files import as_colours, write
from scipy.io import savemat

from normint.files.arrays import FORMATS
from normint.files.normal_maps import (
    find_files,
    read_camera,
    read_depth,
    read_mask,
    read_normals,
)
from normint.normals.convert import gradient_to_normals
from normint.normals.maps import decode, known

RNG = np.random.default_rng(0)
NORMALS = gradient_to_normals(*RNG.normal(0, 0.7, (2, 12, 17)))
DEPTH = RNG.normal(0, 3, (12, 17))


def colours(dtype):
    return as_colours(NORMALS, dtype)


class TestNormals:
    @pytest.mark.parametrize("suffix", [".png", ".PNG", ".tif", ".tiff", ".npy", ".npz", ".mat"])
    @pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
    def test_colours(self, tmp_path, suffix, dtype):
        found = read_normals(write(tmp_path / f"normals{suffix}", colours(dtype)))
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, colours(dtype))
        # Rounding a colour moves a component by at most half of the distance of two colours.
        assert np.abs(decode(found) - NORMALS).max() <= 1.001 / np.iinfo(dtype).max

    @pytest.mark.parametrize("suffix", [".tif", ".tiff", ".npy", ".npz", ".mat"])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_real_numbers(self, tmp_path, suffix, dtype):
        normals = NORMALS.astype(dtype)
        np.testing.assert_array_equal(read_normals(write(tmp_path / f"n{suffix}", normals)), normals)

    @pytest.mark.parametrize("suffix", [".tiff", ".npy"])
    def test_real_numbers_that_are_colours(self, tmp_path, suffix):
        found = read_normals(write(tmp_path / f"n{suffix}", (NORMALS + 1) / 2))
        np.testing.assert_allclose(found, NORMALS, atol=1e-15)

    def test_real_numbers_in_the_positive_octant_are_no_colours(self, tmp_path):
        normals = np.abs(NORMALS)
        np.testing.assert_array_equal(read_normals(write(tmp_path / "n.npy", normals)), normals)

    def test_components_first(self, tmp_path):
        found = read_normals(write(tmp_path / "n.npy", np.moveaxis(NORMALS, 2, 0)))
        np.testing.assert_array_equal(found, NORMALS)

    def test_transparency_is_dropped(self, tmp_path):
        image = np.dstack([colours(np.uint16)[..., ::-1], np.full((12, 17), 9, np.uint16)])
        cv2.imwrite(str(tmp_path / "n.png"), image)
        np.testing.assert_array_equal(read_normals(tmp_path / "n.png"), colours(np.uint16))

    @pytest.mark.parametrize("background", [(0, 0, 0), (128, 128, 128), (127, 127, 127)])
    def test_no_normal_in_an_image(self, tmp_path, background):
        image = colours(np.uint8)
        image[3, 4] = background
        there = known(decode(read_normals(write(tmp_path / "n.png", image))))
        assert not there[3, 4] and there.sum() == there.size - 1

    @pytest.mark.parametrize("painted", [False, True])
    @pytest.mark.parametrize("background", [0.0, np.nan, np.inf])
    def test_no_normal_in_an_array(self, tmp_path, background, painted):
        normals = (NORMALS + 1) / 2 if painted else NORMALS.copy()
        normals[3, 4] = background
        found = read_normals(write(tmp_path / "n.mat", normals))
        there = known(found)
        assert not there[3, 4] and there.sum() == there.size - 1
        np.testing.assert_allclose(found[there], NORMALS[there], atol=1e-15)

    @pytest.mark.parametrize("suffix", [".npz", ".mat"])
    def test_one_of_several_arrays(self, tmp_path, suffix):
        path = tmp_path / f"n{suffix}"
        arrays = {"albedo": DEPTH, "N": NORMALS, "lights": np.eye(3)}
        savemat(path, arrays) if suffix == ".mat" else np.savez(path, **arrays)
        np.testing.assert_array_equal(read_normals(path), NORMALS)
        arrays["truth"] = -NORMALS
        savemat(path, arrays) if suffix == ".mat" else np.savez(path, **arrays)
        with pytest.raises(ValueError, match="several arrays that fit: N, truth"):
            read_normals(path)
        np.testing.assert_array_equal(read_normals(path, variable="truth"), -NORMALS)
        with pytest.raises(ValueError, match="no variable 'M'; it has albedo"):
            read_normals(path, variable="M")
        with pytest.raises(ValueError, match="expected three components"):
            read_normals(path, variable="albedo")


class TestMaskCameraAndDepth:
    @pytest.mark.parametrize("suffix", [".png", ".tiff", ".npy", ".npz", ".mat"])
    def test_mask(self, tmp_path, suffix):
        mask = DEPTH > 0
        path = tmp_path / f"mask{suffix}"
        for white, image in itertools.product((1, 255, 65535), (mask, np.stack([mask] * 3, axis=2))):
            write(path, image.astype(np.uint16 if white > 255 else np.uint8) * white)
            found = read_mask(path, mask.shape)
            assert found.dtype == bool
            np.testing.assert_array_equal(found, mask)
        np.testing.assert_array_equal(read_mask(path), mask)
        for wrong in (mask.T, np.zeros_like(mask)):
            write(path, wrong.astype(np.uint8))
            with pytest.raises(ValueError, match=path.name):
                read_mask(path, mask.shape)

    def test_mask_of_truth_values(self, tmp_path):
        np.save(tmp_path / "mask.npy", DEPTH > 0)
        np.testing.assert_array_equal(read_mask(tmp_path / "mask.npy", DEPTH.shape), DEPTH > 0)

    @pytest.mark.parametrize("suffix", [".tiff", ".npy", ".npz", ".mat"])
    def test_depth(self, tmp_path, suffix):
        depth = DEPTH.copy()
        depth[2, 5] = np.nan
        path = write(tmp_path / f"depth{suffix}", depth)
        np.testing.assert_array_equal(read_depth(path, depth.shape), depth)
        with pytest.raises(ValueError, match=path.name):
            read_depth(path, (17, 12))

    def test_depth_of_a_sensor(self, tmp_path):
        path = write(tmp_path / "depth.png", np.array([[0, 1], [700, 65535]], np.uint16))
        np.testing.assert_array_equal(read_depth(path, (2, 2)), [[np.nan, 1], [700, 65535]])

    @pytest.mark.parametrize("rows", ["500 0 320\n0 510 240\n0 0 1", "0 510 240\n500 0 320\n0 0 1"])
    def test_camera_of_either_order(self, tmp_path, rows):
        (tmp_path / "K.txt").write_text(rows)
        expected = [[500, 0, 320], [0, 510, 240], [0, 0, 1]]
        np.testing.assert_array_equal(read_camera(tmp_path / "K.txt", (480, 640)), expected)


class TestFolder:
    @pytest.mark.parametrize("suffix", FORMATS)
    def test_what_is_there(self, tmp_path, suffix):
        (tmp_path / f"normal_map{suffix}").touch()
        alone = {"normals": tmp_path / f"normal_map{suffix}", "mask": None, "camera": None}
        assert find_files(tmp_path) == alone
        (tmp_path / "mask.png").touch()
        (tmp_path / "K.txt").touch()
        assert find_files(tmp_path)["mask"] == tmp_path / "mask.png"
        assert find_files(tmp_path)["camera"] == tmp_path / "K.txt"

    def test_nothing_there(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="normal_map.png is missing"):
            find_files(tmp_path)


class TestArchives:
    def test_other_files_in_it_are_not_read(self, tmp_path):
        path = write(tmp_path / "n.npz", NORMALS)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("notes.txt", "more")
        np.testing.assert_array_equal(read_normals(path), NORMALS)

    def test_cells_and_structures_of_matlab_are_left_alone(self, tmp_path):
        path, cells = tmp_path / "n.mat", np.array([[1, "two"]], dtype=object)
        savemat(path, {"normals": NORMALS, "cells": cells, "more": {"a": 1}, "note": "text"})
        np.testing.assert_array_equal(read_normals(path), NORMALS)
        savemat(path, {"cells": cells})
        with pytest.raises(ValueError, match="n.mat has nothing"):
            read_normals(path)
