"""Loops over one row of an image, for :mod:`normint.methods.pairs`.

Each touches few arrays, because the compiler vectorises only those.
"""

import numpy as np

from normint.compiling import FAST, njit

DOWN, UP, RIGHT, LEFT = range(4)


@njit(**FAST)
def residual(one, other, slope, exists, result):
    """Set ``one - other - slope``, or zero where there is no difference."""
    for j in range(result.size):
        result[j] = one[j] - other[j] - slope[j] if exists[j] else 0.0


@njit(**FAST)
def inverses(i, r, constant, observed, result):
    """Set 1 / (s² + constant) of the four pairs: down or up, each with right or left; zero without a pair."""
    for j in range(result.shape[1]):
        down, up = r[DOWN, j] * r[DOWN, j] + constant, r[UP, j] * r[UP, j] + constant
        right, left = r[RIGHT, j] * r[RIGHT, j], r[LEFT, j] * r[LEFT, j]
        below, above = observed[DOWN, i, j], observed[UP, i, j]
        after, before = observed[RIGHT, i, j], observed[LEFT, i, j]
        result[0, j] = 1.0 / (down + right) if below & after else 0.0
        result[1, j] = 1.0 / (down + left) if below & before else 0.0
        result[2, j] = 1.0 / (up + right) if above & after else 0.0
        result[3, j] = 1.0 / (up + left) if above & before else 0.0


@njit(**FAST)
def weights(pairs, result):
    """Add up, for each of the four differences, the values of the two pairs that it is in."""
    for j in range(result.shape[1]):
        result[DOWN, j], result[UP, j] = pairs[0, j] + pairs[1, j], pairs[2, j] + pairs[3, j]
        result[RIGHT, j], result[LEFT, j] = pairs[0, j] + pairs[2, j], pairs[1, j] + pairs[3, j]


@njit(**FAST)
def products(pairs, result):
    """Set the products of the values of the pairs that exist."""
    for j in range(result.size):
        a, b, c, d = pairs[0, j], pairs[1, j], pairs[2, j], pairs[3, j]
        first = (a if a > 0 else 1.0) * (b if b > 0 else 1.0)
        result[j] = first * ((c if c > 0 else 1.0) * (d if d > 0 else 1.0))


@njit(**FAST)
def bounded(constant, one, other, t):
    """Return Σ Φ2 of pairs of residuals and set its derivative, from 1 / (s² + γ²)."""
    total = 0.0
    for j in range(t.size):
        inverse = t[j]
        total += (one[j] * one[j] + other[j] * other[j]) * inverse  # 1 - γ² t would lose the small ones
        t[j] = constant * inverse * inverse
    return total


@njit(**FAST)
def lengths(t):
    """Return Σ √(s² + δ²) and set its derivative, from 1 / (s² + δ²)."""
    total = 0.0
    for j in range(t.size):
        root = np.sqrt(t[j])
        total += 1.0 / root if root > 0 else 0.0
        t[j] = 0.5 * root
    return total


@njit(**FAST)
def weighted_square(weight, r):
    """Return Σ weight r²."""
    total = 0.0
    for j in range(r.size):
        total += weight[j] * r[j] * r[j]
    return total


@njit(**FAST)
def add_forces(flows, result):
    """Add what a pixel's own four differences contribute to the gradient there."""
    for j in range(result.size):
        result[j] += flows[UP, j] + flows[LEFT, j] - flows[DOWN, j] - flows[RIGHT, j]


@njit(**FAST)
def flatten(slope, nu, factor, result):
    """Multiply by ``factor / (1 + slope²/ν²)``."""
    for j in range(result.size):
        flat = factor / (1.0 + (slope[j] / nu) ** 2)
        result[j] = result[j] * flat if result[j] > 0 else 0.0  # slopes may be NaN


@njit(**FAST)
def keep(exists, factor, result):
    """Multiply by a number, or set to zero what does not exist."""
    for j in range(result.size):
        result[j] = factor * result[j] if exists[j] else 0.0


@njit(**FAST)
def add(terms, factor, result):
    """Add a multiple."""
    for j in range(result.size):
        result[j] += factor * terms[j]


@njit(**FAST)
def multiply(factors, factor, result):
    """Multiply by the factors and by one number for all."""
    for j in range(result.size):
        result[j] *= factor * factors[j]


@njit(**FAST)
def divide(divisors, result):
    """Divide where the divisor is positive, else set zero."""
    for j in range(result.size):
        result[j] = result[j] / divisors[j] if divisors[j] > 0 else 0.0
