"""A level of the solver: a grid, stored by colour like a checkerboard, and the passes over it.

Neighbours always have the other colour. Kept apart, the pixels of one colour depend only on those of the
other, so a Gauss-Seidel sweep is two sweeps over contiguous rows that the compiler vectorises.

Pixel (i, j) of an image sits at row k = i + 1 and column J = j + 2 of a padded grid, has the colour
(k + J) mod 2, red being 0 and black 1, and is node ``base + (colour · height + k) · width + m`` with
m = J div 2 (:func:`place`). The four pixels of a 2x2 block share m. The neighbours above and below have the
same m; the left one has m - 1 + odd and the right one m + odd, where odd = J mod 2 = (k + colour) mod 2.

``nodes`` holds what is known of each node, one row of the array for each of the names below. In the padding
everything is zero, so no loop asks where the boundary is. Where all weights are one and there is no λ
these are not stored (`UNIT`): vectors are zero outside the domain, and neighbours just add up. ``where``
is the base, the height and the width of a grid, and where its rows begin in ``span``; that is for each row
the first column m that it occupies, and the one after the last.

A pass goes through the rows once, in bands that fit in the cache, and does all its stages on each, stage s
lagging s rows behind the first: a pixel then finds its neighbours as the stage before left them.
"""

import numpy as np

from normint.compiling import FAST, INNER, WITHIN, njit

INVERSE = 0  # one over the diagonal of the matrix, zero outside the domain
R = 1  # the residual, or right-hand side
E = 2  # the correction, or solution
D = 3  # the direction of conjugate gradients
DOWN, RIGHT = 4, 5  # the weights of the edges downwards and to the right
OWN = 6  # λ
PRODUCT = 7  # of the matrix with E, on coarse levels
RESISTANCE = 8  # half the mean of that of the edges inside a coarse node
UNIT = 4  # rows of an array that has no more: all weights are one

U = np.uint64  # indices without a sign need no check whether they count from the end
ZERO, ONE = np.int64(0), np.int64(1)  # of this type, since a literal would be compiled for each value
BAND = 32  # rows


def shape_for(rows, cols):
    """Return the height and the width of a grid that holds a rows×cols image.

    >>> shape_for(3, 5)
    (6, 5)
    """
    return rows + rows % 2 + 2, (cols + 1) // 2 + 2


@njit(**WITHIN)
def place(where, i, j):
    """Return the node of pixel (i, j)."""
    return where[0] + (((i + 1 + j) & 1) * where[1] + i + 1) * where[2] + ((j + 2) >> 1)


@njit(**WITHIN)
def rows_of(where, colour, k):
    """Return where a row of one colour begins, and its neighbours' above, below, to the left and right."""
    other = where[0] + ((1 - colour) * where[1] + k) * where[2]
    left = other + ((k + colour) & 1) - 1
    here = where[0] + (colour * where[1] + k) * where[2]
    return U(here), U(other - where[2]), U(other + where[2]), U(left), U(left + 1)


@njit(**INNER)
def _relax(nodes, span, where, colour, begin, end):
    """Solve for the pixels of one colour in some rows, given those of the other."""
    for k in range(max(begin, 1), min(end, where[1] - 1)):
        h, a, b, l, g = rows_of(where, colour, k)
        first, last = U(span[where[3] + k, 0]), U(span[where[3] + k, 1])
        if len(nodes) == UNIT:
            for m in range(first, last):
                near = (nodes[E, a + m] + nodes[E, b + m]) + (nodes[E, l + m] + nodes[E, g + m])
                nodes[E, h + m] = (nodes[R, h + m] + near) * nodes[INVERSE, h + m]
        else:
            for m in range(first, last):
                vertical = nodes[DOWN, a + m] * nodes[E, a + m] + nodes[DOWN, h + m] * nodes[E, b + m]
                horizontal = nodes[RIGHT, l + m] * nodes[E, l + m] + nodes[RIGHT, h + m] * nodes[E, g + m]
                nodes[E, h + m] = (nodes[R, h + m] + vertical + horizontal) * nodes[INVERSE, h + m]


