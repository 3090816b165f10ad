"""What every figure is drawn on."""

from matplotlib.figure import Figure

SCREEN = 80  # dots per inch: a page of a notebook is no wider than most figures then are; files have more


def new_figure(width, height):
    """Return an empty figure of so many inches, which notebooks show at the resolution of a screen."""
    return Figure(figsize=(width, height), dpi=SCREEN, layout="constrained")


def new_panels(count, columns, width, height, *, more=0.0):
    """Return a figure and so many axes in rows, each of so many inches; more height is for what all share."""
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = new_figure(width * columns, height * rows + more)
    all_axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in all_axes[count:]:
        axes.set_visible(False)
    return figure, all_axes[:count]
