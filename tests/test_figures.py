"""Figures show what they are given, and are written whole or not at all."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.image import imread

from normint import figures, surfaces
from normint.domain import Domain


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
