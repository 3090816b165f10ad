"""Pictures of the calibrated method: how it works, and where it fails."""

import numpy as np
from matplotlib.colors import to_rgb
from scipy.ndimage import binary_dilation

from normint.integration import METHODS
from normint.methods.calibrated.constants import CONSTANTS
from normint.methods.calibrated.energy import COLDEST
from normint.methods.calibrated.search import NOISE
from normint.workbook.figures.canvas import PAGE, new_figure, new_panels, printed
from normint.workbook.figures.depth_maps import DEPTH_MAP
from normint.workbook.figures.lit_surfaces import lit

OURS, TRUTH = METHODS["calibrated"].colour, "0.65"
CUT_COLOURS = {"missed": "#0072b2", "found": "0.15", "invented": OURS}
JUMP = 0.5  # pixels: smaller jumps are not drawn


@printed
def noise_maps(curl, measured, true):
    """Draw the curl of measured slopes, the noise found from it, and the noise that was added.

    Parameters
    ----------
    curl : ndarray
        |curl| around each 2×2 pixels.
    measured, true : ndarray
        Standard deviations of the slopes' noise, drawn with common colours.
    """
    figure = new_figure(PAGE, 2.0)
    all_axes = figure.subplots(1, 3)
    limit = max(np.nanmax(measured), np.nanmax(true))
    panels = {
        "|curl| around 2×2 pixels": curl,
        "noise measured from it": measured,
        "noise that was added": true,
    }
    for axes, (title, image) in zip(all_axes, panels.items(), strict=True):
        top = np.nanpercentile(curl, 99) if image is curl else limit
        picture = axes.imshow(image, cmap="viridis", vmin=0, vmax=top, interpolation="nearest")
        axes.set_title(title)
        axes.set_xlabel("v (pixels)")
        label = "|curl| (pixels)" if image is curl else "σ (pixels per pixel)"
        figure.colorbar(picture, ax=axes, label=label, shrink=0.85)
    all_axes[0].set_ylabel("u (pixels)")
    return figure


@printed
def predicted_steps(depth, mean, predicted, columns):
    """Draw a row of a surface near a contour, and its steps: true, as a mean of slopes, as predicted.

    Parameters
    ----------
    depth : ndarray
        One row of the true depth.
    mean, predicted : ndarray
        The step from each pixel to the next, as long as the row; the last is not drawn.
    columns : (int, int)
        From which to which pixel to draw.
    """
    first, last = columns
    figure = new_figure(PAGE, 2.6)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.6))
    left.plot(depth, color="0.7")
    shown = np.arange(first, last + 1)
    left.plot(shown, depth[first : last + 1], "o", color="0.25", markersize=3)
    left.set(xlabel="v (pixels)", ylabel="depth z (pixels)")
    left.set_title("one row of the surface; dots: the part at right")
    edges = np.arange(first, last)
    bars = {"true": (np.diff(depth)[first:last], TRUTH), "mean of two slopes": (mean[first:last], "#0072b2"),
            "predicted": (predicted[first:last], OURS)}  # fmt: skip
    for k, (label, (steps, colour)) in enumerate(bars.items()):
        right.bar(edges + 0.5 + 0.27 * (k - 1), steps, 0.27, color=colour, label=label)
    right.axhline(0, color="0.3", linewidth=0.8)
    right.set(
        xlabel="v of the edge (pixels)", ylabel="step from pixel to pixel (pixels)", xticks=edges[::2] + 0.5
    )
    right.set_title("steps in depth")
    right.legend()
    for axes in (left, right):
        axes.grid(alpha=0.3, linewidth=0.4)
    return figure


