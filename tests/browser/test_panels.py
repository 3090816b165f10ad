"""The panels in a real browser: JupyterLab, a notebook, a slider that is moved, a picture that changes."""

import re
from hashlib import sha256

import pytest

from browser.lab import ARTEFACTS, jupyter_lab, write_notebook

PATIENCE = 120_000  # milliseconds: a kernel may have to compile first
PICTURE = ".normint-panel img"
STATUS = ".normint-panel .normint-status"


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
    context = browser.new_context(viewport={"width": 1400, "height": 1100})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))

    def open_it(name):
        write_notebook(folder / f"{name}.ipynb", f"from normint import interactive\n\ninteractive.{name}()")
        page.goto(address(f"{name}.ipynb"))
        page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for(state="attached")
        run_cell(page)
        page.wait_for_selector(PICTURE)
        page.wait_for_function(f"document.querySelector('{PICTURE}').naturalWidth > 100")
        return page

    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    yield open_it
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


def picture(page):
    """Return a digest of the bytes of the picture that the page shows."""
    script = "async element => Array.from(new Uint8Array(await (await fetch(element.src)).arrayBuffer()))"
    data = bytes(page.locator(PICTURE).evaluate(script))
    assert data.startswith(b"\x89PNG")
    return sha256(data).hexdigest()


def wait_for_another(page, before):
    """Wait until the picture is another one."""
    page.wait_for_function(f"document.querySelector('{STATUS}').textContent.includes('answered in')")
    for _ in range(200):
        if (after := picture(page)) != before:
            return after
        page.wait_for_timeout(100)
    raise AssertionError("the picture did not change")


def keep(page, name):
    page.wait_for_timeout(1500)  # the surface is drawn after the picture
    page.screenshot(path=ARTEFACTS / f"{name}.png")


def test_a_slider_of_the_vase_changes_the_picture_and_the_surface(open_panel):
    page = open_panel("vase_panel")
    page.wait_for_selector(".normint-panel .js-plotly-plot")
    before = picture(page)
    keep(page, "vase_1_first")
    handle = page.locator(".normint-panel .widget-slider", has_text="noise").locator(".noUi-handle")
    handle.focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    after = wait_for_another(page, before)
    keep(page, "vase_2_more_noise")
    page.locator(".normint-panel select").select_option("diffusion")
    page.wait_for_function("document.querySelector('.normint-panel .widget-slider:not([style*=none])')")
    wait_for_another(page, after)
    keep(page, "vase_3_diffusion")


def test_a_stroke_on_the_mask_changes_the_solution(open_panel):
    page = open_panel("mask_panel")
    before = picture(page)
    keep(page, "mask_1_first")
    assert page.locator(".normint-pixels button").count() == 256
    # Close the cut of the ring, from left to right.
    for row in (7, 8):
        begin, end = (page.get_by_label(f"row {row}, column {column}").bounding_box() for column in (11, 15))
        page.mouse.move(begin["x"] + 5, begin["y"] + 5)
        page.mouse.down()
        page.mouse.move(end["x"] + 5, end["y"] + 5, steps=12)
        page.mouse.up()
    wait_for_another(page, before)
    assert page.locator(".normint-pixels button[aria-pressed=true]").count() > 100
    assert page.locator(".normint-panel select").first.input_value() == "drawn by hand"
    keep(page, "mask_2_closed_ring")


@pytest.mark.parametrize("name", ["peaks_panel", "start_panel", "lights_panel", "control_points_panel"])
def test_the_first_slider_changes_the_picture(open_panel, name):
    page = open_panel(name)
    before = picture(page)
    page.locator(".normint-panel .noUi-handle:visible").first.focus()
    page.keyboard.press("ArrowRight")
    wait_for_another(page, before)
    keep(page, name)
