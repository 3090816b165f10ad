"""The other way to the same system: discretise the Euler-Lagrange equation, then mend it at the boundary.

Section 3.4 of the paper does this by hand on a 3x3 example, one pixel after the other. Here it is code, so
that the equivalence can be seen, and tested, on any domain.
"""

from fractions import Fraction

import numpy as np

DIRECTIONS = {"above": (-1, 0), "below": (1, 0), "left": (0, -1), "right": (0, 1)}


def row(domain, pixel):
    """Discretise -Δz = -∇·g at one pixel by central differences and eliminate what lies outside Ω.

    Parameters
    ----------
    domain : Domain
    pixel : (int, int)
        Row and column, counted from 0.

    Returns
    -------
    z, p, q : ndarray
        The coefficients of the unknowns on the left and of the data on the right, in columnwise order.

    Notes
    -----
    The 5-point equation (paper, Section 3.4, with λ = 0) is

        4 z_{u,v} - z_{u-1,v} - z_{u+1,v} - z_{u,v-1} - z_{u,v+1}
            = ½ (p_{u-1,v} - p_{u+1,v}) + ½ (q_{u,v-1} - q_{u,v+1}).

    A neighbour outside Ω leaves two unknown values, which two boundary conditions eliminate, both
    by first-order differences: ∇g·η = 0 gives its slope that of the pixel, and the natural condition
    (∇z - g)·η = 0 gives its depth, one such slope away from the pixel's.

    Examples
    --------
    >>> from normint.domain import Domain
    >>> z, p, q = row(Domain([[1, 1, 1], [1, 1, 1], [1, 1, 0]]), (0, 0))
    >>> z
    array([ 2., -1.,  0., -1.,  0.,  0.,  0.,  0.])
    >>> p
    array([-0.5, -0.5,  0. ,  0. ,  0. ,  0. ,  0. ,  0. ])
    """
    number = domain.to_image(np.arange(domain.size), outside=-1).astype(int)
    here = number[pixel]
    if here < 0:
        raise ValueError(f"pixel is {pixel}, outside the domain; expected one inside")
    z, p, q = np.zeros((3, domain.size))
    for di, dj in DIRECTIONS.values():
        i, j = pixel[0] + di, pixel[1] + dj
        slope, sign = (p, di) if di else (q, dj)
        z[here] += 1.0
        if 0 <= i < domain.shape[0] and 0 <= j < domain.shape[1] and number[i, j] >= 0:
            z[number[i, j]] -= 1.0
            slope[number[i, j]] -= 0.5 * sign
        else:
            # The neighbour's slope is the pixel's own; its depth is z + sign·slope.
            slope[here] -= 0.5 * sign
            z[here] -= 1.0
            slope[here] += sign
    return z, p, q


def equation(domain, z, p, q):
    """Write a row as a formula, pixels counted from 1 as in the paper.

    >>> from normint.domain import Domain
    >>> omega = Domain([[1, 1]])
    >>> equation(omega, *row(omega, (0, 0)))
    'z11 - z12 = -1/2 q11 - 1/2 q12'
    """
    rows, cols = np.nonzero(domain.mask)
    order = np.lexsort((rows, cols))
    names = [f"{i + 1}{j + 1}" for i, j in zip(rows[order], cols[order], strict=True)]

    def terms(letter, coefficients):
        return [(c, letter + names[k]) for k, c in enumerate(coefficients) if c]

    return f"{_sum(terms('z', z))} = {_sum(terms('p', p) + terms('q', q))}"


def _sum(terms):
    text = ""
    for coefficient, name in terms:
        size = Fraction(abs(coefficient))
        sign = ("- " if coefficient < 0 else "+ ") if text else ("-" if coefficient < 0 else "")
        text += f"{' ' if text else ''}{sign}{'' if size == 1 else f'{size} '}{name}"
    return text or "0"
