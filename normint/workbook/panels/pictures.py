"""The pictures of the panels: small, and quick to draw."""

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from normint.normals.shading import shading

MARK, LINE = "#d55e00", "#0072b2"
TITLE, SMALL = 8, 7  # points


def canvas():
    """Return a figure with four axes, two by two, in places that need no computing."""
    figure = Figure(figsize=(6.16, 3.4), dpi=100)
    axes = figure.subplots(2, 2).ravel()
    figure.subplots_adjust(left=0.08, right=0.9, top=0.94, bottom=0.11, wspace=0.36, hspace=0.42)
    return figure, axes


def line_canvas():
    """Return a figure with two axes, one above the other, for what lies on a line of pixels."""
    figure = Figure(figsize=(6.16, 3.4), dpi=100)
    axes = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    figure.subplots_adjust(left=0.1, right=0.97, top=0.93, bottom=0.12, hspace=0.35)
    return figure, axes


def image(axes, values, title, scale=None, **how):
    """Draw a picture, or numbers as colours with a bar whose label is `scale`."""
    picture = axes.imshow(values, interpolation="nearest", **{"cmap": "gray"} | how)
    if scale:
        bar = axes.figure.colorbar(picture, ax=axes, fraction=0.046, pad=0.03)
        bar.set_label(scale, fontsize=SMALL, labelpad=1)
        bar.ax.tick_params(labelsize=SMALL)
        bar.ax.locator_params(nbins=3)
    # A side's length instead of ticks, which take a quarter of the time for a picture.
    axes.set(xticks=[], yticks=[])
    rows, cols = np.shape(values)[:2]
    label(axes, title, f"v: {cols} pixels", f"u: {rows} pixels")


def lit(axes, depth, title, exaggeration=1.0):
    """Draw a depth map lit from the upper left, as seen from the camera."""
    image(axes, shading(depth, exaggeration=exaggeration), title, vmin=-0.2, vmax=1)


def error(axes, depth, truth, title, unit):
    """Draw a signed error, blue where too low and red where too high, apart from its mean."""
    difference = depth - truth
    difference -= np.nanmean(difference)
    limit = max(float(np.nanpercentile(np.abs(difference), 99)), 1e-9)
    image(axes, difference, title, f"z - truth ({unit})", cmap="RdBu_r", vmin=-limit, vmax=limit)


def angles(axes, degrees, title):
    """Draw a map of angles, blue for 0° and red for 60° or more."""
    image(axes, degrees, title, "angle (degrees)", cmap="RdYlBu_r", vmin=0, vmax=60)


def marks(axes, ground, marked, title):
    """Draw marked pixels over a lit surface."""
    lit(axes, ground, title)
    axes.imshow(np.ma.masked_equal(marked, False), cmap=ListedColormap([MARK]), interpolation="nearest")


def curve(axes, values, title, xlabel, ylabel, truth=None):
    """Draw a curve, over the true one in grey if it is known."""
    if truth is not None:
        axes.plot(truth, color="0.7", linewidth=4, label="truth")
    axes.plot(values, ".-" if truth is None else "-", color=LINE, markersize=4, linewidth=1, label="result")
    axes.locator_params(nbins=3)
    axes.tick_params(labelsize=SMALL)
    axes.grid(alpha=0.3, linewidth=0.4)
    if truth is not None:
        axes.legend(fontsize=SMALL, frameon=False)
    label(axes, title, xlabel, ylabel)


def bars(axes, values, chosen, title, xlabel):
    """Draw one bar for each name, the chosen one in another colour."""
    axes.barh(
        range(len(values)), list(values.values()), color=[MARK if n == chosen else "0.7" for n in values]
    )
    for k, (name, value) in enumerate(values.items()):
        axes.text(0, k, f" {name}: {value:.3g}", va="center", fontsize=SMALL)
    axes.set_yticks([])
    axes.locator_params(axis="x", nbins=3)
    axes.tick_params(labelsize=SMALL)
    axes.invert_yaxis()
    label(axes, title, xlabel)


def label(axes, title, xlabel="", ylabel=""):
    """Write what is drawn, and along which axes."""
    axes.set_title(title, fontsize=TITLE, pad=4)
    axes.set_xlabel(xlabel, fontsize=SMALL, labelpad=2)
    axes.set_ylabel(ylabel, fontsize=SMALL, labelpad=1)
