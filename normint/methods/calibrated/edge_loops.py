"""Passes over the edges of an image for the calibrated method: residuals, weights and the energy.

Edges are stored in arrays of shape 2×rows×columns: ``[0, i, j]`` leads downwards from pixel (i, j) and
``[1, i, j]`` to the right. Large new arrays cost more than the arithmetic, so what is needed often is written
into given ones, or not stored at all.
"""

import numpy as np

from normint.compiling import FAST, njit
from normint.methods import row_loops


@njit(**FAST)
def residual(z, step, exists):
    """Return Δz - t of all edges, zero where there is none."""
    result = np.zeros(step.shape)
    for axis in range(2):
        for i in range(z.shape[0] - 1 + axis):
            _row(z, step, exists, axis, i, result[axis, i])
    return result


@njit(**FAST)
def reweight(z, step, exists, variance, price, width, tau, power, weakest, r, weights):
    """Set r to Δz - t, and the weights of reweighted least squares at temperature τ.

    An edge that agrees has the weight (½ + τ²)/(V + τ²). It is divided by 1 + x, with x = r²/(w² c (V + τ²)):
    once for Cauchy's function (power 1), twice for Geman and McClure's. None is less than the weakest.
    """
    for axis in range(2):
        for i in range(z.shape[0] - 1 + axis):
            row = r[axis, i]
            _row(z, step, exists, axis, i, row)
            _weigh(row, variance[axis, i], price[axis, i], width, tau, power, weakest, weights[axis, i])


@njit(**FAST)
def energy(z, step, exists, spread, price):
    """Return Σ c x/(1 + x) with x = (Δz - t)²/spread."""
    total, r = 0.0, np.zeros(z.shape[1])
    for axis in range(2):
        for i in range(z.shape[0] - 1 + axis):
            _row(z, step, exists, axis, i, r)
            for j in range(z.shape[1] - axis):
                square = r[j] * r[j]
                total += price[axis, i, j] * square / (spread[axis, i, j] + square)
    return total


@njit(**FAST)
def _row(z, step, exists, axis, i, r):
    """Set Δz - t of the edges from one row of pixels."""
    if axis == 0:
        row_loops.residual(z[i + 1], z[i], step[0, i], exists[0, i], r)
    else:
        row_loops.residual(z[i, 1:], z[i, :-1], step[1, i, :-1], exists[1, i, :-1], r[:-1])


@njit(**FAST)
def _weigh(r, variance, price, width, tau, power, weakest, weights):
    heat, square = tau * tau, width * width
    for j in range(r.size):
        v, d = variance[j] + heat, square * price[j]
        agree = d / (d * v + r[j] * r[j])  # 1/(V (1 + x))
        if power == 2:
            agree *= agree * v
        weights[j] = max((0.5 + heat) * agree, weakest)
