"""Φ1 and Φ2: stationary points of their energies, and iPiano's steps."""

import numpy as np
import pytest
from small_problems import (
    MASKS,
    each_scheme,
    held_or_not,
    on_masks,
    prior_of,
    problem_of,
    quasi_newton,
    random_fields,
    value_and_slope,
)

import normint
from normint.methods import pairs
from normint.methods.nonconvex import INERTIA, _Ipiano
from normint.methods.pairs import PHI_1, PHI_2

each_method = pytest.mark.parametrize(
    ("method", "kind", "parameter"), [("phi1", PHI_1, 0.5), ("phi2", PHI_2, 1.0)], ids=["phi1", "phi2"]
)


class TestMinima:
    @held_or_not
    @each_scheme
    @each_method
    @on_masks("row", "hole", "thread")
    def test_are_stationary_points(self, method, kind, parameter, scheme, held, mask):
        p, q, z = random_fields(mask)
        prior = prior_of(mask, held)
        options = {"max_iterations": {"fast": 150, "paper": 3000}[scheme]}
        result = normint.integrate(
            p, q, mask, method=method, scheme=scheme, tolerance=0, initial=z, **options, **prior
        )
        assert scheme == "paper" or (np.diff(result.energies) <= 0).all()
        problem = problem_of(p, q, mask, **prior)
        value, slope = value_and_slope(problem, kind, parameter, np.where(mask, result.depth, 0.0))
        assert value == pytest.approx(result.energies[-1], rel=1e-9, abs=1e-9)
        _, at_start = value_and_slope(problem, kind, parameter, z)
        assert np.linalg.norm(slope) <= 1e-5 * np.linalg.norm(at_start)

    @held_or_not
    @each_scheme
    @each_method
    @on_masks("thread", "hole")
    def test_are_those_of_a_quasi_newton_method_where_there_is_only_one(
        self, method, kind, parameter, scheme, held, mask
    ):
        # With little noise all residuals stay where Φ is convex.
        p, q, _ = random_fields(mask)
        p, q, prior = 0.1 * p, 0.1 * q, prior_of(mask, held)
        if held:
            prior["prior"] = 0.1 * prior["prior"]
        problem = problem_of(p, q, mask, **prior)

        def function(x):
            value, slope = value_and_slope(problem, kind, parameter, x.reshape(mask.shape))
            return value, slope.ravel()

        expected, _ = function(quasi_newton(function, problem.z))
        options = {} if scheme == "paper" else {"tolerance": 1e-12}
        found = normint.integrate(p, q, mask, method=method, scheme=scheme, **options, **prior)
        start = found.energies[0]
        assert found.energies[-1] - expected <= 1e-6 * (start - expected) + 1e-12 * abs(expected)


class TestIpiano:
    def ipiano(self, kind, parameter, held=False, name="thread"):
        mask = MASKS[name]
        p, q, z = random_fields(mask)
        problem = problem_of(p, q, mask, initial=z, scheme="paper", **prior_of(mask, held))
        return _Ipiano(problem, kind, parameter), problem, z

    @held_or_not
    @each_method
    def test_a_step_is_that_of_the_formula(self, method, kind, parameter, held):
        ipiano, problem, z = self.ipiano(kind, parameter, held)
        last = z
        for _ in range(5):
            slope = np.empty_like(z)
            pairs.gradient(z, *problem.data, kind, parameter, slope)
            new, energy = ipiano.step(z)
            alpha = 2 * (1 - INERTIA) / ipiano.lipschitz
            expected = z - alpha * slope + INERTIA * (z - last)
            if held:  # minimise ½ (x - expected)² + α λ (x - z⁰)²
                pull = 2 * alpha * problem.weight
                expected = (expected + pull * problem.prior) / (1 + pull)
            np.testing.assert_allclose(new, expected, atol=1e-12)
            assert energy == pytest.approx(value_and_slope(problem, kind, parameter, new)[0], rel=1e-12)
            last, z = z, new

    @each_method
    def test_backtracking_ends_where_the_quadratic_lies_above(self, method, kind, parameter):
        ipiano, problem, z = self.ipiano(kind, parameter)
        estimates = [ipiano.lipschitz]
        for _ in range(50):
            value, slope = value_and_slope(problem, kind, parameter, z)
            new, energy = ipiano.step(z)
            above = value + np.sum(slope * (new - z)) + ipiano.lipschitz / 2 * np.sum((new - z) ** 2)
            assert energy <= above + 1e-10 * abs(above)
            estimates.append(ipiano.lipschitz)
            z = new
        assert (np.diff(estimates) >= 0).all()
        assert estimates[-1] <= ipiano.bound

    @each_method
    @on_masks("row", "thread")
    def test_the_bound_holds_for_the_curvature(self, method, kind, parameter, mask):
        # It is largest where all residuals are zero.
        _, _, z = random_fields(mask)
        p, q = np.zeros((2, *mask.shape))
        problem = problem_of(p, q, mask)
        hessian, h = [], 1e-5
        for pixel in np.argwhere(mask):
            step = np.zeros(mask.shape)
            step[tuple(pixel)] = h
            above, below = (value_and_slope(problem, kind, parameter, at)[1] for at in (step, -step))
            hessian.append((above - below)[mask] / (2 * h))
        largest = np.linalg.eigvalsh(np.array(hessian)).max()
        bound = _Ipiano(problem, kind, parameter).bound
        assert 0.2 * bound < largest <= bound * (1 + 1e-6)

    def test_estimates_on_the_vase_are_as_small_as_the_paper_says(self):
        # "between 6 and 11" for Φ1 with β = 0.5, whose bound is 64.
        vase = normint.surfaces.vase().with_noise(0.01, np.random.default_rng(0))
        problem = problem_of(vase.p, vase.q, None, scheme="paper")
        ipiano, z = _Ipiano(problem, PHI_1, 0.5), problem.z
        for _ in range(100):
            z, _ = ipiano.step(z)
        assert ipiano.bound == 64.0
        assert ipiano.lipschitz < 16.0


class TestJumps:
    @each_scheme
    @each_method
    def test_cost_little(self, method, kind, parameter, scheme):
        # One wrong slope in a plane, which least squares spreads over its surroundings.
        p, q = np.full((6, 7), 0.5), np.full((6, 7), -1.0)
        q[2, 3] = 20.0
        u, v = np.indices(p.shape)
        truth = 0.5 * (u - 2.5) - (v - 3.0)
        depth = normint.integrate(p, q, method=method, scheme=scheme).depth
        least_squares = normint.integrate(p, q).depth
        assert np.abs(depth - truth).max() < 0.05 * np.abs(least_squares - truth).max()
