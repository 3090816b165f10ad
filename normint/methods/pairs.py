"""What a pixel observes: its pairs of a difference along u and one along v, and the energies built on them.

At a pixel, ∂_u z is read forwards or backwards and so is ∂_v z. That makes up to four discretisations ∇^{UV}
of the gradient, each with the weight ¼ where both its differences exist (the sets Ω^{UV} of the paper).
A pixel without any neighbour along v has no such pair: there the differences along u are observed alone,
as if with neighbours along v whose differences are exactly q, so that every edge of Ω counts in every method.

An energy is Σ ¼ Φ(∇^{UV}z - g). Its quadratic model at z is Σ ¼ (a (∂_u z - p)² + b (∂_v z - q)²) with
weights that depend on z. The weights that the two ends give to an edge add up and their slopes average,
which is the system of :mod:`normint.solver.system`.

The compiled functions go through the image row by row, with buffers that stay in the cache and inner loops
without branches: that is five times as fast as going pixel by pixel. Each loop over a row touches few arrays,
because the compiler vectorises only those.
"""

import numpy as np

from normint.compiling import FAST, njit

DOWN, UP, RIGHT, LEFT = range(4)  # the four differences of a pixel
# The energies, by the number that the compiled code knows them by.
TOTAL_VARIATION, PHI_1, PHI_2, DIFFUSION = range(4)
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
        total += _row(i, z, p, q, exists, observed, kind, parameter, parameter, nu, *buffers)
    return total


@njit(**FAST)
def gradient(z, p, q, exists, observed, kind, parameter, result):
    """Set ``result`` to the gradient of the energy by z, and return the energy."""
    rows, cols = z.shape
    buffers = _buffers(cols)
    r, pairs, flows = buffers[0], buffers[1], np.empty((4, cols))
    result[:] = 0.0
    total = 0.0
    for i in range(rows):
        total += _row(i, z, p, q, exists, observed, kind, parameter, parameter, 1.0, *buffers)
        _sum_pairs(pairs, flows)
        for k in range(4):  # what does not exist has no residual, so it exerts no force
            _multiply(r[k], 0.5, flows[k])
        _add_forces(flows, result[i])
        if i + 1 < rows:
            _add(flows[DOWN], 1.0, result[i + 1])
        if i > 0:
            _add(flows[UP], -1.0, result[i - 1])
        _add(flows[RIGHT, : cols - 1], 1.0, result[i, 1:])
        _add(flows[LEFT, 1:], -1.0, result[i, : cols - 1])
    return total


@njit(**FAST)
def model(z, p, q, exists, observed, kind, parameter, own, nu, down, right, flux_down, flux_right):
    """Set the weights and fluxes of the quadratic model at z, edge by edge, and return an energy there.

    That is the energy with its own parameter, which may be another one than the model's (but for diffusion).
    """
    rows, cols = z.shape
    buffers = _buffers(cols)
    slopes, pairs, weights, above = buffers[0], buffers[1], buffers[2], np.empty((2, cols))
    total = 0.0
    for i in range(rows):
        total += _row(i, z, p, q, exists, observed, kind, parameter, own, nu, *buffers)
        if kind != DIFFUSION:
            _sum_pairs(pairs, weights)
        for k in range(4):  # what stands in for a missing neighbour weighs nothing
            _keep(exists[k, i], 0.25, weights[k])
        slopes[DOWN], slopes[UP], slopes[RIGHT], slopes[LEFT] = p[i], p[i], q[i], q[i]
        collect(i, weights, slopes, above, down, right, flux_down, flux_right)
    return total


@njit(**FAST)
def _buffers(cols):
    """Return memory for one row: residuals, pairs, weights, one value for each pixel, and a longer row."""
    return np.zeros((4, cols)), np.zeros((4, cols)), np.zeros((4, cols)), np.zeros(cols), np.zeros(cols + 2)


