"""The command: what it passes on, what it prints, and its exit codes."""

import subprocess
import sys

import pytest

from normint import cli, paths
from normint.workbook import results
from normint.workbook import run as workbook
from normint.workbook.run import Outcome


@pytest.fixture
def called(monkeypatch):
    """Replace the run of the notebooks, and return what it was called with."""
    called = {"outcomes": [Outcome("01_one", "done", 1.0)]}

    def run(**options):
        called.update(options)
        return called["outcomes"]

    monkeypatch.setattr(workbook, "run", run)
    return called


def test_options_reach_the_runner(called, capsys):
    line = "--only 02 --only 03 --quick --seed 3 --set mu=30 --set values=1,2"
    line += " --data d --out o --force --timeout 5 --jobs 1 --update"
    assert cli.main(["workbook", *line.split()]) == 0
    expected = {"data": "d", "out": "o", "timeout": 5, "jobs": 1, "update": True}
    assert {name: called[name] for name in expected} == expected
    assert called["changes"] == {"quick": True, "seed": 3, "mu": 30, "values": [1, 2]}
    assert called["only"] == ["02", "03"] and called["force"] is True
    assert "01_one" in capsys.readouterr().out


def test_defaults_leave_the_parameters_to_the_notebooks(called):
    cli.main(["workbook"])
    assert (called["changes"], called["data"], called["timeout"]) == ({}, None, 600)


def test_a_failed_notebook_makes_the_exit_code_1(called, capsys):
    called["outcomes"].append(Outcome("02_two", "failed", 1.0, "cell 3 (x): NameError"))
    assert cli.main(["workbook"]) == 1
    assert "failed" in capsys.readouterr().out


def test_errors_are_one_line_and_exit_code_2(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    assert cli.main(["workbook"]) == 2
    assert capsys.readouterr().err == f"normint: error: there are no notebooks in {tmp_path / 'notebooks'}\n"


@pytest.mark.parametrize("line", ["", "paint", "workbook --seed x", "workbook --colour"])
def test_bad_usage_is_one_line_and_exit_code_2(line, capsys):
    assert cli.main(line.split()) == 2
    error = capsys.readouterr().err
    assert error.startswith("normint: error: ") and error.count("\n") == 1
    assert error.endswith("--help\n")


def test_a_missing_library_is_named_with_what_installs_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "normint.workbook.progress", None)
    assert cli.main(["workbook"]) == 1
    error = capsys.readouterr().err
    assert "normint.workbook.progress is not installed; pip install 'normint[workbook]' has it" in error


def test_interrupted_is_130(monkeypatch, capsys):
    def run(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(workbook, "run", run)
    assert cli.main(["workbook"]) == 130
    assert "goes on from here" in capsys.readouterr().err


def test_results_are_printed_or_written(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("NORMINT_FIGURES", str(tmp_path))
    results.record("fig04", "mask", "RMSE", 0.11, tolerance=0.01)
    assert cli.main(["results"]) == 0
    assert "| fig04 | mask | RMSE | 0.11 |" in capsys.readouterr().out
    values = results._paper_texts()
    monkeypatch.setattr(results, "_paper_texts", lambda: values)
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    assert cli.main(["results", "--update-readme"]) == 2  # there is none
    assert "README.md" in capsys.readouterr().err
    (tmp_path / "README.md").write_text("<!-- results:begin --><!-- results:end -->")
    assert cli.main(["results", "--update-readme"]) == 0
    assert "| fig04 | mask |" in (tmp_path / "README.md").read_text()


def test_version_and_help_as_a_command():
    def normint(*arguments):
        command = [sys.executable, "-m", "normint", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert normint("--version").startswith("normint ")
    assert "workbook" in normint("--help") and "integrate" in normint("--help")
    assert "--method" in normint("integrate", "--help")
