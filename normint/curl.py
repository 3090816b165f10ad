"""Does a gradient field belong to a surface? Its curl tells, without knowing the surface."""

import numpy as np

from normint.inputs import as_gradient

ROWS = 256  # at a time

__all__ = ["curl_of_squares", "gradient_noise", "relative_curl", "robust_spread"]


def relative_curl(p, q, mask=None):
    """Measure how far a gradient field is from belonging to a surface.

    Parameters
    ----------
    p, q, mask
        As for :func:`normint.integrate`.

    Returns
    -------
    float
        0 for a field that belongs to a surface, about 0.7 for noise, at most 1.

    Notes
    -----
    Around each square of four pixels inside the mask, ∂p/∂v − ∂q/∂u is the sum of the slopes along its
    sides, each the mean of two pixels. The number is Σ|∂p/∂v − ∂q/∂u| / Σ(|∂p/∂v| + |∂q/∂u|), a ratio of
    sums: a few pixels with huge slopes do not decide.

    Examples
    --------
    >>> u, v = np.ogrid[:5, :5]
    >>> relative_curl(v + 0.0 * u, u + 0.0 * v)  # of z = uv
    0.0
    >>> relative_curl(v + 0.0 * u, -u + 0.0 * v)  # a whirl
    1.0
    """
    p, q, mask = as_gradient(p, q, mask)
    curl = total = squares = 0
    for top in range(0, len(p) - 1, ROWS):  # so that no further image is held
        rows = slice(top, top + ROWS + 1)
        across, along, square = curl_of_squares(p[rows], q[rows], mask[rows])
        across, along = across[square], along[square]
        curl, total = curl + np.sum(np.abs(across - along)), total + np.sum(np.abs(across) + np.abs(along))
        squares += across.size
    _refuse_none(squares)
    return float(curl / total) if total else 0.0


def gradient_noise(p, q, mask=None):
    """Estimate the noise σ_g of a slope from the curl of the gradient.

    Parameters
    ----------
    p, q, mask
        As for :func:`normint.integrate`.

    Returns
    -------
    float
        The standard deviation, as if the noise of all slopes were independent and equally strong.

    Notes
    -----
    Walk around a square of four pixels a b / c d. The differences of any depth add up to zero. Those that the
    gradient gives, each the mean of the slopes at its two ends, add up to the curl

        ½(q_a + q_b) + ½(p_b + p_d) - ½(q_c + q_d) - ½(p_a + p_c),

    eight slopes with the factor ±½: its variance is 8·¼·σ_g² = 2σ_g². The standard deviation of the curl is
    taken from its median absolute value, since squares on a discontinuity are outliers. So the estimate does
    not see errors of another kind than noise: jumps, or a tilt common to all normals, whose curl is small.

    Examples
    --------
    >>> from normint.surfaces import peaks
    >>> surface = peaks(128)
    >>> noisy = surface.with_noise(0.1, np.random.default_rng(0))
    >>> actual = 0.1 * float(np.hypot(surface.p, surface.q).max())
    >>> round(gradient_noise(noisy.p, noisy.q) / actual, 1)
    1.0
    """
    across, along = _around_squares(p, q, mask)
    return robust_spread(across - along) / 2**0.5


def robust_spread(values):
    """Return the standard deviation of a normal distribution around zero with this median absolute value."""
    return float(1.4826 * np.median(np.abs(values)))


def curl_of_squares(p, q, mask):
    """Return ∂p/∂v and ∂q/∂u around every square of four pixels, and which squares lie inside the mask.

    Parameters
    ----------
    p, q : ndarray
    mask : ndarray of bool

    Returns
    -------
    across, along : ndarray
        With one row and one column less; each is a mean of two differences. The curl is across − along.
    square : ndarray of bool
    """
    square = mask[:-1, :-1] & mask[1:, :-1] & mask[:-1, 1:] & mask[1:, 1:]
    with np.errstate(invalid="ignore"):  # outside the mask anything is allowed
        across = 0.5 * ((p[:-1, 1:] + p[1:, 1:]) - (p[:-1, :-1] + p[1:, :-1]))
        along = 0.5 * ((q[1:, :-1] + q[1:, 1:]) - (q[:-1, :-1] + q[:-1, 1:]))
    return across, along, square


def _around_squares(p, q, mask):
    """Return ∂p/∂v and ∂q/∂u around every square of four pixels inside the mask."""
    across, along, square = curl_of_squares(*as_gradient(p, q, mask))
    _refuse_none(square.any())
    return across[square], along[square]


def _refuse_none(squares):
    if not squares:
        raise ValueError("mask has no four pixels in a square; expected some, to measure the curl around")
