"""Data sets are found where they should be, and read along the axes of the package."""

import os
from pathlib import Path

import data_folders as folders
import numpy as np
import pytest

from normint import cli, datasets, metrics, paths, photometric_stereo
from normint.datasets import stand_ins
from normint.datasets.records import ImageSet
from normint.normals.maps import decode, known

LOADERS = list(folders.WRITERS)
PATHS = {
    "cat": "DiLiGenT/pmsData/catPNG",
    "beethoven": "beethoven/Beethoven.mat",
    "peppers": "peppers/peppers.tiff",
    "depth_and_normals": "bini/cat",
}
each_loader = pytest.mark.parametrize("name", LOADERS)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Return an empty data folder; that of the repository is empty too, and stand-ins are only words."""
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("NORMINT_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(paths, "root", lambda: tmp_path / "repository")
    for name in LOADERS:
        monkeypatch.setattr(stand_ins, name, lambda name=name: f"stand-in of {name}")
    return tmp_path / "data"


class TestDiligent:
    def test_axes(self, tmp_path, monkeypatch):
        # A light from the upper right in the file (x right, y up, z) comes from −u (up) and +v (right) here.
        light, normal = [0.48, 0.64, 0.6], [-0.36, 0.48, 0.8]
        monkeypatch.setattr(folders, "LIGHTS", np.tile(light, (5, 1)))
        monkeypatch.setattr(folders, "NORMALS", np.tile(normal, (10, 12, 1)))
        found = datasets.read_diligent(folders.write_cat(tmp_path))
        np.testing.assert_allclose(found.lights, np.tile([-0.64, 0.48, 0.6], (5, 1)))
        np.testing.assert_allclose(found.normals[2, 5], [-0.48, -0.36, 0.8])

    def test_everything_is_read(self, tmp_path):
        found = datasets.read_diligent(folders.write_cat(tmp_path))
        assert found.images.dtype == np.uint16
        np.testing.assert_array_equal(found.images, folders.IMAGES)
        np.testing.assert_array_equal(found.intensities, folders.STRENGTHS)
        np.testing.assert_array_equal(found.mask, folders.MASK)
        x, y, z = np.moveaxis(folders.NORMALS, 2, 0)
        np.testing.assert_array_equal(found.normals, np.stack([-y, x, z], axis=2))
        assert (found.name, found.data, found.depth) == ("cat", "real", None)

    def test_crop_keeps_one_pixel_around(self, tmp_path):
        folder = folders.write_cat(tmp_path)
        whole, part = datasets.read_diligent(folder), datasets.read_diligent(folder, crop=True)
        np.testing.assert_array_equal(part.images, whole.images[:, 2:8, 3:12])
        np.testing.assert_array_equal(part.mask, whole.mask[2:8, 3:12])
        np.testing.assert_array_equal(part.normals, whole.normals[2:8, 3:12])

    def test_mask_in_a_subfolder(self, tmp_path):
        folder = folders.write_cat(tmp_path, mask="true_value/mask.png")
        np.testing.assert_array_equal(datasets.read_diligent(folder).mask, folders.MASK)

    def test_the_mask_of_the_folder_itself_comes_first(self, tmp_path):
        folder = folders.write_cat(tmp_path)
        folders.write_png(folder / "a" / "mask.png", np.full((10, 12), 255, np.uint8))
        np.testing.assert_array_equal(datasets.read_diligent(folder).mask, folders.MASK)

    @pytest.mark.parametrize("name", ["buddha", "pot2"])
    def test_any_object_by_name(self, data, name):
        folders.write_cat(data, name)
        assert datasets.diligent(name).name == name
        assert datasets.diligent(name, crop=True).mask.shape == (6, 9)
        with pytest.raises(FileNotFoundError, match="catPNG was not found"):
            datasets.diligent("cat")

    def test_tables_of_other_editors(self, tmp_path):
        folder = folders.write_cat(tmp_path)
        table = (folder / "light_directions.txt").read_text().replace(" ", "\t").replace("\n", "\r\n")
        (folder / "light_directions.txt").write_bytes(b"\xef\xbb\xbf" + table.encode() + b"\r\n\r\n")
        x, y, z = folders.LIGHTS.T
        np.testing.assert_array_equal(datasets.read_diligent(folder).lights, np.stack([-y, x, z], axis=1))


class TestOthers:
    def test_beethoven(self, tmp_path):
        stored = folders.beethoven_arrays()
        found = datasets.read_beethoven(folders.write_beethoven(tmp_path))
        assert found.images.dtype == np.uint8
        for k in range(3):
            np.testing.assert_array_equal(found.images[k], stored["I"][..., k])
        np.testing.assert_array_equal(found.mask, stored["mask"] == 1)
        np.testing.assert_array_equal(found.lights, stored["S"])
        assert found.intensities is None

    def test_peppers(self, data):
        folders.write_peppers(data)
        found = datasets.peppers()
        expected = np.random.default_rng(2).integers(0, 256, (512, 512, 3))
        np.testing.assert_array_equal(found.image, expected)
        assert (found.image.dtype, found.name, found.data) == (np.uint8, "Peppers", "real")

    def test_normal_map(self, data):
        folder = folders.write_normal_map(data)
        colours = np.full((10, 12, 3), [32768, 32768, 65535], np.uint16)
        colours[3, 4] = [65535, 32768, 32768]  # red: to the right
        colours[3, 5] = [32768, 65535, 32768]  # green: up
        colours[3, 6] = [32768, 32768, 65535]  # blue: to the camera
        folders.write_png(folder / "normal_map.png", colours)
        found = datasets.depth_and_normals()
        np.testing.assert_allclose(found.normals[3, 4:7], [[0, 1, 0], [-1, 0, 0], [0, 0, 1]], atol=1e-4)
        np.testing.assert_allclose(np.linalg.norm(found.normals[folders.MASK], axis=1), 1, rtol=1e-12)
        np.testing.assert_array_equal(np.isnan(found.normals).all(axis=2), ~folders.MASK)
        np.testing.assert_array_equal(found.mask, folders.MASK)
        np.testing.assert_array_equal(found.depth, np.where(folders.MASK, folders.DEPTH, np.nan))
        np.testing.assert_array_equal(found.camera, folders.CAMERA)

    def test_a_normal_map_alone(self, tmp_path):
        folders.write_png(tmp_path / "normal_map.png", folders.IMAGES[0])
        found = datasets.read_normal_map(tmp_path)
        np.testing.assert_array_equal(found.mask, known(decode(folders.IMAGES[0])))
        assert (found.depth, found.camera) == (None, None)

    @pytest.mark.parametrize("masked", [False, True])
    def test_black_pixels_are_outside_as_on_the_command_line(self, tmp_path, masked):
        colours = np.full((10, 12, 3), [128, 128, 255], np.uint8)
        colours[4, 5:8] = 0
        colours[5, 5] = 128  # grey
        folders.write_png(tmp_path / "normal_map.png", colours)
        if masked:
            folders.write_png(tmp_path / "mask.png", np.where(folders.MASK, 255, 0).astype(np.uint8))
        expected = folders.MASK.copy() if masked else np.ones((10, 12), bool)
        expected[4, 5:8] = expected[5, 5] = False
        found = datasets.read_normal_map(tmp_path)
        np.testing.assert_array_equal(found.mask, expected)
        np.testing.assert_array_equal(np.isfinite(found.normals).all(axis=2), expected)
        assert cli.main(["integrate", str(tmp_path), "--out", str(tmp_path / "out"), "--quiet"]) == 0
        np.testing.assert_array_equal(np.isfinite(np.load(tmp_path / "out" / "depth.npy")), expected)

    @pytest.mark.parametrize("centre", [(6.2, 4.9), (5.5, 5.5)], ids=["wide", "in the middle"])
    def test_a_camera_whose_rows_are_in_the_other_order(self, tmp_path, centre):
        folder = folders.write_normal_map(tmp_path)
        matrix = np.array([[3772.0, 0, centre[0]], [0, 3759.0, centre[1]], [0, 0, 1]])
        for rows in ([0, 1, 2], [1, 0, 2]):
            np.savetxt(folder / "K.txt", matrix[rows])
            np.testing.assert_array_equal(datasets.read_normal_map(folder).camera, matrix)

    def test_a_camera_with_y_first(self, tmp_path):
        # (f_y, 0, c_y) and (0, f_x, c_x): the image is wider than high, and so is twice its centre.
        folder = folders.write_normal_map(tmp_path)
        np.savetxt(folder / "K.txt", [[3759.0, 0, 4.9], [0, 3772.0, 6.2], [0, 0, 1]])
        np.testing.assert_array_equal(datasets.read_normal_map(folder).camera, folders.CAMERA)


class TestGrey:
    def test_mean_of_the_normalised_channels(self, tmp_path):
        found = datasets.read_diligent(folders.write_cat(tmp_path))
        expected = (folders.IMAGES / folders.STRENGTHS[:, np.newaxis, np.newaxis]).mean(axis=3)
        np.testing.assert_allclose(found.grey(), expected, rtol=1e-12)

    def test_colours_without_intensities(self):
        images = ImageSet(folders.IMAGES, folders.LIGHTS, None, folders.MASK)
        np.testing.assert_allclose(images.grey(), folders.IMAGES.mean(axis=3), rtol=1e-12)

    def test_grey_images_stay(self):
        images = ImageSet(folders.IMAGES[..., 0], folders.LIGHTS, None, folders.MASK)
        assert images.grey().dtype == np.float64
        np.testing.assert_array_equal(images.grey(), folders.IMAGES[..., 0])


class TestFind:
    @pytest.fixture
    def places(self, data, tmp_path):
        return data, tmp_path / "repository" / "data"

    @each_loader
    def test_the_variable_comes_first(self, places, name):
        for place in places:
            folders.WRITERS[name](place)
        assert datasets.find(PATHS[name]) == places[0] / PATHS[name]

    @each_loader
    @pytest.mark.parametrize("variable", ["elsewhere", "", None])
    def test_then_the_repository(self, places, name, variable, monkeypatch):
        if variable is None:
            monkeypatch.delenv("NORMINT_DATA")
        elif not variable:
            monkeypatch.setenv("NORMINT_DATA", "")
        folders.WRITERS[name](places[1])
        assert datasets.find(PATHS[name]) == places[1] / PATHS[name]
        assert getattr(datasets, name)().data == "real"

    @each_loader
    def test_auto(self, data, name):
        assert getattr(datasets, name)() == f"stand-in of {name}"
        folders.WRITERS[name](data)
        assert getattr(datasets, name)().data == "real"
        assert getattr(datasets, name)("real").data == "real"
        assert getattr(datasets, name)("stand-in") == f"stand-in of {name}"

    @each_loader
    @pytest.mark.parametrize("is_set", [True, False])
    def test_real_without_data(self, data, name, is_set, monkeypatch):
        if not is_set:
            monkeypatch.delenv("NORMINT_DATA")
        with pytest.raises(FileNotFoundError) as caught:
            getattr(datasets, name)("real")
        for part in (PATHS[name], "NORMINT_DATA", "data/README.md", str(data) if is_set else "not set"):
            assert part in str(caught.value)

    @each_loader
    @pytest.mark.parametrize("which", ["Real", "", None, True])
    def test_bad_which(self, data, name, which):
        folders.WRITERS[name](data)
        with pytest.raises(ValueError, match="which is .*; expected auto, real or stand-in"):
            getattr(datasets, name)(which)


def needs(path):
    """Skip a test where a part of the real data is not there."""
    folder = os.environ.get("NORMINT_DATA")
    found = bool(folder) and Path(folder, path).exists()
    return pytest.mark.skipif(not found, reason=f"NORMINT_DATA names no folder with {path}")


class TestRealData:
    @needs(PATHS["cat"])
    def test_cat(self):
        cat = datasets.cat()
        assert (cat.name, cat.data) == ("Cat", "real")
        # Read with 8 bits the largest value would be 128.
        assert (cat.images.dtype, cat.images.max(), len(cat.images)) == (np.uint16, 32_895, 96)
        assert cat.mask.sum() == 45_200
        # The box is tight: one pixel around the silhouette.
        assert not cat.mask[[0, -1]].any() and not cat.mask[:, [0, -1]].any()
        assert cat.mask[[1, -2]].any(axis=1).all() and cat.mask[:, [1, -2]].any(axis=0).all()
        np.testing.assert_allclose(np.linalg.norm(cat.normals[cat.mask], axis=1), 1, atol=1e-6)
        normals, _ = photometric_stereo(cat.images, cat.lights, cat.mask, intensities=cat.intensities)
        assert metrics.mean_angular_error(normals, cat.normals, cat.mask) == pytest.approx(8.45, abs=0.02)

    @needs(PATHS["beethoven"])
    def test_beethoven(self):
        bust = datasets.beethoven()
        assert (bust.images.shape, bust.images.dtype) == ((3, 256, 256), np.uint8)
        assert bust.lights.shape == (3, 3)
        assert bust.mask.any() and not bust.mask.all()
        # Lit from the right, from above, and from the left: so lies the centre of the brightness.
        columns = np.broadcast_to(np.arange(256), (256, 256))[bust.mask]
        right, above, left = (np.average(columns, weights=image[bust.mask]) for image in bust.images)
        assert left < above < right

    @needs(PATHS["peppers"])
    def test_peppers(self):
        picture = datasets.peppers()
        assert (picture.image.shape, picture.image.dtype) == ((512, 512, 3), np.uint8)
        # Red and green vegetables, no blue ones.
        red, green, blue = picture.image.reshape(-1, 3).mean(axis=0)
        assert min(red, green) > 1.5 * blue

    @needs(PATHS["depth_and_normals"])
    def test_depth_and_normals(self):
        cat = datasets.depth_and_normals()
        assert (cat.mask.shape, cat.mask.sum()) == ((512, 612), 44_319)
        (fx, _, cx), (_, fy, cy), _ = cat.camera
        assert fx == pytest.approx(3772.08, abs=0.01) and fy == pytest.approx(3759.01, abs=0.01)
        assert cx == pytest.approx(612 / 2, abs=2) and cy == pytest.approx(512 / 2, abs=2)
        assert np.isfinite(cat.depth[cat.mask]).all() and np.isnan(cat.depth[~cat.mask]).all()
        # In mm, about as far from the camera as its focal length suggests; not a depth of 0 or 1.
        assert 1000 < cat.depth[cat.mask].min() < cat.depth[cat.mask].max() < 2000


def test_a_data_folder_that_does_not_exist_is_an_error_not_absent_data(monkeypatch, tmp_path):
    monkeypatch.setenv("NORMINT_DATA", str(tmp_path / "misspelt"))
    with pytest.raises(ValueError, match=r"NORMINT_DATA is .*misspelt; expected an existing folder"):
        datasets.peppers()


def test_the_environment_may_ask_for_the_stand_in(monkeypatch):
    monkeypatch.setenv("NORMINT_DATASET", "stand-in")
    assert datasets.peppers().data == "stand-in"
    monkeypatch.setenv("NORMINT_DATASET", "both")
    with pytest.raises(ValueError, match="NORMINT_DATASET is 'both'; expected auto, real or stand-in"):
        datasets.peppers()
