"""Noise is measured by the curl: in slopes or in normals, alone or shared; single wrong slopes are found."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from normint.curl import curl_of_squares
from normint.methods.calibrated.constants import CONSTANTS
from normint.methods.calibrated.noise import TO_EDGE, measure, wild_slopes
from normint.surfaces import canadian_tent, vase

each_sigma = pytest.mark.parametrize("sigma", [0.02, 0.05])


def steep(name):
    """Return slopes of any steepness, and their mask."""
    if name == "vase":
        surface = vase(96)
        return surface.p, surface.q, np.ones(surface.p.shape, bool)
    u, v = np.indices((96, 96)) - 47.5
    mask = np.hypot(u, v) < 48.5
    height = np.sqrt(np.where(mask, 50**2 - u**2 - v**2, 1.0))
    return np.where(mask, -u / height, 0.0), np.where(mask, -v / height, 0.0), mask


each_steep = pytest.mark.parametrize("name", ["hemisphere", "vase"])


class TestWhereItIs:
    @each_sigma
    def test_in_slopes_it_does_not_grow_with_steepness(self, sigma):
        p, q, mask = steep("hemisphere")
        error = sigma * np.random.default_rng(0).standard_normal((2, *p.shape))
        found = measure(p + error[0], q + error[1], mask)
        assert found.exponent < 0.2
        assert found.typical == pytest.approx(sigma / 2**0.5, rel=0.2)  # an edge is the mean of two pixels

    @each_steep
    @each_sigma
    def test_in_normals_it_does(self, name, sigma):
        p, q, mask = steep(name)
        normals = np.stack([-p, -q, np.ones(p.shape)]) / np.sqrt(1 + p**2 + q**2)
        normals += sigma * np.random.default_rng(0).standard_normal(normals.shape)
        mask &= normals[2] > 0.05
        p, q = (np.where(mask, -component / normals[2], 0.0) for component in normals[:2])
        assert measure(p, q, mask).exponent > 0.8

    def test_where_it_is_stronger_it_is_measured_so(self):
        sigma = np.where(np.arange(200) < 100, 0.02, 0.08)
        p, q = sigma * np.random.default_rng(0).standard_normal((2, 100, 200))
        found = measure(p, q, p < np.inf)
        for columns, level in ((np.s_[:, 20:80], 0.02), (np.s_[:, 120:180], 0.08)):
            assert np.median(found.levels[columns]) == pytest.approx(level / 2**0.5, rel=0.1)

    def test_there_is_no_less_than_rounding_leaves(self):
        found = measure(*np.zeros((2, 40, 50)), np.ones((40, 50), bool))
        assert found.typical == CONSTANTS.rounding and (found.levels == CONSTANTS.rounding).all()


class TestShared:
    """Errors that neighbours share hardly show in the curl around four pixels."""

    shape, sigma = (96, 96), 0.01

    def independent(self, seed):
        return self.sigma * np.random.default_rng(seed).standard_normal((2, *self.shape))

    @pytest.mark.parametrize("seed", range(3))
    def test_independent_noise_is_not_raised(self, seed):
        found = measure(*self.independent(seed), np.ones(self.shape, bool)).typical
        assert 0.9 < found / (self.sigma / 2**0.5) < 1.2

    @pytest.mark.parametrize("seed", range(3))
    def test_smooth_errors_raise_it(self, seed):
        smooth = gaussian_filter(
            np.random.default_rng(seed + 10).standard_normal((2, *self.shape)), (0, 6, 6)
        )
        p, q = self.independent(seed) + 3 * self.sigma * smooth / smooth.std()
        across, along, square = curl_of_squares(p, q, np.ones(self.shape, bool))
        local = TO_EDGE * np.median(np.abs(across - along)[square])
        assert local < 1.2 * self.sigma / 2**0.5  # which the small squares do not see
        assert measure(p, q, np.ones(self.shape, bool)).typical > 2 * local

    def test_so_does_a_smooth_field_of_nothing_but_curl(self):
        # Turning like a wheel: the curl is the same everywhere.
        u, v = np.indices(self.shape) - 47.5
        p, q = self.independent(0) + 2e-3 * np.stack([-v, u])
        plain = measure(*self.independent(0), np.ones(self.shape, bool)).typical
        assert measure(p, q, np.ones(self.shape, bool)).typical > 1.5 * plain


class TestInvariance:
    p, q = 0.1 * np.random.default_rng(0).standard_normal((2, 50, 60)) * np.linspace(1, 3, 60)
    mask = np.random.default_rng(1).random(p.shape) < 0.97

    @pytest.mark.parametrize(
        ("turn", "signs"),
        [(lambda image: image[::-1], (-1, 1)), (lambda image: image[:, ::-1], (1, -1)),
         (lambda image: image, (-1, -1))],
    )  # fmt: skip
    def test_flipping_and_negating(self, turn, signs):
        expected = measure(self.p, self.q, self.mask)
        found = measure(signs[0] * turn(self.p), signs[1] * turn(self.q), turn(self.mask))
        for one, other in zip((turn(found.levels), *found[1:]), expected, strict=True):
            np.testing.assert_allclose(one, other)

    def test_transposing(self):
        # Row by row, as the method has them, or its kernels would be compiled once more.
        turned = (np.ascontiguousarray(image.T) for image in (self.q, self.p, self.mask))
        expected, found = measure(self.p, self.q, self.mask), measure(*turned)
        for one, other in zip((found.levels.T, *found[1:]), expected, strict=True):
            np.testing.assert_allclose(one, other)


def spoilt(surface, share, seed=0):
    """Return slopes with noise, some of which are wild, and which."""
    rng = np.random.default_rng(seed)
    noisy = surface.with_noise(0.01, rng)
    wild = rng.random(surface.depth.shape) < share
    away = rng.choice([-1.0, 1.0], (2, *wild.shape)) * rng.uniform(5, 10, (2, *wild.shape))
    return noisy.p + away[0] * wild, noisy.q + away[1] * wild, wild


@pytest.mark.parametrize("share", [0.01, 0.05])
def test_wild_slopes_do_not_make_noise(share):
    surface = canadian_tent(96, 25, 25)
    everywhere = np.ones(surface.depth.shape, bool)
    noisy = surface.with_noise(0.01, np.random.default_rng(0))
    plain = measure(noisy.p, noisy.q, everywhere).typical
    found = measure(*spoilt(surface, share)[:2], everywhere).typical
    assert found == pytest.approx(plain, rel=0.5)


@pytest.mark.parametrize("surface", [canadian_tent(96, 25, 25), vase(96)], ids=lambda s: s.name)
def test_wild_slopes_are_found(surface):
    everywhere = np.ones(surface.depth.shape, bool)
    p, q, wild = spoilt(surface, 0.01)
    found = wild_slopes(p, q, everywhere, measure(p, q, everywhere).levels)
    assert found[wild].mean() > 0.8 and found[~wild].mean() < 0.02


def test_nothing_is_wild_where_slopes_jump_or_are_smooth():
    surface = canadian_tent(96, 25, 25)
    noisy = surface.with_noise(0.01, np.random.default_rng(0))
    everywhere = np.ones(surface.depth.shape, bool)
    levels = measure(noisy.p, noisy.q, everywhere).levels
    assert wild_slopes(noisy.p, noisy.q, everywhere, levels).mean() < 1e-3
