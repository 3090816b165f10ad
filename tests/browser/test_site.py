"""The site in a real browser without a network: nothing missing, nothing too wide, formulas drawn."""

import pytest

from browser.lab import ARTEFACTS
from normint import paths
from normint.workbook.site import build

WIDTHS = {"desk": 1200, "phone": 390}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the site, made from the notebooks as committed, whatever was executed here."""
    root = tmp_path_factory.mktemp("repository")
    for name in ("notebooks", "figures", "README.md"):
        (root / name).symlink_to(paths.root() / name)
    return build(root=root).parent


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
        if name in ("index.html", "08_priors.html"):
            page.screenshot(path=ARTEFACTS / f"site_{name.removesuffix('.html')}_{device}.png")
        page.close()


def test_formulas_are_drawn(read):
    page, _ = read("01_three_by_three.html", 1200)
    sizes = page.evaluate("[...document.querySelectorAll('math')].map(m => m.getBoundingClientRect().height)")
    assert len(sizes) > 5 and min(sizes) > 5
    assert "$" not in page.inner_text("main").replace("$HOME", "")


@pytest.mark.parametrize("device", WIDTHS)
@pytest.mark.parametrize("name", ["01_three_by_three", "02_peaks", "07_peppers", "09_your_own_normals"])
def test_a_picture_stands_beside_a_surface_that_can_be_turned(read, name, device):
    page, wrong = read(f"{name}.html", WIDTHS[device])
    pair = page.locator(".beside").last
    pair.locator("canvas").first.wait_for(timeout=60_000, state="attached")
    pair.scroll_into_view_if_needed()
    page.screenshot(path=ARTEFACTS / f"site_{name}_{device}.png")
    picture, view = (pair.locator(which).bounding_box() for which in ("img", ".view"))
    assert min(picture["width"], view["width"]) > 300
    if device == "phone":
        assert view["y"] >= picture["y"] + picture["height"]
    else:
        assert view["x"] >= picture["x"] + picture["width"]
    eye = "JSON.stringify([...document.querySelectorAll('.beside .view')].at(-1)._fullLayout.scene.camera)"
    before = page.evaluate(eye)
    x, y = view["x"] + view["width"] / 2, view["y"] + view["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 80, y + 20, steps=5)
    page.mouse.up()
    page.wait_for_function(f"before => {eye} !== before", arg=before, timeout=60_000)
    assert not wrong
