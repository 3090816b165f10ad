"""The numbers of Table 1 are what they say, on surfaces where the answer is known."""

import numpy as np
import pytest

from normint import surfaces
from normint.workbook.studies import table1
from normint.workbook.study import metrics


@pytest.fixture(scope="module")
def tent():
    return surfaces.canadian_tent(64, 16, 16)


def test_jumps_are_at_the_gables_alone(tent):
    marks = metrics.near_jumps(tent, distance=0)
    columns = np.flatnonzero(marks.any(axis=0))
    assert columns.tolist() == [15, 16, 47, 48]  # both sides of each gable
    assert not marks[: 32 - 16].any()


def test_error_near_jumps_looks_there_and_nowhere_else(tent):
    elsewhere = np.where(metrics.near_jumps(tent), 0.0, 1.0)
    error = metrics.error_near_jumps(tent.depth + elsewhere, tent)
    assert error == pytest.approx(elsewhere.mean())  # only the mean difference is left there
    assert metrics.error_near_jumps(tent.depth + 7.0, tent) == pytest.approx(0.0, abs=1e-12)


def test_border_bias_is_the_error_of_the_frame():
    surface = surfaces.peaks(32)
    frame = np.ones((32, 32))
    frame[2:-2, 2:-2] = -(32**2 - 28**2) / 28**2  # so that its mean is zero
    value = metrics.border_bias(surface.depth + 0.01 * frame, surface)
    assert value == pytest.approx(100 * 0.01 / surface.depth.std())


class TestStaircasing:
    surface = surfaces.peaks(64)

    def test_a_step_counts_once_for_each_line_it_crosses(self):
        stairs = np.zeros((64, 64))
        stairs[32:] = 1.0
        edges = 2 * 59 * 64  # those that have two more before and after
        share = metrics.staircasing(self.surface.depth + stairs, self.surface, 0.1)
        assert share == pytest.approx(64 / edges)

    def test_bending_and_noise_are_no_steps(self):
        v = np.arange(64) / 64
        rng = np.random.default_rng(0)
        bent = self.surface.depth + 30 * v**2 + 0.05 * rng.standard_normal((64, 64))
        assert metrics.staircasing(bent, self.surface, 0.1) == 0

    def test_true_jumps_are_left_out(self):
        tent = surfaces.canadian_tent()
        smoothed = 0.5 * (tent.depth + np.roll(tent.depth, 1, axis=1))
        assert metrics.staircasing(smoothed, tent, 0.1) == 0


class TestTable:
    best = {
        "time": 1, "noise": 1, "border": 0, "jumps": 0.1, "domain": 0, "parameter": 1, "starts": 0,
        "steps": 0,
    }  # fmt: skip

    def table(self, **changes):
        measured = {name: dict(self.best) for name in ("dct", "quadratic", "mumford_shah")}
        measured["mumford_shah"].update(changes)
        return table1.Table(measured)

    def signs(self, **changes):
        table = self.table(**changes)
        return [table.sign("mumford_shah", column) for column in table1.COLUMNS]

    def test_signs_follow_from_the_numbers(self):
        assert self.signs() == ["+++", "+", "+", "+++", "+", "+", "No", "No"]
        assert self.signs(time=100, jumps=0.8, parameter=3, starts=2) == [
            "+", "+", "+", "+", "+", "−−", "Yes", "No"
        ]  # fmt: skip
        assert [self.signs(time=time)[0] for time in (4, 5, 40, 41, 400, 401)] == [
            "+++", "++", "++", "+", "+", "−"
        ]  # fmt: skip

    def test_methods_that_the_paper_does_not_have_differ_in_nothing(self):
        for name in ("calibrated", "bilateral"):
            table = self.table()
            table.measured[name] = self.best | {"parameter": 9.0, "starts": np.nan}
            assert "?\nnot measured" in table.cells()[0][-1]
            assert table.sign(name, table1.COLUMNS[5]) == "−−"
            assert not any(name in line for line in table.disagreements())
            assert set(table.colours()[-1]) == {"white"}

    def test_differences_from_the_paper_are_shown_and_told(self):
        table = self.table(parameter=1.5)
        lines = table.disagreements(without=["Fast"])
        assert "No parameter: Mumford-Shah is −, the paper says −− (× 1.5)" in lines
        assert not any(line.startswith("Fast") for line in lines)
        rows, headings = table.cells()
        assert len(headings) == len(rows[0]) == len(table.colours()[0]) == 9
        assert "− (−−)\n× 1.5" in rows[2]
        assert table.colours()[2][headings.index("No parameter")] != "white"
        assert "| − (−−) × 1.5 |" in table.text()

    def test_the_limits_of_all_signs_stand_below(self):
        for text in (self.table().caption, self.table().text()):
            assert "time / time of the DCT; +++ up to 4, ++ up to 40, + up to 400, else −\n" in text
            for column in table1.COLUMNS:
                assert all(f"{sign} up to {limit:g}" in text for limit, sign in column.limits[:-1])

    def test_minus_signs_are_no_hyphens(self):
        signs = [sign for column in table1.COLUMNS for _, sign in column.limits]
        assert not any("-" in sign for sign in [*signs, *sum(table1.PAPER.values(), ())])
        assert {sign for signs in table1.PAPER.values() for sign in signs} <= set(signs)
