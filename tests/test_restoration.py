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


def test_luminance_goes_from_black_to_white():
    ends = np.array([[[0, 0, 0], [255, 255, 255]]], np.uint8)
    assert luminance(ends)[0].tolist() == pytest.approx([0, 100])


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("fraction", [0.02, 0.25, 1.0])
def test_every_choice_keeps_the_fraction(choice, fraction):
    keep = control_points(noise(96, 80), fraction, choice, np.random.default_rng(1))
    # A grid has whole rows and columns; dithering rounds at the last pixel.
    spare = {"regular": sum(np.sqrt(fraction) * np.array(keep.shape)) / 2 + 1, "dithered": 1}
    assert abs(np.count_nonzero(keep) - fraction * keep.size) <= spare.get(choice, 0.5)


def test_dithered_points_are_dense_where_the_image_is_curved():
    image = np.full((64, 64, 3), 128, np.uint8)
    image[:, 32:] = noise(64, 32)
    keep = control_points(image, 0.1, "dithered")
    assert keep[:, 36:].mean() > 10 * keep[:, :28].mean()


def test_a_blank_image_gets_evenly_spread_dithered_points():
    keep = control_points(np.full((64, 64, 3), 128, np.uint8), 0.1, "dithered")
    quarters = [keep[i : i + 32, j : j + 32].mean() for i in (0, 32) for j in (0, 32)]
    assert quarters == pytest.approx([0.1] * 4, rel=0.25)


def test_contours_separate_the_discs():
    image = cartoon(64, 5, np.random.default_rng(3))
    flat = (luminance(image)[1:] == luminance(image)[:-1]) | contours(image)[1:]
    assert flat.all(), "where colours change downwards, the lower pixel is marked"


@pytest.mark.parametrize("method", ["quadratic", "mumford_shah"])
def test_all_pixels_kept_give_the_image_back(method):
    image = cartoon(32, 4)
    restored = restore(image, np.ones((32, 32)), method=method, gradient=None, prior_weight=1e6)
    assert np.array_equal(restored, image)


@pytest.mark.parametrize("method", ["quadratic", "mumford_shah"])
def test_pixels_that_are_not_kept_do_not_matter(method):
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


def test_half_a_slope_carries_the_colour_one_pixel_on():
    ramp = np.empty((4, 7, 3), np.uint8)
    ramp[:] = np.arange(0, 210, 30)[:, np.newaxis]
    keep = np.zeros(ramp.shape[:2], bool)
    keep[:, :4] = True
    with_slopes = restore(ramp, keep, method="quadratic", prior_weight=1e6)[0, :, 0]
    without = restore(ramp, keep, method="quadratic", prior_weight=1e6, gradient=None)[0, :, 0]
    assert without.tolist() == [0, 30, 60, 90, 90, 90, 90]
    assert with_slopes.tolist() == [0, 30, 60, 90, 105, 105, 105]


def test_forward_differences_are_those_to_the_next_pixel():
    # At the column that is kept the slope is 40 forwards, but 20 by central differences.
    image = np.empty((3, 4, 3), np.uint8)
    image[:] = np.array([100, 100, 140, 140])[:, np.newaxis]
    keep = np.zeros(image.shape[:2], bool)
    keep[:, 1] = True
    restored = restore(image, keep, method="quadratic", prior_weight=1e6, gradient="forward")[0, :, 0]
    assert restored.tolist() == [80, 100, 120, 120]


def test_mumford_shah_closes_the_gaps_of_contours_better_than_least_squares():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        image = cartoon(96, 6, rng)
        keep = contours(image) & (rng.random((96, 96)) < 0.6)
        smooth = restore(image, keep, gradient=None, method="quadratic", prior_weight=1e4)
        flat = restore(image, keep, gradient=None, mu=1.0)
        assert psnr(image, flat) > psnr(image, smooth) + 2, f"seed {seed}"


def test_results_are_clipped_to_the_gamut():
    # With slopes, a bright rim would go on beyond white.
    image = np.full((8, 8, 3), 250, np.uint8)
    image[:, :3] = 0
    keep = np.zeros((8, 8), bool)
    keep[:, 2:4] = True
    restored = restore(image, keep, method="quadratic", prior_weight=1e6)
    assert restored[:, 5:].min() == 255 and restored[:, :2].max() == 0


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
