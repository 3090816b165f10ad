"""A surface that can be turned with the mouse."""

import numpy as np

FINEST = 128  # points a side: enough to see a jump, and little to send

LIGHT = {"ambient": 0.75, "diffuse": 0.7, "specular": 0.1, "roughness": 0.8}


def turnable(depth, title="", *, aspect=None, zlabel="z"):
    """Draw a depth map as a surface that can be turned.

    A grid of heights, which is sent anew with every change, has far fewer bytes than the mesh that
    :func:`normint.workbook.figures.interactive_3d.surface_3d` draws.

    Parameters
    ----------
    depth : ndarray
        NaN where there is none.
    title : str
    aspect : float, optional
        Height of the box relative to its wider side; by default z is as long as u and v.
    zlabel : str

    Returns
    -------
    plotly.graph_objects.Figure
    """
    import plotly.graph_objects as go

    rows, cols = depth.shape
    step = max(1, -(-max(depth.shape) // FINEST))
    known = depth[np.isfinite(depth)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    side = max(rows, cols)
    high = max(high, low + (1e-6 if aspect else 0.1 * side))  # what is flat looks flat
    height = aspect or min(1.0, (high - low) / side)
    away = 1 + 0.4 * height  # so that what is tall is seen as a whole
    # Single precision halves what is sent, and plotly.js computes with it anyway.
    surface = go.Surface(
        z=depth[::step, ::step].astype(np.float32),
        x=np.arange(0, cols, step), y=np.arange(0, rows, step),
        cmin=low, cmax=high, colorscale="Cividis", showscale=False,
        lighting=LIGHT, lightposition={"x": -2000, "y": -2000, "z": 3000},
        hovertemplate="u = %{y}, v = %{x}<br>z = %{z:.2f}<extra></extra>",
    )  # fmt: skip
    scene = {
        "xaxis": {"title": {"text": "v"}, "range": [0, cols - 1]},
        "yaxis": {"title": {"text": "u"}, "range": [rows - 1, 0]},  # u points down, as in the pictures
        "zaxis": {"title": {"text": zlabel}, "range": [low, high], "nticks": 4},
        "aspectmode": "manual",
        "aspectratio": {"x": cols / side, "y": rows / side, "z": height},
        "camera": {
            "eye": {"x": -0.5 * away, "y": -1.15 * away, "z": 1.05 * away},
            "center": {"x": 0, "y": 0, "z": -0.1},
        },
    }
    layout = {
        "title": {"text": title, "font": {"size": 13}, "x": 0.5},
        "scene": scene,
        "margin": {"l": 0, "r": 0, "t": 36, "b": 0},
        "height": 430,
        "template": "none",
        "uirevision": "kept",  # the reader's point of view stays when the surface changes
    }
    return go.Figure(surface, layout)
