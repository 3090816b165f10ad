"""A surface made a closed body, with walls along its outline and a flat floor below, as printers need it."""

import numpy as np
import scipy.sparse

from normint.files.triangles import outline, side_keys, simplified, used

__all__ = ["closed"]

GAP = 0.05  # pixels between parts that would touch in a point


def closed(points, faces, *, few=False):
    """Close a surface by walls and a floor.

    Parameters
    ----------
    points, faces : ndarray
        As in :mod:`normint.files.triangles`.
    few : bool
        Whether the floor has few triangles, or those of the surface.

    Returns
    -------
    points, faces : ndarray
        Points of the surface first. The others lie on the floor: they have its rows and columns, and no
        meaningful height.
    count : int
        How many points are on the surface.

    Notes
    -----
    Each side of each triangle belongs to one other triangle. Parts that touch in a point only are moved apart
    a little, see :func:`_taken_apart`.

    Examples
    --------
    A tetrahedron cut off at its floor: a triangle above, one below, three walls of two.

    >>> points, faces, count = closed(np.array([[0.0, 0, 9], [1, 0, 9], [0, 1, 9]]), np.array([[0, 1, 2]]))
    >>> len(points), len(faces), count
    (6, 8, 3)
    """
    points, faces = used(*_taken_apart(points, faces))
    below, floor, number = _floor(points, faces) if few else (points, faces, np.arange(len(points)))
    start, end = outline(faces).T
    start_below, end_below = number[start] + len(points), number[end] + len(points)
    walls = (end, start, start_below), (end, start_below, end_below)
    faces = [faces, floor[:, ::-1] + len(points), *(np.stack(wall, axis=1) for wall in walls)]
    return np.concatenate([points, below]), np.concatenate(faces), len(points)


def _floor(points, faces):
    """Return points and triangles with the outline of a surface, and the number there of each of its points.

    If the outline does not come out the same, the floor has the triangles of the surface.
    """
    flat = points * [1.0, 1.0, 0.0]
    few, floor = simplified(flat, faces, len(faces) // 1000)
    key, wanted = np.round(few, 6) @ [1, 1j, 0], np.round(flat, 6) @ [1, 1j, 0]
    order = np.argsort(key)
    number = order[np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)]
    sides = outline(faces)
    there = (key[number] == wanted)[sides].all()
    if there and set(side_keys(number[sides])) == set(side_keys(outline(floor))):
        return few, floor, number
    return flat, faces, np.arange(len(points))


def _taken_apart(points, faces):
    """Give each part of a surface a point of its own where several touch in one.

    The walls below such a point would have a side in common. The new points are moved by `GAP` into their
    parts, so that they are apart in files that keep nothing but positions, such as STL.
    """
    several = np.bincount(outline(faces)[:, 0], minlength=len(points)) > 1
    if not several.any():
        return points, faces
    face, k = np.nonzero(several[faces])  # corners of triangles
    here, after, before = (faces[face, (k + step) % 3].astype(np.int64) for step in (0, 1, 2))
    # Two corners are of one part if the side that leaves the point in one comes to it in the other.
    leaves, comes = (side_keys(np.stack([here, other], axis=1)) for other in (after, before))
    _, i, j = np.intersect1d(leaves, comes, return_indices=True)
    graph = scipy.sparse.coo_array((np.ones(len(i), bool), (i, j)), shape=(len(here), len(here)))
    count, part = scipy.sparse.csgraph.connected_components(graph, directed=False)
    inwards, origin = np.zeros((count, 3)), np.zeros(count, np.int64)
    np.add.at(inwards, part, points[after] + points[before] - 2 * points[here])
    origin[part] = here
    length = np.hypot(inwards[:, 0], inwards[:, 1])[:, np.newaxis]
    faces = faces.copy()
    faces[face, k] = len(points) + part
    return np.concatenate([points, points[origin] + GAP * inwards / np.maximum(length, GAP)]), faces
