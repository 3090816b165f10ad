"""The panels in a real browser: JupyterLab, a notebook, a slider that is moved, a picture that changes."""

import re
from hashlib import sha256

import numpy as np
import pytest
from matplotlib.figure import Figure

from browser.lab import ARTEFACTS, jupyter_lab, write_notebook
from normint.workbook.figures.interactive_3d import WithPicture, surface_3d

PATIENCE = 120_000  # milliseconds: a kernel may have to compile first
PICTURE = ".normint-panel img"
STATUS = ".normint-panel .normint-status"
VIEW = ".normint-panel .plot-container"
STORED = ".js-plotly-plot"
TOP = "() => document.querySelector('.jp-WindowedPanel-outer').scrollTop"


@pytest.fixture(scope="module")
def lab(browser, tmp_path_factory):
    """Yield the folder of the notebooks and the function from their paths to addresses."""
    folder = tmp_path_factory.mktemp("lab")
    with jupyter_lab(folder) as address:
        yield folder, address


@pytest.fixture
def open_panel(browser, lab):
    """Return a function that opens a notebook with a panel, runs it, and returns the page."""
    folder, address = lab
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))

    def open_it(name, before=""):
        source = f"from normint.workbook import panels\n{before}\npanels.{name}()"
        write_notebook(folder / f"{name}.ipynb", source)
        page.goto(address(f"{name}.ipynb"))
        page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for(state="attached")
        run_cell(page)
        page.wait_for_selector(f"{VIEW} canvas")
        page.wait_for_function(f"document.querySelector('{PICTURE}').naturalWidth > 100")
        page.wait_for_timeout(1500)  # the surface is drawn after the picture
        page.screenshot(path=ARTEFACTS / f"{name}_first.png")
        if not before:
            assert_seen_whole(page)
        return page

    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    yield open_it
    page.wait_for_timeout(1500)
    page.screenshot(path=ARTEFACTS / "last.png")  # what a test that failed saw
    context.close()
    assert not wrong


def run_cell(page):
    """Run the only cell; what is pressed before the kernel is connected may be lost: look, and try again."""
    from playwright.sync_api import TimeoutError as TooLate

    begun = page.locator(".jp-CodeCell .jp-InputPrompt").first.filter(has_text=re.compile(r"\[(\*|1)\]"))
    for _ in range(5):
        for accept in page.locator(".jp-Dialog .jp-mod-accept").all():  # a slow kernel makes JupyterLab ask
            accept.click()
        try:
            page.locator(".jp-CodeCell .cm-content").first.click(timeout=PATIENCE / 10)
            page.keyboard.press("Control+Enter")
            begun.wait_for(timeout=PATIENCE / 10)
            return
        except TooLate:
            continue
    raise AssertionError("the notebook's cell did not run")


def assert_seen_whole(page):
    """Check that nothing is cut off: controls at the left, at the right pictures, and the surface below."""
    output = page.locator(".jp-OutputArea").bounding_box()
    panel, picture, view = (page.locator(part).bounding_box() for part in (".normint-panel", PICTURE, VIEW))
    control = page.locator(".normint-panel select, .normint-panel .widget-slider").first.bounding_box()
    for part in (panel, picture, view):
        assert output["x"] <= part["x"] <= part["x"] + part["width"] <= output["x"] + output["width"] + 1
        assert 0 <= part["y"] <= part["y"] + part["height"] <= 775  # the status bar is below
    assert control["x"] + control["width"] <= picture["x"]
    assert view["y"] >= picture["y"] + picture["height"]


def shown(page):
    """Return a digest of the picture's bytes, and the line with the numbers, without the time it took."""
    script = "async element => Array.from(new Uint8Array(await (await fetch(element.src)).arrayBuffer()))"
    data = bytes(page.locator(PICTURE).evaluate(script))
    assert data.startswith(b"\x89PNG")
    return sha256(data).hexdigest(), page.locator(STATUS).text_content().partition(" (")[0]


