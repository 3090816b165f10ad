"""The first pictures: what the problem is, and which method to take."""

import numpy as np

from normint.domain import bounding_box
from normint.normals.camera import projection
from normint.normals.convert import gradient_to_normals
from normint.workbook.figures.canvas import new_figure
from normint.workbook.figures.depth_maps import DEPTH_MAP, draw_surface

HIGHLIGHT, OTHER = "#d55e00", "0.72"


def problem(surface):
    """Draw what is given, normals or slopes, and what is wanted, the depth.

    Parameters
    ----------
    surface : Surface
        Drawn inside its mask.
    """
    figure = new_figure(13, 3.9)
    left, middle, right = figure.subfigures(1, 3, width_ratios=[1.0, 1.95, 1.1])
    inside = surface.mask[..., np.newaxis]
    n_u, n_v, n_z = np.moveaxis(gradient_to_normals(surface.p, surface.q), 2, 0)
    colours = np.stack([n_v, -n_u, n_z], axis=-1) / 2 + 0.5  # red to the right, green up, as usual
    axes = left.subplots()
    axes.imshow(np.where(inside, colours, 1.0), interpolation="nearest")
    axes.set_title("given: normals\n(red right, green up, blue to us)", fontsize=10)
    axes.set(xlabel="v (pixels)", ylabel="u (pixels)")
    slopes = {"p, downwards": surface.p, "q, to the right": surface.q}
    for axes, (name, slope) in zip(middle.subplots(1, 2), slopes.items(), strict=True):
        shown = np.where(surface.mask, slope, np.nan)
        picture = axes.imshow(shown, cmap="RdBu_r", vmin=-3, vmax=3, interpolation="nearest")
        axes.set_title(f"the same as slopes:\n{name}", fontsize=10)
        axes.set(xlabel="v (pixels)")
    middle.colorbar(picture, ax=middle.axes, shrink=0.7, extend="both", label="slope (pixels per pixel)")
    axes = right.add_subplot(projection="3d")
    z = np.where(surface.mask, surface.depth - surface.depth[surface.mask].mean(), np.nan)
    low, high = np.nanmin(z), np.nanmax(z)
    draw_surface(axes, z, low, high, (82, -88), 0.5, finest=150, tint=(0.97, 0.95, 0.90))
    axes.set_title("wanted: the depth z", fontsize=10)
    axes.set_zlabel("z (pixels)", fontsize=8)
    return figure


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
    z = exaggeration * (z - np.nanmin(z))
    figure = new_figure(12, 4.4)
    left, middle, right = figure.subfigures(1, 3, width_ratios=[1.0, 1.15, 1.35])
    axes = left.subplots()
    axes.imshow(np.where(there[..., np.newaxis], np.clip(colours, 0, 1), 1.0), interpolation="nearest")
    axes.set_title("a normal map", fontsize=11)
    axes.set_axis_off()
    axes = middle.subplots()
    shown = axes.imshow(
        result.depth[box], cmap=DEPTH_MAP + ("" if lens.far else "_r"), interpolation="nearest"
    )
    axes.set_title("its depth", fontsize=11)
    axes.set_axis_off()
    label = "depth z, to the camera (pixels)" if lens.far else "distance d (relative)"
    middle.colorbar(shown, ax=axes, shrink=0.75, label=label)
    axes = right.add_subplot(projection="3d")
    high = np.nanmax(z)
    draw_surface(axes, z, 0.0, high, view, high / max(z.shape), finest=160, tint=(0.97, 0.95, 0.90))
    axes.set_box_aspect((z.shape[1], z.shape[0], high), zoom=1.15)
    axes.set_title("the mesh", fontsize=11)
    axes.set_axis_off()
    return figure


def decision(questions):
    """Draw a chain of questions; each yes leads to a method and to the measurement behind it.

    Parameters
    ----------
    questions : list of dict
        As :func:`normint.workbook.overview.decision` gives them.
    """
    heights = [max(1.0, len(item["bars"]) / 6) for item in questions]  # labels of more bars would touch
    figure = new_figure(11.5, 1.55 * sum(heights))
    rows = figure.subplots(
        len(questions), 3, width_ratios=[1.25, 1.15, 1.9], height_ratios=heights, squeeze=False
    )
    for k, (item, (asked, answer, bars)) in enumerate(zip(questions, rows, strict=True)):
        _box(asked, item["question"], "#e8eef5")
        _box(answer, f'method="{item["method"]}"', "#fbe6d8", bold=True)
        _arrow(asked, "yes", (0.97, 0.5), (1.12, 0.5))
        if k + 1 < len(questions):
            _arrow(asked, "no", (0.5, 0.1), (0.5, -0.16))
        labels, values = list(item["bars"]), list(item["bars"].values())
        colours = [HIGHLIGHT if label == item["ours"] else OTHER for label in labels]
        bars.barh(range(len(values)), values, color=colours)
        for i, number in enumerate(values):
            bars.text(number, i, f" {number:.3g}", va="center", fontsize=7)
        bars.set_yticks(range(len(labels)), labels, fontsize=7)
        bars.invert_yaxis()
        bars.margins(x=0.12)
        bars.tick_params(axis="x", labelsize=6)
        bars.set_title(item["measure"], fontsize=8)
        bars.spines[["top", "right"]].set_visible(False)
    return figure


def _box(axes, text, colour, bold=False):
    axes.set_axis_off()
    box = {"boxstyle": "round,pad=0.5", "facecolor": colour, "edgecolor": "0.6"}
    weight = "bold" if bold else "normal"
    axes.text(
        0.5, 0.5, text, ha="center", va="center", fontsize=9, weight=weight, bbox=box,
        transform=axes.transAxes,
    )  # fmt: skip


def _arrow(axes, text, begin, end):
    axes.annotate(
        text, xy=end, xytext=begin, xycoords="axes fraction", fontsize=8, ha="center", va="center",
        arrowprops={"arrowstyle": "-|>", "color": "0.3"}, annotation_clip=False,
    )  # fmt: skip
