"""Residuals, weights and the energy of edges, against their formulas."""

import numpy as np
import pytest
from small_problems import each_mask, edges_of, random_fields

from normint.methods.calibrated.energy import cost, edge_residuals, reweight, total_cost

PLAIN = 0.5  # the variance of an edge of weight 1


class Problem:
    """A depth and what is known of its edges, on a mask, and the residuals written out."""

    def __init__(self, mask, scale=1.0):
        rng = np.random.default_rng(0)
        p, q, self.z = (scale * field for field in random_fields(mask))
        self.step, self.exists = np.stack([p, q]), edges_of(mask)
        self.edges = self.step, self.exists
        self.variance = rng.uniform(0.1, 9.0, self.step.shape)
        self.price = rng.uniform(0.1, 9.0, (*self.step.shape, 2))

    def residual(self, z):
        r = -self.step
        r[0, :-1] += z[1:] - z[:-1]
        r[1, :, :-1] += z[:, 1:] - z[:, :-1]
        return np.where(self.exists, r, 0.0)

    def prices(self, r):
        """Return those for the sign of each residual."""
        return np.where(r > 0, self.price[..., 1], self.price[..., 0])

    def reweight(self, tau, power, weakest):
        r, weights = np.zeros_like(self.step), np.full_like(self.step, weakest)
        settings = PLAIN, tau, power, weakest
        reweight(self.z, *self.edges, self.variance, self.price, *settings, r, weights)
        return r, weights


@each_mask
def test_residuals_are_those_of_the_edges_that_exist(mask):
    problem = Problem(mask)
    expected = problem.residual(problem.z)
    np.testing.assert_allclose(edge_residuals(problem.z, *problem.edges), expected, atol=1e-14)
    np.testing.assert_allclose(problem.reweight(1.0, 1, 1e-9)[0], expected, atol=1e-14)


@each_mask
@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("tau", [0.0, 2.0])
def test_weights(mask, power, tau):
    problem = Problem(mask, scale=30.0)
    r, variance = problem.residual(problem.z), problem.variance + tau**2
    expected = (PLAIN + tau**2) / variance / (1 + r**2 / (2.0 * problem.prices(r) * variance)) ** power
    weakest = np.median(expected)  # so that there are some
    found = problem.reweight(tau, power, weakest)[1]
    np.testing.assert_allclose(
        found[problem.exists], np.maximum(expected, weakest)[problem.exists], rtol=1e-12
    )


@each_mask
def test_energy(mask):
    problem = Problem(mask)
    r, spread = problem.residual(problem.z), 2.0 * problem.variance
    price = problem.prices(r)
    x = r**2 / (price * spread)
    found = total_cost(problem.z, *problem.edges, spread, problem.price)
    assert found == pytest.approx(np.sum(price * x / (1 + x)), rel=1e-12)


def test_an_edge_costs_what_its_sign_says():
    price, spread = np.array([2.0, 5.0]), 0.02
    for r, c in ((-0.3, 2.0), (0.3, 5.0)):
        x = r**2 / (c * spread)
        assert cost(r, spread, price) == pytest.approx(c * x / (1 + x), rel=1e-12)
    small, large = 1e-4, 1e4
    for sign, c in ((-1, 2.0), (1, 5.0)):  # as a normal distribution's, and the price of a jump
        assert cost(sign * small, spread, price) == pytest.approx(small**2 / spread, rel=1e-4)
        assert cost(sign * large, spread, price) == pytest.approx(c, rel=1e-4)
    assert cost(0.0, spread, price) == 0.0


def test_the_energy_s_derivative_is_that_of_weighted_squares():
    mask = np.ones((5, 6), bool)
    problem = Problem(mask)
    spread, small = 2.0 * problem.variance, 1e-6
    r, weights = problem.reweight(0.0, 2, 0.0)
    flux = np.where(problem.exists, weights * r, 0.0) / PLAIN
    for i, j in [(0, 0), (2, 3), (4, 5)]:
        above, before = flux[0, i - 1, j] if i else 0.0, flux[1, i, j - 1] if j else 0.0
        expected = above + before - flux[:, i, j].sum()
        energies = []
        for change in (small, -small):
            z = problem.z.copy()
            z[i, j] += change
            energies.append(total_cost(z, *problem.edges, spread, problem.price))
        assert (energies[0] - energies[1]) / (2 * small) == pytest.approx(expected, rel=1e-6)
