"""What the real data gave, for those who do not have them: a published figure, and rows of the results."""

import io
import re

from normint import paths
from normint.workbook import results

__all__ = ["published", "real_rows"]

# Figures are published with 150 dots per inch, and notebooks show theirs with 80. Less is enough here: the
# whole figure is a click away.
SHRINK = 0.4


def published(data, figure="", *, rows="", cases=".*", across=False):
    """Show what the real data gave, where a notebook ran on stand-ins; show nothing where it had them.

    Parameters
    ----------
    data : {"real", "stand-in"}
        What the notebook ran on.
    figure : str
        Name of the published figure, as :func:`normint.workbook.figures.save` was told; empty for none.
    rows, cases, across : str, str, bool
        As for :func:`real_rows`; without `rows` there is no table.
    """
    from IPython.display import Image, Markdown, display

    if data != "stand-in":
        return
    table = real_rows(rows, cases=cases, across=across) if rows else ""
    where = f"figures/{figure}.png" if figure else "figures/results.csv"
    display(Markdown(f"**With the real data**, as published in [`{where}`](../{where}):"))
    if figure:
        display(Image(data=_small(paths.root() / where), format="jpeg"))
    if table:
        display(Markdown(table))


def real_rows(figure, *, cases=".*", across=False, rows=None):
    """Return what results say of a figure made from real data, as a Markdown table.

    Parameters
    ----------
    figure : str
        As :func:`normint.workbook.results.record` was told.
    cases : str
        A regular expression for the whole name of a case: only these are shown.
    across : bool
        Whether the last part of a case, behind its last comma, names a column: "DCT, sigma=5%".
    rows : list of dict, optional
        Results as :func:`normint.workbook.results.read` gives them; by default the published ones.

    Raises
    ------
    ValueError
        If there is no such row.
    """
    rows = results.read(paths.root() / "figures") if rows is None else rows
    found = [
        row for row in rows
        if (row["figure"], row["data"]) == (figure, "real") and re.fullmatch(cases, row["case"])
    ]  # fmt: skip
    if not found:
        raise ValueError(f"figures/results.csv has no real row of {figure} whose case is {cases}")
    return _pivoted(found) if across else _listed(found)


def _listed(rows):
    """Return one line for each row, with the paper's number and the verdict where it prints one."""
    headings, names = ["", "measured", "real data"], ["case", "metric", "ours"]
    lines = [[row[name] for name in names] for row in rows]
    if any(row["paper"] for row in rows):
        headings += ["the paper", "verdict"]
        for line, row in zip(lines, rows, strict=True):
            line += [row["paper"], row["verdict"] if row["paper"] else ""]
    return _markdown(headings, lines)


def _pivoted(rows):
    """Return one line for each case, and one column for each last part of their names."""
    cells = {}
    for row in rows:
        case, _, last = row["case"].rpartition(", ")
        cells.setdefault(case, {})[last] = row["ours"]
    lasts = dict.fromkeys(last for line in cells.values() for last in line)
    lines = ([case, *(line.get(last, "") for last in lasts)] for case, line in cells.items())
    return _markdown([rows[0]["metric"], *lasts], lines)


def _markdown(headings, lines):
    lines = [headings, ["---"] * len(headings), *lines]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _small(path):
    """Return a picture as a JPEG of a size that a notebook can carry."""
    from PIL import Image

    with Image.open(path) as picture:
        size = [round(SHRINK * side) for side in picture.size]
        small = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    drawn = io.BytesIO()
    small.save(drawn, "JPEG", quality=80, optimize=True)
    return drawn.getvalue()
