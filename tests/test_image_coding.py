"""Files of control points give back what was put in; other codecs are asked for equal sizes."""

import numpy as np
import pytest

from normint.workbook.studies import coding
from normint.workbook.studies.control_points import control_points
from normint.workbook.studies.restoration import cartoon, psnr

RNG = np.random.default_rng(0)
IMAGE = RNG.integers(0, 256, (37, 50, 3), dtype=np.uint8)
KEEP = RNG.random((37, 50)) < 0.3


@pytest.mark.parametrize("step", [1, 2, 7, 16, 64])
def test_colours_come_back_within_half_a_step(step):
    colours, keep = coding.decode(coding.encode(IMAGE, KEEP, step))
    assert np.array_equal(keep, KEEP)
    assert np.abs(np.subtract(colours, IMAGE, dtype=int)[KEEP]).max() <= step / 2
    assert not colours[~KEEP].any()


@pytest.mark.parametrize("where", [np.s_[0, 0], np.s_[-1, -1], np.s_[:], np.s_[:, 7], np.s_[5]])
def test_any_points_come_back(where):
    keep = np.zeros(KEEP.shape, bool)
    keep[where] = True
    colours, found = coding.decode(coding.encode(IMAGE, keep, 1))
    assert np.array_equal(found, keep)
    assert np.array_equal(colours[keep], IMAGE[keep])


def test_a_file_of_structured_points_is_smaller_than_its_parts_as_they_are():
    image = cartoon(128)
    keep = control_points(image, 0.05)
    size = len(coding.encode(image, keep, 8))
    assert size < (keep.size / 8 + 3 * keep.sum()) / 3


@pytest.mark.parametrize(
    "damage", [lambda d: b"", lambda d: b"JPEG" + d[4:], lambda d: d[:-5], lambda d: d[:20]]
)
def test_damaged_files_are_refused(damage):
    with pytest.raises(ValueError, match="data .*; expected what encode returns"):
        coding.decode(damage(coding.encode(IMAGE, KEEP)))


@pytest.mark.parametrize("codec", coding.CODECS)
def test_a_codec_keeps_to_the_size_and_uses_it(codec):
    if not coding.available(codec):
        pytest.skip(f"OpenCV without {codec}")
    image = cartoon(128)
    decoded, size = coding.compress_to(image, codec, 6000)
    smaller, less = coding.compress_to(image, codec, 2500)
    assert less <= 2500 < size <= 6000
    assert decoded.shape == image.shape and psnr(image, decoded) > psnr(image, smaller) > 15
    assert coding.compress_to(image, codec, 10) == (None, None)


def test_rate_curves_rise():
    sizes, values = coding.rate_curve(cartoon(96), "JPEG", [5, 30, 80])
    assert sizes == sorted(sizes) and values == sorted(values)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: coding.encode(IMAGE, KEEP, 0), "step is 0"),
        (lambda: coding.encode(IMAGE, KEEP, 65), "step is 65"),
        (lambda: coding.encode(IMAGE, KEEP[:5]), "mask has shape"),
        (lambda: coding.encode(IMAGE / 255, KEEP), "image has type float64"),
        (lambda: coding.available("PNG"), "codec is 'PNG'"),
        (lambda: coding.compress(IMAGE, "PNG", 3), "codec is 'PNG'"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
