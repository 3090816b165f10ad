"""A prior and its weight: estimated noise, Stein's estimate, coarse values, outliers."""

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


def test_the_noise_of_slopes_needs_a_square():
    with pytest.raises(ValueError, match="mask has no four pixels in a square"):
        gradient_noise(*flat(1, 9))


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


def test_the_noise_of_a_prior_needs_two_values_in_a_line():
    prior = np.full((4, 4), np.nan)
    prior[0, 1] = prior[2, 3] = 1.0
    with pytest.raises(ValueError, match="prior has no two values in one row or column"):
        prior_noise(*flat(4, 4), prior)


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


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"prior": np.zeros((3, 3))}, "prior has shape"),
        ({"prior": np.full((4, 4), np.nan)}, "prior is NaN everywhere"),
        ({"prior": [["a"] * 4] * 4}, "prior is not an array of numbers"),
        ({"rng": 0}, "rng is a int"),
        ({"size": 0}, "size is 0"),
        ({"probes": 0}, "probes is 0"),
    ],
)
def test_bad_arguments_are_refused(changed, message):
    arguments = {"prior": np.eye(4), "rng": np.random.default_rng(0), **changed}
    with pytest.raises(ValueError, match=message):
        choose_weight(*flat(4, 4), **arguments)


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


@pytest.mark.parametrize("name", ["weight", "noise", "cutoff"])
def test_distrust_refuses_numbers_that_are_not_positive(name):
    with pytest.raises(ValueError, match=f"{name} is -1"):
        distrust_outliers(*flat(8, 8), np.eye(8), **{"weight": 1.0, "noise": 1.0, name: -1.0})


def test_absolute_error_counts_the_constant():
    assert absolute_error(np.full((3, 3), 5.0), np.full((3, 3), 2.0)) == 3.0
