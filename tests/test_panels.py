"""Panels compute what the package computes, answer only the newest change, and rest where nobody watches."""

import asyncio
import base64
import json
import threading

import ipywidgets
import numpy as np
import pytest
from matplotlib.figure import Figure

from normint import integrate, surfaces
from normint.integration import METHODS, integrate_quietly
from normint.metrics import rmse
from normint.normals.camera import projection
from normint.surfaces.rendering import photograph
from normint.workbook import panels
from normint.workbook.figures.depth_maps import weakest_edge
from normint.workbook.figures.interactive_3d import PLOTLY, WithPicture, surface_3d
from normint.workbook.panels.controls import RANGES, method_controls
from normint.workbook.panels.masks import given_gradient, shapes
from normint.workbook.panels.panel import Panel
from normint.workbook.panels.photographs import light_directions
from normint.workbook.panels.widgets import TurnableSurface
from normint.workbook.studies.control_points import control_points
from normint.workbook.studies.photographs import integrate_inside, photometric_gradient
from normint.workbook.studies.restoration import restore

SMALL = {
    "mask": lambda: panels.mask_panel(),
    "peaks": lambda: panels.peaks_panel(32),
    "vase": lambda: panels.vase_panel(40),
    "start": lambda: panels.start_panel(32),
    "lights": lambda: panels.lights_panel(40),
    "control_points": lambda: panels.control_points_panel(32, "stand-in"),
}


def toy(compute):
    """Return a panel of one number that draws a plane."""

    def solve(check, x):
        return {"depth": np.eye(4), "summary": f"x is {x:g}", "answer": compute(check, x)}

    return Panel("toy", {"x": ipywidgets.FloatSlider(1.0)}, solve, lambda state: Figure(figsize=(1, 1)))


def change(panel, **values):
    for name, value in values.items():
        panel.controls[name].value = value


@pytest.fixture
def outputs_of(monkeypatch):
    """Return a function that returns what a notebook would keep of a panel: a list of MIME bundles."""

    def outputs(shown):
        kept = []
        monkeypatch.setattr("IPython.display.display", lambda data, raw: kept.append(data))
        shown._ipython_display_()
        return kept

    return outputs


@pytest.mark.parametrize("name", SMALL)
def test_where_nobody_watches_the_first_state_is_a_picture_and_a_surface(name, outputs_of):
    panel = SMALL[name]()
    assert not panel.live and panel.error == ""
    picture, surface = outputs_of(panel)  # two outputs: of one, JupyterLab shows only one form
    assert base64.b64decode(picture["image/png"]) == panel.png
    assert surface[PLOTLY]["data"][0]["type"] == "surface"
    assert panel.state["summary"] in picture["text/plain"]
    assert not any(thread.name.startswith("panel") for thread in threading.enumerate())
    assert len(json.dumps([picture, surface])) < 250_000
    assert outputs_of(SMALL[name]()) == [picture, surface]


@pytest.mark.parametrize("name", SMALL)
def test_widgets_show_controls_picture_and_surface(name):
    panel = SMALL[name]()
    parts = _inside(panel.widget())
    assert all(control in parts for control in panel.controls.values())
    assert panel.state["summary"] in panel.status.value and panel.status in parts
    assert any(isinstance(part, ipywidgets.Image) and part.value == panel.png for part in parts)
    json.dumps(_view_in(parts).figure, allow_nan=False)  # messages to the browser do not allow it either


