"""Charts of what the calibrated method gains, what its constants matter, its cost, and what tells jumps."""

import numpy as np
from matplotlib import colormaps
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from normint.integration import METHODS
from normint.workbook.figures.canvas import PAGE, new_figure, printed
from normint.workbook.figures.charts import MARKERS

TICKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)  # of ratios


@printed
def ratio_chart(ratios, *, xlabel, reference, title=""):
    """Draw ratios of errors, one line for each data set and one mark for each method, on a logarithmic axis.

    Parameters
    ----------
    ratios : dict
        From data set to a dict from method to the ratio.
    xlabel : str
    reference : str
        What 1 means.
    """
    figure = new_figure(PAGE, 0.3 * len(ratios) + 1.2)
    axes = figure.add_subplot()
    methods = list(dict.fromkeys(method for one in ratios.values() for method in one))
    for method in methods:
        at = [(one[method], k) for k, one in enumerate(ratios.values()) if method in one]
        style = _style(method)
        if method == "calibrated":  # the only filled one; it lies below the others, which it would hide
            style |= {"markersize": 9, "zorder": 3}
        else:
            style |= {"markersize": 6, "zorder": 4, "markerfacecolor": "none"}
        axes.plot(*zip(*at, strict=True), linestyle="none", **style)
    axes.axvline(1, color="0.4", linewidth=1)
    axes.text(1, -0.95, f" {reference}", color="0.4", va="top")
    axes.set(
        yticks=range(len(ratios)), yticklabels=list(ratios), ylim=(len(ratios) - 0.4, -1.0), xlabel=xlabel
    )
    _plain_log(axes)
    axes.grid(alpha=0.3, linewidth=0.4, which="both")
    axes.set_title(title)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


@printed
def sensitivity_chart(changes, *, shown=10):
    """Draw how the error changes when a constant is halved or doubled, for those that change it most.

    Parameters
    ----------
    changes : dict
        From data set to a dict from (constant, factor) to the ratio of errors.
    shown : int
        How many constants to draw, the one that matters most first.
    """
    matters = {}  # the largest change of any error, up or down
    for ratios in changes.values():
        for (name, _), ratio in ratios.items():
            matters[name] = max(matters.get(name, 0.0), abs(np.log(ratio)))
    names = sorted(matters, key=matters.get, reverse=True)[:shown]
    figure = new_figure(PAGE, 0.22 * len(names) + 1.0)
    all_axes = figure.subplots(1, len(changes), squeeze=False, sharey=True)[0]
    for axes, (case, ratios) in zip(all_axes, changes.items(), strict=True):
        for factor, marker, label in ((0.5, "<", "halved"), (2.0, ">", "doubled")):
            values = [ratios[name, factor] for name in names]
            colour = METHODS["quadratic" if factor < 1 else "calibrated"].colour
            axes.plot(values, range(len(names)), marker, color=colour, label=label, markersize=6, alpha=0.85)
        axes.axvline(1, color="0.4", linewidth=1)
        _plain_log(axes, (0.8, 1.25))
        low, high = min(ratios.values()), max(ratios.values())
        axes.set_xlim(min(0.78, 0.9 * low), max(1.28, 1.1 * high))
        axes.set_title(case)
        axes.grid(alpha=0.3, linewidth=0.4, which="both")
    all_axes[0].set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.4, -0.6))
    figure.supxlabel("error / error with the constants as they are")
    figure.legend(*all_axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    return figure


@printed
def cost_chart(pixels, seconds, base="quadratic"):
    """Draw how many times the time of least squares a method takes, and how its time grows.

    Parameters
    ----------
    pixels : sequence of int
    seconds : dict
        From method to times.
    base : str
        The method whose time is 1.
    """
    figure = new_figure(PAGE, 2.6)
    left, right = figure.subplots(1, 2)
    for method, times in seconds.items():
        left.loglog(pixels, times, **_style(method))
        if method != base:
            right.semilogx(pixels, np.divide(times, seconds[base]), **_style(method))
    left.loglog(pixels, seconds[base][0] * np.divide(pixels, pixels[0]), ":", color="0.5", label="linear")
    left.set(xlabel="pixels", ylabel="time (s)")
    right.set(xlabel="pixels", ylabel=f"time / time of {METHODS[base].label}", ylim=(0, None))
    for axes in (left, right):
        axes.xaxis.set_major_locator(FixedLocator(pixels))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x / 1000:.0f} 000"))
        axes.grid(alpha=0.3, linewidth=0.4, which="both")
        axes.legend()
    return figure


