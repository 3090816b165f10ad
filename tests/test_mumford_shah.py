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
from normint.methods import mumford_shah, pairs
from normint.methods.mumford_shah import _Alternation
from normint.methods.pairs import DOWN, LEFT, RIGHT, UP
from normint.surfaces.scenes import scene

MU, EPSILON = 7.0, 0.2
PULL = 0.25 / EPSILON
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


def dense_system(squares, mask, k):
    """Return the matrix of μr² + 1/4ε - ε∂² on the mask, ∂ along the direction of difference k, and 1/4ε."""
    number = np.full(mask.shape, -1)
    number[mask] = np.arange(mask.sum())
    matrix = np.diag(squares[mask] + PULL)
    for one, two, _ in differences(mask, *FOUR[k]):
        i, j = number[one], number[two]
        matrix[[i, j], [i, j]] += EPSILON
        matrix[[i, j], [j, i]] -= EPSILON
    return matrix, np.full(len(matrix), PULL)


def iterate(squares, mask, k, w, tolerance=1e-4, steps=100):
    """Improve w by conjugate gradients, in place."""
    exists = pairs.neighbours(mask)[0]
    ends = (DOWN, UP) if k < RIGHT else (RIGHT, LEFT)
    along = exists[ends[0]].astype(float) + exists[ends[1]]
    diagonal = np.where(mask, squares + PULL + EPSILON * along, 0.0)
    mumford_shah.conjugate_gradients(mask, diagonal, EPSILON, PULL, k < RIGHT, tolerance, steps, w)


def random_squares(mask, seed=0):
    return np.random.default_rng(seed).exponential(3.0, mask.shape)


@each_mask
@pytest.mark.parametrize("k", [DOWN, LEFT], ids=["down", "left"])
class TestConjugateGradients:
    def test_converge_to_the_solution_and_leave_ones_outside(self, mask, k):
        squares, w = random_squares(mask), np.full(mask.shape, 0.3)
        iterate(squares, mask, k, w, tolerance=1e-13)
        np.testing.assert_allclose(w[mask], np.linalg.solve(*dense_system(squares, mask, k)), rtol=1e-10)
        np.testing.assert_array_equal(w[~mask], 1.0)

    def test_lower_the_energy_with_every_step_and_stop_at_the_tolerance(self, mask, k):
        squares, start = random_squares(mask), np.random.default_rng(1).random(mask.shape)
        matrix, b = dense_system(squares, mask, k)

        def found(**options):
            w = start.copy()
            iterate(squares, mask, k, w, **options)
            energy = 0.5 * w[mask] @ matrix @ w[mask] - b @ w[mask]
            return np.linalg.norm(b - matrix @ w[mask]) / np.linalg.norm(b), energy

        after, energies = np.transpose([found(tolerance=1e-300, steps=steps) for steps in range(15)])
        assert (np.diff(energies) <= 1e-14 * np.abs(energies[0])).all()
        assert found(tolerance=1e-3)[0] == pytest.approx(after[np.argmax(after <= 1e-3)], rel=1e-6)


class TestIndicators:
    @each_mask
    def test_solve_their_systems(self, mask):
        alternation, (p, q, _), _, z = alternation_of(mask, held=False)
        alternation.energy(z)
        for k, (axis, backward) in enumerate(FOUR):
            squares = np.zeros(mask.shape)
            for one, two, here in differences(mask, axis, backward):
                squares[here] = MU * (z[two] - z[one] - (p, q)[axis][here]) ** 2
            expected = np.linalg.solve(*dense_system(squares, mask, k))
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


def noisy(surface):
    noisy = surface.with_noise(0.01, np.random.default_rng(0))
    return noisy.p, noisy.q, None


def seen(kind, variant):
    found = scene(kind, variant, n=96)
    return found.p, found.q, found.mask


SLOPES = 1.0, 1.3, 1.8
TENTS = [(normint.surfaces.canadian_tent(96, 24, 24, s), mu) for s in SLOPES for mu in (20, 45)]


@pytest.mark.parametrize(
    ("slopes", "mu"),
    [
        (noisy(normint.surfaces.vase(96)), 45),
        *((noisy(tent), mu) for tent, mu in TENTS),
        (noisy(normint.surfaces.canadian_tent(128, 32, 32, slope=1.8)), 45),
        (seen("bodies", 2), 45),
        (seen("ramps", 1), 45),
        (seen("contours", 3), 45),
        (seen("steps", 1), 45),
        (seen("holes", 1), 45),
    ],
)
def test_the_fast_scheme_ends_hardly_higher_than_the_paper_s(slopes, mu):
    # With systems that were solved less well at first, tents were cut in wrong places: up to 2 % higher here.
    # There are many minima, and chance decides between two that differ by less than half a per cent.
    paper, fast = (
        mumford_shah.mumford_shah(*slopes, mu=mu, scheme=scheme).energies[-1] for scheme in ("paper", "fast")
    )
    assert fast <= 1.005 * paper


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
