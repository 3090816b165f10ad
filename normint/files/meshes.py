"""A depth map as a triangle mesh: in space as the camera sees it, cut where the surface jumps."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.ndimage

from normint import inputs
from normint.files.images import encode_image
from normint.files.solids import closed
from normint.files.textures import material, texture_coordinates
from normint.files.triangles import grid_triangles, outline, simplified, used, vertex_normals
from normint.files.writing import write_together
from normint.jumps import BELOW, joined
from normint.normals.camera import projection

__all__ = ["SUFFIXES", "encode_mesh", "mesh", "mesh_files", "write_mesh"]

SUFFIXES = (".ply", ".obj", ".stl", ".glb")
THICKNESS = 0.05  # of the longer side: the base, if it is "auto"
TOLERANCE = 1.02  # times the triangles that are asked for
AREA = 0.005  # part of the image that a simpler outline may win or lose


def mesh(
    depth, mask=None, camera=None, *, weights=None, below=BELOW, triangles=None, base=None, mm_per_pixel=None,
    texture=None,
):  # fmt: skip
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
        whose weight is 0, or below ``below`` times the median and across a step of a pixel that those beside
        it do not have: there the method let the surface jump.
    below : float
    triangles : int, optional
        How many triangles to have, about: where the surface is nearly flat, they are merged. Outline and
        cuts stay as they are, which may need more, unless they can be simplified with little loss. By default
        each four pixels have two.
    base : float or "auto", optional
        Close the surface to a solid body with walls along its outline and along cuts, and a flat floor that
        far behind its farthest point: in the unit of the mesh, or 5 % of the longer side. The walls go
        straight back or, with a camera, along its rays. Separate pieces become separate bodies.
    mm_per_pixel : float, optional
        Makes the unit a millimetre. With a camera the unit is that of the depth, and this is refused.
    texture : array_like, optional
        A photograph or an albedo of the same view, in any resolution: rows×columns, or rows×columns×3.

    Returns
    -------
    trimesh.Trimesh
        With normals and texture coordinates at the vertices. x points right, y up and z to the camera; so do
        the normals of the triangles. Without a camera the unit is a pixel and the first pixel is at
        x = y = 0; with one the camera is at the origin and the unit is that of the depth. Unless
        ``triangles`` or ``base`` is given, there is one vertex for each pixel of the mask, by rows.

    Notes
    -----
    Fewer triangles are found over the image, where lengths are pixels: of (u, v, h) with the height h = z, or
    −f log d with a camera. Normals at the vertices are those of the full surface there, so that a coarse mesh
    is shaded as the fine one. A solid has none: it has edges.

    Examples
    --------
    >>> flat = mesh([[0.0, 0.0], [0.0, 0.0]])
    >>> len(flat.vertices), len(flat.faces), flat.faces.tolist()
    (4, 2, [[0, 2, 1], [3, 1, 2]])
    >>> mesh([[0.0, 0.0], [0.0, 0.0]], base=3.0).volume
    np.float64(3.0)
    """
    import trimesh  # here, since it is slow to load and the workbook's figures may not need it

    depth = np.asarray(depth, dtype=np.float64)
    if depth.ndim != 2:
        raise ValueError(f"depth has {depth.ndim} dimensions; expected 2 (rows and columns)")
    mask = inputs.as_mask(np.isfinite(depth) if mask is None else mask, depth.shape)
    depth = inputs.as_field("depth", depth, mask)
    scale, base = _as_scale(mm_per_pixel, camera), _as_base(base)
    triangles = None if triangles is None else inputs.as_count("triangles", triangles, 4)
    looks = material(texture, depth.shape)
    view = _View(np.where(mask, depth, np.nan), mask, projection(camera))
    if camera is not None and not (depth[mask] > 0).all():
        raise ValueError("depth is zero or negative somewhere; expected distances > 0 with a camera")
    points, vertices = view.grid, view.grid_vertices
    height = np.full(mask.shape, np.nan)
    height[mask] = points[:, 2]
    faces = grid_triangles(mask, *joined(mask, weights, below, height))
    normals = None if base is not None else vertex_normals(vertices, faces)
    if triangles is not None:
        points, faces = _fewer(points, faces, triangles, base is not None)
        vertices = view.vertices(points)
        normals = None if base is not None else view.normals(points, normals, vertex_normals(vertices, faces))
    if base is not None:
        points, faces, above = closed(points, faces, few=triangles is not None)
        vertices = view.vertices(points)
        thick = base / scale if base != "auto" else THICKNESS * np.ptp(vertices[:above, :2], axis=0).max()
        vertices[above:] = _on_floor(vertices, above, thick, view.lens.far)
    made = trimesh.Trimesh(scale * vertices, faces, vertex_normals=normals, process=False)
    made.visual = trimesh.visual.TextureVisuals(texture_coordinates(points, depth.shape), material=looks)
    made.units = None if mm_per_pixel is None else "mm"
    made.metadata["solid"] = base is not None
    return made


