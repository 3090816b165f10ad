"""One picture of a depth map: its shape in light, its depth in colours."""

import numpy as np
from matplotlib.figure import Figure

from normint.normals.shading import shading
from normint.workbook.figures.depth_maps import DEPTH_MAP

__all__ = ["preview"]


def preview(depth, *, camera=None, title="", size=3.6):
    """Draw a depth map as the camera sees it, lit from the upper left, and beside it its depth in colours.

    Parameters
    ----------
    depth : ndarray
        NaN where there is none.
    camera : array_like, optional
        The 3×3 matrix of a perspective camera; the depth is then the distance.
    title : str
        How the depth was found.
    size : float
        Height of the picture in inches.

    Returns
    -------
    Figure
    """
    box = [_around(np.isfinite(depth).any(axis=axis)) for axis in (1, 0)]
    rows, columns = (high - low for low, high in box)
    width = float(np.clip(size * columns / rows, 1.5, 3 * size))
    figure = Figure(figsize=(2 * width + 1.2, size + 0.6), layout="constrained")
    lit, coloured = figure.subplots(1, 2)
    lit.imshow(shading(depth, camera), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    lit.set_title(f"{title}: lit surface".removeprefix(": "), fontsize=10)
    # A few pixels at a jump should not use up the colours.
    low, high = np.nanpercentile(depth, (0.5, 99.5))
    nearer_brighter = DEPTH_MAP if camera is None else f"{DEPTH_MAP}_r"
    picture = coloured.imshow(depth, cmap=nearer_brighter, vmin=low, vmax=high, interpolation="nearest")
    label = "depth z, to the camera (pixels)" if camera is None else "distance d (relative)"
    coloured.set_title("depth", fontsize=10)
    figure.colorbar(picture, ax=coloured, label=label, shrink=0.85)
    for axes in (lit, coloured):
        axes.set(xlabel="v (pixels)", ylabel="u (pixels)", xlim=box[1], ylim=box[0][::-1])
        axes.tick_params(labelsize=7)
    return figure


def _around(inside):
    """Return the limits of an axis that shows what is inside, and a little more."""
    places = np.flatnonzero(inside)
    return places[0] - 1.5, places[-1] + 1.5
