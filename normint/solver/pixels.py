"""From images to the finest grid and back: the matrix, the residual, the depth.

Each pass is made band by band: see :func:`normint.solver.threads.share_rows`.
"""

import numpy as np

from normint.compiling import ANYTHING, INNER, njit
from normint.solver.grid import DOWN, INVERSE, OWN, RIGHT, UNIT, D, R


@njit(**INNER)
def _store(row, k, width, height, values):
    """Store a row of an image by colours."""
    for colour in range(2):
        first = (colour + k) & 1
        here = values[(colour * height + k) * width + 1 :]
        for t in range((row.size - first + 1) >> 1):
            here[t] = row[first + 2 * t]


@njit(**ANYTHING)
def load(band, begin, end, labels, images, normal, nodes, span, height, width):
    """Set the matrix from images of the weights, each divided by the largest of its piece.

    One pass, reading labels and images and writing the matrix.
    """
    rows, cols = labels.shape
    down, right, own = images
    above, below, after = np.zeros(cols), np.zeros(cols), np.zeros(cols + 1)
    diagonal, held = np.zeros(cols), np.zeros(cols)
    for i in range(max(begin - 1, 0), end):
        above, below = below, above
        here, under = labels[i], labels[min(i + 1, rows - 1)]
        there = 1.0 if i + 1 < rows else 0.0
        for j in range(cols):
            below[j] = there if (here[j] > 0) & (here[j] == under[j]) else 0.0
        for j in range(cols - 1):
            after[j + 1] = 1.0 if (here[j] > 0) & (here[j] == here[j + 1]) else 0.0
        if len(nodes) > UNIT:
            for j in range(cols):
                factor = normal[here[j]]
                below[j] = factor * down[i, j] if below[j] > 0 else 0.0
                held[j] = factor * own[i, j] if own.size > 0 and here[j] > 0 else 0.0
            for j in range(cols - 1):
                after[j + 1] = normal[here[j]] * right[i, j] if after[j + 1] > 0 else 0.0
        if i < begin:
            continue  # only what it shares with the next row was wanted
        if len(nodes) > UNIT:
            _store(below, i + 1, width, height, nodes[DOWN])
            _store(after[1:], i + 1, width, height, nodes[RIGHT])
            _store(held, i + 1, width, height, nodes[OWN])
        first, last = cols, 0
        for j in range(cols - 1):
            diagonal[j] = above[j] + below[j] + after[j] + after[j + 1] + held[j]
        diagonal[cols - 1] = above[cols - 1] + below[cols - 1] + after[cols - 1] + held[cols - 1]
        for j in range(cols):
            diagonal[j] = 1.0 / diagonal[j] if diagonal[j] > 0 else 0.0
        while last < cols and diagonal[last] == 0:
            last += 1
        first, last = last, cols
        while last > first and diagonal[last - 1] == 0:
            last -= 1
        span[i + 1, 0], span[i + 1, 1] = (first + 2) >> 1, (last + 3) >> 1
        _store(diagonal, i + 1, width, height, nodes[INVERSE])


@njit(**ANYTHING)
def residual(
    band, begin, end, labels, weights, fluxes, slopes, own, prior, depth, factors, height, width, nodes,
    squares,
):  # fmt: skip
    """Set r = b - A z times the factors of the pieces, and add up the squares of b and of b - A z.

    These by bands and pieces. An image of no size stands for ones (weights) or zeros (the others). One pass
    over all images and r.
    """
    rows, cols = labels.shape
    # Downwards, now and before, and to the right: of the fluxes, and of the depth.
    flow, held = np.zeros((3, cols + 1)), np.zeros((3, cols + 1))
    total, pull, runs = np.zeros(cols), np.zeros(cols), np.empty(cols + 1, np.int32)
    for i in range(max(begin - 1, 0), end):
        for way in range(2 if i >= begin else 1):  # of the row before, only what flows down from it
            y, x = (i + 1, 0) if way == 0 else (i, 1)
            to = i & 1 if way == 0 else 2
            if y == rows:  # nothing flows out of the last row
                for j in range(cols + 1):
                    flow[to, j] = held[to, j] = 0.0
                continue
            here, there = labels[i, : cols - x], labels[y, x:]
            weight = weights[way][i, : cols - x] if weights[way].size > 0 else total[:0]
            flux = fluxes[way][i, : cols - x]
            second = fluxes[way][y, x:] if slopes else flux
            _flow(here, there, weight, flux, second, 0.5, 0.5, flow[to, 1:])
            if depth.size > 0:
                _flow(here, there, weight, depth[i, : cols - x], depth[y, x:], -1.0, 1.0, held[to, 1:])
        if i < begin:
            continue
        _gather_flows(flow, i, total)
        if own.size > 0:
            for j in range(cols):
                total[j] += own[i, j] * prior[i, j] if labels[i, j] > 0 else 0.0
        count = _find_runs(labels[i], factors.size, runs)
        _add_squares(labels[i], runs, count, total, squares[band, 0])
        if depth.size > 0:
            _gather_flows(held, i, pull)
            if own.size > 0:
                for j in range(cols):
                    pull[j] += own[i, j] * depth[i, j] if labels[i, j] > 0 else 0.0
            for j in range(cols):
                total[j] -= pull[j]
            _add_squares(labels[i], runs, count, total, squares[band, 1])
        _scale(labels[i], runs, count, factors, total)
        _store(total, i + 1, width, height, nodes[R])


