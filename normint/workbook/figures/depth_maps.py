"""Depth maps: their errors, cuts and discontinuities."""

import numpy as np
from matplotlib.colors import AsinhNorm, ListedColormap, Normalize
from scipy.ndimage import binary_dilation, binary_erosion

from normint.domain import NEIGHBOURS
from normint.workbook.figures.canvas import PAGE, new_figure, new_panels, printed
from normint.workbook.figures.lit_surfaces import lit

DEPTH_MAP = "cividis"  # perceptually uniform, and the same to colour-blind readers
MARKS = ("#d55e00", "#0072b2", "#5f5f5f")  # cuts on the outline of an object, inside, outside


@printed
def error_maps(panels, truth, *, unit="pixels", linear=None, columns=4):
    """Draw where each depth map differs from the truth, after removing the mean difference.

    Parameters
    ----------
    panels : dict
        From title to depth map.
    truth : ndarray
    unit : str
        Of the depths.
    linear : float, optional
        Up to which error colours change linearly, and from then on with its logarithm, so that small errors
        are seen beside large ones. By default all is linear, and the largest 0.5 % have one colour.
    columns : int
        Panels in a row.
    """
    errors = {title: z - truth - np.nanmean(z - truth) for title, z in panels.items()}
    sizes = np.abs(np.concatenate([e.ravel() for e in errors.values()]))
    limit = np.nanpercentile(sizes, 99.5) if linear is None else np.nanmax(sizes)
    scale = Normalize(-limit, limit) if linear is None else AsinhNorm(linear, -limit, limit)
    columns = min(columns, len(errors))
    width = (PAGE if columns > 1 else PAGE / 2) - 0.9  # of all panels; the rest is for the colour bar
    lines = 0.5 + 0.13 * max(title.count("\n") for title in errors)
    height = width / columns * truth.shape[0] / truth.shape[1] + lines
    figure, all_axes = new_panels(len(errors), columns, height, width=width + 0.9)
    for k, (axes, (title, error)) in enumerate(zip(all_axes, errors.items(), strict=True)):
        picture = axes.imshow(error, cmap="RdBu_r", norm=scale, interpolation="nearest")
        axes.set(title=title, xlabel="v", ylabel="" if k % columns else "u")
    bar = figure.colorbar(picture, ax=list(all_axes), label=f"z − truth ({unit})", shrink=0.85, pad=0.01)
    if linear is not None:
        decades = [linear * 10**k for k in range(1 + int(np.log10(max(limit / linear, 1))))]
        ticks = [-x for x in decades[::-1]] + [0] + decades
        bar.set_ticks(ticks, labels=[f"{x:g}".replace("-", "−") for x in ticks])
    return figure


@printed
def profiles(panels, *, row=None, column=None, unit="pixels"):
    """Draw a cut through several depth maps, along one row or one column; the first is the truth, in grey.

    Parameters
    ----------
    panels : dict
        From label to depth map, NaN where there is none.
    row, column : int
        Give one of them.
    unit : str
        Of the depths.
    """
    cut = np.s_[row] if column is None else np.s_[:, column]
    figure = new_figure(PAGE, 2.4)
    axes = figure.add_subplot()
    (name, truth), *others = panels.items()
    axes.plot(truth[cut], color="0.7", linewidth=5, label=name)
    for k, (label, z) in enumerate(others):
        z = z - np.nanmean(z - truth)
        axes.plot(z[cut], color=("#0072b2", "#d55e00")[k % 2], linestyle=("--", "-")[k % 2], label=label)
    along, fixed = ("v", f"row u = {row}") if column is None else ("u", f"column v = {column}")
    axes.set(xlabel=f"{along} (pixels)", ylabel=f"depth z ({unit})", title=f"cut along {fixed}")
    axes.grid(alpha=0.3, linewidth=0.4)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


@printed
def discontinuities(results, *, image=None, mask=None, below=0.1, columns=3):
    """Draw where each method found the surface to be discontinuous, over the surface lit from the upper left.

    Parameters
    ----------
    results : dict
        From title to :class:`normint.Integration`, of a method that has weights.
    image : ndarray, optional
        A grey picture to draw over instead of the lit surface.
    mask : ndarray of bool, optional
        An object: cuts within two pixels of its outline are orange, those inside it blue, others pale.
    below : float
        A pixel is marked where the weight of one of its edges is less than this part of the median weight.
    columns : int
        Panels in a row.
    """
    columns = min(columns, len(results))
    width = PAGE if columns > 1 else PAGE / 2
    rows, cols = next(iter(results.values())).depth.shape
    figure, all_axes = new_panels(len(results), columns, width / columns * rows / cols + 0.3, width=width)
    for k, (axes, (title, result)) in enumerate(zip(all_axes, results.items(), strict=True)):
        grey = lit(result.depth, exaggeration=0.5) if image is None else image
        axes.imshow(grey, cmap="gray", interpolation="nearest")
        marked = weakest_edge(result.weights) < below
        place = np.ones(marked.shape) if mask is None else _places(mask)
        marks = np.ma.masked_where(~marked, place)
        axes.imshow(marks, cmap=ListedColormap(MARKS), vmin=1, vmax=len(MARKS), interpolation="nearest")
        count = f": {np.count_nonzero(marked)} pixels" if mask is None else ""
        axes.set(title=title + count, xlabel="v", ylabel="" if k % columns else "u")
    if mask is not None:
        for name, colour in zip(("on the outline", "inside", "outside"), MARKS, strict=True):
            all_axes[0].plot([], [], "s", color=colour, markersize=4, label=name)
        figure.legend(loc="outside lower center", ncols=len(MARKS), title="cuts", handletextpad=0.1)
    return figure


def _places(mask):
    """Return 1 within two pixels of a mask's outline, 2 inside it, 3 outside."""
    core, around = binary_erosion(mask, iterations=2), binary_dilation(mask, iterations=2)
    return np.where(core, 2, np.where(around, 1, 3))


def weakest_edge(weights):
    """Return the smallest weight among each pixel's edges, in parts of the median weight.

    Parameters
    ----------
    weights : (ndarray, ndarray)
        Of the edges downwards and to the right, zero where there is none.

    Examples
    --------
    >>> down, right = np.zeros((1, 4)), np.array([[1.0, 1.0, 0.01, 0.0]])
    >>> weakest_edge((down, right))
    array([[1.  , 1.  , 0.01, 0.01]])
    """
    down, right = weights
    median = np.median(np.concatenate([w[w > 0] for w in weights]))
    weakest = np.full(down.shape, np.inf)
    inside = np.zeros(down.shape, bool)  # pixels that an edge holds; between two of them, 0 is a cut
    for w, (here, there) in zip((down, right), NEIGHBOURS, strict=True):
        inside[here] |= w[here] > 0
        inside[there] |= w[here] > 0
    for w, (here, there) in zip((down, right), NEIGHBOURS, strict=True):
        w = np.where(inside[here] & inside[there], w[here] / median, np.inf)
        weakest[here] = np.minimum(weakest[here], w)
        weakest[there] = np.minimum(weakest[there], w)
    return weakest