@printed
def odds_chart(frequencies, odds):
    """Draw how often edges jump against the fall of the nearer side, one colour for each bin of the angle.

    Parameters
    ----------
    frequencies : Frequencies
        As :func:`normint.workbook.studies.jumps.frequencies` counts them: the points. Bars are one standard
        deviation of a count; a bin without a jump has no point.
    odds : Odds
        What was fitted to them: the lines, each at the mean angle of its bin.
    """
    figure = new_figure(PAGE, 3.4)
    axes = figure.add_subplot()
    share, limits = frequencies.share, frequencies.angles
    fall = np.sinh(np.linspace(np.arcsinh(-8), np.arcsinh(16), 200))
    for k in np.flatnonzero(frequencies.count.any(axis=1))[::-1]:
        colour = colormaps["viridis"](0.92 * (1 - k / max(len(share) - 1, 1)))
        expected = odds(np.radians(frequencies.angle[k]), fall)
        axes.plot(fall, expected / (1 + expected), color=colour, linewidth=1.2)
        seen = frequencies.jumps[k] > 0
        factor = np.exp(1 / np.sqrt(frequencies.jumps[k, seen]))
        at, height = frequencies.fall[seen], share[k, seen]
        bars = np.minimum([height - height / factor, height * factor - height], [height, 1 - height])
        label = f"{limits[k]:g}° to {limits[k + 1]:g}°"
        axes.errorbar(at, height, bars, fmt="o", color=colour, markersize=4.5, elinewidth=0.8, label=label)
    axes.set_xscale("asinh", linear_width=1.0)
    axes.xaxis.set_major_locator(FixedLocator((-8, -4, -2, -1, 0, 1, 2, 4, 8, 16)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}".replace("-", "−")))
    axes.set(yscale="log", ylim=(2e-6, 1.3), xlim=(-8, 16), ylabel="share of edges that jump")
    axes.set_xlabel("fall F of the nearer side towards the edge (pixels per pixel)")
    axes.grid(alpha=0.3, linewidth=0.4)
    axes.legend(
        title="angle between\nthe two normals",
        loc="center left", bbox_to_anchor=(1.0, 0.5),
    )  # fmt: skip
    return figure


def _style(method):
    row = METHODS[method]
    return {"color": row.colour, "marker": MARKERS[method], "label": row.label}


def _plain_log(axes, more=()):
    """Give an axis of ratios a logarithmic scale with plain numbers, and more of them if it is short."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator((*TICKS, *more)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))


@printed
def reliability_chart(curves):
    """Draw how many calls are right, against how sure the method was of them.

    Parameters
    ----------
    curves : dict
        From title to a dict from "cut" and "held" to rows of mean confidence, share right and number, as
        :meth:`normint.workbook.studies.jumps.Calls.reliability` returns them.
    """
    figure = new_figure(PAGE if len(curves) > 1 else PAGE / 2, 3.2)
    all_axes = figure.subplots(1, len(curves), squeeze=False, sharey=True)[0]
    for axes, (title, groups) in zip(all_axes, curves.items(), strict=True):
        axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, label="as sure as right")
        for (name, rows), colour, marker in zip(groups.items(), ("#d55e00", "#0072b2"), "os", strict=True):
            if len(rows):
                sizes = 12 + 14 * np.log10(rows[:, 2])
                axes.plot(rows[:, 0], rows[:, 1], color=colour, linewidth=1)
                axes.scatter(rows[:, 0], rows[:, 1], sizes, colour, marker=marker, label=f"edges {name}")
        axes.set(xlabel="confidence", xlim=(0, 1.03), ylim=(0, 1.03))
        axes.set_title(title)
        axes.grid(alpha=0.3, linewidth=0.4)
    all_axes[0].set_ylabel("share that is right")
    all_axes[0].legend(loc="lower right")
    return figure
