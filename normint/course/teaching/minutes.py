"""How long the exercises should take: counted from the notebooks by one rule, not measured on a class."""

import re
from dataclasses import dataclass

from normint.course.teaching import archive
from normint.workbook.notebook_files import read_notebook, source

WORDS = 150  # read in a minute: half the pace of a novel, since there is mathematics in between
FIGURE = 5  # minutes to look at one, and to talk about it
STEP = 15  # minutes: a syllabus needs no more


@dataclass(frozen=True)
class Estimate:
    """The minutes of an exercise: to read it, for its tasks as their headings say, and for its figures."""

    title: str
    reading: float
    tasks: int
    figures: int

    @property
    def whole(self):
        """The sum, to the nearest quarter of an hour."""
        return STEP * round((self.reading + self.tasks + self.figures) / STEP)


def estimates():
    """Return the estimate of each exercise, in their order."""
    return [_estimate(path) for path in sorted(archive.exercises().glob("[0-9][0-9]_*.ipynb"))]


def table():
    """Return the estimates as a Markdown table, which the page for teachers shows."""
    lines = ["| exercise | reading | tasks | figures | together |", "| --- " * 5 + "|"]
    lines += [
        f"| {one.title} | {one.reading:.0f} | {one.tasks} | {one.figures} | {one.whole} |"
        for one in estimates()
    ]
    return "\n".join(lines)


def _estimate(path):
    text = "\n".join(source(cell) for cell in read_notebook(path)["cells"] if cell["cell_type"] == "markdown")
    words = re.findall(r"\w+", re.sub(r"(?s)\$\$.*?\$\$|\$[^$]+\$|<[^>]+>", " x ", text))
    tasks = re.findall(r"(?m)^## Task \d+.* · (\d+) minutes$", text)
    solved = read_notebook(path.parent / "solutions" / path.name)["cells"]
    outputs = [output for cell in solved for output in cell.get("outputs", [])]
    pictures = sum("image/png" in output.get("data", {}) for output in outputs)
    title = re.search(r"(?m)^# Exercise (.+)$", text)[1]
    return Estimate(title, len(words) / WORDS, sum(map(int, tasks)), FIGURE * pictures)
