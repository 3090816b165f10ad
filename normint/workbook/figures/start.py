"""The first pictures: what the problem is, and which method to take."""

from itertools import pairwise
from textwrap import fill

import numpy as np

from normint.domain import bounding_box
from normint.normals.camera import projection
from normint.normals.convert import gradient_to_normals
from normint.workbook.figures.canvas import PAGE, new_figure, printed
from normint.workbook.figures.depth_maps import DEPTH_MAP
from normint.workbook.figures.lit_surfaces import draw_surface

HIGHLIGHT, OTHER = "#d55e00", "0.72"


@printed
def problem(surface):
    """Draw what is given, normals or slopes, and what is wanted, the depth.

    Parameters
    ----------
    surface : Surface
        Drawn inside its mask.
    """
    figure = new_figure(PAGE, 2.3)
    left, middle, right = figure.subfigures(1, 3, width_ratios=[1.0, 2.25, 1.05])
    inside = surface.mask[..., np.newaxis]
    n_u, n_v, n_z = np.moveaxis(gradient_to_normals(surface.p, surface.q), 2, 0)
    colours = np.stack([n_v, -n_u, n_z], axis=-1) / 2 + 0.5  # red to the right, green up, as usual
    axes = left.subplots()
    axes.imshow(np.where(inside, colours, 1.0), interpolation="nearest")
    axes.set_title("given: normals, red right,\ngreen up, blue to us")
    axes.set(xlabel="v (pixels)", ylabel="u (pixels)")
    slopes = {"p, downwards": surface.p, "q, to the right": surface.q}
    for axes, (name, slope) in zip(middle.subplots(1, 2), slopes.items(), strict=True):
        shown = np.where(surface.mask, slope, np.nan)
        picture = axes.imshow(shown, cmap="RdBu_r", vmin=-3, vmax=3, interpolation="nearest")
        axes.set_title(f"the same as slopes:\n{name}")
        axes.set(xlabel="v (pixels)")
    middle.colorbar(picture, ax=middle.axes, shrink=0.7, extend="both", label="slope (pixels per pixel)")
    axes = right.subplots()
    z = np.where(surface.mask, surface.depth, np.nan)
    draw_surface(axes, z, np.nanmin(z), np.nanmax(z), (65, -100), unit="pixels")
    axes.set_title("wanted:\nthe depth z")
    return figure


@printed
def from_map_to_mesh(normals, result, *, view=(55, -115), exaggeration=1.0):
    """Draw the way from a normal map to a surface: the map, its depth, and the mesh.

    Parameters
    ----------
    normals : ndarray
        As it is stored: colours of 8 or 16 bits, or numbers from −1 to 1.
    result : Integration
        What came out of it.
    view : (float, float)
        Elevation and azimuth of the mesh, in degrees.
    exaggeration : float
        By which the mesh is made higher.
    """
    box = bounding_box(np.isfinite(result.depth), margin=4)
    there = np.isfinite(result.depth[box])
    largest = np.iinfo(normals.dtype).max if normals.dtype.kind == "u" else None
    colours = (normals[box] + 1) / 2 if largest is None else normals[box] / largest
    lens = projection(result.camera)
    z = result.depth[box] if lens.far else -result.depth[box] * lens.unit / np.nanmedian(result.depth)
    figure = new_figure(PAGE, 2.5)
    left, middle, right = figure.subplots(1, 3, width_ratios=[1.0, 1.15, 1.35])
    left.imshow(np.where(there[..., np.newaxis], np.clip(colours, 0, 1), 1.0), interpolation="nearest")
    nearer = DEPTH_MAP if lens.far else DEPTH_MAP + "_r"
    shown = middle.imshow(result.depth[box], cmap=nearer, interpolation="nearest")
    label = "depth z, to the camera (pixels)" if lens.far else "distance d (relative)"
    figure.colorbar(shown, ax=middle, shrink=0.75, label=label)
    draw_surface(right, z, np.nanmin(z), np.nanmax(z), view, exaggeration)
    for axes, title in ((left, "a normal map"), (middle, "its depth"), (right, "the mesh")):
        axes.set_title(title)
        axes.set_axis_off()
    return figure


@printed
def decision(questions):
    """Draw a chain of questions; each yes leads to a method and to the measurement behind it.

    Parameters
    ----------
    questions : list of dict
        As :func:`normint.workbook.overview.decision` gives them.
    """
    heights = [0.55 + 0.15 * len(item["bars"]) for item in questions]
    figure = new_figure(PAGE, sum(heights))
    rows = figure.subplots(
        len(questions), 3, width_ratios=[1.35, 1.3, 1.9], height_ratios=heights, squeeze=False
    )
    asked = [
        _box(axes, item["question"], "#e8eef5") for axes, item in zip(rows[:, 0], questions, strict=True)
    ]
    for item, question, (_, answer, bars) in zip(questions, asked, rows, strict=True):
        method = _box(answer, item["method"], "#fbe6d8", weight="bold")
        _arrow(answer, "yes", question, (1, 0.5), method, (0, 0.5))
        _bars(bars, item)
    for question, following in pairwise(asked):
        _arrow(rows[0, 0], "no", question, (0.5, 0), following, (0.5, 1))
    return figure


def _box(axes, text, colour, weight="normal"):
    """Write a text in a coloured box in the middle of axes, and return it."""
    axes.set_axis_off()
    box = {"boxstyle": "round,pad=0.5", "facecolor": colour, "edgecolor": "0.6"}
    return axes.text(
        0.5, 0.5, text, ha="center", va="center", weight=weight, bbox=box, transform=axes.transAxes
    )


def _arrow(axes, word, begin, at, end, to):
    """Draw an arrow from the box of one text to that of another, with a word beside its beginning."""
    line = {"arrowstyle": "-|>", "color": "0.3", "shrinkA": 5, "shrinkB": 5}
    down = at[0] == to[0]
    notes = [
        axes.annotate("", xy=to, xycoords=end, xytext=at, textcoords=begin, arrowprops=line),
        axes.annotate(word, xy=at, xycoords=begin, xytext=(6, -14) if down else (10, 3),
                      textcoords="offset points", va="center" if down else "bottom"),
    ]  # fmt: skip
    for note in notes:
        note.set(annotation_clip=False, in_layout=False)  # their ends are not in these axes


def _bars(axes, item):
    labels, values = list(item["bars"]), list(item["bars"].values())
    colours = [HIGHLIGHT if label == item["ours"] else OTHER for label in labels]
    axes.barh(range(len(values)), values, color=colours)
    for i, number in enumerate(values):
        axes.text(number, i, f" {number:.3g}", va="center")
    axes.set_yticks(range(len(labels)), labels)
    axes.set_xticks([])
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_title(fill(item["measure"], 42), loc="left")
    axes.spines[["top", "right", "bottom"]].set_visible(False)
