"""Figures show what they are given, and are written whole or not at all."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.image import imread

from normint import Integration, surfaces
from normint.domain import Domain
from normint.workbook import figures


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NORMINT_FIGURES", str(tmp_path))
    return tmp_path


def test_save_writes_png_and_pdf_that_are_the_same_each_time(folder):
    def contents():
        figures.save(figures.domain(Domain([[1, 1], [1, 0]])), "fig01_domain")
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    first = contents()
    assert sorted(first) == ["fig01_domain.pdf", "fig01_domain.png"]
    assert contents() == first
    assert imread(folder / "fig01_domain.png").std() > 0.01


def test_a_stand_in_never_takes_the_place_of_real_data(folder):
    picture = figures.domain(Domain([[1]]))
    figures.save(picture, "fig10_cat", data="real")
    real = (folder / "fig10_cat.png").read_bytes()
    figures.save(picture, "fig10_cat", data="stand-in")
    assert (folder / "fig10_cat.png").read_bytes() == real
    assert (folder / "fig10_cat_stand-in.png").exists()
    assert [text.get_text() for text in picture.texts] == ["stand-in data"]


def test_a_figure_that_cannot_be_drawn_leaves_nothing_behind(folder):
    picture = figures.domain(Domain([[1]]))
    picture.savefig = lambda *args, **kwargs: 1 / 0
    with pytest.raises(ZeroDivisionError):
        figures.save(picture, "fig01_domain")
    assert list(folder.iterdir()) == []


def test_surfaces_share_their_axes_and_shift_constants():
    z = surfaces.peaks(32).depth
    figure = figures.surfaces({"truth": z, "raised": z + 100}, columns=2)
    first, second = figure.axes
    assert first.get_zlim() == second.get_zlim() == pytest.approx((z.min(), z.max()))
    low, high = first.get_ylim()
    assert low > high, "u points down"


def test_surfaces_accept_a_masked_depth(folder):
    vase = surfaces.vase()
    figure = figures.surfaces({"vase": np.where(vase.mask, vase.depth, np.nan)}, columns=1)
    figures.save(figure, "fig04_vase")
    picture = imread(folder / "fig04_vase.png")
    assert (np.abs(picture[..., :3] - to_rgba("white")[:3]).sum(axis=-1) > 0.1).mean() > 0.02


def test_error_maps_do_not_depend_on_the_constant():
    z = surfaces.peaks(16).depth
    figure = figures.error_maps({"off by a constant": z + 7, "wrong": 2 * z}, z)
    exact, wrong = (axes.images[0].get_array() for axes in figure.axes[:2])
    assert np.abs(exact).max() < 1e-12 < np.abs(wrong).max()


def test_domain_draws_every_pixel_once():
    omega = Domain([[1, 1, 1], [1, 1, 1], [1, 1, 0]])
    labels = [text.get_text() for text in figures.domain(omega).axes[0].texts]
    assert sorted(labels) == [str(k) for k in range(1, 9)]


def test_noise_and_time_name_their_slopes():
    figure = figures.noise_and_time(
        [0, 0.1], {"quadratic": np.ones((3, 2))}, [10, 100, 1000], {"DCT": [1.0, 10.0, 100.0]}
    )
    legend = figure.axes[1].get_legend().get_texts()[0].get_text()
    assert legend == "DCT: slope 1.00"


def test_fitted_slope_ignores_sizes_that_were_not_measured():
    sizes = np.array([1.0, 10, 100, 1000, 10000])
    values = np.array([5, 10, 10**2.5, 10**4, np.nan])
    assert figures.fitted_slope(sizes, values) == pytest.approx(1.5)


def test_profiles_cut_rows_or_columns():
    z = np.arange(12.0).reshape(3, 4)
    across, down = figures.profiles({"z": z}, row=1), figures.profiles({"z": z}, column=2)
    np.testing.assert_array_equal(across.axes[0].lines[0].get_ydata(), z[1])
    np.testing.assert_array_equal(down.axes[0].lines[0].get_ydata(), z[:, 2])


def test_prior_weight_bias_draws_measurement_and_theory():
    figure = figures.prior_weight_bias([64, 128], {1e-6: [4e-4, 1.6e-3]})
    measured, theory = figure.axes[0].lines[:2]
    np.testing.assert_allclose(theory.get_ydata(), measured.get_ydata(), rtol=0.05)


def jumping():
    """Return the results of two methods on a step, which shows in their weights."""
    depth = np.zeros((8, 10))
    depth[:, 5:] = 3.0
    weights = np.ones((2, 8, 10))
    weights[0, -1], weights[1, :, -1], weights[1, :, 4] = 0.0, 0.0, 0.01
    return {"one": Integration(depth, np.zeros(1), 1, True, 0.0, tuple(weights))}


def test_discontinuities_are_marked_on_both_sides_of_weak_edges():
    (axes,) = figures.discontinuities(jumping()).axes
    marks = axes.images[1].get_array()
    assert np.ma.count(marks, axis=0).tolist() == [0, 0, 0, 0, 8, 8, 0, 0, 0, 0]
    assert axes.get_title() == "one: 16 pixels"


def test_discontinuities_can_be_drawn_over_a_picture():
    picture = np.arange(80.0).reshape(8, 10)
    (axes,) = figures.discontinuities(jumping(), image=picture).axes
    np.testing.assert_array_equal(axes.images[0].get_array(), picture)


def test_curves_have_their_labels_and_scales():
    panel = {"x": [1, 10], "xlabel": "λ", "ylabel": "RMSE", "log": True, "lines": {"a": [1, 2], "b": [3, 4]}}
    (axes,) = figures.curves({"title": {**panel, "marks": {"b": 3.5}}}).axes
    assert axes.get_xscale() == "log" and axes.get_xlabel() == "λ" and axes.get_title() == "title"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    assert axes.lines[-1].get_ydata()[0] == 3.5


def test_convergence_shows_both_schemes_on_one_scale():
    runs = {"method": {"paper": ([1.0, 2.0], [5.0, 3.0]), "fast": ([0.1, 0.2], [4.0, 1.0])}}
    (axes,) = figures.convergence(runs).axes
    heights = [line.get_ydata().tolist() for line in axes.lines]
    assert heights == [[1.0, 0.5], [0.75, 0.0]]


def test_the_jump_illustration_shows_a_stroke_for_every_slope():
    truth, slopes = np.arange(4.0), np.full(4, 2.0)
    (axes,) = figures.jump_illustration(truth, slopes, {"zero": (0 * truth, {"color": "C0"})}).axes
    strokes = [line for line in axes.lines if len(line.get_xdata()) == 2]
    rise = [np.ptp(line.get_ydata()) / np.ptp(line.get_xdata()) for line in strokes]
    assert rise == pytest.approx([2.0] * 4)


def test_tables_show_every_cell():
    picture = figures.table([["a", "+\n1"], ["b", "-\n2"]], ["", "Fast"], caption="below")
    cells = picture.axes[0].tables[0].get_celld()
    assert cells[1, 1].get_text().get_text() == "+\n1" and cells[0, 1].get_text().get_text() == "Fast"
