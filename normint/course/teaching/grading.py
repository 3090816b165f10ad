"""Grade submissions: run them apart, judge what their functions return on cases that nobody has seen.

Nothing that a submission says about itself counts: neither its outputs, nor `right_1`, nor its own checks.
Its functions run in a process that has the students' package, which knows no answers; they are called there
on hidden cases, and only the numbers they return come back (`sandbox` says what such a process can do).
"""

import csv
import json
import re
import secrets
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from normint import course, paths
from normint.course.teaching import archive, sandbox, sitting
from normint.files.writing import write_atomically
from normint.workbook.notebook_files import read_notebook, source

# Pictures are not graded, and to load what draws them takes longer than all that is.
NO_FIGURES = b'"""No figures."""\n\n\ndef __getattr__(name):\n    return lambda *given, **options: None\n'
SHARE = 1 / 6  # of its time that a notebook may spend in one cell, or one call
LARGEST = 10**6  # numbers in an answer
WORDS = 300  # characters of what a submission may say


@dataclass(frozen=True)
class Marked:
    """A notebook that was graded.

    Attributes
    ----------
    file : str
    exercise : int
        0 if it is none, or cannot be read.
    verdicts : list
        For each task whether it is right, and the lines that say why.
    remarks : list of str
    """

    file: str
    exercise: int
    verdicts: list
    remarks: list

    @property
    def points(self):
        """Count the tasks that are right."""
        return sum(right for right, _ in self.verdicts)


