"""Sculptures with known depth: bodies melted together, seen by a far or a near camera.

A body is given by its signed distance: negative inside, zero on the surface, and hardly ever more than the
way to it. Unions, round seams and relief are formulas of such distances, and a ray finds the surface by
walking as far as the distance allows, again and again. So every number makes another scene, with exact depth
and exact normals; only at contours, which rays graze, a pixel in some thousands stops short or goes past.
"""

from dataclasses import dataclass
from functools import partial, reduce

import numpy as np

from normint.inputs import as_count
from normint.normals.camera import projection
from normint.normals.maps import NormalMap, directions, turned

LEARNING, REPORT = range(0, 60, 2), range(1, 60, 2)  # numbers to learn from, and those to be judged on
SIGMAS = (0.0, 0.0, 0.005, 0.01, 0.02, 0.05)  # of the noise in each component of a normal
BITS = (8, 16, 16, None)  # None: real numbers
VIEW = 1.3  # half the width of what is seen, in units of the sculpture
FRONT = 4.0  # where the rays of a far camera start: before all that they may meet
STEPS, REACH = 160, 8.0  # of a ray: how many, and how far it goes along the axis
NEAR, CLOSE = 1e-6, 1e-3  # it stops so near to the surface; if steps run out, so close counts as a hit
GRAZING = 0.01  # the least cosine between a measured normal and the direction to the camera


@dataclass(frozen=True, eq=False)
class Sculpture:
    """A normal map with its true depth.

    Attributes
    ----------
    seed : int
    normals : ndarray
        rows×columns×3 along u, v and z, as measured: with noise, rounded to `bits`, all turned to the camera;
        NaN outside the mask.
    mask : ndarray of bool
    depth : ndarray
        With a camera, the distance from it along its axis; without one, z towards the viewer, in pixels.
        NaN outside the mask.
    camera : ndarray or None
        The matrix of a near camera, None for one far away.
    sigma : float
        The standard deviation of the noise in each component of a normal.
    bits : int or None
        To how many bits each component is rounded; None for not at all.
    """

    seed: int
    normals: np.ndarray
    mask: np.ndarray
    depth: np.ndarray
    camera: np.ndarray | None
    sigma: float
    bits: int | None

    def slopes(self):
        """Return the measured normals as a decoded :class:`normint.normals.maps.NormalMap`: p, q and mask."""
        return NormalMap.decoded(self.normals, self.mask, self.camera)

    def error(self, depth):
        """Measure the mean absolute error of a depth, in pixels, after giving it what normals do not tell.

        Parameters
        ----------
        depth : ndarray
            As the attribute `depth`, up to a constant or, with a camera, up to a factor. Where it is NaN it
            is not judged.

        Notes
        -----
        With a camera of focal length f, a pixel is as wide as d/f at the distance d; the median of the true
        distances is taken for all.

        Examples
        --------
        >>> far, near = sculpture(1, 32), sculpture(0, 32)
        >>> round(far.error(far.depth + 7), 6), round(near.error(7 * near.depth), 6)
        (0.0, 0.0)
        """
        if self.camera is None:
            difference = depth - self.depth
            return float(np.nanmean(np.abs(difference - np.nanmedian(difference))))
        difference = depth * np.nanmedian(self.depth / depth) - self.depth
        pixel = np.nanmedian(self.depth) / projection(self.camera).unit
        return float(np.nanmean(np.abs(difference)) / pixel)


def sculpture(seed, n=160):
    """Make a sculpture.

    Parameters
    ----------
    seed : int
        Which one. Even numbers (`LEARNING`) are for learning, odd ones (`REPORT`) for judging.
    n : int
        The number of rows and of columns.

    Returns
    -------
    Sculpture
        The same for the same arguments, on any machine up to rounding.

    Examples
    --------
    >>> figure = sculpture(3, 48)
    >>> figure.normals.shape, figure.camera is None, bool(np.isfinite(figure.depth[figure.mask]).all())
    ((48, 48, 3), True, True)
    """
    seed, n = as_count("seed", seed, minimum=0), as_count("n", n, minimum=16)
    distance, camera, sigma, bits, rng = _drawn(seed, n)
    origins, rays = _rays(camera, n)
    along, hit = _march(distance, origins, rays)
    points = origins + along[..., np.newaxis] * rays
    normals = _gradient(distance, points)
    hit &= np.einsum("...k,...k", normals, rays) < 0
    measured = _measure(normals, rays, sigma, bits, rng)
    depth = points[..., 2] * n / (2 * VIEW) if camera is None else along
    measured = turned(measured, directions("xyz"))
    measured[~hit], depth[~hit] = np.nan, np.nan
    return Sculpture(seed, measured, hit, depth, camera, sigma, bits)


