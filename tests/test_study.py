"""Studies: one row a run, the same wherever it runs, and nothing twice."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas
import pytest

from normint import paths, surfaces
from normint.cli import main
from normint.integration import integrate_quietly
from normint.metrics import rmse
from normint.workbook.study import FailedRuns, Study, integrated, store
from normint.workbook.study import kept as kept_tables
from normint.workbook.study.asking import read_study, study_of
from normint.workbook.study.tables import check_ending, over_draws, seconds_left, varied, write_table
from normint.workbook.study.values import values_of

MEASURED = ["seconds", "seconds_in_all", "megabytes"]
SMALL = {"surface": "vase", "n": 24, "sigma": [0.0, 0.02], "seed": [0, 1], "method": ["quadratic", "dct"]}


def numbers(table):
    """Return a table without what is measured of the machine."""
    return table.drop(columns=MEASURED)


@pytest.fixture
def counted(tmp_path):
    """Return a function that leaves a mark for every call, and one that counts the marks."""

    def call(*, value, mood="good"):
        with open(tmp_path / "calls", "a") as file:
            file.write(f"{value}\n")
        if mood != "good":
            raise ValueError(f"mood is {mood}")
        return {"square": value**2, "line": np.arange(value)}

    def count():
        path = tmp_path / "calls"
        return len(path.read_text().split()) if path.exists() else 0

    return call, count


class TestRows:
    def test_as_if_integrated_by_hand(self, tmp_path):
        table = Study.over(**SMALL).run(folder=tmp_path)
        vase = surfaces.vase(24)
        for row in table.itertuples():
            noisy = vase.with_noise(row.sigma, np.random.default_rng(row.seed)) if row.sigma else vase
            depth = integrate_quietly(noisy.p, noisy.q, method=row.method).depth
            assert row.rmse == rmse(depth, vase.depth)  # to the last digit

    def test_without_noise_one_draw_is_enough(self):
        assert [one["seed"] for one in Study.over(**SMALL | {"method": "dct"}).settings] == [0, 0, 1]

    def test_a_row_tells_time_memory_and_versions(self, tmp_path):
        (row,) = Study.over(surface="peaks", n=16).run(folder=tmp_path).itertuples()
        assert 0 <= row.seconds <= row.seconds_in_all and row.megabytes > 10
        assert "numpy" in row.versions and "normint" in row.versions

    def test_scenes_sculptures_and_real_objects(self, tmp_path):
        study = (
            Study.over(surface="scene", kind="steps", variant=1, n=32)
            + Study.over(surface="sculpture", number=0, n=32)
            + Study.over(surface="measured", dataset="stand-in")
        )
        assert np.isfinite(study.run(folder=tmp_path)["rmse"]).all()

    def test_starts_priors_and_constants_in_words(self, tmp_path):
        shah = {"surface": "canadian_tent", "n": 32, "method": "mumford_shah", "max_iterations": 3}
        study = Study.over(**shah, initial=[None, "zero", "rough", "total_variation"])
        assert study.run(folder=tmp_path)["rmse"].nunique() == 4
        held = Study.over(surface="vase", n=24, prior="flat", prior_weight=[1e-9, 10.0])
        flat = held.run(folder=tmp_path)["rmse"]
        assert flat[1] > flat[0]
        constants = [{}, {"bend": 0.3, "loop": 4}]
        changed = Study.over(surface="vase", n=48, sigma=0.01, method="calibrated", constants=constants)
        assert changed.run(folder=tmp_path)["energy"].nunique() == 2

    def test_metrics(self, tmp_path):
        study = study_of(["vase"], ["quadratic"], {"n": [48]}, ["rmse", "near_jumps", "border_bias", "steps"])
        (row,) = study.run(folder=tmp_path).itertuples()
        assert row.near_jumps > row.rmse > 0 and row.border_bias > 0 and row.steps >= 0


class TestKept:
    def test_nothing_is_computed_twice(self, tmp_path, counted):
        call, count = counted
        study = Study.over(call, value=[2, 3], keep=("line",))
        first = study.run(folder=tmp_path / "kept")
        assert count() == 2 and study.missing(tmp_path / "kept") == []
        pandas.testing.assert_frame_equal(study.run(folder=tmp_path / "kept"), first)
        assert count() == 2
        np.testing.assert_array_equal(study.arrays(1)["line"], [0, 1, 2])
        Study.over(call, value=[2, 3, 4], keep=("line",)).run(folder=tmp_path / "kept")
        assert count() == 3

    def test_fresh_runs_are_asked_for(self, tmp_path, counted):
        call, count = counted
        for _ in range(2):
            Study.over(call, value=2).run(folder=tmp_path, fresh=True)
        assert count() == 2

    def test_other_code_begins_anew(self, tmp_path, counted, monkeypatch):
        call, count = counted
        for stamp in "ab":
            monkeypatch.setattr("normint.workbook.study.store.code_stamp", lambda: 64 * stamp)  # noqa: B023
            monkeypatch.setattr("normint.workbook.study.measuring.code_stamp", lambda: 64 * stamp)  # noqa: B023
            monkeypatch.setattr("normint.workbook.study.study.code_stamp", lambda: 64 * stamp)  # noqa: B023
            Study.over(call, value=2).run(folder=tmp_path / "kept")
        assert count() == 2

    def test_the_stamp_is_that_of_what_a_run_uses(self):
        files = [entry[0] for entry in store.paths.listing(store.paths.PACKAGE, "*.py")]
        used = [name for name in files if not name.startswith(store.ASIDE)]
        assert {"solver/system.py", "integration.py", "workbook/study/metrics.py"} <= set(used)
        assert not any(name.startswith("cli/") for name in used)

    @pytest.mark.parametrize("damage", ["", "{", "{}", "[]"])
    def test_a_damaged_row_is_computed_again(self, tmp_path, counted, damage):
        call, count = counted
        study = Study.over(call, value=2, keep=("line",))
        first = study.run(folder=tmp_path / "kept")
        (file,) = (tmp_path / "kept").rglob("*.json")
        file.write_text(damage)
        assert numbers(study.run(folder=tmp_path / "kept")).equals(numbers(first)) and count() == 2

    def test_arrays_that_were_not_kept_are_computed_again(self, tmp_path, counted):
        call, count = counted
        Study.over(call, value=2).run(folder=tmp_path / "kept")
        Study.over(call, value=2, keep=("line",)).run(folder=tmp_path / "kept")
        Study.over(call, value=2).run(folder=tmp_path / "kept")
        assert count() == 2
        (file,) = (tmp_path / "kept").rglob("*.npz")
        file.write_bytes(file.read_bytes()[:30])
        Study.over(call, value=2, keep=("line",)).run(folder=tmp_path / "kept")
        assert count() == 3

    def test_a_function_of_a_cell_is_refused(self, tmp_path):
        scope = {}
        exec("def call(*, value):\n    return {}", scope)
        scope["call"].__module__ = "__main__"
        with pytest.raises(ValueError, match="write it into a module"):
            Study.over(scope["call"], value=2).run(folder=tmp_path)

    def test_old_code_is_forgotten(self, tmp_path, counted):
        for number in range(6):
            (tmp_path / "kept" / f"old{number}").mkdir(parents=True)
            os.utime(tmp_path / "kept" / f"old{number}", (number, number))
        Study.over(counted[0], value=2).run(folder=tmp_path / "kept")
        assert len(list((tmp_path / "kept").iterdir())) == store.KEPT
        assert not (tmp_path / "kept" / "old0").exists() and (tmp_path / "kept" / "old5").exists()


class TestFailures:
    def test_the_others_are_done_and_kept(self, tmp_path, counted):
        call, count = counted
        study = Study.over(call, value=[1, 2], mood=["good", "bad"])
        with pytest.raises(
            FailedRuns, match=r"2 of 4 runs failed; with value=1, mood=bad: ValueError: mood is bad"
        ) as error:
            study.run(folder=tmp_path / "kept")
        assert list(error.value.table["square"]) == [1, 4]
        assert len(study.missing(tmp_path / "kept")) == 2 and count() == 4

    def test_an_array_that_is_not_there(self, tmp_path, counted):
        with pytest.raises(FailedRuns, match="no array depth; it returned square, line"):
            Study.over(counted[0], value=2, keep=("depth",)).run(folder=tmp_path / "kept")

    def test_a_worker_with_other_code_refuses(self, tmp_path, counted, monkeypatch):
        monkeypatch.setattr("normint.workbook.study.measuring.code_stamp", lambda: "other")
        with pytest.raises(RuntimeError, match="other code or libraries"):
            Study.over(counted[0], value=2).run(folder=tmp_path / "kept")

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"surface": "vaze"}, "surface is 'vaze'; expected one of .*did you mean 'vase'"),
            ({"method": "quadratik"}, "method is 'quadratik'"),
            ({"mu": 3}, "mu is neither a setting of surface 'vase' nor an option of method 'quadratic'"),
            ({"sigma": -1}, "sigma is -1; expected a finite number"),
            ({"sigma": "a"}, "sigma is 'a'"),
            ({"seed": -1}, "seed is -1; expected a whole number"),
            ({"n": 3.5}, "n is 3.5; expected a whole number"),
            ({"domain": "half"}, "domain is 'half'; expected all or mask"),
            ({"surface": "scene"}, "needs a kind"),
            ({"metrics": "beauty"}, "metrics holds 'beauty'; expected some of rmse, near_jumps"),
            ({"metrics": "steps", "domain": "mask"}, "needs a whole image"),
            ({"method": "phi1", "beta": -1}, "beta is -1; expected a finite number > 0"),
            ({"method": "phi1", "max_iterations": 0}, "max_iterations is 0"),
            ({"prior": "flat", "prior_weight": -1}, "prior_weight is -1"),
            ({"initial": "truth"}, "initial is 'truth'; expected zero, rough"),
            ({"prior": "steep"}, "prior is 'steep'"),
            ({"method": "calibrated", "constants": {"luck": 1}}, "constants holds 'luck'"),
            ({"n": object()}, "settings hold a object"),
        ],
    )
    def test_wrong_settings_before_any_work(self, settings, message):
        with pytest.raises(ValueError, match=message):
            Study(integrated, (settings,))

    def test_settings_that_a_function_does_not_take(self, counted):
        with pytest.raises(ValueError, match="settings do not fit .*call: got an unexpected keyword"):
            Study.over(counted[0], value=1, colour="red")


class TestElsewhere:
    """Where runs happen makes no difference to their numbers."""

    @pytest.fixture(scope="class")
    @staticmethod
    def here(tmp_path_factory):
        study = Study.over(surface="vase", n=48, sigma=0.01, seed=range(6), method=["quadratic", "phi1"])
        return study, study.run(folder=tmp_path_factory.mktemp("here"))

    def test_on_two_cores(self, here, tmp_path):
        study, table = here
        there = study.run(folder=tmp_path, workers=2)
        pandas.testing.assert_frame_equal(numbers(there), numbers(table), check_exact=True)

    @pytest.mark.slow
    def test_on_a_cluster_whose_worker_dies(self, here, tmp_path):
        """Nothing is lost, nothing is there twice, and every digit is the same."""
        distributed = pytest.importorskip("distributed")
        study, table = here
        options = {"n_workers": 4, "threads_per_worker": 1, "dashboard_address": None}
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            pids = list(client.run(os.getpid).values())
            client.submit(_kill, pids[0], pure=False)
            there = study.run(folder=tmp_path, scheduler=cluster.scheduler_address)
            assert pids[0] not in client.run(os.getpid).values()  # it did die, and was replaced
        pandas.testing.assert_frame_equal(numbers(there), numbers(table), check_exact=True)
        assert len(list(tmp_path.rglob("*.json"))) == len(study) == len(there)

    def test_nobody_at_the_address(self, here, tmp_path, monkeypatch):
        pytest.importorskip("distributed")
        monkeypatch.setattr("normint.workbook.study.places.ANSWER", "0.5s")
        with pytest.raises(ValueError, match="scheduler is 'tcp://127.0.0.1:9'; no Dask scheduler answers"):
            here[0].run(folder=tmp_path, scheduler="tcp://127.0.0.1:9")

    def test_workers_must_be_a_number(self, here, tmp_path):
        with pytest.raises(ValueError, match="workers"):
            here[0].run(folder=tmp_path, workers=0)


def _kill(pid):
    time.sleep(0.3)
    os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_a_thousand_runs_after_a_kill(tmp_path):
    """Only what is missing is run."""
    command = [sys.executable, "-m", "normint", "study", "peaks", "--set", "n=8", "--set", "sigma=0.1"]
    command += ["--seeds", "1000", "--folder", str(tmp_path / "kept")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        while len(list(tmp_path.rglob("[!.]*.json"))) < 50:
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("[!.]*.json")}
    assert 50 <= len(before) < 1000
    subprocess.run([*command, "--out", str(tmp_path / "rows.csv")], check=True, stdout=subprocess.DEVNULL)
    assert {file: file.stat().st_mtime_ns for file in before} == before  # none of them was run again
    table = pandas.read_csv(tmp_path / "rows.csv")
    assert sorted(table["seed"]) == list(range(1000))
    # Nor is anything left of the one that was being written.
    assert len(list(tmp_path.rglob("*.json"))) == 1000


class TestInWords:
    @pytest.mark.parametrize("text", ["1:2:log1", "0:1:log3", "a:b:lin3", "1:inf:lin3", "1,,2", ""])
    def test_wrong_values(self, text):
        with pytest.raises(ValueError, match="expected|must have"):
            values_of(text)

    def test_a_setting_goes_where_it_means_something(self):
        study = study_of(["vase"], ["quadratic", "phi1"], {"beta": [0.1, 0.5], "n": [32]})
        assert [one.get("beta") for one in study.settings] == [None, 0.1, 0.5]
        with pytest.raises(ValueError, match="gamma is neither"):
            study_of(["vase"], ["quadratic", "phi1"], {"gamma": [0.1]})

    def test_a_file(self, tmp_path):
        file = tmp_path / "study.toml"
        file.write_text(
            'metrics = ["rmse", "near_jumps"]\nn = 32\n[[runs]]\nmethod = "mumford_shah"\nmu = "1:100:log3"\n'
            'sigma = [0.005, 0.01]\nseeds = 2\n[[runs]]\nsurface = ["peaks", "vase"]\n'
        )
        study = read_study(file)
        assert len(study) == 3 * 2 * 2 + 2
        assert study.settings[0]["metrics"] == "rmse,near_jumps" and study.settings[-1]["n"] == 32

    @pytest.mark.parametrize(
        ("text", "message"),
        [("", "has no .*runs"), ("[[runs", "cannot be read as TOML"), ("runs = 3", "has no .*runs"),
         ("[[runs]]\nmethod = 3", "method is 3"), ("[[runs]]\nseeds = 0", "seeds")],
    )  # fmt: skip
    def test_a_wrong_file(self, tmp_path, text, message):
        (tmp_path / "study.toml").write_text(text)
        with pytest.raises(ValueError, match=message):
            read_study(tmp_path / "study.toml")


class TestTables:
    @pytest.fixture(scope="class")
    @staticmethod
    def table(tmp_path_factory):
        study = Study.over(
            surface="vase", n=24, sigma=[0.01, 0.02], seed=[0, 1, 2], method=["quadratic", "dct"]
        )
        return study.run(folder=tmp_path_factory.mktemp("rows"))

    def test_means_over_draws(self, table):
        assert varied(table, ["rmse"]) == ["sigma", "method"]
        short = over_draws(table, ["rmse"])
        first = table[(table["sigma"] == 0.01) & (table["method"] == "quadratic")]["rmse"]
        assert list(short["runs"]) == 4 * [3]
        assert short["rmse"][0] == pytest.approx(first.mean(), rel=1e-14)
        assert short["± rmse"][0] == pytest.approx(np.std(first), rel=1e-12)

    @pytest.mark.parametrize("ending", ["csv", "parquet"])
    def test_written_and_read_again(self, table, tmp_path, ending):
        if ending == "parquet":
            pytest.importorskip("pyarrow")
        write_table(table, tmp_path / f"rows.{ending}")
        again = {"csv": pandas.read_csv, "parquet": pandas.read_parquet}[ending](tmp_path / f"rows.{ending}")
        pandas.testing.assert_frame_equal(again, table, check_exact=True)

    def test_lists_and_dicts_are_texts_that_can_be_grouped_by(self, tmp_path):
        vase = {"surface": "vase", "n": 32, "sigma": 0.01, "method": "calibrated"}
        table = Study.over(**vase, constants=[{}, {"loop": 4}]).run(folder=tmp_path)
        assert list(over_draws(table, ["rmse"])["constants"]) == ["{}", '{"loop": 4}']

    def test_parquet_needs_its_library_before_any_work(self, monkeypatch):
        monkeypatch.setattr("normint.extras.find_spec", lambda name: None)
        with pytest.raises(ImportError, match=r"rows.parquet needs pyarrow.*normint\[parquet\]"):
            check_ending("rows.parquet")

    def test_how_long_the_rest_takes(self, tmp_path):
        study = Study.over(surface="vase", n=24, sigma=0.01, seed=range(4), method=["quadratic", "dct"])
        assert seconds_left(study, tmp_path) > 0
        assert len(study.missing(tmp_path)) == 6  # one of each method was tried, and is kept
        study.run(folder=tmp_path)
        assert seconds_left(study, tmp_path) == 0


class TestCommand:
    @pytest.fixture
    def run(self, capsys):
        """Return a function from words to exit code, output and errors."""

        def call(*words):
            return main(["study", *map(str, words)]), *capsys.readouterr()

        return call

    def test_table_picture_and_file(self, run, tmp_path):
        out, plot = tmp_path / "rows.csv", tmp_path / "rows.png"
        words = [
            "vase",
            "--method",
            "phi1",
            "--method",
            "quadratic",
            "--set",
            "n=24",
            "--set",
            "beta=0.1:1:log3",
        ]
        words += ["--set", "sigma=0.01,0.02", "--seeds", 2, "--folder", tmp_path / "kept"]
        _, dry, _ = run(*words, "--dry-run")
        assert dry.startswith("16 runs, 2 of them done; the other 14 take about ")
        code, shown, _ = run(*words, "--out", out, "--plot", plot)
        header, *lines = shown.splitlines()
        assert code == 0 and header.split()[:3] == ["beta", "sigma", "method"] and len(lines) == 8
        assert len(pandas.read_csv(out)) == 16 and plot.stat().st_size > 10_000

    def test_mistakes(self, run, tmp_path):
        for words, message in (
            (["vase", "--set", "n"], "--set is 'n'; expected NAME=VALUE"),
            (["vase", "--out", "rows.txt"], "expected a name that ends in .csv or .parquet"),
            (["vase", "--plot", "rows.gif"], "plot is rows.gif"),
            (["no.toml"], "no.toml"),
            (["no.toml", "--seeds", "3"], "a file says all of it"),
            (["vase", "--set", "seed=1", "--seeds", "3"], "--seeds and --set seed"),
        ):
            code, _, error = run(*words, "--folder", tmp_path)
            assert code == 2 and message in error and error.count("\n") == 1
        assert list(tmp_path.iterdir()) == []

    def test_failed_runs_are_named_and_the_others_shown(self, run, tmp_path):
        words = ["scene", "--set", "n=32", "--set", "kind=steps,stairs", "--folder", tmp_path]
        code, shown, error = run(*words)
        assert code == 1 and "1 of 2 runs failed" in error and len(shown.splitlines()) == 2


class TestKeptTables:
    @pytest.fixture
    def study(self, tmp_path, monkeypatch):
        monkeypatch.setattr(kept_tables, "_path", lambda name: tmp_path / "studies" / f"{name}.csv")
        monkeypatch.setenv("NORMINT_STUDIES", str(tmp_path / "rows"))
        monkeypatch.setenv("NORMINT_KEEP", "1")
        study = Study.over(**SMALL, metrics="rmse,near_jumps")
        table = kept_tables.kept(study, "small")
        monkeypatch.delenv("NORMINT_KEEP")
        return study, table, tmp_path / "studies" / "small.csv"

    def test_what_was_written_is_read(self, study):
        study, table, _ = study
        again = kept_tables.kept(study, "small", live=1)
        pandas.testing.assert_frame_equal(again, table, rtol=1e-9)
        np.testing.assert_allclose(study.run()["near_jumps"], table["near_jumps"], rtol=1e-12)

    def test_only_some_runs_are_made_again_and_those_that_are_missing(self, study, monkeypatch):
        study, _, _ = study
        made = []
        monkeypatch.setattr(Study, "run", counting(made, Study.run))
        kept_tables.kept(study, "small", live=2)
        assert made == [study.settings[0], study.settings[3]]
        other = Study.over(**SMALL | {"seed": [0, 5]}, metrics="rmse,near_jumps")
        made.clear()
        kept_tables.kept(other, "small", live=1)
        assert [one["seed"] for one in made] == [0, 5, 5]

    def test_a_number_that_no_longer_comes_out_is_named(self, study):
        study, table, path = study
        path.write_text(path.read_text().replace(f"{table['rmse'][0]:.10g}", "0.123"))
        with pytest.raises(ValueError, match=r"small.csv has rmse = 0.123 for \{'surface': 'vase'"):
            kept_tables.kept(study, "small", live=1)

    @pytest.mark.parametrize(
        "path", sorted((paths.root() / "data" / "studies").glob("*.csv")), ids=lambda path: path.stem
    )
    def test_a_table_of_the_repository_is_used_and_has_each_run_once(self, path):
        rows = kept_tables._read(path.stem)
        assert len(rows) == len(path.read_text().splitlines()) - 1
        assert all(np.isfinite(list(row.values())).all() and row for row in rows.values())
        notebooks = (paths.root() / "notebooks").glob("*.ipynb")
        sources = [*notebooks, *(paths.PACKAGE / "workbook" / "studies").glob("*.py")]
        assert any(f'"{path.stem}"' in one.read_text().replace('\\"', '"') for one in sources)


def counting(made, run):
    """Return `Study.run` that notes the settings which it is asked for."""

    def noting(self, **where):
        made.extend(self.settings)
        return run(self, **where)

    return noting
