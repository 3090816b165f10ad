"""Colour images side by side, their details and errors."""

import numpy as np
from matplotlib.patches import Rectangle

from normint.workbook.figures.canvas import PAGE, new_figure, new_panels, printed


@printed
def pictures(panels, *, columns=3, title=""):
    """Draw colour images side by side.

    Parameters
    ----------
    panels : dict
        From title to image, rows×cols×3 of uint8.
    columns : int
        Panels in a row.
    title : str
        Above all of them.
    """
    columns = min(columns, len(panels))
    width = PAGE * min(1.0, columns / 2)
    rows, cols = next(iter(panels.values())).shape[:2]
    height = (width - 0.4) / columns * rows / cols + 0.6
    figure, all_axes = new_panels(len(panels), columns, height, width=width, more=0.3 if title else 0.0)
    for axes, (name, image) in zip(all_axes, panels.items(), strict=True):
        _picture(axes, image, name)
        axes.set(xlabel="v (pixels)", ylabel="u (pixels)")
        axes.label_outer()
    if title:
        figure.suptitle(title)
    return figure


def only_kept(image, keep):
    """Return a copy of an image that is white where nothing is kept.

    Examples
    --------
    >>> only_kept(np.zeros((1, 2, 3), np.uint8), np.array([[True, False]])).tolist()
    [[[0, 0, 0], [255, 255, 255]]]
    """
    return np.where(np.asarray(keep)[..., np.newaxis], image, np.uint8(255))


@printed
def close_ups(panels, window):
    """Draw a detail of several images above its error, and where it is in the first of them, the reference.

    Parameters
    ----------
    panels : dict
        From title to image, the reference first.
    window : (slice, slice)
        Rows and columns of the detail.
    """
    (_, reference), *others = panels.items()
    rows, cols = window
    extent = (cols.start - 0.5, cols.stop - 0.5, rows.stop - 0.5, rows.start - 0.5)
    errors = [_error(image, reference)[window] for _, image in others]
    limit = max(1.0, np.percentile(errors, 99)) if errors else 1.0
    figure = new_figure(PAGE, 1.85 * PAGE / len(panels))
    upper, lower = figure.subplots(2, len(panels), squeeze=False)
    for axes, (title, image) in zip(upper, panels.items(), strict=True):
        _picture(axes, image[window], title, extent)
        axes.set_xlabel("v (pixels)")
    _picture(lower[0], reference, "where the detail is")
    sides = cols.stop - cols.start, rows.stop - rows.start
    for colour, width in (("black", 3.5), ("white", 1.5)):  # seen on dark and on bright ground
        frame = Rectangle((extent[0], extent[3]), *sides, fill=False, color=colour, linewidth=width)
        lower[0].add_patch(frame)
    for axes, (title, _), error in zip(lower[1:], others, errors, strict=True):
        drawn = axes.imshow(error, cmap="magma", vmin=0, vmax=limit, extent=extent, interpolation="nearest")
        axes.set_title(f"{title.splitlines()[0]}: error, mean {error.mean():.1f}")
        axes.set_xlabel("v (pixels)")
    for axes in (upper[0], lower[0]):
        axes.set_ylabel("u (pixels)")
    if errors:
        figure.colorbar(drawn, ax=list(lower), label="mean |error| of the channels (levels)")
    return figure


def _picture(axes, image, title, extent=None):
    axes.imshow(image, extent=extent, interpolation="nearest" if extent else "antialiased")
    axes.set_title(title)


def _error(image, reference):
    return np.abs(np.subtract(image, reference, dtype=np.float64)).mean(axis=-1)
