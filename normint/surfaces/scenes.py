"""Scenes with known depth, to judge how a method handles discontinuities and what spoils a measurement."""

from dataclasses import dataclass

import numpy as np
import scipy.ndimage

from normint.inputs import as_count, as_field
from normint.surfaces import drawing
from normint.surfaces.layers import CONTACT, join
from normint.surfaces.surface import Surface

KINDS = (
    "steps", "ramps", "bodies", "contours", "kinks", "thin", "holes",
    "varying", "outliers", "quantised", "smooth",
)  # fmt: skip
SIGMAS = (0.0, 0.005, 0.01, 0.02, 0.05)
WHOLE = {"smooth": drawing.smooth, "kinks": drawing.kinks}  # scenes of one surface, without jumps
DEVELOPMENT = tuple((kind, variant) for kind in KINDS for variant in (0, 2, 4, 6))
REPORT = tuple((kind, variant) for kind in KINDS for variant in (1, 3, 5, 7))


@dataclass(frozen=True, eq=False)
class Scene:
    """A surface with known depth, and what was measured of its slopes.

    Attributes
    ----------
    kind : str
    variant : int
    surface : Surface
        Depth, slopes, mask and parts, all exact. The slopes are those of what is seen at a pixel's centre.
    p, q : ndarray
        The measured slopes, with noise and whatever else the kind spoils them by.
    sigma : float
        The standard deviation of the noise, a fraction of the largest slope away from jumps.
    deviation : ndarray
        The standard deviation of the noise at each pixel, in pixels per pixel.
    outliers : ndarray of bool
        Where the slopes are wildly wrong.
    jumps : tuple of ndarray
        How far the depth jumps from each pixel to the next one downwards, and to the right.
    pieces : ndarray of int
        The pixels that ways without a jump join have the same number; −1 outside the mask.
    """

    kind: str
    variant: int
    surface: Surface
    p: np.ndarray
    q: np.ndarray
    sigma: float
    deviation: np.ndarray
    outliers: np.ndarray
    jumps: tuple
    pieces: np.ndarray

    @property
    def mask(self):
        """Return the domain."""
        return self.surface.mask

    def error(self, depth):
        """Measure the RMSE after one offset for each piece: all that the gradient determines."""
        depth = as_field("depth", depth, self.mask)
        labels = self.pieces[self.mask]
        difference = (depth - self.surface.depth)[self.mask]
        means = np.bincount(labels, difference) / np.maximum(np.bincount(labels), 1)
        return float(np.sqrt(np.mean((difference - means[labels]) ** 2)))


def scene(kind, variant=0, n=128):
    """Make a scene.

    Parameters
    ----------
    kind : str
        What is difficult about it:

        - "steps": faults, across which the depth jumps by a throw that tapers to nothing;
        - "ramps": ramps that are attached at one end and end in the air, or in a pit;
        - "bodies": spheres, cones and boards that stand half in the ground, and hide each other;
        - "contours": ellipsoids and cylinders, seen up to the contour where they turn away from the camera;
        - "kinks": roofs, pyramids and folded sheets: creases without any jump;
        - "thin": bars, wires and fences, 2 to 4 pixels wide;
        - "holes": domains of other shapes than a rectangle, with holes; in it some of the above;
        - "varying": the noise is 5 times as strong in one place as in another;
        - "outliers": between 1 and 5 per cent of the slopes are wildly wrong;
        - "quantised": the normals were kept as 8-bit images;
        - "smooth": no discontinuity at all, so that there is nothing to gain.
    variant : int
        Which of its scenes. 0 … 7 are those of DEVELOPMENT and REPORT.
    n : int
        The number of rows and of columns. Other sizes than 128 show the same scene, with equal slopes.

    Returns
    -------
    Scene
        The same for the same arguments.

    Notes
    -----
    Most jumps are open curves: one can walk around their ends without a jump, so that the slopes determine
    the depth up to one constant, and a method can find it. In the variants 5 and 6 (mod 8) of the kinds with
    jumps something is cut off from the rest, and its own constant is anybody's guess.

    Examples
    --------
    >>> ramps = scene("ramps", 1)
    >>> int(ramps.pieces.max()), round(ramps.error(ramps.surface.depth + 7), 6)
    (0, 0.0)
    """
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; expected one of {', '.join(KINDS)}")
    variant, n = as_count("variant", variant, minimum=0), as_count("n", n, minimum=16)
    layers, mask, rng = _layers(kind, variant)
    surface, jumps = _photograph(layers, mask, n, f"{kind} {variant}")
    pieces = join(surface.mask, jumps)
    scale = _largest_slope(surface, jumps)
    index = KINDS.index(kind)
    sigma = SIGMAS[1 + (variant + index) % 4] if kind == "varying" else SIGMAS[(variant + index) % 5]
    p, q, deviation, outliers = _measure(kind, surface, sigma, scale, rng)
    return Scene(kind, variant, surface, p, q, sigma, deviation, outliers, jumps, pieces)


