"""The energies over pairs of differences, their gradients and quadratic models, against plain sums."""

import numpy as np
import pytest
from small_problems import each_mask, edges_of, numerical_slope, observations, random_fields

from normint.methods import pairs
from normint.methods.pairs import DIFFUSION, DOWN, LEFT, PHI_1, PHI_2, RIGHT, TOTAL_VARIATION, UP

KINDS = {"total variation": TOTAL_VARIATION, "phi1": PHI_1, "phi2": PHI_2, "diffusion": DIFFUSION}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
differentiable = pytest.mark.parametrize(
    ("kind", "parameter"),
    [(TOTAL_VARIATION, 0.3), (PHI_1, 0.5), (PHI_2, 1.3)],
    ids=["smoothed total variation", "phi1", "phi2"],
)
NU = 2.0


def parts(z, p, q, mask):
    """List (weight, ∂_u z, ∂_v z, ∂_u z - p, ∂_v z - q, p, q) of every pair, zero without a neighbour."""
    found = []
    for weight, pixel, along_u, along_v in observations(mask):
        a, b = (0.0 if along is None else z[along[1]] - z[along[0]] for along in (along_u, along_v))
        r, s = (0.0 if along_u is None else a - p[pixel]), (0.0 if along_v is None else b - q[pixel])
        found.append((weight, a, b, r, s, p[pixel], q[pixel]))
    return found


def plain_energy(z, p, q, mask, kind, parameter, frozen=None):
    """Sum the energy pair by pair; that of diffusion with the weights of another depth, if given."""
    total = 0.0
    weights_from = parts(z if frozen is None else frozen, p, q, mask)
    for (weight, _, _, r, s, slope_u, slope_v), (_, a, b, *_) in zip(
        parts(z, p, q, mask), weights_from, strict=True
    ):
        square = r**2 + s**2
        if kind == DIFFUSION:
            steep = 1 + (a**2 + b**2) / parameter**2
            phi = (r**2 / (1 + (slope_u / NU) ** 2) + s**2 / (1 + (slope_v / NU) ** 2)) / steep
        elif kind == TOTAL_VARIATION:
            phi = np.sqrt(square + parameter**2)
        elif kind == PHI_1:
            phi = np.log(square + parameter**2)
        else:
            phi = square / (square + parameter**2)
        total += weight * phi
    return total


def energy(z, p, q, mask, kind, parameter):
    return pairs.energy(z, p, q, *pairs.neighbours(mask), kind, parameter, NU)


class Model:
    """The quadratic model of an energy at a depth."""

    def __init__(self, z, p, q, mask, kind, parameter):
        self.inside, self.edges = edges_of(mask), np.full((4, *mask.shape), np.nan)
        neighbours = pairs.neighbours(mask)
        self.touches = pairs.model(z, p, q, *neighbours, kind, parameter, parameter, NU, *self.edges)

    def residuals(self, z):
        differences = np.stack([np.diff(z, axis=0, append=0.0), np.diff(z, axis=1, append=0.0)])
        return np.where(self.inside, differences - self.edges[2:], 0.0)

    def sum_of_squares(self, z):
        return np.sum(self.edges[:2] * self.residuals(z) ** 2)

    def slope(self, z):
        pull = 2 * self.edges[:2] * self.residuals(z)
        slope = -pull.sum(axis=0)
        slope[1:] += pull[0, :-1]
        slope[:, 1:] += pull[1, :, :-1]
        return slope


class TestNeighbours:
    @each_mask
    def test_a_difference_exists_between_two_pixels_of_the_domain(self, mask):
        exists, _ = pairs.neighbours(mask)
        down, right = edges_of(mask)
        np.testing.assert_array_equal(exists[DOWN], down)
        np.testing.assert_array_equal(exists[UP], np.roll(down, 1, axis=0))
        np.testing.assert_array_equal(exists[RIGHT], right)
        np.testing.assert_array_equal(exists[LEFT], np.roll(right, 1, axis=1))

    @each_mask
    def test_missing_neighbours_are_replaced_along_one_direction_only(self, mask):
        exists, observed = pairs.neighbours(mask)
        for i, j in np.argwhere(mask):
            along_u, along_v = exists[[DOWN, UP], i, j], exists[[RIGHT, LEFT], i, j]
            alone_u, alone_v = along_u.any() and not along_v.any(), along_v.any() and not along_u.any()
            np.testing.assert_array_equal(observed[[DOWN, UP], i, j], along_u | alone_v)
            np.testing.assert_array_equal(observed[[RIGHT, LEFT], i, j], along_v | alone_u)
        assert not observed[:, ~mask].any()


