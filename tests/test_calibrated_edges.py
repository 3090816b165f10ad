"""What the slopes predict about a step: exact for planes, cubics and square roots, and no more than noise."""

import numpy as np
import pytest

from normint.methods.calibrated.edges import BESIDE_CONTOUR, CONTOUR, CURVED, KINK, PLAIN, predict

DOWN, RIGHT = 0, 1
LINE = 40


def along_a_row(slope, sigma=1e-3, other=0.0, contours=True):
    """Return what is predicted of the edges of one row, as (step, variance, kind, bend)."""
    slope = np.asarray(slope, float)[np.newaxis]
    shape = slope.shape
    found = predict(np.full(shape, other), slope, np.ones(shape, bool), np.full(shape, sigma), contours)
    assert not found.exists[DOWN].any()
    np.testing.assert_array_equal(found.exists[RIGHT, 0], np.arange(shape[1]) < shape[1] - 1)
    return tuple(image[RIGHT, 0, :-1] for image in (found.step, found.variance, found.kind, found.bend))


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


class TestSmooth:
    def test_a_plane(self):
        step, variance, kind, bend = along_a_row(np.full(LINE, 0.7), sigma=0.1)
        np.testing.assert_allclose(step, 0.7)
        np.testing.assert_allclose(variance, 0.1**2 / 2)
        assert (kind == PLAIN).all() and not bend.any()

    def test_slopes_that_are_cubic(self):
        v = np.arange(12.0)
        depth = 0.3 * v**4 - v**3 + 2 * v
        slope = 1.2 * v**3 - 3 * v**2 + 2
        step, _, kind, _ = along_a_row(slope, sigma=1e-6)
        inner = np.s_[3:-1]  # further left the second differences have no sign in common
        assert (kind[inner] == CURVED).all()
        np.testing.assert_allclose(step[inner], np.diff(depth)[inner])

    @pytest.mark.parametrize("sigma", [0.01, 1.0])
    def test_noise_alone_is_plain(self, sigma):
        rng = np.random.default_rng(0)
        p, q = sigma * rng.standard_normal((2, 100, 100))
        found = predict(p, q, np.ones((100, 100), bool), np.full((100, 100), sigma))
        assert np.mean(found.kind[found.exists] != PLAIN) < 2e-3
        # The truth is a plane: its steps are 0, and the predictions are as far off as they say.
        assert np.mean(found.step[found.exists] ** 2) == pytest.approx(0.5 * sigma**2, rel=0.05)

    def test_noise_that_varies_makes_a_variance_that_varies(self):
        sigma = np.linspace(0.1, 0.5, LINE)[np.newaxis]
        found = predict(0 * sigma, 0 * sigma, np.ones(sigma.shape, bool), sigma)
        expected = 0.25 * (sigma[0, 1:] ** 2 + sigma[0, :-1] ** 2)  # of the mean of two independent slopes
        np.testing.assert_allclose(found.variance[RIGHT, 0, :-1], expected)


class TestKink:
    slope = np.where(np.arange(LINE) < 20, -0.4, 1.1)

    def test_it_may_be_anywhere_along_its_edge(self):
        # At a part t of the way, the step is -0.4 t + 1.1 (1 - t): uniform t gives this mean and variance.
        t = np.linspace(0, 1, 100001)
        possible = -0.4 * t + 1.1 * (1 - t)
        step, variance, kind, bend = along_a_row(self.slope)
        assert np.flatnonzero(kind == KINK).tolist() == np.flatnonzero(bend > 9).tolist() == [19]
        assert step[19] == pytest.approx(possible.mean())
        assert variance[19] == pytest.approx(possible.var(), rel=1e-3)
        np.testing.assert_allclose(np.delete(variance, 19), 0.5e-6)

    def test_within_the_noise_it_is_none(self):
        step, variance, kind, _ = along_a_row(self.slope, sigma=1.0)
        assert (kind == PLAIN).all()
        np.testing.assert_allclose(variance, 0.5)

    def test_the_other_slope_bends_an_edge_but_leaves_its_step(self):
        p = np.broadcast_to(self.slope, (LINE, LINE))
        ones = np.ones(p.shape)
        found = predict(p, 0 * p, ones > 0, 1e-3 * ones)
        assert (found.bend[RIGHT, :, 19] > 9).all() and not found.bend[DOWN].any()
        assert (found.kind == PLAIN).all() and not found.step[RIGHT].any()


