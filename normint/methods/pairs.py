"""What a pixel observes: its pairs of a difference along u and one along v, and the energies built on them.

At a pixel, ∂_u z is read forwards or backwards and so is ∂_v z. That makes up to four discretisations ∇^{UV}
of the gradient, each with the weight ¼ where both its differences exist (the sets Ω^{UV} of the paper).
A pixel without any neighbour along v has no such pair: there the differences along u are observed alone,
as if with neighbours along v whose differences are exactly q, so that every edge of Ω counts in every method.

An energy is Σ ¼ Φ(∇^{UV}z - g). Its quadratic model at z is Σ ¼ (a (∂_u z - p)² + b (∂_v z - q)²) with
weights that depend on z. The weights that the two ends give to an edge add up and their slopes average,
which is the system of :mod:`normint.solver.system`.

The compiled functions go through the image row by row, with buffers that stay in the cache and inner loops
without branches: that is five times as fast as going pixel by pixel.
"""

import numpy as np

from normint.compiling import FAST, njit
from normint.methods import row_loops
from normint.methods.row_loops import DOWN, LEFT, RIGHT, UP

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
        total += _row(i, z, p, q, exists, observed, kind, parameter, nu, *buffers)
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
        total += _row(i, z, p, q, exists, observed, kind, parameter, 1.0, *buffers)
        row_loops.weights(pairs, flows)
        for k in range(4):  # what does not exist has no residual, so it exerts no force
            row_loops.multiply(r[k], 0.5, flows[k])
        row_loops.add_forces(flows, result[i])
        if i + 1 < rows:
            row_loops.add(flows[DOWN], 1.0, result[i + 1])
        if i > 0:
            row_loops.add(flows[UP], -1.0, result[i - 1])
        row_loops.add(flows[RIGHT, : cols - 1], 1.0, result[i, 1:])
        row_loops.add(flows[LEFT, 1:], -1.0, result[i, : cols - 1])
    return total


@njit(**FAST)
def model(z, p, q, exists, observed, kind, parameter, nu, down, right, flux_down, flux_right):
    """Set the weights and fluxes of the quadratic model at z, edge by edge, and return the energy there."""
    rows, cols = z.shape
    buffers = _buffers(cols)
    slopes, pairs, weights = buffers[0], buffers[1], buffers[2]
    down[:], right[:], flux_down[:], flux_right[:] = 0.0, 0.0, 0.0, 0.0
    total = 0.0
    for i in range(rows):
        total += _row(i, z, p, q, exists, observed, kind, parameter, nu, *buffers)
        if kind != DIFFUSION:
            row_loops.weights(pairs, weights)
        for k in range(4):  # what stands in for a missing neighbour weighs nothing
            row_loops.keep(exists[k, i], 0.25, weights[k])
        slopes[DOWN], slopes[UP], slopes[RIGHT], slopes[LEFT] = p[i], p[i], q[i], q[i]
        collect(i, weights, slopes, down, right, flux_down, flux_right)
    normalise(down, flux_down)
    normalise(right, flux_right)
    return total


@njit(**FAST)
def _buffers(cols):
    """Return memory for one row: residuals, pairs, weights, one value for each pixel, and a longer row."""
    return np.zeros((4, cols)), np.zeros((4, cols)), np.zeros((4, cols)), np.zeros(cols), np.zeros(cols + 2)


@njit(**FAST)
def _row(i, z, p, q, exists, observed, kind, parameter, nu, r, pairs, weights, t, padded):
    """Return the energy of one row; set its residuals r and Φ' / 2s of its pairs (its weights for diffusion).

    This is the energy of every method that sums over pairs, and the only place where it is computed.
    """
    constant = max(parameter * parameter, 1e-300)  # δ of total variation may be zero, its inverse not
    if kind != DIFFUSION:
        residuals(i, z, p[i], q[i], exists, padded, r)
        row_loops.inverses(i, r, constant, observed, pairs)
        return 0.25 * _pairs(kind, constant, r, pairs, t)
    t[:] = 0.0
    residuals(i, z, t, t, exists, padded, r)  # from slopes of zero: the differences themselves
    row_loops.inverses(i, r, constant, observed, pairs)
    row_loops.weights(pairs, weights)
    for k in range(4):
        row_loops.flatten(p[i] if k < RIGHT else q[i], nu, constant, weights[k])
    residuals(i, z, p[i], q[i], exists, padded, r)
    total = 0.0
    for k in range(4):
        total += row_loops.weighted_square(weights[k], r[k])
    return 0.25 * total


@njit(**FAST)
def residuals(i, z, p, q, exists, padded, result):
    """Set the residuals downwards, up, right and left of row i, whose slopes are p and q, or zero."""
    rows, cols = z.shape
    padded[1 : cols + 1] = z[i]
    here, after, before = padded[1 : cols + 1], padded[2 : cols + 2], padded[:cols]
    row_loops.residual(z[min(i + 1, rows - 1)], here, p, exists[DOWN, i], result[DOWN])
    row_loops.residual(here, z[max(i - 1, 0)], p, exists[UP, i], result[UP])
    row_loops.residual(after, here, q, exists[RIGHT, i], result[RIGHT])
    row_loops.residual(here, before, q, exists[LEFT, i], result[LEFT])


@njit(**FAST)
def _pairs(kind, constant, r, pairs, t):
    """Turn 1 / (s² + constant) of the pairs of one row into Φ' / 2s, and return Σ Φ.

    All Φ here are concave in s²: they lie below their tangents, so the quadratic model is an upper bound.
    """
    if kind == PHI_1:  # log(s² + β²) = -log t
        row_loops.products(pairs, t)
        return -_sum_of_logarithms(t)
    total = 0.0
    for k in range(4):
        if kind == PHI_2:
            total += row_loops.bounded(constant, r[DOWN + k // 2], r[RIGHT + k % 2], pairs[k])
        else:
            total += row_loops.lengths(pairs[k])
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
def collect(i, weights, slopes, down, right, flux_down, flux_right):
    """Add what the pixels of row i say about their edges: weights, and slopes times weights."""
    last = down.shape[1] - 1
    for k in range(4):
        row_loops.multiply(weights[k], 1.0, slopes[k])
    row_loops.add(weights[DOWN], 1.0, down[i])
    row_loops.add(slopes[DOWN], 1.0, flux_down[i])
    row_loops.add(weights[RIGHT], 1.0, right[i])
    row_loops.add(slopes[RIGHT], 1.0, flux_right[i])
    if i > 0:
        row_loops.add(weights[UP], 1.0, down[i - 1])
        row_loops.add(slopes[UP], 1.0, flux_down[i - 1])
    row_loops.add(weights[LEFT, 1:], 1.0, right[i, :last])
    row_loops.add(slopes[LEFT, 1:], 1.0, flux_right[i, :last])


@njit(**FAST)
def normalise(weight, flux):
    """Divide the sums of weighted slopes by the sums of weights."""
    for i in range(weight.shape[0]):
        row_loops.divide(weight[i], flux[i])
