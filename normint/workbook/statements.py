"""Every statement of the paper that can be tested, and what came out.

The statements are those of `data/statements.csv`. Notebooks call `answer` in the cell that shows a claim.
Numbers and signs need no such call: their verdicts follow from the results, and from Table 1.
"""

import csv
import re
from dataclasses import dataclass
from functools import lru_cache

from normint import paths
from normint.workbook import rows as row_files
from normint.workbook.notebook_files import chapters, read_notebook, source
from normint.workbook.results import tell_run
from normint.workbook.rounding import same_text

__all__ = ["KINDS", "VERDICTS", "Statement", "answer", "places", "read", "statements"]

VERDICTS = ("agrees", "partly", "disagrees", "not testable here")
KINDS = ("claim", "number", "sign")
COLUMNS = row_files.COLUMNS["statement"]
CALL = re.compile(r"^\s*answer\((\d+), ", flags=re.M)


@dataclass(frozen=True)
class Statement:
    """One statement of the paper.

    Attributes
    ----------
    number : int
        Its name: it stays when statements are added, and says nothing about the order.
    section : str
        Of the paper.
    kind : {"claim", "number", "sign"}
    statement : str
        In our words.
    figure, case, metric : str
        Where a number stands in `data/paper_values.csv`, or a sign in Table 1; empty for claims.
    """

    number: int
    section: str
    kind: str
    statement: str
    figure: str
    case: str
    metric: str


def statements():
    """Read the statements.

    Returns
    -------
    dict
        From the number to its `Statement`, in the order of the paper.

    Examples
    --------
    >>> statements()[16].statement
    'Forward and backward differences together are accurate to second order.'
    """
    with open(paths.root() / "data" / "statements.csv", newline="", encoding="utf-8") as file:
        found = [Statement(**{**row, "number": int(row["number"])}) for row in csv.DictReader(file)]
    return {one.number: one for one in found}


def answer(number, verdict, evidence, *, data="generated"):
    """Write what came out about a claim of the paper into `statements.csv`.

    A row that is there already stays if its evidence differs by rounding alone, or if it was made from real
    data and the new one was not.

    Parameters
    ----------
    number : int
        Of a claim in `data/statements.csv`.
    verdict : {"agrees", "partly", "disagrees", "not testable here"}
    evidence : str
        The number or the figure that shows it, with the numbers of this run; for what is not testable here,
        the reason.
    data : {"generated", "real", "stand-in"}
        What it was computed from, as for :func:`normint.workbook.results.record`.
    """
    known = statements()
    if isinstance(number, bool) or number not in known:
        raise ValueError(f"number must be that of a statement in data/statements.csv, got {number!r}")
    if known[number].kind != "claim":
        raise ValueError(f"number is {number}, a {known[number].kind}: its verdict follows from the results")
    if verdict not in VERDICTS:
        raise ValueError(f"verdict must be one of {', '.join(VERDICTS)}, got {verdict!r}")
    if not isinstance(evidence, str) or not evidence.strip():
        what = "give a reason" if verdict == VERDICTS[-1] else "name the number or figure that shows it"
        raise ValueError(f"evidence must {what}, got {evidence!r}")
    row_files.check_data(data)
    notebook, cell = places().get(number, ("", ""))
    fields = str(number), verdict, " ".join(evidence.split()), data, notebook, cell
    row = FILE.put(dict(zip(COLUMNS, fields, strict=True)))
    tell_run(data, key=FILE.key(row))  # the data of this run, whatever the row was made from


def read(folder=None):
    """Read the answers of `folder` (by default `paths.figures`) as a list of dicts of strings.

    Raises
    ------
    ValueError
        If the file is damaged. It names the line, and says how to get a good file again.
    """
    return FILE.read(folder)


def places():
    """Find where the notebooks answer.

    Returns
    -------
    dict
        From the number of a statement to the name of a notebook and the id of a cell. What two cells answer
        raises a `ValueError`.
    """
    found = {}
    for path in chapters(paths.root() / "notebooks"):
        for number, cell in _answered(path, path.stat().st_mtime_ns):
            place = path.stem, cell
            if found.setdefault(number, place) is not place:
                raise ValueError(f"statement {number} is answered twice: {found[number]} and {place}")
    return found


@lru_cache(maxsize=64)
def _answered(path, _changed):
    """Return the numbers that a notebook answers, with the ids of the cells; read again when it changes."""
    cells = [cell for cell in read_notebook(path)["cells"] if cell["cell_type"] == "code"]
    return [(int(number), cell["id"]) for cell in cells for number in CALL.findall(source(cell))]


def _check_row(row):
    if row["verdict"] not in VERDICTS:
        raise ValueError(
            f"verdict must be one of {', '.join(VERDICTS)}, got {row_files.shown(row['verdict'])}"
        )
    if not row["number"].isdecimal():
        raise ValueError(f"number must be that of a statement, got {row_files.shown(row['number'])}")


def _order():
    places_in_paper = {number: place for place, number in enumerate(statements())}
    return lambda row: places_in_paper.get(int(row["number"]), len(places_in_paper))


def _stays(old, new):
    if (old["data"], new["data"]) == ("real", "stand-in"):
        return True
    others = [name for name in COLUMNS if name != "evidence"]
    return all(old[name] == new[name] for name in others) and same_text(old["evidence"], new["evidence"])


FILE = row_files.RowFile(
    "statements.csv",
    COLUMNS,
    ("number", "verdict", "evidence"),
    lambda row: (row["number"],),
    _check_row,
    _order,
    _stays,
)
