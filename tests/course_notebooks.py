"""Read the notebooks of the course, and run their code in this process."""

from normint import paths
from normint.workbook.notebook_files import read_notebook, source, tags

FOLDER = paths.root() / "notebooks" / "exercises"
NAMES = sorted(path.stem for path in FOLDER.glob("[0-9][0-9]_*.ipynb"))


def cells(name, folder=FOLDER):
    """Return the cells of an exercise, or of its solution."""
    return read_notebook(folder / f"{name}.ipynb")["cells"]


def solution(name):
    """Return the cells of a solution."""
    return cells(name, FOLDER / "solutions")


def namespace_of(notebook, old="", new="", until=None):
    """Run the code cells up to the last check, or to the cell of the id `until`, and return what they define.

    In the task cells, the text `old` is replaced by `new`: this is how tests make a mistake.
    """
    ends = [cell["id"] == until if until else "check" in tags(cell) for cell in notebook]
    last = max(number for number, end in enumerate(ends) if end)
    names = {"display": lambda figure: None}
    for cell in notebook[: last + 1]:
        if cell["cell_type"] == "code":
            text = source(cell).replace("%matplotlib inline", "")
            if old and "task" in tags(cell):
                text = text.replace(old, new)
            exec(compile(text, "<cell>", "exec"), names)
    return names
