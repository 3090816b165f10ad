"""Slides in a real browser: formulas are drawn, and nothing is cut off."""

import pytest

from browser.lab import ARTEFACTS
from normint import paths
from normint.course.teaching import slides
from normint.workbook.notebook_files import read_notebook

NOTEBOOKS = sorted((paths.root() / "notebooks").glob("[0-9][0-9]_*.ipynb"))
CUT_OFF = (
    "[...document.querySelectorAll('section')].filter(s => s.scrollHeight > s.clientHeight + 1"
    " || s.scrollWidth > s.clientWidth + 1).map(s => s.innerText.slice(0, 40))"
)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_formulas_are_drawn_and_all_fits(browser, tmp_path, notebook):
    path = tmp_path / "slides.html"
    path.write_text(slides.slides_of(read_notebook(notebook)), encoding="utf-8")
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    context = browser.new_context(viewport={"width": 1280, "height": 720}, offline=True)
    try:
        page = context.new_page()
        page.goto(path.as_uri())
        page.evaluate("MathJax.startup.promise.then(() => null)")
        page.screenshot(path=ARTEFACTS / f"slides_{notebook.stem[:2]}.png")
        assert page.evaluate(CUT_OFF) == []
        assert "$" not in page.inner_text("body")
        assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    finally:
        context.close()
