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


def test_each_constant_is_halved_and_doubled_alone():
    changed = constants_study.varied(CONSTANTS)
    for (name, factor), constants in changed.items():
        before, after = CONSTANTS._asdict(), constants._asdict()
        assert [key for key in before if before[key] != after[key]] == [name]
        old, new = before[name], after[name]
        if name == "cooling":
            assert new > 1 and np.log(new) == pytest.approx(factor * np.log(old))
        elif name == "square_root":  # a share near 1: what is missing to 1
            assert 1 - new == pytest.approx(factor * (1 - old))
        elif isinstance(old, float):
            assert new == factor * old
        else:
            assert isinstance(new, int) and abs(new - factor * old) <= 1


def test_odd_sides_stay_odd():
    changed = constants_study.varied(CONSTANTS)
    assert [changed["window", factor].window for factor in (0.5, 2.0)] == [15, 63]
    assert [changed["loop", factor].loop for factor in (0.5, 2.0)] == [4, 16]


def test_sensitivity_compares_with_the_constants_as_they_are(monkeypatch):
    prior_given = object()

    def fake(p, q, mask, *, method, constants, prior):
        assert prior is prior_given
        return dataclasses.make_dataclass("Result", ["depth"])(p * constants.jump)

    monkeypatch.setattr(constants_study, "integrate", fake)
    problem = constants_study.error_of_constants(1.0, None, lambda depth: depth, prior=prior_given)
    ratios = constants_study.sensitivity({"one": [problem, problem]}, CONSTANTS)["one"]
    assert ratios["jump", 2.0] == pytest.approx(2.0) and ratios["jump", 0.5] == pytest.approx(0.5)
    assert all(value == pytest.approx(1.0) for (name, _), value in ratios.items() if name != "jump")


def test_known_depths_help():
    problem = constants_study.with_known_depths(TENT, 0, sigma=0.05)
    without = TENT.with_noise(0.05, np.random.default_rng(0))
    assert problem(CONSTANTS) < rmse(integrate(without.p, without.q).depth, TENT.depth)