def _layers(kind, variant):
    """Return what the scene shows, its mask as a function of (u, v), and the generator to go on with."""
    rng = np.random.default_rng([2018, KINDS.index(kind), variant])
    mask = _mask(rng) if kind == "holes" else _everywhere
    if kind in WHOLE:
        return WHOLE[kind](rng), mask, rng
    what = kind if kind in ("steps", "ramps", "bodies", "contours", "thin") else "mixed"
    floating = variant % 8 in (5, 6)
    return drawing.draw(what, rng, mask(*drawing.CENTRES), floating), mask, rng


def _photograph(layers, mask, n, name):
    """Look at the layers at the centres of n×n pixels."""
    pixel = drawing.SIZE / n
    u, v = (pixel * (np.arange(n) + 0.5) for _ in range(2))
    u, v = u[:, np.newaxis], v[np.newaxis]
    z, p, q, number = layers.see(u, v)
    mask = mask(u, v)
    jumps = tuple(jump / pixel for jump in layers.jumps(u, v, number))
    return Surface(z / pixel, p, q, mask, name, np.where(mask, number, -1)), jumps


def _everywhere(u, v):
    return np.ones(np.broadcast_shapes(u.shape, v.shape), dtype=bool)


def _mask(rng):
    """Draw a domain with holes: an ellipse, an L or a star, less some discs and bars."""
    style, count = rng.integers(3), rng.integers(2, 6)
    holes = np.column_stack([rng.uniform(25, 103, (count, 2)), rng.uniform(4, 13, count)])
    radii, phase = rng.uniform(48, 64, 2), rng.uniform(0, 2 * np.pi)
    corner = rng.uniform(45, 80, 2)

    def mask(u, v):
        if style == 0:
            inside = ((u - 64) / radii[0]) ** 2 + ((v - 64) / radii[1]) ** 2 < 1
        elif style == 1:
            inside = (u > corner[0]) | (v < corner[1])
        else:
            inside = np.hypot(u - 64, v - 64) < 50 + 12 * np.cos(5 * np.arctan2(u - 64, v - 64) + phase)
        for row, column, radius in holes:
            inside = inside & (np.hypot(u - row, v - column) > radius)
        labels = scipy.ndimage.label(inside)[0]  # holes at the border leave slivers, which tell nothing
        return inside & (np.bincount(labels.ravel()) > inside.size / 50)[labels]

    return mask


def _largest_slope(surface, jumps):
    """Return the largest slope 3 pixels or more away from jumps; contours are steeper without bound."""
    near = np.zeros(surface.mask.shape, dtype=bool)
    for jump, axis in zip(jumps, (0, 1), strict=True):
        near |= (jump > CONTACT) | np.roll(jump > CONTACT, 1, axis)
    away = surface.mask & ~scipy.ndimage.binary_dilation(near, iterations=2)
    slope = np.hypot(surface.p, surface.q)
    # Thin objects have no pixel away from jumps, but are not to be spared noise.
    return max(slope[away].max(initial=0.0), np.quantile(slope[surface.mask], 0.9))


def _measure(kind, surface, sigma, scale, rng):
    """Return the measured slopes, the noise's standard deviation and where the outliers are."""
    shape = surface.mask.shape
    deviation = np.full(shape, sigma * scale)
    if kind == "varying":
        deviation *= 5.0 ** (_field(rng, shape) - 0.5)
    p, q = (slope + deviation * rng.standard_normal(shape) for slope in (surface.p, surface.q))
    outliers = np.zeros(shape, dtype=bool)
    if kind == "outliers":
        outliers = rng.random(shape) < rng.uniform(0.01, 0.05)
        angle, size = rng.uniform(0, 2 * np.pi, shape), scale * rng.uniform(1, 4, shape)
        p, q = np.where(outliers, size * np.cos(angle), p), np.where(outliers, size * np.sin(angle), q)
    if kind == "quantised":
        p, q = _quantise(p, q)
    return p, q, deviation, outliers


def _field(rng, shape):
    """Draw a field between 0 and 1: a slope, a spot, or two halves."""
    u, v = np.ogrid[-1 : 1 : shape[0] * 1j, -1 : 1 : shape[1] * 1j]
    angle, style = rng.uniform(0, 2 * np.pi), rng.integers(3)
    ramp = (np.cos(angle) * u + np.sin(angle) * v) / (abs(np.cos(angle)) + abs(np.sin(angle)))
    if style == 0:
        return (1 + ramp) / 2
    if style == 1:
        return np.exp(-3 * ((u - rng.uniform(-0.5, 0.5)) ** 2 + (v - rng.uniform(-0.5, 0.5)) ** 2))
    return (ramp > 0).astype(float)


def _quantise(p, q):
    """Return the slopes of unit normals (−p, −q, 1)/√(1 + p² + q²) that were kept as 8 bits each."""
    normals = np.stack([-p, -q, np.ones_like(p)]) / np.sqrt(1 + p**2 + q**2)
    normals = np.round(255 * (normals + 1) / 2) / 255 * 2 - 1
    return -normals[0] / normals[2], -normals[1] / normals[2]