@njit(**FAST)
def _row(i, z, p, q, exists, observed, kind, parameter, own, nu, r, pairs, weights, t, padded):
    """Return the energy of one row; set its residuals r and Φ' / 2s of its pairs (its weights for diffusion).

    This is the energy of every method that sums over pairs, and the only place where it is computed.
    """
    constant = max(parameter * parameter, 1e-300)  # δ of total variation may be zero, its inverse not
    if kind != DIFFUSION:
        residuals(i, z, p[i], q[i], exists, padded, r)
        _inverses(i, r, constant, observed, pairs)
        return 0.25 * _pairs(kind, constant, max(own * own, 1e-300), r, pairs, t)
    t[:] = 0.0
    residuals(i, z, t, t, exists, padded, r)  # from slopes of zero: the differences themselves
    _inverses(i, r, constant, observed, pairs)
    _sum_pairs(pairs, weights)
    for k in range(4):
        _flatten(p[i] if k < RIGHT else q[i], nu, constant, weights[k])
    residuals(i, z, p[i], q[i], exists, padded, r)
    total = 0.0
    for k in range(4):
        total += _weighted_square(weights[k], r[k])
    return 0.25 * total


@njit(**FAST)
def residuals(i, z, p, q, exists, padded, result):
    """Set the residuals downwards, up, right and left of row i, whose slopes are p and q, or zero."""
    rows, cols = z.shape
    padded[1 : cols + 1] = z[i]
    here, after, before = padded[1 : cols + 1], padded[2 : cols + 2], padded[:cols]
    row_residual(z[min(i + 1, rows - 1)], here, p, exists[DOWN, i], result[DOWN])
    row_residual(here, z[max(i - 1, 0)], p, exists[UP, i], result[UP])
    row_residual(after, here, q, exists[RIGHT, i], result[RIGHT])
    row_residual(here, before, q, exists[LEFT, i], result[LEFT])


