"""What became of a notebook, and what earlier runs left of it: believed only where it can be checked.

Beside each executed notebook, a small JSON file says from what it was made and which files it made, with
their contents. Whatever is wrong with it, or with one of those files, means that the notebook runs again.
"""

import json
import math
from contextlib import suppress
from dataclasses import asdict, dataclass, field

from normint.files.reading import content, read_regular
from normint.files.writing import write_atomically
from normint.paths import digest
from normint.workbook import results, statements

MOST = 2**24  # bytes of a state; real ones have some thousands


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
    outputs : list of dict
        The figures, numbers and answers it made, as given to `normint.workbook.results.log_output`.
    """

    name: str
    status: str
    seconds: float = 0.0
    message: str = ""
    outputs: list = field(default_factory=list)

    @property
    def ok(self):
        """Whether its results are there."""
        return self.status in ("done", "skipped")

    @property
    def figures(self):
        """The paths of the figures it made."""
        return list(dict.fromkeys(item["path"] for item in self.outputs if item["kind"] == "figure"))

    @property
    def numbers(self):
        """The rows it recorded, the last one where it recorded a number twice."""
        rows = [item for item in self.outputs if item["kind"] == "number"]
        return list({(r["figure"], r["case"], r["metric"], r["data"]): r for r in rows}.values())

    @property
    def answers(self):
        """What it says about statements of the paper."""
        return [item for item in self.outputs if item["kind"] == "statement"]

    def summary(self):
        """Return the fields of its line in the report."""
        printed = [row for row in self.numbers if row["paper"]]
        reproduced = sum(row["verdict"].startswith("reproduced") for row in printed)
        numbers = f"{reproduced} of {len(printed)}" if printed else "-"
        return self.name, self.status, f"{self.seconds:.1f} s", str(len(self.figures)), numbers


class States:
    """The outcomes that are kept in the folder of a run.

    Parameters
    ----------
    folder : Path
        Where the executed notebooks are.
    figures : Path
        The folder of `results.csv` and `statements.csv`.
    fingerprints : dict
        From the name of a notebook to a text that changes with anything it is made from.
    """

    def __init__(self, folder, figures, fingerprints):
        self.folder, self.figures, self.fingerprints = folder, figures, fingerprints

    def executed(self, name):
        """Return the path of the executed copy of a notebook."""
        return self.folder / f"{name}.ipynb"

    def seconds(self, name):
        """Return how long the last run of a notebook took, whatever has changed since; None if not known."""
        outcome = _outcome(self._read(name), name)
        return outcome.seconds if outcome else None

    def made_before(self, name):
        """Return the outcome of an earlier run if nothing has changed and nothing is missing."""
        state = self._read(name)
        outcome = _outcome(state, name)
        if outcome is None or state != self._state(outcome) or None in state["files"].values():
            return None
        rows = results.read(self.figures) + statements.read(self.figures)
        made = outcome.numbers + outcome.answers
        recorded = all({k: v for k, v in row.items() if k != "kind"} in rows for row in made)
        outcome.status = "skipped"
        return outcome if recorded else None

    def forget(self, name):
        """Remove what is kept of a notebook that is about to run."""
        with suppress(OSError):  # what stays no longer fits the files, or is no state at all
            self._path(name).unlink()

    def keep(self, outcome):
        """Write an outcome for the next run; one that cannot be written says so in its message."""
        try:
            with write_atomically(self._path(outcome.name)) as temporary:
                temporary.write_text(json.dumps(self._state(outcome), indent=1), encoding="utf-8")
        except OSError as error:
            note = f"it will run again next time, since {self._path(outcome.name)} cannot be written: {error}"
            outcome.message = f"{outcome.message}; {note}" if outcome.message else note

    def _read(self, name):
        try:
            return json.loads(read_regular(self._path(name), MOST))
        except (OSError, ValueError, RecursionError):  # deep nesting ends in the last
            return None

    def _state(self, outcome):
        """Return what is written about an outcome; its last part tells whether the rest is as written."""
        paths = [str(self.executed(outcome.name)), *outcome.figures]
        files = {path: content(path) for path in paths}
        state = {"fingerprint": self.fingerprints[outcome.name], "files": files, **asdict(outcome)}
        return {**state, "digest": digest(state)}

    def _path(self, name):
        return self.folder / f"{name}.json"


def _outcome(state, name):
    """Return the outcome in a state, or None if there is none that was done."""
    if not isinstance(state, dict) or (state.get("name"), state.get("status")) != (name, "done"):
        return None
    seconds, message, outputs = (state.get(key) for key in ("seconds", "message", "outputs"))
    if type(seconds) not in (int, float) or not math.isfinite(seconds) or not isinstance(message, str):
        return None
    if not isinstance(outputs, list) or not all(map(results.is_output, outputs)):
        return None
    return Outcome(name, "done", seconds, message, outputs)
