"""What the real data gave is shown where a notebook had none, and only there."""

import io
import re

import pytest
from PIL import Image

from normint import paths
from normint.workbook.notebook_files import read_notebook, source
from normint.workbook.published import SHRINK, published, real_rows


def row(case, ours, *, figure="fig10", metric="MAE (deg)", paper="", data="real", verdict="new"):
    return {"figure": figure, "case": case, "metric": metric, "paper": paper, "ours": ours, "data": data,
            "verdict": verdict}  # fmt: skip


ROWS = [
    row("diffusion, sigma=0%", "8.1", paper="8.43", verdict="reproduced within 0.25"),
    row("diffusion, sigma=5%", "8.2"),
    row("least | squares, sigma=5%", "9.2"),
    row("diffusion, sigma=5%", "11.5", data="stand-in"),
    row("diffusion, sigma=5%", "7.7", figure="fig11"),
]


def cells(table):
    """Return the cells of a Markdown table, row by row, without the line below the headings."""
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines()]
    return [[cell.strip() for cell in line] for line in lines[:1] + lines[2:]]


def test_rows_are_those_of_the_figure_and_of_real_data():
    assert cells(real_rows("fig10", rows=ROWS)) == [
        ["", "measured", "real data", "the paper", "verdict"],
        ["diffusion, sigma=0%", "MAE (deg)", "8.1", "8.43", "reproduced within 0.25"],
        ["diffusion, sigma=5%", "MAE (deg)", "8.2", "", ""],
        ["least \\| squares, sigma=5%", "MAE (deg)", "9.2", "", ""],
    ]


def test_without_a_number_of_the_paper_there_is_no_verdict():
    table = real_rows("fig10", cases=".*5%", rows=ROWS)
    assert cells(table)[0] == ["", "measured", "real data"] and "8.1" not in table


def test_the_last_part_of_a_case_becomes_a_column():
    assert cells(real_rows("fig10", across=True, rows=ROWS)) == [
        ["MAE (deg)", "sigma=0%", "sigma=5%"],
        ["diffusion", "8.1", "8.2"],
        ["least \\| squares", "", "9.2"],
    ]


def test_rows_that_are_not_there_are_named():
    with pytest.raises(ValueError, match=r"no real row of fig10 whose case is Sylvester"):
        real_rows("fig10", cases="Sylvester", rows=ROWS)


@pytest.fixture
def shown(monkeypatch):
    """Return the list of what is displayed from now on."""
    outputs = []
    monkeypatch.setattr("IPython.display.display", outputs.append)
    return outputs


def test_a_run_with_the_real_data_shows_nothing(shown, capsys):
    published("real", "fig10_cat", rows="fig10")
    assert (shown, capsys.readouterr().out) == ([], "")


def test_a_run_with_stand_ins_shows_the_published_figure_and_its_rows(shown):
    published("stand-in", "fig10_cat", rows="fig10", cases="diffusion")
    first, picture, table = shown
    assert "(../figures/fig10_cat.png)" in first.data
    assert table.data == real_rows("fig10", cases="diffusion")
    with Image.open(paths.root() / "figures" / "fig10_cat.png") as whole:
        small = Image.open(io.BytesIO(picture.data))
        assert small.width / whole.width == pytest.approx(SHRINK, rel=0.01)
        assert small.height / whole.height == pytest.approx(SHRINK, rel=0.01)
    assert len(picture.data) < 200_000


def test_every_figure_of_real_data_is_shown_in_the_notebook_that_makes_it():
    calls = {}
    for path in (paths.root() / "notebooks").glob("[0-9][0-9]_*.ipynb"):
        text = "\n".join(source(cell) for cell in read_notebook(path)["cells"])
        made = set(re.findall(r'save\(\w+, "(\w+)", data=', text))
        calls[path.stem] = made, set(re.findall(r'published\([^"]+, "(\w+)"', text))
    for name, (made, shown) in calls.items():
        there = {figure for figure in made if (paths.root() / "figures" / f"{figure}.png").is_file()}
        assert there == shown, name
