"""The one table: what was measured, beside the value that is committed, and what got worse."""

import csv

from benchmarks import Row, judge
from normint import paths
from normint.files.writing import write_atomically

WORSE = 1.15  # times the committed value: less than that is the machine
COLUMNS = "what", "value", "unit", "limit", "met"


class Table:
    """Rows as they are measured, beside those that are committed.

    Parameters
    ----------
    committed : dict, optional
        From what was measured to its value as text; by default that of `benchmarks/results.csv`.
    """

    def __init__(self, committed=None):
        self.committed = read(results_path()) if committed is None else committed
        self.rows = []

    def header(self):
        """Return the first line."""
        return f"{'':62s}{'measured':>9s} {'committed':>9s} {'unit':16s}required, met"

    def add(self, row):
        """Take a row, and return its line."""
        row = Row(*row)
        self.rows.append(row)
        known = self.committed.get(row.what, {}).get("value", "new")
        verdict = " ".join(judge(row.value, row.limit))
        return f"{row.what:62s}{row.value:9.3g} {known:>9s} {row.unit:16s}{verdict}".rstrip()

    def closing(self):
        """Return the list that ends the table: what got worse, and which limits are not met.

        >>> table = Table({"call": {"value": "1.0"}, "gain": {"value": "9"}})
        >>> _ = [table.add(("call", 1.3, "s", 1.2)), table.add(("gain", 9.5, "times", -8))]
        >>> print(table.closing())
        worse than committed by more than 15 %: 1 of 2
          call: 1.3 s, was 1.0
        limits not met: 1 of 2
          call: 1.3 s, at most 1.2
        """
        compared = [row for row in self.rows if row.unit and row.what in self.committed]
        worse = [row for row in compared if self._ratio(row) > WORSE]
        limited = [row for row in self.rows if row.limit is not None]
        missed = [row for row in limited if judge(row.value, row.limit)[1] == "NO"]
        lines = [f"worse than committed by more than {WORSE - 1:.0%}".replace("%", " %")]
        lines[0] += f": {len(worse)} of {len(compared)}"
        lines += [f"  {_told(row)}, was {self.committed[row.what]['value']}" for row in worse]
        lines += [f"limits not met: {len(missed)} of {len(limited)}"]
        lines += [f"  {_told(row)}, {judge(row.value, row.limit)[0]}" for row in missed]
        return "\n".join(lines)

    def _ratio(self, row):
        """Return how many times worse a row is than the committed one."""
        before = float(self.committed[row.what]["value"])
        if row.limit is not None and row.limit < 0:  # more is better
            return before / row.value
        return row.value / before

    def write(self):
        """Put the rows into the committed file; what was not measured this time stays as it was."""
        rows = dict(self.committed)
        for row in self.rows:
            limit, met = judge(row.value, row.limit)
            rows[row.what] = {"value": f"{row.value:.3g}", "unit": row.unit, "limit": limit, "met": met}
        lines = [COLUMNS, *((what, *(row[name] for name in COLUMNS[1:])) for what, row in rows.items())]
        return write(results_path(), lines)


def _told(row):
    return f"{row.what}: {row.value:.3g} {row.unit}".rstrip()


def results_path():
    return paths.root() / "benchmarks" / "results.csv"


def read(path):
    """Return the rows of a file by what was measured; none if it is not there."""
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {row.pop("what"): row for row in csv.DictReader(file)}


def write(path, lines):
    """Write a table as CSV, and say where."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    return f"written to {path.relative_to(paths.root())}"
