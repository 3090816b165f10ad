"""What the report says: tables and sentences, with numbers from the results and from nowhere else."""

import re
from collections import Counter

from normint import __version__, paths
from normint.workbook import ledger, overview, results, statements
from normint.workbook.report.experiments import EXPERIMENTS, OPEN

__all__ = ["PICTURES", "content"]

LIBRARIES = ("numpy", "scipy", "numba", "opencv-python-headless", "pyamg", "scikit-image", "matplotlib")
# What is shown, with its caption; all of them are figures that the notebooks save.
PICTURES = {
    "fig04_vase_quadratic": """Least squares on the vase: exact on its silhouette, bent by the jumps on the
        whole grid (the paper's Figure 4).""",
    "fig13_mumford_shah": """Mumford-Shah on the vase with 1 % of noise, for three μ (the paper's
        Figure 13).""",
    "fig07_energy_gap": """Total variation at 1 % of noise: the least RMSE that any surface can have at an
        energy, and the path of ADMM. Left of where the paper's value meets the curve no surface has it.""",
    "fig09_tent_phi1": """Φ1 on a tent like the paper's: from least squares, and from zero (the paper's
        Figure 9).""",
    "fig10_cat": """The Cat from photographs with noise: least squares and diffusion (the paper's
        Figure 10).""",
    "open_vase": """What remains open in the paper: an integrator with nothing to tune, on the vase with
        noise.""",
}


def content(folder=None):
    """Collect all that the report says.

    Parameters
    ----------
    folder : path-like, optional
        Of `results.csv`, `statements.csv` and `table1.md`; by default the folder of figures.

    Returns
    -------
    dict
        Of texts, lists and dicts, as JSON has them.

    Raises
    ------
    ValueError
        If something lacks. It names the file and what lacks in it.
    """
    folder = folder or paths.figures()
    rows, found = results.read(folder), ledger.entries(folder)
    missing = [str(one.statement.number) for one in found if not one.verdict]
    if missing:
        raise ValueError(
            f"{folder} has no verdict on the statements {', '.join(missing)}; run the workbook to make them"
        )
    value = overview.Published(rows)
    cited = _citation()
    return {
        "version": __version__,
        "authors": [_name(author) for author in cited["authors"]],
        "paper": _reference(cited["preferred-citation"]),
        "title": cited["preferred-citation"]["title"],
        "abstract": " ".join(_ABSTRACT.split()).format(**_counts(found)),
        "counts": cells(ledger.count(found)),
        "numbers": cells(results.table(rows)),
        "experiments": [
            {"title": title, "text": overview.told(text, keys, value)} for title, text, keys in EXPERIMENTS
        ],
        "disagreements": [
            [
                str(one.statement.number),
                one.statement.section,
                one.statement.statement,
                one.evidence,
                one.notebook[:2],
            ]
            for one in found
            if one.statement.kind == "claim" and one.verdict == "disagrees"
        ],  # fmt: skip
        "findings": [line.removeprefix("- ") for line in overview.findings(rows).splitlines()],
        "open": overview.told(*OPEN, value),
        "table1": cells((folder / "table1.md").read_text(encoding="utf-8")),
        "pictures": {name: " ".join(caption.split()) for name, caption in PICTURES.items()},
        "versions": versions(),
    }


def cells(markdown):
    """Return the cells of a Markdown table, its headings first.

    Examples
    --------
    >>> cells("| a | b |\\n| --- | --- |\\n| 1 | 2 \\\\| 3 |")
    [['a', 'b'], ['1', '2 | 3']]
    """
    lines = [re.split(r"(?<!\\)\|", line.strip())[1:-1] for line in markdown.strip().splitlines()]
    return [[cell.strip().replace("\\|", "|") for cell in line] for line in (lines[0], *lines[2:])]


def versions(root=None):
    """Return the Python and the libraries that the published numbers were made with, from the lock file."""
    text = ((root or paths.root()) / "requirements.lock").read_text(encoding="utf-8")
    locked = {"Python": re.search(r"Python (\S+?),", text)[1]} if "Python " in text else {}
    locked |= dict(re.findall(r"^([\w.-]+)==(\S+)$", text, flags=re.M))
    lacking = [name for name in ("Python", *LIBRARIES) if name not in locked]
    if lacking:
        raise ValueError(f"requirements.lock has no {', '.join(lacking)}; make lock writes it")
    return {name: locked[name] for name in ("Python", *LIBRARIES)}


_ABSTRACT = """We replicate all experiments of the paper: {figures} figures and a table, {numbers} printed
    numbers, {claims} claims and {signs} signs. Of the numbers {numbers_agrees} come out within the
    tolerances that the table of numbers states, and {numbers_disagrees} do not. Of the claims {claims_agrees}
    hold, {claims_partly} hold in part, and {claims_disagrees} do not; of the signs of its Table 1
    {signs_agrees} are ours too. For each number that does not come out we give the
    experiment that narrows down why. Code, data and every figure come with this report."""


def _counts(found):
    counted = Counter((one.statement.kind, one.verdict) for one in found)
    kinds = Counter(one.statement.kind for one in found)
    numbers = {f"{kind}s": kinds[kind] for kind in statements.KINDS}
    numbers |= {
        f"{kind}s_{verdict}": counted[kind, verdict]
        for kind in statements.KINDS
        for verdict in statements.VERDICTS
    }
    return numbers | {"figures": _figures()}


def _figures():
    """Count the figures of the paper that the notebooks show, by the names of their files."""
    shown = re.findall(r"\bfig(\d\d)_", " ".join(path.name for path in (paths.root() / "figures").iterdir()))
    return len(set(shown))


def _citation():
    import yaml

    return yaml.safe_load((paths.root() / "CITATION.cff").read_text(encoding="utf-8"))


def _name(author):
    return author.get("name") or f"{author['given-names']} {author['family-names']}"


def _reference(paper):
    names = ", ".join(map(_name, paper["authors"]))
    place = f"{paper['journal']} {paper['volume']}, pages {paper['start']} to {paper['end']}, {paper['year']}"
    return f"{names}. {paper['title']}. {place}. doi:{paper['doi']}"
