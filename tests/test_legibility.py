"""Every figure can be read on a printed page: the checker finds what is wrong, and finds nothing in ours."""

import json

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from normint import Integration, paths, surfaces
from normint.domain import Domain
from normint.methods.calibrated.edges import look
from normint.methods.calibrated.noise import measure
from normint.normals.light_order import readings
from normint.surfaces.rendering import photograph
from normint.surfaces.scenes import scene
from normint.workbook import figures, overview
from normint.workbook.figures import faults, open_problem, open_problem_charts
from normint.workbook.figures.canvas import PAGE
from normint.workbook.studies import jumps

ROOT = paths.root()


def blank(width=4.0):
    return Figure(figsize=(width, 3), layout="constrained")


# What the checker finds.


def test_a_good_figure_has_no_faults():
    figure = blank()
    axes = figure.subplots()
    figure.colorbar(axes.imshow(np.eye(2)), label="depth (pixels)")
    axes.set(title="title", xlabel="v", ylabel="u")
    assert faults(figure) == []


@pytest.mark.parametrize(
    "side, x, y", [("left", 0, 0.5), ("right", 1, 0.5), ("lower", 0.5, 0), ("upper", 0.5, 1)]
)
def test_ink_on_a_border_is_found(side, x, y):
    figure = blank()
    figure.text(x, y, "word", ha="center", va="center")
    assert faults(figure) == [f"ink touches the {side} border"]


@pytest.mark.parametrize("width, size", [(4.0, 6.9), (2 * PAGE, 13.8)])
def test_text_that_is_small_in_print_is_found(width, size):
    figure = blank(width)
    text = figure.text(0.5, 0.5, "small", fontsize=size)
    assert len(faults(figure)) == 1
    text.set_fontsize(size * 7 / 6.9)
    assert faults(figure) == []


def test_small_numbers_at_an_axis_are_found():
    figure = blank()
    figure.subplots().tick_params(axis="x", labelsize=5)
    assert {fault.split(" has ")[1] for fault in faults(figure)} == {"5.0 points"}


@pytest.mark.parametrize("angle", [0, 30, 90])
def test_text_on_text_is_found(angle):
    figure = blank()
    figure.text(0.5, 0.5, "one\nabove the other", rotation=angle, ha="center", va="center")
    assert faults(figure) == []
    figure.text(0.5, 0.5, "across", rotation=angle + 45, ha="center", va="center")
    assert any(fault.endswith("lies on 'across'") for fault in faults(figure))


def test_slanted_texts_side_by_side_do_not_lie_on_each_other():
    figure = blank()
    for x in (0.4, 0.5):
        figure.text(x, 0.5, "a long slanted text", rotation=60, ha="center", va="center")
    assert faults(figure) == []


def test_numbers_that_run_into_each_other_are_found():
    figure = blank()
    figure.subplots().set_xticks(np.linspace(0, 1, 30))
    assert any(" lies on " in fault for fault in faults(figure))


def test_a_colour_bar_without_a_label_is_found():
    figure = blank()
    figure.colorbar(figure.subplots().imshow(np.eye(2)))
    assert faults(figure) == ["a colour bar has no label"]


def test_saving_warns_of_faults(tmp_path, monkeypatch):
    monkeypatch.setenv("NORMINT_FIGURES", str(tmp_path))
    figure = blank()
    figure.text(0.5, 0.5, "tiny", fontsize=5)
    with pytest.warns(UserWarning, match="figure fig99: 'tiny' has 5.0 points"):
        figures.save(figure, "fig99")


# Our own figures, with small data.

PEAKS = surfaces.peaks(24).depth
RGB = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
STATUE = surfaces.bust(48)
LIGHTS = np.array([[0.1, 0.3, 1.0], [-0.3, 0.0, 1.0], [0.1, -0.3, 1.0]])
PHOTOGRAPHS = photograph(STATUE, LIGHTS, mask=STATUE.mask, bits=8)
METHODS = ("quadratic", "total variation", "diffusion", "Mumford-Shah")
FOUR = dict.fromkeys((f"{method}\nRMSE 4.59 (paper: 4.60)" for method in METHODS), PEAKS)
ANGLES, FALLS = np.array([0.0, 10, 180]), np.array([-np.inf, 0, np.inf])
COUNTS = np.array([[100, 50], [10, 20]]), np.array([[1, 5], [1, 10]])
SIZES = np.array([4096, 65536, 1048576])
RATIOS = {f"case {k}": {"phi1": 0.7, "calibrated": 0.1 * k + 0.05} for k in range(6)}


