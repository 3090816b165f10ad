"""The book: every notebook a page that needs nothing but its own folder, and lists that leave nothing out."""

import json
import re
import tomllib
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from book_build import ROOT, build

import normint
from normint.integration import METHODS
from normint.workbook.notebook_files import chapters, read_notebook, source
from normint.workbook.results import read

REPOSITORY = "https://github.com/you/normint"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
VIEW = {"data": [{"type": "surface", "z": [[1]]}], "layout": {"width": 700, "title": "</script><b>"}}


class Page(HTMLParser):
    """The tags of a page with their attributes, in order, and its text."""

    def __init__(self, path):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data

    def all(self, tag, attribute):
        return [found[attribute] for name, found in self.tags if name == tag and found.get(attribute)]

    @property
    def ids(self):
        return {found["id"] for _, found in self.tags if found.get("id")}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return build(tmp_path_factory.mktemp("book"), "-D", f"repository={REPOSITORY}")


@pytest.fixture(scope="module")
def pages(site):
    found = {path.relative_to(site).as_posix(): path for path in site.rglob("*.html")}
    return {name: Page(path) for name, path in found.items() if not name.startswith("_static/")}


def notebooks():
    folder = ROOT / "notebooks"
    return [path.relative_to(folder) for path in (*chapters(folder), *chapters(folder / "exercises"))]


@pytest.mark.slow
class TestBuilt:
    def test_every_notebook_is_a_page_and_no_solution_is(self, pages):
        shown = {name for name in pages if name.startswith("notebooks/")}
        assert shown == {f"notebooks/{path.with_suffix('.html').as_posix()}" for path in notebooks()}

    def test_the_story_is_told_in_order(self, pages):
        told = [path for path in notebooks() if len(path.parts) == 1]
        for before, after in zip(told, told[1:], strict=False):
            page = pages[f"notebooks/{before.with_suffix('.html')}"]
            (link,) = {found["href"] for tag, found in page.tags if "right-next" in found.get("class", "")}
            assert link == after.with_suffix(".html").name

    def test_nothing_is_loaded_from_elsewhere(self, pages):
        for name, page in pages.items():
            loaded = page.all("script", "src") + page.all("img", "src") + page.all("source", "src")
            loaded += [
                found["href"]
                for tag, found in page.tags
                if tag == "link" and "stylesheet" in found.get("rel", "")
            ]
            assert loaded and not [one for one in loaded if re.match(r"(\w+:)?//", one)], name

    def test_links_lead_somewhere(self, site, pages):
        for name, page in pages.items():
            for address in page.all("a", "href") + page.all("img", "src"):
                if re.match(r"[a-z]+:", address):
                    continue
                path, _, mark = address.partition("#")
                target = (
                    ((site / name).parent / unquote(path.partition("?")[0])).resolve()
                    if path
                    else site / name
                )
                assert target.is_file(), f"{name} leads to {address}"
                # Cells that the ledger names are held by tests of the ledger.
                if mark and target.suffix == ".html" and "11_statement" not in name:
                    there = pages[target.relative_to(site.resolve()).as_posix()] if path else page
                    assert unquote(mark) in there.ids, f"{name} leads to {address}"

    def test_pages_are_small(self, site, pages):
        assert max((site / name).stat().st_size for name in pages) < 3e6

    def test_every_picture_says_what_is_seen(self, pages):
        for name, page in pages.items():
            for tag, found in page.tags:
                if tag == "img":
                    assert len(found.get("alt", "")) > 15 and "<" not in found["alt"], f"{name}: {found}"

    def test_buttons_open_a_notebook_where_it_runs(self, pages):
        links = pages["notebooks/exercises/01_discretise.html"].all("a", "href")
        assert "http://localhost:8888/lab/tree/exercises/01_discretise.ipynb" in links
        path = "notebooks/exercises/01_discretise.ipynb"
        assert f"https://mybinder.org/v2/gh/you/normint/main?urlpath=lab/tree/{path}" in links
        assert f"https://colab.research.google.com/github/you/normint/blob/main/{path}" in links
        assert not [link for link in pages["index.html"].all("a", "href") if "mybinder" in link]

    def test_a_notebook_is_downloaded_as_committed(self, site):
        assert (site / "_sources/notebooks/02_peaks.ipynb").read_bytes() == (
            ROOT / "notebooks/02_peaks.ipynb"
        ).read_bytes()

    def test_the_reference_has_every_method_and_every_public_name(self, pages):
        page = pages["reference/methods.html"]
        for method in METHODS.values():
            assert f"{method.function.__module__}.{method.function.__name__}" in page.ids
        assert page.text.count("When to use it") == len(METHODS)
        functions = [name for name in normint.__all__ if callable(getattr(normint, name))]
        assert {f"normint.{name}" for name in functions} <= pages["reference/package.html"].ids

    def test_the_results_are_those_of_the_file(self, pages):
        rows = read(ROOT / "figures")
        for row in rows:
            if row["data"] == "generated":
                assert row["ours"] in pages["results.html"].text
        assert len(rows) > 100

    def test_the_gallery_has_every_published_figure(self, pages):
        links = pages["gallery.html"].all("a", "href")
        published = {path.name for path in (ROOT / "figures").glob("*.png") if "stand-in" not in path.name}
        assert published == {link.removeprefix("figures/") for link in links if link.startswith("figures/")}


def test_descriptions_are_of_pictures_that_there_are():
    described = set(tomllib.loads((ROOT / "docs" / "figures.toml").read_text(encoding="utf-8")))
    cells = [cell for path in notebooks() for cell in read_notebook(ROOT / "notebooks" / path)["cells"]]
    saved = {name for cell in cells for name in re.findall(r'save\(\w+, "(\w+)"', source(cell))}
    assert described <= saved | {cell["id"] for cell in cells}


class TestPrepared:
    """A notebook's cells, before Sphinx reads them."""

    @pytest.fixture
    def prepared(self, monkeypatch):
        monkeypatch.syspath_prepend(ROOT / "docs")
        from book.notebooks import prepared

        def prepare(*outputs, text="x"):
            cell = {
                "id": "01-02",
                "cell_type": "code",
                "metadata": {},
                "source": text,
                "outputs": list(outputs),
            }
            return prepared(cell, "notebooks/01_x")

        return prepare

    def test_a_view_cannot_end_its_script_early(self, prepared):
        _, cell = prepared({"data": {"application/vnd.plotly.v1+json": VIEW}})
        html = cell["outputs"][0]["data"]["text/html"]
        script = re.search(r"<script[^>]*>(.*?)</script>", html, flags=re.S)[1]
        found = json.loads(script)
        assert found["data"] == VIEW["data"] and found["layout"] == {"title": "</script><b>"}
        assert "beside" in cell["metadata"]["tags"]

    def test_a_cell_has_a_mark_that_links_lead_to(self, prepared):
        mark, _ = prepared()
        assert 'id="01-02"' in mark["source"]

    def test_a_picture_takes_its_description_from_the_list_or_from_its_words(self, prepared):
        panel = {"data": {"image/png": PIXEL, "text/plain": "mask: 138 pixels in 1 piece"}}
        figure = {"data": {"image/png": PIXEL, "text/plain": "<Figure size 1x1>"}}

        def described(output, text=""):
            return prepared(output, text=text)[1]["metadata"]["mystnb"]["image"]["alt"]

        assert described(panel) == "mask: 138 pixels in 1 piece"
        assert "vase" in described(figure, 'figures.save(fig, "own_vase")')
        assert described(figure) == ""  # which `prepared` warns of, and that ends the build
