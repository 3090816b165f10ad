"""Errors of depths and of normals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normint.metrics import angular_error, mean_angular_error, rmse

RNG = np.random.default_rng
MASK = np.array([[1, 1, 0], [1, 1, 1]], dtype=bool)


class TestRmse:
    depth, truth = RNG(0).standard_normal((2, 2, 3))

    def test_definition(self):
        difference = (self.depth - self.truth)[MASK]
        expected = np.sqrt(np.mean((difference - difference.mean()) ** 2))
        assert rmse(self.depth, self.truth, MASK) == pytest.approx(expected)

    @given(st.floats(-1e3, 1e3))
    def test_a_constant_does_not_count(self, constant):
        assert rmse(self.truth + constant, self.truth) == pytest.approx(0, abs=1e-12)

    def test_it_is_the_best_over_all_constants(self):
        shifts = np.linspace(-3, 3, 601)
        errors = [np.sqrt(np.mean((self.depth + shift - self.truth) ** 2)) for shift in shifts]
        assert rmse(self.depth, self.truth) <= min(errors)
        assert rmse(self.depth, self.truth) == pytest.approx(min(errors), rel=1e-4)

    def test_nan_depth_is_outside_by_default(self):
        holed = np.where(MASK, self.depth, np.nan)
        assert rmse(holed, self.truth) == rmse(self.depth, self.truth, MASK)

    @pytest.mark.parametrize(
        ("depth", "truth", "mask", "message"),
        [
            (
                np.where(MASK, 1.0, np.nan),
                np.ones((2, 3)),
                np.ones((2, 3)),
                "depth is NaN or infinite at 1 pixel",
            ),
            (np.ones((2, 3)), np.where(MASK, 1.0, np.nan), None, "truth is NaN or infinite at 1 pixel"),
            (np.full((2, 3), np.inf), np.ones((2, 3)), None, "depth is NaN or infinite at 6 pixels"),
            (np.full((2, 3), np.nan), np.ones((2, 3)), None, "depth is NaN everywhere"),
            (np.ones((2, 3)), np.ones((3, 2)), None, r"truth has shape \(3, 2\)"),
            (np.ones((2, 3)), np.ones((2, 3)), np.zeros((2, 3)), "mask is empty"),
        ],
    )
    def test_errors(self, depth, truth, mask, message):
        with pytest.raises(ValueError, match=message):
            rmse(depth, truth, mask)


def at_angle(degrees):
    """Two one-pixel normal maps at a given angle, of different lengths."""
    angle = np.radians(degrees)
    return np.array([[[0.0, 0.0, 3.0]]]), 0.5 * np.array([[[np.sin(angle), 0.0, np.cos(angle)]]])


class TestAngles:
    @pytest.mark.parametrize("degrees", [1e-10, 1e-4, 30.0, 90.0, 135.0, 179.9999])
    def test_small_and_large_angles(self, degrees):
        # 1e-10 degrees is where the arc cosine of the scalar product would say 0.
        assert mean_angular_error(*at_angle(degrees)) == pytest.approx(degrees, rel=1e-9)

    def test_map_and_mean(self):
        a, b = RNG(1).standard_normal((2, 2, 3, 3))
        angle = angular_error(a, b)
        lengths = np.linalg.norm(a, axis=2) * np.linalg.norm(b, axis=2)
        np.testing.assert_allclose(np.cos(np.radians(angle)), (a * b).sum(axis=2) / lengths, atol=1e-12)
        assert mean_angular_error(a, b) == pytest.approx(angle.mean())
        assert mean_angular_error(a, b, MASK) == pytest.approx(angle[MASK].mean())

    def test_symmetric_and_zero_for_itself(self):
        a, b = RNG(2).standard_normal((2, 2, 3, 3))
        np.testing.assert_allclose(angular_error(a, b), angular_error(b, a))
        np.testing.assert_allclose(angular_error(a, 2 * a), 0, atol=1e-12)

    @pytest.mark.parametrize("missing", [np.nan, 0.0])
    def test_missing_normals(self, missing):
        a, b = RNG(3).standard_normal((2, 2, 3, 3))
        a[~MASK] = missing
        assert np.isnan(angular_error(a, b)[0, 2])
        assert mean_angular_error(a, b) == mean_angular_error(a, b, MASK)
        with pytest.raises(ValueError, match="a or b is NaN or zero at 1 of the mask's pixels"):
            mean_angular_error(a, b, np.ones((2, 3)))
        with pytest.raises(ValueError, match="a and b have no normal in common"):
            mean_angular_error(a * np.nan, b)

    @pytest.mark.parametrize(
        ("a", "b", "message"),
        [
            (np.ones((2, 3, 3)), np.ones((3, 2, 3)), r"b has shape \(3, 2, 3\); expected \(2, 3, 3\)"),
            (np.ones((2, 3)), np.ones((2, 3)), "a has shape"),
            (np.ones((2, 3, 3)), np.ones((2, 3, 2)), "b has shape"),
        ],
    )
    def test_errors(self, a, b, message):
        with pytest.raises(ValueError, match=message):
            angular_error(a, b)
