"""Depth maps as surfaces of porcelain, seen from aside and lit from the upper left."""

import numpy as np
from matplotlib.collections import PolyCollection

from normint.normals.shading import shading
from normint.workbook.figures.canvas import PAGE, new_figure, printed

PORCELAIN = (0.97, 0.95, 0.90)
CUT = "#d55e00"
LIGHT = np.array([-2.0, 2.0, 1.0]) / 3  # to the right, up and towards the reader


@printed
def surfaces(
    panels, *, columns=3, view=(50, -75), aspect=0.25, unit="pixels", steepest=np.inf,
    truth=None, column=None, rows=slice(None),
):  # fmt: skip
    """Draw lit surfaces side by side, all from the same side and in boxes of the same size.

    Parameters
    ----------
    panels : dict
        From title to depth map, NaN where there is none. Constants are made comparable by giving all the
        mean of the truth, or of the first, where both are known.
    columns : int
        Panels in a row.
    view : (float, float)
        Elevation and azimuth in degrees; (90, -90) looks straight down with u downwards and v to the right.
    aspect : float
        Height of the box relative to the wider side of the domain.
    unit : str
        Of the depths.
    steepest : float
        Nothing is drawn where the drawn surface rises by more than this per pixel: there it jumps.
    truth : ndarray, optional
        Drawn in grey in the cuts.
    column : int, optional
        Draw below each surface a cut along this column.
    rows : slice
        Which rows of the column to draw.
    """
    reference = next(iter(panels.values())) if truth is None else truth
    panels = {title: z - np.nanmean(z - reference) for title, z in panels.items()}
    low = min(np.nanmin(z) for z in panels.values())
    high = max(np.nanmax(z) for z in panels.values())
    stretch = aspect * max(reference.shape) / max(high - low, 1e-12)
    columns = min(columns, len(panels))
    width = PAGE if columns > 1 else 0.6 * PAGE
    frames = np.array([_seen(z, low, view, stretch) for z in panels.values()])
    frame = np.stack([frames[:, 0].min(axis=0), frames[:, 1].max(axis=0)])
    across, up = np.ptp(frame, axis=0)
    words = 0.35 + 0.13 * max(title.count("\n") for title in panels)  # inches
    tall = up / across * (width / columns - (0.1 if column is None else 0.35)) + words
    figure, upper, lower = _places(len(panels), columns, width, [tall] if column is None else [tall, 1.1])
    how = {"unit": unit, "steepest": steepest, "frame": frame, "finest": 480 // (columns + 1)}
    for k, (title, z) in enumerate(panels.items()):
        draw_surface(upper[k], z, low, high, view, stretch, **how)
        upper[k].set_title(title)
        if column is not None:
            _line_on(upper[k], z, column, rows, view, stretch)
            _cut(lower[k], z, truth, column, rows)
            lower[k].sharey(lower[0])
            if k % columns == 0:
                lower[k].set_ylabel(f"z ({unit})")
    return figure


def _places(count, columns, width, heights):
    """Return a figure with axes in lines of so many, each with one or two rows of so many inches."""
    lines = -(-count // columns)
    figure = new_figure(width, lines * sum(heights))
    grid = figure.subplots(lines * len(heights), columns, height_ratios=lines * heights, squeeze=False)
    rows = [grid[k :: len(heights)].ravel() for k in range(len(heights))]
    for axes in np.concatenate([row[count:] for row in rows]):
        axes.set_visible(False)
    return figure, rows[0], rows[-1]


def lit(z, *, exaggeration=1.0):
    """Shade a depth map as seen from the camera, from 0.2 in shadows to 1; NaN where there is no depth."""
    return 0.2 + 0.8 * shading(z, exaggeration=exaggeration)


def draw_surface(axes, z, low, high, view, stretch=1.0, *, unit="", steepest=np.inf, finest=160, frame=None):
    """Draw one surface, thinned to at most ``finest`` points a side, so that it fills the axes.

    Parameters
    ----------
    axes : Axes
    z : ndarray
        NaN where there is none.
    low, high : float
        The box around it goes from one to the other.
    view, steepest
        As for :func:`surfaces`.
    stretch : float
        By which depths are multiplied to be drawn.
    unit : str
        Of the depths; without one the box is not drawn.
    frame : ndarray, optional
        The corners at the lower left and upper right of what is shown.
    """
    step = max(1, -(-max(z.shape) // finest))
    thin = z[::step, ::step]
    v, u = np.meshgrid(np.arange(z.shape[1])[::step], np.arange(z.shape[0])[::step])
    corners = _facets(np.stack([v, u, thin], axis=-1))
    corners = corners[stretch * np.ptp(corners[..., 2], axis=1) <= steepest * step]
    placed = _project(corners, view, stretch)
    placed = placed[np.argsort(placed[..., 2].mean(axis=1))]  # the nearer is drawn over the farther
    colours = _brightness(placed)[:, np.newaxis] * PORCELAIN
    facets = PolyCollection(placed[..., :2], facecolors=colours, linewidth=0, antialiased=False)
    facets.set_rasterized(True)
    axes.add_collection(facets)
    (left, bottom), (right, top) = _seen(z, low, view, stretch) if frame is None else frame
    margin = 0.01 * (right - left)
    axes.set(xlim=(left - margin, right + margin), ylim=(bottom - margin, top + margin))
    axes.set_aspect("equal")
    axes.set_axis_off()
    if unit:
        _draw_box(axes, z.shape, low, high, view, stretch, unit)


def mark_points(axes, z, points, view, stretch):
    """Draw dots on a surface, at some rows and columns."""
    u, v = points
    placed = _project(np.stack([v, u, z[points]], axis=1), view, stretch)
    axes.plot(*placed[:, :2].T, "o", color=CUT, markersize=3)


def _project(points, view, stretch):
    """Turn points (v, u, z) into x to the right, y up, and how near they are."""
    elevation, azimuth = np.radians(view)
    sine, cosine = np.sin(elevation), np.cos(elevation)
    aside, ahead = np.sin(azimuth), np.cos(azimuth)
    turn = np.array(
        [[-aside, -sine * ahead, cosine * ahead], [ahead, -sine * aside, cosine * aside], [0, cosine, sine]]
    )
    return points * [1, -1, stretch] @ turn


def _floor(shape, low):
    """Return the corners of the floor; the bits of their numbers say on which side they are."""
    last_u, last_v = shape[0] - 1, shape[1] - 1
    return np.array([(v, u, low) for u in (0, last_u) for v in (0, last_v)], float)


def _draw_box(axes, shape, low, high, view, stretch, unit):
    """Draw the two edges of the floor in front, and how high the box is, each with its length."""
    floor = _floor(shape, low)
    ends = _project(floor, view, stretch)
    near = ends[:, 2].argmax()
    across, along = near ^ 1, near ^ 2  # the corners beside it, along v and along u
    post = max(across, along, key=lambda corner: ends[corner, 0])
    foot, top = _project(np.array([floor[post], [*floor[post, :2], high]]), view, stretch)[:, :2]
    line = {"color": "0.5", "linewidth": 0.6}
    note = {"textcoords": "offset points", "color": "0.35", "annotation_clip": False}
    axes.plot(*np.transpose([foot, top]), **line)
    axes.annotate(f"z: {high - low:.3g} {unit}", top, (3, 0), rotation=90, ha="left", va="top", **note)
    for label, corner in ((f"v: {shape[1]}", across), (f"u: {shape[0]}", along)):
        begin, end = sorted(ends[[near, corner], :2].tolist())
        axes.plot(*np.transpose([begin, end]), zorder=0, **line)
        run = np.subtract(end, begin)
        below = np.array([run[1], -run[0]]) / np.hypot(*run)
        angle = np.degrees(np.arctan2(run[1], run[0]))
        turned = {"rotation": angle, "rotation_mode": "anchor", "ha": "center", "va": "center"}
        axes.annotate(label, np.add(begin, end) / 2, 7 * below, **turned, **note)


def _line_on(axes, z, column, rows, view, stretch):
    """Draw on a surface where it is cut."""
    u = np.arange(z.shape[0])[rows]
    points = np.stack([np.full(u.shape, column), u, z[u, column]], axis=1)
    axes.plot(*_project(points, view, stretch)[:, :2].T, color=CUT, linewidth=0.8)


def _cut(axes, z, truth, column, rows):
    u = np.arange(z.shape[0])[rows]
    if truth is not None:
        axes.plot(u, truth[u, column], color="0.75", linewidth=3.5)
    axes.plot(u, z[u, column], color=CUT, linewidth=1)
    axes.set_xlabel(f"u, along v = {column}")
    axes.margins(x=0)
    axes.grid(alpha=0.3, linewidth=0.4)


def _facets(points):
    """Return the four corners of each facet of a surface.

    A facet of which one corner is unknown is a triangle: it has one of the others twice.

    Parameters
    ----------
    points : ndarray
        v, u and z of each point of the grid; z is NaN where there is none.
    """
    around = (np.s_[:-1, :-1], np.s_[:-1, 1:], np.s_[1:, 1:], np.s_[1:, :-1])
    corners = np.stack([points[corner] for corner in around], axis=2)
    known = np.isfinite(corners[..., 2])
    corners = np.where(known[..., np.newaxis], corners, np.roll(corners, 1, axis=2))
    return corners[np.count_nonzero(known, axis=2) >= 3]


def _brightness(corners):
    """Return how bright facets are, from 0.2 in shadows to 1, in light from the reader's upper left."""
    normal = np.cross(corners[:, 1] - corners[:, 3], corners[:, 0] - corners[:, 2])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    return 0.2 + 0.8 * np.maximum(0, normal @ LIGHT)


def _seen(z, low, view, stretch):
    """Return the lower left and upper right corners of what is seen of a surface and of its floor."""
    u, v = np.nonzero(np.isfinite(z))
    points = np.concatenate([np.stack([v, u, z[u, v]], axis=1), _floor(z.shape, low)])
    seen = _project(points, view, stretch)[:, :2]
    return np.array([seen.min(axis=0), seen.max(axis=0)])
