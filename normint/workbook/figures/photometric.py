"""Photographs under several lights, and what photometric stereo makes of them."""

import numpy as np

from normint.workbook.figures.canvas import new_figure
from normint.workbook.figures.depth_maps import draw_surface

PORCELAIN = (0.97, 0.95, 0.90)
ANGLES = {"cmap": "RdYlBu_r", "vmin": 0, "vmax": 60}  # blue is 0°, red is 60°, as in the paper


def reconstructions(images, depths, errors=None, *, view=(55, -100), aspect=0.35, title="", letters=False):
    """Draw photographs, the surfaces that methods make of them, and where their normals are wrong.

    Parameters
    ----------
    images : dict
        From title to (image, light): a grey picture and the direction to its light along u, v and z, drawn
        as an arrow that comes from it.
    depths : dict
        From title to depth map, NaN where there is none.
    errors : dict, optional
        From title to a map of angles in degrees, as many as there are depths.
    view : (float, float)
        Elevation and azimuth of the surfaces in degrees.
    aspect : float
        Height of the surfaces' box relative to its wider side.
    title : str
    letters : bool
        Whether to put (a), (b), … before the titles.
    """
    heights = [1.0, 2.9 / len(depths)] + ([1.15] if errors else [])
    figure = new_figure(10, 3.1 * sum(heights))
    figure.suptitle(title, fontsize=11)
    rows = figure.subfigures(len(heights), 1, height_ratios=heights)
    names = iter("abcdefghijkl")

    def label(text):
        return f"({next(names)}) {text}" if letters else text

    for axes, (name, (image, light)) in zip(rows[0].subplots(1, len(images)), images.items(), strict=True):
        axes.imshow(image, cmap="gray", interpolation="nearest")
        _arrow(axes, image.shape, light)
        axes.set_title(label(name), fontsize=9)
        _pixels(axes)
    low = min(np.nanmin(z - np.nanmean(z)) for z in depths.values())
    high = max(np.nanmax(z - np.nanmean(z)) for z in depths.values())
    for k, (name, z) in enumerate(depths.items(), start=1):
        axes = rows[1].add_subplot(1, len(depths), k, projection="3d")
        draw_surface(axes, z - np.nanmean(z), low, high, view, aspect, finest=200, tint=PORCELAIN)
        axes.set_title(label(name), fontsize=9, y=0.98)
        axes.set_xlabel("v", fontsize=7, labelpad=-8)
        axes.set_ylabel("u", fontsize=7, labelpad=-6)
        axes.set_zlabel("z (pixels)", fontsize=7, labelpad=-6)
        axes.tick_params(labelsize=6, pad=-2)
    if errors:
        all_axes = rows[2].subplots(1, len(errors))
        for axes, (name, error) in zip(all_axes, errors.items(), strict=True):
            picture = axes.imshow(error, interpolation="nearest", **ANGLES)
            axes.set_title(name, fontsize=9)
            _pixels(axes)
        rows[2].colorbar(picture, ax=list(all_axes), label="angular error (°)", shrink=0.9, extend="max")
    return figure


def light_readings(found, images, mask, *, shown=8, title=""):
    """Draw the best readings of a table of lights as bars of their curl, beside the images lit accordingly.

    Parameters
    ----------
    found : list of Reading
        The best first.
    images : sequence of ndarray
    mask : ndarray of bool
    shown : int
        How many readings to show.
    """
    figure = new_figure(11, 3.4)
    figure.suptitle(title, fontsize=10)
    bars, *pictures = figure.subplots(1, 4, width_ratios=[1.7, 1, 1, 1])
    best = found[0]
    rows = [f"rows {', '.join(map(str, r.order))} along {r.axes}" for r in found[:shown]]
    colours = ["#d55e00"] + ["0.65" if r.outwards > 0 else "0.85" for r in found[1:shown]]
    bars.barh(range(len(rows)), [r.curl for r in found[:shown]], color=colours)
    for k, reading in enumerate(found[:shown]):
        text = f"{reading.curl:.3f}, bulges {'out' if reading.outwards > 0 else 'in'}"
        bars.text(0.01, k, text, va="center", fontsize=7)
    bars.set_yticks(range(len(rows)), rows, fontsize=7)
    bars.invert_yaxis()
    bars.set_xlabel("relative curl of the gradient")
    bars.set_title("the best readings of the light table", fontsize=9)
    for k, (axes, image) in enumerate(zip(pictures, images, strict=True)):
        axes.imshow(image, cmap="gray", interpolation="nearest")
        axes.contour(mask, [0.5], colors="#0072b2", linewidths=0.8)
        _arrow(axes, image.shape, best.lights[k])
        axes.set_title(f"image {k}: row {best.order[k]} of the table", fontsize=9)
        _pixels(axes)
    return figure


def _arrow(axes, shape, light):
    """Draw an arrow from where the light comes to the middle, long if it comes from far aside."""
    middle = np.array(shape) / 2
    aside = np.asarray(light[:2]) / np.linalg.norm(light)
    start = middle + 1.1 * max(shape) * aside
    axes.annotate(
        "", xy=middle[::-1], xytext=start[::-1], annotation_clip=False,
        arrowprops={"arrowstyle": "-|>", "color": "#f0a000", "linewidth": 1.6},
    )  # fmt: skip
    axes.set(xlim=(-0.5, shape[1] - 0.5), ylim=(shape[0] - 0.5, -0.5))


def _pixels(axes):
    axes.set_xlabel("v (pixels)", fontsize=7)
    axes.set_ylabel("u (pixels)", fontsize=7)
    axes.tick_params(labelsize=6)
