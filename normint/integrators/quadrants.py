"""What a pixel observes: its pairs of a difference along u and one along v, and the energies built on them.

At a pixel, ∂_u z is read forwards or backwards and so is ∂_v z. That makes up to four discretisations ∇^{UV}
of the gradient, each with the weight ¼ where both its differences exist (the sets Ω^{UV} of the paper).
A pixel without any neighbour along v has no such pair: there the differences along u are observed alone,
as if with neighbours along v whose differences are exactly q, so that every edge of Ω counts in every method.

An energy is Σ ¼ Φ(∇^{UV}z - g). Its quadratic model at z is Σ ¼ (a (∂_u z - p)² + b (∂_v z - q)²) with
weights that depend on z. The weights that the two ends give to an edge add up and their slopes average,
which is the system of :mod:`normint.poisson`.

The compiled functions go through the image row by row, with buffers that stay in the cache and inner loops
without branches: that is five times as fast as going pixel by pixel.
"""

import numpy as np
from numba import njit

from normint.checkerboard import FAST

# The energies, by the number that the compiled code knows them by.
TOTAL_VARIATION, PHI_1, PHI_2, DIFFUSION = range(4)
DOWN, UP, RIGHT, LEFT = range(4)
SMALL, LARGE = 1e-100, 1e100  # a product of numbers between them has not overflowed


def neighbours(mask):
    """Return which differences exist at each pixel, and which take part in its pairs.

    Returns
    -------
    exists, observed : ndarray of bool
        4×rows×cols, downwards, up, right and left. ``observed`` adds both directions along a line where a
        pixel has no neighbour but has one along the other: there the difference counts as known exactly.

    Examples
    --------
    >>> exists, observed = neighbours(np.array([[True, True, False]]))
    >>> exists[:, 0].astype(int)
    array([[0, 0, 0],
           [0, 0, 0],
           [1, 0, 0],
           [0, 1, 0]])
    >>> observed[:, 0].astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [1, 0, 0],
           [0, 1, 0]])
    """
    exists = np.zeros((4, *mask.shape), bool)
    exists[DOWN, :-1] = exists[UP, 1:] = mask[:-1] & mask[1:]
    exists[RIGHT, :, :-1] = exists[LEFT, :, 1:] = mask[:, :-1] & mask[:, 1:]
    along_u, along_v = exists[DOWN] | exists[UP], exists[RIGHT] | exists[LEFT]
    observed = exists.copy()
    observed[[DOWN, UP]] |= along_v & ~along_u
    observed[[RIGHT, LEFT]] |= along_u & ~along_v
    return exists, observed


@njit(**FAST)
def energy(z, p, q, exists, observed, kind, parameter, nu=1.0):
    """Compute Σ ¼ Φ(∇^{UV} z - g), without the prior."""
    buffers = _buffers(z.shape[1])
    total = 0.0
    for i in range(z.shape[0]):
        total += _row(i, z, p, q, exists, observed, kind, parameter, nu, *buffers)
    return total


@njit(**FAST)
def gradient(z, p, q, exists, observed, kind, parameter, result):
    """Set ``result`` to the gradient of the energy by z, and return the energy."""
    rows, cols = z.shape
    buffers = _buffers(cols)
    r, flows = buffers[0], buffers[1]
    result[:] = 0.0
    total = 0.0
    for i in range(rows):
        total += _row(i, z, p, q, exists, observed, kind, parameter, 1.0, *buffers)
        for k in range(4):
            _multiply(r[k], 2.0, flows[k])
        _add(flows[UP], 1.0, result[i])
        _add(flows[LEFT], 1.0, result[i])
        _add(flows[DOWN], -1.0, result[i])
        _add(flows[RIGHT], -1.0, result[i])
        if i + 1 < rows:
            _add(flows[DOWN], 1.0, result[i + 1])
        if i > 0:
            _add(flows[UP], -1.0, result[i - 1])
        _add(flows[RIGHT, : cols - 1], 1.0, result[i, 1:])
        _add(flows[LEFT, 1:], -1.0, result[i, : cols - 1])
    return total


@njit(**FAST)
def model(z, p, q, exists, observed, kind, parameter, nu, down, right, flux_down, flux_right):
    """Set the weights and fluxes of the quadratic model at z, edge by edge, and return the energy there."""
    rows, cols = z.shape
    buffers = _buffers(cols)
    slopes, weights = buffers[0], buffers[1]
    down[:], right[:], flux_down[:], flux_right[:] = 0.0, 0.0, 0.0, 0.0
    total = 0.0
    for i in range(rows):
        total += _row(i, z, p, q, exists, observed, kind, parameter, nu, *buffers)
        slopes[DOWN], slopes[UP], slopes[RIGHT], slopes[LEFT] = p[i], p[i], q[i], q[i]
        collect(i, weights, slopes, down, right, flux_down, flux_right)
    normalise(down, flux_down)
    normalise(right, flux_right)
    return total


@njit(**FAST)
def _buffers(cols):
    """Return memory for one row: residuals, weights, squares, one value for each pixel, and a longer row."""
    return np.zeros((4, cols)), np.zeros((4, cols)), np.zeros((5, cols)), np.zeros(cols), np.zeros(cols + 2)


