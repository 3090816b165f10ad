"""Constants are changed one at a time, and errors compared with those of the constants as they are."""

import numpy as np
import pytest

from normint.methods.calibrated.constants import CONSTANTS
from normint.workbook.studies import constants as constants_study
from normint.workbook.study import Study


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
    def fake(*, method, constants, scale):
        assert method == "calibrated"
        return {"rmse": scale * constants.get("jump", CONSTANTS.jump)}

    monkeypatch.setattr(constants_study, "integrated", fake)
    ratios = constants_study.sensitivity({"one": [{"scale": 1.0}, {"scale": 3.0}]}, CONSTANTS)["one"]
    assert ratios["jump", 2.0] == pytest.approx(2.0) and ratios["jump", 0.5] == pytest.approx(0.5)
    assert all(value == pytest.approx(1.0) for (name, _), value in ratios.items() if name != "jump")


def test_known_depths_help(tmp_path):
    tent = {"surface": "canadian_tent", "n": 48, "half_length": 12, "half_width": 12, "sigma": 0.05}
    held = Study.over(**tent, method="calibrated", prior=12, prior_weight=10.0).run(folder=tmp_path)
    alone = Study.over(**tent).run(folder=tmp_path)
    assert held["rmse"][0] < alone["rmse"][0]