@njit(**INNER)
def multiply_row(nodes, span, where, colour, k, row, product, to):
    """Set the product of the matrix with a row of ``nodes``, from ``to`` on, by exact differences."""
    real = nodes.dtype.type
    h, a, b, l, g = rows_of(where, colour, k)
    t, first, last = U(to), U(span[where[3] + k, 0]), U(span[where[3] + k, 1])
    if len(nodes) == UNIT:
        for m in range(first, last):
            inverse = nodes[INVERSE, h + m]
            degree = np.float64(np.int32(real(1) / inverse + real(0.5))) if inverse > 0 else 0.0
            near = np.float64(nodes[row, a + m]) + nodes[row, b + m]
            near += np.float64(nodes[row, l + m]) + nodes[row, g + m]
            product[t + m] = degree * nodes[row, h + m] - near if inverse > 0 else 0.0
    else:
        for m in range(first, last):
            here = nodes[row, h + m]
            vertical = nodes[DOWN, a + m] * (here - nodes[row, a + m])
            vertical += nodes[DOWN, h + m] * (here - nodes[row, b + m])
            horizontal = nodes[RIGHT, l + m] * (here - nodes[row, l + m])
            horizontal += nodes[RIGHT, h + m] * (here - nodes[row, g + m])
            product[t + m] = nodes[OWN, h + m] * here + (vertical + horizontal)


@njit(**INNER)
def _restrict(nodes, span, where, begin, end, buffer, coarse, cells):
    """Sum the residual over the blocks whose lower rows are given; only red pixels have one."""
    real = nodes.dtype.type
    for lower in range(max(begin + (begin & 1), 2), min(end, where[1] - 1), 2):
        for m in range(buffer.size):
            buffer[m] = real(0)
        for k in (lower - 1, lower):
            h, a, b, l, g = rows_of(where, ZERO, k)
            first, last = U(span[where[3] + k, 0]), U(span[where[3] + k, 1])
            if len(nodes) == UNIT:
                for m in range(first, last):
                    near = (nodes[E, a + m] + nodes[E, b + m]) + (nodes[E, l + m] + nodes[E, g + m])
                    inverse = nodes[INVERSE, h + m]
                    left = nodes[R, h + m] + near - nodes[E, h + m] / inverse
                    buffer[m] += left if inverse > 0 else real(0)
            else:
                for m in range(first, last):
                    vertical = nodes[DOWN, a + m] * nodes[E, a + m] + nodes[DOWN, h + m] * nodes[E, b + m]
                    horizontal = nodes[RIGHT, l + m] * nodes[E, l + m] + nodes[RIGHT, h + m] * nodes[E, g + m]
                    inverse = nodes[INVERSE, h + m]
                    left = nodes[R, h + m] + vertical + horizontal - nodes[E, h + m] / inverse
                    buffer[m] += left if inverse > 0 else real(0)
        spread(buffer, lower >> 1, coarse, np.int64(R), cells)


@njit(**INNER)
def spread(blocks, k, coarse, row, cells):
    """Store a row of values, one for each block, as row k of a grid of cells."""
    for odd in range(2):
        h = U(cells[0] + (((k + odd) & 1) * cells[1] + k) * cells[2] + 1)
        for t in range(U((blocks.size - 1 - odd) >> 1)):
            coarse[row, h + t] = blocks[U(1 + odd) + U(2) * t]


@njit(**INNER)
def _prolong(nodes, span, where, begin, end, buffer, coarse, cells):
    """Add to the red pixels of some rows what was found for their blocks."""
    real = nodes.dtype.type
    for k in range(max(begin, 1), min(end, where[1] - 1)):
        cell = (k + 1) >> 1
        for odd in range(2):
            h = U(cells[0] + (((cell + odd) & 1) * cells[1] + cell) * cells[2] + 1)
            for t in range(U((where[2] - 1 - odd) >> 1)):
                buffer[U(1 + odd) + U(2) * t] = coarse[E, h + t]
        h = rows_of(where, ZERO, k)[0]
        for m in range(U(span[where[3] + k, 0]), U(span[where[3] + k, 1])):
            nodes[E, h + m] += buffer[m] if nodes[INVERSE, h + m] > 0 else real(0)


