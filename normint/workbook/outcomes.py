"""What became of a notebook, and whether that of an earlier run still holds.

What a notebook made stands in two places: its figures and rows in the folder of figures, and which of them
are its own in the outputs of its executed copy, put there by `normint.workbook.results.log_output`. Beside
the copy, a stamp, a small JSON file, says from what all that was made and identifies it: where one of them
is no longer so, whatever the reason, the notebook runs again.
"""

import json
import math
import os
from contextlib import suppress
from dataclasses import dataclass, field

from normint.files.reading import content, read_regular
from normint.files.writing import write_whole
from normint.paths import digest
from normint.workbook import results, statements
from normint.workbook.notebook_files import made, read_notebook

MOST = 2**24  # bytes of a stamp; real ones have some thousands


@dataclass
class Outcome:
    """What became of one notebook.

    Attributes
    ----------
    name : str
        The notebook, without its suffix.
    status : str
        "done", "skipped" (nothing changed since it was done), "failed", or "timed out".
    seconds : float
        How long the execution took.
    message : str
        Where and why it failed.
    figures : list of str
        The paths of the figures it made.
    rows : list of dict
        The numbers it recorded and the answers it gave, as they stand in their files.
    real : bool
        Whether something of that was made from real data.
    """

    name: str
    status: str
    seconds: float = 0.0
    message: str = ""
    figures: list = field(default_factory=list)
    rows: list = field(default_factory=list)
    real: bool = False

    @property
    def ok(self):
        """Whether its results are there."""
        return self.status in ("done", "skipped")

    def find(self, executed, folder):
        """Find what an executed notebook made, in the folder of figures."""
        things = made(executed)
        # Not whatever opens a file: a number would be one that is open already.
        self.figures = list(dict.fromkeys(os.fspath(thing["path"]) for thing in things if "path" in thing))
        keys = [tuple(thing.get("key", ())) for thing in things]
        files = results.FILE, statements.FILE
        self.rows = [row for file in files for row in file.read(folder) if file.key(row) in keys]
        self.real = any(thing["data"] == "real" for thing in things)
        return self

    def summary(self):
        """Return the fields of its line in the report."""
        printed = [row for row in self.rows if row.get("paper")]
        reproduced = sum(row["verdict"].startswith("reproduced") for row in printed)
        numbers = f"{reproduced} of {len(printed)}" if printed else "-"
        return self.name, self.status, f"{self.seconds:.1f} s", str(len(self.figures)), numbers


@dataclass
class Outcomes:
    """Those that are kept in the folder of a run.

    Attributes
    ----------
    folder : Path
        Where the executed notebooks are.
    figures : Path
        The folder of figures, `results.csv` and `statements.csv`.
    fingerprints : dict
        From the name of a notebook to a text that changes with anything it is made from.
    """

    folder: object
    figures: object
    fingerprints: dict

    def executed(self, name):
        """Return the path of the executed copy of a notebook."""
        return self.folder / f"{name}.ipynb"

    def seconds(self, name):
        """Return how long the last run of a notebook took, whatever has changed since; None if not known."""
        seconds = self._read(name).get("seconds")
        return seconds if type(seconds) in (int, float) and math.isfinite(seconds) else None

    def made_before(self, name):
        """Return the outcome of an earlier run if nothing has changed and nothing is missing."""
        stamp, seconds = self._read(name), self.seconds(name)
        with suppress(OSError, ValueError, LookupError, TypeError):  # no such notebook, or no longer
            outcome = Outcome(name, "skipped", seconds).find(read_notebook(self.executed(name)), self.figures)
            now = self._stamp(outcome)
            return outcome if stamp == now and None not in (seconds, *now["files"].values()) else None

    def forget(self, name):
        """Remove what is kept of a notebook that is about to run."""
        with suppress(OSError):  # what stays no longer fits the files, or is no stamp at all
            self._path(name).unlink()

    def keep(self, outcome):
        """Write the stamp of what was done; one that cannot be written says so in its message."""
        try:
            write_whole(self._path(outcome.name), json.dumps(self._stamp(outcome), indent=1).encode())
        except OSError as error:
            outcome.message = (
                f"it will run again next time, since {self._path(outcome.name)} cannot be written: {error}"
            )

    def _read(self, name):
        try:
            stamp = json.loads(read_regular(self._path(name), MOST))
        except (OSError, ValueError, RecursionError):  # deep nesting ends in the last
            stamp = None
        return stamp if isinstance(stamp, dict) else {}

    def _stamp(self, outcome):
        files = {path: content(path) for path in (str(self.executed(outcome.name)), *outcome.figures)}
        made_from = self.fingerprints[outcome.name]
        return {"from": made_from, "seconds": outcome.seconds, "files": files, "rows": digest(outcome.rows)}

    def _path(self, name):
        return self.folder / f"{name}.json"