def wait_for_another(page, before, name):
    """Wait until the picture is another one and so are the numbers, which belong to it."""
    for _ in range(200):
        after = shown(page)
        if "working" not in after[1] and all(new != old for new, old in zip(after, before, strict=True)):
            page.wait_for_timeout(1000)
            page.screenshot(path=ARTEFACTS / f"{name}.png")
            return after
        page.wait_for_timeout(100)
    raise AssertionError(f"the picture or its numbers did not change: {before}, {after}")


@pytest.mark.parametrize("name", ["peaks", "vase", "start", "lights", "control_points"])
def test_a_slider_changes_the_picture_and_the_numbers(open_panel, name):
    page = open_panel(f"{name}_panel")
    before = shown(page)
    label = "kept" if name == "control_points" else "noise σ"
    page.locator(".normint-panel .widget-slider", has_text=label).locator(".noUi-handle").focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    after = wait_for_another(page, before, f"{name}_moved")
    if name == "vase":  # another method has other sliders
        sliders = page.locator(".normint-panel .widget-slider:visible")
        assert sliders.first.text_content().startswith("μ")
        page.locator(".normint-panel select").first.select_option("Φ1")
        wait_for_another(page, after, "vase_phi1")
        assert sliders.first.text_content().startswith("β")


@pytest.mark.parametrize("name", ["peaks", "vase"])
def test_pictures_follow_while_a_slider_is_dragged(open_panel, name):
    page = open_panel(f"{name}_panel")
    handle = page.locator(".normint-panel .widget-slider", has_text="noise σ").locator(".noUi-handle")
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    seen = [shown(page)[0]]
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(40):  # two seconds
        page.mouse.move(x + k, y)
        page.wait_for_timeout(50)
        seen.append(shown(page)[0])
    page.mouse.up()
    assert len(set(seen)) > 4


def test_the_page_scrolls_over_a_surface_until_it_is_held(open_panel):
    page = open_panel("peaks_panel", before="for line in range(60):\n    print(line)\n")
    page.locator(VIEW).scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    box, places = page.locator(VIEW).bounding_box(), [page.evaluate(TOP)]
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for hold in (False, True):
        if hold:
            page.mouse.down()
            page.mouse.up()
        page.mouse.wheel(0, -30)
        page.wait_for_timeout(700)
        places.append(page.evaluate(TOP))
    assert places[0] > places[1] == places[2]


def test_the_page_scrolls_over_a_stored_view_until_its_button_is_pressed(browser, lab, monkeypatch):
    outputs = [{"output_type": "stream", "name": "stdout", "text": "line\n" * 60}]
    empty = {"output_type": "display_data", "metadata": {}}
    monkeypatch.setattr("IPython.display.display", lambda data, raw: outputs.append(empty | {"data": data}))
    WithPicture(surface_3d(np.add.outer(np.arange(9), np.arange(9))), Figure())._ipython_display_()
    folder, address = lab
    write_notebook(folder / "stored.ipynb", "", outputs)
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address("stored.ipynb"))
    page.locator(f"{STORED} canvas").first.wait_for(timeout=PATIENCE)
    page.locator(STORED).scroll_into_view_if_needed()
    page.wait_for_timeout(1500)
    page.screenshot(path=ARTEFACTS / "stored_view.png")
    places = [page.evaluate(TOP)]
    for _ in range(2):
        box = page.locator(STORED).bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.wheel(0, -60)
        page.wait_for_timeout(700)
        places.append(page.evaluate(TOP))
        page.get_by_text("turn, zoom").click()
    assert places[0] > places[1] == places[2]
    page.close()


def test_a_stroke_on_the_mask_changes_the_solution(open_panel):
    page = open_panel("mask_panel")
    before = shown(page)
    assert page.locator(".normint-pixels button").count() == 256
    # Close the cut of the ring, from left to right.
    for row in (7, 8):
        begin, end = (page.get_by_label(f"row {row}, column {column}").bounding_box() for column in (11, 15))
        page.mouse.move(begin["x"] + 5, begin["y"] + 5)
        page.mouse.down()
        page.mouse.move(end["x"] + 5, end["y"] + 5, steps=12)
        page.mouse.up()
    wait_for_another(page, before, "mask_closed_ring")
    assert page.locator(".normint-pixels button[aria-pressed=true]").count() > 100
    assert page.locator(".normint-panel select").first.input_value() == "drawn by hand"
