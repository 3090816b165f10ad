"""How a depth of low energy is found: several starts, and moves of pieces and of discontinuities."""

from copy import copy

import numpy as np

from normint.methods.calibrated import cut_moves, piece_moves
from normint.methods.calibrated.energy import WEAKEST, CalibratedEnergy
from normint.methods.calibrated.noise import wild_slopes
from normint.methods.calibrated.pieces import FORBIDDEN, doubtful_pixels, pieces
from normint.methods.calibrated.pyramid import Halving

WILD = 1e-3  # weight, in the mean over a block, of slopes that contradict all around them


def best(surface, tell):
    """Return the depth of lowest energy that was found, and the energies on the way to it."""
    z = _start(surface, tell)
    energies, failures, constants = [surface.energy(z)], [], surface.constants.rounds
    for _ in range(constants.rounds):
        moved = _move_cuts(surface, _move_pieces(surface, z, failures))
        if moved is z:
            break
        moved = surface.polish(moved)
        energy = surface.energy(moved)
        gain = energies[-1] - energy
        if gain <= 0:
            break
        z = moved
        energies.append(energy)
        if gain <= constants.least_share * (energies[0] - energy):
            break
    return z, energies


def _start(surface, tell):
    """Return a depth to start from: of each proposal what is best."""
    start = None
    for z in _proposals(surface, tell):
        z = surface.polish(z)
        start = z if start is None else _fuse(surface, start, z)
    return start


def _proposals(surface, tell):
    """Yield depths: what the half leads to, and least squares, with contours and without."""
    pixels = np.count_nonzero(surface.mask)
    alone = pixels > surface.constants.descent.large
    if pixels > surface.constants.descent.whole:
        yield _from_half(surface, tell if alone else _in_silence)
    if not alone:
        yield _cool_down(surface, tell)
        if surface.has_contours:
            other = copy(surface)
            other.look(contours=False)
            z = _cool_down(other, _in_silence)
            surface.solves = other.solves
            yield z


def _cool_down(surface, tell):
    """Return the depth that least squares leads to when it cools down."""
    surface.cold = False
    flat = np.zeros(surface.mask.shape)
    z = surface.solve(np.maximum(0.5 / surface.variance, WEAKEST), surface.residual(flat), flat, 1e-6)
    tell("least squares", z)
    hottest = np.abs(surface.residual(z)).max() / surface.constants.price.width
    z = surface.anneal(z, hottest, surface.constants.descent.cooling, surface.cautious, 1, tell)
    tell("annealed", z)
    surface.cold = True
    return z


def _from_half(surface, tell):
    """Return the depth that was found with half as many rows and columns, continued to the pixels."""
    wild = wild_slopes(surface.p, surface.q, surface.mask, surface.noise, surface.constants.noise)
    half = Halving(surface.mask, np.where(wild, WILD, 1.0))
    p, q = half.slopes(surface.p, surface.q)
    prior = weight = None
    if surface.weight is not None:
        weight = half.total(surface.weight)
        prior = surface.unit * half.total(surface.weight * surface.prior) / np.where(weight > 0, weight, 1.0)
    half_surface = CalibratedEnergy(half.mask, p, q, prior, weight, surface.constants, surface.report)
    half_surface.solves = surface.solves

    def back(z):
        return np.where(surface.mask, half.back(half_surface.unit * z, p, q) / surface.unit, 0.0)

    z, _ = best(half_surface, lambda stage, z: tell(stage, back(z)))
    surface.solves = half_surface.solves
    return back(z)


def _move_pieces(surface, z, failures):
    """Return the depth with pieces moved, or itself if no move gains anything."""
    r, constants = surface.residual(z), surface.constants
    width = constants.price.width**2
    cut = surface.barrier | (r**2 >= width * surface.plain)
    doubtful = doubtful_pixels(r / np.sqrt(surface.variance), surface.exists, cut, constants.dividing)
    passable = surface.exists & (r**2 < width * surface.variance)
    doubt = np.where(passable, r**2 + surface.variance, FORBIDDEN)
    labels, count = pieces(surface.mask, doubtful, surface.exists & ~cut, doubt, constants.dividing)
    held = np.zeros((2, count))
    if surface.weight is not None:
        inside, weight = labels[surface.mask], surface.weight[surface.mask] / surface.unit_cost()
        held[0] = np.bincount(inside, weight, minlength=count)
        held[1] = np.bincount(inside, weight * (z - surface.prior)[surface.mask], minlength=count)
    edges = surface.spread, surface.price, surface.exists
    offsets, moved, prospects = piece_moves.moves(
        labels, count, r, *edges, *held, constants.piece_moves, constants.rounds
    )
    if moved:
        z = z + np.where(surface.mask, offsets[labels], 0.0)
    for inside, offset in prospects:
        inside = surface.mask & inside[labels]
        size = np.count_nonzero(inside)
        if _failed_before(size, offset, failures, constants.piece_moves.alike):
            continue
        move, gain = cut_moves.refine(surface.residual(z), *edges, inside, offset, constants.cut_moves)
        if gain > constants.rounds.least_gain:
            z = z + move
        else:
            failures.append((size, offset))
    return z


def _move_cuts(surface, z):
    """Return the depth with discontinuities moved, or itself if none should."""
    for upwards in (True, False):
        r, edges = surface.residual(z), (surface.spread, surface.price, surface.exists)
        move = cut_moves.relocate(r, *edges, upwards, surface.constants.cut_moves)
        if move is not None:
            z = z + move
    return z


def _fuse(surface, first, second):
    """Return a depth that takes from each of two what costs less: no worse than either."""
    energies = [surface.energy(first), surface.energy(second)]
    if energies[1] < energies[0]:
        first, second = second, first
    other = np.where(surface.mask, second - first, 0.0)
    if surface.weight is None:  # so that most of the two surfaces agree
        other[surface.mask] -= np.median(other[surface.mask])
    edges = surface.spread, surface.price, surface.exists
    move = cut_moves.fuse(surface.residual(first), *edges, other, surface.constants.fusion)
    if move is None or surface.energy(first + move) >= min(energies):  # it does not know the prior
        return first
    return first + move


def _in_silence(stage, z):
    """Tell nobody."""


def _failed_before(size, offset, failures, alike):
    """Tell whether much the same piece was tried before with much the same offset, in vain."""
    return any(
        abs(size - other) < alike * size and abs(offset - tried) < alike * abs(offset)
        for other, tried in failures
    )
