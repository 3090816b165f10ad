"""EXR files: which channels belong together, and real files where there is a library that writes them."""

import numpy as np
import pytest
from relief_files import DEPTH, MASK, XYZ, run

from normint.files.exr import layers
from normint.files.normal_maps import read_depth, read_mask, read_normals

try:
    import OpenEXR
except ImportError:
    OpenEXR = None

needs_library = pytest.mark.skipif(OpenEXR is None, reason="pip install 'normint[exr]'")
PLANES = np.arange(4 * 6.0).reshape(4, 2, 3)  # four different channels


def split(image, letters, layer=""):
    """Return the channels of an image, each as an array of its own."""
    return {layer + letter: np.ascontiguousarray(image[..., k]) for k, letter in enumerate(letters)}


class TestLayers:
    @pytest.mark.parametrize("letters", ["RGB", "XYZ", "rgb", "xyz"])
    @pytest.mark.parametrize("layer", ["", "Normal.", "View.Normal."])
    def test_the_order_is_that_of_the_letters_not_of_the_file(self, letters, layer):
        image = np.moveaxis(PLANES[:3], 0, 2)
        alphabetical = dict(sorted(split(image, letters, layer).items()))
        found = layers(alphabetical)
        assert list(found) == [layer + letters]
        np.testing.assert_array_equal(found[layer + letters], image)

    def test_transparency_is_left_out_unless_it_is_alone(self):
        r, g, b, a = PLANES
        assert list(layers({"A": a, "B": b, "G": g, "R": r})) == ["RGB"]
        assert list(layers({"A": a, "Z": b})) == ["Z"]
        assert list(layers({"A": a})) == ["A"]

    def test_layers_stay_apart(self):
        r, g, b, _ = PLANES
        assert list(layers({"one.R": r, "one.G": g, "two.B": b})) == ["one.R", "one.G", "two.B"]
        assert list(layers({"B": b, "G": g, "R": r[:1]})) == ["B", "G", "R"]  # one is coarser


@needs_library
class TestRealFiles:
    def write(self, path, **channels):
        header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
        with OpenEXR.File(header, channels) as file:
            file.write(str(path))
        return path

    @pytest.mark.parametrize("dtype", [np.float16, np.float32])
    @pytest.mark.parametrize("letters", ["RGB", "XYZ"])
    @pytest.mark.parametrize("layer", ["", "Normal."])
    @pytest.mark.parametrize("transparency", [None, np.float16, np.float32])
    def test_normals(self, tmp_path, dtype, letters, layer, transparency):
        normals = XYZ.astype(dtype)
        channels = split(normals, letters, layer)
        if transparency:
            channels[f"{layer}A"] = np.ones(MASK.shape, transparency)
        found = read_normals(self.write(tmp_path / "n.exr", **channels))
        assert found.dtype == np.result_type(dtype, transparency or dtype)  # as stored: a copy takes memory
        np.testing.assert_array_equal(found, normals)

    def test_colours(self, tmp_path):
        found = read_normals(self.write(tmp_path / "n.exr", RGB=((XYZ + 1) / 2).astype(np.float32)))
        np.testing.assert_allclose(found, XYZ, atol=1e-6)

    def test_normals_beside_a_picture_are_chosen_by_name(self, tmp_path):
        picture, normals = np.full(XYZ.shape, 0.5, np.float32), XYZ.astype(np.float32)
        path = self.write(tmp_path / "n.exr", **split(picture, "RGB"), **split(normals, "XYZ", "Normal."))
        with pytest.raises(ValueError, match=r"several arrays that fit: RGB, Normal\.XYZ; choose one by"):
            read_normals(path)
        np.testing.assert_array_equal(read_normals(path, variable="Normal.XYZ"), normals)

    def test_parts(self, tmp_path):
        normals = XYZ.astype(np.float32)
        parts = [OpenEXR.Part({}, {"RGB": image}, name) for name, image in (("a", -normals), ("b", normals))]
        with OpenEXR.File(parts) as file:
            file.write(str(tmp_path / "n.exr"))
        np.testing.assert_array_equal(read_normals(tmp_path / "n.exr", variable="b.RGB"), normals)

    def test_depth_and_mask(self, tmp_path):
        depth = DEPTH.astype(np.float32)
        path = self.write(tmp_path / "d.exr", Z=depth, **split(XYZ.astype(np.float32), "RGB"))
        np.testing.assert_array_equal(read_depth(path, depth.shape), depth)
        white = np.repeat(MASK[..., np.newaxis], 3, axis=2).astype(np.float16)
        for channels in ({"Y": white[..., 0].copy()}, {"RGB": white}):
            path = self.write(tmp_path / "mask.exr", **channels)
            np.testing.assert_array_equal(read_mask(path, MASK.shape), MASK)

    def test_from_a_folder_to_the_depth_that_other_files_of_the_same_numbers_give(self, tmp_path):
        exr, npy = tmp_path / "exr", tmp_path / "npy"
        for folder in (exr, npy):
            folder.mkdir()
        self.write(exr / "normal_map.exr", RGB=XYZ.astype(np.float32))
        self.write(exr / "mask.exr", Y=MASK.astype(np.float32))
        np.save(npy / "normal_map.npy", XYZ.astype(np.float32))
        np.save(npy / "mask.npy", MASK)
        for folder in (exr, npy):
            assert run(folder, "--out", folder / "out", "--quiet") == 0
        found, expected = (np.load(folder / "out" / "depth.npy") for folder in (exr, npy))
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.isfinite(found), MASK)
