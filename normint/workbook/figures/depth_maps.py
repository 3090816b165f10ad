"""Depth maps as lit surfaces, errors, cuts and discontinuities."""

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import ListedColormap
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from normint.domain import NEIGHBOURS
from normint.normals.shading import shading
from normint.workbook.figures.canvas import new_figure, new_panels

DEPTH_MAP = "cividis"  # perceptually uniform, and the same to colour-blind readers


def surfaces(panels, *, columns=2, view=(30, -127.5), aspect=0.5, size=4.2, zlabel="depth z (pixels)"):
    """Draw lit surfaces side by side, all with the same axes, light and colours.

    Parameters
    ----------
    panels : dict
        From title to depth map, NaN where there is none. Constants are made comparable by giving all the
        mean of the first, where both are known.
    columns : int
        Panels in a row.
    view : (float, float)
        Elevation and azimuth in degrees; (90, -90) looks straight down with u downwards and v to the right.
    aspect : float
        Height of the box relative to the wider side of the domain.
    """
    reference = next(iter(panels.values()))
    panels = {title: z - np.nanmean(z - reference) for title, z in panels.items()}
    low = min(np.nanmin(z) for z in panels.values())
    high = max(np.nanmax(z) for z in panels.values())
    rows = -(-len(panels) // columns)
    figure = new_figure(size * columns, size * 0.72 * rows)
    for k, (title, z) in enumerate(panels.items(), start=1):
        axes = figure.add_subplot(rows, columns, k, projection="3d")
        draw_surface(axes, z, low, high, view, aspect)
        axes.set_title(title, fontsize=10, y=0.98)
        axes.set_zlabel(zlabel, fontsize=8)
    return figure


def error_maps(panels, truth, *, unit="pixels", size=3.0):
    """Draw where each depth map differs from the truth, after removing the mean difference.

    Parameters
    ----------
    panels : dict
        From title to depth map.
    truth : ndarray
    """
    errors = {title: z - truth - np.nanmean(z - truth) for title, z in panels.items()}
    limit = np.nanpercentile(np.abs(np.concatenate([e.ravel() for e in errors.values()])), 99.5)
    rows, columns = truth.shape
    words = 0.7 + 0.17 * max(title.count("\n") for title in errors)  # inches for titles and labels
    figure, all_axes = new_panels(len(errors), len(errors), size, 0.85 * size * rows / columns + words)
    for axes, (title, error) in zip(all_axes, errors.items(), strict=True):
        picture = axes.imshow(error, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest")
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("v")
        axes.tick_params(labelsize=8)
    all_axes[0].set_ylabel("u")
    figure.colorbar(picture, ax=list(all_axes), label=f"z - truth ({unit})", shrink=0.85, pad=0.01)
    return figure


def profiles(panels, *, row=None, column=None, unit="pixels"):
    """Draw a cut through several depth maps, along one row or one column; the first is the truth, in grey.

    Parameters
    ----------
    panels : dict
        From label to depth map, NaN where there is none.
    row, column : int
        Give one of them.
    unit : str
        Of the depths.
    """
    cut = np.s_[row] if column is None else np.s_[:, column]
    figure = new_figure(7, 3.2)
    axes = figure.add_subplot()
    (name, truth), *others = panels.items()
    axes.plot(truth[cut], color="0.7", linewidth=5, label=name)
    for k, (label, z) in enumerate(others):
        z = z - np.nanmean(z - truth)
        axes.plot(z[cut], color=("#0072b2", "#d55e00")[k % 2], linestyle=("--", "-")[k % 2], label=label)
    along, fixed = ("v", f"row u = {row}") if column is None else ("u", f"column v = {column}")
    axes.set(xlabel=f"{along} (pixels)", ylabel=f"depth z ({unit})")
    axes.set_title(f"cut along {fixed}", fontsize=10)
    axes.grid(alpha=0.3, linewidth=0.4)
    axes.legend(fontsize=8, frameon=False)
    return figure


def discontinuities(results, *, image=None, below=0.1, columns=3, size=3.2):
    """Draw where each method found the surface to be discontinuous, over the surface lit from the upper left.

    Parameters
    ----------
    results : dict
        From title to :class:`normint.Integration`, of a method that has weights.
    image : ndarray, optional
        A grey picture to draw over instead of the lit surface.
    below : float
        A pixel is marked where the weight of one of its edges is less than this part of the median weight.
    columns : int
        Panels in a row.
    """
    figure, all_axes = new_panels(len(results), columns, size, size * 1.08)
    for axes, (title, result) in zip(all_axes, results.items(), strict=True):
        grey = lit(result.depth, exaggeration=0.5) if image is None else image
        axes.imshow(grey, cmap="gray", interpolation="nearest")
        marks = np.ma.masked_equal(weakest_edge(result.weights) < below, False)
        axes.imshow(marks, cmap=ListedColormap(["#d55e00"]), interpolation="nearest")
        axes.set_title(f"{title}: {np.ma.count(marks)} pixels", fontsize=9)
        axes.set(xlabel="v", ylabel="u")
        axes.tick_params(labelsize=7)
    return figure


def weakest_edge(weights):
    """Return the smallest weight among each pixel's edges, in parts of the median weight.

    Parameters
    ----------
    weights : (ndarray, ndarray)
        Of the edges downwards and to the right, zero where there is none.

    Examples
    --------
    >>> down, right = np.zeros((1, 4)), np.array([[1.0, 1.0, 0.01, 0.0]])
    >>> weakest_edge((down, right))
    array([[1.  , 1.  , 0.01, 0.01]])
    """
    down, right = weights
    median = np.median(np.concatenate([w[w > 0] for w in weights]))
    weakest = np.full(down.shape, np.inf)
    inside = np.zeros(down.shape, bool)  # pixels that an edge holds; between two of them, 0 is a cut
    for w, (here, there) in zip((down, right), NEIGHBOURS, strict=True):
        inside[here] |= w[here] > 0
        inside[there] |= w[here] > 0
    for w, (here, there) in zip((down, right), NEIGHBOURS, strict=True):
        w = np.where(inside[here] & inside[there], w[here] / median, np.inf)
        weakest[here] = np.minimum(weakest[here], w)
        weakest[there] = np.minimum(weakest[there], w)
    return weakest


def lit(z, *, exaggeration=1.0):
    """Shade a depth map as seen from the camera, from 0.2 in shadows to 1; NaN where there is no depth."""
    return 0.2 + 0.8 * shading(z, exaggeration=exaggeration)


def draw_surface(axes, z, low, high, view, aspect, finest=120, tint=None):
    """Draw one surface lit from the upper left, thinned to at most ``finest`` points a side.

    Its colours tell the depth; with a ``tint``, one colour as of porcelain, only the light does.
    """
    step = max(1, -(-max(z.shape) // finest))
    u, v = np.arange(z.shape[0])[::step], np.arange(z.shape[1])[::step]
    thin = z[::step, ::step]
    span = max(high - low, 1e-12)
    stretch = aspect * max(z.shape) / span if tint is None else 1.0
    light = np.nan_to_num(lit(thin, exaggeration=stretch / step))[..., np.newaxis]
    if tint is None:
        colours = colormaps[DEPTH_MAP](np.nan_to_num((thin - low) / span))[..., :3]
        shaded = 2 * light * colours + (1 - 2 * light) * colours**2  # soft: brightens as well as it darkens
    else:
        shaded = light * tint
    corners, colours = _facets(np.stack([*np.meshgrid(v, u), thin], axis=-1), shaded)
    facets = Poly3DCollection(corners, facecolors=colours, linewidth=0, antialiased=False, rasterized=True)
    axes.add_collection3d(facets)
    axes.set(xlabel="v", ylabel="u", zlim=(low, high), ylim=(u[-1], u[0]), xlim=(v[0], v[-1]))
    axes.view_init(*view)
    axes.set_box_aspect((z.shape[1], z.shape[0], aspect * max(z.shape)), zoom=1.02)
    axes.tick_params(labelsize=7, pad=0)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.pane.set_alpha(0.15)
        axis.set_major_locator(MaxNLocator(4))


def _facets(points, colours):
    """Return the corners of the surface's facets, and their colours, each as one array.

    `plot_surface` makes the same facets one by one, which takes as long as drawing them. A facet of which one
    corner is unknown is a triangle: it has one of the others twice.

    Parameters
    ----------
    points : ndarray
        x, y and z of each point of the grid; z is NaN where there is none.
    colours : ndarray
        Red, green and blue of each point; a facet has that of its first corner.
    """
    around = (np.s_[:-1, :-1], np.s_[:-1, 1:], np.s_[1:, 1:], np.s_[1:, :-1])
    corners = np.stack([points[corner] for corner in around], axis=2)
    known = np.isfinite(corners[..., 2])
    corners = np.where(known[..., np.newaxis], corners, np.roll(corners, 1, axis=2))
    drawn = np.count_nonzero(known, axis=2) >= 3
    return corners[drawn], colours[:-1, :-1][drawn]
