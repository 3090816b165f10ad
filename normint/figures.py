"""The workbook's pictures: functions that take results and return a `Figure`.

None of them changes a global style or shows anything; `save` writes the PNG and the PDF.
"""

import numpy as np
from matplotlib.colors import LightSource
from matplotlib.figure import Figure

from normint.files import write_atomically
from normint.results import log_output, output_folder

STYLES = {  # one style per method, the same in every figure; line and marker tell them apart in grey too
    "quadratic": {"color": "#0072b2", "linestyle": "-", "marker": "o"},
    "DCT": {"color": "#000000", "linestyle": "--", "marker": "s", "markerfacecolor": "none"},
    "DCT, border dropped": {"color": "#009e73", "linestyle": "-.", "marker": "^"},
    "Sylvester": {"color": "#d55e00", "linestyle": ":", "marker": "D"},
    "quadratic, pyamg": {"color": "#cc79a7", "linestyle": "--", "marker": "v"},
}
DEPTH_MAP = "cividis"  # perceptually uniform, and the same to colour-blind readers


def save(figure, name, *, data="generated"):
    """Write a figure as PNG and PDF into the output folder and tell the workbook about it.

    Parameters
    ----------
    figure : Figure
    name : str
        File name without suffix, ``fig02_peaks``. A stand-in for absent real data gets ``_stand-in`` added,
        so that it never takes the place of a figure made from real data.
    data : {"generated", "real", "stand-in"}
        What it was made from.
    """
    name += "_stand-in" if data == "stand-in" else ""
    for suffix, metadata in ((".png", {"Software": None}), (".pdf", {"CreationDate": None})):
        path = output_folder() / (name + suffix)
        # Without dates and versions in it, the same picture is the same file.
        with write_atomically(path) as temporary:
            figure.savefig(temporary, dpi=150, metadata=metadata)
        log_output("figure", path=path, data=data)


def surfaces(panels, *, columns=2, view=(30, -127.5), aspect=0.5, size=4.2, zlabel="depth z (pixels)"):
    """Draw lit surfaces side by side, all with the same axes, light and colours.

    Parameters
    ----------
    panels : dict
        From title to depth map, NaN where there is none. Constants are made comparable by giving all the
        mean of the first, where both are known.
    columns : int
        Panels in a row.
    view : (float, float)
        Elevation and azimuth in degrees; (90, -90) looks straight down with u downwards and v to the right.
    aspect : float
        Height of the box relative to the wider side of the domain.
    """
    reference = next(iter(panels.values()))
    panels = {title: z - np.nanmean(z - reference) for title, z in panels.items()}
    low = min(np.nanmin(z) for z in panels.values())
    high = max(np.nanmax(z) for z in panels.values())
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(size * columns, size * 0.72 * rows), layout="constrained")
    for k, (title, z) in enumerate(panels.items(), start=1):
        axes = figure.add_subplot(rows, columns, k, projection="3d")
        _surface(axes, z, low, high, view, aspect)
        axes.set_title(title, fontsize=10, y=0.98)
        axes.set_zlabel(zlabel, fontsize=8)
    return figure


