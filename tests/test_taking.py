"""Normal maps as people have them: unknown axes, backgrounds, poses, and arrays of other libraries."""

import os
import warnings
from pathlib import Path

import cv2
import numpy as np
import pytest
from taken_maps import COLOURS, draw, normals_of, stored

import normint
from normint import gradient_to_normals, integrate_normals
from normint.files.normal_maps import read_normals, read_pose, read_stored
from normint.normals.auto_axes import Unsure
from normint.normals.conventions import AUTO, CONVENTIONS, DIRECTIONS, directions, name_of, twin
from normint.normals.maps import decode
from normint.normals.taking import take

DATA = Path(os.environ.get("NORMINT_DATA", "data"))
REAL = [
    path.parent for path in sorted(DATA.glob("*/*/normal_map.png")) if path.parts[-3] in ("bini", "renders")
]


def along(normals, words):
    """Return normals along u, v and z with other axes."""
    return np.stack([DIRECTIONS[word][1] * normals[..., DIRECTIONS[word][0]] for word in words], axis=-1)


def vase(axes="xyz", bits="8"):
    """Return the normal map of a vase, and its mask."""
    normals, mask, _ = normals_of("vase", 96)
    return stored(along(normals, directions(axes)), bits), mask


class TestAuto:
    @pytest.mark.slow
    def test_a_hundred_maps(self):
        """Random axes, bits, noise up to 5°, masks, alpha and backgrounds."""
        right, unsure, wrong = [], [], []
        for seed in range(100):
            normals, mask, camera, words, text = draw(np.random.default_rng(seed))
            try:
                found = take(normals, mask, camera).seen.words
            except Unsure as error:
                unsure.append(f"{text}: {error}")
            else:
                (right if found == words else wrong).append(text)
        assert not wrong and len(right) >= 98, (wrong, unsure)

    @pytest.mark.parametrize("text", AUTO)
    def test_it_says_which_and_how_sure(self, text):
        normals, mask = vase(text)
        result = integrate_normals(normals, mask)
        expected = integrate_normals(normals, mask, axes=text)
        np.testing.assert_array_equal(result.depth, expected.depth)
        note = result.notes[0]
        assert (
            note.startswith(f"axes={name_of(text.split())!r} ({text}) by its c") and "standard errors" in note
        )
        assert not expected.notes

    def test_it_asks_where_raised_and_hollow_look_alike(self):
        normals, _, _ = normals_of("peaks", 64)
        for words in (text.split() for text in AUTO):
            if " ".join(twin(words)) in AUTO:
                with pytest.raises(Unsure, match=f"axes='{name_of(words)}'.* raised and .* hollow; choose"):
                    take(along(normals, words))
            else:
                assert take(along(normals, words)).seen.words == tuple(words)

    def test_it_asks_where_the_curl_does_not_tell(self):
        u, v = np.indices((48, 48)) / 9
        with pytest.raises(Unsure, match=r"axes='xyz' \(right up toward\) and axes='directx' .*choose one"):
            take(along(gradient_to_normals(np.cos(u), np.sin(v)), directions("xyz")))
        with pytest.raises(Unsure):
            take(np.full((9, 9, 3), [0.6, 0.0, 0.8]))

    def test_axes_that_nobody_uses_are_named_but_not_taken(self):
        normals, mask, _ = normals_of("figurine", 96)
        with pytest.raises(Unsure, match="no axes in common use .*'(up right|down left) toward'"):
            take(along(normals, ("up", "right", "toward")), mask)

    def test_a_flat_surface_has_any_axes(self):
        flat = take(np.full((20, 20, 3), [128, 128, 255], np.uint8))
        assert flat.seen.axes == "xyz" and "same surface" in flat.because

    def test_a_bowl_is_taken_as_it_is_and_doubted(self):
        u, v = np.indices((80, 80)) - 39.5
        mask = np.hypot(u, v) < 38
        z = np.sqrt(np.where(mask, 38.2**2 - u**2 - v**2, 1))
        bowl = along(gradient_to_normals(u / z, v / z), directions("xyz"))
        bowl += 0.02 * np.sin(u / 5)[..., np.newaxis] * [0, 1, 0]  # a paraboloid fits other axes as well
        seen, _, doubts = take(bowl, mask)
        assert (
            seen.axes == "xyz" and "hollow at its contours" in doubts[0] and "left down toward" in doubts[0]
        )

    @pytest.mark.parametrize("name", CONVENTIONS)
    def test_names_in_any_case(self, name):
        assert directions(name.upper()) == directions(f" {name} ") == tuple(CONVENTIONS[name].split())

    def test_every_convention_may_be_chosen(self):
        assert set(CONVENTIONS.values()) == set(AUTO)

    @pytest.mark.skipif(not REAL, reason="the real normal maps are not there")
    @pytest.mark.parametrize("folder", REAL, ids=lambda folder: folder.name)
    def test_real_maps(self, folder):
        found = read_stored(folder)
        normals, rng = decode(found.normals), np.random.default_rng(0)
        for degrees in (0, 3):
            noise = np.radians(degrees) * rng.standard_normal(normals.shape)
            noisy = np.where(normals.any(axis=-1, keepdims=True), normals + noise, 0)
            assert take(noisy, found.mask, found.camera).seen.axes == "xyz"


