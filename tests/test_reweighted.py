"""Minimising quadratic models one after the other: each step, and the descent that strings them together."""

from types import SimpleNamespace

import numpy as np
import pytest
from small_problems import (
    dense_least_squares,
    each_mask,
    held_or_not,
    prior_of,
    problem_of,
    random_fields,
    sum_of_squares,
    terms_of_edges,
)

from normint.methods import pairs
from normint.methods.pairs import DIFFUSION, PHI_1, PHI_2, TOTAL_VARIATION
from normint.methods.reweighted import Descent, Reweighted

each_kind = pytest.mark.parametrize(
    "kind", [TOTAL_VARIATION, PHI_1, PHI_2, DIFFUSION], ids=["total variation", "phi1", "phi2", "diffusion"]
)


def reweighted_of(mask, kind, held, **options):
    """Return a model set at a random depth, and that depth."""
    p, q, z = random_fields(mask)
    prior = prior_of(mask, held)
    model = Reweighted(problem_of(p, q, mask, initial=z, **prior), kind, 0.7, **options)
    model.look(z)
    return model, z


class TestReweighted:
    @each_mask
    @held_or_not
    @each_kind
    def test_energy_includes_the_prior(self, kind, held, mask):
        model, z = reweighted_of(mask, kind, held)
        problem = model.problem
        prior = prior_of(mask, held)
        expected = pairs.energy(z, *problem.data, kind, 0.7)
        if held:
            expected += np.sum((prior["prior_weight"] * (z - prior["prior"]) ** 2)[mask])
        assert model.energy(z) == pytest.approx(expected, rel=1e-12)
        assert model.look(z) == pytest.approx(expected, rel=1e-12)

    @each_mask
    @held_or_not
    @each_kind
    def test_minimiser_is_that_of_dense_least_squares(self, kind, held, mask):
        model, z = reweighted_of(mask, kind, held, steps=100, tolerance=1e-13)
        expected = dense_least_squares(
            mask, terms_of_edges(mask, model.edges[:2], model.edges[2:]), **prior_of(mask, held)
        )
        np.testing.assert_allclose(model.minimise(z), expected, atol=1e-8)

    @each_mask
    @held_or_not
    @each_kind
    def test_one_step_lowers_the_model_already_and_the_energy_if_that_lies_below(self, kind, held, mask):
        model, z = reweighted_of(mask, kind, held)
        terms, new = terms_of_edges(mask, model.edges[:2], model.edges[2:]), model.minimise(z)
        values = [sum_of_squares(terms, at) + model.problem.prior_energy(at) for at in (new, z)]
        assert values[0] < values[1]
        assert kind == DIFFUSION or model.energy(new) < model.energy(z)

    @each_mask
    @pytest.mark.parametrize("kind", [TOTAL_VARIATION, PHI_1, PHI_2], ids=["total variation", "phi1", "phi2"])
    def test_tells_its_own_energy_with_the_model_of_another_parameter(self, kind, mask):
        model, z = reweighted_of(mask, kind, held=False)
        for parameter in (0.3, 1.5):
            model.parameter = parameter
            assert model.look(z) == pytest.approx(model.energy(z), rel=1e-12)
            other = Reweighted(model.problem, kind, parameter)
            other.look(z)
            np.testing.assert_allclose(model.edges, other.edges, rtol=1e-12)

    def test_weights_stay_when_the_model_is_set_elsewhere(self):
        model, z = reweighted_of(np.ones((5, 6), bool), PHI_1, held=False)
        weights = model.weights()
        kept = np.copy(weights)
        model.look(2 * z)
        np.testing.assert_array_equal(weights, kept)
        assert np.abs(model.weights() - kept).max() > 1e-3


