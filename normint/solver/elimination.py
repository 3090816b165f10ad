"""Small pieces, solved exactly: elimination of one pixel after the other, within a band.

Eliminating a node of a graph leaves a graph. Its neighbours are joined by new edges, and take over what it
weighed itself; so only weights are updated, sums of positive numbers. No rounding then hides that a constant
is free, and weights that differ by many decades do no harm.
"""

import numpy as np

from normint.compiling import FAST, njit

SMALL = 2000  # pixels; up to there this is also the quicker way


@njit(**FAST)
def factorise(band, own):
    """Factorise a graph's matrix as L D Lᵀ, in place.

    Parameters
    ----------
    band : ndarray
        ``band[k, t]`` is the weight of the edge between the nodes k and k + 1 + t. It becomes minus the entry
        of L there.
    own : ndarray
        What each node weighs itself. It becomes 1/D, zero where a constant is free.
    """
    count, width = band.shape
    for k in range(count):
        reach = min(width, count - 1 - k)
        total = own[k]
        for t in range(reach):
            total += band[k, t]
        inverse = 1.0 / total if total > 0 else 0.0
        for t in range(reach):
            share = band[k, t] * inverse
            if share > 0:
                next_ = k + 1 + t
                own[next_] += share * own[k]
                for s in range(t + 1, reach):
                    band[next_, s - t - 1] += share * band[k, s]
        for t in range(reach):
            band[k, t] *= inverse
        own[k] = inverse


@njit(**FAST)
def solve_factorised(band, inverse, b):
    """Replace b by the solution."""
    count, width = band.shape
    for k in range(count):
        for t in range(min(width, count - 1 - k)):
            b[k + 1 + t] += band[k, t] * b[k]
    for k in range(count - 1, -1, -1):
        total = b[k] * inverse[k]
        for t in range(min(width, count - 1 - k)):
            total += band[k, t] * b[k + 1 + t]
        b[k] = total


@njit(**FAST)
def solve_pieces(labels, members, begin, tall, weights, diagonal, fluxes, slopes, prior, depth):
    """Set the depth of some pieces to their solution.

    Parameters
    ----------
    labels : ndarray of int
        The piece of each pixel.
    members, begin, tall : ndarray
        The pixels of those to solve, where each begins, and which way it is numbered; see
        :meth:`normint.solver.pieces.Pieces.members`.
    weights : (ndarray, ndarray)
    diagonal, prior : ndarray
        λ and z⁰. An image of no size stands for weights of one, and for no λ.
    fluxes : (ndarray, ndarray)
    slopes : bool
        As for :meth:`normint.solver.system.System.solve`.
    """
    rows, cols = labels.shape
    place = np.empty(rows * cols, np.int32)  # of a pixel in its piece; only that of the piece at hand counts
    for piece in range(begin.size - 1):
        pixels = members[begin[piece] : begin[piece + 1]]
        for k in range(pixels.size):
            place[pixels[k]] = k
        width = 0
        for k in range(pixels.size):
            for way in range(2):
                other = _beyond(labels, weights, pixels[k], way)
                if other >= 0:
                    width = max(width, abs(place[other] - k))
        band, own, b = np.zeros((pixels.size, width)), np.zeros(pixels.size), np.zeros(pixels.size)
        for k in range(pixels.size):
            i, j = pixels[k] // cols, pixels[k] % cols
            if diagonal.size > 0:
                own[k] = diagonal[i, j]
                b[k] += diagonal[i, j] * prior[i, j]
            for turn in range(2):  # in this order a transposed image gives the same, to the last digit
                way = turn if tall[piece] else 1 - turn
                other = _beyond(labels, weights, pixels[k], way)
                if other >= 0:
                    flux = fluxes[way][i, j]
                    if slopes:
                        flux = 0.5 * (flux + fluxes[way][other // cols, other % cols])
                    weight = weights[way][i, j] if weights[way].size > 0 else 1.0
                    n = place[other]
                    band[min(k, n), abs(n - k) - 1] = weight
                    b[k] -= weight * flux
                    b[n] += weight * flux
        factorise(band, own)
        solve_factorised(band, own, b)
        for k in range(pixels.size):
            depth[pixels[k] // cols, pixels[k] % cols] = b[k]


@njit(**FAST)
def _beyond(labels, weights, pixel, way):
    """Return the pixel below, or to the right, that an edge leads to; −1 if there is none."""
    rows, cols = labels.shape
    i, j = pixel // cols, pixel % cols
    y, x = i + 1 - way, j + way
    if y == rows or x == cols or labels[y, x] != labels[i, j]:
        return -1
    if weights[way].size > 0 and not weights[way][i, j] > 0:
        return -1
    return y * cols + x