def write_mesh(path, mesh):
    """Write a mesh to a file, whole or not at all, and the texture that an OBJ file needs beside it.

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
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        names = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        raise ValueError(f"path is {path}; expected a name that ends in {names}")
    made = encode_mesh(mesh, path.name)
    # The file itself is the last: where it is, all that it needs is.
    names = sorted(made, key=lambda name: name == path.name)
    write_together({path.with_name(name): (lambda name=name: made[name]) for name in names})


def mesh_files(name, textured):
    """List the files that a mesh of this name consists of, itself the last."""
    stem, suffix = Path(name).stem, Path(name).suffix.lower()
    return [f"{stem}.mtl", f"{stem}_texture.png", name] if textured and suffix == ".obj" else [name]


def encode_mesh(mesh, name):
    """Return the files of a mesh by their names, as `mesh_files` lists them, as bytes.

    A GLB file is in metres, as its format says, if the mesh is in millimetres.
    """
    kind, options, smooth = Path(name).suffix.lower()[1:], {}, not mesh.metadata.get("solid")
    if kind == "ply" and hasattr(mesh.visual, "uv"):
        mesh, options = _with_short_coordinates(mesh), {"vertex_normal": smooth}
    elif kind in ("obj", "glb"):
        options["include_normals"] = smooth
    if kind == "glb" and mesh.units == "mm":
        mesh = mesh.copy()
        mesh.apply_scale(0.001)
    if kind == "obj":
        return _as_obj(mesh, name, options)
    return {name: mesh.export(file_type=kind, **options)}


@dataclass(frozen=True)
class _View:
    """A depth map and its camera: from points over the image, (u, v, h), to points in space."""

    depth: np.ndarray  # NaN outside the mask
    mask: np.ndarray
    lens: Any

    @cached_property
    def grid(self):
        """The points of all pixels of the mask."""
        height = self.lens.potential(self.depth)[self.mask] * (1.0 if self.lens.far else -self.lens.unit)
        return np.concatenate([np.argwhere(self.mask), height[:, np.newaxis]], axis=1)

    @cached_property
    def grid_vertices(self):
        """The same in space: x right, y up, z to the camera."""
        u, v, z = np.moveaxis(self.lens.points(self.depth)[self.mask], 1, 0)
        return np.stack([v, -u, z], axis=1)

    def vertices(self, points):
        """Return points in space."""
        u, v, height = points.T
        if self.lens.far:
            return np.stack([v, -u, height], axis=1)
        rays = self.lens.points(self.lens.depth(np.zeros(self.mask.shape)))
        if not (
            seen := np.isfinite(rays[..., 2])
        ).all():  # at the edge of what the camera sees, take the nearest
            rays = rays[tuple(scipy.ndimage.distance_transform_edt(~seen, False, True))]
        r_u, r_v, r_z = _sampled(rays, points) * np.exp(-height / self.lens.unit)
        return np.stack([r_v, -r_u, r_z], axis=1)

    def normals(self, points, of_grid, own):
        """Return the normals of the grid at points over the image.

        Outside the mask, where a corner was cut off, there are none; there they are the points' own.
        """
        field = np.zeros((*self.mask.shape, 3))
        field[self.mask] = of_grid
        normals = _sampled(field, points).T
        length = np.linalg.norm(normals, axis=1)[:, np.newaxis]
        return np.where(length > 0.1, normals / np.maximum(length, 0.1), own)


def _sampled(field, points):
    """Return the components of a vector field between pixels."""
    places = points[:, :2].T
    return np.stack(
        [scipy.ndimage.map_coordinates(field[..., k], places, order=1, mode="nearest") for k in range(3)]
    )


def _fewer(points, faces, count, solid):
    """Simplify to about so many triangles, floor and walls of a solid included.

    The outline is kept. If that leaves too many triangles, it is simplified as well, unless the surface would
    then cover more or less of the image, or lie in two layers.
    """
    others = 3 * len(outline(faces)) if solid else 0  # a wall has two triangles a side, the floor about one
    kept = simplified(points, faces, max(count - others, count // 4))
    if len(kept[1]) + others <= TOLERANCE * count:
        return kept
    freed = used(*simplified(points, faces, count // 2 if solid else count, keep_outline=False))
    area, places = _covered(points, faces), np.round(freed[0][:, :2], 3)
    same = abs(_covered(*freed) - area) < AREA * abs(area) and len(np.unique(places, axis=0)) == len(places)
    return freed if same else kept


def _covered(points, faces):
    """Return how many pixels of the image triangles cover, with a sign."""
    a, b, c = (points[faces[:, k], :2] for k in range(3))
    return 0.5 * float(np.sum((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]))


def _on_floor(vertices, above, thickness, far):
    """Return where the points of the floor are: behind those of the surface."""
    top, low = vertices[:above], vertices[above:].copy()
    level = top[:, 2].min() - thickness
    if far:
        low[:, 2] = level
    elif (top[:, 2] < 0).all():
        low *= level / low[:, 2:]
    else:
        raise ValueError(
            "base is given, but some rays look sideways or back; expected a camera that looks forward"
        )
    return low


def _as_scale(mm_per_pixel, camera):
    if mm_per_pixel is None:
        return 1.0
    if camera is not None:
        raise ValueError(
            "mm_per_pixel is given with a camera; the mesh has the unit of the depth, which distance=… or a "
            "prior sets"
        )
    return inputs.as_positive("mm_per_pixel", mm_per_pixel)


def _as_base(base):
    return (
        base
        if base is None or (isinstance(base, str) and base == "auto")
        else inputs.as_positive("base", base)
    )


def _with_short_coordinates(mesh):
    """Return a mesh whose texture coordinates are written with 32 bits."""
    import trimesh

    s, t = mesh.visual.uv.T.astype(np.float32)
    same = trimesh.Trimesh(mesh.vertices, mesh.faces, vertex_attributes={"s": s, "t": t}, process=False)
    if not mesh.metadata.get("solid"):
        same.vertex_normals = mesh.vertex_normals
    return same


def _as_obj(mesh, name, options):
    """Return the files of a mesh as OBJ, with normals and texture coordinates."""
    from trimesh.exchange.obj import export_obj

    # Seven digits of the largest number, as the other formats have, and enough for directions.
    digits = max(5, 6 - int(np.floor(np.log10(np.abs(mesh.vertices).max() or 1.0))))
    text = export_obj(mesh, digits=digits, header=None, **options)
    body = text[text.index("v ") :]
    picture, stem = getattr(getattr(mesh.visual, "material", None), "baseColorTexture", None), Path(name).stem
    if picture is None:
        return {name: body.encode()}
    looks = f"newmtl surface\nKa 0 0 0\nKd 1 1 1\nKs 0 0 0\nillum 1\nmap_Kd {stem}_texture.png\n"
    return {
        f"{stem}.mtl": looks.encode(),
        f"{stem}_texture.png": encode_image(np.asarray(picture), ".png"),
        name: f"mtllib {stem}.mtl\nusemtl surface\n{body}".encode(),
    }
