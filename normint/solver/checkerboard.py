"""The finest level of the solver: the pixel grid, stored by colour like a checkerboard.

Neighbours always have the other colour. Kept apart, the pixels of one colour depend only on those of the
other, so a Gauss-Seidel sweep is two sweeps over contiguous rows that the compiler vectorises.

Pixel (i, j) of the image sits at row k = i + 1 and column J = j + 2 of a padded grid, has the colour
c = (k + J) mod 2 and is stored in ``array[c, k, m]`` with m = J div 2. The four pixels of a 2x2 block share
m. ``u[c, k, m]`` is the weight of a pixel's edge downwards, ``v[c, k, m]`` of its edge to the right, zero
where there is no edge; in the padding everything is zero, so no loop asks where the boundary is.
"""

import numpy as np

from normint.compiling import FAST, njit


def shape_for(rows, cols):
    """Return the shape of a checkerboard that holds a rows×cols image.

    >>> shape_for(3, 5)
    (2, 6, 5)
    """
    return 2, rows + rows % 2 + 2, (cols + 1) // 2 + 2


@njit(**FAST)
def unit_edges(mask, u, v):
    """Set the weights u, v to one between neighbouring pixels of the mask."""
    rows, cols = mask.shape
    for i in range(rows):
        k = i + 1
        for j in range(cols):
            if mask[i, j]:
                c, m = (k + j) & 1, (j + 2) >> 1
                u[c, k, m] = i + 1 < rows and mask[i + 1, j]
                v[c, k, m] = j + 1 < cols and mask[i, j + 1]


@njit(**FAST)
def weighted_edges(mask, down, right, u, v):
    """Copy the weights of the edges down and to the right into u, v, where both pixels are in the mask."""
    rows, cols = mask.shape
    for i in range(rows):
        k = i + 1
        for j in range(cols):
            if mask[i, j]:
                c, m = (k + j) & 1, (j + 2) >> 1
                if i + 1 < rows and mask[i + 1, j]:
                    u[c, k, m] = down[i, j]
                if j + 1 < cols and mask[i, j + 1]:
                    v[c, k, m] = right[i, j]


@njit(**FAST)
def right_side(mask, u, v, flux_down, flux_right, slopes, diagonal, prior, b):
    """Add to b what the fluxes of the edges, and the prior with its weights, contribute.

    With ``slopes`` the fluxes are slopes at pixels, and an edge takes the mean of those at its two ends.
    """
    rows, cols = mask.shape
    for i in range(rows):
        k = i + 1
        for j in range(cols):
            if mask[i, j]:
                c, m = (k + j) & 1, (j + 2) >> 1
                total = b[c, k, m]
                if diagonal is not None:
                    total += diagonal[c, k, m] * prior[i, j]
                if u[c, k, m] > 0:
                    t = 0.5 * (flux_down[i, j] + flux_down[i + 1, j]) if slopes else flux_down[i, j]
                    t *= u[c, k, m]
                    total -= t
                    b[1 - c, k + 1, m] += t
                if v[c, k, m] > 0:
                    t = 0.5 * (flux_right[i, j] + flux_right[i, j + 1]) if slopes else flux_right[i, j]
                    t *= v[c, k, m]
                    total -= t
                    b[1 - c, k, (j + 3) >> 1] += t
                b[c, k, m] = total


@njit(**FAST)
def scatter(mask, image, values):
    """Store an image, leaving zeros outside the mask."""
    rows, cols = mask.shape
    for i in range(rows):
        for j in range(cols):
            if mask[i, j]:
                values[(i + 1 + j) & 1, i + 1, (j + 2) >> 1] = image[i, j]


@njit(**FAST)
def gather(mask, values, image):
    """Read an image back, inside the mask."""
    rows, cols = mask.shape
    for i in range(rows):
        for j in range(cols):
            if mask[i, j]:
                image[i, j] = values[(i + 1 + j) & 1, i + 1, (j + 2) >> 1]


