"""Arguments are checked once, by name, before any work."""

import numpy as np
import pytest

from normint import integrate
from normint.inputs import as_count, as_field, as_gradient, as_mask, as_positive, as_prior

MASK = np.array([[True, True, False], [True, True, True]])
FIELD = np.arange(6.0).reshape(2, 3)


class TestMask:
    def test_none_is_the_whole_grid(self):
        assert as_mask(None, (2, 3)).all()

    @pytest.mark.parametrize("dtype", [bool, int, np.uint8, float])
    def test_zeros_and_ones_of_any_type(self, dtype):
        mask = as_mask(MASK.astype(dtype), (2, 3))
        assert mask.dtype == bool
        np.testing.assert_array_equal(mask, MASK)

    def test_bool_is_not_copied(self):
        assert as_mask(MASK, (2, 3)) is MASK

    @pytest.mark.parametrize(
        ("mask", "shape", "message"),
        [
            (np.zeros((2, 3)), (2, 3), "mask is empty"),
            (np.ones((0, 3)), (0, 3), "mask is empty"),
            (None, (0, 3), "mask is empty"),
            (np.ones((3, 2)), (2, 3), r"mask has shape \(3, 2\); expected \(2, 3\)"),
            (np.ones(3), (3,), "mask has 1 dimensions; expected 2"),
            (255 * MASK, (2, 3), "mask has values other than 0 and 1"),
            (np.where(MASK, 1.0, np.nan), (2, 3), "mask has values other than 0 and 1"),
            (MASK.astype(str), (2, 3), "mask has type"),
            (MASK.astype(complex), (2, 3), "mask has type complex"),
        ],
    )
    def test_errors(self, mask, shape, message):
        with pytest.raises(ValueError, match=message):
            as_mask(mask, shape)


class TestField:
    def test_float64_is_not_copied(self):
        assert as_field("p", FIELD, MASK) is FIELD

    @pytest.mark.parametrize(
        "values", [FIELD.astype(np.float32), FIELD.astype(int), FIELD.tolist(), FIELD[:, ::-1]]
    )
    def test_other_reals_become_contiguous_float64(self, values):
        field = as_field("p", values, MASK)
        assert field.dtype == np.float64
        assert field.flags.c_contiguous
        np.testing.assert_array_equal(field, values)

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_outside_the_mask_anything_is_allowed(self, bad):
        assert as_field("p", np.where(MASK, FIELD, bad), MASK)[1, 2] == 5.0

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_inside_the_mask_only_finite_values(self, bad):
        field = FIELD.copy()
        field[1, 0] = bad
        with pytest.raises(ValueError, match=r"p is NaN or infinite at 1 pixel .* first at \(1, 0\)"):
            as_field("p", field, MASK)

    def test_opposite_infinities_do_not_cancel(self):
        with pytest.raises(ValueError, match="q is NaN or infinite at 2 pixels"):
            as_field("q", [[np.inf, -np.inf, 0.0], [0.0, 0.0, 0.0]], MASK)

    def test_large_values_whose_sum_overflows_are_finite(self):
        assert as_field("p", np.full((2, 3), 1e308), MASK, largest=np.inf).max() == 1e308

    @pytest.mark.parametrize("values", [FIELD + 1j, FIELD.astype(object), FIELD.astype(str), None])
    def test_only_real_numbers(self, values):
        with pytest.raises(ValueError, match="p has type .*; expected real numbers"):
            as_field("p", values, MASK)

    def test_ragged_lists(self):
        with pytest.raises(ValueError, match="p is not an array; expected rows of equal length"):
            as_field("p", [[1.0, 2.0], [3.0]], MASK)

    @pytest.mark.parametrize("values", [FIELD.T, FIELD[0], FIELD[np.newaxis], 1.0])
    def test_shape(self, values):
        with pytest.raises(ValueError, match=r"initial has shape .*; expected \(2, 3\)"):
            as_field("initial", values, MASK)


class TestGradient:
    def test_mask_defaults_to_the_grid(self):
        p, q, mask = as_gradient(FIELD, -FIELD)
        assert p is FIELD
        assert mask.all()
        np.testing.assert_array_equal(q, -FIELD)

    @pytest.mark.parametrize(
        ("p", "q", "mask", "message"),
        [
            (FIELD, FIELD.T, None, r"q has shape \(3, 2\); expected \(2, 3\), the shape of p"),
            (FIELD[0], FIELD[0], None, "p has 1 dimensions; expected 2"),
            (FIELD, FIELD, MASK.T, r"mask has shape \(3, 2\)"),
            (FIELD, FIELD * np.nan, MASK, "q is NaN or infinite at 5 pixels"),
            (FIELD, FIELD * 1j, MASK, "q has type complex"),
            (FIELD, None, MASK, "q has type object"),
        ],
    )
    def test_errors(self, p, q, mask, message):
        with pytest.raises(ValueError, match=message):
            as_gradient(p, q, mask)

    def test_read_only_arrays_need_no_code_of_their_own(self):
        p = np.zeros((2, 3))
        mask = np.ones((2, 3), bool)
        assert as_gradient(p, p, mask)[0] is p
        for array in (p, mask):
            array.setflags(write=False)
        assert all(array.flags.writeable for array in as_gradient(p, p, mask))


