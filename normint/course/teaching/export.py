"""The exercises as a course of nbgrader: solutions and verdicts marked so that it can take them out.

Each exercise becomes `source/exNN/NN_name.ipynb`. `nbgrader generate_assignment` makes the students' version
of it, in which the body of each task is missing; `nbgrader autograde` gives a point for each right check.
nbgrader runs submissions as they are: it does not hide answers, nor limit what a notebook does. `grade` does.
"""

from pathlib import Path

from normint import course
from normint.course.teaching import archive
from normint.workbook.notebook_files import read_notebook, source, tags, write_notebook

CONFIG = """c = get_config()
c.CourseDirectory.course_id = "normint"
c.ClearSolutions.code_stub = {"python": 'raise NotImplementedError("your code here")'}
"""


def export(out):
    """Write the folder of a course for nbgrader, and return it."""
    out = Path(out)
    if out.exists() and any(out.iterdir()):
        raise ValueError(f"{out} is not empty; expected a new folder")
    for path in sorted((archive.exercises() / "solutions").glob("[0-9][0-9]_*.ipynb")):
        notebook = read_notebook(path)
        count = 0
        skeleton = read_notebook(archive.exercises() / path.name)
        for cell, given in zip(notebook["cells"], skeleton["cells"], strict=True):
            cell["source"] = archive.ABOUT_SOLUTIONS.sub("", source(cell)).splitlines(keepends=True)
            if "outputs" in cell:
                cell.update(outputs=[], execution_count=None)
            if "task" in tags(cell):
                _mark(cell, _solution(source(cell), source(given)), solution=True)
            elif "check" in tags(cell):
                count += 1
                hidden = f"### BEGIN HIDDEN TESTS\nassert right_{count}\n### END HIDDEN TESTS"
                _mark(cell, f"{source(cell)}\n{hidden}", grade=True, locked=True, points=1)
        assert count == len(course.EXERCISES[int(path.name[:2])])
        target = out / "source" / f"ex{path.name[:2]}" / path.name
        target.parent.mkdir(parents=True)
        write_notebook(notebook, target)
    (out / "nbgrader_config.py").write_text(CONFIG)
    return out


def _solution(answer, skeleton):
    """Return a task cell with its body between the marks that nbgrader looks for."""
    head = skeleton.split("    raise NotImplementedError")[0]
    body = answer.removeprefix(head).rstrip("\n")
    return f"{head}    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"


def _mark(cell, text, *, solution=False, grade=False, locked=False, points=None):
    cell["source"] = text.splitlines(keepends=True)
    marks = {"schema_version": 3, "grade_id": cell["id"], "task": False}
    marks |= {"solution": solution, "grade": grade, "locked": locked} | ({"points": points} if points else {})
    cell["metadata"]["nbgrader"] = marks
