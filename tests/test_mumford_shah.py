"""Mumford-Shah: its energy, the two updates against dense algebra, and where their alternation ends."""

import numpy as np
import pytest
from small_problems import (
    dense_least_squares,
    each_mask,
    each_scheme,
    edges_of,
    held_or_not,
    numerical_slope,
    on_masks,
    prior_of,
    problem_of,
    quasi_newton,
    random_fields,
)

import normint
from normint.methods import mumford_shah
from normint.methods.mumford_shah import _Alternation

MU, EPSILON = 7.0, 0.2
# Downwards, up, right and left: the axis of a difference, and whether it is read at its second pixel.
FOUR = [(0, False), (0, True), (1, False), (1, True)]


def differences(mask, axis, backward):
    """List the pixels (one, two) of the differences along an axis, and the pixel where each is read."""
    step = np.eye(2, dtype=int)[axis]
    found = []
    for i, j in np.argwhere(edges_of(mask)[axis]):
        one, two = (i, j), (i + step[0], j + step[1])
        found.append((one, two, two if backward else one))
    return found


def plain_energy(z, w, p, q, mask, mu=MU, epsilon=EPSILON):
    """Sum E(z, w) term by term."""
    total = np.sum((w[:, mask] - 1) ** 2) / (8 * epsilon)
    for k, (axis, backward) in enumerate(FOUR):
        for one, two, here in differences(mask, axis, backward):
            total += mu / 2 * w[k][here] ** 2 * (z[two] - z[one] - (p, q)[axis][here]) ** 2
            total += epsilon / 2 * (w[k][two] - w[k][one]) ** 2
    return total


def plain_prior(z, mask, prior=None, prior_weight=None):
    return 0.0 if prior is None else np.sum((prior_weight * (z - prior) ** 2)[mask])


def alternation_of(mask, held, scheme="fast", size=1.0):
    """Return the alternation for random slopes, what it was made of, and a random depth."""
    p, q, z = (size * field for field in random_fields(mask))
    prior = prior_of(mask, held)
    problem = problem_of(p, q, mask, scheme=scheme, **prior)
    return _Alternation(problem, MU, EPSILON), (p, q, mask), prior, z


class TestIndicators:
    @each_mask
    def test_solve_their_systems(self, mask):
        alternation, (p, q, _), _, z = alternation_of(mask, held=False)
        alternation.energy(z)
        number = np.full(mask.shape, -1)
        number[mask] = np.arange(mask.sum())
        for k, (axis, backward) in enumerate(FOUR):
            matrix = 0.25 / EPSILON * np.eye(mask.sum())
            for one, two, here in differences(mask, axis, backward):
                a, b, c = number[one], number[two], number[here]
                matrix[[a, b], [a, b]] += EPSILON
                matrix[[a, b], [b, a]] -= EPSILON
                matrix[c, c] += MU * (z[two] - z[one] - (p, q)[axis][here]) ** 2
            expected = np.linalg.solve(matrix, np.full(mask.sum(), 0.25 / EPSILON))
            np.testing.assert_allclose(alternation.w[k][mask], expected, rtol=1e-10)

    @each_mask
    def test_are_between_zero_and_one(self, mask):
        alternation, _, _, z = alternation_of(mask, held=False)
        alternation.energy(1e3 * z)
        assert (alternation.w[:, mask] > 0).all() and (alternation.w[:, mask] <= 1 + 1e-12).all()

    def test_are_one_on_a_plane(self):
        u, v = np.indices((4, 5))
        plane, field = 2.0 * u - v, np.ones((4, 5))
        alternation = _Alternation(problem_of(2 * field, -field, field > 0), MU, EPSILON)
        assert alternation.energy(plane) == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(alternation.w, 1.0, atol=1e-12)


class TestEnergy:
    @held_or_not
    @each_mask
    def test_is_the_sum_of_its_terms(self, held, mask):
        alternation, data, prior, z = alternation_of(mask, held)
        value = alternation.energy(z)
        expected = plain_energy(z, alternation.w, *data) + plain_prior(z, mask, **prior)
        assert value == pytest.approx(expected, rel=1e-12)

    @on_masks("rectangle", "thread")
    def test_is_so_for_any_indicators(self, mask):
        alternation, (p, q, _), _, z = alternation_of(mask, held=False)
        exists = alternation.problem.data[2]
        w = np.where(mask, np.random.default_rng(1).random((4, *mask.shape)), 1.0)
        mumford_shah.weighted_squares(z, p, q, exists, MU, alternation.squares)
        value = mumford_shah.energy(alternation.squares, exists, EPSILON, w)
        # A pixel without any neighbour has no differences, so its indicators are not counted.
        w[:, ~exists.any(axis=0)] = 1.0
        assert value == pytest.approx(plain_energy(z, w, p, q, mask), rel=1e-12)

    @held_or_not
    @each_scheme
    @each_mask
    def test_never_rises(self, scheme, held, mask):
        p, q, z = random_fields(mask)
        result = normint.integrate(
            p, q, mask, method="mumford_shah", scheme=scheme, tolerance=0, initial=3 * z, max_iterations=40,
            **prior_of(mask, held),
        )  # fmt: skip
        assert (np.diff(result.energies) <= 1e-12 * result.energies[1:]).all()


