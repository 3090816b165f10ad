"""Anisotropic diffusion: the fixed point, and the step down its energy at the end."""

import numpy as np
import pytest
from small_problems import (
    MASKS,
    dense_least_squares,
    each_mask,
    held_or_not,
    numerical_slope,
    on_masks,
    prior_of,
    problem_of,
    random_fields,
    terms_of_edges,
)

import normint
from normint.methods import pairs
from normint.methods.anisotropic_diffusion import _descent_model, anisotropic_diffusion
from normint.methods.pairs import DIFFUSION
from normint.methods.reweighted import Reweighted

MU, NU = 2.0, 3.0


def calm_fields(mask):
    """Return slopes with so little noise that the fixed point is reached."""
    p, q, _ = random_fields(mask)
    return 0.5 + 0.1 * p, 0.1 * q - 0.3


def frozen_minimiser(mask, z, p, q, prior):
    """Minimise the energy with its weights frozen at z, by dense algebra."""
    edges = np.empty((4, *mask.shape))
    pairs.model(z, p, q, *pairs.neighbours(mask), DIFFUSION, MU, MU, NU, *edges)
    return dense_least_squares(mask, terms_of_edges(mask, edges[:2], edges[2:]), **prior)


class TestFixedPoint:
    options = {"scheme": "paper", "mu": MU, "nu": NU}

    @held_or_not
    @each_mask
    def test_solves_its_own_system(self, held, mask):
        p, q = calm_fields(mask)
        prior = prior_of(mask, held)
        depth = anisotropic_diffusion(p, q, mask, max_iterations=60, **self.options, **prior).depth
        z = np.where(mask, depth, 0.0)
        np.testing.assert_allclose(z, frozen_minimiser(mask, z, p, q, prior), atol=1e-8)

    @held_or_not
    @each_mask
    def test_an_iteration_takes_its_weights_from_the_last_depth(self, held, mask):
        p, q, z = random_fields(mask)
        prior = prior_of(mask, held)
        depth = anisotropic_diffusion(p, q, mask, initial=z, max_iterations=1, **self.options, **prior).depth
        expected = frozen_minimiser(mask, z, p, q, prior)
        np.testing.assert_allclose(depth[mask], expected[mask], atol=1e-8)

    @on_masks("rectangle", "thread", "hole")
    def test_is_the_same_with_the_fast_scheme_up_to_its_last_step(self, mask):
        p, q, z = random_fields(mask)
        options = {"initial": z, "tolerance": 0, "max_iterations": 8}
        fast = anisotropic_diffusion(p, q, mask, **options).energies
        paper = anisotropic_diffusion(p, q, mask, scheme="paper", **options).energies
        np.testing.assert_allclose(fast[:-1], paper[:-1], rtol=1e-4)
        assert fast[-1] < paper[-1]


class TestLastStep:
    @held_or_not
    @each_mask
    def test_goes_down_a_quadratic_with_the_slope_of_the_energy(self, held, mask):
        p, q, z = random_fields(mask)
        problem = problem_of(p, q, mask, initial=z, **prior_of(mask, held))
        edges = np.full((4, *mask.shape), np.nan)
        _descent_model(z, *problem.data, MU, NU, *edges)
        terms = terms_of_edges(mask, edges[:2], edges[2:])
        slope = np.zeros_like(z)
        for one, two, weight, flux in terms:
            pull = 2 * weight * (z[two] - z[one] - flux)
            slope[two] += pull
            slope[one] -= pull
        expected = numerical_slope(Reweighted(problem_of(p, q, mask), DIFFUSION, MU, NU).energy, z, mask)
        np.testing.assert_allclose(slope, expected, atol=1e-7)

    @held_or_not
    @pytest.mark.parametrize("iterations", [1, 2, 7])
    @on_masks("row", "thread", "scattered")
    def test_lowers_the_energy(self, held, iterations, mask):
        p, q, z = random_fields(mask)
        result = anisotropic_diffusion(
            p, q, mask, initial=z, tolerance=0, max_iterations=iterations, **prior_of(mask, held)
        )
        assert result.iterations == iterations
        assert result.energies[-1] < result.energies[-2]

    def test_is_shortened_where_it_would_lead_up(self):
        for seed in range(10):  # three of them would
            p, q, z = random_fields(MASKS["row"], seed)
            before, after = anisotropic_diffusion(p, q, mu=0.1, initial=z, max_iterations=1).energies
            assert after < before

    def test_leaves_a_minimum_where_it_is(self):
        p, q = np.full((5, 6), 0.5), np.full((5, 6), -2.0)
        u, v = np.indices(p.shape)
        truth = 0.5 * (u - 2.0) - 2.0 * (v - 2.5)
        result = anisotropic_diffusion(p, q, initial=truth, max_iterations=1)
        np.testing.assert_allclose(result.depth, truth, atol=1e-12)


def test_large_parameters_give_least_squares():
    # All weights tend to one, but for pairs at the boundary; so a grid whose pairs all weigh the same.
    p, q, _ = random_fields(MASKS["row"])
    for scheme in ("fast", "paper"):
        depth = anisotropic_diffusion(p, q, mu=1e6, nu=1e6, scheme=scheme).depth
        np.testing.assert_allclose(depth, normint.integrate(p, q, tolerance=1e-10).depth, atol=1e-6)
