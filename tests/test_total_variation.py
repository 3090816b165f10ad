"""Total variation: its minimum, certified by a duality gap, and the way there."""

import numpy as np
import pytest
from small_problems import (
    MASKS,
    each_mask,
    each_scheme,
    held_or_not,
    observations,
    on_masks,
    prior_of,
    random_fields,
)

import normint


class Convex:
    """E(z) = Σ w ‖Kz - g‖ + Σ λ (z - z⁰)² over pairs of differences, with dense matrices.

    Its dual is: maximise -⟨g, y⟩ - Σ (x z⁰ + x²/4λ) with x = -Kᵀy, subject to ‖y‖ ≤ w for each pair and
    x = 0 where λ = 0. Every such y gives a lower bound of E.
    """

    def __init__(self, p, q, mask, prior=None, prior_weight=None):
        number = np.full(mask.shape, -1)
        number[mask] = np.arange(mask.sum())
        seen = observations(mask)
        matrix, slopes = np.zeros((len(seen), 2, mask.sum())), np.zeros((len(seen), 2))
        for k, (_, pixel, *differences) in enumerate(seen):
            for axis, (difference, slope) in enumerate(zip(differences, (p, q), strict=True)):
                if difference is not None:
                    matrix[k, axis, number[difference[0]]] = -1.0
                    matrix[k, axis, number[difference[1]]] = 1.0
                    slopes[k, axis] = slope[pixel]
        self.K, self.g = matrix.reshape(-1, mask.sum()), slopes.ravel()
        self.w = np.array([weight for weight, *_ in seen])
        self.held = np.zeros(mask.sum()) if prior is None else prior_weight[mask]
        self.prior = np.zeros(mask.sum()) if prior is None else prior[mask]
        free = self.K[:, self.held == 0]
        self.onto_feasible = np.eye(self.g.size) - free @ np.linalg.pinv(free)

    def energy(self, z):
        lengths = np.linalg.norm((self.K @ z - self.g).reshape(-1, 2), axis=1)
        return np.sum(self.w * lengths) + np.sum(self.held * (z - self.prior) ** 2)

    def bound(self, y):
        """Return the lower bound by the feasible dual variables next to y."""
        y = self.onto_feasible @ y
        y = y / max(1.0, np.max(np.linalg.norm(y.reshape(-1, 2), axis=1) / self.w))
        held, x = self.held > 0, -self.K.T @ y
        conjugate = x[held] * self.prior[held] + x[held] ** 2 / (4 * self.held[held])
        return -self.g @ y - np.sum(conjugate)

    def minimise(self, gap, balance=2.0, most=40000):
        """Run the primal-dual iteration of Chambolle and Pock; return an energy and a bound for the least."""
        norm = np.linalg.norm(self.K, 2)
        tau, sigma = balance / norm, 1 / (balance * norm)
        z, y = np.zeros(self.held.size), np.zeros(self.g.size)
        ahead = z
        for iteration in range(1, most + 1):
            y = (y + sigma * (self.K @ ahead - self.g)).reshape(-1, 2)
            y = (y / np.maximum(1.0, np.linalg.norm(y, axis=1) / self.w)[:, np.newaxis]).ravel()
            drawn = z - tau * (self.K.T @ y) + 2 * tau * self.held * self.prior
            z, last = drawn / (1 + 2 * tau * self.held), z
            ahead = 2 * z - last
            if iteration % 200 == 0 and self.energy(z) - self.bound(y) <= gap * self.energy(z):
                break
        return self.energy(z), self.bound(y)


class TestMinimum:
    @held_or_not
    @on_masks("row", "hole", "thread", "scattered")
    def test_both_schemes_reach_it(self, held, mask):
        p, q, _ = random_fields(mask)
        prior = prior_of(mask, held)
        convex = Convex(p, q, mask, **prior)
        least, bound = convex.minimise(gap=5e-7)
        assert least - bound <= 1e-6 * bound
        for scheme in ("fast", "paper"):
            depth = normint.integrate(p, q, mask, method="total_variation", scheme=scheme, **prior).depth
            # The fast scheme smooths with δ = 1e-5 of the mean residual: measured 2e-6 at most.
            assert bound * (1 - 1e-12) <= convex.energy(depth[mask]) <= bound * (1 + 1e-5)

    @held_or_not
    def test_from_wherever_it_starts_and_whatever_the_step_of_the_paper_s_scheme(self, held):
        mask = MASKS["thread"]
        p, q, z = random_fields(mask)
        options = {"method": "total_variation", **prior_of(mask, held)}
        expected = normint.integrate(p, q, mask, **options).energies[-1]
        others = {"initial": 100 * z}, {"scheme": "paper", "step": 0.3}, {"scheme": "paper", "step": 3.0}
        for other in others:
            found = normint.integrate(p, q, mask, **options, **other).energies[-1]
            assert found == pytest.approx(expected, rel=1e-5)

    @each_scheme
    def test_forgives_a_wrong_slope(self, scheme):
        # Least squares spreads the error; the sum of lengths is least where one residual has all of it.
        p, q = np.full((5, 6), 0.5), np.full((5, 6), -1.0)
        p[2, 3] = 8.0
        u, v = np.indices(p.shape)
        truth = 0.5 * (u - 2.0) - (v - 2.5)
        depth = normint.integrate(p, q, method="total_variation", scheme=scheme).depth
        np.testing.assert_allclose(depth, truth, atol=1e-4)


class TestEnergies:
    @held_or_not
    @each_scheme
    @each_mask
    def test_are_those_of_the_depths_and_the_fast_scheme_s_never_rise(self, scheme, held, mask):
        p, q, z = random_fields(mask)
        prior = prior_of(mask, held)
        options = {"method": "total_variation", "scheme": scheme, "tolerance": 0, "max_iterations": 40}
        result = normint.integrate(p, q, mask, initial=3 * z, **options, **prior)
        convex = Convex(p, q, mask, **prior)
        expected = convex.energy(3 * z[mask]), convex.energy(result.depth[mask])
        assert result.energies[[0, -1]] == pytest.approx(expected, rel=1e-9)
        assert scheme == "paper" or (np.diff(result.energies) <= 0).all()
