"""The energy of the calibrated method, and its descent by reweighted least squares.

Large new arrays cost more than the arithmetic, so what is needed often is written into given ones, or not
stored at all.
"""

import numpy as np
from scipy.ndimage import maximum_filter, uniform_filter

from normint.compiling import FAST, njit
from normint.methods.calibrated import edges
from normint.methods.calibrated.noise import measure
from normint.methods.pairs import row_residual
from normint.solver.system import System

WEAKEST = 1e-9  # weight of a cut edge: it bends nothing, but leaves no piece without a place
ANCHOR = 1e6  # times dearer is a cut beside a control point
GENTLE = 0.1  # the largest λ while it is hot: strong control points would tear the surface around them
COLDEST = 0.1  # the temperature, in σ, below which it is taken for zero: it hardly changes variances then
# The temperature, in σ, from which a surface is polished, and the factor to the next: as high as what noise
# hardly exceeds, so that edges beside one that has moved are looked at again, and no others.
REHEAT, LAST_COOLING = 3.0, 2.5
# Relative residual of the linear systems on the way: another one follows. (Coarse levels kept from the one
# before do not pay: weights change too much, and what they lose of the way ends in other minima.)
TOLERANCE = 1e-2
LAST_TOLERANCE = 1e-5
# The last fit begins near its end: what is left is small, and so is an error of this part of it.
FIT_TOLERANCES = 1e-3, 1e-4
LOOSE = 1e-6  # weight of a cut edge there, beside the weakest that holds, if there is no weak prior to drown


class CalibratedEnergy:
    """The slopes, what they predict, and the energy Σ C x/(1 + x) of a depth, with x = r²/(2 C S²)."""

    def __init__(self, mask, p, q, prior, weight, away, constants, report=None):
        self.mask, self.p, self.q, self.weight, self.away = mask, p, q, weight, away
        self.constants, self.report = constants, report
        self.noise = measure(p, q, mask, constants)
        found = edges.look(p, q, mask, self.noise, away, constants)
        self.exists, self.step, self.variance = found.exists, found.step, found.variance
        self.bend, self.likely = found.bend, found.likely
        self.price = found.price
        self._anchor()
        self.spread = 2.0 * self.variance
        self.plain = self.noise.typical**2  # the variance of an edge of weight 1
        self.prior = None if prior is None else np.where(weight > 0, prior, 0.0)
        self.solves, self.cold = 0, True

    def _anchor(self):
        """Tie a control point to its eight neighbours.

        A surface would rather leave a control point alone on an islet than move. Pixels of a depth map, most
        of whose neighbours are held too, are no such points, wherever the map has its holes.
        """
        if self.weight is None:
            return
        held = self.weight > 0
        alone = held & (uniform_filter(held.astype(np.float64), 3, mode="constant") < 0.5)
        if not np.all(held[self.mask]) and alone.any():
            near = maximum_filter(alone, 3)
            self.price[0, :-1][near[1:] & near[:-1]] *= ANCHOR
            self.price[1, :, :-1][near[:, 1:] & near[:, :-1]] *= ANCHOR

    @property
    def large(self):
        """Whether the image is so large that only its half is searched."""
        return np.count_nonzero(self.mask) > self.constants.large

    def noise_alone(self):
        """Return the variances of all edges without what bends add."""
        return np.maximum(self.variance - (2.0 * self.noise.bend * self.bend) ** 2, self.plain)

    def residual(self, z):
        """Return Δz - t of all edges, zero where there is none."""
        return edge_residuals(z, self.step, self.exists)

    def prices(self, r):
        """Return C of all edges with these residuals."""
        return np.where(r > 0, self.price[..., 1], self.price[..., 0])

    def beyond(self, r):
        """Return by how many pixels each step lies outside what the slopes at both ends explain."""
        return np.abs(r) - self.bend

    def given_up(self, r):
        """Tell which edges are more likely to jump than to hold."""
        return beyond_price(r, self.exists, self.spread, self.price)

    def cuts(self, r):
        """Tell which edges are jumps: given up, and high enough to be one."""
        return self.given_up(r) & (self.beyond(r) > self.constants.jump)

    def energy(self, z):
        """Return the energy of a depth, prior included."""
        total = total_cost(z, self.step, self.exists, self.spread, self.price)
        if self.weight is not None:
            total += float(np.sum(self.weight * (z - self.prior) ** 2)) / (2.0 * self.plain)
        return total

    def system(self, weights):
        """Return the linear system of weighted least squares."""
        held = self.weight
        if held is not None and not self.cold:
            held = np.minimum(held, GENTLE)
        return System(self.mask, weights, held, raise_weak=True)

    def solve(self, system, r, z, tolerance):
        """Return the depth that fits the steps by weighted least squares, found as a change of z."""
        self.solves += 1
        rest = None if self.prior is None else z - self.prior
        depth = system.solve(*r, rest, tolerance=tolerance).depth
        np.subtract(z, depth, out=depth)
        depth[~self.mask] = 0.0
        return depth

    def least_squares(self):
        """Return the depth that fits all steps alike, as if it were infinitely hot."""
        flat = np.zeros(self.mask.shape)
        return self.solve(self.system(None), self.residual(flat), flat, LAST_TOLERANCE)

    def anneal(self, z, hottest, cooling, power, tell=None):
        """Reweight and solve while it cools down: power 1 for Cauchy's weights, 2 for the energy's."""
        tau, coldest = hottest, COLDEST * self.noise.typical
        r, weights = np.zeros_like(self.step), np.full_like(self.step, WEAKEST)
        while True:
            tau = tau if tau >= coldest else 0.0
            settings = self.plain, tau, power, WEAKEST
            reweight(z, self.step, self.exists, self.variance, self.price, *settings, r, weights)
            z = self.solve(self.system(weights), r, z, TOLERANCE)
            if tell is not None:
                tell("cooling", z)
            if tau == 0.0:
                return z
            tau /= cooling

    def polish(self, z, cooling=LAST_COOLING):
        """Lower the energy from a depth, and report it."""
        z = self.anneal(z, REHEAT * self.noise.typical, cooling, 2)
        if self.report is not None:
            self.report(self.solves, self.energy(z))
        return z

    def last_fit(self, z):
        """Fit the edges that hold by least squares; return the depth, and which edges are cut."""
        weights = np.maximum(self.plain / self.variance, WEAKEST**0.75)  # what the solver can tell apart
        loose = LOOSE if self.weight is None else WEAKEST
        weakest = max(loose * weights.min(where=self.exists, initial=1.0), 1e-12)
        cut, system = None, None
        for tolerance in FIT_TOLERANCES:
            r = self.residual(z)
            before, cut = cut, self.given_up(r)
            if before is None or (cut != before).any():
                system = self.system(np.where(cut, weakest, weights))
            z = self.solve(system, r, z, tolerance)
        return z, self.cuts(self.residual(z))


