"""Figures show what they are given, and are written whole or not at all."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.image import imread

from normint import Integration, surfaces
from normint.domain import Domain
from normint.normals.light_order import readings
from normint.surfaces.rendering import photograph
from normint.workbook import figures

PEAKS = surfaces.peaks(24).depth
STATUE = surfaces.bust(48)
LIGHTS = np.array([[0.1, 0.3, 1.0], [-0.3, 0.0, 1.0], [0.1, -0.3, 1.0]])
PHOTOGRAPHS = photograph(STATUE, LIGHTS, mask=STATUE.mask, bits=8)
INPUTS = {f"image {k}": (PHOTOGRAPHS[k], LIGHTS[k]) for k in range(3)}
IMAGE, OTHER = np.random.default_rng(0).integers(0, 256, (2, 20, 30, 3), dtype=np.uint8)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NORMINT_FIGURES", str(tmp_path))
    return tmp_path


def test_save_writes_png_and_pdf_that_are_the_same_each_time(folder):
    def contents():
        figures.save(figures.domain(Domain([[1, 1], [1, 0]])), "fig01_domain")
        assert imread(folder / "fig01_domain.png").std() > 0.01
        made = {path.name: path.read_bytes() for path in folder.iterdir()}
        for name in made:
            (folder / name).unlink()
        return made

    first = contents()
    assert sorted(first) == ["fig01_domain.pdf", "fig01_domain.png"]
    assert contents() == first


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


def heights(axes):
    """Return from where to where the facets of a surface go on the paper."""
    (facets,) = axes.collections
    return np.array([path.vertices[:, 1] for path in facets.get_paths()])


def test_surfaces_share_their_axes_and_shift_constants():
    z = surfaces.peaks(32).depth
    first, second = figures.surfaces({"truth": z, "raised": z + 100}, columns=2).axes
    np.testing.assert_allclose(heights(first), heights(second))
    assert first.get_xlim() == second.get_xlim() and first.get_ylim() == second.get_ylim()


def test_a_surface_fills_its_axes_and_u_points_down():
    ramp = np.arange(40.0)[:, np.newaxis] + np.zeros(30)
    (axes,) = figures.surfaces({"ramp": ramp}, view=(90, -90)).axes
    assert axes.get_ylim() == pytest.approx((-39, 0), abs=0.5)
    assert axes.get_xlim() == pytest.approx((0, 29), abs=0.5)


def test_nearer_facets_are_drawn_over_farther_ones():
    (axes,) = figures.surfaces({"plane": np.zeros((20, 20))}, view=(30, -90)).axes
    assert (np.diff(heights(axes).mean(axis=1)) < 1e-9).all()  # on a plane, what is lower is nearer


def test_nothing_is_drawn_over_jumps():
    z = np.where(np.arange(20) < 10, 0.0, 5.0) + np.zeros((20, 1))
    whole, cut = (figures.surfaces({"": z}, steepest=one).axes[0] for one in (np.inf, 2.0))
    assert len(heights(whole)) == 19 * 19 and len(heights(cut)) == 19 * 18


def test_the_cut_below_a_surface_shows_the_rows_asked_for_with_the_truth():
    z = surfaces.peaks(32).depth
    surface, cut = figures.surfaces({"twice": 2 * z}, truth=z, column=5, rows=slice(20, 30)).axes
    truth, found = (line.get_xydata() for line in cut.lines)
    np.testing.assert_array_equal(truth, np.transpose([np.arange(20, 30), z[20:30, 5]]))
    np.testing.assert_allclose(found[:, 1], (2 * z - z.mean())[20:30, 5])


def test_surfaces_accept_a_masked_depth(folder):
    vase = surfaces.vase()
    figure = figures.surfaces({"vase": np.where(vase.mask, vase.depth, np.nan)}, columns=1)
    figures.save(figure, "fig04_vase")
    picture = imread(folder / "fig04_vase.png")
    assert (np.abs(picture[..., :3] - to_rgba("white")[:3]).sum(axis=-1) > 0.1).mean() > 0.1


def test_small_errors_are_seen_beside_large_ones():
    truth = np.zeros((8, 8))
    small, large = truth.copy(), truth.copy()
    small[0, 0], large[0, 0] = 0.5, 500.0
    small_map = figures.error_maps({"small": small, "large": large}, truth, linear=0.5).axes[0].images[0]
    assert abs(small_map.norm(0.5) - small_map.norm(0.0)) > 0.04


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


def test_cuts_on_the_outline_of_an_object_are_told_from_others():
    mask = np.zeros((8, 10), bool)
    mask[:, 5:] = True
    (axes,) = figures.discontinuities(jumping(), mask=mask).axes
    assert set(axes.images[1].get_array().compressed()) == {1}
    (axes,) = figures.discontinuities(jumping(), mask=np.ones((8, 10), bool)).axes
    assert 2 in axes.images[1].get_array().compressed()


def test_curves_have_their_labels_and_scales():
    panel = {"x": [1, 10], "xlabel": "λ", "ylabel": "RMSE", "log": True, "lines": {"a": [1, 2], "b": [3, 4]}}
    (axes,) = figures.curves({"title": {**panel, "marks": {"b": 3.5}}}).axes
    assert axes.get_xscale() == "log" and axes.get_xlabel() == "λ" and axes.get_title() == "title"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    assert axes.lines[-1].get_ydata()[0] == 3.5


def test_a_point_off_its_curve_is_drawn():
    panel = {"x": [1, 10], "xlabel": "x", "ylabel": "y", "lines": {"a": [1, 1]}, "points": {"a": (5, 0)}}
    (axes,) = figures.curves({"title": panel}).axes
    assert axes.lines[-1].get_xydata().tolist() == [[5, 0]]


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


# Colour images.


def test_pictures_are_shown_unchanged_with_u_down():
    figure = figures.pictures({"one": IMAGE, "two": OTHER}, columns=3)
    assert [axes.get_title() for axes in figure.axes] == ["one", "two"]
    for axes, image in zip(figure.axes, (IMAGE, OTHER), strict=True):
        assert np.array_equal(axes.images[0].get_array(), image)
        low, high = axes.get_ylim()
        assert low > high


def test_unused_places_stay_empty():
    figure = figures.pictures({name: IMAGE for name in "abc"}, columns=2)
    assert [axes.get_visible() for axes in figure.axes] == [True, True, True, False]


def test_only_kept_pixels_have_colour():
    keep = IMAGE[..., 0] < 128
    shown = figures.only_kept(IMAGE, keep)
    assert np.array_equal(shown[keep], IMAGE[keep]) and (shown[~keep] == 255).all()


def test_close_ups_show_the_window_and_its_error():
    window = np.s_[5:15, 8:20]
    figure = figures.close_ups({"reference": IMAGE, "copy": IMAGE, "other": OTHER}, window)
    upper, lower = figure.axes[:3], figure.axes[3:6]
    assert np.array_equal(upper[2].images[0].get_array(), OTHER[window])
    assert upper[2].get_xlim() == (7.5, 19.5) and upper[2].get_ylim() == (14.5, 4.5)
    assert not lower[1].images[0].get_array().any()
    error = np.abs(np.subtract(OTHER, IMAGE, dtype=float))[window].mean(axis=-1)
    assert np.asarray(lower[2].images[0].get_array()) == pytest.approx(error)
    assert lower[2].get_title().endswith(f"{error.mean():.1f}")


# Photographs.


def arrow(axes):
    """Return start and end of the arrow of a panel, as (u, v)."""
    (note,) = axes.texts
    return np.array(note.xyann[::-1]), np.array(note.xy[::-1])


def test_arrows_come_from_the_light():
    depth = np.where(STATUE.mask, STATUE.depth, np.nan)
    figure = figures.reconstructions(INPUTS, {"truth": depth, "again": depth})
    for axes, light in zip(figure.axes[:3], LIGHTS, strict=True):
        start, end = arrow(axes)
        aside = (start - end) / np.linalg.norm(start - end)
        np.testing.assert_allclose(aside, light[:2] / np.linalg.norm(light[:2]), atol=1e-12)
        assert axes.get_ylim()[0] > axes.get_ylim()[1], "u points down"


def test_errors_have_one_scale_from_blue_to_red():
    depths = {"a": STATUE.depth, "b": STATUE.depth}
    errors = {"a: 0": np.zeros((48, 48)), "b: 60": np.full((48, 48), 60.0)}
    figure = figures.reconstructions(INPUTS, depths, errors, title="whole", letters=True)
    maps = [axes.images[0] for axes in figure.axes if axes.images][-2:]
    for picture in maps:
        assert picture.get_clim() == (0, 60)
    blue, red = (picture.to_rgba(picture.get_array())[0, 0] for picture in maps)
    assert blue[2] > blue[0] and red[0] > red[2]
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[0].startswith("(a)") and titles[4].startswith("(e)")


def test_surfaces_are_drawn_about_their_mean_on_one_scale():
    figure = figures.reconstructions(INPUTS, {"a": STATUE.depth, "raised": STATUE.depth + 50})
    first, second = (axes for axes in figure.axes if axes.collections)
    np.testing.assert_allclose(heights(first), heights(second))


def test_the_best_reading_of_the_lights_stands_out():
    found = readings(PHOTOGRAPHS, LIGHTS, STATUE.mask)
    bars = figures.light_readings(found, PHOTOGRAPHS, STATUE.mask, shown=5).axes[0]
    assert [patch.get_width() for patch in bars.patches] == [reading.curl for reading in found[:5]]
    colours = [patch.get_facecolor() for patch in bars.patches]
    assert colours[0] not in colours[1:]


def test_error_against_noise_shows_mean_and_spread():
    samples = np.array([[1.0, 3.0], [3.0, 3.0]])  # seeds × noise levels
    figure = figures.error_against_noise((0.0, 0.1), {"quadratic": samples}, xlabel="σ", ylabel="error")
    (container,) = figure.axes[0].containers
    np.testing.assert_allclose(container[0].get_ydata(), [2.0, 3.0])
    (segments,) = container[2]
    lengths = [np.ptp(segment[:, 1]) for segment in segments.get_segments()]
    np.testing.assert_allclose(lengths, [2.0, 0.0])


# Priors.


def test_merging_draws_reliefs_a_cut_and_errors_without_a_shift():
    figure = figures.merging({"raised\nerror 2": PEAKS + 2}, PEAKS, row=5)
    truth, raised, _, error, _, cut = figure.axes
    assert truth.get_title() == "truth" and raised.get_title() == "raised\nerror 2"
    np.testing.assert_allclose(truth.images[0].get_array(), raised.images[0].get_array(), rtol=1e-12)
    np.testing.assert_array_equal(cut.lines[1].get_ydata(), PEAKS[5] + 2)
    np.testing.assert_allclose(error.images[0].get_array(), 2.0)


def test_merging_accepts_depths_with_holes():
    z = np.where(PEAKS > 0, PEAKS, np.nan)
    relief = figures.merging({"holes": z}, z, row=5, limit=1.0).axes[1].images[0].get_array()
    assert np.isnan(np.ma.filled(relief, np.nan)).sum() == np.isnan(z).sum()


def test_weight_curves_mark_the_choice_of_each_rule():
    panel = {"weights": [0.1, 1, 10], "errors": [3, 1, 2], "marks": {"rule": (1, 1)}, "levels": {"prior": 4}}
    (axes,) = figures.weight_curves({"case": panel}, columns=1).axes
    labels = {line.get_label(): line for line in axes.lines}
    assert list(labels) == ["merged, for every λ", "prior", "rule"]
    assert labels["rule"].get_xydata().tolist() == [[1, 1]] and labels["prior"].get_ydata()[0] == 4


def test_trust_maps_end_with_the_trust():
    trust = np.linspace(0, 1, PEAKS.size).reshape(PEAKS.shape)
    axes = figures.trust_maps({"a": PEAKS + 1, "b": PEAKS - 1, "c": PEAKS}, PEAKS, trust).axes
    np.testing.assert_allclose(axes[0].images[0].get_array(), 1.0)
    np.testing.assert_array_equal(axes[3].images[0].get_array(), trust)


def test_control_points_draw_the_mean_error_for_every_count():
    errors = {"rule": np.array([[2.0, 1.0], [4.0, 1.0]])}
    where = (np.array([3]), np.array([4]))
    figure = figures.control_points({"truth": PEAKS, "pinned": PEAKS}, where, [1, 2], errors, noise=2.0)
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
