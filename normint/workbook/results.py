"""Every number we obtain, beside the number the paper prints.

Notebooks call `record`; the README's table and findings come from the file it writes, and from
nowhere else.
"""

import csv
import json
import math
import os
import re
from pathlib import Path

from normint import paths
from normint.files.writing import write_atomically
from normint.workbook import rows as row_files
from normint.workbook.notebook_files import MADE
from normint.workbook.rounding import same_row

COLUMNS = row_files.COLUMNS["number"]
BEGIN, END = "<!-- {}:begin -->", "<!-- {}:end -->"  # around a part of the README that is written for it


def paper_values():
    """Read every number the paper prints.

    Returns
    -------
    dict
        From (figure, case, metric) to the value, in the order of the paper.

    Examples
    --------
    >>> paper_values()["fig04", "mask", "RMSE"]
    0.11
    """
    return {key: float(text) for key, text in _paper_texts().items()}


def paper_matrices():
    """Read the matrices of the paper's 3x3 example as it prints them, misprint included.

    Returns
    -------
    dict
        From Du_plus, L, Du and Dv to an 8x8 nested list of numbers.

    Examples
    --------
    >>> paper_matrices()["Du"][0][:3]
    [-0.5, -0.5, 0.0]
    """
    printed = json.loads((paths.root() / "data" / "paper_matrices.json").read_text(encoding="utf-8"))
    return {
        name: [[matrix["factor"] * entry for entry in row] for row in matrix["rows"]]
        for name, matrix in printed.items()
    }


def record(
    figure, case, metric, ours, *, spread=None, data="generated", tolerance=None, note="", reason="",
):  # fmt: skip
    """Write one number into `results.csv`, beside the paper's, and judge it.

    A row that is there already stays if it differs by rounding alone.

    Parameters
    ----------
    figure, case, metric : str
        What was measured, spelled as in `data/paper_values.csv` where the paper prints a number:
        ``"fig04", "mask", "RMSE"``.
    ours : float
        Our value; four significant digits are kept.
    spread : float, optional
        Its standard deviation over seeds.
    data : {"generated", "real", "stand-in"}
        What it was computed from: a formula, the data set of the paper, or what replaces it where it
        is absent. Each kind has a row of its own: a stand-in never overwrites a real result.
    tolerance : float, optional
        The largest difference from the paper's value that counts as reproduced; needed if there is one.
    note : str
        Settings or an explanation; needed when the paper's value is not reproduced.
    reason : str
        Why the paper's value is not reproduced, if the note does not say it; it becomes part of the verdict.

    Returns
    -------
    str
        The verdict: "reproduced within …", "not reproduced: …", or "new" where the paper prints nothing.
    """
    names = {"figure": figure, "case": case, "metric": metric}
    for name, value in names.items():
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{name} must be a non-empty string, got {value!r}")
    row_files.check_data(data)
    if not isinstance(note, str):
        raise ValueError(f"note must be a string, got {note!r}")
    ours = _number("ours", ours, digits=4)
    spread = "" if spread is None else _number("spread", spread, digits=2, least=0)
    tolerance = None if tolerance is None else _number("tolerance", tolerance, digits=4, least=0)
    note = " ".join(note.split())
    paper = _paper_texts().get((figure, case, metric), "")
    verdict = _judge(names, paper, ours, data, tolerance, " ".join(reason.split()) or note)

    row = dict(zip(COLUMNS, (figure, case, metric, paper, ours, spread, data, verdict, note), strict=True))
    row = FILE.put(row)
    tell_run(data, key=key(row))
    return verdict


def save_text(name, text):
    """Write a text, such as a table, into the output folder and tell the workbook about it."""
    path = paths.figures() / name
    with write_atomically(path) as temporary:
        temporary.write_text(text.rstrip() + "\n", encoding="utf-8")
    tell_run("generated", path=path)


def read(folder=None):
    """Read the recorded rows of `folder` (by default `paths.figures`) as a list of dicts of strings.

    Raises
    ------
    ValueError
        If the file is damaged. It names the line, and says how to get a good file again.
    """
    return FILE.read(folder)


