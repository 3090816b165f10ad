"""The energy of the calibrated method, and how a depth of low energy is found."""

from dataclasses import dataclass, field

import numpy as np
from scipy.ndimage import uniform_filter

from normint import inputs
from normint.integrators import cut_moves, edge_loops, edge_predictions, piece_moves
from normint.integrators.noise_levels import noise_levels
from normint.integrators.pieces import FORBIDDEN, doubtful_pixels, pieces
from normint.poisson import System


@dataclass(frozen=True)
class Constants:
    """The constants of the method: fixed once, for all data.

    Attributes
    ----------
    width : float
        Standard deviations at which an edge is half given up: 3, beyond which noise hardly goes.
    last_width : float
        Standard deviations beyond which an edge is cut in the last fit. Once an edge is left out, noise alone
        makes its residual √2 times as large, hence 6√2: what is cut then comes back if it was noise.
    cooling : float
        The factor from one temperature to the next. Slower cooling finds nothing better.
    last_cooling : float
        The same when a surface is polished after its pieces have moved.
    coldest : float
        The temperature, in σ, below which it is taken for zero.
    reheat : float
        The temperature, in σ, from which a surface is polished.
    kink : float
        Standard deviations from which a change of slope is abrupt.
    kink_price, contour_price : float
        What cutting an edge costs where the slope changes abruptly, and at a contour; 1 elsewhere. Where
        one body hides another, the slopes of both differ: there a discontinuity is more likely.
    floor : float
        The noise is taken to be at least this part of the slopes' mean absolute deviation from their median:
        rounding, and what a surface does between two pixels, are noise too.
    window : int
        Pixels around each, over which the noise is measured: enough of them for a median, few enough to
        follow it.
    least_gain : float
        How many edges' worth of energy a move must gain.
    least_share : float
        The part of what all rounds have gained that a round must gain to be followed by another: by the
        edge alone, large images would go on for little.
    rounds : int
        Of moves and polishing, at most.
    tolerance : float
        Relative residual of the linear systems on the way, each for the change from one depth to the next.
    """

    width: float = 3.0
    last_width: float = 8.5
    cooling: float = 1.5
    last_cooling: float = 2.5
    coldest: float = 0.1
    reheat: float = 3.0
    kink: float = 3.0
    kink_price: float = 0.5
    contour_price: float = 0.4
    floor: float = 0.005
    window: int = 31
    least_gain: float = 2.0
    least_share: float = 0.05
    rounds: int = 10
    tolerance: float = 1e-2

    def __post_init__(self):
        for name, value in vars(self).items():
            inputs.as_positive(name, value)


CONSTANTS = Constants()
WEAKEST = 1e-9  # weight of a cut edge: it bends nothing, but leaves no piece without a place
GENTLE = 0.1  # largest λ while it is hot: strong control points would tear the surface around them
ISLET = 5  # pixels around one that a prior holds within which nothing is cut, unless it holds all
ANCHOR = 1e6  # times dearer is it there
CATCH_UP = 0.5  # of what its last round gained may a way lie behind the best one; else it is given up
LEAST_PRICE = 0.02  # of an edge whose step could be anything


