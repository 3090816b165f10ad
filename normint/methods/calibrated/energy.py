"""The energy of the calibrated method, and its descent by reweighted least squares.

Edges are stored in arrays of shape 2×rows×columns: ``[0, i, j]`` leads downwards from pixel (i, j) and
``[1, i, j]`` to the right. Large new arrays cost more than the arithmetic, so what is needed often is written
into given ones, or not stored at all.
"""

import numpy as np
from scipy.ndimage import maximum_filter

from normint.compiling import FAST, njit
from normint.methods.calibrated import edges
from normint.methods.calibrated.noise import noise_levels
from normint.methods.pairs import row_residual
from normint.solver.system import System

WEAKEST = 1e-9  # weight of a cut edge: it bends nothing, but leaves no piece without a place
ANCHOR = 1e6  # times dearer is a cut beside a control point


class CalibratedEnergy:
    """The slopes, what they predict, and the energy of a depth; lengths are in units of the typical noise."""

    def __init__(self, mask, p, q, prior, weight, constants, report=None):
        self.mask, self.p, self.q, self.weight = mask, p, q, weight
        self.constants, self.report = constants, report
        self.noise, typical, deviation = noise_levels(p, q, mask, constants.noise)
        self.unit = typical if typical > 0 else 1.0
        self.levels = np.maximum(self.noise / self.unit, 1e-9)
        self.range = max(deviation / self.unit * np.sqrt(np.count_nonzero(mask)), 10.0)
        self.prior = None if prior is None else np.where(weight > 0, prior, 0.0) / self.unit
        self.solves, self.cold = 0, True
        self.look(contours=True)

    def look(self, contours):
        """Predict the steps, with contours or without, their variances, and what cutting them costs."""
        levels, price = self.levels, self.constants.price
        slopes = self.p / self.unit, self.q / self.unit
        found = edges.predict(*slopes, self.mask, levels, contours, self.constants.prediction)
        self.exists, self.step = found.exists, found.step
        self.variance = np.where(found.exists, found.variance, 0.5)
        self.plain = np.full(found.step.shape, 0.5)
        self.plain[0, :-1] = 0.25 * (levels[1:] ** 2 + levels[:-1] ** 2)
        self.plain[1, :, :-1] = 0.25 * (levels[:, 1:] ** 2 + levels[:, :-1] ** 2)
        kink, contour = found.bend > self.constants.prediction.significant**2, found.kind >= edges.CONTOUR
        self.barrier = found.exists & (kink | (found.kind == edges.CONTOUR))
        self.has_contours = bool(contour.any())
        told = np.log(self.range / np.sqrt(self.variance)) / np.log(self.range / 0.5**0.5)
        self.price = np.clip(told, price.least_price, 1.0) * self._anchored()
        self.cautious = self.price.copy()  # contours are not given up lightly while it is hot
        self.cautious[kink & ~contour] *= price.bend_price
        self.price[kink | contour] *= price.bend_price
        self.spread = price.width**2 * self.price * self.variance

    def _anchored(self):
        """Return factors of the price that tie a control point to its eight neighbours.

        A surface would rather leave a control point alone on an islet than move.
        """
        factors = np.ones(self.step.shape)
        if self.weight is not None and not np.all(self.weight[self.mask] > 0):
            near = maximum_filter(self.weight > 0, 3)
            factors[0, :-1][near[1:] & near[:-1]] = ANCHOR
            factors[1, :, :-1][near[:, 1:] & near[:, :-1]] = ANCHOR
        return factors

    def residual(self, z):
        """Return Δz - t of all edges, zero where there is none."""
        return edge_residuals(z, self.step, self.exists)

    def agreement(self, z):
        """Return Geman and McClure's weights."""
        return (1.0 + self.residual(z) ** 2 / self.spread) ** -2

    def energy(self, z):
        """Return the energy of a depth, prior included."""
        total = total_cost(z, self.step, self.exists, self.spread, self.price)
        if self.weight is not None:
            total += float(np.sum(self.weight * (z - self.prior) ** 2)) / self.unit_cost()
        return total

    def unit_cost(self):
        """An edge of weight 1 costs its squared residual divided by this."""
        return 0.5 * self.constants.price.width**2

    def solve(self, weights, r, z, tolerance):
        """Return the depth that fits the steps by weighted least squares, found as a change of z."""
        self.solves += 1
        held = self.weight
        if held is not None and not self.cold:
            held = np.minimum(held, self.constants.descent.gentle)
        rest = None if self.prior is None else z - self.prior
        system = System(self.mask, weights, held, raise_weak=True)
        depth = system.solve(*r, rest, tolerance=tolerance).depth
        np.subtract(z, depth, out=depth)
        depth[~self.mask] = 0.0
        return depth

    def anneal(self, z, hottest, cooling, price, power, tell=None):
        """Reweight and solve while it cools down: power 1 for Cauchy's weights, 2 for the energy's."""
        descent, tau = self.constants.descent, hottest
        r, weights = np.zeros_like(self.step), np.full_like(self.step, WEAKEST)
        while True:
            tau = tau if tau >= descent.coldest else 0.0
            settings = self.constants.price.width, tau, power, WEAKEST
            reweight(z, self.step, self.exists, self.variance, price, *settings, r, weights)
            z = self.solve(weights, r, z, descent.tolerance)
            if tell is not None:
                tell("cooling", z)
            if tau == 0.0:
                return z
            tau /= cooling

    def polish(self, z):
        """Lower the energy from a depth, and report it."""
        descent = self.constants.descent
        z = self.anneal(z, descent.reheat, descent.last_cooling, self.price, 2)
        if self.report is not None:
            self.report(self.solves, self.energy(z))
        return z

    def last_fit(self, z):
        """Fit the edges that are not cut by least squares; return the depth, and which these edges are."""
        weights = np.maximum(0.5 / self.variance, WEAKEST**0.75)  # no more than the solver can tell apart
        weakest = max(WEAKEST * weights.min(where=self.exists, initial=1.0), 1e-12)
        for _ in range(3):
            r = self.residual(z)
            kept = self.exists & (r**2 <= self.constants.price.last_width**2 * self.variance)
            z = self.solve(np.where(kept, weights, weakest), r, z, 1e-6)
        return z, kept


