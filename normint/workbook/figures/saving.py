"""Write figures into the output folder."""

import io
import warnings

from normint import paths
from normint.files.writing import write_atomically
from normint.workbook.figures.canvas import SMALL
from normint.workbook.figures.legibility import Seen
from normint.workbook.results import tell_run
from normint.workbook.rounding import TIMED_FIGURES, same_picture

# Without dates and versions in it, the same picture is the same file.
METADATA = {".png": {"Software": None}, ".pdf": {"CreationDate": None}}
FINE = 220  # dots per inch


def save(figure, name, *, data="generated"):
    """Write a figure as PNG and PDF into the output folder and tell the workbook about it.

    It warns of what is hard to read in print, see :func:`normint.workbook.figures.faults`. A PNG that is
    there already stays if it differs by rounding alone.

    Parameters
    ----------
    figure : Figure
    name : str
        File name without suffix, ``fig02_peaks``. A stand-in for absent real data gets ``_stand-in`` added,
        so that it never takes the place of a figure made from real data, and a line in the figure that says
        what it is.
    data : {"generated", "real", "stand-in"}
        What it was made from.
    """
    timed = name in TIMED_FIGURES
    if data == "stand-in":
        name += "_stand-in"
        note = {"ha": "right", "va": "bottom", "fontsize": SMALL, "color": "#d55e00"}
        figure.text(0.995, 0.003, "stand-in data", **note)
    screen, figure.dpi = figure.dpi, FINE
    _lay_out(figure, below=0.13 if data == "stand-in" else 0.0)
    seen = Seen(figure)
    for fault in seen.faults():
        warnings.warn(f"figure {name}: {fault}", stacklevel=2)
    figure.dpi = screen
    drawn = {suffix: io.BytesIO() for suffix in METADATA}
    seen.write_png(drawn[".png"], METADATA[".png"])
    figure.savefig(drawn[".pdf"], format="pdf", dpi=FINE, metadata=METADATA[".pdf"])
    for suffix, file in drawn.items():
        path = paths.figures() / (name + suffix)
        if suffix != ".png" or timed or not same_picture(path, file.getvalue()):
            with write_atomically(path) as temporary:
                temporary.write_bytes(file.getvalue())
        tell_run(data, path=path)


def _lay_out(figure, below):
    """Give all parts of a figure their places, as in the PNG; PDF and notebook keep them.

    So many inches are added below for a note.

    A figure that has a layout engine is drawn twice each time, once to find the places.
    """
    engine = figure.get_layout_engine()
    if engine is None:
        return
    figure.set_figheight(figure.get_figheight() + below)
    strip = below / figure.get_figheight()
    engine.set(rect=(0, strip, 1, 1 - strip))
    engine.execute(figure)
    figure.set_layout_engine(None)
