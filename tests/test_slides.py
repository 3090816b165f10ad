"""Slides: a page for each heading and each figure, in one file that needs nothing else."""

import re

import pytest

from normint import cli, paths
from normint.course.teaching import formulas, slides
from normint.workbook.notebook_files import read_notebook, source

NOTEBOOK = next((paths.root() / "notebooks").glob("01_*.ipynb"))


@pytest.fixture(scope="module")
def html():
    return slides.slides_of(read_notebook(NOTEBOOK))


def test_each_heading_and_each_figure_has_a_slide(html):
    cells = read_notebook(NOTEBOOK)["cells"]
    pictures = sum("image/png" in part.get("data", {}) for cell in cells for part in cell.get("outputs", []))
    assert html.count('<section class="figure">') == pictures > 0
    shown = {re.sub(r"<[^>]+>", "", title) for title in re.findall(r"(?s)<h[12][^>]*>(.*?)</h[12]>", html)}
    for cell in cells:
        if cell["cell_type"] == "markdown":
            for title in re.findall(r"(?m)^#{1,3} ([^$`*\n]+)$", source(cell)):
                assert any(title in one for one in shown), title


def test_nothing_is_loaded_from_elsewhere_and_mathjax_is_inside(html):
    loaded = re.findall(r"""(?:src|href)=["'](.{0,30})""", re.sub(r"(?s)<script>.*?</script>", "", html))
    assert loaded and all(address.startswith("data:image/png;base64,") for address in loaded)
    assert formulas.mathjax().read_text(encoding="utf-8")[:1000] in html


def test_a_slide_ends_with_a_whole_sentence():
    assert slides._short("It is so. Here is a table:\n\n| a |\n| - |") == "It is so."
    assert slides._short("It is so:\n\n$$x$$") == "It is so:\n\n$$x$$"
    assert slides._short("By A et al. (2022). B.") == "By A et al. (2022). B."


def test_a_slide_shows_the_beginning_of_a_list_and_no_code():
    assert slides._short("So:\n\n- One. More.\n- Two,\n  and so on.") == "So:\n\n- One.\n- Two,\n  and so on."
    assert slides._short("So.\n\n```\nx = 1\n\ny = 2\n```") == "So."


def test_words_below_a_figure_end_before_the_next_heading():
    cell = {"cell_type": "markdown", "source": "It falls.\n\n## Summary\n\nNext."}
    assert slides._words_after(cell) == "It falls."


def test_the_command_writes_a_page_and_where_a_browser_prints_a_pdf(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(slides, "BROWSERS", ())
    assert cli.main(["course", "slides", "01", "--out", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == [f"{NOTEBOOK.stem}.html"]
    assert "no Chromium" in capsys.readouterr().err
    assert cli.main(["course", "slides", "77", "--out", str(tmp_path)]) == 2


def test_a_pdf_has_a_page_for_each_slide(tmp_path, html):
    page = tmp_path / "slides.html"
    page.write_text(html, encoding="utf-8")
    printed = slides._printed(page)
    if not printed:
        pytest.skip("no browser")
    pages = len(re.findall(rb"/Type\s*/Page\b", printed[0].read_bytes()))
    assert pages == html.count("<section")
