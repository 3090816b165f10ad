"""Panels compute what the package computes, answer only the newest change, and rest where nobody watches."""

import base64
import json
import threading

import numpy as np
import pytest
from matplotlib.figure import Figure

from normint import integrate, surfaces
from normint.metrics import rmse
from normint.workbook import panels as interactive
from normint.workbook.figures.depth_maps import weakest_edge
from normint.workbook.notebook_files import _WIDGET_VIEW
from normint.workbook.panels.controls import Choice, Number
from normint.workbook.panels.latest import Latest
from normint.workbook.panels.masks import given_gradient, shape_pixels
from normint.workbook.panels.panel import PLOTLY, Panel, is_watched
from normint.workbook.panels.photographs import light_directions
from normint.workbook.studies.control_points import control_points
from normint.workbook.studies.noise_draws import integrate_inside, photometric_gradient
from normint.workbook.studies.restoration import restore

SMALL = {
    "mask_panel": {},
    "peaks_panel": {"n": 32},
    "vase_panel": {"n": 40},
    "start_panel": {"n": 32},
    "lights_panel": {"n": 40},
    "control_points_panel": {"n": 32, "dataset": "stand-in"},
}


def small(name, live=False):
    return getattr(interactive, name)(**SMALL[name], live=live)


@pytest.fixture(scope="module")
def panels():
    return {name: small(name) for name in SMALL}


def toy(compute, live, **options):
    """Return a panel of one number that draws nothing."""
    number = Number("x", "x", 1.0, 0.0, 100.0)
    return Panel("toy", [number], compute, lambda state: Figure(figsize=(1, 1)), live=live, **options)


@pytest.fixture
def outputs_of(monkeypatch):
    """Return a function that returns what a notebook would keep of a panel: a list of MIME bundles."""

    def outputs(panel):
        kept = []
        monkeypatch.setattr("IPython.display.display", lambda data, raw: kept.append(data))
        panel._ipython_display_()
        return kept

    return outputs


@pytest.mark.parametrize("name", SMALL)
def test_the_first_state_is_a_picture_and_a_surface_without_widgets(panels, name, outputs_of):
    picture, surface = outputs_of(panels[name])  # two outputs: of one, JupyterLab shows only one form
    assert set(picture) == {"text/plain", "image/png"}
    assert base64.b64decode(picture["image/png"]) == panels[name].png
    assert set(surface) == {"text/plain", PLOTLY}
    assert surface[PLOTLY]["data"][0]["type"] == "surface"
    assert panels[name]._view is None
    assert len(json.dumps([picture, surface])) < 500_000


@pytest.mark.parametrize("name", SMALL)
def test_a_live_panel_also_has_a_view_and_its_widgets_follow(name, outputs_of):
    panel = small(name, live=True)
    (bundle,) = outputs_of(panel)
    assert {_WIDGET_VIEW, "image/png", PLOTLY, "text/plain"} <= set(bundle)
    assert panel._view.picture.value == panel.png
    for control, widget in panel._view.widgets.items():
        shown = widget.layout.display != "none"
        assert shown == panel.controls[control].applies(panel.values)


def test_the_same_state_is_the_same_picture(outputs_of):
    first, second = small("vase_panel"), small("vase_panel")
    assert outputs_of(first) == outputs_of(second)


def test_vase_is_what_the_package_computes(panels):
    vase = surfaces.vase(40)
    noisy = vase.with_noise(0.01, np.random.default_rng(0))
    expected = integrate(noisy.p, noisy.q, method="mumford_shah", mu=45.0, epsilon=0.01, max_iterations=40)
    assert np.array_equal(panels["vase_panel"].state["depth"], expected.depth)
    panel = small("vase_panel")
    panel.set(method="anisotropic_diffusion", mu=0.2, nu=5.0, sigma=0.0, weight=1e-3)
    held = {"prior": np.zeros((40, 40)), "prior_weight": 1e-3}
    expected = integrate(vase.p, vase.q, method="anisotropic_diffusion", mu=0.2, nu=5.0, **held)
    assert np.array_equal(panel.state["depth"], expected.depth)
    assert np.array_equal(weakest_edge(panel.state["result"].weights), weakest_edge(expected.weights))
    panel.set(method="quadratic")  # without weights there is nothing to mark
    assert panel.error == ""
    assert panel.state["result"].weights is None