def test_slopes_do_not_know_of_a_jump_and_least_squares_spreads_it(monkeypatch):
    kept = []
    monkeypatch.setattr("normint.workbook.panels.panel.display", lambda data, raw: kept.append(data))
    panel = panels.jump_panel()
    slopes = panel.state["slopes"]
    change(panel, height=8.0, sigma=0.0)
    change(panel, sigma=2.0)
    assert np.array_equal(panel.state["slopes"], slopes)
    assert np.allclose(np.ptp(panel.state["truth"] - panel.state["found"]), 8, atol=1)  # the jump is missing
    change(panel, known="ends")
    off = np.diff(panel.state["found"] - panel.state["truth"])
    assert np.ptp(np.delete(off, 29)) < 0.2 and off[29] < -7  # a little of it at every pixel
    ends = 1e6 * np.isin(np.arange(60), (0, 59))
    held = {"prior": panel.state["truth"][None], "prior_weight": ends[None], "tolerance": 1e-8}
    solved = integrate(np.zeros((1, 60)), slopes[None], **held)
    assert np.allclose(panel.state["found"], solved.depth[0], atol=1e-3)
    panel._ipython_display_()
    (bundle,) = kept
    assert base64.b64decode(bundle["image/png"]) == panel.png and panel.widget()


def _inside(widget):
    return [widget, *(inner for child in getattr(widget, "children", ()) for inner in _inside(child))]


def _view_in(parts):
    return next(part for part in parts if isinstance(part, TurnableSurface))


def test_vase_is_what_the_package_computes():
    panel, vase = SMALL["vase"](), surfaces.vase(40)
    noisy = vase.with_noise(0.01, np.random.default_rng(0))
    expected = integrate(noisy.p, noisy.q, method="mumford_shah", mu=45.0, epsilon=0.01)
    assert np.array_equal(panel.state["depth"], expected.depth)
    assert f"RMSE {rmse(expected.depth, vase.depth):.2f} pixels" in panel.state["summary"]
    options = {"anisotropic_diffusion_mu": 0.2, "anisotropic_diffusion_nu": 5.0}
    change(panel, method="anisotropic_diffusion", **options, sigma=0.0, weight=1e-3)
    held = {"prior": np.zeros((40, 40)), "prior_weight": 1e-3}
    expected = integrate_quietly(vase.p, vase.q, method="anisotropic_diffusion", mu=0.2, nu=5.0, **held)
    assert np.array_equal(panel.state["depth"], expected.depth)
    assert np.array_equal(weakest_edge(panel.state["result"].weights), weakest_edge(expected.weights))
    change(panel, method="quadratic")  # without weights there is nothing to mark
    assert panel.error == "" and panel.state["result"].weights is None


def test_every_method_that_works_on_any_domain_is_offered_with_its_main_option():
    controls = method_controls("quadratic")
    offered = [name for _, name in controls["method"].options]
    assert offered == [name for name in METHODS if name not in ("dct", "sylvester")]
    for name in offered:
        controls["method"].value = name
        shown = {key for key, control in controls.items() if control.layout.display != "none"}
        assert shown == {"method", *(f"{name}_{option}" for option in RANGES.get(name, ()))}
        assert METHODS[name].option in (None, *RANGES.get(name, ()))


@pytest.mark.parametrize("name", ["vase", "start", "lights", "control_points"])
def test_calibrated_can_be_chosen(name):
    panel = SMALL[name]()
    before = panel.state["depth"]
    change(panel, method="calibrated")
    assert panel.error == "" and not np.array_equal(panel.state["depth"], before)


def test_peaks_on_a_square_need_no_boundary_condition():
    panel = SMALL["peaks"]()
    errors = panel.state["errors"]
    assert errors["quadratic"] == pytest.approx(errors["dct"], rel=1e-5)  # the same linear system
    change(panel, sigma=0.0, domain="star")
    assert panel.state["errors"]["quadratic"] < panel.state["errors"]["dct"]  # where Ω is no rectangle
    peaks, mask = surfaces.peaks(32), panel.state["mask"]
    expected = rmse(integrate(peaks.p, peaks.q, mask, tolerance=1e-8).depth, peaks.depth, mask)
    assert panel.state["errors"]["quadratic"] == pytest.approx(expected)


