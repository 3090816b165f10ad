"""The site in a real browser without a network: nothing missing, nothing too wide, formulas drawn."""

import pytest

from browser.lab import ARTEFACTS
from normint.site import build

WIDTHS = {"desk": 1200, "phone": 390}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the site, made from the notebooks of the repository."""
    return build(tmp_path_factory.mktemp("pages") / "site").parent


@pytest.fixture
def read(browser, site):
    """Return a function that opens a page without a network and returns it with what went wrong."""
    contexts = []

    def open_it(name, width):
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
        contexts.append(context)
        page, wrong = context.new_page(), []
        page.on("requestfailed", lambda request: wrong.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto((site / name).as_uri())
        page.wait_for_load_state()
        return page, wrong

    yield open_it
    for context in contexts:
        context.close()


@pytest.mark.parametrize("device", WIDTHS)
def test_every_page_is_whole_and_fits(read, site, device):
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    names = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    assert "index.html" in names and len(names) > 10
    for name in names:
        page, wrong = read(name, WIDTHS[device])
        assert not wrong, f"{name}: {wrong}"
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= WIDTHS[device] + 1, f"{name} is {wide} wide on the {device}"
        broken = page.evaluate("[...document.images].filter(i => i.complete && !i.naturalWidth).length")
        assert broken == 0, f"{name} has {broken} images that cannot be drawn"
        if name in ("index.html", "07_priors.html"):
            page.screenshot(path=ARTEFACTS / f"site_{name.removesuffix('.html')}_{device}.png")
        page.close()


def test_formulas_are_drawn(read):
    page, _ = read("01_three_by_three.html", 1200)
    sizes = page.evaluate("[...document.querySelectorAll('math')].map(m => m.getBoundingClientRect().height)")
    assert len(sizes) > 5 and min(sizes) > 5
    assert "$" not in page.inner_text("main").replace("$HOME", "")


def test_a_surface_can_be_turned(read):
    page, wrong = read("08_your_own_normals.html", 1200)
    page.wait_for_selector(".view canvas", timeout=60_000, state="attached")
    page.locator(".view").first.scroll_into_view_if_needed()
    page.screenshot(path=ARTEFACTS / "site_view.png")
    assert not wrong