@njit(**FAST)
def sum_of_squares(labels, values, total):
    """Add the squares of the pixels' values to the total of their label."""
    rows, cols = labels.shape
    for i in range(rows):
        for j in range(cols):
            total[labels[i, j]] += values[(i + 1 + j) & 1, i + 1, (j + 2) >> 1] ** 2


@njit(**FAST)
def largest_of(labels, values, found):
    """Set for each label the largest size of its pixels' values."""
    rows, cols = labels.shape
    for i in range(rows):
        for j in range(cols):
            size = abs(values[(i + 1 + j) & 1, i + 1, (j + 2) >> 1])
            found[labels[i, j]] = max(found[labels[i, j]], size)


@njit(**FAST)
def inverse_diagonal(u, v, diagonal, inverse, span):
    """Compute 1 / A_ii (zero outside the mask), and the span of columns that each row occupies."""
    _, height, width = u.shape
    for k in range(1, height - 1):
        first, last = width, 0
        for c in range(2):
            o = 1 - c
            odd = (k + c) & 1
            for m in range(1, width - 1):
                total = float(u[c, k, m]) + u[o, k - 1, m] + v[c, k, m] + v[o, k, m - 1 + odd]
                if diagonal is not None:
                    total += diagonal[c, k, m]
                if total > 0:
                    inverse[c, k, m] = 1.0 / total
                    first, last = min(first, m), max(last, m + 1)
        span[k, 0], span[k, 1] = first, max(first, last)


@njit(**FAST)
def _add_vertical(total, above, weight_above, below, weight_below):
    for m in range(total.size):
        total[m] += weight_above[m] * above[m] + weight_below[m] * below[m]


@njit(**FAST)
def _add_horizontal(total, left, weight_left, right, weight_right):
    for m in range(total.size):
        total[m] += weight_left[m] * left[m] + weight_right[m] * right[m]


@njit(**FAST)
def _add_neighbours(total, e, u, v, c, k, a, z):
    """Add Σ_j w_ij e_j over the neighbours j of the pixels i of colour c in row k, columns a to z.

    In two loops because the compiler vectorises only those that touch few arrays.
    """
    o = 1 - c
    odd = (k + c) & 1
    _add_vertical(total, e[o, k - 1, a:z], u[o, k - 1, a:z], e[o, k + 1, a:z], u[c, k, a:z])
    left, right = e[o, k, a - 1 + odd : z - 1 + odd], e[o, k, a + odd : z + odd]
    _add_horizontal(total, left, v[o, k, a - 1 + odd : z - 1 + odd], right, v[c, k, a:z])


@njit(**FAST)
def residual(x, b, u, v, inverse, span, r):
    """Compute r = b - A x and return ‖r‖²."""
    _, height, width = x.shape
    buffer = np.empty(width)
    square = 0.0
    for k in range(1, height - 1):
        a, z = span[k]
        total = buffer[a:z]
        for c in range(2):
            total[:] = b[c, k, a:z]
            _add_neighbours(total, x, u, v, c, k, a, z)
            for m in range(a, z):
                d = inverse[c, k, m]
                t = buffer[m] - x[c, k, m] / d if d > 0 else 0.0
                r[c, k, m] = t
                square += t * t
    return square