class TestContour:
    each_distance = pytest.mark.parametrize("distance", [0.1, 0.8])

    @each_distance
    @pytest.mark.parametrize("behind", [0.0, -0.6])
    def test_a_square_root_is_exact(self, distance, behind):
        depth, slope = square_root(distance, behind=behind)
        step, variance, kind, _ = along_a_row(slope, sigma=1e-6)
        assert kind[25] == CONTOUR and (kind[22:25] == BESIDE_CONTOUR).all() and (kind[26:] == PLAIN).all()
        np.testing.assert_allclose(step[22:26], np.diff(depth)[22:26])
        assert (variance[22:26] > 0).all()

    @each_distance
    def test_either_way_and_upside_down(self, distance):
        _, slope = square_root(distance)
        expected = along_a_row(slope)
        for found, sign in ((along_a_row(-slope), -1), (along_a_row(-slope[::-1]), -1)):
            turned = (image[::-1] for image in found) if found[2][13] == CONTOUR else found
            for image, other, factor in zip(turned, expected, (sign, 1, 1, 1), strict=True):
                np.testing.assert_allclose(image, factor * other)

    def test_a_ball_on_the_ground(self):
        # Its outline is not quite a square root, and the variance says so.
        x, errors = np.arange(-10.0, 80.0), []
        for radius in np.linspace(20.4, 60.4, 30):
            height = np.sqrt(np.maximum(radius**2 - x**2, 0.0))
            slope = np.where(height > 0, -x / np.where(height > 0, height, 1.0), 0.0)
            last, step = np.flatnonzero(height > 0)[-1], np.diff(height)
            found, variance, kind, _ = along_a_row(slope)
            if kind[last] == CONTOUR:
                error = found[last] - step[last], slope[last] / 2 - step[last]
                errors.append(error)
                assert abs(error[0]) < 2.5 * np.sqrt(variance[last])
        assert len(errors) > 20
        contour, mean = np.sqrt(np.mean(np.square(errors), axis=0))
        assert contour < 0.25 * mean

    def test_not_unless_wanted(self):
        _, slope = square_root(0.3)
        kind = along_a_row(slope, contours=False)[2]
        assert not np.isin(kind, (CONTOUR, BESIDE_CONTOUR)).any() and kind[25] == KINK


class TestInvariance:
    @staticmethod
    def field():
        """Return slopes with kinks, contours, curves and noise, a mask with holes, and their noise."""
        rng = np.random.default_rng(0)
        u, v = np.indices((60, 60)) - 29.3
        height = np.sqrt(np.maximum(20**2 - u**2 - v**2, 0.0))
        p, q = (np.where(height > 0, -x / np.where(height > 0, height, 1.0), 0.0) for x in (u, v))
        p, q = np.where(v > 22, 0.5, p), q + 0.01 * rng.standard_normal(u.shape)
        return p, q, rng.random(u.shape) < 0.97, np.full(u.shape, 0.01)

    def test_the_field_has_all_kinds(self):
        kind = predict(*self.field()).kind
        assert set(np.unique(kind)) >= {PLAIN, KINK, CONTOUR, BESIDE_CONTOUR}

    @pytest.mark.parametrize("factor", [-1.0, 1e4])
    def test_scaling(self, factor):
        p, q, mask, sigma = self.field()
        expected = predict(p, q, mask, sigma)
        found = predict(factor * p, factor * q, mask, abs(factor) * sigma)
        np.testing.assert_array_equal(found.kind, expected.kind)
        np.testing.assert_allclose(found.step, factor * expected.step, atol=1e-12 * abs(factor))
        np.testing.assert_allclose(
            found.variance[found.exists], factor**2 * expected.variance[found.exists], rtol=1e-9
        )
        np.testing.assert_allclose(found.bend, expected.bend, rtol=1e-9)

    def test_adding_a_plane(self):
        p, q, mask, sigma = self.field()
        expected, found = predict(p, q, mask, sigma), predict(p + 0.7, q - 1.3, mask, sigma)
        np.testing.assert_array_equal(found.kind, expected.kind)
        plane = np.array([0.7, -1.3])[:, np.newaxis, np.newaxis] * found.exists
        np.testing.assert_allclose(found.step, expected.step + plane, atol=1e-9)
        np.testing.assert_allclose(found.variance, expected.variance, rtol=1e-9)

    def test_transposing(self):
        p, q, mask, sigma = self.field()
        expected, found = predict(p, q, mask, sigma), predict(q.T, p.T, mask.T, sigma.T)
        for image, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(image.swapaxes(1, 2)[::-1], other)

    def test_flipping(self):
        p, q, mask, sigma = self.field()
        expected = predict(p, q, mask, sigma)
        found = predict(-p[::-1], q[::-1], mask[::-1], sigma)
        for image, other, sign in zip(found[1:], expected[1:], (-1, 1, 1, 1), strict=True):
            np.testing.assert_allclose(image[DOWN, :-1][::-1] * sign, other[DOWN, :-1])
            np.testing.assert_allclose(image[RIGHT][::-1], other[RIGHT])
