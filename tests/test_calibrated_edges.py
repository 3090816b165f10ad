"""What the slopes say about an edge: its step, its variance, and what a jump costs either way."""

import numpy as np
import pytest

from normint.methods.calibrated.constants import CONSTANTS
from normint.methods.calibrated.contours import find_contours
from normint.methods.calibrated.edges import look
from normint.methods.calibrated.noise import Noise

DOWN, RIGHT = 0, 1
BELOW, ABOVE = 0, 1  # the sign of the residual
LINE = 40


def noise(shape, sigma, exponent=1.0, bend=0.1):
    return Noise(np.full(shape, sigma), sigma, exponent, bend)


def look_along_a_row(slope, other=0.0, away=False, **known):
    """Return what is said of the edges of one row, as (step, variance, bend, price)."""
    slope = np.asarray(slope, float)[np.newaxis]
    shape = slope.shape
    quiet = noise(shape, **({"sigma": 0.01} | known))
    found = look(np.full(shape, other), slope, np.ones(shape, bool), quiet, away)
    assert not found.exists[DOWN].any()
    np.testing.assert_array_equal(found.exists[RIGHT, 0], np.arange(shape[1]) < shape[1] - 1)
    return tuple(image[RIGHT, 0, :-1] for image in (found.step, found.variance, found.bend, found.price))


def contours_along_a_row(slope, sigma=1e-3, share=0.95):
    """Return step, variance and whether it is a last edge; where nothing is predicted, NaN and NaN."""
    slope = np.atleast_2d(np.asarray(slope, float))
    step, variance = np.full((2, 2, *slope.shape), np.nan)
    mask, noisy = np.ones(slope.shape, bool), np.full(slope.shape, sigma)
    last = find_contours(0 * slope, slope, mask, noisy, share, step, variance)
    assert not last[DOWN].any() and np.isnan(step[DOWN]).all()
    return tuple(image[RIGHT, 0, :-1] for image in (step, variance, last))


def square_root(distance, radius=30.0, size=LINE, end=25, behind=0.2):
    """Return depth and slope of a body that falls like a square root to the ground it stands on.

    It ends at ``distance`` behind the pixel ``end``; the ground has the slope ``behind``.
    """
    x = end + distance - np.arange(size)
    inside = x > 0
    x = np.where(inside, x, 1.0)
    depth = np.where(inside, np.sqrt(2 * radius * x), 0.0)
    slope = np.where(inside, -np.sqrt(radius / (2 * x)), 0.0)
    return depth + behind * np.arange(size), slope + behind


def ball(size=60, radius=20.4):
    """Return the slopes of a ball before ground that is seen straight on, and where it is."""
    u, v = np.indices((size, size)) - 0.5 * size + 0.7
    height = np.sqrt(np.maximum(radius**2 - u**2 - v**2, 0.0))
    inside = height > 0
    p, q = (np.where(inside, -x / np.where(inside, height, 1.0), 0.0) for x in (u, v))
    return p, q, inside


class TestStep:
    @pytest.mark.parametrize(
        "slope", [np.full(LINE, 0.7), np.linspace(-1, 2, LINE), np.repeat([-0.4, 1.1], 20)]
    )
    def test_it_is_the_mean_of_two_slopes(self, slope):
        step, _, bend, _ = look_along_a_row(slope)
        np.testing.assert_allclose(step, 0.5 * (slope[1:] + slope[:-1]))
        np.testing.assert_allclose(bend, 0.5 * np.abs(np.diff(slope)), atol=1e-15)

    @pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
    def test_a_plane_is_as_uncertain_as_it_is_steep(self, exponent):
        _, variance, _, _ = look_along_a_row(np.full(LINE, 0.7), other=-1.1, sigma=0.1, exponent=exponent)
        np.testing.assert_allclose(variance, 0.1**2 * (1 + 0.7**2 + 1.1**2) ** exponent)

    def test_a_bend_adds_to_the_variance(self):
        slope = np.where(np.arange(LINE) < 20, -0.4, 1.1)
        _, variance, _, _ = look_along_a_row(slope, exponent=0.0, bend=0.2)
        expected = np.full(LINE - 1, 0.01**2)
        expected[19] += (0.2 * 1.5) ** 2
        np.testing.assert_allclose(variance, expected)

    def test_noise_is_as_large_as_it_says(self):
        p, q = 0.05 * np.random.default_rng(0).standard_normal((2, 100, 100))
        found = look(p, q, p < np.inf, noise(p.shape, 0.05 / 2**0.5, bend=1e-9))
        pull = (found.step**2 / found.variance)[found.exists]  # the truth is a plane
        assert np.mean(pull) == pytest.approx(1.0, rel=0.05)
        assert found.likely[found.exists].mean() < 1e-3