@printed
def graduated_weights(depths, edges, noise, *, cooling=CONSTANTS.cooling, columns=5):
    """Draw the weights of all edges at some temperatures through which a surface cools down.

    Parameters
    ----------
    depths : list of ndarray
        Least squares, and the depth after each temperature.
    edges : Edges
        The steps that the slopes predict, their variances and prices.
    noise : float
        The typical standard deviation of a step.
    cooling : float
        The factor between two temperatures.
    """
    residuals = [_residual(z, edges) for z in depths[:-1]]
    taus = np.abs(residuals[0]).max() / NOISE / cooling ** np.arange(len(residuals))
    taus[taus < COLDEST * noise] = 0.0
    figure = new_figure(PAGE, 1.9)
    all_axes = figure.subplots(1, columns)
    for axes, k in zip(all_axes, np.linspace(0, len(taus) - 1, columns).astype(int), strict=True):
        price = np.where(residuals[k] > 0, edges.price[..., 1], edges.price[..., 0])
        weights = 1 / (1 + residuals[k] ** 2 / (2 * price * (edges.variance + taus[k] ** 2)))
        picture = axes.imshow(weights.min(axis=0), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        axes.set_title(f"τ = {taus[k] / noise:.2g} σ")
        axes.set_xlabel("v (pixels)")
    all_axes[0].set_ylabel("u (pixels)")
    label = "least weight of its edges"
    figure.colorbar(picture, ax=list(all_axes), label=label, shrink=0.85, pad=0.01)
    return figure


def _residual(depth, edges):
    """Return Δz - t of all edges, zero where there is none."""
    steps = np.stack([np.diff(depth, axis=axis, append=np.nan) for axis in (0, 1)])
    return np.where(edges.exists, steps - edges.step, 0.0)


@printed
def stages(rows):
    """Draw where the depth is wrong at the stages of a method, one row for each surface.

    Parameters
    ----------
    rows : dict
        From the surface's name to a dict from the stage's title to its error, an image without a shift.
    """
    count = max(len(panels) for panels in rows.values())
    figure = new_figure(PAGE, (PAGE / count + 0.35) * len(rows))
    grid = figure.subplots(len(rows), count, squeeze=False)
    for line, (name, panels) in zip(grid, rows.items(), strict=True):
        limit = max(np.nanpercentile(np.abs(error), 99.5) for error in panels.values()) or 1.0
        for axes in line[len(panels) :]:
            axes.set_visible(False)
        for axes, (title, error) in zip(line, panels.items(), strict=False):
            picture = axes.imshow(error, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest")
            axes.set_title(title)
            axes.set_xlabel("v")
        line[0].set_ylabel(f"{name}\nu")
        figure.colorbar(picture, ax=list(line), label="z − truth (pixels)", shrink=0.85, pad=0.01)
    return figure


@printed
def cuts(results, *, below=0.1):
    """Draw where surfaces were cut, over each surface lit from the upper left.

    Parameters
    ----------
    results : dict
        From title to :class:`normint.Integration`, with weights that are 1 on uncut edges.
    below : float
        An edge counts as cut where its weight is below this.
    """
    figure, all_axes = new_panels(len(results), len(results), PAGE / len(results) + 0.3)
    for axes, (title, result) in zip(all_axes, results.items(), strict=True):
        marked = beside_cuts(result, below)
        shade = np.nan_to_num(lit(result.depth, exaggeration=0.5), nan=1.0)[..., np.newaxis]
        axes.imshow(np.where(marked[..., np.newaxis], to_rgb(OURS), shade), interpolation="nearest")
        axes.set_title(f"{title}: {np.count_nonzero(marked)} pixels beside a cut")
        axes.set(xlabel="v (pixels)", ylabel="u (pixels)")
    return figure


def beside_cuts(result, below=0.1):
    """Mark the pixels beside cut edges.

    Parameters
    ----------
    result : Integration
        With weights that are 1 on uncut edges, and a depth that is NaN outside the mask.
    below : float
        An edge counts as cut where its weight is below this.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> right = np.array([[1.0, 0.0, 1.0, 0.0]])
    >>> beside_cuts(SimpleNamespace(depth=np.zeros((1, 4)), weights=(0 * right, right)))
    array([[False,  True,  True, False]])
    """
    mask = np.isfinite(result.depth)
    marked = np.zeros(mask.shape, dtype=bool)
    for weights, here, there in zip(
        result.weights, (np.s_[:-1], np.s_[:, :-1]), (np.s_[1:], np.s_[:, 1:]), strict=True
    ):
        cut = mask[here] & mask[there] & (weights[here] < below)
        marked[here] |= cut
        marked[there] |= cut
    return marked


@printed
def failures(cases, *, below=0.1):
    """Draw scenes with what became of them: truth and result with common colours, error, and cuts.

    Parameters
    ----------
    cases : dict
        From title to (scene, result): a Scene and the Integration of its slopes.
    below : float
        An edge counts as cut where its weight is below this.
    """
    figure = new_figure(PAGE, 1.65 * len(cases) + 0.2)
    grid = figure.subplots(len(cases), 4, squeeze=False)
    for line, (title, (scene, result)) in zip(grid, cases.items(), strict=True):
        truth = np.where(scene.mask, scene.surface.depth, np.nan)
        depth = result.depth - np.nanmedian(result.depth - truth)
        error = depth - truth
        low, high = np.nanmin(truth), np.nanmax(truth)
        for axes, image, name in zip(line, (truth, depth), ("truth", "result"), strict=False):
            shade = axes.imshow(image, cmap=DEPTH_MAP, vmin=low, vmax=high, interpolation="nearest")
            axes.set_title(name)
        figure.colorbar(shade, ax=line[1], label="z (pixels)", shrink=0.85)
        limit = max(np.nanpercentile(np.abs(error), 99.5), 1e-9)
        wrong = line[2].imshow(error, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest")
        line[2].set_title("error")
        figure.colorbar(wrong, ax=line[2], label="z − truth (pixels)", shrink=0.85)
        line[3].imshow(_judged(scene, beside_cuts(result, below)), interpolation="nearest")
        line[3].set_title("jumps")
        line[0].set_ylabel(f"{title}\nu")
        for axes in line:
            axes.set_xlabel("v")
    for name, colour in CUT_COLOURS.items():
        line[3].plot([], [], "s", color=colour, label=name, markersize=5)
    figure.legend(loc="outside lower right", ncols=3)
    return figure


def _judged(scene, found):
    """Colour the pixels beside true jumps and beside cuts; one pixel beside the other counts as the same."""
    true = np.zeros(found.shape, dtype=bool)
    for axis, jump in enumerate(scene.jumps):
        high = (jump > JUMP) & scene.mask & np.roll(scene.mask, -1, axis)
        true |= high | np.roll(high, 1, axis)
    found = found & scene.mask
    near_true, near_found = binary_dilation(true), binary_dilation(found)
    colours = np.full((*found.shape, 3), 0.93)
    colours[~scene.mask] = 1.0
    for where, name in (
        (found & ~near_true, "invented"),
        (true & ~near_found, "missed"),
        (true & near_found, "found"),
    ):
        colours[where] = to_rgb(CUT_COLOURS[name])
    return colours
