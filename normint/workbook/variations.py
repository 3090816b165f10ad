"""Runs with other parameters than the published ones: what they are called, which notebooks, what differs."""

import re

from normint.workbook import results
from normint.workbook.notebook_files import parameters


def variant_name(changes):
    """Return a name for changed parameters, which is that of a folder.

    Examples
    --------
    >>> variant_name({"quick": True, "seed": 3, "mu": 0.5, "method": "phi1"})
    'quick-seed3-mu0.5-method=phi1'
    """
    words = []
    for name, value in changes.items():
        text = re.sub(r"[^\w.+-]+", "_", str(value))
        words.append(
            name if value is True else f"{name}={text}" if isinstance(value, str) else f"{name}{text}"
        )
    return "-".join(words)[:100]


def comparison(published, varied):
    """Return a Markdown table of the numbers of a varied run beside the published ones.

    Numbers that only one of the two has are left out, and equal ones are only counted.
    """
    before = {results.key(row): row["ours"] for row in published}
    pairs = [(row, before[results.key(row)]) for row in varied if results.key(row) in before]
    lines = ["| figure | case | metric | published | here | ratio |", "| --- " * 6 + "|"]
    for row, old in pairs:
        if row["ours"] != old:
            ratio = f"{float(row['ours']) / float(old):.3g}" if float(old) else ""
            cells = [*results.key(row)[:3], old, row["ours"], ratio]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    same = len(pairs) - len(lines) + 2
    return "\n".join(
        [*lines, "", f"{same} numbers are the same; {len(varied) - len(pairs)} have no counterpart."]
    )


def that_take(notebooks, changes):
    """Return the notebooks that have at least one of the parameters, each of which must fit one of them."""
    if not changes:
        return notebooks
    known = {name: parameters(notebook) for name, notebook in notebooks.items()}
    for name, value in changes.items():
        defaults = [own[name] for own in known.values() if name in own]
        if not defaults:
            listed = "; ".join(f"{notebook}: {', '.join(own) or 'none'}" for notebook, own in known.items())
            raise ValueError(f"{name} is no parameter of these notebooks, which have: {listed}")
        if not any(_fits(value, default) for default in defaults):
            raise ValueError(f"{name} is {value!r}; expected something like {defaults[0]!r}")
    if isinstance(changes.get("seed"), int) and changes["seed"] < 0:
        raise ValueError(f"seed must not be negative, got {changes['seed']}")
    return {name: notebook for name, notebook in notebooks.items() if set(changes) & set(known[name])}


def _fits(value, default):
    if isinstance(default, float):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is type(default)
