"""A CSV file that many notebooks write to, a row each time: whole at every moment, and in one order."""

import csv
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from normint import paths
from normint.files.reading import read_regular
from normint.files.writing import locked, write_atomically

# By what a row is: a number of `results`, or an answer of `statements`.
COLUMNS = {
    "number": ("figure", "case", "metric", "paper", "ours", "spread", "data", "verdict", "note"),
    "statement": ("number", "verdict", "evidence", "data", "notebook", "cell"),
}
DATA_KINDS = ("generated", "real", "stand-in")


@dataclass(frozen=True)
class RowFile:
    """A file of rows, dicts of strings, in the folder of figures.

    Attributes
    ----------
    name : str
        Of the file.
    columns, required : tuple of str
        The columns, and those of them that no row may leave blank.
    key : callable
        From a row to the tuple of strings that tells it from the others.
    check : callable
        Raises a `ValueError` that says what is wrong with a row.
    order : callable
        Returns the function from a row to what rows are sorted by.
    stays : callable
        Called as ``stays(old, new)``: whether the row that is there is kept.
    """

    name: str
    columns: tuple
    required: tuple
    key: Callable
    check: Callable
    order: Callable
    stays: Callable

    def put(self, row):
        """Write one row into the file, and return what stands there now; other processes may do the same."""
        folder = paths.figures()
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder):
            rows = {self.key(old): old for old in self.read(folder)}
            old = rows.get(self.key(row))
            if old and self.stays(old, row):
                row = old
            rows[self.key(row)] = row
            self._write(folder / self.name, rows.values())
        return row

    def read(self, folder=None):
        """Read the rows of a folder, by default that of figures; none if there is no file.

        Raises
        ------
        ValueError
            If the file is damaged. It names the line, and says how to get a good file again.
        """
        path = Path(folder or paths.figures()) / self.name
        if not os.path.lexists(path):
            return []
        try:
            text = read_regular(path).decode("utf-8")
            return self._rows(list(csv.reader(io.StringIO(text, newline=""), strict=True)))
        except (ValueError, csv.Error) as error:
            raise ValueError(
                f"{path} is damaged: {error}; take the committed one (git checkout -- {path}), "
                "or delete it and run make workbook"
            ) from error

    def _rows(self, lines):
        if not lines or tuple(lines[0]) != self.columns:
            got = ",".join(lines[0]) if lines else "nothing"
            raise ValueError(f"the columns must be {','.join(self.columns)}, got {shown(got)}")
        rows = {}
        for number, fields in enumerate(lines[1:], start=1):
            if len(fields) != len(self.columns):
                got = f"{len(fields)} in {shown(','.join(fields))}"
                raise ValueError(f"row {number} must have {len(self.columns)} fields, got {got}")
            row = dict(zip(self.columns, fields, strict=True))
            for column in self.required:
                if not row[column].strip():
                    raise ValueError(f"row {number} has no {column}")
            try:
                check_data(row["data"])
                self.check(row)
            except ValueError as error:
                raise ValueError(f"in row {number}, {error}") from None
            if rows.setdefault(self.key(row), row) is not row:
                raise ValueError(f"row {number} repeats {shown(' '.join(self.key(row)))}")
        return list(rows.values())

    def _write(self, path, rows):
        with (
            write_atomically(path) as temporary,
            open(temporary, "w", newline="", encoding="utf-8") as file,
        ):
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(rows, key=self.order()))


def check_data(data):
    """Raise a `ValueError` unless `data` says what a row was made from."""
    if data not in DATA_KINDS:
        raise ValueError(f"data must be one of {', '.join(DATA_KINDS)}, got {shown(data)}")


def shown(text):
    """Return a text as messages show it: quoted, and not too long."""
    text = repr(text)
    return text if len(text) <= 62 else text[:60] + "…'"