@njit(**INNER)
def _flow(here, there, weight, one, other, first, second, flow):
    """Set what flows along the edges of a row: the weight times the sum of what is at the two ends."""
    if weight.size > 0:
        for j in range(here.size):
            value = (first * one[j] + second * other[j]) * weight[j]
            flow[j] = value if (here[j] > 0) & (here[j] == there[j]) else 0.0
    else:
        for j in range(here.size):
            value = first * one[j] + second * other[j]
            flow[j] = value if (here[j] > 0) & (here[j] == there[j]) else 0.0


@njit(**INNER)
def _gather_flows(flow, i, total):
    """Set what flows into each pixel of row i, less what flows out."""
    above, below, after = flow[1 - (i & 1), 1:], flow[i & 1, 1:], flow[2]
    for j in range(total.size):
        total[j] = (above[j] - below[j]) + after[j]
    after = flow[2, 1:]
    for j in range(total.size - 1):
        total[j] -= after[j]


@njit(**INNER)
def _find_runs(labels, pieces, runs):
    """Set where pixels of one piece follow each other: where each run begins, and the last ends; count them.

    If there is but one piece besides number 0, whose numbers are zeros, all pixels are one run.
    """
    count, k = 0, np.int32(-1)
    if pieces > 2:
        for j in range(labels.size):
            if labels[j] != k:
                k = labels[j]
                runs[count] = j
                count += 1
    else:
        runs[0], count = 0, 1
    runs[count] = labels.size
    return count


@njit(**INNER)
def _scale(labels, runs, count, factors, total):
    for n in range(count):
        run = total[runs[n] : runs[n + 1]]
        factor = factors[labels[runs[n]] if factors.size > 2 else 1]
        for j in range(run.size):
            run[j] *= factor


@njit(**INNER)
def _add_squares(labels, runs, count, total, squares):
    for n in range(count):
        run, square = total[runs[n] : runs[n + 1]], 0.0
        for j in range(run.size):
            square += run[j] * run[j]
        squares[labels[runs[n]] if squares.size > 2 else 1] += square


@njit(**ANYTHING)
def gather(band, begin, end, labels, x, nodes, factors, height, width, depth, changes, depths):
    """Add x, times the factors of the pieces, to the depth, and set x to zero.

    Sets for each band and piece the largest depth, and the largest change when x grew by d, if there is room
    for them. The depth must be zero outside the domain. One pass.
    """
    cols, change, largest = labels.shape[1], changes[band], depths[band]
    found, changed = np.zeros(cols), np.zeros(cols, nodes.dtype)
    for i in range(begin, end):
        for colour in range(2):
            first = (colour + i + 1) & 1
            start = (colour * height + i + 1) * width + 1
            from_x, from_d = x[start : start + width - 1], nodes[D, start : start + width - 1]
            for t in range((cols - first + 1) >> 1):
                found[first + 2 * t], changed[first + 2 * t] = from_x[t], from_d[t]
            for t in range((cols - first + 1) >> 1):
                from_x[t] = 0.0
        here, kind = depth[i], labels[i]
        if change.size == 0:
            for j in range(cols):
                here[j] += factors[kind[j]] * found[j]
        elif factors.size == 2:  # one piece
            most, deepest = 0.0, 0.0
            for j in range(cols):
                z = here[j] + factors[1] * found[j]
                here[j] = z
                deepest = max(deepest, abs(z))
                most = max(most, abs(changed[j]))
            change[1], largest[1] = max(change[1], factors[1] * most), max(largest[1], deepest)
        else:
            for j in range(cols):
                k = kind[j]
                here[j] += factors[k] * found[j]
                change[k] = max(change[k], factors[k] * abs(changed[j]))
                largest[k] = max(largest[k], abs(here[j]))
