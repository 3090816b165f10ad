"""The comparison with tuned methods is fair, and its ratios mean what they say."""

import numpy as np
import pytest

from normint import integrate
from normint.metrics import rmse
from normint.surfaces import canadian_tent
from normint.workbook.studies import open_problem
from normint.workbook.study.metrics import aligned_error

TENT = canadian_tent(48, 12, 12)
CASE = {"surface": "canadian_tent", "n": 48, "half_length": 12, "half_width": 12}


def error(depth):
    return rmse(depth, TENT.depth)


@pytest.fixture(scope="module")
def tuned():
    noisy = TENT.with_noise(0.01, np.random.default_rng(0))
    return noisy, open_problem.tune({**CASE, "sigma": 0.01, "seed": 0})


def test_tuning_never_loses_and_its_options_give_its_error(tuned):
    noisy, found = tuned
    assert set(found) == set(open_problem.SWEEPS)
    for method, one in found.items():
        assert one.best <= one.default
        again = integrate(noisy.p, noisy.q, method=method, **one.options).depth
        assert error(again) == pytest.approx(one.best, rel=1e-9)
        assert error(one.depth) == one.best
        assert error(integrate(noisy.p, noisy.q, method=method).depth) == pytest.approx(one.default, rel=1e-9)


def test_a_default_that_is_best_has_no_options():
    found = open_problem.tune(CASE, methods=["total_variation"])["total_variation"]
    assert found.options == {} and found.best == found.default and found.label == "total variation"


def test_the_least_regret_of_tuned_methods_is_at_least_one(tuned):
    _, found = tuned
    ratios = open_problem.regrets(found, calibrated=min(one.best for one in found.values()))
    assert ratios.pop("calibrated") == 1.0
    assert min(ratios.values()) >= 1.0


def test_unknown_methods_are_named():
    with pytest.raises(ValueError, match="methods contains 'cubic'; expected some of phi1"):
        open_problem.tune(CASE, methods=["cubic"])


def test_least_squares_relative_to_itself_is_one():
    found = open_problem.relative_errors([("steps", 0)], ["quadratic"], n=32)
    assert found == {("steps", 0): {"quadratic": 1.0}}


@pytest.mark.parametrize("ratios", [[], [1.0, 0.0], [-1.0]])
def test_a_geometric_mean_needs_positive_ratios(ratios):
    with pytest.raises(ValueError, match="ratios must be positive"):
        open_problem.geometric_mean(ratios)


def test_the_errors_of_a_surface_known_up_to_scale_or_constant_vanish():
    truth = np.where(TENT.depth > 5, TENT.depth + 100, np.nan)
    assert aligned_error(3 * truth, truth, scaled=True) == pytest.approx(0, abs=1e-9)
    assert aligned_error(truth - 7, truth, scaled=False) == pytest.approx(0, abs=1e-9)
    assert aligned_error(truth - 7, truth, scaled=True) > 0.1


def test_growth_times_every_size():
    pixels, seconds = open_problem.growth("canadian_tent", (24, 32), methods=("quadratic", "phi1"))
    assert pixels == [24**2, 32**2]
    assert {method: len(times) for method, times in seconds.items()} == {"quadratic": 2, "phi1": 2}