class TestPrice:
    def test_it_is_the_logarithm_of_the_odds(self):
        p, q = np.random.default_rng(0).standard_normal((2, 12, 15))
        found = look(p, q, p < np.inf, noise(p.shape, 0.01))
        normals = np.stack([-p, -q, np.ones(p.shape)], axis=-1)
        normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
        theta = np.arccos(np.sum(normals[:, 1:] * normals[:, :-1], axis=-1))
        deviation = np.sqrt(found.variance[RIGHT, :, :-1])
        for sign, fall in ((BELOW, -q[:, :-1]), (ABOVE, q[:, 1:])):
            turned = (fall + np.sqrt(1 + fall**2)) ** CONSTANTS.fall
            odds = CONSTANTS.bend * theta**2 * turned + CONSTANTS.least
            expected = np.log(1 + np.sqrt(p.size) / (np.sqrt(2 * np.pi) * deviation * odds))
            np.testing.assert_allclose(found.price[RIGHT, :, :-1, sign], expected)

    @pytest.mark.parametrize("other", [0.0, 0.8])
    def test_it_falls_with_the_angle_between_normals(self, other):
        kinks = np.linspace(0, 2, 20)
        prices = [look_along_a_row([-k / 2] * 3 + [k / 2] * 3, other=other)[3][2] for k in kinks]
        assert (np.diff(prices, axis=0) < 0).all()
        # Of equal slopes at both ends, it does not matter which side is in front.
        for along in (0.0, 0.4):
            prices = look_along_a_row(np.full(6, along), other=other)[3]
            np.testing.assert_allclose(prices[:, BELOW], prices[:, ABOVE])

    def test_a_kink_costs_the_less_the_more_it_falls(self):
        # A roof in front of what lies at its ridge is unlikely; a ditch's sides hide what is in it.
        roof = look_along_a_row([0.7] * 3 + [-0.7] * 3)[3]
        ditch = look_along_a_row([-0.7] * 3 + [0.7] * 3)[3]
        assert (ditch[2] < roof[2] - 0.5).all()

    @pytest.mark.parametrize("away", [False, True])
    def test_a_ball_before_the_ground_jumps_down_at_its_contour(self, away):
        sign = -1 if away else 1
        p, q, inside = ball()
        found = look(sign * p, sign * q, p < np.inf, noise(p.shape, 0.01), away)
        down, up = (BELOW, ABOVE) if not away else (ABOVE, BELOW)
        for axis in (DOWN, RIGHT):
            changes = np.diff(inside.astype(int), axis=axis, append=0)
            leaves, enters = (changes == change for change in (-1, 1))
            assert leaves.sum() > 30 and enters.sum() > 30
            slope = np.abs((p, q)[axis])
            steep = slope + np.roll(slope, -1, axis) > 0.5  # elsewhere the contour runs along the edge
            for where, cheap, dear in ((leaves & steep, down, up), (enters & steep, up, down)):
                price = found.price[axis][where]
                assert (price[:, cheap] < price[:, dear]).all()
                assert np.median(price[:, dear] - price[:, cheap]) > 1.0
            assert found.likely[axis][(leaves | enters) & steep].mean() > 0.9

    def test_without_a_ball_no_edge_of_the_ground_is_likely(self):
        p, q, inside = ball()
        found = look(p, q, ~inside, noise(p.shape, 0.01))
        assert not found.likely.any() and found.price[found.exists].min() > 10