def error_maps(panels, truth, *, unit="pixels", size=3.0):
    """Draw where each depth map differs from the truth, after removing the mean difference.

    Parameters
    ----------
    panels : dict
        From title to depth map.
    truth : ndarray
    """
    errors = {title: z - truth - np.nanmean(z - truth) for title, z in panels.items()}
    limit = np.nanpercentile(np.abs(np.concatenate([e.ravel() for e in errors.values()])), 99.5)
    figure = Figure(figsize=(size * len(errors), size * 1.08), layout="constrained")
    all_axes = figure.subplots(1, len(errors), squeeze=False)[0]
    for axes, (title, error) in zip(all_axes, errors.items(), strict=True):
        picture = axes.imshow(error, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest")
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("v")
        axes.tick_params(labelsize=8)
    all_axes[0].set_ylabel("u")
    figure.colorbar(picture, ax=list(all_axes), label=f"z - truth ({unit})", shrink=0.85, pad=0.01)
    return figure


def profiles(panels, *, row=None, column=None):
    """Draw a cut through several depth maps, along one row or one column; the first is the truth, in grey.

    Parameters
    ----------
    panels : dict
        From label to depth map, NaN where there is none.
    row, column : int
        Give one of them.
    """
    cut = np.s_[row] if column is None else np.s_[:, column]
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    axes = figure.add_subplot()
    (name, truth), *others = panels.items()
    axes.plot(truth[cut], color="0.7", linewidth=5, label=name)
    for k, (label, z) in enumerate(others):
        z = z - np.nanmean(z - truth)
        axes.plot(z[cut], color=("#0072b2", "#d55e00")[k % 2], linestyle=("--", "-")[k % 2], label=label)
    along, fixed = ("v", f"row u = {row}") if column is None else ("u", f"column v = {column}")
    axes.set(xlabel=f"{along} (pixels)", ylabel="depth z (pixels)")
    axes.set_title(f"cut along {fixed}", fontsize=10)
    axes.grid(alpha=0.3, linewidth=0.4)
    axes.legend(fontsize=8, frameon=False)
    return figure


def domain(omega):
    """Draw a small domain: its pixels, numbered columnwise, and the boundary points around it.

    Parameters
    ----------
    omega : Domain
    """
    rows, cols = omega.shape
    figure = Figure(figsize=(1.3 * (cols + 2.2), 1.3 * (rows + 1.6)), layout="constrained")
    axes = figure.add_subplot()
    for i in range(rows):
        for j in range(cols):
            for y, x in ((i + 1, j), (i, j + 1)):
                if omega.mask[i, j] and y < rows and x < cols and omega.mask[y, x]:
                    axes.plot([j + 1, x + 1], [i + 1, y + 1], color="0.6", zorder=1)
    number = omega.to_image(np.arange(1, omega.size + 1))
    for i, j in np.argwhere(omega.mask):
        axes.plot(j + 1, i + 1, "o", color="#0072b2", markersize=24, zorder=2)
        axes.text(j + 1, i + 1, f"{number[i, j]:.0f}", color="white", ha="center", va="center", fontsize=11)
    outside = np.array(omega.boundary) + 1
    axes.plot(outside[:, 1], outside[:, 0], "o", color="#d55e00", markersize=18, markerfacecolor="none")
    axes.plot([], [], "o", color="#0072b2", label="Ω, numbered columnwise")
    axes.plot([], [], "o", color="#d55e00", markerfacecolor="none", label="∂Ω: no data here")
    axes.set(xlim=(-0.6, cols + 1.6), ylim=(rows + 1.6, -0.6), aspect="equal")
    axes.set(xlabel="v →", ylabel="← u", xticks=range(cols + 2), yticks=range(rows + 2))
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return figure


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
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for k, (name, samples) in enumerate(errors.items()):
        mean, spread = np.mean(samples, axis=0), np.std(samples, axis=0)
        shift = 0.06 * (k - (len(errors) - 1) / 2)  # so that bars of equal curves stay visible
        x = 100 * np.asarray(sigmas) + shift
        left.errorbar(x, mean, spread, label=name, capsize=2, markersize=5, **STYLES[name])
    left.set(xlabel="noise σ (% of the largest slope)", ylabel="RMSE (depth units of peaks)")
    left.set_title("Robust: error against noise", fontsize=10)
    pixels = np.asarray(pixels, float)
    for name, times in seconds.items():
        label = f"{name}: slope {fitted_slope(pixels, times):.2f}"
        right.loglog(pixels, times, label=label, markersize=5, **STYLES[name])
    right.set(xlabel="pixels |Ω|", ylabel="time (s), median")
    right.set_title("Fast: time against size", fontsize=10)
    for axes in (left, right):
        axes.grid(alpha=0.3, which="both", linewidth=0.4)
        axes.legend(fontsize=8, frameon=False)
    return figure


def fitted_slope(sizes, values):
    """Fit the exponent of a power law to the upper half of the sizes, where overheads no longer count.

    >>> round(fitted_slope(np.array([1, 10, 100, 1000]), np.array([5, 10, 100, 1000])), 6)
    1.0
    """
    known = np.flatnonzero(np.isfinite(values))
    half = known[len(known) // 2 :]
    return float(np.polyfit(np.log(np.asarray(sizes)[half]), np.log(np.asarray(values)[half]), 1)[0])


def prior_weight_bias(sides, bias):
    """Draw how much of the surface a small uniform λ, with prior zero, takes away as the image grows.

    Parameters
    ----------
    sides : sequence of int
        Side n of the n×n image.
    bias : dict
        From λ to the loss of the lowest mode at each n, as a fraction.
    """
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    sides = np.asarray(sides, float)
    markers = "osD^"
    for k, (weight, loss) in enumerate(bias.items()):
        grey = f"C{k}"
        axes.loglog(sides, loss, markers[k], color=grey, label=f"λ = {weight:.0e}: measured")
        share = weight * sides**2 / np.pi**2
        axes.loglog(sides, share / (1 + share), color=grey, linewidth=1, label="   λn²/π² / (1 + λn²/π²)")
    axes.axhline(0.01, color="0.5", linewidth=0.8, linestyle=":")
    axes.text(sides[0], 0.011, "1 % of the depth", fontsize=8, color="0.4")
    axes.set(xlabel="side n of the image (pixels)", ylabel="share of the lowest mode that is lost")
    axes.set_title("What λ z² costs when it only fixes the constant", fontsize=10)
    axes.grid(alpha=0.3, which="both", linewidth=0.4)
    axes.legend(fontsize=8, frameon=False)
    return figure


def _surface(axes, z, low, high, view, aspect, finest=160):
    """Draw one surface lit from the upper left, thinned to at most ``finest`` points a side."""
    step = max(1, -(-max(z.shape) // finest))
    u, v = np.arange(z.shape[0])[::step], np.arange(z.shape[1])[::step]
    thin = z[::step, ::step]
    span = max(high - low, 1e-12)
    shaded = LightSource(azdeg=315, altdeg=45).shade_rgb(
        _colours(thin, low, span), np.nan_to_num(thin, nan=low), blend_mode="soft", dx=step, dy=step,
        vert_exag=aspect * max(z.shape) / span,
    )  # fmt: skip
    axes.plot_surface(
        *np.meshgrid(v, u), thin, facecolors=shaded, rcount=thin.shape[0], ccount=thin.shape[1],
        linewidth=0, antialiased=False, shade=False, rasterized=True,
    )  # fmt: skip
    axes.set(xlabel="v", ylabel="u", zlim=(low, high), ylim=(u[-1], u[0]), xlim=(v[0], v[-1]))
    axes.view_init(*view)
    axes.set_box_aspect((z.shape[1], z.shape[0], aspect * max(z.shape)), zoom=1.02)
    axes.tick_params(labelsize=7, pad=0)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.pane.set_alpha(0.15)
        axis.set_major_locator(_few_ticks())


def _colours(z, low, span):
    from matplotlib import colormaps

    return colormaps[DEPTH_MAP](np.nan_to_num((z - low) / span))[..., :3]


def _few_ticks():
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)
