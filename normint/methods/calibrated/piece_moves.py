"""Moves of whole pieces of a surface that lower its energy, which no small change would find."""

import numpy as np

from normint.compiling import FAST, njit
from normint.domain import NEIGHBOURS
from normint.methods.calibrated.energy import cost
from normint.methods.calibrated.piece_tree import join, left_by, milestones

# The energy that the move of a piece must gain: as much as one or two edges that hold again.
LEAST_GAIN = 9.0
# The part of what all sweeps, or rounds, have gained that one must gain to be followed by another.
LEAST_SHARE = 0.05
# Trees of pieces made in one round, at most; the first finds nearly all.
SWEEPS = 6
# Of groups of pieces, each with little more than the one before, the factor between two that are looked at:
# so little that no move is missed.
GROWTH = 1.1
# Offsets tried for a piece: those that most of its boundary agrees on.
HYPOTHESES = 3
# Pieces whose outline is sought by a minimum cut in one round, at most, since that takes time; the least
# pixels that such a piece has, and the energy that the edges which gain must promise.
PROSPECTS, PROSPECT_PIXELS, PROMISE = 2, 30, 5.0 * LEAST_GAIN


def moves(labels, count, residual, spread, price, exists, hold, pull):
    """Find offsets of the pieces that lower the energy.

    Parameters
    ----------
    labels : ndarray of int
        The piece of each pixel.
    count : int
    residual, spread, price : ndarray
        Of the edges, see :func:`normint.methods.calibrated.energy.cost`.
    exists : ndarray of bool
    hold, pull : ndarray
        For each piece: moving it by o costs hold·o² + 2·pull·o (what holds it to a prior).

    Returns
    -------
    offsets : ndarray
        For each piece.
    moved : int
        How many moves were made.
    prospects : list of (ndarray of bool, float)
        Pieces, and an offset, that would gain if only their outline were better: the most promising first.

    Notes
    -----
    Only edges between two pieces matter. The pieces are joined one after the other, those first that agree
    along most of their common boundary. This gives a tree; each of its nodes, a piece or several, is moved
    as a whole: by the offset that the largest part of its boundary agrees on, the second largest, and the
    third. (Of nodes that are much the same, :func:`~normint.methods.calibrated.piece_tree.milestones` chooses
    some.) The move that lowers the energy most is made first. Then the others are looked at again, and the
    tree is made anew. A node on whose boundary nothing has changed since it was looked at in vain is not
    looked at again.
    """
    ends, r, v, c = [], [], [], []
    for axis, (here, there) in enumerate(NEIGHBOURS):
        between = exists[axis][here] & (labels[here] != labels[there])
        ends.append(np.stack([labels[here][between], labels[there][between]]))
        for image, values in ((residual, r), (spread, v), (price, c)):
            values.append(image[axis][here][between])
    ends = np.concatenate(ends, axis=1)
    r, v, c = (np.concatenate(values) for values in (r, v, c))
    incident = np.argsort(ends.T.ravel(), kind="stable") // 2  # the edges of each piece
    start = np.concatenate([[0], np.cumsum(np.bincount(ends.ravel(), minlength=count))])
    edges = *ends, r, v, c, start, incident
    size = np.bincount(labels[labels >= 0], minlength=count)
    offsets, pull, moved, gained = np.zeros(count), pull.copy(), 0, 0.0
    # Whatever pieces a node has, the sum of their random names is its own.
    names = np.random.default_rng(0).integers(2**63, size=count, dtype=np.uint64)
    changed, seen = np.ones(r.size, bool), (np.zeros(1, np.uint64), np.zeros((3, 1)))
    for _ in range(SWEEPS):
        left, right, first, length, leaves = join(*ends, r, v, c, count)
        pixels, name, held = (_sums(each[leaves], first, length) for each in (size, names, hold > 0))
        chosen = milestones(left, right, _sums(np.diff(start)[leaves], first, length), GROWTH)
        position = np.argsort(leaves)
        nodes = first, length, leaves, position
        new = left_by(changed, *ends, position, left, right, first, length)
        place = np.minimum(np.searchsorted(seen[0], name), seen[0].size - 1)
        known = chosen & ~new & (held == 0) & (seen[0][place] == name)
        # What each node gains, what it promises, and the offset that this takes.
        found = np.where(known, seen[1][:, place], 0.0)
        looked = np.flatnonzero(chosen & ~known & (2 * pixels <= pixels[left < 0].sum()))
        _look(looked, nodes, *edges, hold, pull, found)
        found[1, pixels < PROSPECT_PIXELS] = 0.0
        order = looked[np.argsort(-found[0, looked], kind="stable")]
        made, gain = _make(order, nodes, *edges, hold, pull, found[0], offsets, changed)
        order = np.argsort(name)
        order, found[0] = order[chosen[order]], 0.0
        seen = name[order], found[:, order]
        moved, gained = moved + made, gained + gain
        if gain <= LEAST_SHARE * gained:
            break
    return offsets, moved, _prospects(first, length, leaves, *found[1:])