class Told:
    """A model: each minimiser is one further on, with energies told beforehand."""

    def __init__(self, *energies, problem=None):
        self.problem = problem or SimpleNamespace(z=np.zeros((1, 1)))
        self.energies, self.looks, self.parameters, self.starts = iter(energies), [], [], []
        self.parameter = 1.0

    def look(self, z):
        self.looks.append(float(z[0, 0]))
        return next(self.energies)

    def minimise(self, z):
        assert self.looks[-1] == z[0, 0]  # the model belongs to this depth
        self.starts.append(float(z[0, 0]))
        self.parameters.append(self.parameter)
        return z + 1.0

    def weights(self):
        return None


def walk(told, descent, steps):
    """Take steps and return the depths and energies they give."""
    z, path = told.problem.z, []
    for _ in range(steps):
        z, energy = descent.step(z)
        path.append((float(z[0, 0]), energy))
    return path


class TestDescent:
    def test_goes_beyond_the_minimiser_further_and_further(self):
        told = Told(5.0, 4.0, 3.0, 2.0)
        path = walk(told, Descent(told), 3)
        x1, x2 = 1.0, 2.0
        second = x2 + 1 / 4 * (x2 - x1)
        x3 = second + 1.0
        assert [z for z, _ in path] == pytest.approx([x1, second, x3 + 2 / 5 * (x3 - x2)])
        assert [energy for _, energy in path] == [4.0, 3.0, 2.0]

    def test_looks_once_at_each_depth(self):
        told = Told(5.0, 4.0, 3.0, 2.0)
        path = walk(told, Descent(told), 3)
        assert told.looks == pytest.approx([0.0, *(z for z, _ in path)])

    def test_ends_at_the_minimiser_where_going_beyond_is_a_rise(self):
        told = Told(5.0, 4.0, 4.5, 3.0)
        (first, _), second = walk(told, Descent(told), 2)
        assert second == (first + 1.0, 3.0)

    def test_forgets_its_momentum_after_a_rise(self):
        told = Told(9.0, 8.0, 7.0, 7.5, 6.0, 5.0)
        path = walk(told, Descent(told), 4)
        minimisers = [start + 1.0 for start in told.starts]
        assert path[2] == (minimisers[2], 6.0)
        expected = minimisers[3] + 1 / 4 * (minimisers[3] - minimisers[2])
        assert path[3] == pytest.approx((expected, 5.0))

    def test_stays_where_the_minimiser_of_an_easier_energy_is_a_rise(self):
        told = Told(5.0, 6.0, 5.0, 4.0)
        path = walk(told, Descent(told, [0.3, 0.6]), 2)
        assert path == [(0.0, 5.0), (1.0, 4.0)]

    def test_uses_one_parameter_after_the_other(self):
        told = Told(*range(12, 0, -1))
        walk(told, Descent(told, [0.3, 0.6, 1.0]), 5)
        assert told.parameters == [0.3, 0.6, 1.0, 1.0, 1.0]

    @pytest.mark.parametrize(
        ("energies", "parameters", "iterations"),
        [
            ([5.0, 5.0], [], 1),
            ([5.0, 4.0, 3.0, 3.0], [], 3),
            ([5.0, 5.0, 5.0, 5.0], [0.3, 0.6], 3),  # it may move again with the next one
            ([5.0, 6.0, 5.0, 6.0, 5.0, 6.0, 5.0, 6.0], [0.3, 0.6, 0.9], 4),
            ([5.0, 6.0], [], 1),  # there is no way down from here
            ([5.0, 4.0, 6.0, 6.0], [], 2),
            ([5.0, 4.0, 6.0, 3.0, 3.0], [], 3),  # it was the momentum that led up
        ],
    )
    def test_arrives_when_nothing_is_left_to_try(self, energies, parameters, iterations):
        field = np.zeros((1, 1))
        problem = problem_of(field, field, field == 0, tolerance=1e-6)
        told = Told(*energies, *[1.0] * 9, problem=problem)
        descent = Descent(told, parameters)
        result = problem.run(descent.step, energies[0], told, descent.settled)
        assert result.converged
        assert result.iterations == iterations
