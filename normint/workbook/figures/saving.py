"""Write figures into the output folder."""

import io

from normint import paths
from normint.files.writing import write_atomically
from normint.workbook.results import log_output
from normint.workbook.rounding import TIMED_FIGURES, same_picture

# Without dates and versions in it, the same picture is the same file.
METADATA = {".png": {"Software": None}, ".pdf": {"CreationDate": None}}
FINE = 150  # dots per inch


def save(figure, name, *, data="generated"):
    """Write a figure as PNG and PDF into the output folder and tell the workbook about it.

    A PNG that is there already stays if it differs by rounding alone.

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
        figure.text(0.995, 0.003, "stand-in data", ha="right", va="bottom", fontsize=7, color="#d55e00")
    _lay_out(figure)
    for suffix, metadata in METADATA.items():
        path = paths.figures() / (name + suffix)
        drawn = io.BytesIO()
        figure.savefig(drawn, format=suffix[1:], dpi=FINE, metadata=metadata)
        if suffix != ".png" or timed or not same_picture(path, drawn.getvalue()):
            with write_atomically(path) as temporary:
                temporary.write_bytes(drawn.getvalue())
        log_output("figure", path=path, data=data)


def _lay_out(figure):
    """Give all parts of a figure their places, as in the PNG; PDF and notebook keep them.

    A figure that has a layout engine is drawn twice each time, once to find the places.
    """
    engine = figure.get_layout_engine()
    if engine is None:
        return
    screen = figure.dpi
    figure.dpi = FINE
    engine.execute(figure)
    figure.dpi = screen
    figure.set_layout_engine(None)
