"""Surfaces to turn with the mouse, in a notebook or a page, beside a picture."""

import base64
import json
from io import BytesIO

import numpy as np
from matplotlib.figure import Figure

from normint.domain import bounding_box
from normint.files.meshes import mesh
from normint.inputs import as_count
from normint.normals.camera import camera_of_part

PLOTLY = "application/vnd.plotly.v1+json"
FINEST = 150  # points a side, so that a notebook stays small
CAMERA = {"eye": {"x": 0.7, "y": 0.35, "z": 1.9}, "up": {"x": 0, "y": 1, "z": 0}}


def surface_3d(surface, title="", *, camera=None, weights=None, finest=FINEST):
    """Draw a surface that can be turned, x to the right, y up and z to the viewer.

    Parameters
    ----------
    surface : array_like or trimesh.Trimesh
        A depth map, NaN where there is none, or a mesh. A depth map is thinned to at most ``finest`` points
        a side. A mesh is drawn as it is: make it from a depth map that is small enough.
    title : str
    camera, weights
        For a depth map, as for :func:`normint.files.meshes.mesh`; what is cut is not drawn.
    finest : int

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = surface_3d(np.zeros((400, 300)), "flat")
    >>> len(figure.data[0].x)
    13400
    """
    from plotly import graph_objects

    if not hasattr(surface, "faces"):
        surface = _thin_mesh(np.asarray(surface, dtype=np.float64), camera, weights, finest)
    # The fewest bytes that show the same: they are stored in the notebook.
    x, y, z = surface.vertices.T.astype(np.float32)
    small = np.uint16 if len(x) <= 2**16 else np.int32
    i, j, k = surface.faces.T.astype(small)
    drawn = graph_objects.Mesh3d(
        x=x, y=y, z=z, i=i, j=j, k=k, intensity=z, colorscale="Cividis", showscale=False, hoverinfo="skip",
        lighting={"ambient": 0.45, "diffuse": 0.8, "specular": 0.15, "roughness": 0.6},
        lightposition={"x": -1000, "y": 1000, "z": 2000},
    )  # fmt: skip
    names = {f"{name}axis": {"showbackground": False, "title": {"text": name}} for name in "xyz"}
    return graph_objects.Figure(
        data=[drawn],
        layout={
            "template": "none", "title": {"text": title, "font": {"size": 14}}, "width": 640, "height": 520,
            "margin": {"l": 0, "r": 0, "t": 40, "b": 0},
            "scene": {**names, "aspectmode": "data", "camera": CAMERA},
        },
    )  # fmt: skip


class WithPicture:
    """A picture and, beside it, an interactive figure.

    Parameters
    ----------
    interactive : plotly.graph_objects.Figure
    picture : matplotlib.figure.Figure

    Notes
    -----
    Of one output a notebook shows only the richest form that it knows, so there are two. The pages of the
    site put them side by side; those that know no interactive figures, such as GitHub's, show the picture.
    """

    def __init__(self, interactive, picture):
        if not isinstance(picture, Figure):
            raise ValueError(f"picture is a {type(picture).__name__}; expected a matplotlib Figure")
        self.interactive, self.picture = interactive, picture

    def _ipython_display_(self):
        buffer = BytesIO()
        self.picture.savefig(buffer, format="png", dpi=100, metadata={"Software": None})
        display_both(buffer.getvalue(), self.interactive, "a surface in 3D")


def display_both(png, interactive, text):
    """Display a picture, and an interactive figure after it, in the notebook that runs.

    Parameters
    ----------
    png : bytes
    interactive : plotly.graph_objects.Figure
    text : str
        What is shown in words.
    """
    from IPython.display import display

    display({"image/png": as_base64(png), "text/plain": text}, raw=True)
    display({PLOTLY: as_json(interactive), "text/plain": f"{text} (to turn)"}, raw=True)


def as_base64(data):
    """Return bytes as notebooks keep them."""
    return base64.b64encode(data).decode("ascii")


def as_json(figure):
    """Return a plotly figure as notebooks keep it."""
    return {"config": {"displaylogo": False}, **json.loads(figure.to_json())}


def _thin_mesh(depth, camera, weights, finest):
    """Return the mesh of every k-th row and column of the part of a depth map where there is a depth."""
    finest = as_count("finest", finest, minimum=2)
    if depth.ndim != 2 or not np.isfinite(depth).any():
        raise ValueError(f"surface has {depth.ndim} dimensions or no depth; expected a depth map or a mesh")
    box = bounding_box(np.isfinite(depth))
    top, left = (part.start for part in box)
    depth = depth[box]
    k = -(-max(depth.shape) // finest)
    if weights is not None:
        down, right = (np.asarray(w, dtype=np.float64)[box] for w in weights)
        weights = _weakest(down, k)[:, ::k], _weakest(right.T, k)[:, ::k].T
    if camera is not None:
        return mesh(depth[::k, ::k], camera=camera_of_part(camera, top, left, k), weights=weights)
    made = mesh(depth[::k, ::k], weights=weights)
    made.vertices = made.vertices * [k, k, 1] + [left, -top, 0]
    return made


def _weakest(weights, k):
    """Return the smallest weight on the way from every k-th row to the next: one cut there is a cut."""
    rows = np.arange(0, len(weights), k)
    thin = np.zeros((len(rows), weights.shape[1]))
    thin[:-1] = np.minimum.reduceat(weights, rows, axis=0)[:-1]
    return thin
