"""A sphere and a plane before a near camera."""

import numpy as np

from normint.normals.camera import projection

K = np.array([[300.0, 0, 47.0], [0, 240.0, 36.0], [0, 0, 1]])  # unequal focal lengths, off the centre
SHAPE = (80, 96)


def sphere(least=0.6, centre=(5.0, -4.0, -300.0), radius=50.0):
    """Return the distances, the normals and the mask of a sphere, where it is not seen at a grazing angle."""
    rays, centre = projection(K).rays(SHAPE), np.asarray(centre)
    a, b, c = (rays**2).sum(-1), rays @ centre, centre @ centre - radius**2
    root = b**2 - a * c
    seen = root > 0
    distance = (b - np.sqrt(np.where(seen, root, 0.0))) / a
    normals = (rays * distance[..., np.newaxis] - centre) / radius
    return distance, normals, seen & (projection(K).facing(normals) > least)


def plane(normal=(0.3, -0.2, 0.9), offset=-200.0):
    """Return the distances along the axis and the normals of the plane n·x = offset."""
    return offset / (projection(K).rays(SHAPE) @ np.asarray(normal)), np.broadcast_to(normal, (*SHAPE, 3))
