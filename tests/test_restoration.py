"""Restored images: control points are where they should be, and nothing but what is kept decides the rest."""

import numpy as np
import pytest
from skimage.metrics import peak_signal_noise_ratio

from normint.workbook.studies.control_points import CHOICES, contours, control_points, luminance
from normint.workbook.studies.restoration import (
    cartoon,
    most_different_window,
    numbers_kept,
    psnr,
    restore,
    ssim,
)


def noise(rows=24, cols=31, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (rows, cols, 3), dtype=np.uint8)


def test_the_largest_gradients_are_kept_and_exactly_so_many():
    image = noise()
    keep = control_points(image, 0.1)
    size = np.hypot(*np.gradient(luminance(image)))
    assert np.count_nonzero(keep) == round(0.1 * keep.size)
    assert size[keep].min() >= size[~keep].max()


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("fraction", [0.02, 0.25, 1.0])
def test_every_choice_keeps_the_fraction(choice, fraction):
    keep = control_points(noise(96, 80), fraction, choice, np.random.default_rng(1))
    # A grid has whole rows and columns; dithering rounds at the last pixel.
    spare = {"regular": sum(np.sqrt(fraction) * np.array(keep.shape)) / 2 + 1, "dithered": 1}
    assert abs(np.count_nonzero(keep) - fraction * keep.size) <= spare.get(choice, 0.5)


def test_dithered_points_are_dense_where_the_image_is_curved_and_even_where_it_is_blank():
    image = np.full((64, 64, 3), 128, np.uint8)
    keep = control_points(image, 0.1, "dithered")
    quarters = [keep[i : i + 32, j : j + 32].mean() for i in (0, 32) for j in (0, 32)]
    assert quarters == pytest.approx([0.1] * 4, rel=0.25)
    image[:, 32:] = noise(64, 32)
    keep = control_points(image, 0.1, "dithered")
    assert keep[:, 36:].mean() > 10 * keep[:, :28].mean()


def test_contours_separate_the_discs():
    image = cartoon(64, 5, np.random.default_rng(3))
    flat = (luminance(image)[1:] == luminance(image)[:-1]) | contours(image)[1:]
    assert flat.all(), "where colours change downwards, the lower pixel is marked"


@pytest.mark.parametrize("method", ["quadratic", "mumford_shah"])
def test_all_pixels_kept_give_the_image_back_and_others_do_not_matter(method):
    image = cartoon(32, 4)
    restored = restore(image, np.ones((32, 32)), method=method, gradient=None, prior_weight=1e6)
    assert np.array_equal(restored, image)
    image = noise()
    keep = control_points(image, 0.1)
    other = np.where(keep[..., np.newaxis], image, noise(seed=1))
    first, second = (restore(each, keep, gradient=None, method=method) for each in (image, other))
    assert np.array_equal(first, second)


def test_colours_do_not_mix_and_transposing_commutes():
    image = noise()
    keep = control_points(image, 0.3)
    restored = restore(image, keep, method="quadratic")
    swapped = restore(image[..., [2, 0, 1]], keep, method="quadratic")
    turned = restore(image.swapaxes(0, 1), keep.T, method="quadratic")
    assert np.array_equal(swapped, restored[..., [2, 0, 1]])
    # The solver's sweeps have an order: equal up to its tolerance, which rounding may turn into one level.
    assert np.abs(np.subtract(turned.swapaxes(0, 1), restored, dtype=int)).max() <= 1


RAMP = [0, 30, 60, 90, 120, 150, 180]


@pytest.mark.parametrize(
    ("row", "kept", "gradient", "expected"),
    [
        (RAMP, 4, None, [0, 30, 60, 90, 90, 90, 90]),
        # Half a slope carries the colour on by one pixel.
        (RAMP, 4, "central", [0, 30, 60, 90, 105, 105, 105]),
        # At the pixel that is kept the slope is 40 forwards, but 20 by central differences.
        ([100, 140, 140], 1, "forward", [100, 120, 120]),
        # A bright rim would go on beyond white, and a dark one beyond black.
        ([0, 0, 250, 250, 250], slice(1, 3), "central", [0, 0, 250, 255, 255]),
    ],
)
def test_what_becomes_of_a_row(row, kept, gradient, expected):
    image = np.empty((4, len(row), 3), np.uint8)
    image[:] = np.array(row)[:, np.newaxis]
    keep = np.zeros(image.shape[:2], bool)
    keep[:, kept if isinstance(kept, slice) else slice(kept)] = True
    restored = restore(image, keep, method="quadratic", prior_weight=1e6, gradient=gradient)
    assert restored[0, :, 0].tolist() == expected


def test_mumford_shah_closes_the_gaps_of_contours_better_than_least_squares():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        image = cartoon(96, 6, rng)
        keep = contours(image) & (rng.random((96, 96)) < 0.6)
        smooth = restore(image, keep, gradient=None, method="quadratic", prior_weight=1e4)
        flat = restore(image, keep, gradient=None, mu=1.0)
        assert psnr(image, flat) > psnr(image, smooth) + 2, f"seed {seed}"


def test_psnr_and_ssim():
    image, other = noise(), noise(seed=1)
    assert psnr(image, other) == pytest.approx(peak_signal_noise_ratio(image, other))
    assert psnr(image, image) == np.inf and ssim(image, image) == 1
    assert ssim(image, other) < 0.1


def test_slopes_that_colours_give_are_not_counted():
    keep = np.zeros((5, 5), bool)
    keep[2, 2] = True
    assert numbers_kept(keep) == (1 / 25, 2 / 25)
    assert numbers_kept(keep, gradient=False) == (1 / 25, 0)
    assert numbers_kept(np.ones((5, 5))) == (1, 0)
    corner = np.zeros((5, 5), bool)
    corner[0, :2] = True  # of the first the slope to the right is known, of the second it is not
    assert numbers_kept(corner) == (2 / 25, 3 / 25)


def test_the_window_is_where_images_differ():
    first = np.zeros((40, 50, 3), np.uint8)
    for top, left in ((0, 0), (3, 20), (30, 40)):
        second = first.copy()
        second[top : top + 10, left : left + 10] = 9
        assert most_different_window(first, second, 10) == (slice(top, top + 10), slice(left, left + 10))


IMAGE = noise(8, 8)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: control_points(IMAGE / 255, 0.1), "image has type float64"),
        (lambda: control_points(IMAGE[..., 0], 0.1), r"image has shape \(8, 8\)"),
        (lambda: control_points(IMAGE, 0), "fraction is 0"),
        (lambda: control_points(IMAGE, float("nan")), "fraction is nan"),
        (lambda: control_points(IMAGE, 0.1, "best"), "choice is 'best'"),
        (lambda: control_points(IMAGE, 0.1, "random"), "rng is missing"),
        (lambda: restore(IMAGE, np.zeros((8, 8))), "mask is empty"),
        (lambda: restore(IMAGE, np.ones((8, 8)), gradient="backward"), "gradient is 'backward'"),
        (lambda: restore(IMAGE, np.ones((8, 8)), method="cubic"), "method is 'cubic'"),
        (lambda: psnr(IMAGE, IMAGE[:4]), r"restored has shape \(4, 8, 3\)"),
        (lambda: ssim(IMAGE[:4], IMAGE[:4]), "image has 4×8 pixels"),
        (lambda: most_different_window(IMAGE, IMAGE, 9), "side is 9"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
