"""Statues: smooth bodies that stand before one another, as a camera far away sees them.

Each body is an ellipsoid. The camera sees, at each pixel, the one nearest to it: where bodies touch the
surface has a crease, where one ends before another the depth jumps.
"""

import numpy as np

from normint.inputs import as_count
from normint.surfaces.surface import Surface

STEEPEST = 10.0  # slopes grow without bound at a contour; as those of the vase they are cut here


def figurine(n: int = 300) -> Surface:
    """Make a sitting cat of porcelain: head, ears, body, legs, paws and tail, and nothing behind it.

    Parameters
    ----------
    n : int, optional
        The number of rows; there are 0.9 times as many columns.

    Returns
    -------
    Surface
        The mask is its silhouette; outside, depth and slopes are 0. `parts` numbers the bodies.

    Examples
    --------
    >>> cat = figurine(100)
    >>> cat.depth.shape, int(cat.parts.min())
    ((100, 90), -1)
    >>> down, right = cat.occlusions()
    >>> bool(down.any() and right.any())
    True
    """
    n = as_count("n", n, minimum=8)
    # Centre (u, v, z), radii (along its axis, across it, towards the camera), angle of the axis from the
    # vertical; the unit is the image's height.
    bodies = [
        ((0.62, 0.43, 0.00), (0.31, 0.22, 0.20), 0),  # body
        ((0.79, 0.27, 0.04), (0.17, 0.12, 0.14), 12),  # haunches
        ((0.79, 0.59, 0.04), (0.17, 0.12, 0.14), -12),
        ((0.28, 0.42, 0.26), (0.17, 0.19, 0.15), 0),  # head
        ((0.335, 0.385, 0.365), (0.045, 0.055, 0.06), 0),  # muzzle
        ((0.335, 0.455, 0.365), (0.045, 0.055, 0.06), 0),
        ((0.305, 0.42, 0.39), (0.018, 0.025, 0.045), 0),  # nose
        ((0.13, 0.29, 0.22), (0.10, 0.06, 0.05), -25),  # ears
        ((0.13, 0.55, 0.22), (0.10, 0.06, 0.05), 25),
        ((0.73, 0.355, 0.21), (0.20, 0.055, 0.07), -3),  # front legs
        ((0.73, 0.505, 0.21), (0.20, 0.055, 0.07), 3),
        ((0.92, 0.345, 0.26), (0.045, 0.07, 0.07), 0),  # paws
        ((0.92, 0.515, 0.26), (0.045, 0.07, 0.07), 0),
        ((0.935, 0.20, 0.12), (0.035, 0.08, 0.06), 0),
        ((0.935, 0.66, 0.12), (0.035, 0.08, 0.06), 0),
    ]
    tail = [_tail(t) for t in np.linspace(0, 1, 90)]
    depth, p, q, parts = _front(n, round(0.9 * n), bodies + tail)
    # The beads of the tail are two bodies: its tip bends back before the rest.
    parts = np.where(parts < len(bodies) + 70, np.minimum(parts, len(bodies)), len(bodies) + 1)
    mask = parts >= 0
    depth = np.where(mask, depth, 0.0)
    return Surface(depth, p, q, mask, "figurine", parts)