class TestDepth:
    @held_or_not
    @each_mask
    def test_solves_its_system(self, held, mask):
        alternation, (p, q, _), prior, z = alternation_of(mask, held)
        alternation.look(z)
        terms = []
        for k, (axis, backward) in enumerate(FOUR):
            for one, two, here in differences(mask, axis, backward):
                terms.append((one, two, MU / 2 * alternation.w[k][here] ** 2, (p, q)[axis][here]))
        alternation.steps, alternation.tolerance = 200, 1e-13  # solve to the end
        expected = dense_least_squares(mask, terms, **prior)
        np.testing.assert_allclose(alternation.minimise(z), expected, atol=1e-7)

    @each_mask
    def test_weights_are_the_mean_squares_of_the_indicators(self, mask):
        alternation, _, _, z = alternation_of(mask, held=False)
        alternation.look(z)
        down, up, right, left = alternation.w**2
        expected = np.stack([down + np.roll(up, -1, axis=0), right + np.roll(left, -1, axis=1)]) / 2
        np.testing.assert_allclose(alternation.weights(), np.where(edges_of(mask), expected, 0.0), rtol=1e-12)


class TestAlternation:
    @held_or_not
    @on_masks("rectangle", "row", "thread")
    def test_ends_at_a_stationary_point(self, held, mask):
        alternation, data, prior, z = alternation_of(mask, held)
        depth = mumford_shah.mumford_shah(
            *data, mu=MU, epsilon=EPSILON, initial=z, tolerance=0, max_iterations=300, **prior
        ).depth

        def slope(at):
            alternation.energy(at)  # the indicators are those of this depth

            def energy(z):
                return plain_energy(z, alternation.w, *data) + plain_prior(z, mask, **prior)

            return np.linalg.norm(numerical_slope(energy, at, mask))

        assert slope(np.where(mask, depth, 0.0)) <= 1e-5 * slope(z)

    @held_or_not
    @each_scheme
    @on_masks("rectangle", "thread")
    def test_finds_the_joint_minimum_where_there_is_only_one(self, scheme, held, mask):
        # Little noise; the independent solution is that of L-BFGS-B for z and w at once.
        alternation, data, prior, _ = alternation_of(mask, held, scheme, size=0.1)
        problem, n = alternation.problem, mask.sum()
        z, w = np.zeros(mask.shape), np.ones((4, *mask.shape))

        def function(x):
            z[mask], w[:, mask] = x[:n], x[n:].reshape(4, n)
            value, slopes = joint(problem, z, w)
            return value, np.concatenate([slopes[0][mask], slopes[1:][:, mask].ravel()])

        start = alternation.energy(problem.z)
        x = np.concatenate([problem.z[mask], alternation.w[:, mask].ravel()])
        assert function(x)[0] == pytest.approx(start, rel=1e-12)
        expected, _ = function(quasi_newton(function, x))
        result = mumford_shah.mumford_shah(*data, mu=MU, epsilon=EPSILON, scheme=scheme, **prior)
        assert result.energies[-1] <= expected * (1 + 1e-5)


def joint(problem, z, w):
    """Return E(z, w) and its slopes by z and the four w."""
    value, slopes = problem.prior_energy(z), np.zeros((5, *z.shape))
    if problem.prior is not None:
        slopes[0] += 2 * problem.weight * (z - problem.prior)
    value += np.sum((w - 1) ** 2) / (8 * EPSILON)
    slopes[1:] += (w - 1) / (4 * EPSILON)
    for k, (axis, backward) in enumerate(FOUR):
        one, two = ((np.s_[:-1], np.s_[1:]), (np.s_[:, :-1], np.s_[:, 1:]))[axis]
        here, inside = (two if backward else one), problem.mask[one] & problem.mask[two]
        r = np.where(inside, z[two] - z[one] - (problem.p, problem.q)[axis][here], 0.0)
        d = np.where(inside, w[k][two] - w[k][one], 0.0)
        value += MU / 2 * np.sum((w[k][here] * r) ** 2) + EPSILON / 2 * np.sum(d**2)
        pull = MU * w[k][here] ** 2 * r
        slopes[0][two] += pull
        slopes[0][one] -= pull
        slopes[k + 1][here] += MU * w[k][here] * r**2
        slopes[k + 1][two] += EPSILON * d
        slopes[k + 1][one] -= EPSILON * d
    return value, slopes
