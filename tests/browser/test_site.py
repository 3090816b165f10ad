"""The book in a real browser without a network: nothing missing, nothing too wide, formulas drawn."""

import pytest
from book_build import build

from browser.lab import ARTEFACTS

WIDTHS = {"desk": 1300, "phone": 390}
# Where the reader of the last view stands.
EYE = (
    "JSON.stringify([...document.querySelectorAll('.view-box')].at(-1)"
    "._fullLayout.scene._scene.getCamera().eye)"
)
WITH_VIEW = ["01_three_by_three", "02_peaks", "07_peppers", "09_your_own_normals"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the book, made from the notebooks as committed."""
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    return build(tmp_path_factory.mktemp("book"))


@pytest.fixture
def read(browser, site):
    """Return a function that opens a page without a network and returns it with what went wrong."""
    contexts = []

    def open_it(name, device="desk", colours="light", query=""):
        context = browser.new_context(
            viewport={"width": WIDTHS[device], "height": 900},
            offline=True, color_scheme=colours, has_touch=device == "phone",
        )  # fmt: skip
        contexts.append(context)
        page, wrong = context.new_page(), []
        page.on("requestfailed", lambda request: wrong.append(request.url))
        page.on("request", lambda one: one.url.startswith(("file:", "data:")) or wrong.append(one.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.goto((site / name).as_uri() + query)
        page.wait_for_load_state()
        if page.evaluate("!!document.querySelector('.math')"):
            page.wait_for_function("window.MathJax?.startup?.promise")
            page.evaluate("MathJax.startup.promise.then(() => null)")
        return page, wrong

    yield open_it
    for context in contexts:
        context.close()


@pytest.mark.parametrize("device", WIDTHS)
def test_every_page_is_whole_and_fits(read, site, device):
    found = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    names = [name for name in found if not name.startswith("_static/")]  # the theme's own templates
    assert {"index.html", "gallery.html", "search.html", "reference/methods.html"} < set(names)
    assert len(names) > 30
    for name in names:
        page, wrong = read(name, device)
        assert not wrong, f"{name}: {wrong}"
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= WIDTHS[device] + 1, f"{name} is {wide} wide on the {device}"
        broken = page.evaluate("[...document.images].filter(i => i.complete && !i.naturalWidth).length")
        assert broken == 0, f"{name} has {broken} images that cannot be drawn"
        if name in ("index.html", "notebooks/08_priors.html", "gallery.html", "reference/methods.html"):
            page.screenshot(path=ARTEFACTS / f"site_{name.split('/')[-1].removesuffix('.html')}_{device}.png")
        page.context.close()


@pytest.mark.parametrize("name", ["index", "notebooks/02_peaks", "gallery"])
def test_the_dark_is_dark(read, name):
    page, wrong = read(f"{name}.html", colours="dark")
    page.screenshot(path=ARTEFACTS / f"site_{name.split('/')[-1]}_dark.png")
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, colour.strip("rgb()").split(","))) < 150
    assert not wrong


def test_formulas_are_drawn_and_bold_letters_are_bold(read):
    page, _ = read("notebooks/01_three_by_three.html")
    sizes = page.evaluate(
        "[...document.querySelectorAll('mjx-container > svg')].map(m => m.getBoundingClientRect().height)"
    )
    assert len(sizes) > 5 and min(sizes) > 5
    # MathJax draws a letter as the outline that stands for its code point: 𝐳 is another than 𝑧.
    shown = page.evaluate("[...document.querySelectorAll('mjx-container [data-c]')].map(m => m.dataset.c)")
    assert {"1D433", "1D467"} <= set(shown)  # 𝐳 and 𝑧
    text = page.inner_text("main")
    assert "$" not in text.replace("$HOME", "") and "\\(" not in text


def test_the_search_finds_a_word(read):
    page, wrong = read("search.html", query="?q=Mumford")
    page.locator("#search-results li a").first.wait_for(timeout=60_000)
    found = page.locator("#search-results li a").all_inner_texts()
    page.screenshot(path=ARTEFACTS / "site_search.png")
    assert any("discontinuities" in text or "weights that look" in text for text in found), found
    assert not wrong


@pytest.mark.parametrize(("word", "shown"), [("Mumford", "mumford"), ("jumping", "jump"), ("over_seeds", "")])
def test_the_search_shows_where_the_word_stands(read, word, shown):
    """Also of a word in another form, and of one that stands only in code."""
    page, wrong = read("search.html", query=f"?q={word}")
    page.locator("#search-results li p.context").first.wait_for(timeout=60_000)
    page.locator(".search-summary", has_text="found").wait_for(timeout=60_000)
    lines = page.locator("#search-results li p.context").all_inner_texts()
    there = [line for line in lines if (shown or word) in line.lower()]
    assert len(there) > len(lines) / 2 and max(map(len, lines)) < 220
    assert "$" not in "".join(lines) and not wrong


@pytest.mark.parametrize("device", WIDTHS)
@pytest.mark.parametrize("name", WITH_VIEW)
def test_a_picture_stands_beside_a_surface_that_can_be_turned(read, name, device):
    page, wrong = read(f"notebooks/{name}.html", device)
    view = _drawn_view(page)
    page.screenshot(path=ARTEFACTS / f"site_{name}_{device}.png")
    pair = page.locator(".tag_beside").last
    picture, place = pair.locator("img").bounding_box(), view.bounding_box()
    assert min(picture["width"], place["width"]) > 300
    if device == "phone":
        assert place["y"] >= picture["y"] + picture["height"]
    else:
        assert place["x"] >= picture["x"] + picture["width"]
    before = page.evaluate(EYE)
    x, y = _middle(view)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 80, y + 20, steps=5)
    page.mouse.up()
    page.wait_for_function(f"before => {EYE} !== before", arg=before, timeout=60_000)
    assert not wrong


def test_the_page_scrolls_over_a_view_until_it_is_clicked(read):
    page, _ = read("notebooks/02_peaks.html")
    view = _drawn_view(page)
    page.mouse.move(*_middle(view))
    eye, top = page.evaluate(EYE), page.evaluate("scrollY")
    page.mouse.wheel(0, -120)
    page.wait_for_function("top => scrollY < top", arg=top)
    assert page.evaluate(EYE) == eye
    view.scroll_into_view_if_needed()
    page.mouse.click(*_middle(view))
    top = page.evaluate("scrollY")
    page.mouse.wheel(0, -120)
    page.wait_for_function(f"before => {EYE} !== before", arg=eye, timeout=60_000)
    assert page.evaluate("scrollY") == top


def _drawn_view(page):
    view = page.locator(".view").last
    view.scroll_into_view_if_needed()
    page.locator(".view[data-drawn]").last.wait_for(timeout=60_000)
    view.scroll_into_view_if_needed()
    return view


def _middle(view):
    box = view.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