@pytest.mark.parametrize(("method", "option"), [("phi1", "beta"), ("phi2", "gamma")])
def test_vase_estimators_get_their_own_parameter(method, option):
    panel = small("vase_panel")
    panel.set(method=method, **{option: 0.7})
    noisy = surfaces.vase(40).with_noise(0.01, np.random.default_rng(0))
    expected = integrate(noisy.p, noisy.q, method=method, max_iterations=40, **{option: 0.7})
    assert np.array_equal(panel.state["depth"], expected.depth)


def test_peaks_on_a_square_need_no_boundary_condition(panels):
    errors = panels["peaks_panel"].state["errors"]
    assert errors["quadratic"] == pytest.approx(errors["dct"], rel=1e-5)  # the same linear system
    panel = small("peaks_panel")
    panel.set(sigma=0.0, domain="star")
    assert panel.state["errors"]["quadratic"] < panel.state["errors"]["dct"]  # where Ω is no rectangle
    peaks, mask = surfaces.peaks(32), panel.state["mask"]
    expected = rmse(integrate(peaks.p, peaks.q, mask, tolerance=1e-8).depth, peaks.depth, mask)
    assert panel.state["errors"]["quadratic"] == pytest.approx(expected)


def test_start_does_not_matter_to_a_convex_energy_only(panels):
    panel = small("start_panel")
    spread = {}
    for method in ("quadratic", "mumford_shah"):
        depths = []
        for start in ("least squares", "random"):
            panel.set(method=method, start=start)
            depths.append(panel.state["depth"])
        spread[method] = rmse(*depths)
    assert spread["quadratic"] < 1e-2 < spread["mumford_shah"]


def test_lights_use_as_many_photographs_as_asked(panels):
    panel = small("lights_panel")
    panel.set(count=12, sigma=0.0, method="quadratic")
    assert panel.state["count"] == 12
    assert panel.state["normals_off"] < panels["lights_panel"].state["normals_off"]
    from normint.surfaces.rendering import photograph

    statue = surfaces.figurine(40)
    images = photograph(statue, light_directions(), mask=statue.mask).astype(float)
    p, q, _ = photometric_gradient(images, light_directions(), statue.mask)
    expected = integrate_inside(p, q, statue.mask, "quadratic")
    assert np.array_equal(panel.state["depth"], expected, equal_nan=True)


def test_control_points_are_kept_and_filled_as_the_package_does(panels):
    image = panels["control_points_panel"].state["image"]
    keep = control_points(image, 0.1)
    expected = restore(image, keep, method="mumford_shah", mu=10.0, max_iterations=10)
    assert np.array_equal(panels["control_points_panel"].state["restored"], expected)
    panel = small("control_points_panel")
    panel.set(percent=50.0, method="quadratic", choice="regular", slopes=None)
    keep = control_points(image, 0.5, "regular")
    assert np.array_equal(panel.state["keep"], keep)
    assert np.array_equal(panel.state["restored"], restore(image, keep, method="quadratic", gradient=None))


def test_masks_that_are_chosen_and_drawn():
    panel = small("mask_panel")
    panel.set(shape="slits", field="saddle")
    assert panel.values["pixels"] == shape_pixels("slits")
    expected = integrate(*given_gradient("saddle"), np.array(shape_pixels("slits"), bool), tolerance=1e-8)
    assert np.array_equal(panel.state["depth"], expected.depth, equal_nan=True)
    assert panel.state["pieces"] == 4
    drawn = np.array(shape_pixels("slits"))
    drawn[3, :] = 1  # a stroke that joins them
    panel.set(pixels=drawn)
    assert (panel.state["pieces"], panel.values["shape"]) == (1, "drawn")


def test_a_whirl_can_be_integrated_where_it_is_cut():
    # Around the centre no depth exists; once the ring is cut, the angle is one.
    panel = small("mask_panel")
    cut = np.nanmax(panel.state["residual"])
    panel.set(shape="ring")
    assert np.nanmax(panel.state["residual"]) > 3 * cut