def test_start_does_not_matter_to_a_convex_energy_only():
    panel, spread = SMALL["start"](), {}
    for method in ("quadratic", "mumford_shah"):
        depths = []
        for start in ("least squares", "random"):
            change(panel, method=method, start=start)
            depths.append(panel.state["depth"])
        spread[method] = rmse(*depths)
    assert spread["quadratic"] < 1e-2 < spread["mumford_shah"]


def test_lights_use_as_many_photographs_as_asked():
    panel = SMALL["lights"]()
    before = panel.state["normals_off"]
    change(panel, count=12, sigma=0.0, method="quadratic")
    assert panel.state["normals_off"] < before
    statue = surfaces.figurine(40)
    images = photograph(statue, light_directions(), mask=statue.mask).astype(float)
    p, q, _ = photometric_gradient(images, light_directions(), statue.mask)
    expected = integrate_inside(p, q, statue.mask, "quadratic")
    assert np.array_equal(panel.state["depth"], expected, equal_nan=True)


def test_control_points_are_kept_and_filled_as_the_package_does():
    panel = SMALL["control_points"]()
    image = panel.state["image"]
    keep = control_points(image, 0.1)
    assert np.array_equal(panel.state["restored"], restore(image, keep, method="mumford_shah", mu=10.0))
    change(panel, percent=50.0, method="quadratic", choice="regular", slopes=False)
    keep = control_points(image, 0.5, "regular")
    assert np.array_equal(panel.state["keep"], keep)
    assert np.array_equal(panel.state["restored"], restore(image, keep, method="quadratic", gradient=None))


def test_masks_that_are_chosen_and_drawn():
    panel, slits = SMALL["mask"](), shapes()["slits"]
    change(panel, shape="slits", field="saddle")
    assert np.array_equal(panel.controls["pixels"].value, slits)
    expected = integrate(*given_gradient("saddle"), slits, tolerance=1e-8)
    assert np.array_equal(panel.state["depth"], expected.depth, equal_nan=True)
    assert panel.state["summary"] == "192 pixels in 4 pieces"
    drawn = slits.astype(int)
    drawn[3, :] = 1  # a stroke that joins them
    change(panel, pixels=drawn.tolist())
    assert panel.state["summary"] == "196 pixels in 1 piece"
    assert panel.controls["shape"].value == "drawn by hand"


def test_a_whirl_can_be_integrated_where_it_is_cut():
    # Around the centre no depth exists; once the ring is cut, the angle is one.
    panel = SMALL["mask"]()
    cut = np.nanmax(panel.state["residual"])
    change(panel, shape="ring")
    assert np.nanmax(panel.state["residual"]) > 3 * cut


def test_an_error_is_shown_in_one_line_and_the_panel_goes_on():
    panel = SMALL["mask"]()
    before = panel.png
    change(panel, pixels=np.zeros((16, 16), int).tolist())
    assert panel.error == "the mask is empty: draw at least one pixel"
    assert panel.error in panel.status.value
    assert panel.png == before
    change(panel, shape="disk")
    assert panel.error == "" and panel.png != before


def test_an_unexpected_error_is_one_line_too_even_the_first(outputs_of, capsys):
    panel = toy(lambda check, x: 1 / (x - 1))
    assert panel.error == "ZeroDivisionError: float division by zero"
    outputs_of(panel)
    assert capsys.readouterr().out == f"toy: {panel.error}\n"
    assert panel.widget()
    change(panel, x=3.0)
    assert panel.state["answer"] == 0.5


