"""The finest level of the solver: the pixel grid, stored by colour like a checkerboard.

Neighbours always have the other colour. Kept apart, the pixels of one colour depend only on those of the
other, so a Gauss-Seidel sweep is two sweeps over contiguous rows that the compiler vectorises.

Pixel (i, j) of the image sits at row k = i + 1 and column J = j + 2 of a padded grid, has the colour
(k + J) mod 2, red being 0 and black 1, and is stored in ``array[colour, k, m]`` with m = J div 2
(:func:`_place`). The four pixels of a 2x2 block share m. The neighbours above and below have the same m; the
left one has m - 1 + odd and the right one m + odd, where odd = J mod 2 = (k + colour) mod 2.

``weight_down`` holds the weight of each pixel's edge downwards, ``weight_right`` that of its edge to the
right, zero where there is no edge; in the padding everything is zero, so no loop asks where the boundary is.
``span[k]`` is the first column m that row k occupies, and the one after the last.
"""

import numpy as np

from normint.compiling import FAST, INNER, njit

RED, BLACK = np.int64(0), np.int64(1)  # of this type, since a literal would be compiled for each value


def shape_for(rows, cols):
    """Return the shape of a checkerboard that holds a rows×cols image.

    >>> shape_for(3, 5)
    (2, 6, 5)
    """
    return 2, rows + rows % 2 + 2, (cols + 1) // 2 + 2


@njit(**INNER)
def _place(i, j):
    """Return where pixel (i, j) is stored."""
    return (i + 1 + j) & 1, i + 1, (j + 2) >> 1


@njit(**FAST)
def unit_edges(mask, weight_down, weight_right):
    """Set the weights to one between neighbouring pixels of the mask: a pass over the mask, writing both."""
    rows, cols = mask.shape
    for i in range(rows):
        for j in range(cols):
            if mask[i, j]:
                weight_down[_place(i, j)] = i + 1 < rows and mask[i + 1, j]
                weight_right[_place(i, j)] = j + 1 < cols and mask[i, j + 1]


@njit(**FAST)
def weighted_edges(mask, down, right, weight_down, weight_right):
    """Copy the weights where both pixels are in the mask: one pass over mask, ``down`` and ``right``."""
    rows, cols = mask.shape
    for i in range(rows):
        for j in range(cols):
            if mask[i, j]:
                if i + 1 < rows and mask[i + 1, j]:
                    weight_down[_place(i, j)] = down[i, j]
                if j + 1 < cols and mask[i, j + 1]:
                    weight_right[_place(i, j)] = right[i, j]


@njit(**FAST)
def right_side(mask, weight_down, weight_right, flux_down, flux_right, slopes, diagonal, prior, b):
    """Add to b what the fluxes of the edges, and the prior with its weights, contribute.

    With ``slopes`` the fluxes are slopes at pixels, and an edge takes the mean of those at its two ends. One
    pass, reading mask, weights and images and adding to b at both ends of each edge.
    """
    rows, cols = mask.shape
    for i in range(rows):
        for j in range(cols):
            if mask[i, j]:
                here, below, after = _place(i, j), _place(i + 1, j), _place(i, j + 1)
                total = b[here]
                if diagonal is not None:
                    total += diagonal[here] * prior[i, j]
                if weight_down[here] > 0:
                    flux = 0.5 * (flux_down[i, j] + flux_down[i + 1, j]) if slopes else flux_down[i, j]
                    flux *= weight_down[here]
                    total -= flux
                    b[below] += flux
                if weight_right[here] > 0:
                    flux = 0.5 * (flux_right[i, j] + flux_right[i, j + 1]) if slopes else flux_right[i, j]
                    flux *= weight_right[here]
                    total -= flux
                    b[after] += flux
                b[here] = total


@njit(**FAST)
def scatter(mask, image, values):
    """Store an image, leaving zeros outside the mask: one pass."""
    rows, cols = mask.shape
    for i in range(rows):
        for j in range(cols):
            if mask[i, j]:
                values[_place(i, j)] = image[i, j]


@njit(**FAST)
def gather(mask, values, image):
    """Read an image back, inside the mask: one pass."""
    rows, cols = mask.shape
    for i in range(rows):
        for j in range(cols):
            if mask[i, j]:
                image[i, j] = values[_place(i, j)]


@njit(**FAST)
def sum_of_squares(labels, values, total):
    """Add the squares of the pixels' values to the total of their label: one pass over both."""
    rows, cols = labels.shape
    for i in range(rows):
        for j in range(cols):
            total[labels[i, j]] += values[_place(i, j)] ** 2


