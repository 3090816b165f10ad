"""The ledger: every statement of the paper with its verdict, as a page to read."""

import re
from collections import Counter
from dataclasses import dataclass

from normint import paths
from normint.workbook import results, statements
from normint.workbook.cases import CASES
from normint.workbook.notebook_files import chapters, read_notebook, source
from normint.workbook.statements import VERDICTS, Statement
from normint.workbook.studies.table1 import COLUMNS

__all__ = ["Entry", "count", "entries", "section", "sections"]

# The paper has one row for both of its non-convex estimators.
ROWS = {"nonconvex": ("phi1", "phi2")}


@dataclass(frozen=True)
class Entry:
    """A statement, and what came out.

    Attributes
    ----------
    statement : Statement
    verdict : str
        One of `VERDICTS`, or empty where nothing is known yet.
    evidence : str
    notebook, cell : str
        Where it is shown.
    """

    statement: Statement
    verdict: str
    evidence: str
    notebook: str
    cell: str


def entries(folder=None):
    """Return an `Entry` for every statement of the paper, in its order.

    Parameters
    ----------
    folder : path-like, optional
        Of `statements.csv`, `results.csv` and `table1.md`; by default the published ones.
    """
    folder = folder or paths.root() / "figures"
    answers = {int(row["number"]): row for row in statements.read(folder)}
    numbers = _numbers(results.read(folder))
    signs, shown = _signs(folder / "table1.md"), _shown()
    found = []
    for number, one in statements.statements().items():
        key = one.figure, one.case, one.metric
        place = shown.get(one.figure, ("", ""))
        if one.kind == "claim":
            row = answers.get(number, {})
            answer = [row.get(name, "") for name in ("verdict", "evidence", "notebook", "cell")]
        else:
            answer = [*(numbers if one.kind == "number" else signs).get(key, ("", "")), *place]
        found.append(Entry(one, *answer))
    return found


def count(found):
    """Return the verdicts as a Markdown table, with the number of each.

    Parameters
    ----------
    found : list of Entry
    """
    names = (*VERDICTS, "")
    lines = ["| | " + " | ".join(name or "no answer" for name in names) + " | all |", "| --- " * 7 + "|"]
    for kind in (*statements.KINDS, None):
        some = [one for one in found if kind in (one.statement.kind, None)]
        counted = Counter(one.verdict for one in some)
        cells = [f"{kind}s" if kind else "**all**", *(str(counted[name]) for name in names), str(len(some))]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def sections(found):
    """Return the sections of the paper, in its order."""
    return list(dict.fromkeys(one.statement.section for one in found))


def section(found, name):
    """Return the statements of one section as a Markdown table; each links to the cell that shows it."""
    lines = ["| no. | the paper says | verdict | what shows it | where |", "| --- " * 5 + "|"]
    for one in found:
        if one.statement.section == name:
            link = f"[{one.notebook[:2]}]({one.notebook}.ipynb#cell-id={one.cell})" if one.notebook else ""
            cells = (str(one.statement.number), one.statement.statement, one.verdict, one.evidence, link)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def _numbers(rows):
    """Return verdict and evidence of the printed numbers: of real data where there are some."""
    found = {}
    for row in sorted(rows, key=lambda row: row["data"] != "stand-in"):
        if not row["paper"]:
            continue
        if row["data"] == "stand-in":
            verdict = VERDICTS[-1]
        else:
            verdict = "agrees" if row["verdict"].startswith("reproduced") else "disagrees"
        ours = f"{row['ours']} ± {row['spread']}" if row["spread"] else row["ours"]
        evidence = f"{ours}; the paper prints {row['paper']}; {row['verdict']}"
        found[row["figure"], row["case"], row["metric"]] = verdict, evidence
    return found


def _signs(path):
    """Return verdict and evidence of the signs, from Table 1 as written: the paper's are in brackets."""
    if not path.is_file():
        return {}
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    headings, labels = rows[0], {label: name for name, label in CASES.items()}
    ours = {labels[row[0]]: dict(zip(headings, row, strict=True)) for row in rows[2:]}
    found = {}
    for case in [*ours, *ROWS]:
        methods = [name for name in ROWS.get(case, (case,)) if name in ours]
        for heading, *_ in COLUMNS:
            cells = [ours[name][heading] for name in methods]
            differ = [bool(re.match(r"\S+ \(", cell)) for cell in cells]
            verdict = (
                "partly" if any(differ) and not all(differ) else "disagrees" if any(differ) else "agrees"
            )
            evidence = ", ".join(f"{CASES[name]} {cell}" for name, cell in zip(methods, cells, strict=True))
            found["table1", case, heading] = verdict, evidence
    return found


def _shown():
    """Find the cells that write the numbers of a figure, and Table 1: notebook and id of each."""
    found = {}
    for path in chapters(paths.root() / "notebooks"):
        for cell in read_notebook(path)["cells"]:
            if cell["cell_type"] == "code":
                names = re.findall(r'(?:record|report)\("(fig\d+)"', source(cell))
                names += ["table1"] * ('"table1.md"' in source(cell))
                for name in names:
                    found.setdefault(name, (path.stem, cell["id"]))
    return found