def spoiling(seed):
    """Return the `sigma` and the `bits` of a sculpture, without making it.

    Examples
    --------
    >>> spoiling(3) == (sculpture(3, 16).sigma, sculpture(3, 16).bits)
    True
    """
    return _drawn(as_count("seed", seed, minimum=0), 16)[2:4]


def _drawn(seed, n):
    """Draw a sculpture: its distance, camera, sigma and bits; and return what its noise comes from."""
    rng = np.random.default_rng([2018, seed])
    distance = _table(rng) if rng.random() < 0.5 else partial(_figure, *_bodies(rng, rng.integers(3, 9), 1.2))
    camera = _camera(rng, n)
    sigma, bits = float(rng.choice(SIGMAS)), BITS[rng.integers(len(BITS))]
    return distance, camera, sigma, bits, rng


def _camera(rng, n):
    """Draw a camera that sees what lies within `VIEW` of the origin: far away, or near."""
    if rng.random() < 0.5:
        return None
    centre = (n - 1) / 2
    focal = rng.uniform(3.0, 6.0) * n / (2 * VIEW)  # at that distance a pixel is as wide as for a far camera
    return np.array([[focal, 0, centre], [0, focal, centre], [0, 0, 1.0]])


def _rays(camera, n):
    """Return where the rays of all pixels start, and where they go: 1 along the axis.

    Here and below x is to the right, y up and z towards the camera.
    """
    pixel = 2 * VIEW / n
    rays = np.zeros((n, n, 3))
    rays[..., 2] = -1.0
    across = (np.arange(n) - (n - 1) / 2) * pixel
    if camera is None:
        origins = np.stack(np.broadcast_arrays(across, -across[:, np.newaxis], FRONT), axis=-1)
        return origins, rays
    towards = projection(camera).rays((n, n))
    rays[..., 0], rays[..., 1] = towards[..., 1], -towards[..., 0]
    return np.broadcast_to([0.0, 0.0, camera[0, 0] * pixel], rays.shape), rays


def _march(distance, origins, rays):
    """Walk along the rays up to the surface; return how far along the axis it is, and whether it was met.

    Relief makes distances somewhat too large, so steps are shortened.
    """
    shape = rays.shape[:-1]
    origins, rays = origins.reshape(-1, 3), rays.reshape(-1, 3)
    lengths = np.linalg.norm(rays, axis=-1)
    along, going = np.zeros(len(rays)), np.arange(len(rays))
    left = np.full(len(rays), np.inf)
    for _ in range(STEPS):
        left[going] = distance(origins[going] + along[going, np.newaxis] * rays[going])
        along[going] += 0.8 * left[going] / lengths[going]
        going = going[(np.abs(left[going]) > NEAR) & (along[going] < REACH)]
    hit = (along < REACH) & (np.abs(left) < CLOSE)
    return along.reshape(shape), hit.reshape(shape)


def _gradient(distance, points, h=1e-5):
    """Return the unit normals at points of the surface."""
    flat = points.reshape(-1, 3)
    normals = np.stack([distance(flat + step) - distance(flat - step) for step in h * np.eye(3)], axis=-1)
    length = np.linalg.norm(normals, axis=-1, keepdims=True)
    return (normals / np.where(length > 0, length, 1.0)).reshape(points.shape)


def _measure(normals, rays, sigma, bits, rng):
    """Add noise to normals, round them, and turn those that now face away from the camera back to it."""
    normals = normals + sigma * rng.standard_normal(normals.shape)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    if bits is not None:
        largest = 2.0**bits - 1
        normals = np.rint((normals + 1) / 2 * largest) / largest * 2 - 1
    rays = rays / np.linalg.norm(rays, axis=-1, keepdims=True)
    facing = -np.einsum("...k,...k", normals, rays)
    return normals + np.minimum(facing - GRAZING, 0.0)[..., np.newaxis] * rays


