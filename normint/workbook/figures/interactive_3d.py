"""Surfaces to turn with the mouse, in a notebook or a page, beside a picture."""

import base64
import json
from io import BytesIO

import numpy as np
from matplotlib.figure import Figure

from normint.domain import bounding_box
from normint.inputs import as_count
from normint.normals.camera import projection

PLOTLY = "application/vnd.plotly.v1+json"
FINEST = 128  # points a side: enough to see a jump, and little to send and to store
LIGHT = {"ambient": 0.75, "diffuse": 0.7, "specular": 0.1, "roughness": 0.8}
EYE = {"x": -0.6, "y": -1.5, "z": 1.6}  # in front of the lower border of the image, and above it
# A view takes the wheel from who scrolls over it, and JupyterLab runs no script of a notebook that it does
# not trust. So an empty annotation lies over a stored view, and a button takes it away and puts it back.
COVER = {
    "annotations": [{
        "text": "", "showarrow": False, "captureevents": True, "width": 4000, "height": 4000,
        "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5,
    }],
    "updatemenus": [{
        "type": "buttons", "active": -1, "x": 0.99, "y": 0.01, "xanchor": "right", "yanchor": "bottom",
        "buttons": [{
            "label": "turn, zoom", "method": "relayout",
            "args": [{"annotations[0].visible": False}], "args2": [{"annotations[0].visible": True}],
        }],
    }],
}  # fmt: skip


def surface_3d(depth, title="", *, camera=None, height=None, zlabel="z", finest=FINEST):
    """Draw a depth map that can be turned.

    Parameters
    ----------
    depth : array_like
        NaN where there is none. It is thinned to at most ``finest`` points a side.
    title : str
    camera : array_like, optional
        The camera's matrix, if the depth is a distance from it; None for a camera far away.
    height : float, optional
        Of the box, relative to its wider side; by default z is drawn as long as the other two.
    zlabel : str
    finest : int

    Returns
    -------
    plotly.graph_objects.Figure
        u points down, v to the right and z to the camera, as in the pictures.

    Examples
    --------
    >>> surface_3d(np.zeros((400, 300)), "flat").data[0].z.shape
    (100, 75)
    """
    from plotly import graph_objects

    u, v, z = _thinned(np.asarray(depth, dtype=np.float64), camera, as_count("finest", finest, minimum=2))
    ends = {name: (float(np.nanmin(a)), float(np.nanmax(a))) for name, a in (("u", u), ("v", v), ("z", z))}
    lengths = {name: high - low for name, (low, high) in ends.items()}
    side = max(lengths["u"], lengths["v"], 1e-6)
    low, high = ends["z"]
    high = max(high, low + (1e-6 if height else 0.1 * side))  # what is flat looks flat
    height = height or min(1.0, (high - low) / side)
    away = 1 + 0.4 * height  # so that what is tall is seen as a whole
    if camera is None:
        u, v = u[:, 0], v[0]  # all rows are the same: the fewest bytes, for they are stored in the notebook
    # Single precision halves them again, and plotly.js computes with it anyway.
    drawn = graph_objects.Surface(
        x=v.astype(np.float32), y=u.astype(np.float32), z=z.astype(np.float32), cmin=low, cmax=high,
        colorscale="Cividis", showscale=False, lighting=LIGHT,
        lightposition={"x": -2000, "y": -2000, "z": 3000},
        hovertemplate="u = %{y}, v = %{x}<br>z = %{z:.2f}<extra></extra>",
    )  # fmt: skip
    scene = {
        "xaxis": {"title": {"text": "v"}, "range": ends["v"], "nticks": 5},
        "yaxis": {"title": {"text": "u"}, "range": ends["u"][::-1], "nticks": 5},
        "zaxis": {"title": {"text": zlabel}, "range": (low, high), "nticks": 4},
        "aspectmode": "manual",
        "aspectratio": {
            "x": max(lengths["v"] / side, 0.01),
            "y": max(lengths["u"] / side, 0.01),
            "z": height,
        },
        "camera": {"eye": {name: away * x for name, x in EYE.items()}, "center": {"x": 0, "y": 0, "z": -0.1}},
    }
    layout = {
        "title": {"text": title, "font": {"size": 13}, "x": 0.5},
        "scene": scene,
        "margin": {"l": 0, "r": 0, "t": 36, "b": 0},
        "height": 460,
        "template": "none",
        "uirevision": "kept",  # the reader's point of view stays when the surface changes
    }
    return graph_objects.Figure(drawn, layout)


def _thinned(depth, camera, finest):
    """Return u, v and z of every k-th row and column of the part of a depth map where there is a depth."""
    if depth.ndim != 2 or not np.isfinite(depth).any():
        raise ValueError(
            f"depth has {depth.ndim} dimensions or is empty; expected rows and columns of numbers"
        )
    part = projection(camera).points(depth)[bounding_box(np.isfinite(depth))]
    k = -(-max(part.shape[:2]) // finest)
    return np.moveaxis(part[::k, ::k], -1, 0)


class WithPicture:
    """A picture and, beside it, an interactive figure.

    Parameters
    ----------
    interactive : plotly.graph_objects.Figure
    picture : matplotlib.figure.Figure

    Notes
    -----
    Of one output a notebook shows only the richest form that it knows, so there are two. The pages of the
    book put them side by side; those that know no interactive figures, such as GitHub's, show the picture.
    """

    def __init__(self, interactive, picture):
        if not isinstance(picture, Figure):
            raise ValueError(f"picture is a {type(picture).__name__}; expected a matplotlib Figure")
        self.interactive, self.picture = interactive, picture

    def _ipython_display_(self):
        display_both(as_png(self.picture), self.interactive, "a surface in 3D")


def display_both(png, interactive, text):
    """Display a picture, and an interactive figure under its `COVER`, in the notebook that runs.

    Parameters
    ----------
    png : bytes
    interactive : plotly.graph_objects.Figure
    text : str
        What is shown in words.
    """
    from IPython.display import display

    display({"image/png": base64.b64encode(png).decode("ascii"), "text/plain": text}, raw=True)
    view = {"config": {"displaylogo": False}, **json.loads(interactive.to_json())}
    view["layout"] |= COVER
    display({PLOTLY: view, "text/plain": f"{text} (to turn)"}, raw=True)


def as_png(figure):
    """Return a figure as the bytes of a PNG at screen resolution, which are the same for the same picture."""
    memory = BytesIO()
    figure.savefig(memory, format="png", dpi=100, metadata={"Software": None})
    return memory.getvalue()
