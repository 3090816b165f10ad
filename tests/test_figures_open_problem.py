"""The pictures of the open problem show what they are given."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from normint.methods.calibrated.edges import look
from normint.methods.calibrated.noise import measure
from normint.surfaces.scenes import scene
from normint.workbook.figures import open_problem as draw
from normint.workbook.figures import open_problem_charts as charts
from normint.workbook.studies import jumps as jumps_study

ONES = np.ones((6, 8))


def integration(depth, cut=None):
    """Return a depth with weights that are 1 but for the edges to the right of a column."""
    down, right = np.ones(depth.shape), np.ones(depth.shape)
    down[-1], right[:, -1] = 0, 0
    if cut is not None:
        right[:, cut] = 0
    return SimpleNamespace(depth=depth, weights=(down, right))


def test_noise_maps_share_their_colours():
    figure = draw.noise_maps(ONES, 2 * ONES, 3 * ONES)
    _, measured, true = (axes.images[0] for axes in figure.axes[:3])
    assert measured.get_clim() == true.get_clim() == (0, 3)


def test_predicted_steps_draws_true_steps_beside_both_predictions():
    depth = np.array([0.0, 1.0, 3.0, 3.0, 2.0])
    right = draw.predicted_steps(depth, np.full(4, 0.5), np.full(5, 0.25), (1, 4)).axes[1]
    heights = {c.get_label(): [bar.get_height() for bar in c] for c in right.containers}
    assert heights == {"true": [2, 0, -1], "mean of two slopes": [0.5] * 3, "predicted": [0.25] * 3}


def test_weights_fall_where_the_surface_breaks_while_it_cools():
    rng, zero = np.random.default_rng(0), np.zeros((16, 20))
    p, q = 0.01 * rng.standard_normal((2, *zero.shape))
    noise = measure(p, q, zero == 0)
    edges = look(p, q, zero == 0, noise)
    depth = np.where(np.arange(20) < 10, 0.0, 5.0) + zero
    figure = draw.graduated_weights([depth] * 24, edges, noise.typical, cooling=1.5, columns=3)
    images = [axes.images[0].get_array() for axes in figure.axes[:3]]
    at_jump, elsewhere = ([image[:, column].min() for image in images] for column in (9, 4))
    # It begins with a third of the largest residual: x = r²/(2 C τ²) is 9/(2 C) there.
    price = edges.price[1, :, 9, 1].min()
    assert at_jump[0] == pytest.approx(1 / (1 + 4.5 / price), rel=0.01)
    assert at_jump[-1] < 1e-3 and min(elsewhere) > 0.3
    assert figure.axes[2].get_title() == "τ = 0 σ"


def test_stages_share_colours_within_a_surface():
    rows = {"a": {"first": 4 * ONES, "last": ONES}, "b": {"first": ONES}}
    figure = draw.stages(rows)
    limits = {axes.get_title(): axes.images[0].get_clim() for axes in figure.axes[:2]}
    assert limits == {"first": (-4, 4), "last": (-4, 4)}
    assert figure.axes[2].images[0].get_clim() == (-1, 1) and not figure.axes[3].get_visible()


def test_pixels_on_both_sides_of_a_cut_are_marked_and_the_border_is_not():
    result = integration(np.zeros((6, 8)), cut=3)
    expected = np.zeros((6, 8), bool)
    expected[:, 3:5] = True
    np.testing.assert_array_equal(draw.beside_cuts(result), expected)
    assert draw.cuts({"a": result}).axes[0].get_title() == "a: 12 pixels beside a cut"


def test_edges_that_leave_the_mask_are_no_cuts():
    depth = np.where(np.arange(8) < 4, 0.0, np.nan) * ONES
    assert not draw.beside_cuts(integration(depth, cut=3)).any()


def test_failures_judge_every_jump():
    s = scene("steps", 2, 48)
    right = s.jumps[1] > draw.JUMP
    down = s.jumps[0] > draw.JUMP
    all_found = SimpleNamespace(depth=s.surface.depth, weights=(1.0 - down, 1.0 - right))
    none_found = SimpleNamespace(depth=s.surface.depth, weights=(np.ones_like(s.p), np.ones_like(s.p)))
    figure = draw.failures({"all": (s, all_found), "none": (s, none_found)})
    found, missed = (np.asarray(figure.axes[k].images[0].get_array()) for k in (3, 7))
    true = right | np.roll(right, 1, 1) | down | np.roll(down, 1, 0)
    for picture, name in ((found, "found"), (missed, "missed")):
        np.testing.assert_array_equal((picture == to_rgb(draw.CUT_COLOURS[name])).all(-1), true)


def test_a_ratio_chart_has_one_mark_for_each_value():
    (axes,) = charts.ratio_chart(
        {"a": {"anisotropic_diffusion": 2.0, "calibrated": 0.5}, "b": {"calibrated": 1.0}},
        xlabel="x",
        reference="1",
    ).axes
    marks = {line.get_label(): line.get_xydata().tolist() for line in axes.lines[:2]}
    assert marks == {"diffusion": [[2.0, 0.0]], "calibrated": [[0.5, 0.0], [1.0, 1.0]]}
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]


def test_the_sensitivity_chart_shows_both_factors_and_all_values():
    changes = {"case": {("c", 0.5): 0.3, ("c", 2.0): 4.0, ("d", 0.5): 1.0, ("d", 2.0): 1.0}}
    (axes,) = charts.sensitivity_chart(changes).axes
    assert {line.get_label(): line.get_xdata().tolist() for line in axes.lines[:2]} == {
        "halved": [0.3, 1.0], "doubled": [4.0, 1.0],
    }  # fmt: skip
    low, high = axes.get_xlim()
    assert low < 0.3 and high > 4.0


def test_the_sensitivity_chart_leaves_out_what_hardly_matters():
    factors = {"little": 1.01, "most": 0.2, "much": 3.0, "nothing": 1.0}
    changes = {"case": {(name, f): ratio for name, ratio in factors.items() for f in (0.5, 2.0)}}
    (axes,) = charts.sensitivity_chart(changes, shown=3).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["most", "much", "little"]


def test_the_cost_chart_divides_by_the_base():
    right = charts.cost_chart([100, 400], {"quadratic": [1.0, 4.0], "calibrated": [10.0, 80.0]}).axes[1]
    np.testing.assert_allclose(right.lines[0].get_ydata(), [10.0, 20.0])


def test_the_odds_chart_has_a_line_for_each_angle_and_a_point_for_each_bin_with_jumps():
    count, jumps = np.array([[100, 50], [0, 0], [10, 20]]), np.array([[0, 5], [0, 0], [1, 10]])
    limits = np.array([0.0, 10, 20, 180]), np.array([-np.inf, 0, np.inf])
    means = np.array([5.0, np.nan, 60.0]), np.array([-1.0, 2.0])
    odds = jumps_study.Odds(0.1, 1.0, 1e-3)
    (axes,) = charts.odds_chart(jumps_study.Frequencies(*limits, count, jumps, *means), odds).axes
    points = {bars.get_label(): bars.lines[0].get_xydata().tolist() for bars in axes.containers}
    assert points == {"20° to 180°": [[-1.0, 0.1], [2.0, 0.5]], "0° to 10°": [[2.0, 0.1]]}
    curves = [line for line in axes.lines if len(line.get_xdata()) > 50]
    assert len(curves) == 2
    for curve, angle in zip(curves, (60.0, 5.0), strict=True):
        at, share = curve.get_data()
        np.testing.assert_allclose(share / (1 - share), odds(np.radians(angle), at))