class TestBackgrounds:
    @pytest.mark.parametrize("bits", ["8", "16", "0 to 1"])
    @pytest.mark.parametrize("name", ["white", "black", "grey"])
    def test_a_colour_that_is_no_normal_is_left_out_and_named(self, name, bits):
        normals, mask = vase(bits=bits)
        largest = 1 if bits == "0 to 1" else 2 ** int(bits) - 1
        normals[~mask] = np.multiply(COLOURS[name], largest).astype(normals.dtype)
        if (name, bits) in (("grey", "0 to 1"), ("black", "0 to 1")):
            seen, _, said = take(normals)  # the vector 0, which is no normal, and silently so
            assert not said
        else:
            seen, _, said = take(normals)
            assert len(said) == 1 and f"is {name}" in said[0] and f"background='{name}' confirms" in said[0]
            assert not take(normals, background=name).warnings
        np.testing.assert_array_equal(seen.mask, mask)

    def test_a_flat_border_may_be_real_and_is_only_named(self):
        normals, mask = vase()
        normals[~mask] = [128, 128, 255]
        seen, _, said = take(normals)
        assert seen.mask.all() and "background='flat' leaves it out" in said[0]
        seen, _, said = take(normals, background="flat")
        assert not said and not seen.mask[0, 0] and np.count_nonzero(seen.mask != mask) < 0.02 * mask.size
        assert seen.mask[mask].mean() > 0.99  # flat pixels of the vase stay, where they are not at its edge
        assert not take(normals, background="none").warnings and not take(normals, mask).warnings
        peaks, _, _ = normals_of("peaks", 96)  # nearly flat at the border
        assert not take(along(peaks, directions("xyz"))).warnings

    @pytest.mark.parametrize("colour", [(10, 200, 30), "10,200,30", "#0ac81e", [10, 200, 30]])
    def test_any_colour(self, colour):
        normals, mask = vase()
        normals[~mask] = [10, 200, 30]
        np.testing.assert_array_equal(take(normals, background=colour).seen.mask, mask)

    def test_what_is_wrong_is_said(self):
        normals, _ = vase()
        with pytest.raises(
            ValueError, match="background is 'pink'; expected auto, none, black, grey, white, flat"
        ):
            take(normals, background="pink")
        with pytest.raises(ValueError, match="no pixel at the border of the normal map has that colour"):
            take(normals, background=(1, 2, 3))

    def test_alpha_is_a_mask(self):
        normals, mask = vase()
        alpha = np.where(mask, 255, 3).astype(np.uint8)
        seen, _, said = take(np.dstack([normals, alpha]))
        np.testing.assert_array_equal(seen.mask, mask)
        half = np.arange(96) < 48
        both = take(np.dstack([normals, alpha]), np.broadcast_to(half, mask.shape)).seen
        np.testing.assert_array_equal(both.mask, mask & half)
        opaque = np.full(mask.shape, 255, np.uint8)  # says nothing
        assert not said and take(np.dstack([normals, opaque])).seen.mask.all()


class TestPoses:
    def test_normals_of_the_world_are_turned_into_the_camera(self, tmp_path):
        normals, mask, _ = normals_of("figurine", 96)
        turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
        for axes in ("xyz", "opencv"):
            camera = along(normals, directions(axes))
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = 2.5 * turn, [1, 2, 3]
            seen = take(camera @ turn.T, mask, pose=pose).seen  # n_world = R n_camera
            expected = take(camera, mask, axes=axes).seen
            assert seen.axes == axes
            np.testing.assert_allclose([seen.p, seen.q], [expected.p, expected.q], atol=1e-9)
        np.savetxt(tmp_path / "pose.txt", pose)
        np.save(tmp_path / "inverse.npy", np.linalg.inv(pose))
        np.testing.assert_allclose(read_pose(tmp_path / "pose.txt"), pose)
        np.testing.assert_allclose(read_pose(tmp_path / "inverse.npy", inverse=True), turn)

    def test_without_it_the_error_names_it(self):
        normals, mask, _ = normals_of("figurine", 96)
        sideways = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
        with pytest.raises(ValueError, match="face away .* give the pose= of the camera"):
            take(normals @ sideways, mask)

    @pytest.mark.parametrize(
        "pose", [np.eye(2), np.zeros((3, 3)), np.diag([1, 2, 1]), np.full((4, 4), np.nan)]
    )
    def test_other_matrices_are_refused(self, pose):
        with pytest.raises(ValueError, match="pose is"):
            take(np.ones((4, 4, 3)), pose=pose)


class Tensor:
    """An array of another library."""

    def __init__(self, array, fails=None):
        self.array, self.fails = array, fails

    def __array__(self, dtype=None, copy=None):
        if self.fails:
            raise self.fails
        return self.array


class Exchanged:
    """An array that only has the protocol of the array API."""

    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


