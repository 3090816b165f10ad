"""Stand-ins: like the real data in form, with a true depth, and with the effects that the real data shows."""

import itertools

import numpy as np
import pytest

from normint import (
    datasets,
    depth_to_normals,
    integrate,
    metrics,
    normals_to_gradient,
    photometric_stereo,
)
from normint.datasets import stand_ins
from normint.normals.convert import gradient_to_normals
from normint.surfaces import bust, figurine
from normint.surfaces.rendering import cast_shadow


@pytest.fixture(scope="module")
def cat():
    return datasets.cat("stand-in")


@pytest.fixture(scope="module")
def seen(cat):
    """Return the normals that photometric stereo finds on the figurine."""
    return photometric_stereo(cat.grey(), cat.lights, cat.mask)[0]


@pytest.mark.slow
class TestCat:
    statue = figurine()

    def test_form(self, cat):
        assert (cat.data, "stand-in" in cat.name) == ("stand-in", True)
        assert cat.images.dtype == np.uint16
        assert cat.images.shape == (96, *self.statue.mask.shape, 3)
        assert cat.images.max() > 255  # sixteen bits, and they are used
        assert cat.lights.shape == cat.intensities.shape == (96, 3)

    def test_truth(self, cat):
        np.testing.assert_array_equal(cat.mask, self.statue.mask)
        np.testing.assert_array_equal(cat.depth, np.where(self.statue.mask, self.statue.depth, np.nan))
        expected = gradient_to_normals(self.statue.p, self.statue.q)[cat.mask]
        np.testing.assert_allclose(cat.normals[cat.mask], expected, atol=1e-15)

    def test_lights_come_from_the_front_and_from_all_sides(self, cat):
        # The file has four decimals.
        np.testing.assert_allclose(np.linalg.norm(cat.lights, axis=1), 1, atol=2e-4)
        assert (cat.lights[:, 2] > 0.5).all()
        np.testing.assert_allclose(cat.lights[:, :2].mean(axis=0), 0, atol=1e-3)
        assert (cat.intensities > 0).all()

    def test_lights_and_intensities_are_those_of_the_images(self, cat, seen):
        # Where all 96 lights reach the surface, Lambert's law holds and the normals are true up to the noise.
        free = cat.mask.copy()
        for light in cat.lights:
            free &= (cat.normals @ light > 0) & ~cast_shadow(self.statue.depth, light, cat.mask)
        assert free.sum() > 1000
        errors = metrics.angular_error(seen, cat.normals)
        assert errors[free].max() < 1
        assert errors[cat.mask & ~free].mean() > 1

    def test_colours_and_grey_give_the_same_normals(self, cat, seen):
        found, _ = photometric_stereo(cat.images, cat.lights, cat.mask, intensities=cat.intensities)
        np.testing.assert_allclose(found[cat.mask], seen[cat.mask], atol=1e-12)

    def test_diffusion_is_nearer_to_the_truth_than_least_squares(self, cat, seen):
        # As on the real Cat: the figurine hides parts of itself, and least squares smooths the jumps.
        p, q = normals_to_gradient(seen, cat.mask)
        normals, depths = {}, {}
        for method, options in (("quadratic", {}), ("anisotropic_diffusion", {"mu": 1.0, "nu": 1.0})):
            depth = integrate(p, q, cat.mask, method=method, **options).depth
            normals[method] = metrics.mean_angular_error(depth_to_normals(depth), cat.normals)
            depths[method] = metrics.rmse(depth, cat.depth, cat.mask)
        assert normals["anisotropic_diffusion"] < normals["quadratic"]
        assert depths["anisotropic_diffusion"] < depths["quadratic"]

    def test_two_are_equal(self, monkeypatch):
        monkeypatch.setattr(stand_ins, "figurine", lambda: figurine(30))
        one, two = stand_ins.cat(), stand_ins.cat()
        for field in ("images", "lights", "intensities", "mask", "normals", "depth"):
            np.testing.assert_array_equal(getattr(one, field), getattr(two, field))


class TestBeethoven:
    statue = bust()
    found = datasets.beethoven("stand-in")

    def test_form(self):
        assert (self.found.data, "stand-in" in self.found.name) == ("stand-in", True)
        assert (self.found.images.dtype, self.found.images.shape) == (np.uint8, (3, 256, 256))
        assert self.found.intensities is None
        np.testing.assert_array_equal(self.found.mask, self.statue.mask)
        np.testing.assert_array_equal(self.found.depth, self.statue.depth)

    def test_the_wall_is_darker_than_the_bust(self):
        for image in self.found.images:
            assert image[~self.found.mask].mean() < 0.3 * image[self.found.mask].mean()

    def test_the_lights_are_in_another_order_than_the_images(self):
        true = gradient_to_normals(self.statue.p, self.statue.q)
        errors = {}
        for order in itertools.permutations(range(3)):
            lights = self.found.lights[list(order)]
            normals, _ = photometric_stereo(self.found.images, lights, self.found.mask)
            errors[order] = metrics.mean_angular_error(normals, true)
        assert min(errors, key=errors.get) == (1, 0, 2)

    def test_two_are_equal(self):
        again = datasets.beethoven("stand-in")
        np.testing.assert_array_equal(again.images, self.found.images)
        np.testing.assert_array_equal(again.lights, self.found.lights)


class TestDepthAndNormals:
    statue = figurine()
    found = datasets.depth_and_normals("stand-in")

    def test_form(self):
        assert (self.found.data, "stand-in" in self.found.name) == ("stand-in", True)
        assert self.found.camera is None
        np.testing.assert_array_equal(self.found.mask, self.statue.mask)
        np.testing.assert_array_equal(self.found.depth, np.where(self.statue.mask, self.statue.depth, np.nan))

    def test_normals_are_true_to_sixteen_bits(self):
        true = gradient_to_normals(self.statue.p, self.statue.q)
        assert metrics.angular_error(self.found.normals, true)[self.statue.mask].max() < 0.005
        assert np.isnan(self.found.normals[~self.statue.mask]).all()

    def test_two_are_equal(self):
        np.testing.assert_array_equal(datasets.depth_and_normals("stand-in").normals, self.found.normals)


def test_peppers():
    found = datasets.peppers("stand-in")
    assert (found.image.shape, found.image.dtype, found.data) == ((512, 512, 3), np.uint8, "stand-in")
    assert "stand-in" in found.name


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    datasets.depth_and_normals("stand-in")
    datasets.beethoven("stand-in")
    assert not list(tmp_path.iterdir())
