"""Image files keep all their bits; what is wrong with one is said in one error that names it."""

import re

import cv2
import numpy as np
import pytest

from normint.files.images import read_image, write_image

RNG = np.random.default_rng(0)
IMAGES = {
    f"{bits}-bit {kind}": RNG.integers(0, 2**bits, shape).astype(dtype)
    for bits, dtype in ((8, np.uint8), (16, np.uint16))
    for kind, shape in (("grey", (9, 14)), ("colour", (9, 14, 3)))
}

each_image = pytest.mark.parametrize("image", IMAGES.values(), ids=IMAGES)


def naming(path):
    """Match a message that contains the whole path."""
    return re.escape(str(path))


class TestRoundTrip:
    @each_image
    @pytest.mark.parametrize("suffix", [".png", ".PNG", ".tif", ".tiff"])
    def test_exact(self, tmp_path, image, suffix):
        path = tmp_path / f"image{suffix}"
        write_image(path, image)
        back = read_image(path, bits=8 * image.itemsize, colour=image.ndim == 3, shape=(9, 14))
        assert back.dtype == image.dtype
        np.testing.assert_array_equal(back, image)

    @pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
    def test_extreme_values(self, tmp_path, dtype):
        image = np.array([[0, 1, 255], [256 % (np.iinfo(dtype).max + 1), 128, np.iinfo(dtype).max]], dtype)
        write_image(tmp_path / "image.png", image)
        np.testing.assert_array_equal(read_image(tmp_path / "image.png"), image)

    def test_views_are_written_as_seen(self, tmp_path):
        image = IMAGES["16-bit colour"][::-2, ::3]
        write_image(tmp_path / "image.png", image)
        np.testing.assert_array_equal(read_image(tmp_path / "image.png"), image)

    def test_folders_are_made(self, tmp_path):
        write_image(str(tmp_path / "a" / "b" / "image.png"), IMAGES["8-bit grey"])
        assert [file.name for file in (tmp_path / "a" / "b").iterdir()] == ["image.png"]


class TestAgainstOpenCV:
    """What is in the file, according to another reader."""

    def test_red_comes_first(self, tmp_path):
        image = np.zeros((2, 2, 3), np.uint16)
        image[..., 0] = 40_000  # red
        image[..., 1] = 500
        write_image(tmp_path / "red.png", image)
        assert cv2.imread(str(tmp_path / "red.png"), cv2.IMREAD_UNCHANGED)[0, 0].tolist() == [0, 500, 40_000]
        assert read_image(tmp_path / "red.png")[0, 0].tolist() == [40_000, 500, 0]

    def test_transparency_is_dropped(self, tmp_path):
        bgra = RNG.integers(0, 65536, (5, 6, 4)).astype(np.uint16)
        cv2.imwrite(str(tmp_path / "image.png"), bgra)
        np.testing.assert_array_equal(read_image(tmp_path / "image.png"), bgra[..., [2, 1, 0]])


class TestUnexpected:
    @each_image
    def test_bits_colour_and_shape(self, tmp_path, image):
        path = tmp_path / "image.png"
        write_image(path, image)
        bits, colour = 8 * image.itemsize, image.ndim == 3
        kinds = "is in colour; expected an image grey", "is grey; expected an image in colour"
        for wanted, words in (
            ({"bits": 24 - bits}, f"has {bits} bits"),
            ({"colour": not colour}, kinds[not colour]),
            ({"shape": (14, 9)}, r"\(9, 14\) rows and columns; expected \(14, 9\)"),
        ):
            with pytest.raises(ValueError, match=f"{naming(path)}.* {words}"):
                read_image(path, **wanted)

    def test_real_numbers(self, tmp_path):
        path = tmp_path / "real.tiff"
        cv2.imwrite(str(path), np.ones((4, 4), np.float32))
        with pytest.raises(ValueError, match="real.tiff has 32 bits a channel; expected 8 or 16"):
            read_image(path)


class TestWriting:
    old = IMAGES["8-bit grey"]

    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "image.png"
        write_image(path, self.old)
        return path

    @pytest.mark.parametrize(
        ("image", "message"),
        [
            (np.zeros((4, 4)), "image has type float64; expected uint8 or uint16"),
            (np.zeros((4, 4), np.int16), "image has type int16"),
            (np.zeros(4, np.uint8), r"image has shape \(4,\); expected"),
            (np.zeros((4, 4, 2), np.uint8), r"image has shape \(4, 4, 2\)"),
            (np.zeros((4, 4, 4), np.uint8), r"image has shape \(4, 4, 4\)"),
            (np.zeros((0, 4), np.uint8), r"image has shape \(0, 4\)"),
        ],
    )
    def test_a_bad_image_leaves_the_old_file(self, path, image, message):
        with pytest.raises(ValueError, match=message):
            write_image(path, image)
        self.assert_untouched(path)

    def test_a_failure_on_the_way_leaves_the_old_file(self, path, monkeypatch):
        def full(self, data):
            with self.open("wb") as file:
                file.write(data[: len(data) // 2])
            raise OSError("no space left on device")

        monkeypatch.setattr(type(path), "write_bytes", full)
        with pytest.raises(OSError, match="no space left"):
            write_image(path, IMAGES["16-bit colour"])
        monkeypatch.undo()
        self.assert_untouched(path)

    def assert_untouched(self, path):
        assert [file.name for file in path.parent.iterdir()] == ["image.png"]
        np.testing.assert_array_equal(read_image(path), self.old)

    @pytest.mark.parametrize("name", ["image", "image.jpg", "image.bmp", "image.txt", ".png"])
    def test_only_formats_that_keep_all_bits(self, tmp_path, name):
        with pytest.raises(ValueError, match=naming(tmp_path / name)):
            write_image(tmp_path / name, IMAGES["16-bit colour"])
        assert not list(tmp_path.iterdir())