@njit(**FAST)
def cost(r, spread, price):
    """Return what an edge costs: Geman and McClure's C x/(1 + x) with x = r²/(C spread)."""
    c = price[1] if r > 0.0 else price[0]
    return c * r * r / (c * spread + r * r)


@njit(**FAST)
def edge_residuals(z, step, exists):
    """Return Δz - t of all edges, zero where there is none."""
    result = np.zeros(step.shape)
    for axis in range(2):
        for i in range(z.shape[0] - 1 + axis):
            _row(z, step, exists, axis, i, result[axis, i])
    return result


@njit(**FAST)
def beyond_price(r, exists, spread, price):
    """Tell which edges are beyond x = 1."""
    result = np.empty(r.shape, np.bool_)
    for axis in range(2):
        for i in range(r.shape[1]):
            for j in range(r.shape[2]):
                e, c = r[axis, i, j], price[axis, i, j, 1] if r[axis, i, j] > 0.0 else price[axis, i, j, 0]
                result[axis, i, j] = exists[axis, i, j] and e * e > spread[axis, i, j] * c
    return result


@njit(**FAST)
def reweight(z, step, exists, variance, price, plain, tau, power, weakest, r, weights):
    """Set r to Δz - t, and the weights of reweighted least squares at temperature τ.

    An edge that agrees has the weight (plain + τ²)/(S² + τ²). It is divided by 1 + x, with x = r²/(2 C (S² +
    τ²)): once for Cauchy's function (power 1), twice for Geman and McClure's. None is less than the weakest.
    """
    for axis in range(2):
        for i in range(z.shape[0] - 1 + axis):
            row = r[axis, i]
            _row(z, step, exists, axis, i, row)
            _weigh(row, variance[axis, i], price[axis, i], plain, tau, power, weakest, weights[axis, i])


@njit(**FAST)
def total_cost(z, step, exists, spread, price):
    """Return the sum of what all edges cost."""
    total, r = 0.0, np.zeros(z.shape[1])
    for axis in range(2):
        for i in range(z.shape[0] - 1 + axis):
            _row(z, step, exists, axis, i, r)
            for j in range(z.shape[1] - axis):
                total += cost(r[j], spread[axis, i, j], price[axis, i, j])
    return total


@njit(**FAST)
def _row(z, step, exists, axis, i, r):
    """Set Δz - t of the edges from one row of pixels."""
    if axis == 0:
        row_residual(z[i + 1], z[i], step[0, i], exists[0, i], r)
    else:
        row_residual(z[i, 1:], z[i, :-1], step[1, i, :-1], exists[1, i, :-1], r[:-1])


@njit(**FAST)
def _weigh(r, variance, price, plain, tau, power, weakest, weights):
    heat = tau * tau
    for j in range(r.size):
        v, d = variance[j] + heat, 2.0 * (price[j, 1] if r[j] > 0.0 else price[j, 0])
        agree = d / (d * v + r[j] * r[j])  # 1/(V (1 + x))
        if power == 2:
            agree *= agree * v
        weights[j] = max((plain + heat) * agree, weakest)