class TestContour:
    each_distance = pytest.mark.parametrize("distance", [0.1, 0.8])

    @each_distance
    @pytest.mark.parametrize("behind", [0.0, -0.6])
    def test_a_square_root_is_exact(self, distance, behind):
        depth, slope = square_root(distance, behind=behind)
        step, variance, last = contours_along_a_row(slope, sigma=1e-6)
        assert np.flatnonzero(last).tolist() == [25]
        assert np.flatnonzero(np.isfinite(step)).tolist() == [22, 23, 24, 25]
        np.testing.assert_allclose(step[22:26], np.diff(depth)[22:26])
        assert (variance[22:26] > 0).all()

    @each_distance
    def test_either_way_and_upside_down(self, distance):
        _, slope = square_root(distance)
        step, variance, last = contours_along_a_row(slope)
        assert last[25]
        for turn, sign in ((np.s_[:], -1), (np.s_[::-1], -1), (np.s_[::-1], 1)):
            found = contours_along_a_row(sign * slope[turn])
            for image, other, factor in zip(found, (step, variance, last), (sign, 1, 1), strict=True):
                np.testing.assert_allclose(image[turn], factor * other)

    def test_a_ball_on_the_ground(self):
        # Its outline is not quite a square root, and the variance says so.
        x, errors = np.arange(-10.0, 80.0), []
        for radius in np.linspace(20.4, 60.4, 30):
            height = np.sqrt(np.maximum(radius**2 - x**2, 0.0))
            slope = np.where(height > 0, -x / np.where(height > 0, height, 1.0), 0.0)
            end, step = np.flatnonzero(height > 0)[-1], np.diff(height)
            found, variance, last = contours_along_a_row(slope)
            if last[end]:
                error = found[end] - step[end], slope[end] / 2 - step[end]
                errors.append(error)
                assert abs(error[0]) < 2.5 * np.sqrt(variance[end])
        assert len(errors) > 20
        contour, mean = np.sqrt(np.mean(np.square(errors), axis=0))
        assert contour < 0.25 * mean

    @pytest.mark.parametrize(("bodies", "found"), [(19, True), (18, False)])
    def test_nothing_is_changed_unless_most_places_obey(self, bodies, found):
        _, body = square_root(0.3, behind=0.0)
        crease = np.zeros(LINE)
        crease[:26] = -0.1 - 1e-3 * np.arange(26)  # the two slopes before the last do not make a root
        crease[24:26] = -3.0, -5.0
        slope = np.stack([body] * bodies + [crease] * (20 - bodies))
        step, _, last = contours_along_a_row(slope, share=0.95)
        assert last[25] == found and np.isfinite(step[25]) == found

    def test_look_takes_their_steps(self):
        depth, slope = square_root(0.3, behind=0.0)
        slope = slope[np.newaxis]
        found = look(0 * slope, slope, slope < np.inf, noise(slope.shape, 1e-4))
        assert np.flatnonzero(found.contour[RIGHT]).tolist() == [25]
        np.testing.assert_allclose(found.step[RIGHT, 0, 22:26], np.diff(depth)[22:26])
        mean = 0.5 * (slope[0, 1:] + slope[0, :-1])
        np.testing.assert_allclose(found.step[RIGHT, 0, :22], mean[:22])


class TestInvariance:
    @staticmethod
    def field():
        """Return slopes with kinks, contours, curves and noise, a mask with holes, and their noise."""
        rng = np.random.default_rng(0)
        p, q, _ = ball()
        p, q = np.where(np.indices(p.shape)[1] > 52, 0.5, p), q + 0.01 * rng.standard_normal(p.shape)
        levels = 0.01 * rng.uniform(0.5, 2.0, p.shape)
        return p, q, rng.random(p.shape) < 0.97, Noise(levels, 0.01, 0.7, 0.1)

    # The field has places that are no square roots; a small share of the rest is enough here.
    each_share = pytest.mark.parametrize(
        "constants", [CONSTANTS, CONSTANTS._replace(square_root=0.01)], ids=["plain", "contours"]
    )

    def test_the_field_has_contours_if_they_are_wanted(self):
        p, q, mask, known = self.field()
        assert look(p, q, mask, known, constants=CONSTANTS._replace(square_root=0.01)).contour.sum() > 20

    @each_share
    @pytest.mark.parametrize("away", [False, True])
    def test_transposing(self, constants, away):
        p, q, mask, known = self.field()
        expected = look(p, q, mask, known, away, constants)
        found = look(q.T, p.T, mask.T, known._replace(levels=known.levels.T), away, constants)
        for image, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(image.swapaxes(1, 2)[::-1], other, rtol=1e-9)

    @each_share
    @pytest.mark.parametrize("away", [False, True])
    def test_flipping(self, constants, away):
        p, q, mask, known = self.field()
        expected = look(p, q, mask, known, away, constants)
        found = look(
            -p[::-1], q[::-1], mask[::-1], known._replace(levels=known.levels[::-1]), away, constants
        )
        for name, image, other in zip(found._fields, found, expected, strict=True):
            down = image[DOWN, :-1][::-1]
            if name == "step":
                down = -down
            elif name == "price":  # the edge leads the other way
                down = down[..., ::-1]
            np.testing.assert_allclose(down, other[DOWN, :-1], rtol=1e-9)
            np.testing.assert_allclose(image[RIGHT][::-1], other[RIGHT], rtol=1e-9)

    @each_share
    def test_negating_the_depth_and_where_it_grows(self, constants):
        p, q, mask, known = self.field()
        expected, found = (
            look(p, q, mask, known, False, constants),
            look(-p, -q, mask, known, True, constants),
        )
        np.testing.assert_allclose(found.step, -expected.step)
        np.testing.assert_allclose(found.price[..., ::-1], expected.price)
        for name in ("exists", "variance", "bend", "likely", "contour"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name))

    def test_where_it_grows_matters(self):
        p, q, mask, known = self.field()
        one, other = (look(p, q, mask, known, away) for away in (False, True))
        assert np.abs(one.price - other.price).max() > 1
        np.testing.assert_array_equal(one.step, other.step)
