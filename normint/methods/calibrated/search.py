"""How a depth of low energy is found: two starts, and moves of pieces and of discontinuities."""

import numpy as np

from normint.methods.calibrated import cut_moves, piece_moves
from normint.methods.calibrated.energy import CalibratedEnergy
from normint.methods.calibrated.noise import facing, wild_slopes
from normint.methods.calibrated.pieces import FORBIDDEN, doubtful_pixels, pieces
from normint.methods.calibrated.pyramid import Halving

ROUNDS = 10  # of moves and polishing, at most; few surfaces need more than four
NOISE = 3.0  # standard deviations beyond which noise hardly goes
WILD = 1e-3  # weight, in the mean over a block, of slopes that contradict all around them
QUICKLY = 6.0  # the factor between temperatures with which a large image is polished before its moves
# The part by which size and offset of a piece may differ from one that was tried in vain, which is then not
# tried again.
ALIKE = 0.1


def best(surface, tell):
    """Return the depth of lowest energy that was found, and the energies on the way to it."""
    z = _start(surface, tell)
    energies, failures = [surface.energy(z)], []
    for _ in range(1 if surface.large else ROUNDS):
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
        if gain <= piece_moves.LEAST_SHARE * (energies[0] - energy):
            break
    return z, energies


def _start(surface, tell):
    """Return a depth to start from: least squares cooled down, what the half leads to, or both fused."""
    small = np.count_nonzero(surface.mask) <= surface.constants.whole
    if surface.large:
        return surface.polish(_move_cuts(surface, _from_half(surface, tell)), QUICKLY)
    z = surface.polish(_cool_down(surface, tell))
    return z if small else _fuse(surface, surface.polish(_from_half(surface, in_silence)), z)


def _cool_down(surface, tell):
    """Return the depth that least squares leads to when it cools down."""
    surface.cold = False
    z = surface.least_squares()
    tell("least squares", z)
    hottest = np.abs(surface.residual(z)).max() / NOISE
    z = surface.anneal(z, hottest, surface.constants.cooling, 1, tell)
    tell("annealed", z)
    surface.cold = True
    return z


def _from_half(surface, tell):
    """Return the depth that was found with half as many rows and columns, continued to the pixels.

    Slopes stay slopes there, and normals stay normals: it is the depth that halves.
    """
    wild = wild_slopes(surface.p, surface.q, surface.mask, surface.noise.levels)
    half = Halving(surface.mask, np.where(wild, WILD, facing(surface.p, surface.q)))
    scale = (half.scale[0] * half.scale[1]) ** 0.5
    p, q = (slope / scale for slope in half.slopes(surface.p, surface.q))
    prior = weight = None
    if surface.weight is not None:
        weight = half.total(surface.weight)
        prior = half.total(surface.weight * surface.prior) / np.where(weight > 0, weight, 1.0) / scale
    half_surface = CalibratedEnergy(
        half.mask, p, q, prior, weight, surface.away, surface.constants, surface.report
    )
    half_surface.solves = surface.solves

    def back(z):
        return np.where(surface.mask, scale * half.back(z, p, q), 0.0)

    told = in_silence if tell is in_silence else lambda stage, z: tell(stage, back(z))
    z, _ = best(half_surface, told)
    surface.solves = half_surface.solves
    return back(z)


def _move_pieces(surface, z, failures):
    """Return the depth with pieces moved, or itself if no move gains anything."""
    r = surface.residual(z)
    cut = surface.likely | (surface.exists & (r**2 >= NOISE**2 * surface.noise_alone()))
    doubtful = doubtful_pixels(r / np.sqrt(surface.variance), surface.exists, cut)
    passable = surface.exists & (r**2 < NOISE**2 * surface.variance)
    doubt = np.where(passable, r**2 + surface.variance, FORBIDDEN)
    labels, count = pieces(surface.mask, doubtful, surface.exists & ~cut, doubt)
    held = np.zeros((2, count))
    if surface.weight is not None:
        inside, weight = labels[surface.mask], surface.weight[surface.mask] / (2.0 * surface.plain)
        held[0] = np.bincount(inside, weight, minlength=count)
        held[1] = np.bincount(inside, weight * (z - surface.prior)[surface.mask], minlength=count)
    edges = surface.spread, surface.price, surface.exists
    offsets, moved, prospects = piece_moves.moves(labels, count, r, *edges, *held)
    if moved:
        z = z + np.where(surface.mask, offsets[labels], 0.0)
    for inside, offset in prospects:
        inside = surface.mask & inside[labels]
        size = np.count_nonzero(inside)
        if _failed_before(size, offset, failures):
            continue
        move, gain = cut_moves.refine(surface.residual(z), *edges, inside, offset)
        if gain > piece_moves.LEAST_GAIN:
            z = z + move
        else:
            failures.append((size, offset))
    return z


def _move_cuts(surface, z):
    """Return the depth with discontinuities moved, or itself if none should."""
    for upwards in (True, False):
        r = surface.residual(z)
        move = cut_moves.relocate(r, surface.spread, surface.price, surface.exists, upwards)
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
    r = surface.residual(first)
    move = cut_moves.fuse(r, surface.spread, surface.price, surface.exists, other)
    if move is None or surface.energy(first + move) >= min(energies):  # it does not know the prior
        return first
    return first + move


def in_silence(stage, z):
    """Tell nobody."""


def _failed_before(size, offset, failures):
    """Tell whether much the same piece was tried before with much the same offset, in vain."""
    return any(
        abs(size - other) < ALIKE * size and abs(offset - tried) < ALIKE * abs(offset)
        for other, tried in failures
    )