@njit(**FAST)
def cost(r, spread):
    """Return what an edge of price 1 costs: Geman and McClure's x/(1 + x) with x = r²/spread."""
    x = r * r / spread
    return x / (1.0 + x)


@njit(**FAST)
def edge_residuals(z, step, exists):
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
def total_cost(z, step, exists, spread, price):
    """Return Σ c x/(1 + x) with x = (Δz - t)²/spread."""
    total, r = 0.0, np.zeros(z.shape[1])
    for axis in range(2):
        for i in range(z.shape[0] - 1 + axis):
            _row(z, step, exists, axis, i, r)
            for j in range(z.shape[1] - axis):
                total += price[axis, i, j] * cost(r[j], spread[axis, i, j])
    return total


@njit(**FAST)
def _row(z, step, exists, axis, i, r):
    """Set Δz - t of the edges from one row of pixels."""
    if axis == 0:
        row_residual(z[i + 1], z[i], step[0, i], exists[0, i], r)
    else:
        row_residual(z[i, 1:], z[i, :-1], step[1, i, :-1], exists[1, i, :-1], r[:-1])


@njit(**FAST)
def _weigh(r, variance, price, width, tau, power, weakest, weights):
    heat, square = tau * tau, width * width
    for j in range(r.size):
        v, d = variance[j] + heat, square * price[j]
        agree = d / (d * v + r[j] * r[j])  # 1/(V (1 + x))
        if power == 2:
            agree *= agree * v
        weights[j] = max((0.5 + heat) * agree, weakest)
