"""Flattening removes the bend and nothing else; how much it was is told."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from normint import flatten
from normint.normals.flattening import flatten_by_points

ROWS, COLUMNS = 90, 120
U, V = np.mgrid[:ROWS, :COLUMNS].astype(float)
PLANE = 0.3 * U - 0.1 * V
BOWL = 0.002 * (U - 40) ** 2 + 0.001 * (U - 40) * (V - 50) - 0.001 * (V - 50) ** 2 + PLANE
TEXTURE = 0.5 * np.sin(U) * np.sin(1.3 * V)


def flat_up_to_a_constant(depth, atol):
    np.testing.assert_allclose(depth - np.nanmean(depth), 0 * depth, atol=atol)


@pytest.mark.parametrize("shape, bend", [("plane", PLANE), ("quadric", BOWL), ("quadric", PLANE)])
def test_a_bend_of_that_shape_is_removed_to_rounding(shape, bend):
    made = flatten(bend + 7, shape)
    np.testing.assert_allclose(made.depth, np.full(U.shape, 7 + bend.mean()), atol=1e-9)
    assert made.removed == pytest.approx(np.ptp(bend))
    np.testing.assert_allclose(made.depth + made.bend, bend + 7, atol=1e-9)


def test_detail_stays():
    made = flatten(BOWL + TEXTURE, "quadric")
    detail = made.depth - made.depth.mean()
    assert np.abs(detail - TEXTURE + TEXTURE.mean()).max() < 0.02


def test_nan_stays_and_one_pixel_is_its_own_piece():
    depth = np.where((U > 20) & (V > 30), PLANE, np.nan)
    depth[0, 0] = 5.0
    made = flatten(depth)
    np.testing.assert_array_equal(np.isnan(made.depth), np.isnan(depth))
    assert made.depth[0, 0] == 5.0


class TestIslands:
    """Normals say nothing of the heights of islands, each of zero mean; the bend is the same for all."""

    DEPTH = np.where((V < 40) | (V > 80), PLANE, np.nan)

    def apart(self):
        depth = self.DEPTH.copy()
        for part in (V < 40, V > 80):
            depth[part] -= depth[part].mean()
        return depth

    def test_one_bend_fits_all_and_means_stay(self):
        depth = self.apart()
        made = flatten(depth)
        flat_up_to_a_constant(made.depth, 1e-9)
        # One plane through both, as if their heights could be compared, would be a wrong one.
        assert np.nanstd(flatten(depth, together=True).depth) > 1

    def test_known_heights_are_compared(self):
        made = flatten(self.DEPTH, together=True)
        flat_up_to_a_constant(made.depth, 1e-9)
        assert np.nanstd(flatten(self.DEPTH).depth) > 1, "else each keeps its mean"


def test_a_jump_does_not_tilt_the_plane():
    step = 30.0 * (V > 70)
    down, right = np.ones((2, ROWS, COLUMNS))
    right[:, 70] = 0.0
    made = flatten(PLANE + step, weights=(down, right))
    left, beyond = made.depth[:, :71], made.depth[:, 71:]
    assert np.ptp(left) < 1e-9 and np.ptp(beyond) < 1e-9
    assert np.ptp(flatten(PLANE + step).depth[:, :71]) > 5, "without the cut it would"


def test_what_stands_on_the_ground_tilts_it_less_than_least_squares():
    object_ = 20.0 * ((U < 25) & (V < 35))
    made = flatten(PLANE + object_)
    ground = np.ptp(made.depth[object_ == 0])
    left = np.stack([np.ones(U.size), U.ravel(), V.ravel()], axis=1)
    plain = object_.ravel() - left @ np.linalg.lstsq(left, object_.ravel(), rcond=None)[0]
    assert ground < 0.1 * np.ptp(plain[object_.ravel() == 0])


class TestHighpass:
    def test_half_of_a_wave_of_that_length_stays(self):
        u = np.arange(640.0)
        for length, factor in ((64, 0.5), (16, 1.0), (640, 0.007)):
            wave = np.repeat(np.cos(2 * np.pi * u / length)[:, np.newaxis], 8, axis=1)
            kept = flatten(wave, "highpass", length=64, periodic=True).depth
            np.testing.assert_allclose(kept, factor * wave, atol=1e-3)

    def test_a_bowl_goes_and_detail_stays(self):
        made = flatten(BOWL + TEXTURE, "highpass", length=40)
        inside = (slice(15, -15), slice(15, -15))
        left = (made.depth - TEXTURE)[inside]
        assert np.ptp(left) < 0.03 * np.ptp(BOWL[inside])

    def test_nothing_crosses_from_island_to_island(self):
        depth = np.where(V < 60, 0.0, 100.0)
        depth[:, 60] = np.nan
        made = flatten(depth, "highpass", length=30)
        np.testing.assert_allclose(made.depth[:, :60], 0, atol=1e-9)
        np.testing.assert_allclose(made.depth[:, 61:], 100, atol=1e-9)

    def test_a_tile_stays_a_tile(self):
        rng = np.random.default_rng(0)
        tile = gaussian_filter(rng.standard_normal((64, 96)), 3, mode="wrap")
        shifted = np.roll(tile, (20, 30), (0, 1))
        made = flatten(tile, "highpass", length=50, periodic=True).depth
        again = flatten(shifted, "highpass", length=50, periodic=True).depth
        np.testing.assert_allclose(np.roll(made, (20, 30), (0, 1)), again, atol=1e-12)


class TestPoints:
    def test_they_are_at_zero(self):
        points = [(5, 5), (80, 20), (40, 110)]
        made = flatten_by_points(BOWL + 9, points)
        np.testing.assert_allclose(made.depth[tuple(np.transpose(points))], 0, atol=1e-9)
        flat_up_to_a_constant(flatten_by_points(PLANE + 9, points).depth, 1e-9)

    def test_more_than_three_are_fitted(self):
        points = [(5, 5), (80, 20), (40, 110), (70, 90)]
        left = flatten_by_points(BOWL, points).depth[tuple(np.transpose(points))]
        assert abs(left.sum()) < 1e-9 < np.abs(left).max()

    @pytest.mark.parametrize(
        "points, words",
        [
            ([(1, 1), (2, 2)], "expected three or more"),
            ([(1, 1), (2, 2), (3, 3)], "on a line"),
            ([(1, 1), (2, 2), (3, 300)], "no depth at row 3, column 300"),
            ([(1, 1), (-2, 2), (3, 3)], "no depth at row -2"),
            ([(1.5, 1), (2, 2), (3, 3)], "whole numbers"),
            ([(1, 1), (50, 2), (3, 100)], "different pieces"),
        ],
    )
    def test_bad_ones_are_refused(self, points, words):
        depth = np.where(V == 60, np.nan, PLANE)
        with pytest.raises(ValueError, match=words):
            flatten_by_points(depth, points)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"shape": "cubic"}, "shape is 'cubic'; expected one of plane, quadric, highpass"),
        ({"shape": "highpass"}, "length is missing"),
        ({"length": 5}, "length is missing, or not of use"),
        ({"shape": "highpass", "length": -3}, "length is -3"),
        ({"shape": "plane", "periodic": True}, "a tile cannot be flattened by shape='plane'"),
    ],
)
def test_bad_arguments_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        flatten(PLANE, **options)