@njit(**FAST)
def descend(nodes, span, where, region, sweeps, coarse, cells):
    """Sweep red and black some times on A e = r from e = 0, and sum the residual over the blocks."""
    begin, end, first, last = region
    stages = 2 * sweeps + 1  # restriction looks back two rows
    buffer = np.empty(where[2], nodes.dtype)
    for row in range(begin, max(end, end + stages * last) + stages, BAND):
        for s in range(stages + 1):
            low, high = max(begin + s * first, row - s), min(end + s * last, row + BAND - s)
            if s == 0:
                for k in range(max(low, 1), min(high, where[1] - 1)):
                    h = rows_of(where, ZERO, k)[0]
                    for m in range(U(span[where[3] + k, 0]), U(span[where[3] + k, 1])):
                        nodes[E, h + m] = nodes[R, h + m] * nodes[INVERSE, h + m]
            elif s < stages - 1:
                _relax(nodes, span, where, s & 1, low, high)
            elif s == stages:
                _restrict(nodes, span, where, low, high, buffer, coarse, cells)


@njit(**FAST)
def ascend(nodes, span, where, region, sweeps, coarse, cells, sums):
    """Add the coarse correction to e, sweep black and red some times; then e·Ae, e·Ad and e·r by rows."""
    begin, end, first, last = region
    stages = 2 * sweeps + 1
    buffer = np.empty(where[2], nodes.dtype)
    for row in range(begin, max(end, end + stages * last) + stages, BAND):
        for s in range(stages + 1):
            low, high = max(begin + s * first, row - s), min(end + s * last, row + BAND - s)
            if s == 0:
                _prolong(nodes, span, where, low, high, buffer, coarse, cells)
            elif s < stages:
                _relax(nodes, span, where, s & 1, low, high)
            elif sums.size > 0:
                _dots(nodes, span, where, low, high, buffer, sums)


@njit(**INNER)
def _dots(nodes, span, where, begin, end, product, sums):
    real = nodes.dtype.type
    for k in range(max(begin, 1), min(end, where[1] - 1)):
        sums[k, 0] = sums[k, 1] = sums[k, 2] = 0.0
        for colour in range(2):
            multiply_row(nodes, span, where, colour, k, np.int64(E), product, ZERO)
            h = rows_of(where, colour, k)[0]
            e_dot_ae, e_dot_ad, e_dot_r = real(0), real(0), real(0)
            for m in range(U(span[where[3] + k, 0]), U(span[where[3] + k, 1])):
                e = nodes[E, h + m]
                e_dot_ae += e * product[m]
                e_dot_ad += nodes[D, h + m] * product[m]
                e_dot_r += e * nodes[R, h + m]
            sums[k, 0] += e_dot_ae
            sums[k, 1] += e_dot_ad
            sums[k, 2] += e_dot_r


@njit(**FAST)
def step(nodes, span, where, region, alpha, beta, x, sums):
    """Take a step of conjugate gradients: d ← e + β d, x ← x + α d, r ← r - α A d; and ‖r‖² by rows."""
    begin, end, first, last = region
    product = np.empty(where[2], nodes.dtype)
    for row in range(begin, max(end, end + last) + 1, BAND):
        for s in range(2):
            low, high = max(begin + s * first, row - s), min(end + s * last, row + BAND - s)
            for k in range(max(low, 1), min(high, where[1] - 1)):
                first_column, last_column = U(span[where[3] + k, 0]), U(span[where[3] + k, 1])
                square = alpha - alpha
                for colour in range(2):
                    h = rows_of(where, colour, k)[0]
                    if s == 0 and beta == 0:  # whatever is left of another solution
                        for m in range(first_column, last_column):
                            nodes[D, h + m] = nodes[E, h + m]
                    elif s == 0:
                        for m in range(first_column, last_column):
                            nodes[D, h + m] = nodes[E, h + m] + beta * nodes[D, h + m]
                    if s == 0:
                        continue
                    multiply_row(nodes, span, where, colour, k, np.int64(D), product, ZERO)
                    for m in range(first_column, last_column):
                        x[h + m] += np.float64(alpha) * nodes[D, h + m]
                    for m in range(first_column, last_column):
                        nodes[R, h + m] -= alpha * product[m]
                    for m in range(first_column, last_column):
                        square += nodes[R, h + m] * nodes[R, h + m]
                sums[k, 0] = square