def integration(depth):
    weights = np.ones((2, *depth.shape))
    weights[1, :, 9] = 0.01
    return Integration(depth, np.zeros(1), 1, True, 0.0, tuple(weights))


def cooling():
    rng = np.random.default_rng(0)
    p, q = 0.01 * rng.standard_normal((2, *PEAKS.shape))
    noise = measure(p, q, PEAKS < 99)
    return [PEAKS] * 24, look(p, q, PEAKS < 99, noise), noise.typical


def failing():
    one = scene("steps", 2, 48)
    return {"steps 2": (one, Integration(one.surface.depth, np.zeros(1), 1, True, 0.0, (one.p, one.q)))}


EXAMPLES = {
    figures.close_ups: lambda draw: draw({"reference": RGB, "quadratic": RGB}, np.s_[5:15, 8:20]),
    figures.control_points: lambda draw: draw(
        dict.fromkeys(("truth, through windows", "no prior\nerror 10.2 px"), PEAKS), (np.array([3]),) * 2,
        [1, 2, 64], {"the rule": np.ones((2, 3)), "pinned": np.ones((2, 3)) + [[0.1], [0]]}, noise=2.0),
    figures.convergence: lambda draw: draw(
        dict.fromkeys(METHODS, {"paper": ([1, 20], [5, 3]), "fast": ([0.1, 20], [4, 1])})),
    figures.curves: lambda draw: draw(dict.fromkeys(METHODS[:3], {
        "x": [1e-9, 1e-6], "xlabel": "λ", "ylabel": "RMSE (pixels)", "log": True,
        "lines": dict.fromkeys(METHODS, [1, 2])})),
    figures.decision: lambda draw: draw(overview.decision()),
    figures.discontinuities: lambda draw: draw(
        dict.fromkeys(METHODS, integration(PEAKS)), mask=PEAKS > 0),
    figures.domain: lambda draw: draw(Domain([[1, 1], [1, 0]])),
    figures.error_against_noise: lambda draw: draw(
        (0, 0.1), dict.fromkeys(("quadratic", "calibrated"), np.ones((2, 2))), xlabel="σ", ylabel="error"),
    figures.error_maps: lambda draw: draw({title: 2 * z for title, z in FOUR.items()}, PEAKS, linear=0.5),
    figures.from_map_to_mesh: lambda draw: draw(np.dstack([PEAKS / 99] * 3), integration(PEAKS)),
    figures.jump_illustration: lambda draw: draw(np.arange(9.0), np.ones(9), {"flat": (np.zeros(9), {})}),
    figures.light_readings: lambda draw: draw(
        readings(PHOTOGRAPHS, LIGHTS, STATUE.mask), PHOTOGRAPHS, STATUE.mask, title="which light?"),
    figures.merging: lambda draw: draw(
        dict.fromkeys(("prior alone\n20.04 pixels off", "normals", "merged", "Φ1, noise rule"), PEAKS + 2),
        PEAKS, row=5),
    figures.noise_and_time: lambda draw: draw(
        [0, 0.1], dict.fromkeys(("quadratic", "DCT"), np.ones((3, 2))), SIZES,
        {"DCT": SIZES * 1e-7, "quadratic": SIZES * 1e-6}),
    figures.pictures: lambda draw: draw(dict.fromkeys(("(a) picture", "(b) restored: 20 dB"), RGB)),
    figures.prior_weight_bias: lambda draw: draw([64, 512, 2048], {1e-6: [4e-4, 2.6e-2, 0.3]}),
    figures.problem: lambda draw: draw(STATUE),
    figures.profiles: lambda draw: draw({"truth": PEAKS, "Mumford-Shah on the whole grid": PEAKS}, row=5),
    figures.reconstructions: lambda draw: draw(
        {f"image {k}": (PHOTOGRAPHS[k], LIGHTS[k]) for k in range(3)},
        dict.fromkeys(("least squares", "diffusion"), STATUE.depth),
        dict.fromkeys(("least squares: MAE 9.21°", "diffusion: MAE 8.23°"), PHOTOGRAPHS[0]), title="Cat"),
    figures.surfaces: lambda draw: draw(FOUR, truth=PEAKS, column=12, rows=slice(15, 24)),
    figures.trust_maps: lambda draw: draw({"a": PEAKS + 1, "b": PEAKS - 1, "c": PEAKS}, PEAKS, PEAKS > 0),
    figures.weight_curves: lambda draw: draw(dict.fromkeys(METHODS, {
        "weights": [0.1, 1, 10], "errors": [3, 1, 2], "marks": {"rule": (1, 1)}, "levels": {"prior": 4}})),
    figures.weight_scale: lambda draw: draw(
        [12, 48, 384], {0.01: [0.04, 0.37, 0.9]}, [48, 96, 288], {"a value per pixel": [4.0, 1.0, 0.1]}),
    open_problem.cuts: lambda draw: draw(dict.fromkeys(("vase", "tent"), integration(PEAKS))),
    open_problem.failures: lambda draw: draw(failing()),
    open_problem.graduated_weights: lambda draw: draw(*cooling()),
    open_problem.noise_maps: lambda draw: draw(abs(PEAKS), abs(PEAKS), abs(PEAKS)),
    open_problem.predicted_steps: lambda draw: draw(
        np.linspace(0, 9, 320) ** 2, np.ones(319), np.ones(320), (305, 316)),
    open_problem.stages: lambda draw: draw({"quantised 2": FOUR, "varying 2": FOUR}),
    open_problem_charts.cost_chart: lambda draw: draw(
        [25600, 102400, 409600], {"quadratic": [1, 4, 17], "calibrated": [99, 420, 2000]}),
    open_problem_charts.odds_chart: lambda draw: draw(
        jumps.Frequencies(ANGLES, FALLS, *COUNTS, np.array([5.0, 60.0]), np.array([-1.0, 2.0])),
        jumps.Odds(0.1, 1.0, 1e-3)),
    open_problem_charts.ratio_chart: lambda draw: draw(RATIOS, xlabel="error / error", reference="the best"),
    open_problem_charts.reliability_chart: lambda draw: draw(
        {"kept apart": {"cut": np.array([[0.5, 0.6, 100]]), "held": np.array([[0.9, 0.9, 1000]])}}),
    open_problem_charts.sensitivity_chart: lambda draw: draw(dict.fromkeys(("scenes", "vase", "tent"), {
        (f"constant_{k}", factor): 1 + 0.05 * k * factor for k in range(12) for factor in (0.5, 2.0)})),
}  # fmt: skip


