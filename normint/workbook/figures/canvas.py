"""What every figure is drawn on."""

from matplotlib.figure import Figure

SCREEN = 80  # dots per inch: a page of a notebook is no wider than most figures then are; files have more


def new_figure(width, height):
    """Return an empty figure of so many inches, which notebooks show at the resolution of a screen."""
    return Figure(figsize=(width, height), dpi=SCREEN, layout="constrained")