def bust(n: int = 256) -> Surface:
    """Make a bust on a pedestal, before a flat wall.

    Parameters
    ----------
    n : int, optional
        The number of rows and of columns.

    Returns
    -------
    Surface
        The mask is the bust's silhouette. Outside is the wall: depth and slopes are 0, and the bust stands
        well before it. The wall is the last of the `parts`.

    Examples
    --------
    >>> statue = bust(64)
    >>> bool(statue.depth[statue.mask].min() > 0), float(statue.depth[~statue.mask].max())
    (True, 0.0)
    """
    n = as_count("n", n, minimum=8)
    angles = np.linspace(-1.9, 1.9, 11)
    curls = [
        ((0.31 - 0.16 * np.cos(a), 0.50 + 0.17 * np.sin(a), 0.36), (0.08, 0.055, 0.11), -40 * np.sin(a))
        for a in angles
    ]
    bodies = [
        ((0.35, 0.50, 0.38), (0.215, 0.155, 0.19), 0),  # head
        ((0.385, 0.50, 0.560), (0.070, 0.026, 0.055), 0),  # nose
        ((0.325, 0.445, 0.540), (0.016, 0.050, 0.040), 8),  # brows
        ((0.325, 0.555, 0.540), (0.016, 0.050, 0.040), -8),
        ((0.425, 0.43, 0.46), (0.06, 0.05, 0.09), 0),  # cheeks
        ((0.425, 0.57, 0.46), (0.06, 0.05, 0.09), 0),
        ((0.475, 0.50, 0.530), (0.015, 0.045, 0.035), 0),  # lips
        ((0.525, 0.50, 0.49), (0.035, 0.05, 0.07), 0),  # chin
        ((0.62, 0.50, 0.30), (0.20, 0.100, 0.12), 0),  # neck
        ((0.82, 0.50, 0.27), (0.16, 0.22, 0.17), 0),  # chest and shoulders
        ((0.82, 0.29, 0.25), (0.13, 0.11, 0.13), -30),
        ((0.82, 0.71, 0.25), (0.13, 0.11, 0.13), 30),
        ((0.74, 0.42, 0.39), (0.13, 0.025, 0.06), 25),  # lapels
        ((0.74, 0.58, 0.39), (0.13, 0.025, 0.06), -25),
        ((0.955, 0.50, 0.26), (0.04, 0.13, 0.13), 0),  # pedestal
        *curls,
    ]
    depth, p, q, parts = _front(n, n, bodies)
    mask = parts >= 0
    parts = np.where(mask, parts, len(bodies))
    return Surface(np.where(mask, depth, 0.0), p, q, mask, "bust", parts)


def _tail(t):
    """Return one bead of the tail, which leaves the body on the right and winds to the front."""
    u = 0.90 - 0.46 * np.sin(1.9 * t) ** 2 * (1 - 0.25 * t)
    v = 0.60 + 0.26 * np.sin(2.2 * t)
    radius = 0.04 - 0.012 * t
    return (u, v, 0.02 + 0.10 * t), (radius, radius, radius), 0


def _front(rows, columns, bodies):
    """Return depth, slopes and the number of the nearest ellipsoid at each pixel; −1 where there is none."""
    depth, parts = np.full((rows, columns), -np.inf), np.full((rows, columns), -1)
    p, q = np.zeros((rows, columns)), np.zeros((rows, columns))
    u, v = (np.arange(rows)[:, np.newaxis] + 0.5) / rows, (np.arange(columns) + 0.5) / rows
    for number, ((cu, cv, cz), (along, across, deep), angle) in enumerate(bodies):
        # With d the offset from the centre in the image, the front is z = c_z + deep·√(1 − dᵀQd).
        cosine, sine = np.cos(np.radians(angle)), np.sin(np.radians(angle))
        a = (cosine * (u - cu) + sine * (v - cv)) / along
        b = (cosine * (v - cv) - sine * (u - cu)) / across
        root = np.sqrt(np.maximum(1 - a**2 - b**2, 0))
        z = cz + deep * root
        nearest = (root > 0) & (z > depth)
        depth[nearest], parts[nearest] = z[nearest], number
        with np.errstate(divide="ignore", invalid="ignore"):
            z_u = -deep * (a * cosine / along - b * sine / across) / root
            z_v = -deep * (a * sine / along + b * cosine / across) / root
        p[nearest] = np.clip(z_u[nearest], -STEEPEST, STEEPEST)
        q[nearest] = np.clip(z_v[nearest], -STEEPEST, STEEPEST)
    return rows * depth, p, q, parts