def test_every_figure_has_an_example():
    modules = (figures, open_problem, open_problem_charts)
    drawing = {
        value for module in modules for value in vars(module).values() if hasattr(value, "__wrapped__")
    }
    assert drawing == set(EXAMPLES)


@pytest.mark.parametrize("draw", EXAMPLES, ids=lambda draw: draw.__name__)
def test_our_figures_can_be_read(draw):
    figure = EXAMPLES[draw](draw)
    assert figure.get_figwidth() <= PAGE + 1e-9
    assert faults(figure) == []


def test_a_wide_table_can_be_read():
    headings = ["", "Fast", "Robust", "Free boundary", "Discontinuities", "Any domain", "No parameter",
                "Local minima", "Staircasing"]  # fmt: skip
    rows = [["total variation", *["+++ (−)\n1.21 × LS"] * 7, "No (Yes)\n0.04 %"]] * 10
    assert faults(figures.table(rows, headings, caption="In brackets: the paper's sign.")) == []


# What is published.


@pytest.mark.parametrize("path", sorted((ROOT / "figures").glob("*.png")), ids=lambda path: path.stem)
def test_published_figures_fit_the_page_and_keep_off_its_border(path):
    with Image.open(path) as picture:
        width, dots = picture.size[0], picture.info["dpi"][0]
        pixels = np.asarray(picture.convert("RGB"))
    assert width / dots <= PAGE + 0.01
    border = [pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]]
    assert all((side == 255).all() for side in border)


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_no_notebook_was_warned_of_its_figures(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    told = "".join("".join(output.get("text", ())) for output in outputs)
    assert "UserWarning: figure " not in told