class TestEnergy:
    @each_mask
    @each_kind
    def test_is_the_sum_over_pairs(self, kind, mask):
        p, q, z = random_fields(mask)
        for parameter in (0.7, 0.0) if kind == TOTAL_VARIATION else (0.7,):
            expected = plain_energy(z, p, q, mask, kind, parameter)
            assert energy(z, p, q, mask, kind, parameter) == pytest.approx(expected, rel=1e-12)

    def test_counts_a_lone_row_as_if_its_neighbours_were_exact(self):
        # Two pixels, each with one difference and a stand-in in both directions along u: ¼ (2 + 2) = 1 each.
        z, q = np.array([[0.0, 5.0]]), np.array([[2.0, 1.0]])
        value = energy(z, np.zeros((1, 2)), q, np.ones((1, 2), bool), TOTAL_VARIATION, 0.0)
        assert value == pytest.approx(0.5 * (5 - 2) + 0.5 * (5 - 1))

    @pytest.mark.parametrize("size", [1e-30, 1e-10, 1e10, 1e30])
    @each_mask
    def test_phi1_is_exact_for_residuals_of_any_size(self, mask, size):
        p, q, z = (size * field for field in random_fields(mask))
        for beta in (0.5, 0.5 * size):
            expected = plain_energy(z, p, q, mask, PHI_1, beta)
            assert energy(z, p, q, mask, PHI_1, beta) == pytest.approx(expected, rel=1e-12)

    def test_phi1_is_exact_for_huge_residuals_among_small_ones(self):
        mask = np.ones((40, 50), bool)  # so many pixels that their logarithms are added up as products
        p, q, z = random_fields(mask)
        p[7, 10:12] = 1e10, 1e35
        z[20, 3], z[30, 9] = 1e30, -1e25
        expected = plain_energy(z, p, q, mask, PHI_1, 0.5)
        assert energy(z, p, q, mask, PHI_1, 0.5) == pytest.approx(expected, rel=1e-12)


class TestGradient:
    @each_mask
    @differentiable
    def test_is_that_of_finite_differences(self, kind, parameter, mask):
        p, q, z = random_fields(mask)
        slope = np.full_like(z, np.nan)
        value = pairs.gradient(z, p, q, *pairs.neighbours(mask), kind, parameter, slope)
        assert value == pytest.approx(plain_energy(z, p, q, mask, kind, parameter), rel=1e-12)
        expected = numerical_slope(lambda at: energy(at, p, q, mask, kind, parameter), z, mask)
        np.testing.assert_allclose(slope, expected, atol=1e-7)


class TestModel:
    @each_mask
    @differentiable
    def test_touches_the_energy_and_lies_above_it(self, kind, parameter, mask):
        p, q, z = random_fields(mask)
        model, slope = Model(z, p, q, mask, kind, parameter), np.empty_like(z)
        value = pairs.gradient(z, p, q, *pairs.neighbours(mask), kind, parameter, slope)
        assert model.touches == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(model.slope(z), slope, atol=1e-12)
        np.testing.assert_array_equal(model.edges[:2] > 0, model.inside)
        for size in (1e-2, 1.0, 10.0):
            other = np.where(mask, z + size * np.random.default_rng(1).standard_normal(z.shape), 0.0)
            above = model.touches + model.sum_of_squares(other) - model.sum_of_squares(z)
            below = plain_energy(other, p, q, mask, kind, parameter)
            assert above >= below - 1e-10 * (1 + abs(below))

    @each_mask
    def test_of_diffusion_is_its_energy_with_the_weights_frozen(self, mask):
        p, q, z = random_fields(mask)
        model, other = Model(z, p, q, mask, DIFFUSION, 0.7), random_fields(mask, seed=1)[2]
        assert model.touches == pytest.approx(plain_energy(z, p, q, mask, DIFFUSION, 0.7), rel=1e-12)
        change = plain_energy(other, p, q, mask, DIFFUSION, 0.7, frozen=z) - model.touches
        assert model.sum_of_squares(other) - model.sum_of_squares(z) == pytest.approx(change, rel=1e-9)


@pytest.mark.parametrize("count", [1, 5, 320])
@pytest.mark.parametrize("power", [1, 150], ids=["common", "extreme"])
def test_sum_of_logarithms_survives_products_that_overflow(count, power):
    exponents = power * np.random.default_rng(count).uniform(-1, 1, count)
    for factors in (10.0**exponents, 10.0 ** np.abs(exponents), 10.0 ** -np.abs(exponents)):
        expected = np.log(factors).sum()
        total = pairs._sum_of_logarithms(factors)
        assert total == pytest.approx(expected, rel=1e-12, abs=1e-12 * np.abs(np.log(factors)).sum())