@njit(**FAST)
def largest_of(labels, values, found):
    """Set for each label the largest size of its pixels' values: one pass over both."""
    rows, cols = labels.shape
    for i in range(rows):
        for j in range(cols):
            found[labels[i, j]] = max(found[labels[i, j]], abs(values[_place(i, j)]))


@njit(**FAST)
def inverse_diagonal(weight_down, weight_right, diagonal, inverse, span):
    """Compute 1 / A_ii (zero outside the mask), and the span of columns that each row occupies.

    One pass, reading the weights (and the diagonal) and writing the inverse.
    """
    _, height, width = weight_down.shape
    for k in range(1, height - 1):
        first, last = width, 0
        for colour in range(2):
            other, odd = 1 - colour, (k + colour) & 1
            for m in range(1, width - 1):
                total = float(weight_down[colour, k, m]) + weight_down[other, k - 1, m]
                total = total + weight_right[colour, k, m] + weight_right[other, k, m - 1 + odd]
                if diagonal is not None:
                    total += diagonal[colour, k, m]
                if total > 0:
                    inverse[colour, k, m] = 1.0 / total
                    first, last = min(first, m), max(last, m + 1)
        span[k, 0], span[k, 1] = first, max(first, last)


@njit(**INNER)
def _add_vertical(total, above, weight_above, below, weight_below):
    for m in range(total.size):
        total[m] += weight_above[m] * above[m] + weight_below[m] * below[m]


@njit(**INNER)
def _add_horizontal(total, left, weight_left, right, weight_right):
    for m in range(total.size):
        total[m] += weight_left[m] * left[m] + weight_right[m] * right[m]


@njit(**INNER)
def _add_neighbours(total, e, weight_down, weight_right, colour, k, first, last):
    """Add Σ_j w_ij e_j over the neighbours j of the pixels i of one colour in row k, columns first to last.

    In two passes over the row because the compiler vectorises only loops that touch few arrays.
    """
    other, odd = 1 - colour, (k + colour) & 1
    here, above, below = (colour, k), (other, k - 1), (other, k + 1)
    _add_vertical(
        total, e[above][first:last], weight_down[above][first:last],
        e[below][first:last], weight_down[here][first:last],
    )  # fmt: skip
    before, after = e[other, k, first - 1 + odd : last - 1 + odd], e[other, k, first + odd : last + odd]
    weight_before = weight_right[other, k, first - 1 + odd : last - 1 + odd]
    _add_horizontal(total, before, weight_before, after, weight_right[here][first:last])


@njit(**FAST)
def residual(x, b, weight_down, weight_right, inverse, span, r):
    """Compute r = b - A x and return ‖r‖²: one pass, reading x, b, weights and inverse, and writing r."""
    _, height, width = x.shape
    buffer = np.empty(width)
    square = 0.0
    for k in range(1, height - 1):
        first, last = span[k]
        total = buffer[first:last]
        for colour in range(2):
            _copy(total, b[colour, k, first:last])
            _add_neighbours(total, x, weight_down, weight_right, colour, k, first, last)
            for m in range(first, last):
                d = inverse[colour, k, m]
                t = buffer[m] - x[colour, k, m] / d if d > 0 else 0.0
                r[colour, k, m] = t
                square += t * t
    return square


@njit(**FAST)
def smooth_and_restrict(r, weight_down, weight_right, inverse, span, aggregate, e, coarse):
    """Sweep red then black on A e = r from e = 0 and sum the residual over the aggregates.

    The sweep leaves no residual on black pixels, and on a red pixel Σ_j w_ij e_j over its black neighbours.
    The three steps follow each other by one row, so that every row is used while it is in the cache: one pass
    over memory, reading r, weights, inverse and aggregates, writing e and adding to ``coarse``.
    """
    _, height, width = r.shape
    buffer = np.empty(width)
    for row in range(1, height + 1):
        k = row
        if k < height - 1:
            first, last = span[k]
            _scale(e[0, k, first:last], r[0, k, first:last], inverse[0, k, first:last])
        k = row - 1
        if 1 <= k < height - 1:
            first, last = span[k]
            total = buffer[first:last]
            _copy(total, r[1, k, first:last])
            _add_neighbours(total, e, weight_down, weight_right, BLACK, k, first, last)
            _scale(e[1, k, first:last], total, inverse[1, k, first:last])
        k = row - 2
        if k >= 1:
            first, last = span[k]
            buffer[first:last] = 0.0
            _add_neighbours(buffer[first:last], e, weight_down, weight_right, RED, k, first, last)
            for m in range(first, last):
                coarse[aggregate[0, k, m]] += buffer[m]


