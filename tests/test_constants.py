"""Constants are changed one at a time, and errors compared with those of the constants as they are."""

import dataclasses

import numpy as np
import pytest

from normint import integrate
from normint.methods.calibrated.constants import CONSTANTS
from normint.metrics import rmse
from normint.surfaces import canadian_tent
from normint.workbook.studies import constants as constants_study

TENT = canadian_tent(48, 12, 12)


def flat(constants):
    """Return all constants by name."""
    return {name: value for stage in vars(constants).values() for name, value in stage._asdict().items()}


def test_each_constant_is_halved_and_doubled_alone():
    changed = constants_study.varied(CONSTANTS)
    for (name, factor), constants in changed.items():
        before, after = flat(CONSTANTS), flat(constants)
        assert [key for key in before if before[key] != after[key]] == [name]
        old, new = before[name], after[name]
        assert (new > old) == (factor > 1)
        if "cooling" in name or name == "growth":
            assert new > 1 and np.log(new) == pytest.approx(factor * np.log(old))
        elif isinstance(old, float):
            assert new == factor * old
        else:
            assert isinstance(new, int) and abs(new - factor * old) <= 1


def test_odd_sides_stay_odd():
    changed = constants_study.varied(CONSTANTS)
    assert [changed["window", factor].noise.window for factor in (0.5, 2.0)] == [15, 63]
    assert [changed["rounds", factor].rounds.rounds for factor in (0.5, 2.0)] == [5, 20]


def test_sensitivity_compares_with_the_constants_as_they_are(monkeypatch):
    prior_given = object()

    def fake(p, q, mask, *, method, constants, prior):
        assert prior is prior_given
        return dataclasses.make_dataclass("Result", ["depth"])(p * constants.price.width)

    monkeypatch.setattr(constants_study, "integrate", fake)
    problem = constants_study.error_of_constants(1.0, None, lambda depth: depth, prior=prior_given)
    ratios = constants_study.sensitivity({"one": [problem, problem]}, CONSTANTS)["one"]
    assert ratios["width", 2.0] == pytest.approx(2.0) and ratios["width", 0.5] == pytest.approx(0.5)
    assert all(value == pytest.approx(1.0) for (name, _), value in ratios.items() if name != "width")


def test_known_depths_help():
    problem = constants_study.with_known_depths(TENT, 0, sigma=0.05)
    without = TENT.with_noise(0.05, np.random.default_rng(0))
    assert problem(CONSTANTS) < rmse(integrate(without.p, without.q).depth, TENT.depth)