def _sums(values, first, length):
    """Return the sum over the pieces of each node, of values in the order of the leaves."""
    total = np.concatenate([np.zeros(1, values.dtype), np.cumsum(values)])
    return total[first + length] - total[first]


def _prospects(first, length, leaves, promise, offset):
    """Choose the nodes of the tree that promise most, but not twice much the same."""
    chosen = []
    # for each piece, how many pieces the last chosen node over it has
    taken = np.zeros(leaves.size, np.int64)
    for n in np.argsort(-promise, kind="stable"):
        if promise[n] <= PROMISE or len(chosen) == PROSPECTS:
            break
        members = leaves[first[n] : first[n] + length[n]]
        if np.any(taken[members] * 2 > length[n]):
            continue
        taken[members] = length[n]
        inside = np.zeros(leaves.size, bool)
        inside[members] = True
        chosen.append((inside, float(offset[n])))
    return chosen


@njit(**FAST)
def _look(looked, nodes, a, b, r, v, c, start, incident, hold, pull, found):
    """Find what moving each of some nodes would gain and promise, and the offset of its promise."""
    first, length, leaves, position = nodes
    edges, signed = np.empty(a.size, np.int64), np.empty(a.size)
    for n in looked:
        number = _boundary(n, first, length, leaves, position, start, incident, a, b, edges, signed)
        held = _held(n, first, length, leaves, hold, pull)
        if number == 0 or (held[0] == 0.0 and _paid(number, edges, r, v, c) <= LEAST_GAIN):
            continue  # there is not enough to gain
        found[0, n], _, found[1, n], found[2, n] = _best_offset(number, edges, signed, r, v, c, *held)


@njit(**FAST)
def _make(order, nodes, a, b, r, v, c, start, incident, hold, pull, gains, offsets, changed):
    """Make all moves that bring the least gain; tell how many, what they gain, and which edges change."""
    first, length, leaves, position = nodes
    edges, signed = np.empty(a.size, np.int64), np.empty(a.size)
    changed[:] = False
    made, gained = 0, 0.0
    for n in order:
        if gains[n] <= LEAST_GAIN:
            break
        number = _boundary(n, first, length, leaves, position, start, incident, a, b, edges, signed)
        held = _held(n, first, length, leaves, hold, pull)
        gain, offset, _, _ = _best_offset(number, edges, signed, r, v, c, *held)
        if gain <= LEAST_GAIN:
            continue
        made += 1
        gained += gain
        for m in range(first[n], first[n] + length[n]):
            offsets[leaves[m]] += offset
            pull[leaves[m]] += hold[leaves[m]] * offset
        for m in range(number):
            r[edges[m]] += signed[m] * offset
            changed[edges[m]] = True
    return made, gained


@njit(**FAST)
def _paid(number, edges, r, v, c):
    """Return what the edges of a boundary cost now."""
    total = 0.0
    for m in range(number):
        total += cost(r[edges[m]], v[edges[m]], c[edges[m]])
    return total


