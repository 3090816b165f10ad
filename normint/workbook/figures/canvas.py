"""What every figure is drawn on: a page as wide as a page's text, and letters that can be read there."""

from functools import wraps

from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

PAGE = 17 / 2.54  # inches: the text of a printed page is 17 cm wide, and no figure is wider
TEXT, SMALL = 8.0, 7.0  # points: titles and labels; numbers, legends and notes
SCREEN = 120  # dots per inch in notebooks; files have more


def new_figure(width, height):
    """Return an empty figure of so many inches, which notebooks show at the resolution of a screen."""
    return Figure(figsize=(width, height), dpi=SCREEN, layout="constrained")


def new_panels(count, columns, height, *, width=PAGE, more=0.0):
    """Return a figure and so many axes in rows of so many inches; more height is for what all share."""
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = new_figure(width, height * rows + more)
    all_axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in all_axes[count:]:
        axes.set_visible(False)
    return figure, all_axes[:count]


def printed(draw):
    """Make a function draw figures for print: letters of two sizes, legends that lines do not cross."""

    @wraps(draw)
    def drawn(*args, **options):
        figure = draw(*args, **options)
        for text in figure.findobj(Text):
            text.set_fontsize(SMALL)
        for axes in figure.axes:
            axes.tick_params(labelsize=SMALL, which="both")
            for text in (axes.title, axes.xaxis.label, axes.yaxis.label):
                text.set_fontsize(TEXT)
        for text in figure.texts:  # such as a title of all panels
            text.set_fontsize(TEXT)
        for legend in figure.findobj(Legend):
            legend.set(frame_on=True)
            legend.get_frame().set(alpha=0.8, edgecolor="none")  # what lies below stays faintly visible
        return figure

    return drawn
