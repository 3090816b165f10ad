"""A prior and its weight: estimated noise, Stein's estimate, outliers, and the blocks of a depth sensor."""

import numpy as np
import pytest

import normint
from normint.curl import gradient_noise
from normint.metrics import absolute_error
from normint.priors import (
    choose_weight,
    depth_sensor,
    distrust_outliers,
    merge,
    misfit_and_influence,
    prior_noise,
)
from normint.surfaces import peaks, vase
from normint.workbook.studies.priors import study_weights


def noisy(surface, sigma, seed=0):
    rng = np.random.default_rng(seed)
    p, q = (slope + sigma * rng.standard_normal(slope.shape) for slope in (surface.p, surface.q))
    return p, q, rng


def flat(*shape):
    return np.zeros(shape), np.zeros(shape)


def prior_matrix(mask, known, weight, size=1):
    """Return ∂z/∂(values) by solving for one value at a time."""
    blocks = tuple(-(-n // size) for n in mask.shape)
    columns = []
    for k in range(blocks[0] * blocks[1]):
        values = np.zeros(blocks)
        values.ravel()[k] = 1.0
        prior = np.where(known, depth_sensor.spread(values, size, mask), np.nan)
        depth = merge(*flat(*mask.shape), prior, mask, weight=weight, size=size, tolerance=1e-10)
        columns.append(depth_sensor.block_means(depth, size, known, least=0.0).ravel())
    return np.array(columns).T


# Noise of the slopes


def test_a_depth_has_no_curl_and_so_no_noise():
    """Slopes that are linear in u and v, of a common quadratic depth, have curl zero around every square."""
    u, v = np.indices((20, 30), dtype=float)
    assert gradient_noise(2 * u + 3 * v, 3 * u - v) < 1e-12


@pytest.mark.parametrize("sigma", [0.05, 1.0])
def test_the_curl_shows_the_noise_of_the_slopes(sigma):
    p, q, _ = noisy(vase(), sigma)
    assert gradient_noise(p, q, vase().mask) == pytest.approx(sigma, rel=0.05)


def test_the_noise_scales_with_the_slopes_and_does_not_depend_on_their_axes():
    p, q, _ = noisy(peaks(40), 0.3)
    assert gradient_noise(3 * p, 3 * q) == pytest.approx(3 * gradient_noise(p, q))
    assert gradient_noise(q.T, p.T) == pytest.approx(gradient_noise(p, q))


# Noise of the prior


@pytest.mark.parametrize("size", [1, 5])
def test_neighbouring_values_show_the_noise_of_the_prior(size):
    surface = peaks(200)
    p, q, rng = noisy(surface, 0.02)
    values = depth_sensor.block_means(surface.depth, size)
    values += 0.4 * rng.standard_normal(values.shape)
    prior = depth_sensor.refined(values, size, p, q)
    assert prior_noise(p, q, prior, size=size) == pytest.approx(0.4, rel=0.06)
    prior[:20] += 50.0  # a tenth of the values wrong together
    assert prior_noise(p, q, prior, size=size) == pytest.approx(0.4, rel=0.1)


# Misfit, influence, and the choice


@pytest.mark.parametrize("size", [1, 2])
def test_influence_is_the_trace_of_the_derivative(size):
    mask = np.ones((6, 7), bool)
    mask[:2, 5:] = False
    known = mask.copy()
    known[4:, :2] = False
    A = prior_matrix(mask, known, 0.3, size)
    seen = ~np.isnan(np.diag(A))
    prior = np.where(known, 1.0, np.nan)
    which = {"weights": [0.3], "size": size, "rng": np.random.default_rng(0), "probes": 3000}
    _, influence = misfit_and_influence(*flat(6, 7), prior, mask, **which)
    assert influence[0] == pytest.approx(np.diag(A)[seen].mean(), rel=0.03)


def test_misfit_is_the_distance_from_the_prior():
    rng = np.random.default_rng(1)
    prior = rng.standard_normal((12, 12))
    misfit, influence = misfit_and_influence(*flat(12, 12), prior, weights=[1e-6, 1e6], rng=rng)
    np.testing.assert_allclose(misfit, [prior.var(), 0.0], atol=1e-4)
    assert influence[0] < 0.1 and influence[1] == pytest.approx(1.0, abs=1e-4)


def test_steins_estimate_is_the_mean_squared_error_on_average():
    """Over draws of the prior's noise, S(λ) and the true squared error have the same mean, at every λ."""
    surface = peaks(32)
    p, q = surface.p + 0.05, surface.q  # a bias, which no curl shows
    rng = np.random.default_rng(2)
    weights, sigma = [1e-3, 1e-2, 1e-1], 0.7
    estimates, squares = [], []
    for _ in range(60):
        prior = surface.depth + sigma * rng.standard_normal((32, 32))
        misfit, influence = misfit_and_influence(p, q, prior, weights=weights, rng=rng, probes=1)
        estimates.append(misfit - sigma**2 + 2 * sigma**2 * influence)
        squares.append([absolute_error(merge(p, q, prior, weight=w), surface.depth) ** 2 for w in weights])
    difference = np.array(estimates) - squares
    standard_error = difference.std(axis=0) / np.sqrt(len(difference))
    assert (np.abs(difference.mean(axis=0)) < 3 * standard_error).all()


def test_with_noise_only_the_noise_weight_is_near_the_best():
    surface = peaks(96)
    for seed in range(3):
        p, q, rng = noisy(surface, 0.1, seed)
        prior = surface.depth + 0.7 * rng.standard_normal((96, 96))
        study = study_weights(p, q, prior, surface.depth, weights=np.geomspace(1e-4, 1, 13), rng=rng)
        assert study.choice.noise_weight == pytest.approx(0.1**2 / 0.7**2, rel=0.15)
        assert study.ratio("our rule") < 1.1


def test_with_a_jump_a_larger_weight_is_found():
    surface = vase(128)
    for seed in range(2):
        p, q, rng = noisy(surface, 0.1, seed)
        prior = surface.depth + 3.0 * rng.standard_normal((128, 128))
        study = study_weights(p, q, prior, surface.depth, weights=np.geomspace(1e-4, 10, 11), rng=rng)
        assert study.choice.weight > 10 * study.choice.noise_weight
        assert study.ratio("our rule") < 1.1 < 2 < study.ratio("noise of the slopes only")


def test_the_choice_does_not_depend_on_the_unit_of_depth():
    surface = peaks(48)
    p, q, rng = noisy(surface, 0.1)
    prior = surface.depth + rng.standard_normal((48, 48))
    one, ten = (choose_weight(k * p, k * q, k * prior, rng=np.random.default_rng(0)) for k in (1, 10))
    assert ten.weight == pytest.approx(one.weight)
    assert ten.prior_noise == pytest.approx(10 * one.prior_noise)


def test_an_exact_prior_gets_the_largest_weight():
    surface = peaks(32)
    p, q, rng = noisy(surface, 0.5)
    exact = normint.integrate(p, q, tolerance=1e-4).depth
    assert choose_weight(p, q, exact, rng=rng).weight == 100.0


def test_a_wave_is_shared_between_normals_and_prior_as_the_eigenvalue_says():
    n, weight = 64, 0.02
    for k in (1, 4, 16):
        wave = np.cos(np.pi * k * (np.arange(n) + 0.5) / n)[:, np.newaxis] + np.zeros(3)
        depth = merge(*flat(n, 3), wave, weight=weight, tolerance=1e-10)
        eigenvalue = 4 * np.sin(np.pi * k / (2 * n)) ** 2
        np.testing.assert_allclose(depth, weight / (weight + eigenvalue) * wave, atol=1e-6)


# Wrong values


def test_without_outliers_distrust_changes_little_and_with_them_the_result_stays():
    surface = peaks(64)
    p, q, rng = noisy(surface, 0.05)
    clean = surface.depth + 0.5 * rng.standard_normal((64, 64))
    wrong = rng.random((64, 64)) < 0.1
    wrong[10:20, 30:40] = True
    dirty = clean + np.where(wrong, 20.0, 0.0)
    best = absolute_error(merge(p, q, clean, weight=0.01), surface.depth)
    for prior in (clean, dirty):
        depth, trust = distrust_outliers(p, q, prior)
        assert absolute_error(depth, surface.depth) < 1.2 * best
    assert trust[wrong].max() < 0.01 and np.median(trust[~wrong]) > 0.9
    assert absolute_error(merge(p, q, dirty, weight=0.01), surface.depth) > 10 * best


def test_distrust_keeps_separate_pieces_apart():
    mask = np.ones((20, 41), bool)
    mask[:, 20] = False
    prior = np.where(np.arange(41) < 20, 0.0, 100.0) + np.zeros((20, 1))
    rng = np.random.default_rng(0)
    prior = prior + rng.standard_normal(prior.shape)
    prior[3, 3] = 60.0
    depth, trust = distrust_outliers(*flat(20, 41), prior, mask, weight=0.1, noise=1.0)
    assert trust[3, 3] < 0.01
    np.testing.assert_allclose(depth[:, [0, 40]].mean(axis=0), [0, 100], atol=0.5)
    assert np.isnan(depth[:, 20]).all()


# Block means, and priors made of them


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
    prior = depth_sensor.refined(values, 4, *flat(12, 12))
    assert np.isnan(prior[4:8, 8:]).all() and np.isnan(prior).sum() == 16


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: choose(prior=np.zeros((3, 3))), "prior has shape"),
        (lambda: choose(prior=np.full((4, 4), np.nan)), "prior is NaN everywhere"),
        (lambda: choose(prior=[["a"] * 4] * 4), "prior is not an array of numbers"),
        (lambda: choose(rng=0), "rng is a int"),
        (lambda: choose(size=0), "size is 0"),
        (lambda: choose(probes=0), "probes is 0"),
        (lambda: gradient_noise(*flat(1, 9)), "mask has no four pixels in a square"),
        (
            lambda: prior_noise(*flat(4, 4), np.where(np.eye(4), 1.0, np.nan)),
            "prior has no two values in one row",
        ),
        (lambda: distrust_outliers(*flat(8, 8), np.eye(8), weight=-1.0, noise=1.0), "weight is -1"),
        (lambda: distrust_outliers(*flat(8, 8), np.eye(8), weight=1.0, noise=-1.0), "noise is -1"),
        (lambda: distrust_outliers(*flat(8, 8), np.eye(8), cutoff=-1.0), "cutoff is -1"),
        (
            lambda: depth_sensor.spread(np.ones((2, 2)), 4, np.ones((12, 12), bool)),
            r"values has shape \(2, 2\)",
        ),
        (lambda: depth_sensor.at_centres(np.ones((2, 2)), 4, np.ones((12, 12), bool)), r"expected \(3, 3\)"),
        (lambda: depth_sensor.block_means(np.ones((4, 4)), 0), "size is 0"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def choose(**changed):
    return choose_weight(*flat(4, 4), **{"prior": np.eye(4), "rng": np.random.default_rng(0), **changed})
