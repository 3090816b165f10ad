"""Pictures for Section 2.4: a prior depth, its weight λ, wrong values, control points."""

import numpy as np
from matplotlib.ticker import LogLocator

from normint.workbook.figures.canvas import PAGE, new_figure, new_panels, printed
from normint.workbook.figures.charts import BELOW
from normint.workbook.figures.lit_surfaces import draw_surface, lit, mark_points

TRUTH = {"color": "0.7", "linewidth": 5}
LINES = (  # prior, normals, merged, merged otherwise, in the figures that compare them
    {"color": "#d55e00", "linewidth": 1.0},
    {"color": "#0072b2", "linewidth": 1.6, "linestyle": "--"},
    {"color": "black", "linewidth": 1.3},
    {"color": "#009e73", "linewidth": 1.6, "linestyle": "-."},
)


@printed
def merging(panels, truth, *, row, unit="pixels", limit=None, exaggeration=1.0):
    """Draw depths as lit reliefs, a cut through all of them, and where each differs from the truth.

    Parameters
    ----------
    panels : dict
        From title to depth, at most four; NaN where there is none. Nothing is shifted.
    truth : ndarray
        z towards the camera.
    row : int
        Where to cut.
    limit : float, optional
        End of the colour scale of the errors.
    exaggeration : float
        Of the relief, if z is not in pixels.
    """
    errors = {title: z - truth for title, z in panels.items()}
    limit = limit or _limit(*errors.values())
    rows, cols = truth.shape
    tall = (PAGE - 0.8) / (1 + len(panels)) * rows / cols
    heights = [2 * tall + 1.0, 2.0]
    figure = new_figure(PAGE, sum(heights))
    top, bottom = figure.subfigures(2, 1, height_ratios=heights)
    upper, lower = top.subplots(2, 1 + len(panels), sharex=True, sharey=True)
    for axes, (title, z) in zip(upper, {"truth": truth, **panels}.items(), strict=True):
        axes.imshow(lit(z, exaggeration=exaggeration), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        axes.set_title(title)
        _bare(axes)
    upper[0].axhline(row, color="#d55e00", linewidth=1, linestyle=":")
    lower[0].set_axis_off()
    for axes, error in zip(lower[1:], errors.values(), strict=True):
        picture = _error(axes, error, limit)
    bar = {"shrink": 0.45, "anchor": (0.0, 0.0), "pad": 0.01}
    top.colorbar(picture, ax=[*upper, *lower], label=f"z − truth ({unit})", **bar)
    _cut(bottom.subplots(), {"truth": truth, **panels}, row, unit)
    return figure


@printed
def weight_curves(panels, *, columns=3):
    """Draw the error against λ, with the λ that rules choose marked on the curve.

    Parameters
    ----------
    panels : dict
        From title to a dict: ``weights`` and ``errors``, the curve; ``marks``, from a rule's name to
        (λ, error); ``levels``, from label to an error that does not depend on λ; ``unit``.
    """
    figure, all_axes = new_panels(len(panels), columns, 2.1, more=0.5)
    for axes, (title, panel) in zip(all_axes, panels.items(), strict=True):
        axes.loglog(panel["weights"], panel["errors"], color="0.35", label="merged, for every λ")
        for style, (label, level) in zip(LINES, panel["levels"].items(), strict=False):
            axes.axhline(level, color=style["color"], linewidth=1, linestyle=":", label=label)
        for k, (label, point) in enumerate(panel["marks"].items()):
            colour, marker = ("#009e73", "#cc79a7", "#e69f00", "#56b4e9")[k], ("o", "v", "s", "D")[k]
            size = 11 if k == 0 else 6
            axes.plot(*point, marker, color=colour, markersize=size, label=label, zorder=3 - 0.1 * k)
        axes.set(xlabel="weight λ of the prior", ylabel=f"RMS error ({panel.get('unit', 'pixels')})")
        axes.set_title(title)
        _few_decimals(axes.yaxis)
        axes.grid(alpha=0.3, which="both", linewidth=0.4)
    handles, labels = all_axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


@printed
def trust_maps(panels, truth, trust, *, unit="pixels"):
    """Draw where priors and results differ from the truth, and how much each value of the prior is trusted.

    Parameters
    ----------
    panels : dict
        From title to depth; all share a scale made for the last but one.
    truth : ndarray
    trust : ndarray
        Between 0 and 1.
    """
    errors = [z - truth for z in panels.values()]
    limit = _limit(errors[-2])
    figure = new_figure(PAGE, 3.0)
    all_axes = figure.subplots(1, 1 + len(panels))
    for axes, title, error in zip(all_axes, panels, errors, strict=False):
        picture = _error(axes, error, limit)
        axes.set_title(title)
    bar = {"location": "bottom", "shrink": 0.8, "pad": 0.02}
    figure.colorbar(picture, ax=list(all_axes[:-1]), label=f"z − truth ({unit})", extend="both", **bar)
    shown = all_axes[-1].imshow(trust, cmap="cividis", vmin=0, vmax=1, interpolation="nearest")
    all_axes[-1].set_title("trust found\n(λ relative to full)")
    _bare(all_axes[-1])
    figure.colorbar(shown, ax=all_axes[-1], label="0: ignored, 1: trusted", **bar)
    return figure


@printed
def control_points(panels, points, counts, errors, *, noise, view=(35, -60), aspect=0.5):
    """Draw separate pieces at their heights, and the error against the number of control points on each.

    Parameters
    ----------
    panels : dict
        From title to depth, NaN between the pieces. Nothing is shifted.
    points : (ndarray, ndarray)
        Rows and columns of the points that the last panel used.
    counts : sequence of int
        Points per piece.
    errors : dict
        From label to errors, an array of draws × counts.
    noise : float
        Standard deviation of the points.
    """
    low = min(np.nanmin(z) for z in panels.values())
    high = max(np.nanmax(z) for z in panels.values())
    figure = new_figure(PAGE, 4.6)
    upper, lower = figure.subfigures(2, 1, height_ratios=[1.0, 1.1])
    for k, (axes, (title, z)) in enumerate(zip(upper.subplots(1, len(panels)), panels.items(), strict=True)):
        stretch = aspect * max(z.shape) / (high - low)
        draw_surface(axes, z, low, high, view, stretch, unit="pixels")
        axes.set_title(title)
        if k == len(panels) - 1:
            mark_points(axes, z, points, view, stretch)
    axes = lower.subplots()
    for k, (label, draws) in enumerate(errors.items()):
        marker, colour = "os"[k % 2], ("#009e73", "#d55e00")[k % 2]
        mean, spread = np.mean(draws, axis=0), np.std(draws, axis=0)
        axes.errorbar(counts, mean, spread, marker=marker, markersize=5, color=colour, capsize=2, label=label)
    counts = np.asarray(counts, float)
    axes.plot(counts, noise / np.sqrt(counts), color="0.5", linestyle=":", label=f"{noise:g} px / √count")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    _few_decimals(axes.yaxis)
    axes.set(xlabel="control points on each piece", ylabel="RMS error (pixels)")
    axes.set_title(f"points with noise of {noise:g} px")
    axes.grid(alpha=0.3, which="both", linewidth=0.4)
    axes.legend()
    return figure


@printed
def weight_scale(lengths, shares, sides, best):
    """Draw from which length on the prior decides, and how the best λ changes with the size of the image.

    Parameters
    ----------
    lengths : sequence of float
        Wavelengths in pixels.
    shares : dict
        From λ to the measured share of the prior in a wave of each length.
    sides : sequence of int
        Side n of the image.
    best : dict
        From label to the best λ at each n.
    """
    figure = new_figure(PAGE, 3.4)
    left, right = figure.subplots(1, 2)
    fine = np.geomspace(min(lengths), max(lengths), 200)
    for k, (weight, share) in enumerate(shares.items()):
        crossover = 2 * np.pi / np.sqrt(weight)
        left.plot(fine, 1 / (1 + (crossover / fine) ** 2), color=f"C{k}", linewidth=1)
        label = f"λ = {weight:g}: half at {crossover:.0f} px"
        left.plot(lengths, share, "osD^"[k], color=f"C{k}", label=label)
    left.axhline(0.5, color="0.5", linewidth=0.8, linestyle=":")
    left.set_xscale("log")
    left.set_xticks(lengths, [f"{length:g}" for length in lengths])
    left.minorticks_off()
    left.set(xlabel="wavelength (pixels)", ylim=(-0.02, 1.02))
    left.set_ylabel("share of the prior in the result\n(0: the normals decide, 1: the prior)")
    left.set_title("Who decides what: λ is a length, 2π/√λ pixels")
    sides = np.asarray(sides, float)
    for k, (label, weights) in enumerate(best.items()):
        exponent = np.polyfit(np.log(sides), np.log(weights), 1)[0]
        right.loglog(sides, weights, "osD^"[k] + "-", color=f"C{k}", label=f"{label}: n^{exponent:.1f}")
    right.set(xlabel="side n of the image (pixels)", ylabel="λ with the least error")
    right.set_xticks(sides, [f"{n:g}" for n in sides])
    right.minorticks_off()
    right.set_title("The same scene in more pixels")
    for axes in (left, right):
        axes.grid(alpha=0.3, which="both", linewidth=0.4)
        axes.legend(**BELOW)
    return figure


def _cut(axes, panels, row, unit):
    truth, *others = panels.values()
    axes.plot(truth[row], label="truth", **TRUTH)
    for style, (title, z) in zip(LINES, list(panels.items())[1:], strict=False):
        axes.plot(z[row], label=title.partition("\n")[0], **style)
    axes.set(xlabel="v (pixels)", ylabel=f"z ({unit})")
    axes.set_title(f"cut along row {row}, dotted above")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.grid(alpha=0.3, linewidth=0.4)


def _error(axes, error, limit):
    picture = axes.imshow(error, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest")
    _bare(axes)
    return picture


def _few_decimals(axis):
    """Label 1, 2 and 5 of every decade of a logarithmic axis with plain numbers."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter("")


def _limit(*errors):
    return np.nanpercentile(np.abs(np.concatenate([error.ravel() for error in errors])), 98)


def _bare(axes):
    axes.set(xlabel="v", ylabel="u")
    axes.label_outer()
