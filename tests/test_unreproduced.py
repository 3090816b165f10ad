"""The experiments about printed numbers that do not come out: each study against something that is known."""

import numpy as np
import pytest

import normint
from normint.integration import integrate_quietly
from normint.metrics import rmse
from normint.workbook.results import paper_values
from normint.workbook.studies import energy_gap, fixed_step, noise_level, tents


@pytest.fixture(scope="module")
def noisy():
    return normint.surfaces.vase(48).with_noise(0.02, np.random.default_rng(0))


@pytest.fixture(scope="module")
def points():
    return energy_gap.points(n=48, sigma=0.02, seed=0, weight=[1e-3, 1e-2, 1e-1])


class TestEnergyGap:
    def test_the_truth_costs_more_energy_the_more_it_weighs(self, points):
        energies, errors = [one.energy for one in points], [one.error for one in points]
        assert energies == sorted(energies) and errors == sorted(errors, reverse=True)

    def test_no_surface_is_below_the_bound(self, noisy, points):
        rng = np.random.default_rng(1)
        plain = integrate_quietly(noisy.p, noisy.q).depth
        best = integrate_quietly(noisy.p, noisy.q, method="total_variation").depth
        for part in (0.0, 0.3, 0.8, 1.0):
            for base in (plain, best, noisy.depth + 0.1 * rng.standard_normal(plain.shape)):
                z = part * noisy.depth + (1 - part) * base
                one = energy_gap.point(z, noisy)
                least = energy_gap.least_energy(points, one.error, z.size)
                assert one.energy > (1 - 1e-5) * least

    def test_the_bound_is_reached_on_the_front(self, noisy, points):
        one = points[1]
        bound = energy_gap.least_energy(points, one.error, noisy.depth.size)
        assert bound == pytest.approx(one.energy, rel=1e-5)

    def test_energies_are_those_of_the_method(self, noisy):
        run = integrate_quietly(noisy.p, noisy.q, method="total_variation", scheme="paper", max_iterations=20)
        _, one = energy_gap.points(n=48, sigma=0.02, seed=0, step=1.0, count=[5, 20])
        assert one.energy == pytest.approx(run.energies[-1], rel=1e-12)
        assert one.error == pytest.approx(rmse(run.depth, noisy.depth), rel=1e-12)


class TestFixedStep:
    tent = normint.surfaces.canadian_tent(32, 8, 8).with_noise(0.01, np.random.default_rng(0))

    def test_it_is_the_method_where_that_has_no_choice(self):
        # With β = 4 the bound on the curvature is 1, which is where the method's own backtracking begins.
        options = {"method": "phi1", "scheme": "paper", "beta": 4.0, "initial": np.zeros((32, 32))}
        run = integrate_quietly(self.tent.p, self.tent.q, max_iterations=80, **options)
        (error,) = fixed_step.snapshots(self.tent, 1.0, [80], beta=4.0)
        assert error == pytest.approx(rmse(run.depth, self.tent.depth), rel=1e-10)

    def test_half_the_step_needs_twice_the_iterations(self):
        quick, slow = fixed_step.snapshots(self.tent, 16, [600]), fixed_step.snapshots(self.tent, 32, [1200])
        assert quick == pytest.approx(slow, rel=0.05)

    def test_snapshots_are_of_one_run(self):
        assert fixed_step.snapshots(self.tent, 8, [50, 100])[1:] == fixed_step.snapshots(self.tent, 8, [100])

    def test_an_error_that_was_not_reached_is_refused(self):
        with pytest.raises(ValueError, match="wanted is 5; expected an error between 6 and 9"):
            fixed_step.reached([1, 2], [9.0, 6.0], 5)


class TestNoiseLevel:
    def test_the_level_that_was_used_is_found(self):
        cases = {"plain": {"method": "quadratic"}, "tv": {"method": "total_variation"}}
        found = noise_level.scan("peaks", (0.0, 0.05, 0.3), range(3), cases, n=48)
        assert [len(found[sigma]["tv"]) for sigma in found] == [1, 3, 3]
        printed = {case: round(float(np.median(found[0.3][case])), 2) for case in cases}
        assert noise_level.matching(found, printed) == [0.3]

    def test_all_errors_must_match(self):
        found = {0.0: {"a": [1.0], "b": [2.0]}, 0.1: {"a": [1.0], "b": [3.0]}}
        assert noise_level.matching(found, {"a": 1.0, "b": 3.0}) == [0.1]


class TestTents:
    setting = tents.Setting(32, 0.25, 0.25, 1.0, 0.01)

    def test_a_search_gives_what_the_method_gives(self):
        (pair,) = tents.search([self.setting], seed=4)
        tent = self.setting.surface()
        noisy = tent.with_noise(0.01, np.random.default_rng(4))
        options = {"method": "mumford_shah", "scheme": "paper", "mu": 20, "epsilon": 0.01}
        starts = {"least_squares": None, "w_first": np.zeros((32, 32))}
        for name, start in starts.items():
            depth = integrate_quietly(noisy.p, noisy.q, initial=start, **options).depth
            assert getattr(pair, name) == rmse(depth, tent.depth)
        assert pair.deviation == pytest.approx(rmse(np.zeros((32, 32)), tent.depth))
        # On so small a grid 100 steps reach least squares, and the order makes no difference.
        assert pair.z_first == pytest.approx(pair.least_squares, abs=0.01)

    def test_the_distance_is_zero_at_the_paper_in_either_order(self):
        values = paper_values()
        first, second = values["fig14", "from least squares", "RMSE"], values["fig14", "from zero", "RMSE"]
        exact = [
            tents.Pair(self.setting, 5.0, first, second, 9.0),
            tents.Pair(self.setting, 5.0, first, 9.0, second),
        ]
        assert [pair.distance() for pair in exact] == [0, 0]
        assert [pair.zero for pair in exact] == [second, second]
        far = tents.Pair(self.setting, 5.0, first + 0.5, second, second + 0.1)
        assert far.distance() == pytest.approx(0.5)
        assert tents.nearest([far, *exact], 1)[0] in exact

    def test_rows_are_read_back(self, tmp_path):
        pairs = [tents.Pair(self.setting, 5.0, 0.5, 1.25, 2.0)]
        path = tmp_path / "tents.csv"
        path.write_text("\n".join(",".join(map(str, row)) for row in tents.rows(pairs)) + "\n")
        assert tents.read(path) == pairs

    def test_the_committed_search_is_that_of_the_grid(self):
        found = tents.read()
        assert [pair.setting for pair in found] == tents.grid()
        best = tents.nearest(found)[0]  # a small tent
        (again,) = tents.search([best.setting])
        for name in ("deviation", "least_squares", "w_first", "z_first"):
            assert getattr(again, name) == pytest.approx(getattr(best, name), abs=0.01)
