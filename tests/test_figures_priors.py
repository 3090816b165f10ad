"""The pictures of priors show what they are given."""

import numpy as np
import pytest

from normint.surfaces import peaks
from normint.workbook import figures

TRUTH = peaks(24).depth


def test_merging_draws_reliefs_a_cut_and_errors_without_a_shift():
    figure = figures.merging({"raised\nerror 2": TRUTH + 2}, TRUTH, row=5)
    truth, raised, cut, error = figure.axes[:4]
    assert truth.get_title() == "truth" and raised.get_title() == "raised\nerror 2"
    np.testing.assert_allclose(truth.images[0].get_array(), raised.images[0].get_array(), rtol=1e-12)
    np.testing.assert_array_equal(cut.lines[1].get_ydata(), TRUTH[5] + 2)
    np.testing.assert_allclose(error.images[0].get_array(), 2.0)


def test_merging_accepts_depths_with_holes():
    z = np.where(TRUTH > 0, TRUTH, np.nan)
    relief = figures.merging({"holes": z}, z, row=5, limit=1.0).axes[1].images[0].get_array()
    assert np.isnan(np.ma.filled(relief, np.nan)).sum() == np.isnan(z).sum()


def test_weight_curves_mark_the_choice_of_each_rule():
    panel = {"weights": [0.1, 1, 10], "errors": [3, 1, 2], "marks": {"rule": (1, 1)}, "levels": {"prior": 4}}
    (axes,) = figures.weight_curves({"case": panel}, columns=1).axes
    labels = {line.get_label(): line for line in axes.lines}
    assert list(labels) == ["merged, for every λ", "prior", "rule"]
    assert labels["rule"].get_xydata().tolist() == [[1, 1]] and labels["prior"].get_ydata()[0] == 4


def test_trust_maps_end_with_the_trust():
    trust = np.linspace(0, 1, TRUTH.size).reshape(TRUTH.shape)
    axes = figures.trust_maps({"a": TRUTH + 1, "b": TRUTH - 1, "c": TRUTH}, TRUTH, trust).axes
    np.testing.assert_allclose(axes[0].images[0].get_array(), 1.0)
    np.testing.assert_array_equal(axes[3].images[0].get_array(), trust)


def test_control_points_draw_the_mean_error_for_every_count():
    errors = {"rule": np.array([[2.0, 1.0], [4.0, 1.0]])}
    where = (np.array([3]), np.array([4]))
    figure = figures.control_points({"truth": TRUTH, "pinned": TRUTH}, where, [1, 2], errors, noise=2.0)
    chart = figure.axes[-1]
    np.testing.assert_allclose(chart.containers[0].lines[0].get_ydata(), [3.0, 1.0])
    assert chart.get_xlabel() == "control points on each piece"


def test_weight_scale_names_the_exponents():
    best = {"per pixel": [4.0, 1.0, 0.25]}
    figure = figures.weight_scale([12, 48], {0.01: [0.04, 0.37]}, [10, 20, 40], best)
    left, right = figure.axes
    assert right.get_legend().get_texts()[0].get_text() == "per pixel: n^-2.0"
    formula = left.lines[0]
    at = np.interp(48, *formula.get_data())
    assert at == pytest.approx(0.01 / (0.01 + (2 * np.pi / 48) ** 2), rel=1e-3)
