"""The pictures of the panels: small, and quick to draw."""

import numpy as np
from matplotlib.colors import LightSource, ListedColormap
from matplotlib.figure import Figure

MARK = "#d55e00"


def canvas():
    """Return a figure with four axes, two by two, in places that need no computing."""
    figure = Figure(figsize=(7.5, 6.2), dpi=80)
    axes = figure.subplots(2, 2).ravel()
    figure.subplots_adjust(left=0.08, right=0.93, top=0.94, bottom=0.08, wspace=0.32, hspace=0.34)
    return figure, axes


def lit(axes, depth, title, exaggeration=1.0):
    """Draw a depth map lit from the upper left, as seen from the camera."""
    grey = np.full(depth.shape, np.nan)
    known = np.isfinite(depth)
    if known.any():
        filled = np.where(known, depth, depth[known].min())
        grey[known] = LightSource(azdeg=315, altdeg=45).hillshade(filled, vert_exag=exaggeration)[known]
    axes.imshow(grey, cmap="gray", vmin=-0.2, vmax=1, interpolation="nearest")
    _finish(axes, depth.shape, title)


def height(axes, depth, title, unit):
    """Draw a depth map in colours."""
    _coloured(axes, depth, title, f"z ({unit})", cmap="cividis")


def error(axes, difference, title, unit):
    """Draw a signed error, blue where too low and red where too high."""
    known = np.abs(difference[np.isfinite(difference)])
    limit = max(float(np.percentile(known, 99)) if known.size else 0.0, 1e-9)
    _coloured(axes, difference, title, f"z - truth ({unit})", cmap="RdBu_r", vmin=-limit, vmax=limit)


def angles(axes, degrees, title):
    """Draw a map of angles, blue for 0° and red for 60° or more."""
    _coloured(axes, degrees, title, "angle (degrees)", cmap="RdYlBu_r", vmin=0, vmax=60)


def residuals(axes, values, title):
    """Draw how far slopes are from those given."""
    known = values[np.isfinite(values)]
    largest = max(float(known.max()) if known.size else 0.0, 0.1)
    _coloured(axes, values, title, "largest |∂z - g| of a pixel", cmap="magma_r", vmin=0, vmax=largest)


def levels(axes, values, title):
    """Draw an error of colours."""
    _coloured(axes, values, title, "mean |error| of the channels (levels)", cmap="magma", vmin=0, vmax=60)


def photograph(axes, image, title, **how):
    """Draw a picture, in grey or in colour."""
    axes.imshow(image, cmap="gray", interpolation="nearest", **how)
    _finish(axes, image.shape, title)


def marks(axes, ground, marked, title):
    """Draw marked pixels over a lit surface."""
    lit(axes, ground, title)
    axes.imshow(np.ma.masked_equal(marked, False), cmap=ListedColormap([MARK]), interpolation="nearest")


def message(axes, title, text):
    """Say why there is nothing to draw."""
    axes.set_title(title, fontsize=10)
    axes.text(0.5, 0.5, text, ha="center", va="center", fontsize=9, transform=axes.transAxes)
    axes.set_axis_off()


def energy(axes, energies, title="energy"):
    """Draw the energy after each iteration."""
    axes.plot(np.arange(len(energies)), energies, ".-", color="#0072b2", markersize=4, linewidth=1)
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("iteration", fontsize=8)
    axes.set_ylabel("energy", fontsize=8, labelpad=1)
    axes.locator_params(nbins=3)
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.3, linewidth=0.4)


def bars(axes, values, chosen, title, label):
    """Draw one bar for each name, the chosen one in another colour."""
    names = list(values)
    colours = [MARK if name == chosen else "0.7" for name in names]
    axes.barh(range(len(names)), list(values.values()), color=colours)
    for k, value in enumerate(values.values()):
        axes.text(0, k, f" {names[k]}: {value:.3g}", va="center", fontsize=8)
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(label, fontsize=8)
    axes.set_yticks([])
    axes.locator_params(axis="x", nbins=3)
    axes.tick_params(labelsize=7)
    axes.invert_yaxis()


def cut(axes, panels, row, title, unit):
    """Draw a cut along one row; the first is the truth, in grey."""
    for k, (label, depth) in enumerate(panels.items()):
        style = {"color": "0.7", "linewidth": 4} if k == 0 else {"color": "#0072b2", "linewidth": 1.2}
        axes.plot(depth[row], label=label, **style)
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("v (pixels)", fontsize=8)
    axes.set_ylabel(f"z ({unit})", fontsize=8, labelpad=1)
    axes.locator_params(nbins=3)
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.3, linewidth=0.4)
    axes.legend(fontsize=7, frameon=False)


def _coloured(axes, values, title, label, **how):
    picture = axes.imshow(values, interpolation="nearest", **how)
    bar = axes.figure.colorbar(picture, ax=axes, fraction=0.046, pad=0.03)
    bar.set_label(label, fontsize=8)
    bar.ax.tick_params(labelsize=7)
    bar.ax.locator_params(nbins=3)
    _finish(axes, values.shape, title)


def _finish(axes, shape, title):
    axes.set_title(title, fontsize=10)
    # A side's length instead of ticks, which take a quarter of the time for a picture.
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_xlabel(f"v: {shape[1]} pixels", fontsize=8, labelpad=2)
    axes.set_ylabel(f"u: {shape[0]} pixels", fontsize=8, labelpad=2)
