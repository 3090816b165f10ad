"""Noise and single wrong slopes are told from discontinuities by the curl."""

import numpy as np
import pytest

from normint.methods.calibrated.noise import noise_levels, wild_slopes
from normint.surfaces import canadian_tent, vase


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
    _, plain, _ = noise_levels(noisy.p, noisy.q, everywhere)
    _, found, _ = noise_levels(*spoilt(surface, share)[:2], everywhere)
    assert found == pytest.approx(plain, rel=0.5)


@pytest.mark.parametrize("surface", [canadian_tent(96, 25, 25), vase(96)], ids=lambda s: s.name)
def test_wild_slopes_are_found(surface):
    everywhere = np.ones(surface.depth.shape, bool)
    p, q, wild = spoilt(surface, 0.01)
    levels, _, _ = noise_levels(p, q, everywhere)
    found = wild_slopes(p, q, everywhere, levels)
    assert found[wild].mean() > 0.8 and found[~wild].mean() < 0.02


def test_nothing_is_wild_where_slopes_jump_or_are_smooth():
    surface = canadian_tent(96, 25, 25)
    noisy = surface.with_noise(0.01, np.random.default_rng(0))
    everywhere = np.ones(surface.depth.shape, bool)
    levels, _, _ = noise_levels(noisy.p, noisy.q, everywhere)
    assert wild_slopes(noisy.p, noisy.q, everywhere, levels).mean() < 1e-3