def _table(rng):
    """Draw some objects on a plane that is seen from above, at an angle."""
    angle = rng.uniform(0.35, 1.2)
    up = np.array([0.0, np.cos(angle), np.sin(angle)])
    objects = [partial(_plane, up)]
    for _ in range(rng.integers(1, 5)):
        centre, size = rng.uniform(-0.8, 0.8, 3), rng.uniform(0.4, 1.0)
        centre += up * (0.25 * size - up @ centre)  # so low that it stands on the floor, or in it
        figure = partial(_figure, *_bodies(rng, rng.integers(1, 5), size))
        objects.append(partial(_shifted, figure, centre))
    return partial(_union, objects)


def _bodies(rng, count, size):
    """Draw bodies that hang together around the origin, how round their seams are, and their relief."""
    bodies, centre = [], np.zeros(3)
    for _ in range(count):
        turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        kind = (_ellipsoid, _capsule, _box, _ring)[rng.integers(4)]
        scale = size * rng.uniform(0.2, 0.6, 3)
        if kind is _capsule and rng.random() < 0.5:
            scale[1] = 0.05 * size  # a thin part
        bodies.append(partial(kind, centre, turn, scale))
        centre = 0.7 * (centre + size * rng.uniform(-0.8, 0.8, 3))
    relief = rng.uniform(8, 25), rng.choice([0.0, 0.0, 0.005, 0.015]) * size, rng.uniform(0, 6, 3)
    return bodies, size * rng.choice([0.0, 0.05, 0.15, 0.3]), relief


def _figure(bodies, seam, relief, x):
    """Melt bodies together with round seams, and add a relief."""
    total = reduce(partial(_melted, seam), (body(x) for body in bodies))
    frequency, height, phase = relief
    return total + height * _product(np.sin(frequency * x + phase)) if height else total


def _melted(seam, a, b):
    """Return the union of two bodies, whose seam is rounded over this width."""
    near = np.maximum(seam - np.abs(a - b), 0.0) / seam if seam else 0.0
    return np.minimum(a, b) - near**2 * seam / 4


def _union(parts, x):
    """Return the distance to the nearest of some bodies."""
    return reduce(np.minimum, (part(x) for part in parts))


def _shifted(part, centre, x):
    """Return the distance to a body that was moved to this centre."""
    return part(x - centre)


def _plane(normal, x):
    """Return the height above a plane through the origin."""
    return x @ normal


def _ellipsoid(centre, turn, radii, x):
    """Return about the distance to an ellipsoid: near its surface to first order, and zero on it."""
    x = (x - centre) @ turn
    outer, inner = _length(x / radii), _length(x / radii**2)
    return outer * (outer - 1.0) / np.maximum(inner, 1e-9)


def _capsule(centre, turn, scale, x):
    """Return the distance to a rod with round ends: 4 scale₀ between their centres, scale₁ thick."""
    x = (x - centre) @ turn
    x[..., 0] -= np.clip(x[..., 0], -2 * scale[0], 2 * scale[0])
    return _length(x) - 0.5 * scale[1]


def _box(centre, turn, sides, x):
    """Return the distance to a box with rounded edges; half of a side is 0.8 of `sides`, and the rounding."""
    x, rounding = np.abs((x - centre) @ turn) - 0.8 * sides, 0.1 * sides.min()
    return _length(np.maximum(x, 0.0)) + np.minimum(_largest(x), 0.0) - rounding


def _ring(centre, turn, scale, x):
    """Return the distance to a ring of radius scale₀."""
    x = (x - centre) @ turn
    around = np.hypot(x[..., 0], x[..., 1]) - scale[0]
    return np.hypot(around, x[..., 2]) - 0.35 * min(scale[0], scale[1])


# NumPy takes ten times as long to go along an axis of three as to put three columns together.


def _length(x):
    """Return the lengths of vectors."""
    squares = x * x
    return np.sqrt(squares[..., 0] + squares[..., 1] + squares[..., 2])


def _largest(x):
    """Return the largest component of each vector."""
    return np.maximum(np.maximum(x[..., 0], x[..., 1]), x[..., 2])


def _product(x):
    """Return the product of the components of each vector."""
    return x[..., 0] * x[..., 1] * x[..., 2]
