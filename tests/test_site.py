"""The site: every notebook a page that needs nothing but its own folder."""

import json
import re

import pytest

from normint.notebook_files import write_notebook
from normint.site import build
from normint.site.pages import PLOTLY, markdown_body, notebook_body, page

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="


def cell(text, outputs=None):
    kind = "markdown" if outputs is None else "code"
    found = {"cell_type": kind, "id": f"c{abs(hash(text)) % 10**6}", "metadata": {}, "source": text}
    return found if outputs is None else found | {"outputs": outputs, "execution_count": 1}


def shown(**data):
    mime = {name.replace("_", "/"): value for name, value in data.items()}
    return {"output_type": "display_data", "metadata": {}, "data": mime}


def notebook(*cells):
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def root(tmp_path):
    """Return a small repository: two notebooks, an exercise with its solution, two figures."""
    folder = tmp_path / "repository"
    (folder / "notebooks" / "exercises" / "solutions").mkdir(parents=True)
    (folder / "figures").mkdir()
    first = notebook(
        cell("# 01 · One\n\n*Section 1.*\n\nLet $a_1 < b$. [two](02_two.ipynb), [code](../normint/x.py)."),
        cell("print(1)", [shown(image_png=PIXEL)]),
    )
    view = {PLOTLY: {"data": [{"type": "surface", "z": [[1]]}], "layout": {}}}
    second = notebook(cell("# 02 \u00b7 Two"), cell("view", [shown() | {"data": view}]))
    write_notebook(first, folder / "notebooks" / "01_one.ipynb")
    write_notebook(second, folder / "notebooks" / "02_two.ipynb")
    exercise = notebook(cell("# Exercise 1"), cell("...", []))
    write_notebook(exercise, folder / "notebooks" / "exercises" / "1_first.ipynb")
    solution = notebook(cell("# Exercise 1"), cell("secret = 42", []))
    write_notebook(solution, folder / "notebooks" / "exercises" / "solutions" / "1_first.ipynb")
    for name in ("fig01_one.png", "fig10_cat_stand-in.png"):
        (folder / "figures" / name).write_bytes(b"png")
    (folder / "README.md").write_text("# normint\n\n**A tagline.**\n")
    return folder


def test_every_notebook_and_exercise_is_a_page_and_no_solution_is(root):
    index = build(root=root)
    names = {path.relative_to(index.parent).as_posix() for path in index.parent.rglob("*.*")}
    assert names == {"index.html", "01_one.html", "02_two.html", "exercises/1_first.html", "style.css",
                     "figures/fig01_one.png", "plotly.min.js"}  # fmt: skip
    assert not any("secret" in path.read_text() for path in index.parent.rglob("*.html"))
    text = index.read_text()
    assert "A tagline." in text and "figures/fig01_one.png" in text and "exercises/1_first.html" in text


def test_nothing_is_loaded_from_elsewhere(root):
    folder = build(root=root).parent
    for path in [*folder.rglob("*.html"), folder / "style.css"]:
        for address in re.findall(r"(?:src|href)=[\"']([^\"']+)|url\(([^)]+)\)", path.read_text()):
            address = address[0] or address[1]
            if address.startswith("data:"):
                continue
            assert not re.match(r"(https?:)?//", address), f"{path.name} loads {address}"
            assert (path.parent / address).exists(), f"{path.name} leads to {address}"


def test_links_between_notebooks_lead_to_pages_and_others_become_text(root):
    text = (build(root=root).parent / "01_one.html").read_text()
    assert '<a href="02_two.html">two</a>' in text
    assert "x.py" not in text and "code" in text


def test_an_executed_notebook_takes_the_place_of_the_committed_one(root):
    executed = notebook(cell("# 01 \u00b7 One"), cell("print(2)", [shown(text_plain="fresh")]))
    write_notebook(executed, root / "build" / "workbook" / "01_one.ipynb")
    assert "fresh" in (build(root=root).parent / "01_one.html").read_text()


def test_an_old_site_is_replaced_as_a_whole(root, tmp_path):
    out = tmp_path / "site"
    (build(out, root=root).parent / "stale.html").write_text("old")
    (root / "notebooks" / "02_two.ipynb").unlink()
    build(out, root=root)
    assert not (out / "stale.html").exists() and not (out / "02_two.html").exists()
    assert not list(tmp_path.glob(".site-*"))


def test_a_site_that_cannot_be_built_leaves_the_old_one(root, tmp_path):
    out = tmp_path / "site"
    before = build(out, root=root).read_text()
    (root / "notebooks" / "02_two.ipynb").write_text("{")
    with pytest.raises(ValueError, match="02_two.ipynb is not a readable notebook"):
        build(out, root=root)
    assert (out / "index.html").read_text() == before
    assert not list(tmp_path.glob(".site-*"))


def test_a_folder_with_something_else_is_not_touched(root, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="holds something else than a site"):
        build(tmp_path / "mine", root=root)
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "years of work"


class TestFormulas:
    def test_become_mathml(self):
        text = page("t", markdown_body("inline $a_1 < b$ and $$\\frac{1}{2}$$"), targets={})
        assert text.count("<math") == 2 and "<mfrac>" in text and "$" not in text
        assert "&lt;" in text.split("<math")[1]

    def test_code_is_left_alone(self):
        text = page("t", markdown_body("run `echo $HOME and $PATH` for $5"), targets={})
        assert "$HOME and $PATH" in text and "<math" not in text


VIEW = {"data": [{"type": "surface", "z": [[1]]}], "layout": {}}


@pytest.mark.parametrize(
    "outputs",
    [
        [shown(image_png=PIXEL), shown() | {"data": {PLOTLY: VIEW}}],
        [shown() | {"data": {PLOTLY: VIEW, "image/png": PIXEL, "text/plain": "a surface"}}],
    ],
    ids=["two outputs", "one output"],
)
def test_a_picture_and_its_view_stand_side_by_side(outputs):
    text = notebook_body(notebook(cell("panel", [shown(text_plain="before"), *outputs])))
    beside = text.split('<div class="beside">')[1]
    assert "before" in text
    assert text.count(PIXEL) == beside.count(PIXEL) == 1
    assert text.count("Plotly.newPlot") == beside.count("Plotly.newPlot") == 1


def test_a_view_without_a_picture_stands_alone():
    outputs = [shown(image_png=PIXEL), shown(text_plain="7"), shown() | {"data": {PLOTLY: VIEW}}]
    text = notebook_body(notebook(cell("panel", outputs)))
    assert text.count(PIXEL) == text.count("Plotly.newPlot") == 1
    assert "beside" not in text


def test_a_view_cannot_end_its_script_early():
    trap = {"data": [{"name": "</script><b>"}], "layout": {}}
    text = notebook_body(notebook(cell("view", [shown() | {"data": {PLOTLY: trap}}])))
    script = re.search(r"<script>Plotly.newPlot\((.*?)\);</script>", text, flags=re.S)[1]
    assert "</script>" not in script
    data = script.split(", ", 1)[1].rsplit(", {}, ", 1)[0]
    assert json.loads(data)[0]["name"] == "</script><b>"
