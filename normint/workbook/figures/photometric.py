"""Photographs under several lights, and what photometric stereo makes of them."""

import numpy as np

from normint.workbook.figures.canvas import PAGE, new_figure, printed
from normint.workbook.figures.lit_surfaces import draw_surface

ANGLES = {"cmap": "RdYlBu_r", "vmin": 0, "vmax": 60}  # blue is 0°, red is 60°, as in the paper


@printed
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
    heights = [2.2, 5.6 / len(depths)] + ([6.0 / len(depths)] if errors else [])
    figure = new_figure(PAGE, sum(heights))
    figure.suptitle(title)
    rows = figure.subfigures(len(heights), 1, height_ratios=heights)
    names = iter("abcdefghijkl")

    def label(text):
        return f"({next(names)}) {text}" if letters else text

    for axes, (name, (image, light)) in zip(rows[0].subplots(1, len(images)), images.items(), strict=True):
        axes.imshow(image, cmap="gray", interpolation="nearest")
        _arrow(axes, image.shape, light)
        axes.set_title(label(name))
        _pixels(axes)
    depths = {name: z - np.nanmean(z) for name, z in depths.items()}
    low = min(np.nanmin(z) for z in depths.values())
    high = max(np.nanmax(z) for z in depths.values())
    for axes, (name, z) in zip(rows[1].subplots(1, len(depths)), depths.items(), strict=True):
        stretch = aspect * max(z.shape) / (high - low)
        draw_surface(axes, z, low, high, view, stretch, unit="pixels", finest=200)
        axes.set_title(label(name))
    if errors:
        all_axes = rows[2].subplots(1, len(errors))
        for axes, (name, error) in zip(all_axes, errors.items(), strict=True):
            picture = axes.imshow(error, interpolation="nearest", **ANGLES)
            axes.set_title(name)
            _pixels(axes)
        rows[2].colorbar(picture, ax=list(all_axes), label="angular error (°)", shrink=0.9, extend="max")
    return figure


@printed
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
    figure = new_figure(PAGE, 4.2)
    figure.suptitle(title)
    below = [str(k) for k in range(len(images))]
    placed = figure.subplot_mosaic([["bars"] * len(images), below], height_ratios=[1.0, 1.15])
    bars, pictures = placed["bars"], [placed[name] for name in below]
    best = found[0]
    rows = [f"rows {', '.join(map(str, r.order))} along {r.axes}" for r in found[:shown]]
    colours = ["#d55e00"] + ["0.65" if r.outwards > 0 else "0.85" for r in found[1:shown]]
    bars.barh(range(len(rows)), [r.curl for r in found[:shown]], color=colours)
    for k, reading in enumerate(found[:shown]):
        text = f"{reading.curl:.3f}, bulges {'out' if reading.outwards > 0 else 'in'}"
        bars.text(0.01, k, text, va="center")
    bars.set_yticks(range(len(rows)), rows)
    bars.invert_yaxis()
    bars.set_xlabel("relative curl of the gradient")
    bars.set_title("the best readings of the light table")
    for k, (axes, image) in enumerate(zip(pictures, images, strict=True)):
        axes.imshow(image, cmap="gray", interpolation="nearest")
        axes.contour(mask, [0.5], colors="#0072b2", linewidths=0.8)
        _arrow(axes, image.shape, best.lights[k])
        axes.set_title(f"image {k}: row {best.order[k]} of the table")
        _pixels(axes)
    return figure


def _arrow(axes, shape, light):
    """Draw an arrow from where the light comes to the middle, long if it comes from far aside."""
    middle = np.array(shape) / 2
    aside = np.asarray(light[:2]) / np.linalg.norm(light)
    offset = 1.1 * max(shape) * aside
    offset *= min(1.0, (0.6 * np.array(shape) / np.maximum(np.abs(offset), 1e-9)).min())  # beside no other
    start = middle + offset
    axes.annotate(
        "", xy=middle[::-1], xytext=start[::-1], annotation_clip=False,
        arrowprops={"arrowstyle": "-|>", "color": "#f0a000", "linewidth": 1.6},
    )  # fmt: skip
    axes.set(xlim=(-0.5, shape[1] - 0.5), ylim=(shape[0] - 0.5, -0.5))


def _pixels(axes):
    axes.set_xlabel("v (pixels)")
    axes.set_ylabel("u (pixels)")
