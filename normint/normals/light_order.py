"""Lights whose order and axes are not known: try all readings and let the surface decide.

A gradient field belongs to a surface only if its curl is zero. With lights in the wrong order, or along the
wrong axes, photometric stereo gives a field that belongs to none.
"""

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from normint.curl import relative_curl
from normint.inputs import as_mask
from normint.normals.convert import normals_to_gradient
from normint.normals.photometric_stereo import photometric_stereo

__all__ = ["Reading", "readings"]

STEEP = 0.1  # pixels whose n_z is smaller have slopes beyond 10, where noise decides: they do not count


@dataclass(frozen=True, eq=False)
class Reading:
    """One way to read a table of lights.

    Attributes
    ----------
    order : tuple of int
        Which row of the table belongs to each image.
    axes : str
        What the table's first two columns mean: "+u+v", "-v+u", …
    lights : ndarray
        The lights read so: one row per image, along u, v and z.
    curl : float
        The relative curl of the gradient that comes out; infinite if most normals face away.
    outwards : float
        How much the normals at the silhouette point out of it: the mean cosine, from −1 to 1. A positive
        number means that the object bulges towards the camera.
    """

    order: tuple
    axes: str
    lights: np.ndarray
    curl: float
    outwards: float


def readings(images, table, mask=None):
    """Compare all readings of a table of three lights, the most integrable first.

    Parameters
    ----------
    images : sequence of array_like
        Three grey images.
    table : array_like
        3×3: the third column is along z, the other two along u and v in an unknown order and direction.
    mask : array_like, optional
        The object.

    Returns
    -------
    list of Reading
        48 of them: 6 orders, 2 ways to name the axes, 4 choices of sign. Turning both signs turns the
        surface inside out and leaves the curl as it is; of the two, the one that bulges comes first.

    Examples
    --------
    >>> from normint.surfaces.rendering import photograph
    >>> from normint.surfaces import bust
    >>> statue = bust(64)
    >>> lights = np.array([[0.1, 0.3, 1.0], [-0.3, 0.0, 1.0], [0.1, -0.3, 1.0]])
    >>> images = photograph(statue, lights)
    >>> best = readings(images, lights[[1, 0, 2]], statue.mask)[0]
    >>> best.order, best.axes, bool(np.allclose(best.lights, lights))
    ((1, 0, 2), '+u+v', True)
    """
    table = np.asarray(table, dtype=np.float64)
    if table.shape != (3, 3) or len(images) != 3:
        raise ValueError(f"table has shape {table.shape}, for {len(images)} images; expected (3, 3), for 3")
    mask = as_mask(mask, np.shape(images[0]))
    found = []
    for order in permutations(range(3)):
        for swapped, first, second in product((False, True), (1, -1), (1, -1)):
            columns = table[list(order)] * np.array([first, second, 1])
            lights = columns[:, [1, 0, 2]] if swapped else columns
            names = "vu" if swapped else "uv"
            axes = "".join("+-"[sign < 0] + name for sign, name in zip((first, second), names, strict=True))
            found.append(Reading(order, axes, lights, *_judge(images, lights, mask)))
    return sorted(found, key=lambda reading: (round(reading.curl, 9), -reading.outwards))


def _judge(images, lights, mask):
    """Return the relative curl and how much the normals at the silhouette point outwards."""
    normals, _ = photometric_stereo(images, lights, mask)
    with np.errstate(invalid="ignore"):
        counts = mask & (normals[..., 2] > STEEP)
    if np.count_nonzero(counts) < np.count_nonzero(mask) / 2:
        return np.inf, 0.0
    p, q = normals_to_gradient(np.where(counts[..., np.newaxis], normals, 1.0), counts)
    # Just inside the silhouette a blurred mask rises inwards: its slope points in.
    inwards = np.stack(np.gradient(_blurred(mask)), axis=-1)
    length = np.linalg.norm(inwards, axis=2)
    rim = counts & (length > 0.05)
    cosine = -np.sum(normals[..., :2] * inwards, axis=2)[rim] / length[rim]
    return relative_curl(p, q, counts), float(cosine.mean()) if cosine.size else 0.0


def _blurred(mask):
    from scipy.ndimage import uniform_filter

    return uniform_filter(mask.astype(np.float64), 5, mode="constant")
