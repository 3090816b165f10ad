"""A depth map as a triangle mesh: in space as the camera sees it, cut where the surface jumps."""

from pathlib import Path

import numpy as np

from normint import inputs
from normint.files.writing import write_whole
from normint.jumps import BELOW, joined
from normint.normals.camera import projection

__all__ = ["SUFFIXES", "encode_mesh", "mesh", "write_mesh"]

SUFFIXES = (".ply", ".obj", ".stl", ".glb")


def mesh(depth, mask=None, camera=None, *, weights=None, below=BELOW):
    """Turn a depth map into a triangle mesh.

    Parameters
    ----------
    depth : array_like
        rows×columns, as :func:`normint.integrate_normals` returns it.
    mask : array_like of bool, optional
        The pixels that become vertices; by default those with a depth.
    camera : array_like, optional
        The camera's matrix; None for a camera far away. The same as for the integration.
    weights : (array_like, array_like), optional
        Of the edges downwards and to the right, as in :class:`normint.Integration`. No triangle spans an edge
        whose weight is below ``below`` times the median: there the method let the surface jump.
    below : float

    Returns
    -------
    trimesh.Trimesh
        One vertex for each pixel of the mask, in the order of the rows. x points right, y up and z to the
        camera; so do the normals of the triangles. Without a camera the unit is a pixel and the first pixel
        is at x = y = 0; with one the camera is at the origin and the unit is that of the depth.

    Notes
    -----
    A square of four neighbouring pixels has four corners, each with its two sides. A corner can be a triangle
    if its three pixels are in the mask and its two sides are not cut. Two opposite corners fill the square;
    otherwise one corner fills half of it. So all that a triangle joins is joined by edges that
    are not cut, and a closed line of cuts separates the mesh.

    Examples
    --------
    >>> flat = mesh([[0.0, 0.0], [0.0, 0.0]])
    >>> len(flat.vertices), len(flat.faces), flat.faces.tolist()
    (4, 2, [[0, 2, 1], [3, 1, 2]])
    """
    import trimesh  # here, since it is slow to load and the workbook's figures may not need it

    depth = np.asarray(depth, dtype=np.float64)
    if depth.ndim != 2:
        raise ValueError(f"depth has {depth.ndim} dimensions; expected 2 (rows and columns)")
    mask = inputs.as_mask(np.isfinite(depth) if mask is None else mask, depth.shape)
    depth = inputs.as_field("depth", depth, mask)
    lens = projection(camera)
    if camera is not None and not (depth[mask] > 0).all():
        raise ValueError("depth is zero or negative somewhere; expected distances > 0 with a camera")
    u, v, z = np.moveaxis(lens.points(depth)[mask], 1, 0)
    return trimesh.Trimesh(
        vertices=np.stack([v, -u, z], axis=1),
        faces=_triangles(mask, *joined(mask, weights, below)),
        process=False,  # one vertex per pixel, in their order
    )


def write_mesh(path, mesh):
    """Write a mesh to a file, whole or not at all.

    Parameters
    ----------
    path : path-like
        Its suffix is the format: one of `SUFFIXES`.
    mesh : trimesh.Trimesh

    Examples
    --------
    >>> write_mesh("statue.doc", None)
    Traceback (most recent call last):
    ...
    ValueError: path is statue.doc; expected a name that ends in .ply, .obj, .stl or .glb
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        names = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        raise ValueError(f"path is {path}; expected a name that ends in {names}")
    write_whole(path, encode_mesh(mesh, suffix))


def encode_mesh(mesh, suffix):
    """Return the bytes of a mesh as a file of one of the `SUFFIXES`."""
    data = mesh.export(file_type=suffix[1:])
    return data.encode() if isinstance(data, str) else data


def _triangles(mask, down, right):
    """Return the triangles of all squares, counter-clockwise as seen by the camera."""
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
