"""Shapes with known axes, drawn at random: smooth, wavy, creased, cut off at a contour; and spoilt."""

import numpy as np

from normint import gradient_to_normals
from normint.normals.axes import axes_warning
from normint.normals.maps import NormalMap, directions

# From the name of a change of components to which one each becomes, its sign, and the words that undo it.
CHANGES = {
    "vertical": ((0, 1, 2), (-1, 1, 1), "up right toward"),
    "horizontal": ((0, 1, 2), (1, -1, 1), "down left toward"),
    "swapped": ((1, 0, 2), (1, 1, 1), "right down toward"),
    "transposed": ((1, 0, 2), (-1, -1, 1), "left up toward"),
    "turned": ((1, 0, 2), (-1, 1, 1), "left down toward"),
    "turned back": ((1, 0, 2), (1, -1, 1), "right up toward"),
}


def quadric(rng, u, v):
    """A paraboloid, saddle or cylinder, along the axes, along a diagonal or in any direction."""
    bend = rng.uniform(-2, 2, 2) / len(u)
    bend[1] = rng.choice([bend[0], -bend[0], 0.0, bend[1]])
    return _along(
        rng.choice([0.0, np.pi / 4, rng.uniform(0, np.pi)]), u, v, lambda a, b: (bend[0] * a, bend[1] * b)
    )


def bumps(rng, u, v):
    """A tilted plane with bumps and dents."""
    p, q = rng.uniform(-0.5, 0.5, 2)
    for _ in range(rng.integers(1, 9)):
        a, b = u - rng.uniform(u.min(), u.max()), v - rng.uniform(v.min(), v.max())
        width = rng.uniform(0.06, 0.4) * len(u)
        push = rng.uniform(-2, 2) / width * np.exp(-(a**2 + b**2) / (2 * width**2))
        p, q = p + push * a, q + push * b
    return p, q


def ball(rng, u, v):
    """An ellipsoid up to its contour, on a plane; now and then it is hollow."""
    radii, height = rng.uniform(0.25, 0.6, 2) * len(u), rng.choice([1, 1, -1]) * rng.uniform(0.3, 1.0)
    rest = 1 - (u / radii[0]) ** 2 - (v / radii[1]) ** 2
    deep = -height * len(u) * np.where(rest > 0.01, 1 / np.sqrt(np.maximum(rest, 0.01)), 0.0) / 2
    return deep * u / radii[0] ** 2, deep * v / radii[1] ** 2


def wave(rng, u, v):
    """Waves in one direction, or a sum of waves along u and v, or their product; 4 pixels long or more."""
    a, b = 2 * np.pi / rng.uniform(4, len(u), 2)
    kind, size = rng.integers(3), rng.uniform(0.1, 2)
    if kind == 0:
        return _along(
            rng.uniform(0, np.pi), u, v, lambda along, across: (size * np.cos(a * along), 0 * across)
        )
    if kind == 1:
        return size * np.cos(a * u) + 0 * v, np.cos(b * v) + 0 * u
    size /= max(a, b)
    return size * a * np.cos(a * u) * np.sin(b * v), size * b * np.sin(a * u) * np.cos(b * v)


def ripples(rng, u, v):
    """Rings around a point, 3 pixels wide or more."""
    radius = np.hypot(u, v) + 1e-9
    slope = rng.uniform(0.1, 2) * np.cos(2 * np.pi / rng.uniform(3, 12) * radius)
    return slope * u / radius, slope * v / radius


def roof(rng, u, v):
    """A cone or a pyramid on a plane: creases, and slopes that are constant or nearly so."""
    steep, size, turn = rng.uniform(0.3, 2), rng.uniform(0.2, 0.5) * len(u), rng.uniform(0, np.pi / 2)
    if rng.random() < 0.5:
        radius = np.hypot(u, v) + 1e-9
        return tuple(np.where(radius < size, -steep * x / radius, 0.0) for x in (u, v))

    def pyramid(a, b):
        inside, first = np.maximum(np.abs(a), np.abs(b)) < size, np.abs(a) > np.abs(b)
        return (
            np.where(inside & first, -steep * np.sign(a), 0.0),
            np.where(inside & ~first, -steep * np.sign(b), 0.0),
        )

    return _along(turn, u, v, pyramid)