@njit(**INNER)
def _copy(result, values):
    """Copy a row. An assignment of slices would do, but brings a second of compiling, for its errors."""
    for m in range(result.size):
        result[m] = values[m]


@njit(**INNER)
def _scale(result, values, factors):
    for m in range(result.size):
        result[m] = values[m] * factors[m]


@njit(**FAST)
def prolong_and_smooth(r, weight_down, weight_right, inverse, span, aggregate, e, coarse, ae, ad):
    """Add the coarse correction to e, sweep black then red, and compute A e on the black pixels.

    Red pixels are solved last, so A e = r there; on black ones it is what the sweep put there less what the
    new red values take away. Returns e·Ae, e·Ad and e·r, all that conjugate gradients needs. The four steps
    follow each other by one row: one pass over memory, reading r, weights, inverse, aggregates and ad, and
    changing e and ae.
    """
    _, height, width = r.shape
    buffer = np.empty(width)
    e_dot_ae, e_dot_ad, e_dot_r = 0.0, 0.0, 0.0
    for row in range(1, height + 2):
        k = row
        if k < height - 1:
            first, last = span[k]
            for m in range(first, last):
                e[0, k, m] += coarse[aggregate[0, k, m]]
        k = row - 1
        if 1 <= k < height - 1:
            first, last = span[k]
            total = ae[k, first:last]
            _copy(total, r[1, k, first:last])
            _add_neighbours(total, e, weight_down, weight_right, BLACK, k, first, last)
            _scale(e[1, k, first:last], total, inverse[1, k, first:last])
        k = row - 2
        if 1 <= k < height - 1:
            first, last = span[k]
            total = buffer[first:last]
            _copy(total, r[0, k, first:last])
            _add_neighbours(total, e, weight_down, weight_right, RED, k, first, last)
            _scale(e[0, k, first:last], total, inverse[0, k, first:last])
            by_r, by_ad = _red_dots(e[0, k, first:last], r[0, k, first:last], ad[0, k, first:last])
            e_dot_ae, e_dot_r, e_dot_ad = e_dot_ae + by_r, e_dot_r + by_r, e_dot_ad + by_ad
        k = row - 3
        if k >= 1:
            first, last = span[k]
            total = buffer[first:last]
            total[:] = 0.0
            _add_neighbours(total, e, weight_down, weight_right, BLACK, k, first, last)
            by_r, by_ad, by_ae = _black_dots(
                e[1, k, first:last], r[1, k, first:last], ad[1, k, first:last], ae[k, first:last], total
            )
            e_dot_r, e_dot_ad, e_dot_ae = e_dot_r + by_r, e_dot_ad + by_ad, e_dot_ae + by_ae
    return e_dot_ae, e_dot_ad, e_dot_r


@njit(**INNER)
def _red_dots(e, r, ad):
    """Return e·r and e·Ad of a row's red pixels, where A e = r."""
    e_dot_r, e_dot_ad = 0.0, 0.0
    for m in range(e.size):
        e_dot_r += e[m] * r[m]
        e_dot_ad += e[m] * ad[m]
    return e_dot_r, e_dot_ad


@njit(**INNER)
def _black_dots(e, r, ad, ae, taken):
    """Subtract from A e what was taken, and return e·r, e·Ad and e·Ae of a row's black pixels."""
    e_dot_r, e_dot_ad, e_dot_ae = 0.0, 0.0, 0.0
    for m in range(e.size):
        t = ae[m] - taken[m]
        ae[m] = t
        e_dot_r += e[m] * r[m]
        e_dot_ad += e[m] * ad[m]
        e_dot_ae += e[m] * t
    return e_dot_r, e_dot_ad, e_dot_ae


@njit(**FAST)
def conjugate_step(x, r, e, ae, d, ad, alpha, beta):
    """Take one step of conjugate gradients: d ← e + β d, x ← x + α d, r ← r - α A d. Returns ‖r‖².

    One pass, reading e and ae and changing d, ad, x and r.
    """
    red = _step(x[0], r[0], e[0], r[0], d[0], ad[0], alpha, beta)  # A e = r on red pixels
    black = _step(x[1], r[1], e[1], ae, d[1], ad[1], alpha, beta)
    return red + black


@njit(**INNER)
def _step(x, r, e, ae, d, ad, alpha, beta):
    x, r, e, ae, d, ad = x.ravel(), r.ravel(), e.ravel(), ae.ravel(), d.ravel(), ad.ravel()
    square = 0.0
    for i in range(x.size):
        d[i] = e[i] + beta * d[i]
        ad[i] = ae[i] + beta * ad[i]
        x[i] += alpha * d[i]
        r[i] -= alpha * ad[i]
        square += r[i] * r[i]
    return square