@njit(**FAST)
def _pairs(kind, constant, own, r, pairs, t):
    """Turn 1 / (s² + constant) of the pairs of one row into Φ' / 2s, and return Σ Φ for its own constant.

    All Φ here are concave in s²: they lie below their tangents, so the quadratic model is an upper bound.
    """
    if kind == PHI_1:  # log(s² + β²)
        _products(own, r, pairs, t)
        return _sum_of_logarithms(t)
    total = 0.0
    for k in range(4):
        one, other = r[DOWN + k // 2], r[RIGHT + k % 2]
        if kind == PHI_2:
            total += _bounded(constant, own, one, other, pairs[k])
        else:
            total += _lengths(own, one, other, pairs[k])
    return total


@njit(**FAST)
def _sum_of_logarithms(factors):
    """Add up logarithms, most of them as that of a product, four factors at a time."""
    total, product = 0.0, 1.0
    end = factors.size // 4 * 4
    for j in range(0, end, 4):
        four = (factors[j] * factors[j + 1]) * (factors[j + 2] * factors[j + 3])
        if SMALL < four < LARGE:
            product *= four
            if not SMALL < product < LARGE:
                total += np.log(product)
                product = 1.0
        else:
            for factor in factors[j : j + 4]:
                total += np.log(factor)
    for factor in factors[end:]:
        total += np.log(factor)
    return total + np.log(product)


@njit(**FAST)
def collect(i, weights, slopes, above, down, right, flux_down, flux_right):
    """Set the edges from row i to the right, and those from row i - 1 downwards.

    The weights that their two ends give them add up, their slopes average. What row i says about its edges
    downwards waits for the next row in ``above``, memory for two rows; the rows must come in their order.
    """
    last = weights.shape[1] - 1
    _sum(weights[RIGHT, :last], weights[LEFT, 1:], right[i, :last])
    ends = weights[RIGHT, :last], slopes[RIGHT, :last], weights[LEFT, 1:], slopes[LEFT, 1:]
    _average(*ends, right[i, :last], flux_right[i, :last])
    right[i, last], flux_right[i, last] = 0.0, 0.0
    if i > 0:
        _sum(above[0], weights[UP], down[i - 1])
        _average(above[0], above[1], weights[UP], slopes[UP], down[i - 1], flux_down[i - 1])
    above[0], above[1] = weights[DOWN], slopes[DOWN]
    if i == len(down) - 1:
        down[i], flux_down[i] = 0.0, 0.0


@njit(**FAST)
def row_residual(one, other, slope, exists, result):
    """Set ``one - other - slope``, or zero where there is no difference."""
    for j in range(result.size):
        result[j] = one[j] - other[j] - slope[j] if exists[j] else 0.0


@njit(**FAST)
def _inverses(i, r, constant, observed, result):
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
def _sum_pairs(pairs, result):
    """Add up, for each of the four differences, the values of the two pairs that it is in."""
    for j in range(result.shape[1]):
        result[DOWN, j], result[UP, j] = pairs[0, j] + pairs[1, j], pairs[2, j] + pairs[3, j]
        result[RIGHT, j], result[LEFT, j] = pairs[0, j] + pairs[2, j], pairs[1, j] + pairs[3, j]


@njit(**FAST)
def _products(own, r, pairs, result):
    """Set the products of s² + own of the pairs that exist."""
    for j in range(result.size):
        down, up = r[DOWN, j] * r[DOWN, j] + own, r[UP, j] * r[UP, j] + own
        right, left = r[RIGHT, j] * r[RIGHT, j], r[LEFT, j] * r[LEFT, j]
        first = (down + right if pairs[0, j] > 0 else 1.0) * (down + left if pairs[1, j] > 0 else 1.0)
        second = (up + right if pairs[2, j] > 0 else 1.0) * (up + left if pairs[3, j] > 0 else 1.0)
        result[j] = first * second


@njit(**FAST)
def _bounded(constant, own, one, other, t):
    """Return Σ Φ2 of pairs of residuals, and set its derivative from 1 / (s² + γ²)."""
    total, more = 0.0, own - constant
    for j in range(t.size):
        inverse = t[j]
        square = (one[j] * one[j] + other[j] * other[j]) * inverse  # 1 - γ² t would lose the small ones
        total += square if more == 0 else square / (1.0 + more * inverse)
        t[j] = constant * inverse * inverse
    return total


@njit(**FAST)
def _lengths(own, one, other, t):
    """Return Σ √(s² + δ²) of pairs of residuals, and set its derivative from 1 / (s² + δ²)."""
    total = 0.0
    for j in range(t.size):
        length = np.sqrt(one[j] * one[j] + other[j] * other[j] + own)
        total += length if t[j] > 0 else 0.0
        t[j] = 0.5 * np.sqrt(t[j])
    return total


@njit(**FAST)
def _weighted_square(weight, r):
    """Return Σ weight r²."""
    total = 0.0
    for j in range(r.size):
        total += weight[j] * r[j] * r[j]
    return total


@njit(**FAST)
def _add_forces(flows, result):
    """Add what a pixel's own four differences contribute to the gradient there."""
    for j in range(result.size):
        result[j] += flows[UP, j] + flows[LEFT, j] - flows[DOWN, j] - flows[RIGHT, j]


@njit(**FAST)
def _flatten(slope, nu, factor, result):
    """Multiply by ``factor / (1 + slope²/ν²)``."""
    for j in range(result.size):
        flat = factor / (1.0 + (slope[j] / nu) ** 2)
        result[j] = result[j] * flat if result[j] > 0 else 0.0  # slopes may be NaN


@njit(**FAST)
def _keep(exists, factor, result):
    """Multiply by a number, or set to zero what does not exist."""
    for j in range(result.size):
        result[j] = factor * result[j] if exists[j] else 0.0


@njit(**FAST)
def _add(terms, factor, result):
    """Add a multiple."""
    for j in range(result.size):
        result[j] += factor * terms[j]


@njit(**FAST)
def _multiply(factors, factor, result):
    """Multiply by the factors and by one number for all."""
    for j in range(result.size):
        result[j] *= factor * factors[j]


@njit(**FAST)
def _sum(one, other, result):
    for j in range(result.size):
        result[j] = one[j] + other[j]


@njit(**FAST)
def _average(weight, slope, other_weight, other_slope, both, result):
    """Set the mean of two slopes, or zero where neither has a weight."""
    for j in range(result.size):
        total = weight[j] * slope[j] + other_weight[j] * other_slope[j]
        result[j] = total / both[j] if both[j] > 0 else 0.0