@njit(**FAST)
def _row(i, z, p, q, exists, observed, kind, parameter, nu, r, weights, squares, t, padded):
    """Return the energy of one row; set its residuals r and their weights.

    This is the energy of every method that sums over pairs, and the only place where it is computed.
    """
    weights[:] = 0.0
    if kind == DIFFUSION:
        t[:] = 0.0
        residuals(i, z, t, t, exists, padded, r)  # from slopes of zero: the differences themselves
        for k in range(4):
            _square(r[k], 1.0 / (parameter * parameter), squares[k])
        _pairs(kind, 1.0, observed, i, squares, t, weights)
        for k in range(4):
            _flatten(p[i] if k < RIGHT else q[i], nu, weights[k])
    residuals(i, z, p[i], q[i], exists, padded, r)
    for k in range(4):
        _square(r[k], 1.0, squares[k])
    if kind == DIFFUSION:
        total = 0.0
        for k in range(4):
            total += np.dot(weights[k], squares[k])
    else:
        constant = max(parameter * parameter, 1e-300)  # δ of total variation may be zero, its inverse not
        total = _pairs(kind, constant, observed, i, squares, t, weights)
    for k in range(4):  # what stands in for a missing neighbour weighs nothing
        _keep(exists[k, i], 0.25, weights[k])
    return 0.25 * total


@njit(**FAST)
def residuals(i, z, p, q, exists, padded, result):
    """Set the residuals downwards, up, right and left of row i, whose slopes are p and q, or zero."""
    rows, cols = z.shape
    padded[1 : cols + 1] = z[i]
    here, after, before = padded[1 : cols + 1], padded[2 : cols + 2], padded[:cols]
    _residual(z[min(i + 1, rows - 1)], here, p, exists[DOWN, i], result[DOWN])
    _residual(here, z[max(i - 1, 0)], p, exists[UP, i], result[UP])
    _residual(after, here, q, exists[RIGHT, i], result[RIGHT])
    _residual(here, before, q, exists[LEFT, i], result[LEFT])


@njit(**FAST)
def _pairs(kind, constant, observed, i, squares, t, weights):
    """Add Φ' / 2s of the pairs of one row to the weights, and return Σ Φ (0 for diffusion).

    All Φ here are concave in s²: they lie below their tangents, so the quadratic model is an upper bound.
    """
    total = 0.0
    product = squares[4]
    product[:] = 1.0
    for u in range(DOWN, UP + 1):
        for v in range(RIGHT, LEFT + 1):
            _inverse(squares[u], squares[v], constant, observed[u, i], observed[v, i], t)
            if kind == PHI_1:  # log(s² + β²) = -log t
                for j in range(t.size):
                    product[j] *= t[j] if t[j] > 0 else 1.0
            elif kind == PHI_2:
                for j in range(t.size):
                    total += 1.0 - constant * t[j] if t[j] > 0 else 0.0
                for j in range(t.size):
                    t[j] = constant * t[j] * t[j]
            elif kind == TOTAL_VARIATION:
                for j in range(t.size):
                    t[j] = np.sqrt(t[j])
                for j in range(t.size):
                    total += 1.0 / t[j] if t[j] > 0 else 0.0
                for j in range(t.size):
                    t[j] *= 0.5
            _add(t, 1.0, weights[u])
            _add(t, 1.0, weights[v])
    return total - _sum_of_logarithms(product) if kind == PHI_1 else total


@njit(**FAST)
def _sum_of_logarithms(factors):
    """Add up logarithms, most of them as that of a product."""
    total, product = 0.0, 1.0
    for factor in factors:
        if SMALL < factor < LARGE:
            product *= factor
            if not SMALL < product < LARGE:
                total += np.log(product)
                product = 1.0
        else:
            total += np.log(factor)
    return total + np.log(product)


@njit(**FAST)
def collect(i, weights, slopes, down, right, flux_down, flux_right):
    """Add what the pixels of row i say about their edges: weights, and slopes times weights."""
    last = down.shape[1] - 1
    for k in range(4):
        _multiply(weights[k], 1.0, slopes[k])
    _add(weights[DOWN], 1.0, down[i])
    _add(slopes[DOWN], 1.0, flux_down[i])
    _add(weights[RIGHT], 1.0, right[i])
    _add(slopes[RIGHT], 1.0, flux_right[i])
    if i > 0:
        _add(weights[UP], 1.0, down[i - 1])
        _add(slopes[UP], 1.0, flux_down[i - 1])
    _add(weights[LEFT, 1:], 1.0, right[i, :last])
    _add(slopes[LEFT, 1:], 1.0, flux_right[i, :last])


@njit(**FAST)
def normalise(weight, flux):
    """Divide the sums of weighted slopes by the sums of weights."""
    for i in range(weight.shape[0]):
        _divide(weight[i], flux[i])


# Loops over a row. Each touches few arrays, because the compiler vectorises only those.


@njit(**FAST)
def _residual(one, other, slope, exists, result):
    for j in range(result.size):
        result[j] = one[j] - other[j] - slope[j] if exists[j] else 0.0


@njit(**FAST)
def _square(r, factor, result):
    for j in range(result.size):
        result[j] = factor * r[j] * r[j]


@njit(**FAST)
def _inverse(first, second, constant, one, other, result):
    for j in range(result.size):
        result[j] = 1.0 / (first[j] + second[j] + constant) if one[j] & other[j] else 0.0


@njit(**FAST)
def _flatten(slope, nu, result):
    for j in range(result.size):
        result[j] = result[j] / (1.0 + (slope[j] / nu) ** 2) if result[j] > 0 else 0.0  # slopes may be NaN


@njit(**FAST)
def _keep(exists, factor, result):
    for j in range(result.size):
        result[j] = factor * result[j] if exists[j] else 0.0


@njit(**FAST)
def _add(terms, factor, result):
    for j in range(result.size):
        result[j] += factor * terms[j]


@njit(**FAST)
def _multiply(factors, factor, result):
    for j in range(result.size):
        result[j] *= factor * factors[j]


@njit(**FAST)
def _divide(divisors, result):
    for j in range(result.size):
        result[j] = result[j] / divisors[j] if divisors[j] > 0 else 0.0