class CalibratedEnergy:
    """The slopes, what they predict, and the energy of a depth; lengths are in units of the typical noise."""

    def __init__(self, mask, p, q, prior, weight, constants):
        self.mask, self.p, self.q, self.weight, self.constants = mask, p, q, weight, constants
        self.noise, typical, deviation = noise_levels(p, q, mask, constants.floor, constants.window)
        self.unit = typical if typical > 0 else 1.0
        self.levels = np.maximum(self.noise / self.unit, 1e-9)
        self.range = max(deviation / self.unit * np.sqrt(np.count_nonzero(mask)), 10.0)
        self.prior = None if prior is None else np.where(weight > 0, prior, 0.0) / self.unit
        self.solves, self.cold = 0, True
        self.look(contours=True)

    def look(self, contours):
        """Predict the steps, with contours or without."""
        constants, levels = self.constants, self.levels
        found = edge_predictions.predict(self.p / self.unit, self.q / self.unit, self.mask, levels, contours)
        self.exists, self.step = found.exists, found.step
        self.variance = np.where(found.exists, found.variance, 0.5)
        self.plain = np.full(found.step.shape, 0.5)
        self.plain[0, :-1] = 0.25 * (levels[1:] ** 2 + levels[:-1] ** 2)
        self.plain[1, :, :-1] = 0.25 * (levels[:, 1:] ** 2 + levels[:, :-1] ** 2)
        kink, contour = found.bend > constants.kink**2, found.kind >= edge_predictions.CONTOUR
        self.barrier = found.exists & (kink | (found.kind == edge_predictions.CONTOUR))
        self.has_contours = bool(contour.any())
        told = np.log(self.range / np.sqrt(self.variance)) / np.log(self.range / 0.5**0.5)
        self.price = np.clip(told, LEAST_PRICE, 1.0) * self._anchored()
        self.price[kink & ~contour] *= constants.kink_price
        self.cautious = self.price.copy()  # contours are not given up lightly while it is hot
        self.price[contour] *= constants.contour_price
        self.spread = constants.width**2 * self.price * self.variance

    def _anchored(self):
        """Return factors of the price that keep control points from being cut off, alone or on an islet."""
        factors = np.ones(self.step.shape)
        if self.weight is not None and not np.all(self.weight[self.mask] > 0):
            near = uniform_filter((self.weight > 0).astype(float), 2 * ISLET + 1, mode="constant") > 1e-9
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
        held = self.weight if self.cold or self.weight is None else np.minimum(self.weight, GENTLE)
        rest = None if self.prior is None else z - self.prior
        depth = System(self.mask, weights, held).solve(*residual, rest, tolerance=tolerance).depth
        np.subtract(z, depth, out=depth)
        depth[~self.mask] = 0.0
        return depth

    def anneal(self, z, hottest, cooling, price, power):
        """Reweight and solve while it cools down: power 1 for Cauchy's weights, 2 for the energy's."""
        constants, tau = self.constants, hottest
        r, weights = np.zeros_like(self.step), np.full_like(self.step, WEAKEST)
        while True:
            tau = tau if tau >= constants.coldest else 0.0
            settings = constants.width, tau, power, WEAKEST
            edge_loops.reweight(z, self.step, self.exists, self.variance, price, *settings, r, weights)
            z = self.solve(weights, r, z, constants.tolerance)
            if tau == 0.0:
                return z
            tau /= cooling

    def polish(self, z):
        """Lower the energy from a depth."""
        return self.anneal(z, self.constants.reheat, self.constants.last_cooling, self.price, 2)

    def best(self, tell, report=None):
        """Return the depth of lowest energy that was found, and the energies on the way to it."""
        ways = [self.way(self.polish(self.start(tell)))]
        if self.has_contours:
            self.look(contours=False)
            other = self.start()
            self.look(contours=True)
            other = self.way(self.polish(other))
            if other.energies[0] < ways[0].energies[0]:
                ways.append(other)
        for _ in range(self.constants.rounds):
            for way in ways:
                if way.goes_on:
                    self.improve(way, report)
            best = min(ways, key=lambda way: way.energies[-1])
            for way in ways:
                way.goes_on &= way.energies[-1] - best.energies[-1] <= CATCH_UP * way.gain
        tell("moved", best.z)
        return best.z, best.energies

    def start(self, tell=lambda stage, z: None):
        """Return the depth that least squares leads to when it cools down."""
        self.cold = False
        flat = np.zeros(self.mask.shape)
        z = self.solve(np.maximum(0.5 / self.variance, WEAKEST), self.residual(flat), flat, 1e-6)
        tell("least squares", z)
        hottest = np.abs(self.residual(z)).max() / self.constants.width
        z = self.anneal(z, hottest, self.constants.cooling, self.cautious, 1)
        tell("annealed", z)
        self.cold = True
        return z

    def way(self, z):
        """Return the beginning of a way to low energies, from a depth."""
        return Way(z, [self.energy(z)])

    def improve(self, way, report=None):
        """Go one round further: move pieces and discontinuities, polish, and keep what lowers the energy."""
        constants = self.constants
        moved = self.move_cuts(self.move_pieces(way.z, way.failures))
        if moved is way.z:
            way.goes_on = False
            return
        moved = self.polish(moved)
        energy = self.energy(moved)
        if report is not None:
            report(self.solves, energy)
        way.gain, so_far = way.energies[-1] - energy, way.energies[0] - energy
        way.goes_on = way.gain >= max(constants.least_gain, constants.least_share * so_far)
        if way.gain > 0:
            way.z = moved
            way.energies.append(energy)

    def move_pieces(self, z, failures):
        """Return the depth with pieces moved, or itself if no move gains anything."""
        r = self.residual(z)
        width = self.constants.width**2
        cut = self.barrier | (r**2 >= width * self.plain)
        doubtful = doubtful_pixels(r / np.sqrt(self.variance), self.exists, cut)
        passable = self.exists & (r**2 < width * self.variance)
        labels, count = pieces(
            self.mask, doubtful, self.exists & ~cut, np.where(passable, r**2 + self.variance, FORBIDDEN)
        )
        held = np.zeros((2, count))
        if self.weight is not None:
            inside, weight = labels[self.mask], self.weight[self.mask] / self._unit_cost()
            held[0] = np.bincount(inside, weight, minlength=count)
            held[1] = np.bincount(inside, weight * (z - self.prior)[self.mask], minlength=count)
        edges = self.spread, self.price, self.exists
        least, share = self.constants.least_gain, self.constants.least_share
        offsets, moved, prospects = piece_moves.moves(labels, count, r, *edges, *held, least, share)
        if moved:
            z = z + np.where(self.mask, offsets[labels], 0.0)
        for inside, offset in prospects:
            inside = self.mask & inside[labels]
            size = np.count_nonzero(inside)
            if _failed_before(size, offset, failures):
                continue
            move, gain = cut_moves.refine(self.residual(z), *edges, inside, offset)
            if gain > least:
                z = z + move
            else:
                failures.append((size, offset))
        return z

    def move_cuts(self, z):
        """Return the depth with discontinuities moved, or itself if none should."""
        for upwards in (True, False):
            move = cut_moves.relocate(self.residual(z), self.spread, self.price, self.exists, upwards)
            if move is not None:
                z = z + move
        return z

    def last_fit(self, z):
        """Fit the edges that are not cut by least squares; return the depth, and which these edges are."""
        weights = np.maximum(0.5 / self.variance, WEAKEST**0.75)  # no more than the solver can tell apart
        weakest = max(WEAKEST * weights.min(where=self.exists, initial=1.0), 1e-12)
        for _ in range(3):
            r = self.residual(z)
            kept = self.exists & (r**2 <= self.constants.last_width**2 * self.variance)
            z = self.solve(np.where(kept, weights, weakest), r, z, 1e-6)
        return z, kept


@dataclass
class Way:
    """From a start to low energies: where it is, the energies so far, and what was tried in vain."""

    z: np.ndarray
    energies: list
    failures: list = field(default_factory=list)
    gain: float = 0.0  # of the last round
    goes_on: bool = True


def _failed_before(size, offset, failures):
    """Tell whether much the same piece was tried before with much the same offset, in vain."""
    return any(
        abs(size - other) < 0.1 * size and abs(offset - tried) < 0.1 * abs(offset)
        for other, tried in failures
    )
