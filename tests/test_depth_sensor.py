"""Block means of a depth map, and priors made of them."""

import numpy as np
import pytest

from normint.priors import depth_sensor
from normint.surfaces import peaks, vase


def test_block_means_of_one_pixel_are_the_depth():
    surface = vase(64)
    means = depth_sensor.block_means(surface.depth, 1, surface.mask)
    np.testing.assert_array_equal(means, np.where(surface.mask, surface.depth, np.nan))


def test_block_means_count_only_the_mask():
    depth = np.arange(16.0).reshape(4, 4)
    mask = np.ones((4, 4), bool)
    mask[0, :3] = False
    depth[~mask] = np.nan
    means = depth_sensor.block_means(depth, 2, mask)
    np.testing.assert_allclose(means, [[4.5, (3 + 6 + 7) / 3], [10.5, 12.5]])
    assert np.isnan(depth_sensor.block_means(depth, 2, mask, least=0.6)[0, 0])


def test_spreading_and_averaging_are_inverse():
    values = np.random.default_rng(0).standard_normal((3, 4))
    mask = np.ones((11, 15), bool)  # with incomplete blocks at the border
    back = depth_sensor.block_means(depth_sensor.spread(values, 4, mask), 4, mask, least=0.0)
    np.testing.assert_allclose(back, values)


def test_every_block_has_one_centre_and_it_is_inside_the_mask():
    mask = vase(100).mask
    values = depth_sensor.block_means(vase(100).depth, 9, mask, least=0.0)
    image = depth_sensor.at_centres(values, 9, mask)
    assert np.isfinite(image).sum() == np.isfinite(values).sum()
    assert not np.isfinite(image[~mask]).any()


def test_a_refined_prior_has_the_given_means_and_the_detail_of_the_gradient():
    surface = peaks(60)
    values = np.random.default_rng(0).standard_normal((10, 10))
    prior = depth_sensor.refined(values, 6, surface.p, surface.q)
    np.testing.assert_allclose(depth_sensor.block_means(prior, 6), values, atol=1e-10)
    inside = np.diff(prior, axis=1)[:, np.arange(59) % 6 != 5]
    expected = 0.5 * (surface.q[:, 1:] + surface.q[:, :-1])[:, np.arange(59) % 6 != 5]
    np.testing.assert_allclose(inside, expected, atol=0.01)


def test_exact_means_of_an_exact_gradient_give_the_depth_itself():
    u, v = np.indices((24, 30), dtype=float)
    depth = 0.05 * u**2 - 0.02 * u * v + 3 * v  # trapezoids integrate quadratic depths exactly
    p, q = 0.1 * u - 0.02 * v, -0.02 * u + 3
    prior = depth_sensor.refined(depth_sensor.block_means(depth, 6), 6, p, q)
    assert np.abs(prior - depth).max() < 1e-3 * np.ptp(depth)


def test_unknown_values_stay_unknown():
    values = np.ones((3, 3))
    values[1, 2] = np.nan
    prior = depth_sensor.refined(values, 4, np.zeros((12, 12)), np.zeros((12, 12)))
    assert np.isnan(prior[4:8, 8:]).all() and np.isnan(prior).sum() == 16


@pytest.mark.parametrize("make", [depth_sensor.spread, depth_sensor.at_centres])
def test_the_number_of_values_must_fit(make):
    with pytest.raises(ValueError, match=r"values has shape \(2, 2\); expected \(3, 3\)"):
        make(np.ones((2, 2)), 4, np.ones((12, 12), bool))


def test_the_size_of_a_block_is_a_positive_count():
    with pytest.raises(ValueError, match="size is 0"):
        depth_sensor.block_means(np.ones((4, 4)), 0)
