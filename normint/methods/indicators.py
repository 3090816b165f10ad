"""The indicators of Mumford-Shah: tridiagonal systems (μ r² + 1/4ε) w - ε ∂²w = 1/4ε along the lines of Ω."""

import numpy as np

from normint.compiling import FAST, njit
from normint.methods.pairs import DOWN, LEFT, RIGHT, UP


@njit(**FAST)
def eliminate(squares, exists, epsilon, w):
    """Set w to its minimiser: tridiagonal systems along the lines of Ω, by elimination.

    Where an edge is missing a line ends, and the elimination starts anew by itself: its coefficient is zero.
    """
    rows, cols = w.shape[1:]
    upper = np.zeros((rows, cols))
    for k in (DOWN, UP):  # all columns at a time
        for i in range(rows):
            last = max(i - 1, 0)
            edges = exists[UP, i], exists[DOWN, i]
            _forwards(squares[k, i], *edges, epsilon, upper[last], w[k, last], upper[i], w[k, i])
        for i in range(rows - 2, -1, -1):
            _backwards(upper[i], w[k, i + 1], w[k, i])
    for k in (RIGHT, LEFT):
        for i in range(rows):
            _line(squares[k, i], exists[LEFT, i], exists[RIGHT, i], epsilon, upper[0], w[k, i])


@njit(**FAST)
def _forwards(square, before, after, epsilon, last_upper, last_w, upper, w):
    pull = 0.25 / epsilon
    for j in range(w.size):
        a, b = (epsilon if before[j] else 0.0), (epsilon if after[j] else 0.0)
        scale = 1.0 / (square[j] + pull + a + b - a * last_upper[j])
        w[j] = (pull + a * last_w[j]) * scale
        upper[j] = b * scale


@njit(**FAST)
def _backwards(upper, next_w, w):
    for j in range(w.size):
        w[j] += upper[j] * next_w[j]


@njit(**FAST)
def _line(square, before, after, epsilon, upper, w):
    pull, c, x = 0.25 / epsilon, 0.0, 0.0
    for j in range(w.size):
        a, b = (epsilon if before[j] else 0.0), (epsilon if after[j] else 0.0)
        scale = 1.0 / (square[j] + pull + a + b - a * c)
        x = (pull + a * x) * scale
        c = b * scale
        w[j], upper[j] = x, c
    for j in range(w.size - 2, -1, -1):
        x = w[j] + upper[j] * x
        w[j] = x


@njit(**FAST)
def conjugate_gradients(mask, diagonal, epsilon, pull, along_u, tolerance, steps, w):
    """Improve w for the systems of all lines of Ω at once; outside Ω it becomes 1."""
    rows, cols = mask.shape
    r, d = np.zeros((rows, cols)), np.zeros((rows + 2, cols + 2))  # d in a frame of zeros
    for i in range(rows):
        for j in range(cols):
            r[i, j] = pull if mask[i, j] else 0.0
            d[i + 1, j + 1] = w[i, j] if mask[i, j] else 0.0
    enough = tolerance * pull * np.sqrt(np.sum(mask))
    w[:] = 0.0
    square = _advance(mask, diagonal, epsilon, along_u, 1.0, d, r, w)  # from zero to w as it was
    beta, iteration = 0.0, 0
    while iteration < steps and np.sqrt(square) > enough:
        curvature = _turn(diagonal, epsilon, along_u, beta, r, d)
        new = _advance(mask, diagonal, epsilon, along_u, square / curvature, d, r, w)
        beta, square = new / square, new
        iteration += 1
    for i in range(rows):
        for j in range(cols):
            w[i, j] = w[i, j] if mask[i, j] else 1.0


@njit(**FAST)
def _turn(diagonal, epsilon, along_u, beta, r, d):
    """Set the next direction d, and return its product with the matrix and itself."""
    rows, cols = r.shape
    total = 0.0
    for i in range(rows):
        here = d[i + 1, 1 : cols + 1]
        before = d[i, 1 : cols + 1] if along_u else d[i + 1, :cols]
        for j in range(cols):
            here[j] = r[i, j] + beta * here[j]
        for j in range(cols):
            total += here[j] * (diagonal[i, j] * here[j] - 2.0 * epsilon * before[j])
    return total


@njit(**FAST)
def _advance(mask, diagonal, epsilon, along_u, alpha, d, r, w):
    """Make a step along d; return the new squared residual.

    The product of the matrix and d is computed here and not kept: that is quicker than to read it again.
    """
    rows, cols = r.shape
    total = 0.0
    for i in range(rows):
        here = d[i + 1, 1 : cols + 1]
        before = d[i, 1 : cols + 1] if along_u else d[i + 1, :cols]
        after = d[i + 2, 1 : cols + 1] if along_u else d[i + 1, 2:]
        for j in range(cols):
            product = diagonal[i, j] * here[j] - epsilon * (before[j] + after[j])
            r[i, j] -= alpha * product if mask[i, j] else 0.0
        for j in range(cols):
            w[i, j] += alpha * here[j]
        for j in range(cols):
            total += r[i, j] * r[i, j]
    return total
