"""The energy of the calibrated method, and how a depth of low energy is found."""

from copy import copy

import numpy as np
from scipy.ndimage import maximum_filter

from normint.methods.calibrated import cut_moves, edge_loops, edges, piece_moves
from normint.methods.calibrated.noise import noise_levels, wild_slopes
from normint.methods.calibrated.pieces import FORBIDDEN, doubtful_pixels, pieces
from normint.methods.calibrated.pyramid import Halving
from normint.solver.system import System

WEAKEST = 1e-9  # weight of a cut edge: it bends nothing, but leaves no piece without a place
ANCHOR = 1e6  # times dearer is a cut beside a control point
WILD = 1e-3  # weight, in the mean over a block, of slopes that contradict all around them


class CalibratedEnergy:
    """The slopes, what they predict, and the energy of a depth; lengths are in units of the typical noise."""

    def __init__(self, mask, p, q, prior, weight, constants, report=None):
        self.mask, self.p, self.q, self.weight = mask, p, q, weight
        self.constants, self.report = constants, report
        self.noise, typical, deviation = noise_levels(p, q, mask, constants)
        self.unit = typical if typical > 0 else 1.0
        self.levels = np.maximum(self.noise / self.unit, 1e-9)
        self.range = max(deviation / self.unit * np.sqrt(np.count_nonzero(mask)), 10.0)
        self.prior = None if prior is None else np.where(weight > 0, prior, 0.0) / self.unit
        self.solves, self.cold = 0, True
        self.look(contours=True)

    def look(self, contours):
        """Predict the steps, with contours or without, their variances, and what cutting them costs."""
        constants, levels = self.constants, self.levels
        slopes = self.p / self.unit, self.q / self.unit
        found = edges.predict(*slopes, self.mask, levels, contours, constants)
        self.exists, self.step = found.exists, found.step
        self.variance = np.where(found.exists, found.variance, 0.5)
        self.plain = np.full(found.step.shape, 0.5)
        self.plain[0, :-1] = 0.25 * (levels[1:] ** 2 + levels[:-1] ** 2)
        self.plain[1, :, :-1] = 0.25 * (levels[:, 1:] ** 2 + levels[:, :-1] ** 2)
        kink, contour = found.bend > constants.significant**2, found.kind >= edges.CONTOUR
        self.barrier = found.exists & (kink | (found.kind == edges.CONTOUR))
        self.has_contours = bool(contour.any())
        told = np.log(self.range / np.sqrt(self.variance)) / np.log(self.range / 0.5**0.5)
        self.price = np.clip(told, constants.least_price, 1.0) * self._anchored()
        self.cautious = self.price.copy()  # contours are not given up lightly while it is hot
        self.cautious[kink & ~contour] *= constants.bend_price
        self.price[kink | contour] *= constants.bend_price
        self.spread = constants.width**2 * self.price * self.variance

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
        return edge_loops.residual(z, self.step, self.exists)

    def agreement(self, z):
        """Return Geman and McClure's weights."""
        return (1.0 + self.residual(z) ** 2 / self.spread) ** -2

    def energy(self, z):
        """Return the energy of a depth, prior included."""
        total = edge_loops.energy(z, self.step, self.exists, self.spread, self.price)
        if self.weight is not None:
            total += float(np.sum(self.weight * (z - self.prior) ** 2)) / self._unit_cost()
        return total

    def _unit_cost(self):
        """An edge of weight 1 costs its squared residual divided by this."""
        return 0.5 * self.constants.width**2

    def solve(self, weights, residual, z, tolerance):
        """Return the depth that fits the steps by weighted least squares, found as a change of z."""
        self.solves += 1
        held = self.weight
        if held is not None and not self.cold:
            held = np.minimum(held, self.constants.gentle)
        rest = None if self.prior is None else z - self.prior
        system = System(self.mask, weights, held, raise_weak=True)
        depth = system.solve(*residual, rest, tolerance=tolerance).depth
        np.subtract(z, depth, out=depth)
        depth[~self.mask] = 0.0
        return depth

    def anneal(self, z, hottest, cooling, price, power, tell=None):
        """Reweight and solve while it cools down: power 1 for Cauchy's weights, 2 for the energy's."""
        constants, tau = self.constants, hottest
        r, weights = np.zeros_like(self.step), np.full_like(self.step, WEAKEST)
        while True:
            tau = tau if tau >= constants.coldest else 0.0
            settings = constants.width, tau, power, WEAKEST
            edge_loops.reweight(z, self.step, self.exists, self.variance, price, *settings, r, weights)
            z = self.solve(weights, r, z, constants.tolerance)
            if tell is not None:
                tell("cooling", z)
            if tau == 0.0:
                return z
            tau /= cooling

    def polish(self, z):
        """Lower the energy from a depth, and report it."""
        z = self.anneal(z, self.constants.reheat, self.constants.last_cooling, self.price, 2)
        if self.report is not None:
            self.report(self.solves, self.energy(z))
        return z

    def best(self, tell):
        """Return the depth of lowest energy that was found, and the energies on the way to it."""
        z = self.start(tell)
        energies, failures = [self.energy(z)], []
        for _ in range(self.constants.rounds):
            moved = self.move_cuts(self.move_pieces(z, failures))
            if moved is z:
                break
            moved = self.polish(moved)
            energy = self.energy(moved)
            gain = energies[-1] - energy
            if gain <= 0:
                break
            z = moved
            energies.append(energy)
            if gain <= self.constants.least_share * (energies[0] - energy):
                break
        return z, energies

    def start(self, tell):
        """Return a depth to start from: of each proposal what is best."""
        best = None
        for z in self.proposals(tell):
            z = self.polish(z)
            best = z if best is None else self.fuse(best, z)
        return best

    def proposals(self, tell):
        """Yield depths: what the half leads to, and least squares, with contours and without."""
        pixels = np.count_nonzero(self.mask)
        alone = pixels > self.constants.large
        if pixels > self.constants.whole:
            yield self.from_half(tell if alone else _in_silence)
        if not alone:
            yield self.cool_down(tell)
            if self.has_contours:
                other = copy(self)
                other.look(contours=False)
                z = other.cool_down(_in_silence)
                self.solves = other.solves
                yield z

    def cool_down(self, tell):
        """Return the depth that least squares leads to when it cools down."""
        self.cold = False
        flat = np.zeros(self.mask.shape)
        z = self.solve(np.maximum(0.5 / self.variance, WEAKEST), self.residual(flat), flat, 1e-6)
        tell("least squares", z)
        hottest = np.abs(self.residual(z)).max() / self.constants.width
        z = self.anneal(z, hottest, self.constants.cooling, self.cautious, 1, tell)
        tell("annealed", z)
        self.cold = True
        return z

    def from_half(self, tell):
        """Return the depth that was found with half as many rows and columns, continued to the pixels."""
        wild = wild_slopes(self.p, self.q, self.mask, self.noise, self.constants)
        half = Halving(self.mask, np.where(wild, WILD, 1.0))
        p, q = half.slopes(self.p, self.q)
        prior = weight = None
        if self.weight is not None:
            weight = half.total(self.weight)
            prior = self.unit * half.total(self.weight * self.prior) / np.where(weight > 0, weight, 1.0)
        surface = CalibratedEnergy(half.mask, p, q, prior, weight, self.constants, self.report)
        surface.solves = self.solves

        def back(z):
            return np.where(self.mask, half.back(surface.unit * z, p, q) / self.unit, 0.0)

        z, _ = surface.best(lambda stage, z: tell(stage, back(z)))
        self.solves = surface.solves
        return back(z)

    def move_pieces(self, z, failures):
        """Return the depth with pieces moved, or itself if no move gains anything."""
        r = self.residual(z)
        width = self.constants.width**2
        cut = self.barrier | (r**2 >= width * self.plain)
        doubtful = doubtful_pixels(r / np.sqrt(self.variance), self.exists, cut, self.constants)
        passable = self.exists & (r**2 < width * self.variance)
        doubt = np.where(passable, r**2 + self.variance, FORBIDDEN)
        labels, count = pieces(self.mask, doubtful, self.exists & ~cut, doubt, self.constants)
        held = np.zeros((2, count))
        if self.weight is not None:
            inside, weight = labels[self.mask], self.weight[self.mask] / self._unit_cost()
            held[0] = np.bincount(inside, weight, minlength=count)
            held[1] = np.bincount(inside, weight * (z - self.prior)[self.mask], minlength=count)
        edges = self.spread, self.price, self.exists
        offsets, moved, prospects = piece_moves.moves(labels, count, r, *edges, *held, self.constants)
        if moved:
            z = z + np.where(self.mask, offsets[labels], 0.0)
        for inside, offset in prospects:
            inside = self.mask & inside[labels]
            size = np.count_nonzero(inside)
            if _failed_before(size, offset, failures, self.constants.alike):
                continue
            move, gain = cut_moves.refine(self.residual(z), *edges, inside, offset, self.constants)
            if gain > self.constants.least_gain:
                z = z + move
            else:
                failures.append((size, offset))
        return z

    def move_cuts(self, z):
        """Return the depth with discontinuities moved, or itself if none should."""
        for upwards in (True, False):
            r, edges = self.residual(z), (self.spread, self.price, self.exists)
            move = cut_moves.relocate(r, *edges, upwards, self.constants)
            if move is not None:
                z = z + move
        return z

    def fuse(self, first, second):
        """Return a depth that takes from each of two what costs less: no worse than either."""
        energies = [self.energy(first), self.energy(second)]
        if energies[1] < energies[0]:
            first, second = second, first
        other = np.where(self.mask, second - first, 0.0)
        if self.weight is None:  # so that most of the two surfaces agree
            other[self.mask] -= np.median(other[self.mask])
        edges = self.spread, self.price, self.exists
        move = cut_moves.fuse(self.residual(first), *edges, other, self.constants)
        if move is None or self.energy(first + move) >= min(energies):  # it does not know the prior
            return first
        return first + move

    def last_fit(self, z):
        """Fit the edges that are not cut by least squares; return the depth, and which these edges are."""
        weights = np.maximum(0.5 / self.variance, WEAKEST**0.75)  # no more than the solver can tell apart
        weakest = max(WEAKEST * weights.min(where=self.exists, initial=1.0), 1e-12)
        for _ in range(3):
            r = self.residual(z)
            kept = self.exists & (r**2 <= self.constants.last_width**2 * self.variance)
            z = self.solve(np.where(kept, weights, weakest), r, z, 1e-6)
        return z, kept


def _in_silence(stage, z):
    """Tell nobody."""


def _failed_before(size, offset, failures, alike):
    """Tell whether much the same piece was tried before with much the same offset, in vain."""
    return any(
        abs(size - other) < alike * size and abs(offset - tried) < alike * abs(offset)
        for other, tried in failures
    )