class TestPrior:
    def test_no_prior(self):
        assert as_prior(None, 0.0, MASK) == (None, None)
        assert as_prior(None, np.zeros((2, 3)), MASK) == (None, None)

    def test_a_number_weighs_every_pixel_inside(self):
        prior, weight = as_prior(FIELD, 2, MASK)
        assert prior is FIELD
        np.testing.assert_array_equal(weight, np.where(MASK, 2.0, 0.0))

    def test_a_number_weighs_what_is_known(self):
        given = np.array([[np.nan, 1.0, 7.0], [2.0, np.nan, 5.0]])
        prior, weight = as_prior(given, 2, MASK)
        np.testing.assert_array_equal(weight, [[0, 2, 0], [2, 0, 2]])
        np.testing.assert_array_equal(prior * weight, [[0, 2, 0], [4, 0, 10]])
        # The same as the array of these weights.
        again = as_prior(given, np.where(np.isnan(given), 0.0, 2.0), MASK)
        np.testing.assert_array_equal(again, (prior, weight))
        assert np.isnan(given).sum() == 2

    @pytest.mark.parametrize("bad", [np.inf, -np.inf])
    def test_infinite_is_not_unknown(self, bad):
        prior = FIELD.copy()
        prior[1, 0], prior[0, 0] = bad, np.nan
        with pytest.raises(ValueError, match=r"prior is NaN or infinite at 1 pixel .* first at \(1, 0\)"):
            as_prior(prior, 2.0, MASK)

    def test_a_single_control_point_is_held(self):
        # A gradient says nothing about the constant; one known depth does, in its component.
        u, v = np.indices((5, 6))
        plane, points = 2.0 * u - v + 40, np.full((5, 6), np.nan)
        points[3, 2] = plane[3, 2]
        found = integrate(np.full((5, 6), 2.0), np.full((5, 6), -1.0), prior=points, prior_weight=0.5)
        np.testing.assert_allclose(found.depth, plane, rtol=1e-6)

    def test_control_points_may_be_nan_elsewhere(self):
        weight = np.zeros((2, 3))
        weight[0, 1] = 1e6
        prior, checked = as_prior(np.where(weight > 0, FIELD, np.nan), weight, MASK)
        np.testing.assert_array_equal(prior * checked, FIELD * weight)

    def test_outside_the_mask_anything_is_allowed(self):
        prior, weight = as_prior(np.where(MASK, FIELD, np.nan), np.where(MASK, 1.0, -np.inf), MASK)
        np.testing.assert_array_equal(prior * weight, np.where(MASK, FIELD, 0.0))

    def test_arguments_are_left_alone(self):
        prior, weight = np.where(MASK, FIELD, np.nan), np.ones((2, 3))
        as_prior(prior, weight, MASK)
        assert np.isnan(prior[0, 2])
        assert weight.all()

    @pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
    def test_a_number_is_finite_and_not_negative(self, weight):
        with pytest.raises(ValueError, match="prior_weight is .*; expected a number from 0 to 1e"):
            as_prior(FIELD, weight, MASK)

    @pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
    def test_an_array_is_finite_and_not_negative(self, bad):
        weight = np.ones((2, 3))
        weight[1, 2] = bad
        with pytest.raises(ValueError, match=r"prior_weight is negative, NaN .* first at \(1, 2\)"):
            as_prior(FIELD, weight, MASK)

    @pytest.mark.parametrize(
        ("prior", "weight", "message"),
        [
            (None, 1.0, "prior is missing although prior_weight is positive"),
            (FIELD, 0.0, "prior_weight must be positive"),
            (FIELD, (~MASK).astype(float), "prior_weight must be positive"),
            (FIELD, np.ones((3, 2)), r"prior_weight has shape \(3, 2\)"),
            (FIELD, "heavy", "prior_weight has type"),
            (FIELD.T, 1.0, r"prior has shape \(3, 2\)"),
            (FIELD * np.nan, MASK * 1.0, "prior is NaN or infinite at 5 pixels"),
            (FIELD * 1j, 1.0, "prior has type complex"),
            (FIELD * np.nan, 1.0, "prior is NaN everywhere inside the mask; expected a depth somewhere"),
            (np.where(MASK, np.nan, 1.0), 1.0, "prior is NaN everywhere inside the mask"),
        ],
    )
    def test_errors(self, prior, weight, message):
        with pytest.raises(ValueError, match=message):
            as_prior(prior, weight, MASK)


@pytest.mark.parametrize("value", [0, -1e-4, np.nan, np.inf, None, "1", [1.0, 2.0]])
def test_positive_errors(value):
    with pytest.raises(ValueError, match="tolerance is .*; expected a finite number > 0"):
        as_positive("tolerance", value)


@pytest.mark.parametrize("value", [1, 1e-300, np.float32(0.5), np.int64(3)])
def test_positive(value):
    assert as_positive("tolerance", value) == value


@pytest.mark.parametrize("value", [0, -1, 1.0, None, "3", True, np.nan])
def test_count_errors(value):
    with pytest.raises(ValueError, match="max_iterations is .*; expected a whole number ≥ 1"):
        as_count("max_iterations", value)


def test_count():
    assert as_count("max_iterations", np.int32(7)) == 7
    assert as_count("max_iterations", 0, minimum=0) == 0
