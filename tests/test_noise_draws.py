"""Experiments over noise draws, and how they are reported."""

import numpy as np
import pytest

import normint
from normint import surfaces
from normint.surfaces.rendering import photograph
from normint.workbook import results
from normint.workbook.studies.noise_draws import (
    First,
    Runs,
    depth_angular_error,
    integrate_inside,
    over_seeds,
    photometric_gradient,
    report,
    titled_depths,
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NORMINT_FIGURES", str(tmp_path))
    return tmp_path


def runs_with(errors):
    depth = np.zeros((2, 2))
    return Runs(First(depth, np.zeros(1), 1), np.array(errors))


def test_every_seed_is_a_draw_of_its_own_and_the_first_is_kept():
    peaks = surfaces.peaks(24)
    runs = over_seeds("peaks", 0.1, range(3, 6), n=24, method="quadratic")
    assert len(set(runs.errors)) == 3
    noisy = peaks.with_noise(0.1, np.random.default_rng(3))
    np.testing.assert_array_equal(runs.first.depth, normint.integrate(noisy.p, noisy.q).depth)
    assert (runs.mean, runs.spread) == (np.mean(runs.errors), np.std(runs.errors))


def test_without_noise_one_draw_is_enough():
    assert len(over_seeds("peaks", 0.0, range(5), n=24).errors) == 1


def test_report_records_the_mean_and_its_spread(folder, capsys):
    runs = {"mu=1": runs_with([4.90, 5.00]), "mu=45": runs_with([3.0, 3.2])}
    report("fig13", runs, tolerance=0.1, note="a note", reasons={"mu=45": "a reason"})
    first, second = results.read(folder)
    assert (first["ours"], first["spread"], first["verdict"]) == ("4.95", "0.05", "reproduced within 0.1")
    assert "first draw 4.90, mean of 2; a note" in first["note"]
    assert second["verdict"].startswith("not reproduced: a reason")
    printed = capsys.readouterr().out
    assert "4.94" in printed and "4.95 ± 0.05" in printed and "not reproduced" in printed


def test_a_miss_without_a_reason_is_refused(folder):
    with pytest.raises(ValueError, match="note must say why"):
        report("fig13", {"mu=45": runs_with([3.0])}, tolerance=0.1)


def test_panels_show_our_error_and_the_papers():
    (title,) = titled_depths("fig13", {"mu=45": runs_with([2.471, 2.6])}, {"mu=": "μ = "})
    assert title == "μ = 45\nRMSE 2.47 (paper: 2.37)"


class TestPhotographs:
    LIGHTS = np.array([[0.0, 0.4, 1.0], [-0.4, 0.0, 1.0], [0.2, -0.3, 1.0], [0.0, 0.0, 1.0]])

    def test_the_gradient_of_a_lit_surface_comes_back(self):
        surface = surfaces.peaks(32)
        images = photograph(surface, self.LIGHTS).astype(float)
        p, q, normals = photometric_gradient(images, self.LIGHTS)
        lit = (images > 0).all(axis=0)
        # 16 bits: brightness is known to 1e-5 of the largest, slopes of up to 3 to ten times that.
        np.testing.assert_allclose(p[lit], surface.p[lit], atol=1e-3)
        np.testing.assert_allclose(q[lit], surface.q[lit], atol=1e-3)
        assert np.nanmax(np.abs(np.linalg.norm(normals, axis=2) - 1)) < 1e-12

    def test_black_pixels_and_normals_that_face_away_are_flat(self):
        images = np.ones((4, 3, 3))
        images[:, 0, 0] = 0
        images[:, 1, 1] = -self.LIGHTS @ np.array([0.1, 0.2, 1.0])
        p, q, _ = photometric_gradient(images, self.LIGHTS)
        assert p[0, 0] == q[0, 0] == p[1, 1] == q[1, 1] == 0

    def test_noise_is_relative_to_the_brightest_pixel_inside_the_mask(self):
        images = np.full((4, 60, 60), 2.0)
        images[:, 0] = 1e6  # outside
        mask = np.ones((60, 60), dtype=bool)
        mask[0] = False
        lights = 1.0 * self.LIGHTS
        clean = photometric_gradient(images, lights, mask)[2]
        noisy = photometric_gradient(images, lights, mask, sigma=0.01, rng=np.random.default_rng(0))[2]
        angle = normint.metrics.angular_error(clean, noisy)[mask].mean()
        louder = photometric_gradient(images, lights, mask, sigma=0.02, rng=np.random.default_rng(0))[2]
        assert 0.5 < angle < 5
        assert normint.metrics.angular_error(clean, louder)[mask].mean() == pytest.approx(2 * angle, rel=0.05)

    def test_rectangular_methods_get_zeros_around_the_mask(self):
        vase = surfaces.vase(48)
        p, q = (np.where(vase.mask, slope, np.nan) for slope in (vase.p, vase.q))
        depth = integrate_inside(p, q, vase.mask, "dct")
        whole = normint.integrate(vase.p, vase.q, method="dct").depth  # the vase's background is flat
        np.testing.assert_allclose(depth[vase.mask], (whole - whole[vase.mask].mean())[vase.mask])
        assert np.isnan(depth[~vase.mask]).all()
        on_mask = normint.integrate(p, q, vase.mask).depth
        np.testing.assert_array_equal(integrate_inside(p, q, vase.mask, "quadratic"), on_mask)

    def test_the_border_of_a_depth_has_no_angular_error(self):
        u, v = np.mgrid[:6, :7]
        error, mean = depth_angular_error(0.5 * u, np.broadcast_to([0.0, 0.0, 1.0], (6, 7, 3)))
        assert np.isfinite(error).sum() == 4 * 5
        assert mean == pytest.approx(np.degrees(np.arctan(0.5)))
