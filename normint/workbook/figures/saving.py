"""Write figures into the output folder."""

from normint import paths
from normint.files.writing import write_atomically
from normint.workbook.results import log_output


def save(figure, name, *, data="generated"):
    """Write a figure as PNG and PDF into the output folder and tell the workbook about it.

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
    if data == "stand-in":
        name += "_stand-in"
        figure.text(0.995, 0.003, "stand-in data", ha="right", va="bottom", fontsize=7, color="#d55e00")
    for suffix, metadata in ((".png", {"Software": None}), (".pdf", {"CreationDate": None})):
        path = paths.figures() / (name + suffix)
        # Without dates and versions in it, the same picture is the same file.
        with write_atomically(path) as temporary:
            figure.savefig(temporary, dpi=150, metadata=metadata)
        log_output("figure", path=path, data=data)
