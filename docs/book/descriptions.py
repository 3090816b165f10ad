"""What is seen in each picture, in words: for those who cannot see it, and for the gallery."""

import re
import tomllib
from functools import cache
from pathlib import Path

SAVED = re.compile(r'\bsave\(\w+, "(\w+)"')
SHOWN = re.compile(r'\bpublished\([\w.]+, "(\w+)"')  # again, as it came out with the real data
FILE = Path(__file__).parents[1] / "figures.toml"


@cache
def all_of_them():
    """Read the descriptions by the name of the figure, or by the cell where it is not saved."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def saved_in(text):
    """Return the names of the figures that a cell saves.

    Examples
    --------
    >>> saved_in('figures.save(fig, "fig11_cat_noise", data=cat.data)')
    ['fig11_cat_noise']
    """
    return SAVED.findall(text)


def of_output(text, cell, data):
    """Return the description of a cell's picture, or an empty text.

    Parameters
    ----------
    text : str
        The source of the cell.
    cell : str
        Its id.
    data : dict
        The output. Panels say in it what they show.
    """
    known = all_of_them()
    for name in [*saved_in(text), *SHOWN.findall(text), cell]:
        if name in known:
            return known[name]
    said = "".join(data.get("text/plain", ""))
    return "" if said.startswith(("<", "Integration(")) else said
