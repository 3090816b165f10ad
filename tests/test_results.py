"""The results file: what is written, beside what, and that it survives company."""

import csv
import subprocess
import sys
from unittest import mock

import pytest

from normint.workbook import results
from normint.workbook.notebook_files import MADE


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NORMINT_FIGURES", str(tmp_path))
    monkeypatch.delenv("NORMINT_VARIANT", raising=False)
    monkeypatch.delenv("NORMINT_RUN", raising=False)
    return tmp_path


def test_all_numbers_of_the_paper_are_there():
    values = results.paper_values()
    assert len(values) == 23
    assert values["fig04", "grid", "RMSE"] == 4.66
    assert values["fig10", "diffusion", "MAE (deg)"] == 8.43
    assert {figure for figure, _, _ in values} == {f"fig{n:02d}" for n in (4, 7, 8, 9, 10, 12, 13, 14)}


def test_verdicts(monkeypatch):
    record = results.record
    assert record("fig04", "mask", "RMSE", 0.1079, tolerance=0.01) == "reproduced within 0.01"
    assert record("fig04", "mask", "RMSE", 0.16, tolerance=0.05) == "reproduced within 0.05"  # just
    assert record("fig12", "mu=0.2", "RMSE", 2.48, tolerance=0.1, note="why") == "not reproduced: why"
    assert record("fig03", "n=128", "RMSE", 0.064) == "new"
    stand_in = record("fig10", "diffusion", "MAE (deg)", 8.43, data="stand-in", tolerance=1)
    assert stand_in == "not reproduced: stand-in data"  # never, however near
    monkeypatch.setenv("NORMINT_VARIANT", "seed3")
    assert record("fig04", "mask", "RMSE", 9, tolerance=0.1) == "not reproduced: seed3"


def test_rows_have_the_columns_and_the_paper_as_printed(folder):
    results.record("fig08", "beta=0.1", "RMSE", 4.583219, spread=0.01234, tolerance=0.05, note="a\n b")
    with open(folder / "results.csv", newline="") as file:
        header, row = csv.reader(file)
    assert header == "figure case metric paper ours spread data verdict note".split()
    assert row[3:] == ["4.60", "4.583", "0.012", "generated", "reproduced within 0.05", "a b"]


def test_order_does_not_depend_on_the_order_of_recording(folder):
    calls = [
        ("fig08", "beta=0.5", 4.4), ("fig04", "new n=1024", 1), ("fig04", "grid", 4.6),
        ("fig04", "mask", 0.1), ("fig04", "new n=128", 2), ("table1", "x", 3),
    ]  # fmt: skip
    for order in (calls, calls[::-1]):
        for figure, case, ours in order:
            results.record(figure, case, "RMSE", ours, tolerance=1)
        cases = [row["case"] for row in results.read()]
        assert cases == ["mask", "grid", "new n=128", "new n=1024", "beta=0.5", "x"]
        (folder / "results.csv").unlink()


def test_recording_again_replaces_and_stand_ins_keep_to_themselves(folder):
    results.record("fig10", "diffusion", "MAE (deg)", 8.22, data="real", tolerance=0.5)
    before = (folder / "results.csv").read_bytes()
    results.record("fig10", "diffusion", "MAE (deg)", 8.22, data="real", tolerance=0.5)
    assert (folder / "results.csv").read_bytes() == before
    results.record("fig10", "diffusion", "MAE (deg)", 3, data="stand-in")
    assert [(row["data"], row["ours"]) for row in results.read()] == [("real", "8.22"), ("stand-in", "3")]
    assert "stand-in" not in results.table()  # the real one is known


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("figure", {"figure": ""}),
        ("case", {"case": None}),
        ("ours", {"ours": float("nan")}),
        ("ours", {"ours": "many"}),
        ("spread", {"spread": -1}),
        ("data", {"data": "made up"}),
        ("tolerance", {"tolerance": float("inf")}),
        ("tolerance", {"tolerance": None}),
        ("note", {"ours": 99}),
        ("note", {"note": 5}),
    ],
)
def test_bad_input_names_the_argument(argument, call, folder):
    good = {"figure": "fig04", "case": "mask", "metric": "RMSE", "ours": 0.11, "tolerance": 0.01}
    with pytest.raises(ValueError, match=argument):
        results.record(**{**good, **call})
    assert not (folder / "results.csv").exists()


def test_many_processes_at_once_lose_no_row():
    code = (
        "import sys; from normint.workbook.results import record\n"
        "for i in range(20): record('fig03', f'{sys.argv[1]} {i}', 'RMSE', i)"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code, name]) for name in "ab"]
    assert [process.wait() for process in processes] == [0, 0]
    assert len(results.read()) == 40


def test_table_and_readme(folder):
    results.record("fig04", "mask", "RMSE", 0.108, spread=0.002, tolerance=0.01)
    results.record("fig03", "time n=64", "time (s)", 0.5)
    readme = folder / "README.md"
    readme.write_text("# Title\n<!-- results:begin -->\nold\n<!-- results:end -->\nrest\n")
    for _ in range(2):
        results.write_between(readme, "results", results.table())
    lines = readme.read_text().splitlines()
    assert lines[0] == "# Title" and lines[-1] == "rest" and "old" not in lines
    assert "| fig04 | mask | RMSE | 0.11 | 0.108 ± 0.002 | generated | reproduced within 0.01 |" in lines
    assert len(lines) == 7  # no row for the timing


@pytest.mark.parametrize("text", ["no markers", "<!-- results:end --><!-- results:begin -->"])
def test_readme_without_markers(folder, text):
    readme = folder / "README.md"
    readme.write_text(text)
    with pytest.raises(ValueError, match=r"README.md must contain .*results:begin"):
        results.write_between(readme, "results", "new")
    assert readme.read_text() == text


def test_a_run_hears_of_it(folder, monkeypatch):
    shell = mock.Mock()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    results.record("fig03", "x", "RMSE", 1)  # nobody listens
    monkeypatch.setenv("NORMINT_RUN", "1")
    results.record("fig03", "y", "RMSE", 1)
    results.save_text("a.txt", "text")
    told = [call.kwargs["data"][MADE] for call in shell.display_pub.publish.call_args_list]
    assert told[0] == {"data": "generated", "key": ("fig03", "y", "RMSE", "generated")}
    assert told[1:] == [{"data": "generated", "path": str(folder / "a.txt")}]
