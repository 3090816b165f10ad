"""The course of nbgrader: what it takes out is the answers, and what it grades are the checks."""

import re

import pytest
from course_notebooks import NAMES, cells

from normint import cli, course
from normint.workbook.notebook_files import read_notebook, source, tags


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "course"
    assert cli.main(["course", "export", str(folder)]) == 0
    return folder


def cleared(text):
    """Return a cell as nbgrader hands it out."""
    stub = r'\1raise NotImplementedError("your code here")'
    text = re.sub(r"(?s)( *)### BEGIN SOLUTION.*### END SOLUTION", stub, text)
    return re.sub(r"(?s)\n### BEGIN HIDDEN TESTS.*### END HIDDEN TESTS", "", text)


@pytest.mark.parametrize("name", NAMES)
def test_without_what_nbgrader_takes_out_it_is_the_skeleton(exported, name):
    notebook = read_notebook(exported / "source" / f"ex{name[:2]}" / f"{name}.ipynb")
    points = 0
    for cell, given in zip(notebook["cells"], cells(name), strict=True):
        marks = cell["metadata"].get("nbgrader", {})
        assert bool(marks) == bool({"task", "check"} & set(tags(given)))
        assert not marks.get("grade") or marks["locked"]
        points += marks.get("points", 0)
        if cell["cell_type"] == "code":
            assert cleared(source(cell)) == source(given).rstrip("\n") and cell["outputs"] == []
            assert not marks.get("solution") or source(given) != source(cell)
    assert points == len(course.EXERCISES[int(name[:2])])


def test_a_folder_with_something_in_it_is_left_alone(exported, capsys):
    assert cli.main(["course", "export", str(exported)]) == 2
    assert "is not empty" in capsys.readouterr().err