@njit(**FAST)
def smooth_and_restrict(r, u, v, inverse, span, aggregate, e, coarse):
    """Sweep red then black on A e = r from e = 0 and sum the residual over the aggregates.

    The sweep leaves no residual on black pixels, and on a red pixel Σ_j w_ij e_j over its black neighbours.
    The three steps follow each other by one row, so that every row is used while it is in the cache.
    """
    _, height, width = r.shape
    buffer = np.empty(width)
    for row in range(1, height + 1):
        k = row
        if k < height - 1:
            a, z = span[k]
            _scale(e[0, k, a:z], r[0, k, a:z], inverse[0, k, a:z])
        k = row - 1
        if 1 <= k < height - 1:
            a, z = span[k]
            total = buffer[a:z]
            total[:] = r[1, k, a:z]
            _add_neighbours(total, e, u, v, 1, k, a, z)
            _scale(e[1, k, a:z], total, inverse[1, k, a:z])
        k = row - 2
        if k >= 1:
            a, z = span[k]
            buffer[a:z] = 0.0
            _add_neighbours(buffer[a:z], e, u, v, 0, k, a, z)
            for m in range(a, z):
                coarse[aggregate[0, k, m]] += buffer[m]


@njit(**FAST)
def _scale(result, values, factors):
    for m in range(result.size):
        result[m] = values[m] * factors[m]


@njit(**FAST)
def prolong_and_smooth(r, u, v, inverse, span, aggregate, e, coarse, ae, ad):
    """Add the coarse correction to e, sweep black then red, and compute A e on the black pixels.

    Red pixels are solved last, so A e = r there; on black ones it is what the sweep put there less what the
    new red values take away. Returns e·Ae, e·Ad and e·r, all that conjugate gradients needs.
    """
    _, height, width = r.shape
    buffer = np.empty(width)
    e_ae, e_ad, e_r = 0.0, 0.0, 0.0
    for row in range(1, height + 2):
        k = row
        if k < height - 1:
            a, z = span[k]
            for m in range(a, z):
                e[0, k, m] += coarse[aggregate[0, k, m]]
        k = row - 1
        if 1 <= k < height - 1:
            a, z = span[k]
            total = ae[k, a:z]
            total[:] = r[1, k, a:z]
            _add_neighbours(total, e, u, v, 1, k, a, z)
            _scale(e[1, k, a:z], total, inverse[1, k, a:z])
        k = row - 2
        if 1 <= k < height - 1:
            a, z = span[k]
            total = buffer[a:z]
            total[:] = r[0, k, a:z]
            _add_neighbours(total, e, u, v, 0, k, a, z)
            _scale(e[0, k, a:z], total, inverse[0, k, a:z])
            t, s = _red_dots(e[0, k, a:z], r[0, k, a:z], ad[0, k, a:z])
            e_ae, e_r, e_ad = e_ae + t, e_r + t, e_ad + s
        k = row - 3
        if k >= 1:
            a, z = span[k]
            total = buffer[a:z]
            total[:] = 0.0
            _add_neighbours(total, e, u, v, 1, k, a, z)
            p, q, t = _black_dots(e[1, k, a:z], r[1, k, a:z], ad[1, k, a:z], ae[k, a:z], total)
            e_r, e_ad, e_ae = e_r + p, e_ad + q, e_ae + t
    return e_ae, e_ad, e_r


@njit(**FAST)
def _red_dots(e, r, ad):
    e_r, e_ad = 0.0, 0.0
    for m in range(e.size):
        e_r += e[m] * r[m]
        e_ad += e[m] * ad[m]
    return e_r, e_ad


@njit(**FAST)
def _black_dots(e, r, ad, ae, taken):
    e_r, e_ad, e_ae = 0.0, 0.0, 0.0
    for m in range(e.size):
        t = ae[m] - taken[m]
        ae[m] = t
        e_r += e[m] * r[m]
        e_ad += e[m] * ad[m]
        e_ae += e[m] * t
    return e_r, e_ad, e_ae


@njit(**FAST)
def conjugate_step(x, r, e, ae, d, ad, alpha, beta):
    """Take one step of conjugate gradients: d ← e + β d, x ← x + α d, r ← r - α A d. Returns ‖r‖²."""
    red = _step(x[0], r[0], e[0], r[0], d[0], ad[0], alpha, beta)  # A e = r on red pixels
    black = _step(x[1], r[1], e[1], ae, d[1], ad[1], alpha, beta)
    return red + black


@njit(**FAST)
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
