"""Half as many rows and columns: sums and planes are kept, mirrors commute, masks are covered."""

import numpy as np
import pytest
from small_problems import MASKS, each_mask

from normint.methods.calibrated.pyramid import Halving

each_size = pytest.mark.parametrize("shape", [(1, 1), (1, 9), (2, 3), (5, 7), (8, 6), (11, 13), (64, 33)])


def halving(mask, seed=None):
    """Return a halving with equal weights, or with random ones."""
    if seed is None:
        return Halving(mask, np.ones(mask.shape))
    return Halving(mask, np.random.default_rng(seed).uniform(0.1, 1.0, mask.shape))


@each_size
def test_blocks_are_about_two_pixels_long_and_cover_the_image(shape):
    half = halving(np.ones(shape, bool))
    for n, m, scale in zip(shape, half.mask.shape, half.scale, strict=True):
        assert scale == n / m and abs(m - n / 2) <= 0.5
    image = np.random.default_rng(0).standard_normal(shape)
    assert half.total(image).sum() == pytest.approx(image.sum())


@each_mask
def test_means_lie_between_the_values_of_a_block(mask):
    rng = np.random.default_rng(0)
    image = np.where(mask, rng.uniform(1.0, 2.0, mask.shape), 100.0)
    half = halving(mask, seed=1)
    inside = half.mean(image)[half.mask]
    assert inside.min() >= 1.0 - 1e-12 and inside.max() <= 2.0 + 1e-12
    assert not half.mean(image)[~half.mask].any()


@each_mask
def test_every_pixel_of_the_mask_has_a_block(mask):
    half = halving(mask)
    blocks = np.where(half.mask, 1.0, np.nan)
    zero = np.zeros(blocks.shape)
    assert np.isfinite(half.back(blocks, zero, zero)[mask]).all()


@each_size
def test_planes_come_back(shape):
    half = halving(np.ones(shape, bool))
    p, q = half.slopes(np.full(shape, 0.3), np.full(shape, -2.0))
    u, v = np.indices(shape) + 0.5
    block_u, block_v = ((i + 0.5) * s for i, s in zip(np.indices(half.mask.shape), half.scale, strict=True))
    found = half.back(0.3 * block_u - 2.0 * block_v, p, q)
    np.testing.assert_allclose(found, 0.3 * u - 2.0 * v, atol=1e-12 * max(shape))


@each_size
@pytest.mark.parametrize("axis", [0, 1])
def test_mirroring_commutes(shape, axis):
    rng = np.random.default_rng(0)
    mask, image = rng.random(shape) < 0.8, rng.standard_normal(shape)
    mask.flat[0] = True
    half, mirrored = halving(mask), halving(np.flip(mask, axis))
    np.testing.assert_array_equal(mirrored.mask, np.flip(half.mask, axis))
    found = mirrored.mean(np.flip(image, axis))
    np.testing.assert_allclose(found, np.flip(half.mean(image), axis), atol=1e-12)
    z, p, q = rng.standard_normal((3, *half.mask.shape))
    expected = np.flip(half.back(z, p, q), axis)
    p, q = (-p, q) if axis == 0 else (p, -q)
    found = mirrored.back(*(np.flip(field, axis) for field in (z, p, q)))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_what_weighs_little_hardly_counts():
    mask, image = MASKS["rectangle"], np.zeros(MASKS["rectangle"].shape)
    image[1, 1], weight = 1e6, np.ones(mask.shape)
    weight[1, 1] = 1e-9
    assert np.abs(Halving(mask, weight).mean(image)).max() < 1e-2
