"""Experiments over noise draws, and how they are reported."""

import numpy as np
import pytest

import normint
from normint import surfaces
from normint.workbook import results
from normint.workbook.studies.noise_draws import (
    First,
    Runs,
    over_seeds,
    report,
    titled_depths,
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NORMINT_FIGURES", str(tmp_path))
    return tmp_path


def runs_with(errors):
    depth = np.zeros((2, 2))
    return Runs(First(depth, np.zeros(1), 1), np.array(errors))


def test_every_seed_is_a_draw_of_its_own_and_the_first_is_kept():
    peaks = surfaces.peaks(24)
    runs = over_seeds("peaks", 0.1, range(3, 6), n=24, method="quadratic")
    assert len(set(runs.errors)) == 3
    noisy = peaks.with_noise(0.1, np.random.default_rng(3))
    np.testing.assert_array_equal(runs.first.depth, normint.integrate(noisy.p, noisy.q).depth)
    assert (runs.mean, runs.spread) == (np.mean(runs.errors), np.std(runs.errors))


def test_without_noise_one_draw_is_enough():
    assert len(over_seeds("peaks", 0.0, range(5), n=24).errors) == 1


def test_report_records_the_mean_and_its_spread(folder, capsys):
    runs = {"mu=1": runs_with([4.90, 5.00]), "mu=45": runs_with([3.0, 3.2])}
    report("fig13", runs, tolerance=0.1, note="a note", reasons={"mu=45": "a reason"})
    first, second = results.read(folder)
    assert (first["ours"], first["spread"], first["verdict"]) == ("4.95", "0.05", "reproduced within 0.1")
    assert "first draw 4.90, mean of 2; a note" in first["note"]
    assert second["verdict"].startswith("not reproduced: a reason")
    printed = capsys.readouterr().out
    assert "4.94" in printed and "4.95 ± 0.05" in printed and "not reproduced" in printed


def test_a_miss_without_a_reason_is_refused(folder):
    with pytest.raises(ValueError, match="note must say why"):
        report("fig13", {"mu=45": runs_with([3.0])}, tolerance=0.1)


def test_panels_show_our_error_and_the_papers():
    (title,) = titled_depths("fig13", {"mu=45": runs_with([2.471, 2.6])}, {"mu=": "μ = "})
    assert title == "μ = 45\nRMSE 2.47 (paper: 2.37)"
