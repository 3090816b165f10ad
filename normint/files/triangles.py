"""Triangles of a surface over the image: all that the grid has, or fewer.

A point is (u, v, h): its row, its column and its height, all in pixels. Triangles are counter-clockwise as
the camera sees them, so that each of their sides, taken with its direction, belongs to one triangle.
"""

import numpy as np

from normint.extras import extra

__all__ = ["grid_triangles", "outline", "side_keys", "simplified", "used", "vertex_normals"]

SCALES = (300.0, 30.0, 3.0, 1.0)  # units in a pixel


def grid_triangles(mask, down, right):
    """Return the triangles of all squares of four pixels.

    Parameters
    ----------
    mask : ndarray of bool
    down, right : ndarray of bool
        Which edges join two pixels, as from :func:`normint.jumps.joined`.

    Returns
    -------
    ndarray of int
        n×3, numbers of pixels in the order of the rows.

    Notes
    -----
    A square has four corners, each with its two sides. A corner can be a triangle if its three pixels are in
    the mask and its two sides are not cut. Two opposite corners fill the square; otherwise one corner fills
    half of it. So all that a triangle joins is joined by edges that are not cut, and a closed line of cuts
    separates the mesh.
    """
    number = np.full(mask.shape, -1, dtype=np.int32 if mask.size < 2**31 else np.int64)
    number[mask] = np.arange(np.count_nonzero(mask))
    # The pixels of a square, a b over c d, and whether its sides join them.
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]
    above, beneath, left, beside = right[:-1], right[1:], down[:, :-1], down[:, 1:]
    at_a, at_b, at_c, at_d = above & left, above & beside, beneath & left, beneath & beside
    # a and d together fill the square. Beside one of them alone, b or c would overlap it; with all four
    # sides there, b and c are not needed.
    at_b &= ~(at_a | at_d)
    at_c &= ~(at_a | at_d)
    corners = ((at_a, (a, c, b)), (at_d, (d, b, c)), (at_b, (b, a, d)), (at_c, (c, d, a)))
    return np.concatenate([np.stack([k[where] for k in three], axis=1) for where, three in corners])


def simplified(points, faces, count, *, keep_outline=True):
    """Merge triangles where the surface is nearly flat, by quadric edge collapse.

    Parameters
    ----------
    points : ndarray
        n×3.
    faces : ndarray of int
    count : int
        How many triangles to leave, about.
    keep_outline : bool
        Whether points of the outline, and beside cuts, stay as they are. Then more may be left.

    Returns
    -------
    points, faces : ndarray

    Notes
    -----
    The library goes through the mesh again and again, and merges what costs less than a bound. This begins at
    10⁻⁹ square units and grows fast at first, slowly later. In a large unit the first round would do
    all the work, from one end of the mesh until enough is merged. So we begin with a small one.

    References
    ----------
    M. Garland, P. Heckbert, "Surface simplification using quadric error metrics", SIGGRAPH 1997.
    """
    if len(faces) <= count:
        return points, faces
    with extra("mesh", "a mesh with fewer triangles"):
        import fast_simplification

    middle = points.mean(axis=0)
    points = points - middle
    for scale in SCALES:
        if len(faces) <= count:
            break
        points, faces = fast_simplification.simplify(
            points * scale, faces, target_count=count, preserve_border=keep_outline
        )
        points = points / scale
    return points + middle, _one_triangle_a_side(faces)


def outline(faces):
    """Return the sides that belong to one triangle only, with their directions, n×2.

    Examples
    --------
    >>> outline(np.array([[0, 2, 1], [3, 1, 2]])).tolist()
    [[0, 2], [1, 0], [3, 1], [2, 3]]
    """
    # Around a point inside, each neighbour comes once after it in a triangle and once before it: random marks
    # of the neighbours add up to zero. So most triangles need not be compared with others.
    marks = np.random.default_rng(0).integers(1, 2**40, int(faces.max(initial=0)) + 1)
    after_less_before = marks[np.roll(faces, -1, axis=1)] - marks[np.roll(faces, 1, axis=1)]
    outside = np.bincount(faces.ravel(), weights=after_less_before.ravel(), minlength=len(marks)) != 0
    sides = _sides(faces[np.count_nonzero(outside[faces], axis=1) > 1])
    sides = sides[outside[sides].all(axis=1)]
    return sides[~np.isin(side_keys(sides[:, ::-1]), side_keys(sides))]


def side_keys(sides):
    """Return one number for each directed side."""
    return sides[:, 0].astype(np.int64) << 32 | sides[:, 1]


def used(points, faces):
    """Leave out the points that are in no triangle.

    Examples
    --------
    >>> used(np.eye(4)[:, :3], np.array([[3, 1, 2]]))[1]
    array([[2, 0, 1]])
    """
    there = np.zeros(len(points), bool)
    there[faces] = True
    return points[there], (np.cumsum(there) - 1)[faces]


def vertex_normals(vertices, faces):
    """Return the mean normal of the triangles at each point in space, larger ones counting more.

    Examples
    --------
    >>> vertex_normals(np.array([[0.0, 0, 7], [2, 0, 7], [0, 1, 7]]), np.array([[0, 1, 2]]))[0]
    array([0., 0., 1.])
    """
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)
    place, count = faces.ravel(), len(vertices)
    total = np.stack([np.bincount(place, np.repeat(area[:, k], 3), count) for k in range(3)], axis=1)
    length = np.linalg.norm(total, axis=1)[:, np.newaxis]
    return np.where(length > 0, total / np.where(length > 0, length, 1.0), [0.0, 0.0, 1.0])


def _sides(faces):
    """Return the sides of all triangles with their directions, those of each triangle together."""
    return np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)


def _one_triangle_a_side(faces):
    """Leave out triangles whose side, in its direction, another one has: collapses may fold thin parts."""
    keys = side_keys(_sides(faces))
    first = np.zeros(len(keys), bool)
    first[np.unique(keys, return_index=True)[1]] = True
    return faces[first.reshape(-1, 3).all(axis=1)]
