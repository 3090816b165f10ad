"""Curves, and the drawing of a small domain."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from normint.integration import METHODS
from normint.workbook.cases import CASES
from normint.workbook.figures.canvas import PAGE, new_figure, new_panels, printed

# Beside a method's colour, so that curves differ in grey too; the same in every figure.
MARKERS = {
    "quadratic": "o",
    "dct": "s",
    "sylvester": "D",
    "total_variation": "^",
    "phi1": "x",
    "phi2": "+",
    "anisotropic_diffusion": "P",
    "mumford_shah": "v",
    "calibrated": "D",
    "bilateral": "s",
}
LINES = {
    "quadratic": "-",
    "dct": "--",
    "sylvester": ":",
    "total_variation": "-.",
    "phi1": (0, (5, 1)),
    "anisotropic_diffusion": "-",
    "mumford_shah": "--",
    "bilateral": "--",
    "calibrated": "-",
}
STYLES = {  # by what the results call a method, or one of its variants
    CASES[name]: {"color": METHODS[name].colour, "linestyle": line, "marker": MARKERS[name]}
    for name, line in LINES.items()
}
STYLES["DCT"]["markerfacecolor"] = STYLES["bilateral"]["markerfacecolor"] = "none"
STYLES["calibrated"]["marker"] = "*"  # the Sylvester solver has its colour
STYLES["DCT, border dropped"] = {"color": "#009e73", "linestyle": "-.", "marker": "^"}
BESIDE = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}  # places of legends
BELOW = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.22)}
STYLES["quadratic, pyamg"] = {"color": "#cc79a7", "linestyle": "--", "marker": "v"}


@printed
def domain(omega):
    """Draw a small domain: its pixels, numbered columnwise, and the boundary points around it.

    Parameters
    ----------
    omega : Domain
    """
    rows, cols = omega.shape
    figure = new_figure(0.75 * (cols + 2.2), 0.75 * (rows + 1.6))
    axes = figure.add_subplot()
    for i in range(rows):
        for j in range(cols):
            for y, x in ((i + 1, j), (i, j + 1)):
                if omega.mask[i, j] and y < rows and x < cols and omega.mask[y, x]:
                    axes.plot([j + 1, x + 1], [i + 1, y + 1], color="0.6", zorder=1)
    number = omega.to_image(np.arange(1, omega.size + 1))
    for i, j in np.argwhere(omega.mask):
        axes.plot(j + 1, i + 1, "o", color="#0072b2", markersize=17, zorder=2)
        axes.text(j + 1, i + 1, f"{number[i, j]:.0f}", color="white", ha="center", va="center")
    outside = np.array(omega.boundary) + 1
    axes.plot(outside[:, 1], outside[:, 0], "o", color="#d55e00", markersize=13, markerfacecolor="none")
    axes.plot([], [], "o", color="#0072b2", label="Ω, numbered columnwise")
    axes.plot([], [], "o", color="#d55e00", markerfacecolor="none", label="∂Ω: no data here")
    axes.set(xlim=(-0.6, cols + 1.6), ylim=(rows + 1.6, -0.6), aspect="equal")
    axes.set(xlabel="v →", ylabel="← u", xticks=range(cols + 2), yticks=range(rows + 2))
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center")
    return figure


@printed
def noise_and_time(sigmas, errors, pixels, seconds):
    """Draw RMSE against noise, with its spread over seeds, and time against pixels, with fitted slopes.

    Parameters
    ----------
    sigmas : sequence of float
        Noise levels, as fractions of the largest slope.
    errors : dict
        From method to RMSE, an array of seeds × noise levels.
    pixels : sequence of int
    seconds : dict
        From method to times, as many as there are sizes; NaN where not measured.
    """
    figure = new_figure(PAGE, 3.5)
    left, right = figure.subplots(1, 2)
    _error_bars(left, sigmas, errors)
    left.set(xlabel="noise σ (% of the largest slope)", ylabel="RMSE (depth units of peaks)")
    left.set_title("Robust: error against noise")
    pixels = np.asarray(pixels, float)
    for name, times in seconds.items():
        label = f"{name}: slope {fitted_slope(pixels, times):.2f}"
        right.loglog(pixels, times, label=label, markersize=5, **STYLES[name])
    right.set(xlabel="pixels |Ω|", ylabel="time (s), median")
    right.xaxis.set_minor_formatter("")
    right.set_title("Fast: time against size")
    for axes in (left, right):
        axes.grid(alpha=0.3, which="both", linewidth=0.4)
        axes.legend(**BELOW)
    return figure


@printed
def error_against_noise(sigmas, errors, *, xlabel, ylabel, title=""):
    """Draw an error against the noise for several methods, with its spread over seeds.

    Parameters
    ----------
    sigmas : sequence of float
        Noise levels, as fractions.
    errors : dict
        From method to errors, an array of seeds × noise levels.
    """
    figure = new_figure(PAGE, 3)
    axes = figure.add_subplot()
    _error_bars(axes, sigmas, errors)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.set_title(title)
    axes.grid(alpha=0.3, linewidth=0.4)
    axes.legend(**BESIDE)
    return figure


def _error_bars(axes, sigmas, errors):
    for k, (name, samples) in enumerate(errors.items()):
        mean, spread = np.mean(samples, axis=0), np.std(samples, axis=0)
        shift = 0.06 * (k - (len(errors) - 1) / 2)  # so that bars of equal curves stay visible
        x = 100 * np.asarray(sigmas) + shift
        axes.errorbar(x, mean, spread, label=name, capsize=2, markersize=5, **STYLES[name])


def fitted_slope(sizes, values):
    """Fit the exponent of a power law to the upper half of the sizes, where overheads no longer count.

    >>> round(fitted_slope(np.array([1, 10, 100, 1000]), np.array([5, 10, 100, 1000])), 6)
    1.0
    """
    known = np.flatnonzero(np.isfinite(values))
    half = known[len(known) // 2 :]
    return float(np.polyfit(np.log(np.asarray(sizes)[half]), np.log(np.asarray(values)[half]), 1)[0])


@printed
def prior_weight_bias(sides, bias):
    """Draw how much of the surface a small uniform λ, with prior zero, takes away as the image grows.

    Parameters
    ----------
    sides : sequence of int
        Side n of the n×n image.
    bias : dict
        From λ to the loss of the lowest mode at each n, as a fraction.
    """
    figure = new_figure(0.7 * PAGE, 3.1)
    axes = figure.add_subplot()
    sides = np.asarray(sides, float)
    markers = "osD^"
    for k, (weight, loss) in enumerate(bias.items()):
        grey = f"C{k}"
        axes.loglog(sides, loss, markers[k], color=grey, label=f"λ = {weight:.0e}: measured")
        share = weight * sides**2 / np.pi**2
        axes.loglog(sides, share / (1 + share), color=grey, linewidth=1, label="   λn²/π² / (1 + λn²/π²)")
    axes.axhline(0.01, color="0.5", linewidth=0.8, linestyle=":")
    axes.text(sides[0], 0.009, "1 % of the depth", color="0.4", va="top")
    axes.set_xticks(sides, [f"{n:g}" for n in sides])
    axes.minorticks_off()
    axes.set(xlabel="side n of the image (pixels)", ylabel="share of the lowest mode that is lost")
    axes.set_title("What λ z² costs when it only fixes the constant")
    axes.grid(alpha=0.3, which="both", linewidth=0.4)
    axes.legend()
    return figure


@printed
def curves(panels, *, columns=3):
    """Draw panels of labelled curves.

    Parameters
    ----------
    panels : dict
        From title to a dict: ``x``, ``xlabel``, ``ylabel``, ``lines`` (from label to y, an array as long as
        x), and if wanted ``log`` (for a logarithmic x axis), ``marks`` (from label to a y of the paper,
        drawn as a dotted line in the colour of that label's curve) and ``points`` (from label to a point
        (x, y) that lies off its curve).
    """
    alone = len(panels) == 1
    figure, all_axes = new_panels(
        len(panels), columns, 2.9 if alone else 3.0, width=0.8 * PAGE if alone else PAGE
    )
    for axes, (title, panel) in zip(all_axes, panels.items(), strict=True):
        for k, (label, y) in enumerate(panel["lines"].items()):
            marker = "osD^vP"[k % 6] if len(y) < 30 else None
            style = ("-", "--", "-.", ":", (0, (5, 1)))[k % 5]
            axes.plot(panel["x"], y, color=f"C{k}", linestyle=style, marker=marker, markersize=4, label=label)
            if label in panel.get("marks", {}):
                axes.axhline(panel["marks"][label], color=f"C{k}", linewidth=0.8, linestyle=":")
            if label in panel.get("points", {}):
                axes.plot(*panel["points"][label], "o", color=f"C{k}", zorder=3)
        if panel.get("log"):
            axes.set_xscale("log")
        # Few ticks, whose labels are as wide when there is less room for the axes.
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.set(xlabel=panel["xlabel"], ylabel=panel["ylabel"], title=title)
        axes.grid(alpha=0.3, linewidth=0.4)
        axes.legend(**(BESIDE if alone else BELOW))
    return figure


@printed
def convergence(runs):
    """Draw energy against time for two schemes of several methods, one panel each.

    Parameters
    ----------
    runs : dict
        From method to a dict from scheme to (seconds, energies), two sequences of equal length.
    """
    figure, all_axes = new_panels(len(runs), len(runs), 2.1)
    for axes, (method, schemes) in zip(all_axes, runs.items(), strict=True):
        lowest = min(np.min(energies) for _, energies in schemes.values())
        highest = max(np.max(energies) for _, energies in schemes.values())
        for k, (scheme, (seconds, energies)) in enumerate(schemes.items()):
            height = (np.asarray(energies) - lowest) / (highest - lowest)
            colour, style = ("#d55e00", "#0072b2")[k % 2], ("--", "-")[k % 2]
            axes.plot(seconds, height, color=colour, linestyle=style, label=scheme)
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter("")  # within one decade their labels would run into each other
        axes.set_title(method)
        axes.set(xlabel="time (s)", ylim=(-0.03, 1.03))
        axes.grid(alpha=0.3, linewidth=0.4)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.axes[0].set_ylabel("energy: 0 lowest, 1 highest")
    return figure


@printed
def jump_illustration(truth, slopes, solutions):
    """Draw a signal on a line of pixels, the slopes given for it, and what methods make of them.

    Parameters
    ----------
    truth : ndarray
    slopes : ndarray
        The given slope at each pixel, drawn as a short stroke through the truth.
    solutions : dict
        From label to (z, style), with a dict of matplotlib line properties.
    """
    figure = new_figure(PAGE, 2.7)
    axes = figure.add_subplot()
    x = np.arange(truth.size)
    axes.plot(x, truth, "o", color="0.6", markersize=5, label="truth")
    for k in x:
        stroke = np.array([-0.4, 0.4])
        axes.plot(k + stroke, truth[k] + slopes[k] * stroke, color="0.25", linewidth=1)
    axes.plot([], [], color="0.25", linewidth=1, label="given slope, with noise")
    for label, (z, style) in solutions.items():
        axes.plot(x, z, label=label, **style)
    axes.set(xlabel="v (pixels)", ylabel="depth z")
    axes.grid(alpha=0.3, linewidth=0.4)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
