"""Residuals, weights and the energy of edges, against their formulas."""

import numpy as np
import pytest
from small_problems import each_mask, edges_of, random_fields

from normint.methods.calibrated.energy import edge_residuals, reweight, total_cost


class Problem:
    """A depth and what is known of its edges, on a mask, and the residuals written out."""

    def __init__(self, mask, scale=1.0):
        rng = np.random.default_rng(0)
        p, q, self.z = (scale * field for field in random_fields(mask))
        self.step, self.exists = np.stack([p, q]), edges_of(mask)
        self.edges = self.step, self.exists
        self.variance, self.price = rng.uniform(0.1, 9.0, (2, *self.step.shape))

    def residual(self, z):
        r = -self.step
        r[0, :-1] += z[1:] - z[:-1]
        r[1, :, :-1] += z[:, 1:] - z[:, :-1]
        return np.where(self.exists, r, 0.0)

    def reweight(self, tau, power, weakest):
        r, weights = np.zeros_like(self.step), np.full_like(self.step, weakest)
        settings = 3.0, tau, power, weakest
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
    expected = (0.5 + tau**2) / variance / (1 + r**2 / (9.0 * problem.price * variance)) ** power
    weakest = np.median(expected)  # so that there are some
    found = problem.reweight(tau, power, weakest)[1]
    np.testing.assert_allclose(
        found[problem.exists], np.maximum(expected, weakest)[problem.exists], rtol=1e-12
    )


@each_mask
def test_energy(mask):
    problem = Problem(mask)
    spread = 9.0 * problem.price * problem.variance
    square = problem.residual(problem.z) ** 2
    found = total_cost(problem.z, *problem.edges, spread, problem.price)
    assert found == pytest.approx(np.sum(problem.price * square / (spread + square)), rel=1e-12)


def test_the_energy_s_derivative_is_that_of_weighted_squares():
    mask = np.ones((5, 6), bool)
    problem = Problem(mask)
    spread, small = 9.0 * problem.price * problem.variance, 1e-6
    r, weights = problem.reweight(0.0, 2, 0.0)
    flux = 4.0 / 9.0 * np.where(problem.exists, weights * r, 0.0)
    for i, j in [(0, 0), (2, 3), (4, 5)]:
        above, before = flux[0, i - 1, j] if i else 0.0, flux[1, i, j - 1] if j else 0.0
        expected = above + before - flux[:, i, j].sum()
        energies = []
        for change in (small, -small):
            z = problem.z.copy()
            z[i, j] += change
            energies.append(total_cost(z, *problem.edges, spread, problem.price))
        assert (energies[0] - energies[1]) / (2 * small) == pytest.approx(expected, rel=1e-6)