def grade(folder, out, *, seed=None, limits=None):
    """Grade all submissions of a folder; write `grades.csv` and a page of feedback for each student.

    Parameters
    ----------
    folder : path
        With a folder of notebooks for each student, or one notebook with the student's name.
    out : path
    seed : int, optional
        Of the hidden cases; drawn by chance if not given, and written into the feedback.
    limits : Limits, optional

    Returns
    -------
    path
        Of the table.
    """
    students = submissions(folder)
    if not students:
        raise ValueError(f"{folder} has no notebooks; expected {folder}/<student>/*.ipynb or <student>.ipynb")
    out, seed = Path(out), secrets.randbits(32) if seed is None else seed
    (out / "feedback").mkdir(parents=True, exist_ok=True)
    rows = []
    with Examiner(seed, limits) as examiner:
        for student, files in students.items():
            marked = best(examiner.mark(file) for file in files)
            rows.append(_row(student, marked))
            with write_atomically(out / "feedback" / f"{student}.md") as temporary:
                temporary.write_text(feedback(student, marked, seed), encoding="utf-8")
    with write_atomically(out / "grades.csv") as temporary, open(temporary, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return out / "grades.csv"


def submissions(folder):
    """Return the notebooks of each student, by name."""
    found = {}
    for path in sorted(Path(folder).iterdir()):
        if path.is_dir() and not path.is_symlink():
            files = [file for file in sorted(path.rglob("*.ipynb")) if ".ipynb_checkpoints" not in file.parts]
            found |= {path.name: files} if files else {}
        elif path.suffix == ".ipynb":
            found[path.stem] = [path]
    return found


def best(marked):
    """Return of each exercise the notebook with most points; and all that are none."""
    kept, others = {}, []
    for one in marked:
        if not one.exercise:
            others.append(one)
        elif one.exercise not in kept or one.points > kept[one.exercise].points:
            kept[one.exercise] = one
    return [*(kept[number] for number in sorted(kept)), *others]


class Examiner:
    """Marks notebooks, all on the same hidden cases; its `with` block keeps the package they run with."""

    def __init__(self, seed, limits=None):
        self.seed, self.limits = seed, limits or sandbox.Limits()

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        for name, contents in archive.package().items():
            if not name.startswith("normint/workbook/figures/"):
                path = Path(self._folder.name, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(contents)
        Path(self._folder.name, "normint/workbook/figures.py").write_bytes(NO_FIGURES)
        Path(self._folder.name, "notebooks").mkdir()
        Path(self._folder.name, "pyproject.toml").touch()
        Path(self._folder.name, "sitting.py").write_bytes(Path(sitting.__file__).read_bytes())
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def mark(self, file):
        """Run a notebook and judge it."""
        try:
            cells = [source(cell) for cell in read_notebook(file)["cells"] if cell["cell_type"] == "code"]
        except (ValueError, OSError) as error:
            return Marked(file.name, 0, [], [_words(error)])
        number = exercise_of(cells)
        if not number:
            return Marked(file.name, 0, [], ["It defines no function that an exercise asks for."])
        asked = {"package": self._folder.name, "exercise": number, "cells": cells}
        asked |= {"seed": self.seed, "seconds": SHARE * self.limits.seconds}
        script, hidden = Path(self._folder.name, "sitting.py"), _secret_folders()
        sent, end = sandbox.run(script, json.dumps(asked), limits=self.limits, hidden=hidden)
        lines = [line for line in map(_parsed, sent.splitlines()) if line is not None]
        verdicts = [
            _verdict(task, task.cases(self.seed), [line for line in lines if line.get("task") == place], end)
            for place, task in enumerate(course.EXERCISES[number])
        ]
        return Marked(file.name, number, verdicts, _remarks(cells, number, lines, end))


def exercise_of(cells):
    """Return the exercise whose functions the cells define, or most of them; 0 if none."""
    defined = set(re.findall(r"(?m)^def (\w+)\(", "\n".join(cells)))
    shares = {
        number: sum(task.name in defined for task in tasks) / len(tasks)
        for number, tasks in course.EXERCISES.items()
    }
    number = max(shares, key=shares.__getitem__)
    return number if shares[number] else 0


def _secret_folders():
    """Return the folders of this repository that have answers in them; but Python itself must be seen."""
    folders = [paths.root() / name for name in ("normint", "notebooks", "tests", "build", ".git")]
    return [folder for folder in folders if not Path(sys.prefix).is_relative_to(folder)]


def _parsed(line):
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _verdict(task, cases, lines, end):
    """Judge the answers that came; what came otherwise is an answer to nothing."""
    told = {line["case"]: line for line in lines if isinstance(line.get("case"), str)}
    answers = {}
    for case in cases:
        if case not in told:
            return False, [f"there is no answer: {end or 'the program stopped before it came to it'}."]
        if "trouble" in told[case]:
            return False, [_words(told[case]["trouble"])]
        try:
            answers[case] = _arrays(told[case]["answer"], len(task.returns))
        except (KeyError, TypeError, ValueError, OverflowError, MemoryError):
            return False, ["what came back is no answer."]
    try:
        return task.verdict(cases, answers)
    except Exception as error:  # a judge may stumble over numbers that nobody thought of
        return False, [f"the result cannot be judged ({type(error).__name__})."]


def _arrays(parts, count):
    if len(parts) != count:
        raise ValueError
    arrays = []
    for shape, values in parts:
        if len(values) > LARGEST:
            raise ValueError
        arrays.append(np.array(values, dtype=float).reshape([int(length) for length in shape]))
    return tuple(arrays)


def _remarks(cells, number, lines, end):
    """Return what a teacher may want to look at."""
    remarks = [f"The run did not come to its end: {end}."] if end else []
    for line in lines:
        if "cell" in line:
            remarks.append(f"Code cell {_words(line['cell'])} stops: {_words(line.get('trouble'))}")
    for task in course.EXERCISES[number]:
        found = re.findall(rf"(?ms)^def {task.name}\(.*?(?=^\S|\Z)", "\n".join(cells))
        if re.search(r"\b(normint|course)\b", " ".join(found)):
            remarks.append(f"`{task.name}` uses the package itself.")
    return remarks


def _words(text):
    """Return a text of a submission in one line, without what a terminal or Markdown would obey."""
    text = " ".join(str(text).split())[:WORDS]
    return re.sub(r"([<>\[\]`*_\\|])", r"\\\1", "".join(c if c.isprintable() else "?" for c in text))


def _row(student, marked):
    """Return a line of the table: 1, 0, or nothing where no notebook was handed in."""
    row, total = {"student": student}, 0
    verdicts = {one.exercise: one for one in marked if one.exercise}
    for number, tasks in course.EXERCISES.items():
        for place, task in enumerate(tasks):
            name = f"{number}.{place + 1} {task.name}"
            row[name] = int(verdicts[number].verdicts[place][0]) if number in verdicts else ""
        total += verdicts[number].points if number in verdicts else 0
    remarks = [f"{one.file}: {remark}" for one in marked for remark in one.remarks]
    return row | {"total": total, "remarks": " ".join(remarks)}


def feedback(student, marked, seed):
    """Return a page for a student."""
    known = sum(len(course.EXERCISES[one.exercise]) for one in marked if one.exercise)
    lines = [
        f"# {_words(student)}",
        "",
        f"{sum(one.points for one in marked)} of {known} tasks are right.",
        "",
    ]
    for one in marked:
        title = f"Exercise {one.exercise}" if one.exercise else "Not graded"
        lines += [f"## {title}: {_words(one.file)}", ""]
        for (right, said), task in zip(one.verdicts, course.EXERCISES.get(one.exercise, ()), strict=True):
            lines += [f"- {'✓' if right else '✗'} `{task.name}`: {said[0]}"]
            lines += [f"  {line}" for line in said[1:]]
        lines += [*(f"- {remark}" for remark in one.remarks), ""]
    lines.append(f"Functions were tried on cases that are not those of the notebooks (seed {seed}).")
    return "\n".join(lines) + "\n"
