"""Normal maps as people have them, with known axes: drawn at random from surfaces of the package."""

from functools import cache

import numpy as np

from normint import gradient_to_normals, surfaces
from normint.normals.conventions import AUTO, DIRECTIONS, twin
from normint.surfaces.scenes import scene
from normint.surfaces.sculptures import sculpture

OBJECTS = ("figurine", "bust", "vase", "sculpture", "scene")
SMOOTH = ("peaks", "smooth")  # without contours: raised and hollow look alike
BOXES = 2  # a scene of upright boxes on a plane, which fit most axes
COLOURS = {"white": (1, 1, 1), "black": (0, 0, 0), "grey": (0.5, 0.5, 0.5), "flat": (0.5, 0.5, 1)}


@cache
def normals_of(shape, size, number=0):
    """Return the normals along u, v and z, the mask and the camera of a surface."""
    if shape == "sculpture":
        found = sculpture(number, size)
        return np.nan_to_num(found.normals), found.mask, found.camera
    if shape in ("scene", "smooth"):
        found = scene(("bodies", "contours")[number % 2] if shape == "scene" else shape, number // 2, size)
        return gradient_to_normals(found.surface.p, found.surface.q), found.mask, None
    found = getattr(surfaces, shape)(size)
    return gradient_to_normals(found.p, found.q), found.mask, None


def draw(rng):
    """Return a normal map, its mask, its camera, the words of its axes, and in words what it is."""
    shape = str(rng.choice(OBJECTS + SMOOTH))
    size, number = int(rng.choice([96, 128])), int(rng.integers(8))
    number = number + 1 if (shape, number) == ("scene", BOXES) else number
    normals, inside, camera = normals_of(shape, size, number)
    axes = [tuple(text.split()) for text in AUTO]
    if shape in SMOOTH:
        axes = [words for words in axes if twin(words) not in axes]
    words = axes[rng.integers(len(axes))]
    degrees = rng.uniform(0, 5) if rng.random() < 0.8 else 0.0
    noisy = normals + np.radians(degrees) * rng.standard_normal(normals.shape)
    noisy /= np.linalg.norm(noisy, axis=-1, keepdims=True) + 1e-12
    turned = np.stack([DIRECTIONS[word][1] * noisy[..., DIRECTIONS[word][0]] for word in words], axis=-1)
    covers = ["none"] if shape in ("scene", *SMOOTH) else ["mask", "alpha", *COLOURS]
    cover, bits = str(rng.choice(covers)), str(rng.choice(["8", "16", "32", "0 to 1"]))
    if cover in COLOURS:
        turned[~inside] = 2 * np.array(COLOURS[cover]) - 1
        if cover == "flat" and words[2] == "away":
            turned[~inside] *= -1
    values = stored(turned, bits)
    if cover == "alpha":
        largest = 1 if values.dtype.kind == "f" else np.iinfo(values.dtype).max
        values = np.dstack([values, (inside * largest).astype(values.dtype)])
    if rng.random() < 0.2:
        values = np.moveaxis(values, 2, 0)
    text = f"{shape} {size}, {' '.join(words)}, {degrees:.1f}°, {bits} bits, {cover}"
    return values, inside if cover == "mask" else None, camera, words, text


def stored(normals, bits):
    """Return normals as files keep them."""
    if bits in ("8", "16"):
        kind = np.dtype(f"uint{bits}")
        return np.round((normals + 1) * (np.iinfo(kind).max / 2)).astype(kind)
    return ((normals + 1) / 2 if bits == "0 to 1" else normals).astype(np.float32)
