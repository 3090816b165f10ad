"""Image files keep all their bits; what is wrong with one is said in one error that names it."""

import re
import struct

import cv2
import numpy as np
import pytest

from normint.files.images import read_image, read_mask, write_image

RNG = np.random.default_rng(0)
IMAGES = {
    f"{bits}-bit {kind}": RNG.integers(0, 2**bits, shape).astype(dtype)
    for bits, dtype in ((8, np.uint8), (16, np.uint16))
    for kind, shape in (("grey", (9, 14)), ("colour", (9, 14, 3)))
}
SMOOTH = np.add.outer(np.arange(60), np.arange(80)).astype(np.uint16) * 400

each_image = pytest.mark.parametrize("image", IMAGES.values(), ids=IMAGES)


def naming(path):
    """Match a message that contains the whole path."""
    return re.escape(str(path))


def assert_refused(path, error=ValueError, **wanted):
    """Check that reading a file fails with exactly this kind of error, which names the file."""
    with pytest.raises(error, match=naming(path)) as caught:
        read_image(path, **wanted)
    assert type(caught.value) is error
    return str(caught.value)


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
        assert f"has {bits} bits" in assert_refused(path, bits=24 - bits)
        expected = ("is in colour", "an image grey") if colour else ("is grey", "an image in colour")
        message = assert_refused(path, colour=not colour)
        assert all(part in message for part in expected)
        assert "(9, 14) rows and columns; expected (14, 9)" in assert_refused(path, shape=(14, 9))

    def test_real_numbers(self, tmp_path):
        path = tmp_path / "real.tiff"
        cv2.imwrite(str(path), np.ones((4, 4), np.float32))
        assert "expected 8 or 16" in assert_refused(path)


def png_cuts():
    """Places to cut a PNG: in its signature, header, data, checksum and end."""
    size = len(cv2.imencode(".png", SMOOTH)[1])
    return {"1 byte": 1, "signature": 8, "header": 20, "after the header": 33, "start of data": 45,
            "half": size // 2, "without the end": size - 12, "last byte": size - 1}  # fmt: skip


class TestDamaged:
    @pytest.mark.parametrize("cut", png_cuts().values(), ids=png_cuts())
    def test_truncated_png(self, tmp_path, cut):
        path = tmp_path / "image.png"
        write_image(path, SMOOTH)
        path.write_bytes(path.read_bytes()[:cut])
        assert_refused(path)

    def test_every_flipped_byte(self, tmp_path):
        path = tmp_path / "image.png"
        write_image(path, IMAGES["16-bit colour"][:4, :4])
        data = path.read_bytes()
        for place in range(len(data)):
            flipped = bytearray(data)
            flipped[place] ^= 0x04
            path.write_bytes(flipped)
            assert_refused(path)

    def test_a_missing_part(self, tmp_path):
        # Each part that is there is whole, but one of the image's is not there.
        path = tmp_path / "image.png"
        write_image(path, RNG.integers(0, 65536, (200, 200)).astype(np.uint16))
        data, parts, place = path.read_bytes(), [], 8
        while place < len(data):
            end = place + 12 + int.from_bytes(data[place : place + 4], "big")
            parts.append(data[place:end])
            place = end
        assert len(parts) > 6
        for gone in range(len(parts)):
            path.write_bytes(data[:8] + b"".join(parts[:gone] + parts[gone + 1 :]))
            assert_refused(path)

    @pytest.mark.parametrize("kept", [0, 4, 200, 5000, 9599])
    def test_truncated_tiff(self, tmp_path, kept):
        path = tmp_path / "image.tiff"
        write_image(path, SMOOTH)
        data = path.read_bytes()
        path.write_bytes(data[: min(kept, len(data) - 1)])
        assert_refused(path)

    @pytest.mark.parametrize("missing", [1, 64, 2000])
    def test_truncated_tiff_whose_directory_comes_first(self, tmp_path, missing):
        rows, columns, start = 40, 64, 8 + 2 + 9 * 12 + 4
        tags = [(256, columns), (257, rows), (258, 8), (259, 1), (262, 1), (273, start), (277, 1),
                (278, rows), (279, rows * columns)]  # fmt: skip
        entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
        pixels = RNG.integers(0, 256, (rows, columns)).astype(np.uint8)
        data = struct.pack("<2sHIH", b"II", 42, 8, len(tags)) + entries + bytes(4) + pixels.tobytes()
        path = tmp_path / "image.tiff"
        path.write_bytes(data)
        np.testing.assert_array_equal(read_image(path), pixels)
        path.write_bytes(data[:-missing])
        assert_refused(path)

    @pytest.mark.parametrize(
        "data", [b"", b"\0" * 500, b"<html>404 Not Found</html>", b"version https://git-lfs.github.com/spec/v1\n"],
        ids=["empty", "zeros", "text", "pointer"],
    )  # fmt: skip
    def test_no_image_at_all(self, tmp_path, data):
        path = tmp_path / "image.png"
        path.write_bytes(data)
        assert "is not an image that can be read" in assert_refused(path)


class TestNoFile:
    def test_missing(self, tmp_path):
        assert_refused(tmp_path / "image.png", FileNotFoundError)
        assert_refused(tmp_path / "folder" / "image.png", FileNotFoundError)

    def test_folder(self, tmp_path):
        (tmp_path / "image.png").mkdir()
        assert_refused(tmp_path / "image.png")

    def test_below_a_file(self, tmp_path):
        (tmp_path / "file").write_text("")
        assert_refused(tmp_path / "file" / "image.png")

    def test_a_name_that_no_file_can_have(self, tmp_path):
        with pytest.raises(ValueError, match="cannot be read"):
            read_image(f"{tmp_path}/image\0.png")


class TestMask:
    @pytest.mark.parametrize("white", [1, 255, 65535])
    @pytest.mark.parametrize("colour", [False, True])
    def test_bright_is_inside(self, tmp_path, white, colour):
        mask = RNG.random((7, 8)) < 0.5
        image = np.where(mask, white, 0).astype(np.uint16 if white > 255 else np.uint8)
        write_image(tmp_path / "mask.png", np.stack([image] * 3, axis=2) if colour else image)
        found = read_mask(tmp_path / "mask.png", (7, 8))
        assert found.dtype == bool
        np.testing.assert_array_equal(found, mask)

    def test_black(self, tmp_path):
        write_image(tmp_path / "mask.png", np.zeros((7, 8), np.uint8))
        with pytest.raises(ValueError, match=naming(tmp_path / "mask.png") + " is black"):
            read_mask(tmp_path / "mask.png")

    def test_shape(self, tmp_path):
        write_image(tmp_path / "mask.png", np.ones((7, 8), np.uint8))
        with pytest.raises(ValueError, match=naming(tmp_path / "mask.png")):
            read_mask(tmp_path / "mask.png", (8, 7))


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