@njit(**FAST)
def _held(n, first, length, leaves, hold, pull):
    h, p = 0.0, 0.0
    for m in range(first[n], first[n] + length[n]):
        h += hold[leaves[m]]
        p += pull[leaves[m]]
    return h, p


@njit(**FAST)
def _boundary(n, first, length, leaves, position, start, incident, a, b, edges, signed):
    """List the edges that leave a node, with the sign by which its offset changes their residuals."""
    number, end = 0, first[n] + length[n]
    for m in range(first[n], end):
        piece = leaves[m]
        for k in range(start[piece], start[piece + 1]):
            e = incident[k]
            other = b[e] if a[e] == piece else a[e]
            if first[n] <= position[other] < end:
                continue
            edges[number] = e
            signed[number] = 1.0 if b[e] == piece else -1.0
            number += 1
    return number


@njit(**FAST)
def _best_offset(number, edges, signed, r, v, c, hold, pull):
    """Look at the offsets that most of a boundary agrees on.

    Returns the largest gain and its offset, and the largest promise, which is the gain of the edges that
    gain, and its offset.
    """
    unordered = np.empty(number)
    for m in range(number):
        unordered[m] = -signed[m] * r[edges[m]]
    order = np.argsort(unordered)
    # The offsets that bring each edge's residual to zero, in order, the edges' spreads, and their prices as
    # the offset sees them: below what is wanted, and above.
    wanted, spread, below, above = np.empty((4, number))
    total = np.zeros(number + 1)
    for m in range(number):
        e = edges[order[m]]
        wanted[m], spread[m] = unordered[order[m]], v[e]
        flip = signed[order[m]] < 0.0
        below[m], above[m] = c[e, 1 if flip else 0], c[e, 0 if flip else 1]
        total[m + 1] = total[m] + 0.5 * (below[m] + above[m])
    agree = np.empty(number)
    for m in range(number):
        width = np.sqrt(spread[m] * min(below[m], above[m]))
        low = np.searchsorted(wanted, wanted[m] - width)
        high = np.searchsorted(wanted, wanted[m] + width, side="right")
        agree[m] = total[high] - total[low]
    best, boundary = (0.0, 0.0, 0.0, 0.0), (wanted, spread, below, above)
    if hold > 0.0:  # as the prior would have it
        best = _try(-pull / hold, *boundary, hold, pull, best)
    for _ in range(HYPOTHESES):
        top = np.argmax(agree)
        if agree[top] <= 0.0:
            break
        # What lies near is the same hypothesis.
        near = 2.0 * np.sqrt(spread[top] * min(below[top], above[top]))
        for m in range(number):
            if abs(wanted[m] - wanted[top]) < near:
                agree[m] = 0.0
        best = _try(wanted[top], *boundary, hold, pull, best)
    return best


@njit(**FAST)
def _try(offset, wanted, spread, below, above, hold, pull, best):
    """Improve an offset by a few weighted means; return the better of it and the best so far."""
    for _ in range(4):
        weights, moments = hold, -pull
        for m in range(wanted.size):
            r = offset - wanted[m]
            price = above[m] if r > 0.0 else below[m]
            agree = price / (price * spread[m] + r * r)
            w = agree * agree * spread[m]
            weights += w
            moments += w * wanted[m]
        if weights > 0.0:
            offset = moments / weights
    gain = -hold * offset**2 - 2.0 * pull * offset
    promise = gain
    for m in range(wanted.size):
        change = _cost(-wanted[m], spread[m], below[m], above[m])
        change -= _cost(offset - wanted[m], spread[m], below[m], above[m])
        gain += change
        promise += max(change, 0.0)
    if gain > best[0]:
        best = gain, offset, best[2], best[3]
    if promise > best[2]:
        best = best[0], best[1], promise, offset
    return best


@njit(**FAST)
def _cost(r, spread, below, above):
    price = above if r > 0.0 else below
    return price * r * r / (price * spread + r * r)