class TestArrays:
    @pytest.mark.parametrize("kind", [Tensor, Exchanged])
    def test_of_other_libraries(self, kind):
        normals, mask = vase(bits="32")
        expected = take(normals, mask).seen
        moved = np.ascontiguousarray(np.moveaxis(normals, 2, 0)[np.newaxis])  # as a batch of one
        seen = take(kind(moved), Tensor(mask)).seen
        np.testing.assert_array_equal(seen.p, expected.p)

    def test_those_that_cannot_be_read_are_said(self):
        on_a_device = Tensor(None, TypeError("can't convert cuda:0 device type tensor to numpy"))
        with pytest.raises(
            ValueError, match=r"normals is a Tensor, .*\(can't convert cuda.*cpu\(\).numpy\(\)"
        ):
            integrate_normals(on_a_device)
        with pytest.raises(ValueError, match="mask is an object, which NumPy cannot read"):
            integrate_normals(np.ones((4, 4, 3)), object())

    @pytest.mark.parametrize("scale", [1, 255, 65535, 2**32 - 1])
    @pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, np.uint32])
    def test_colours_as_other_numbers(self, scale, kind):
        if scale == 1 and kind in (np.int64, np.uint32):
            pytest.skip("no whole numbers")
        normals, mask = vase(bits="32")
        colours = np.where(mask[..., np.newaxis], (normals.astype(float) + 1) / 2 * scale, 0)
        whole = np.clip(np.round(colours), 0, scale) if kind in (np.int64, np.uint32) else colours
        seen = take(whole.astype(kind), mask).seen
        expected = take(normals, mask).seen
        assert seen.axes == "xyz"
        assert np.median(np.abs(seen.q - expected.q)[mask]) < 0.02

    def test_vectors_of_any_length_stay_vectors(self):
        for vector in ([0.6, 0, 0.8], [0.1, 0.2, 0.9], [0, 0, 5.0], [3, 4, 100.0]):
            seen = take(np.full((3, 4, 3), vector), axes="xyz").seen
            assert seen.q[0, 0] == pytest.approx(-vector[0] / vector[2])


class TestFiles:
    @pytest.mark.parametrize(
        "name, bits", [("n.jpg", "8"), ("n.jpeg", "8"), ("n.webp", "8"), ("n.png", "8"), ("n.png", "16"),
                       ("n.tiff", "16"), ("n.tiff", "32"), ("n.hdr", "0 to 1"), ("n.tif", "0 to 1")],
    )  # fmt: skip
    def test_images(self, tmp_path, name, bits):
        normals, mask = vase(bits=bits)
        normals[~mask] = 0
        assert cv2.imwrite(str(tmp_path / name), normals[..., ::-1])
        found = decode(read_normals(tmp_path / name))
        expected = decode(vase(bits="32")[0])
        assert np.degrees(np.median(np.linalg.norm(found - expected, axis=-1)[mask])) < 3
        seen = take(read_stored(tmp_path / name).normals).seen
        assert seen.axes == "xyz" and np.mean(seen.mask != mask) < 0.05

    @pytest.mark.parametrize("name", ["n.png", "n.webp", "n.tiff"])
    def test_alpha_of_images_is_the_mask(self, tmp_path, name):
        normals, mask = vase()
        alpha = np.where(mask, 255, 0).astype(np.uint8)
        lossless = [cv2.IMWRITE_WEBP_QUALITY, 101] if name.endswith("webp") else []
        cv2.imwrite(str(tmp_path / name), np.dstack([normals[..., ::-1], alpha]), lossless)
        found = read_stored(tmp_path / name)
        np.testing.assert_array_equal(found.mask, mask)
        assert "alpha channel" in found.paths["mask"]

    def test_alpha_of_exr_files_is_the_mask(self, tmp_path):
        exr = pytest.importorskip("OpenEXR")
        normals, mask = vase(bits="32")
        pixels = np.dstack([normals, mask]).astype(np.float32)
        header = {"compression": exr.ZIP_COMPRESSION, "type": exr.scanlineimage}
        exr.File(header, {"RGBA": np.ascontiguousarray(pixels)}).write(str(tmp_path / "n.exr"))
        found = read_stored(tmp_path / "n.exr")
        np.testing.assert_array_equal(found.mask, mask)
        np.testing.assert_allclose(found.normals, normals)

    @pytest.mark.parametrize("name", ["n.npy", "n.npz"])
    def test_channels_first(self, tmp_path, name):
        normals, _ = vase(bits="32")
        first = np.moveaxis(normals, 2, 0)
        np.save(tmp_path / name, first) if name.endswith("npy") else np.savez(tmp_path / name, normals=first)
        np.testing.assert_array_equal(read_normals(tmp_path / name), normals)


def test_nothing_is_said_of_a_map_that_is_clear():
    statue = normint.surfaces.figurine(96)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = integrate_normals(gradient_to_normals(statue.p, statue.q), statue.mask)
    assert result.notes[0].startswith("axes='uvz'") and len(result.notes) == 1