SHAPES = {shape.__name__: shape for shape in (quadric, bumps, ball, wave, ripples, roof)}


def draw(rng, shape=None, rows=None):
    """Return a normal map along u, v, z, its mask, its camera or None, and in words what it is."""
    shape = shape or str(rng.choice(list(SHAPES)))
    rows = rows or int(rng.integers(16, 129))
    columns = int(rows * rng.uniform(0.7, 1.5))
    u, v = np.indices((rows, columns)) - rng.uniform(0.4, 0.6, (2, 1, 1)) * [[[rows]], [[columns]]]
    p, q = SHAPES[shape](rng, u, v)
    camera, near = None, bool(rng.random() < 0.3)
    if near:
        focal, centre = rng.uniform(1, 6) * rows, (rows / 2, columns / 2)
        camera = [[focal, 0, centre[1]], [0, focal, centre[0]], [0, 0, 1]]
        u, v = np.indices((rows, columns))
        normals = np.stack([-p, -q, 1 - (p * (u - centre[0]) + q * (v - centre[1])) / focal], axis=-1)
        normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    else:
        normals = gradient_to_normals(p, q)
    degrees, bits = int(rng.choice([0, 0, 1, 3, 10])), rng.choice(["float", "float", "8 bits", "16 bits"])
    words = f"{shape}, {rows}×{columns}, noise {degrees}°, {bits}{', camera' if near else ''}"
    return stored(noisy(normals, degrees, rng), bits), _mask(rng, p.shape), camera, words


def noisy(normals, degrees, rng):
    """Turn each normal at random, but not away from the camera."""
    normals = normals + np.radians(degrees) * rng.standard_normal(normals.shape)
    normals[..., 2] = np.maximum(normals[..., 2], 0.01) if degrees else normals[..., 2]
    return normals / np.linalg.norm(normals, axis=-1, keepdims=True)


def stored(normals, bits):
    """Return normals as an image file keeps them."""
    types = {"8 bits": np.uint8, "16 bits": np.uint16}
    if bits not in types:
        return normals
    return np.round((normals + 1) * (np.iinfo(types[bits]).max / 2)).astype(types[bits])


def changed(normals, change):
    """Return a normal map with other axes."""
    order, signs, _ = CHANGES[change]
    moved = normals[..., order]
    turned = np.iinfo(moved.dtype).max - moved if moved.dtype.kind == "u" else -moved
    return np.where(np.array(signs) < 0, turned, moved)


def doubt(normals, mask, axes, camera):
    """Return the warning that a normal map gives, or None."""
    return axes_warning(NormalMap.decoded(normals, mask, camera, axes=axes))


def named(sentence):
    """Return the words of all axes that a warning advises."""
    return [directions(part.split("'")[1]) for part in sentence.split("axes=")[2:]]


def right_or_hollow(change):
    """Return the words that undo a change, and those that make the surface hollow besides."""
    words = directions(CHANGES[change][2])
    return [words, both_over(words)]


def both_over(words):
    """Return axes with both components along the image turned over."""
    opposite = {"up": "down", "down": "up", "left": "right", "right": "left"}
    return tuple(opposite.get(word, word) for word in words)


def _along(angle, u, v, gradient):
    """Turn a surface by an angle."""
    c, s = np.cos(angle), np.sin(angle)
    p, q = gradient(c * u + s * v, c * v - s * u)
    return c * p - s * q, s * p + c * q


def _mask(rng, shape):
    """Return the whole grid, a disc, a band that is a few pixels wide, or a grid with holes."""
    u, v = (np.linspace(-1, 1, count) for count in shape)
    kind, mask = rng.integers(6), np.ones(shape, bool)
    if kind == 0:
        mask = np.hypot(u[:, np.newaxis], v) < 0.9
    elif kind == 1:
        mask = np.abs(u[:, np.newaxis] - v) < 0.2
    elif kind == 2:
        mask = rng.random(shape) > 0.05
    return mask
