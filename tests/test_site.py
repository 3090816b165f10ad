"""The site: every notebook a page that needs nothing but its own folder."""

import json
import os
import re
import subprocess
import sys
from urllib.parse import unquote

import pytest
from bs4 import BeautifulSoup

from normint.workbook import results
from normint.workbook.notebook_files import write_notebook
from normint.workbook.site import build
from normint.workbook.site.pages import PLOTLY, markdown_body, notebook_body, page

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
                     "figures/fig01_one.png", "plotly.min.js", "site.json"}  # fmt: skip
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
    assert (build(out, root=root).parent / "02_two.html").exists()
    (root / "notebooks" / "02_two.ipynb").unlink()
    build(out, root=root)
    assert not (out / "02_two.html").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["repository", "site"]


def test_a_site_that_cannot_be_built_leaves_the_old_one(root, tmp_path):
    out = tmp_path / "site"
    before = build(out, root=root).read_text()
    (root / "notebooks" / "02_two.ipynb").write_text("{")
    with pytest.raises(ValueError, match="02_two.ipynb is not a readable notebook"):
        build(out, root=root)
    assert (out / "index.html").read_text() == before
    assert not list(tmp_path.glob(".site-*"))


def assert_untouched(folder, root, match):
    """Check that a folder is refused, and left as it is."""

    def contents():
        return {path: path.is_file() and path.read_bytes() for path in folder.parent.rglob("*")}

    before = contents()
    with pytest.raises(ValueError, match=match):
        build(folder, root=root)
    assert contents() == before


@pytest.mark.parametrize(
    "manifest", [None, "{}", "[]", "{", '{"normint site": {}}', '{"normint site": {"../x": ""}}']
)
def test_a_folder_with_something_else_is_not_touched(root, tmp_path, manifest):
    for name in ("index.html", "thesis.tex"):
        (tmp_path / "mine").mkdir(exist_ok=True)
        (tmp_path / "mine" / name).write_text("years of work")
    if manifest is not None:
        (tmp_path / "mine" / "site.json").write_text(manifest)
    assert_untouched(tmp_path / "mine", root, r"index\.html is not as normint wrote it; move it away")


def add_folder(out):
    (out / "figures" / "mine").mkdir()


def add_pipe(out):
    os.mkfifo(out / "pipe")


def change_page(out):
    (out / "index.html").write_text("mine")


def change_page_to_a_link(out):
    (out / "01_one.html").rename(out.parent / "aside")
    (out / "01_one.html").symlink_to(out.parent / "aside")


def change_figure_to_a_pipe(out):
    (out / "figures" / "fig01_one.png").unlink()
    os.mkfifo(out / "figures" / "fig01_one.png")


@pytest.mark.parametrize(
    "change", [add_folder, add_pipe, change_page, change_page_to_a_link, change_figure_to_a_pipe]
)
def test_a_site_with_something_else_in_it_is_not_touched(root, tmp_path, change):
    change(build(tmp_path / "site", root=root).parent)
    assert_untouched(tmp_path / "site", root, "is not as normint wrote it; move it away")


def test_a_link_to_a_folder_is_not_touched(root, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    with pytest.raises(ValueError, match="link, which is not a folder"):
        build(tmp_path / "link", root=root)
    assert (tmp_path / "link").is_symlink() and not list((tmp_path / "mine").iterdir())


def test_what_a_killed_process_left_is_removed(root, tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for kind in ("tmp", "old"):
        (tmp_path / f".site.{kind}-{dead.pid}-{16 * '0'}").mkdir()
    build(tmp_path / "site", root=root)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["repository", "site"]


def test_names_and_results_are_shown_not_obeyed(root):
    trap = "<img src=x onerror=alert(1)>"
    write_notebook(notebook(cell(f"# 01 {trap}\n\nFirst {trap}")), root / "notebooks" / "01_one.ipynb")
    (root / "figures" / f"fig02_'{trap}.png").write_bytes(b"png")
    row = dict.fromkeys(results.COLUMNS, "1") | {"case": trap, "metric": "[x](javascript:alert(1))"}
    row["data"] = "generated"
    lines = [",".join(results.COLUMNS), ",".join(row.values())]
    (root / "figures" / "results.csv").write_text("\n".join(lines))
    index = build(root=root).read_text()
    soup = BeautifulSoup(index, "html.parser")
    assert not soup.find_all(onerror=True) and "javascript" not in str(soup.find_all("a"))
    assert soup.get_text().count(trap) == 4  # a title, a paragraph, a figure, a result
    for image in soup.find_all("img"):
        assert (root / "build" / "site" / unquote(image["src"])).is_file()


def test_a_pipe_is_not_waited_for(root):
    os.mkfifo(root / "notebooks" / "04_pipe.ipynb")
    with pytest.raises(ValueError, match="04_pipe.ipynb is not a plain file"):
        build(root=root)


def test_a_notebook_without_cells_is_a_page(root):
    write_notebook(notebook(), root / "notebooks" / "01_one.ipynb")
    assert "untitled" in build(root=root).read_text()


def test_a_notebook_that_cannot_be_shown_is_named(root):
    write_notebook(
        notebook({"cell_type": "markdown", "source": 7, "metadata": {}}), root / "notebooks" / "03_x.ipynb"
    )
    with pytest.raises(ValueError, match="03_x.ipynb is not a readable notebook"):
        build(root=root)


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
