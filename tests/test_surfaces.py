"""Generated surfaces: their gradients are those of their depths, and they match what is known of them."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from normint.surfaces import Surface, canadian_tent, peaks, vase


def central(z):
    """Central differences on the interior of the grid."""
    return 0.5 * (z[2:, 1:-1] - z[:-2, 1:-1]), 0.5 * (z[1:-1, 2:] - z[1:-1, :-2])


def same_five(images):
    """Tell where an image is constant over a pixel and its four neighbours."""
    inner = images[1:-1, 1:-1]
    others = images[2:, 1:-1], images[:-2, 1:-1], images[1:-1, 2:], images[1:-1, :-2]
    return np.logical_and.reduce([inner == other for other in others])


class TestPeaks:
    def test_gradient_to_second_order(self):
        errors = []
        for n in (101, 201):
            surface = peaks(n)
            p, q = central(surface.depth)
            inner = (slice(1, -1), slice(1, -1))
            # Per unit of length rather than per pixel, the error must fall with the square of the step.
            error = max(np.abs(p - surface.p[inner]).max(), np.abs(q - surface.q[inner]).max())
            errors.append(error * (n - 1) / 6)
        assert errors[0] < 0.1
        assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)

    def test_matlab_values(self):
        # On peaks(49), the classical default, the highest point is at x = 0, y = 1.625 and the lowest at
        # x = 0.25, y = −1.625. Rows run along y, so that the highest point is in the lower half.
        depth = peaks(49).depth
        assert np.unravel_index(depth.argmax(), depth.shape) == (37, 24)
        assert np.unravel_index(depth.argmin(), depth.shape) == (11, 26)
        assert depth.max() == pytest.approx(8.0752, abs=1e-4)
        assert depth.min() == pytest.approx(-6.5466, abs=1e-4)

    @pytest.mark.parametrize("n", [1, 0, 2.5])
    def test_bad_size(self, n):
        with pytest.raises(ValueError, match="n is .*; expected a whole number ≥ 2"):
            peaks(n)


class TestVase:
    surface = vase()

    def test_mask(self):
        assert self.surface.mask.shape == (320, 320)
        assert self.surface.mask.sum() == 25_410

    def test_gradient_inside(self):
        p, q = central(self.surface.depth)
        inner = (slice(1, -1), slice(1, -1))
        # Away from the contour, where the depth has a vertical tangent.
        gentle = same_five(self.surface.mask) & (np.hypot(self.surface.p, self.surface.q)[inner] < 1.5)
        assert gentle.sum() > 12_000
        np.testing.assert_allclose(p[gentle], self.surface.p[inner][gentle], atol=0.02)
        np.testing.assert_allclose(q[gentle], self.surface.q[inner][gentle], atol=0.02)

    def test_clipping(self):
        assert np.abs(self.surface.p).max() == 10
        assert np.hypot(self.surface.p, self.surface.q).max() == pytest.approx(10 * np.sqrt(2))

    def test_clipping_elsewhere(self):
        gentle, steep = vase(steepest=2.0), vase(steepest=1e9)
        for clipped in (gentle, self.surface):
            limit = np.abs(clipped.q).max()
            np.testing.assert_array_equal(clipped.q, np.clip(steep.q, -limit, limit))
        assert np.abs(gentle.q).max() == 2 < np.abs(self.surface.q).max() < np.abs(steep.q).max() < 1e9
        with pytest.raises(ValueError, match="^steepest"):
            vase(steepest=0)

    def test_background_is_flat(self):
        for image in (self.surface.depth, self.surface.p, self.surface.q):
            assert not image[~self.surface.mask].any()

    def test_signs(self):
        # Towards the camera in the middle: rising from the left edge, falling to the right one.
        assert self.surface.depth.min() == 0
        assert self.surface.q[150, 140] > 0 > self.surface.q[150, 180]

    def test_mirror_symmetry_about_column_160(self):
        left, right = slice(160, 0, -1), slice(160, 320)
        np.testing.assert_array_equal(self.surface.depth[:, left], self.surface.depth[:, right])
        np.testing.assert_array_equal(self.surface.q[:, left], -self.surface.q[:, right])

    def test_authors_file(self):
        folder = os.environ.get("NORMINT_DATA")
        if not folder or not (path := Path(folder, "vase", "vase.mat")).is_file():
            pytest.skip("needs the authors' file: NORMINT_DATA names no folder with vase/vase.mat")
        authors = scipy.io.loadmat(path)
        for key, image in (("u", self.surface.depth), ("p", self.surface.p), ("q", self.surface.q)):
            np.testing.assert_allclose(image, authors[key], rtol=0, atol=1e-10)
        np.testing.assert_array_equal(self.surface.mask, authors["mask"] > 0)


class TestTent:
    def test_gradient_on_smooth_parts(self):
        tent = canadian_tent()
        p, q = central(tent.depth)
        on_tent = tent.depth > 0
        smooth = same_five(on_tent) & same_five(tent.p)
        inner = (slice(1, -1), slice(1, -1))
        assert smooth.sum() > 0.9 * smooth.size
        np.testing.assert_allclose(p[smooth], tent.p[inner][smooth], atol=1e-12)
        np.testing.assert_allclose(q[smooth], 0, atol=1e-12)

    def test_size_and_jumps(self):
        tent = canadian_tent()
        rows, columns = np.nonzero(tent.depth)
        assert (np.ptp(rows) + 1, np.ptp(columns) + 1) == (100, 100)
        # Continuous at the eaves (half a pixel away from the ground), as high as the roof at the gables.
        assert np.abs(np.diff(tent.depth, axis=0)).max() == pytest.approx(1.3)
        assert np.abs(np.diff(tent.depth, axis=1)).max() == tent.depth.max()

    def test_symmetries(self):
        tent = canadian_tent(n=31, half_length=10, half_width=7, slope=0.5)
        for image in (tent.depth, tent.p):
            np.testing.assert_array_equal(image, image[:, ::-1])
        np.testing.assert_array_equal(tent.depth, tent.depth[::-1])
        np.testing.assert_array_equal(tent.p, -tent.p[::-1])

    def test_the_roof_rises_downwards_to_the_ridge(self):
        assert canadian_tent().p[60, 96] == 1.3


class TestNoise:
    @pytest.mark.parametrize("surface", [peaks(256), vase()], ids=["peaks", "vase"])
    def test_level(self, surface):
        noisy = surface.with_noise(0.1, np.random.default_rng(3))
        level = 0.1 * np.hypot(surface.p, surface.q).max()
        for exact, seen in ((surface.p, noisy.p), (surface.q, noisy.q)):
            noise = seen - exact
            # Four standard errors of the mean and of the deviation.
            assert abs(noise.mean()) < 4 * level / np.sqrt(noise.size)
            assert noise.std() == pytest.approx(level, rel=4 / np.sqrt(2 * noise.size))
        assert abs(np.corrcoef((noisy.p - surface.p).ravel(), (noisy.q - surface.q).ravel())[0, 1]) < 0.02

    def test_depends_on_the_generator_only(self):
        surface = peaks(16)
        first, again = (surface.with_noise(0.1, np.random.default_rng(7)) for _ in range(2))
        other = surface.with_noise(0.1, np.random.default_rng(8))
        np.testing.assert_array_equal(first.q, again.q)
        assert (first.q != other.q).any()

    def test_the_exact_surface_stays_exact(self):
        surface = peaks(16)
        noisy = surface.with_noise(0.5, np.random.default_rng(7))
        np.testing.assert_array_equal(surface.p, peaks(16).p)
        assert noisy.depth is surface.depth
        assert (noisy.name, noisy.mask.all()) == ("peaks", True)

    def test_no_noise(self):
        np.testing.assert_array_equal(peaks(16).with_noise(0, np.random.default_rng(0)).p, peaks(16).p)

    @pytest.mark.parametrize("sigma", [-0.1, np.nan, np.inf])
    def test_bad_sigma(self, sigma):
        with pytest.raises(ValueError, match="sigma is"):
            peaks(8).with_noise(sigma, np.random.default_rng(0))

    def test_bad_generator(self):
        with pytest.raises(ValueError, match="rng is a int; expected a numpy.random.Generator"):
            peaks(8).with_noise(0.1, 0)


def test_surfaces_are_frozen():
    assert isinstance(peaks(8), Surface)
    with pytest.raises(AttributeError):
        peaks(8).depth = None
