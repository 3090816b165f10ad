"""The indicators of Mumford-Shah: two ways to solve the systems along lines, against dense matrices."""

import numpy as np
import pytest
from small_problems import each_mask

from normint.methods import mumford_shah as indicators
from normint.methods.pairs import DOWN, LEFT, RIGHT, UP, neighbours

EPSILON = 0.2
PULL = 0.25 / EPSILON
each_difference = pytest.mark.parametrize("k", [DOWN, UP, RIGHT, LEFT], ids=["down", "up", "right", "left"])


def dense_system(squares, mask, k):
    """Return the matrix of μr² + 1/4ε - ε∂² on the mask, ∂ along the direction of difference k, and 1/4ε."""
    number = np.full(mask.shape, -1)
    number[mask] = np.arange(np.count_nonzero(mask))
    matrix = np.diag(squares[mask] + PULL)
    here, there = (number[:-1], number[1:]) if k in (DOWN, UP) else (number[:, :-1], number[:, 1:])
    for i, j in zip(here.ravel(), there.ravel(), strict=True):
        if i >= 0 and j >= 0:
            matrix[[i, j], [i, j]] += EPSILON
            matrix[[i, j], [j, i]] -= EPSILON
    return matrix, np.full(len(matrix), PULL)


def iterate(squares, mask, k, w, tolerance=1e-4, steps=100):
    """Improve w by conjugate gradients, in place."""
    exists = neighbours(mask)[0]
    one, other = (DOWN, UP) if k in (DOWN, UP) else (RIGHT, LEFT)
    count = exists[one].astype(float) + exists[other]
    diagonal = np.where(mask, squares + PULL + EPSILON * count, 0.0)
    indicators.conjugate_gradients(mask, diagonal, EPSILON, PULL, k in (DOWN, UP), tolerance, steps, w)


def random_squares(mask, seed=0):
    return np.random.default_rng(seed).exponential(3.0, mask.shape)


@each_mask
@each_difference
class TestConjugateGradients:
    def test_converge_to_the_solution(self, mask, k):
        squares, w = random_squares(mask), np.ones(mask.shape)
        iterate(squares, mask, k, w, tolerance=1e-13)
        np.testing.assert_allclose(w[mask], np.linalg.solve(*dense_system(squares, mask, k)), rtol=1e-10)

    def test_stop_at_the_first_step_below_the_tolerance(self, mask, k):
        squares, start = random_squares(mask), np.random.default_rng(1).random(mask.shape)
        matrix, b = dense_system(squares, mask, k)

        def residual(**options):
            w = start.copy()
            iterate(squares, mask, k, w, **options)
            return np.linalg.norm(b - matrix @ w[mask]) / np.linalg.norm(b)

        after = np.array([residual(tolerance=1e-300, steps=steps) for steps in range(15)])
        assert residual(tolerance=1e-3) == pytest.approx(after[np.argmax(after <= 1e-3)], rel=1e-6)

    def test_lower_the_energy_with_every_step(self, mask, k):
        squares, start = random_squares(mask), np.random.default_rng(1).random(mask.shape)
        matrix, b = dense_system(squares, mask, k)
        energies = []
        for steps in range(5):
            w = start.copy()
            iterate(squares, mask, k, w, tolerance=1e-12, steps=steps)
            energies.append(0.5 * w[mask] @ matrix @ w[mask] - b @ w[mask])
        assert np.all(np.diff(energies) <= 1e-14 * np.abs(energies[0]))

    def test_leave_ones_outside(self, mask, k):
        w = np.full(mask.shape, 0.3)
        iterate(random_squares(mask), mask, k, w)
        np.testing.assert_array_equal(w[~mask], 1.0)


@each_mask
def test_elimination_gives_the_solution(mask):
    squares, w = np.stack([random_squares(mask, seed) for seed in range(4)]), np.ones((4, *mask.shape))
    indicators.eliminate(squares, neighbours(mask)[0], EPSILON, w)
    for k in range(4):
        expected = np.linalg.solve(*dense_system(squares[k], mask, k))
        np.testing.assert_allclose(w[k][mask], expected, rtol=1e-12)
