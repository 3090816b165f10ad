"""From photographs to slopes, and how far the surface is from the normals."""

import numpy as np
import pytest

import normint
from normint import surfaces
from normint.datasets.records import ImageSet
from normint.surfaces.rendering import photograph
from normint.workbook.studies.photographs import (
    depth_angular_error,
    integrate_inside,
    photographed,
    photometric_gradient,
)
from normint.workbook.study import Study


def test_a_study_of_photographs_gives_what_they_give(tmp_path, monkeypatch):
    surface, lights = surfaces.peaks(64), TestPhotographs.LIGHTS
    truth = normint.gradient_to_normals(surface.p, surface.q)
    cat = ImageSet(photograph(surface, lights), lights, None, surface.mask, truth)
    monkeypatch.setattr("normint.datasets.cat", lambda which: cat)
    of_data = {"dataset": "small", "every": 2, "draw": 0}
    study = Study.over(photographed, **of_data, sigma=[0.0, 0.05], method=["quadratic", "dct"])
    angles = study.run(folder=tmp_path)["angle"]
    images, mask, truth = cat.grey()[:, ::2, ::2], cat.mask[::2, ::2], truth[::2, ::2]
    p, q, _ = photometric_gradient(images, lights, mask, sigma=0.05, rng=np.random.default_rng(0))
    assert angles[2] == depth_angular_error(integrate_inside(p, q, mask, "quadratic"), truth)[1]
    assert angles[2] > angles[0]


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