def test_an_error_is_one_line_and_the_panel_goes_on():
    panel = small("mask_panel", live=True)
    panel.widget  # noqa: B018
    before = panel.png
    panel.set(pixels=np.zeros((16, 16)))
    assert panel.wait(60)
    assert panel.error == "the mask is empty: draw at least one pixel"
    assert "the mask is empty" in panel._view.status.value
    assert panel.png == before
    panel.set(shape="disk")
    assert panel.wait(60)
    assert panel.error == ""
    assert panel._view.picture.value == panel.png != before


def test_an_unexpected_error_is_one_line_too():
    panel = toy(lambda values, check: {} if values["x"] == 1 else 1 / 0, live=False)
    panel.set(x=2.0)
    assert panel.error == "ZeroDivisionError: division by zero"


def test_values_that_no_control_has_are_refused():
    panel = small("vase_panel")
    with pytest.raises(ValueError, match=r"sigma is 11; expected a number from 0 to 10"):
        panel.set(sigma=11)
    with pytest.raises(ValueError, match=r"method is 'cubic'; expected one of 'quadratic'"):
        panel.set(method="cubic")
    with pytest.raises(ValueError, match=r"speed is not a control; expected one of method"):
        panel.set(speed=1)


def test_latest_wins_and_nothing_queues_up():
    begun, gate, worked, delivered = threading.Event(), threading.Event(), [], []

    def work(request, check):
        worked.append(request)
        begun.set()
        assert gate.wait(60)
        return request

    latest = Latest(work, lambda number, answer: delivered.append(answer))
    latest.submit(0)
    assert begun.wait(60)
    for request in range(1, 50):  # while the first is worked on
        latest.submit(request)
    gate.set()
    assert latest.wait(60)
    assert worked == [0, 49]  # those between were never begun
    assert delivered == [49]  # and the first, by then stale, was dropped


def test_stale_work_is_stopped_on_the_way():
    begun, stopped = threading.Event(), threading.Event()

    def compute(values, check):
        if values["x"] == 2:
            begun.set()
            try:
                while not stopped.wait(0.001):
                    check(1, 0.0)  # as an integrator calls it
            finally:
                stopped.set()
        return {"x": values["x"]}

    panel = toy(compute, live=True)
    panel.set(x=2.0)
    assert begun.wait(60)
    panel.set(x=3.0)
    assert panel.wait(60)
    assert stopped.is_set()
    assert panel.state == {"x": 3.0}


def test_it_says_that_it_is_working_until_it_answers():
    gate, said = threading.Event(), threading.Event()
    panel = toy(lambda values, check: {"done": values["x"] == 1 or gate.wait(60)}, live=True)
    panel.widget  # noqa: B018
    panel._view.status.observe(lambda change: said.set() if "working" in change["new"] else None, "value")
    panel.set(x=5.0)
    assert said.wait(60)
    gate.set()
    assert panel.wait(60)
    assert "answered in" in panel._view.status.value


def test_headless_panels_compute_in_the_caller_and_only_once(outputs_of):
    threads = []
    panel = toy(lambda values, check: threads.append(threading.current_thread()) or {}, live=None)
    assert not panel.live
    assert len(outputs_of(panel)) == 1  # it has no surface
    assert threads == [threading.current_thread()]
    assert not is_watched()


def test_controls_appear_when_they_have_a_meaning():
    panel = small("vase_panel", live=True)
    panel.widget  # noqa: B018
    panel.set(method="phi1")
    shown = {name for name, widget in panel._view.widgets.items() if widget.layout.display != "none"}
    assert shown == {"method", "beta", "sigma", "weight"}
    assert panel.wait(60)


def test_a_value_that_was_only_rounded_is_no_change():
    panel = small("vase_panel", live=True)
    panel.widget  # noqa: B018
    before = panel._shown
    panel._view.widgets["mu_shah"].value *= 1 + 1e-14
    assert panel.wait(60)
    assert panel._shown is before


def test_a_choice_knows_its_options():
    assert Choice("a", "a", 1, {"one": 1}).check(1) == 1
