"""Shapes that scenes are built of, each with its exact derivatives.

A shape is a function of coordinates (s, t) of its own, in pixels. It returns its height z, the derivatives
∂z/∂s and ∂z/∂t, and where it exists. :func:`normint.surfaces.layers.placed` puts it into an image.
"""

import numpy as np

STEEPEST = 15.0  # smooth bodies end at the contour where their slope reaches this


def plane(along, across):
    """Make a plane of these slopes along s and across, along t."""
    return lambda s, t: (along * s + across * t, along + 0 * s, across + 0 * s, True)


def hill(height, along, across):
    """Make a Gaussian hill h·exp(−s²/2a² − t²/2b²)."""

    def shape(s, t):
        z = height * np.exp(-((s / along) ** 2) / 2 - (t / across) ** 2 / 2)
        return z, -z * s / along**2, -z * t / across**2, True

    return shape


def wave(height, length):
    """Make a sine wave along s."""
    k = 2 * np.pi / length
    return lambda s, t: (height * np.sin(k * s), height * k * np.cos(k * s), 0 * s, True)


def fold(slope, length):
    """Make a sheet that is folded to and fro along s: creases, no jump."""

    def shape(s, t):
        phase = np.mod(s, length) - length / 2
        return slope * (length / 2 - np.abs(phase)), -slope * np.sign(phase) + 0 * s, 0 * s, True

    return shape


def fade(x):
    """Return the smooth step x²(3 − 2x) from 0 (x ≤ 0) to 1 (x ≥ 1), and its derivative."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3 - 2 * x), 6 * x * (1 - x)


def fault(throw, length, end=np.inf, reach=np.inf, bend=0.0):
    """Make a fault along s: its one side is displaced, by nothing at s = 0 and more from there on.

    Parameters
    ----------
    throw : float
        The largest displacement.
    length : float
        It is reached after this length; and lost again over as much before `end`.
    reach : float
        How far across the displacement fades out, on the displaced side.
    bend : float
        The fault follows t = bend·sin(s/15): how much it winds.
    """

    def shape(s, t):
        side, turn = t - bend * np.sin(s / 15), -bend / 15 * np.cos(s / 15)
        grow, grow_s = fade(s / length)
        if end < np.inf:
            shrink, shrink_s = fade((end - s) / length)
            grow, grow_s = grow * shrink, grow_s * shrink - grow * shrink_s
        away, away_t = (1.0, 0.0) if reach == np.inf else fade(1 - side / reach)
        slope = 0.0 if reach == np.inf else -throw * grow * away_t / reach
        return throw * grow * away, throw * grow_s / length * away + slope * turn, slope + 0 * s, side > 0

    return shape


def ramp(height, length, width, widening=0.0, curve=0.0, landing=0.0):
    """Make a ramp along s ∈ [0, length], attached at s = 0, that ends in the air.

    Parameters
    ----------
    height : float
        How far it has risen at its end; negative for one that goes down.
    length, width : float
    widening : float
        By what part of the width it is wider at its end.
    curve : float
        Between −1 and 1: how much steeper it is at its end, against its middle.
    landing : float
        The part of the length, at its end, that is flat.
    """
    sloped = length * (1 - landing)

    def shape(s, t):
        x = np.minimum(s / sloped, 1.0)
        z = height * (x + curve * x * (x - 1))
        slope = np.where(x < 1, height / sloped * (1 + curve * (2 * x - 1)), 0.0)
        half = width / 2 * (1 + widening * s / length)
        return z, slope, 0 * s, (s > 0) & (s < length) & (np.abs(t) < half)

    return shape


def ellipsoid(along, across, deep):
    """Make the front of an ellipsoid of these radii, up to where its slope reaches 15."""

    def shape(s, t):
        root = np.sqrt(np.maximum(1 - (s / along) ** 2 - (t / across) ** 2, 1e-12))
        z_s, z_t = -deep * s / along**2 / root, -deep * t / across**2 / root
        return deep * root, z_s, z_t, (root > 1e-6) & (np.hypot(z_s, z_t) <= STEEPEST)

    return shape


def cylinder(radius, length, slope):
    """Make the front of a lying cylinder along s, which rises by `slope`, up to where its slope is 15."""

    def shape(s, t):
        root = np.sqrt(np.maximum(radius**2 - t**2, 1e-12))
        inside = (np.abs(s) < length / 2) & (root > 1e-6) & (np.hypot(t / root, slope) <= STEEPEST)
        return slope * s + root, slope + 0 * s, -t / root, inside

    return shape


def cone(slope, radius):
    """Make a cone, 0 high at its outline."""

    def shape(s, t):
        d = np.hypot(s, t)
        safe = np.maximum(d, 1e-12)
        return slope * (radius - d), -slope * s / safe, -slope * t / safe, d < radius

    return shape


def board(along, across, length, width):
    """Make a flat rectangle of these slopes."""

    def shape(s, t):
        inside = (np.abs(s) < length / 2) & (np.abs(t) < width / 2)
        return along * s + across * t, along + 0 * s, across + 0 * s, inside

    return shape


def roof(slope, gable, half_length, half_width):
    """Make a hipped roof on s ∈ ±half_length, t ∈ ±half_width, as the least of four planes everywhere.

    `slope` is that of the sides across, `gable` that of the two ends.
    """

    def shape(s, t):
        side, end = slope * (half_width - np.abs(t)), gable * (half_length - np.abs(s))
        at_end = end < side
        z_s, z_t = np.where(at_end, -gable * np.sign(s), 0.0), np.where(at_end, 0.0, -slope * np.sign(t))
        return np.minimum(side, end), z_s, z_t, True

    return shape