async def settled(panel):
    """Wait until nothing is left to do."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.wait_for(asyncio.gather(*others), 60)


def test_the_newest_change_wins_and_nothing_queues_up():
    begun, gate, worked = threading.Event(), threading.Event(), []

    def compute(check, x):
        worked.append((x, threading.current_thread().name))
        begun.set()
        assert x == 1 or gate.wait(60)
        return x

    async def drag():
        panel.live = True
        begun.clear()
        for x in range(2, 50):  # the first is begun, and then there are many
            change(panel, x=float(x))
            await asyncio.sleep(0)
            assert begun.wait(60)
        assert "working" in panel.status.value
        gate.set()
        await settled(panel)

    panel = toy(compute)
    asyncio.run(drag())
    assert worked == [
        (1.0, "MainThread"),
        (2.0, "panel_0"),
        (49.0, "panel_0"),
    ]  # those between were never begun
    assert panel.state["answer"] == 49
    assert "x is 49" in panel.status.value


def test_stale_work_is_stopped_on_the_way_and_errors_come_back_from_the_thread():
    begun, stopped = threading.Event(), threading.Event()

    def compute(check, x):
        if x == 2:
            begun.set()
            try:
                while not stopped.wait(0.001):
                    check(1, 0.0)  # as an integrator calls it
            finally:
                stopped.set()
        return 1 / (x - 3)

    async def drag():
        panel.live = True
        change(panel, x=2.0)
        await asyncio.sleep(0)
        assert begun.wait(60)
        change(panel, x=3.0)
        await settled(panel)

    panel = toy(compute)
    asyncio.run(drag())
    assert stopped.is_set()
    assert panel.error == "ZeroDivisionError: float division by zero"
    assert panel.state["summary"] == "x is 1"


def test_a_value_that_was_only_rounded_is_no_change():
    panel = SMALL["vase"]()
    before = panel.state
    change(panel, mumford_shah_mu=45.0 * (1 + 1e-14))
    assert panel.state is before


def test_the_surface_follows_and_the_readers_point_of_view_stays():
    panel = SMALL["peaks"]()
    view = _view_in(_inside(panel.widget()))
    before = view.figure
    change(panel, sigma=30.0)
    assert view.figure["data"] != before["data"]
    assert view.figure["layout"]["uirevision"] == before["layout"]["uirevision"]


def test_a_depth_map_is_thinned_and_keeps_its_size():
    _, v = np.indices((500, 300))
    drawn = surface_3d(0.5 * v, "plane", finest=100).data[0]
    assert drawn.z.shape == (100, 60)
    assert (drawn.x.min(), drawn.x.max(), drawn.y.min(), drawn.y.max()) == (0, 295, 0, 495)
    np.testing.assert_allclose(drawn.z, np.tile(0.5 * drawn.x, (100, 1)))


@pytest.mark.parametrize("camera", [None, [[400.0, 0, 150.0], [0, 300.0, 100.0], [0, 0, 1]]])
def test_what_is_around_the_object_takes_no_points(camera):
    depth = np.full((200, 300), np.nan)
    depth[50:90, 200:260] = 900 + np.random.default_rng(0).random((40, 60))
    drawn = surface_3d(depth, camera=camera, finest=30).data[0]
    u, v, z = np.moveaxis(projection(camera).points(depth)[50:90:2, 200:260:2], -1, 0)
    np.testing.assert_allclose(drawn.z, z, rtol=1e-6)
    np.testing.assert_allclose(np.broadcast_to(drawn.x, z.shape), v, rtol=1e-5, atol=1e-3)
    y = drawn.y if drawn.y.ndim == 2 else drawn.y[:, np.newaxis]
    np.testing.assert_allclose(np.broadcast_to(y, z.shape), u, rtol=1e-5, atol=1e-3)


def test_a_notebook_gets_the_picture_and_then_the_surface(outputs_of):
    picture, surface = outputs_of(WithPicture(surface_3d(np.zeros((400, 400)), "flat"), Figure()))
    assert base64.b64decode(picture["image/png"]).startswith(b"\x89PNG")
    assert surface[PLOTLY]["layout"]["title"]["text"] == "flat"
    assert len(json.dumps(surface)) < 100_000
    with pytest.raises(ValueError, match="picture is a str; expected a matplotlib Figure"):
        WithPicture(None, "photo.png")


def test_what_is_no_surface_is_refused():
    for nothing in (np.zeros(3), np.full((3, 3), np.nan)):
        with pytest.raises(ValueError, match="expected rows and columns"):
            surface_3d(nothing)