def table(rows=None):
    """Format results as a Markdown table.

    Only what the paper prints a number for, and no stand-in whose real result is known.

    Parameters
    ----------
    rows : list of dict, optional
        Rows as `read` returns them, which is the default.
    """
    rows = read() if rows is None else rows
    real = {key(row)[:3] for row in rows if row["data"] == "real"}
    lines = ["| figure | case | metric | paper | ours | data | verdict |", "| --- " * 7 + "|"]
    for row in rows:
        stand_in = row["data"] == "stand-in" and key(row)[:3] in real
        if stand_in or not row["paper"]:
            continue
        ours = f"{row['ours']} ± {row['spread']}" if row["spread"] else row["ours"]
        cells = [*key(row)[:3], row["paper"], ours, row["data"], row["verdict"]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def write_between(path, name, text):
    """Replace what stands between the lines ``<!-- name:begin -->`` and ``<!-- name:end -->`` of `path`."""
    path = Path(path)
    old = path.read_text(encoding="utf-8")
    first, last = BEGIN.format(name), END.format(name)
    before, begin, rest = old.partition(first)
    _, end, after = rest.partition(last)
    if not (begin and end):
        raise ValueError(f"{path} must contain the lines {first} and {last}, in this order")
    new = f"{before}{first}\n{text}\n{last}{after}"
    if new != old:
        with write_atomically(path) as temporary:
            temporary.write_text(new, encoding="utf-8")


def tell_run(data, **what):
    """Tell the run of the workbook that executes this notebook, if one does, what the notebook made.

    It becomes an output of the cell, which nobody sees.

    Parameters
    ----------
    data : {"generated", "real", "stand-in"}
        What it was made from.
    what
        The `path` of a file, or the `key` of a row of results or of statements.
    """
    if not paths.in_run():
        return
    from IPython import get_ipython

    if "path" in what:
        what["path"] = os.path.abspath(what["path"])
    if shell := get_ipython():  # not in another process that the notebook started
        shell.display_pub.publish(data={MADE: {"data": data, **what}})


def _judge(names, paper, ours, data, tolerance, note):
    if not paper:
        return "new"
    if data == "stand-in":  # near the paper's value or not, it is a number about something else
        return "not reproduced: stand-in data" + (f"; {note}" if note else "")
    if tolerance is None:
        raise ValueError(f"tolerance is needed: the paper prints {paper} for {' '.join(names.values())}")
    # The slack keeps a difference equal to the tolerance inside it in spite of rounding.
    if abs(float(ours) - float(paper)) <= float(tolerance) + 1e-12:
        return f"reproduced within {tolerance}"
    # A variation of the published run (another seed, fewer steps) is a reason in itself.
    reason = note or paths.variant()
    if not reason:
        raise ValueError(
            f"note must say why {' '.join(names.values())} is not reproduced: "
            f"{ours} differs from the paper's {paper} by more than {tolerance}"
        )
    return f"not reproduced: {reason}"


def _number(name, value, *, digits, least=-math.inf):
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number >= least):
        wanted = "a finite number" + (f" of at least {least}" if math.isfinite(least) else "")
        raise ValueError(f"{name} must be {wanted}, got {value!r}")
    return f"{float(f'{number:.{digits}g}'):.10g}"


def _paper_texts():
    with open(paths.root() / "data" / "paper_values.csv", newline="", encoding="utf-8") as file:
        return {key(row)[:3]: row["value"] for row in csv.DictReader(file)}


def _check_row(row):
    for column in ("paper", "ours", "spread"):
        if row[column] or column == "ours":  # the paper may print nothing, and one run has no spread
            _number(column, row[column], digits=4)


def key(row):
    """Return what tells a row from the others: figure, case, metric, and what it was computed from."""
    return row["figure"], row["case"], row["metric"], row.get("data")


def _order():
    places = {key: place for place, key in enumerate(_paper_texts())}

    def order(row):
        figure, *rest = key(row)
        # New rows follow those of the paper, with numbers in their names as numbers: n=128, n=1024.
        parts = [re.split(r"(\d+(?:\.\d+)?)", text) for text in rest]
        natural = [[float(part) if i % 2 else part for i, part in enumerate(text)] for text in parts]
        return figure, places.get(key(row)[:3], len(places)), natural

    return order


REQUIRED = ("figure", "case", "metric", "verdict")
FILE = row_files.RowFile("results.csv", COLUMNS, REQUIRED, key, _check_row, _order, same_row)
