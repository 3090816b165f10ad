"""What the slopes say about each edge: its step, how uncertain that is, and what a jump there costs.

Edges are stored in arrays of shape 2×rows×columns: ``[0, i, j]`` leads downwards from pixel (i, j) and
``[1, i, j]`` to the right. Prices have one value for each sign of the residual r = Δz - t in a last
dimension: ``[..., 0]`` for r < 0 and ``[..., 1]`` for r > 0.
"""

from typing import NamedTuple

import numpy as np

from normint.compiling import FAST, njit
from normint.methods.calibrated.constants import CONSTANTS
from normint.methods.calibrated.contours import find_contours
from normint.methods.calibrated.noise import facing

LIKELY = 0.02  # odds from which a surface may come apart at an edge when it is divided into pieces
ROOT_TAU = (2.0 * np.pi) ** 0.5


class Edges(NamedTuple):
    """Images of shape 2×rows×columns: the edges downwards, and to the right."""

    exists: np.ndarray
    step: np.ndarray  # t: z_j - z_i, as the slopes predict it
    variance: np.ndarray  # S²
    bend: np.ndarray  # |D|/2: steps between those of the two slopes are no jumps
    price: np.ndarray  # C, with one value for each sign of the residual
    likely: np.ndarray  # whether a jump is likely, noise aside
    contour: np.ndarray  # whether it is the last edge of a rounded body


def look(p, q, mask, noise, away=False, constants=CONSTANTS):
    """Predict the step of every edge from the slopes, and what it costs to give it up.

    Parameters
    ----------
    p, q : ndarray
        Finite slopes, rows×columns, in pixels per pixel.
    mask : ndarray of bool
    noise : Noise
        See :func:`normint.methods.calibrated.noise.measure`.
    away : bool
        Whether the depth grows away from the viewer.
    constants : Constants

    Returns
    -------
    Edges

    Notes
    -----
    An edge from pixel 0 to pixel 1 has slopes g₀ and g₁ along it. Its step is t = ½(g₀ + g₁), with the
    variance S² = (σ/c)² + (βD)² of :class:`~normint.methods.calibrated.noise.Noise`. (At the contours of
    rounded bodies both are those of :mod:`normint.methods.calibrated.contours`.)

    Where one body hides another, normals differ, and the body in front turns away from the viewer. So the
    odds of a jump grow with the angle θ between the two normals, and with the slope F by which the *nearer*
    pixel falls towards the edge:

        odds = bend·θ²·(F + √(1 + F²))^fall + least.

    F + √(1 + F²) is the tangent of half the angle by which it has turned, beyond 45°: 1 if it faces the
    viewer, large at a contour, small if it rises towards the edge. Which pixel is nearer depends on the sign
    of r: F = -g₀ if r < 0 and g₁ if r > 0 (with `away`, -g₁ and g₀).

    An edge that holds has a residual with the density of a normal distribution, at most 1/(S√2π). One that
    jumps may land anywhere within L = √|Ω|. The logarithm of the odds between the two is the price

        C = log(1 + L/(√2π·S·odds)).

    Examples
    --------
    A ball before a wall: at its right edge it falls, so a jump down (r < 0) is cheap, and one up is not.

    >>> from normint.methods.calibrated.noise import Noise
    >>> q = np.array([[0.0, -0.5, -2.0, 0.0, 0.0]])
    >>> quiet = Noise(np.full(q.shape, 0.01), 0.01, 1.0, 0.1)
    >>> print(look(0 * q, q, q < 1, quiet).price[1, 0, 2].round(1))
    [1.6 4. ]
    """
    shape = (2, *mask.shape)
    exists, likely = np.zeros(shape, bool), np.zeros(shape, bool)
    # Uncertainties need few digits, and there are many of them.
    step, variance, bend = np.zeros(shape), np.ones(shape, np.float32), np.zeros(shape, np.float32)
    price = np.ones((*shape, 2), np.float32)
    cosine = facing(p, q)
    deviation = noise.levels / cosine**noise.exponent
    settings = noise.bend, away, (constants.bend, constants.fall, constants.least)
    _look(p, q, mask, cosine, deviation, *settings, exists, step, variance, bend, price, likely)
    contour = find_contours(p, q, mask, 2**0.5 * deviation, constants.square_root, step, variance)
    _to_prices(price.reshape(-1, 2), variance.ravel(), exists.ravel(), np.sqrt(np.count_nonzero(mask)))
    return Edges(exists, step, variance, bend, price, likely, contour & exists)


@njit(**FAST)
def _to_prices(odds, variance, exists, length):
    """Turn odds into prices, in place."""
    for e in range(exists.size):
        if exists[e]:
            reach = np.float32(length / (ROOT_TAU * np.sqrt(variance[e])))
            odds[e, 0], odds[e, 1] = np.log1p(reach / odds[e, 0]), np.log1p(reach / odds[e, 1])


@njit(**FAST)
def _turned(slope, power, result):
    """Set (F + √(1 + F²))^power for slopes F; for -F it is the inverse."""
    for j in range(slope.size):
        size = abs(slope[j])
        grown = (np.sqrt(1.0 + size * size) + size) ** power
        result[j] = grown if slope[j] > 0.0 else 1.0 / grown


@njit(**FAST)
def _look(
    p, q, mask, cosine, deviation, beta, away, constants,
    exists, step, variance, bend, odds, likely,
):  # fmt: skip
    rows, cols = mask.shape
    scale, power, least = constants
    turned = np.empty((2, cols))
    for axis in range(2):
        slope = p if axis == 0 else q
        _turned(slope[0], power, turned[0])
        for i in range(rows - 1 + axis):
            if axis == 0 or i > 0:
                _turned(slope[i + 1 - axis], power, turned[(i + 1) % 2 if axis == 0 else 0])
            turned_0, turned_1 = turned[i % 2 if axis == 0 else 0], turned[(i + 1) % 2 if axis == 0 else 0]
            for j in range(cols - axis):
                k, m = i + 1 - axis, j + axis
                if not (mask[i, j] and mask[k, m]):
                    continue
                g0, g1, f0, f1 = slope[i, j], slope[k, m], cosine[i, j], cosine[k, m]
                noise = max(deviation[i, j], deviation[k, m])
                chord = (p[i, j] * f0 - p[k, m] * f1) ** 2 + (q[i, j] * f0 - q[k, m] * f1) ** 2
                chord += (f0 - f1) ** 2
                angle = 2.0 * np.arcsin(min(0.5 * np.sqrt(chord), 1.0))
                below, above = 1.0 / turned_0[j], turned_1[m]
                if away:
                    below, above = 1.0 / turned_1[m], turned_0[j]
                bent = scale * angle * angle
                down, up = bent * below + least, bent * above + least
                exists[axis, i, j], step[axis, i, j] = True, 0.5 * (g0 + g1)
                variance[axis, i, j] = noise * noise + (beta * (g1 - g0)) ** 2
                bend[axis, i, j] = 0.5 * abs(g1 - g0)
                odds[axis, i, j, 0], odds[axis, i, j, 1] = down, up
                # Of noise alone, the two normals would differ by this much, squared.
                alone = 8.0 * (noise * min(f0, f1)) ** 2
                likely[axis, i, j] = max(down, up) * (chord - alone) > LIKELY * chord
