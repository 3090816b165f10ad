"""What runs leave behind, damaged in every way: it means to run again, and never a traceback."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_workbook import Pretend, make

from normint import cli, paths
from normint.workbook import notebook_process, results
from normint.workbook import run as workbook
from normint.workbook.notebook_files import read_notebook
from normint.workbook.state import MOST

NAME = "01_one"


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Return the folder of a workbook that has run."""
    for name in ("NORMINT_DATA", "NORMINT_FIGURES", "NORMINT_VARIANT", "NORMINT_RUN_LOG", "NORMINT_DATASET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(workbook, "NotebookProcess", Pretend)
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    make(tmp_path, NAME, "1 + 1")
    assert statuses(tmp_path) == ["done"]
    assert statuses(tmp_path) == ["skipped"]
    return tmp_path


def statuses(root):
    return [outcome.status for outcome in workbook.run(root=root)]


def said(capsys, *arguments):
    """Return the exit code of the command and the one line that it says about an error."""
    code = cli.main(list(arguments))
    lines = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    assert len(lines) == 1
    return code, lines[0]


CHANGES = {
    "no fingerprint": lambda state: state.pop("fingerprint"),
    "another field": lambda state: state.update(extra=1),
    "outputs are a number": lambda state: state.update(outputs=3),
    "outputs are a dict": lambda state: state.update(outputs={"kind": "figure"}),
    "outputs are numbers": lambda state: state.update(outputs=[1, None]),
    "an output without a kind": lambda state: state["outputs"][0].pop("kind"),
    "an output of a wrong kind": lambda state: state["outputs"][0].update(kind=["figure"]),
    "a figure without a path": lambda state: state["outputs"][0].pop("path"),
    "a figure whose path is a list": lambda state: state["outputs"][0].update(path=[]),
    "a figure whose path is no name": lambda state: state["outputs"][0].update(path="\0"),
    "a figure that is a device": lambda state: state["outputs"][0].update(path="/dev/zero"),
    "a number without a column": lambda state: state["outputs"][1].pop("verdict"),
    "a number whose column is null": lambda state: state["outputs"][1].update(paper=None),
    "a number that was left out": lambda state: state["outputs"].pop(),
    "seconds are text": lambda state: state.update(seconds="long"),
    "seconds are infinite": lambda state: state.update(seconds=float("inf")),
    "the message is a list": lambda state: state.update(message=[]),
    "another name": lambda state: state.update(name="../../elsewhere"),
    "the status is a list": lambda state: state.update(status=["done"]),
    "files are a list": lambda state: state.update(files=[]),
    "a file's content is null": lambda state: state.update(files=dict.fromkeys(state["files"])),
}


@pytest.mark.parametrize(
    ("change", "signed"),
    # A state without one of the numbers, and signed, is a good state.
    [(c, s) for c in CHANGES for s in (False, True) if not (s and c == "a number that was left out")],
)
def test_a_state_with_wrong_fields_means_to_run_again(root, change, signed):
    path = root / "build/workbook" / f"{NAME}.json"
    state = json.loads(path.read_text())
    CHANGES[change](state)
    if signed:  # someone went to the trouble
        state.pop("digest")
        state["digest"] = workbook.digest(state)
    path.write_text(json.dumps(state))
    assert statuses(root) == ["done"]
    assert statuses(root) == ["skipped"]


DAMAGES = {
    "empty": b"",
    "cut off": b'{"fingerprint": "0',
    "null": b"null",
    "a list": b"[1, 2]",
    "text": b'"done"',
    "binary": bytes(range(256)),
    "deep": b"[" * 100_000,
    "a huge number": b'{"seconds": ' + b"9" * 10_000 + b"}",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_state_means_to_run_again(root, damage):
    (root / "build/workbook" / f"{NAME}.json").write_bytes(DAMAGES[damage])
    assert statuses(root) == ["done"]
    assert statuses(root) == ["skipped"]


def test_a_state_that_is_no_file_means_to_run_again(root):
    path = root / "build/workbook" / f"{NAME}.json"
    path.unlink()
    os.mkfifo(path)  # nobody writes to it: reading it as a file would wait for ever
    assert statuses(root) == ["done"]
    os.truncate(path, MOST + 1)
    assert statuses(root) == ["done"]
    path.unlink()
    os.mkfifo(root / "pipe")
    path.symlink_to(root / "pipe")
    assert statuses(root) == ["done"]
    assert path.is_file() and statuses(root) == ["skipped"]


def test_a_state_that_cannot_be_written_is_said(root):
    path = root / "build/workbook" / f"{NAME}.json"
    path.unlink()
    path.mkdir()
    for _ in range(2):
        (outcome,) = workbook.run(root=root)
        assert outcome.status == "done"
        assert f"it will run again next time, since {path} cannot be written" in outcome.message


def put_pipe(path):
    os.mkfifo(path)


def put_link(path):
    path.symlink_to(path.with_name("elsewhere.png"))


@pytest.mark.parametrize("put", [put_pipe, put_link, Path.mkdir])
def test_a_figure_that_is_no_plain_file_is_noticed_and_left_alone(root, put):
    path = root / "figures" / f"{NAME}.png"
    path.unlink()
    put(path)
    kind = stat.S_IFMT(path.lstat().st_mode)
    (outcome,) = workbook.run(root=root)
    assert outcome.status == "failed" and str(path) in outcome.message
    assert stat.S_IFMT(path.lstat().st_mode) == kind and not path.with_name("elsewhere.png").exists()


@pytest.mark.parametrize("place", ["build", "figures"])
def test_a_file_in_the_place_of_a_folder_is_one_line(root, place, capsys):
    (root / place).rename(root / "aside")
    (root / place).touch()
    code, line = said(capsys, "workbook")
    assert code == 2 and str(root / place) in line


HEADER = ",".join(results.COLUMNS)
ROW = "fig04,mask,RMSE,0.11,0.1082,,generated,reproduced within 0.02,"
DAMAGED_RESULTS = {
    "nothing": (b"", "the columns must be"),
    "columns": (b"figure,case\nfig04,mask\n", "the columns must be .* got 'figure,case'"),
    "few fields": (f"{HEADER}\n{ROW}\nfig04,mask\n".encode(), "row 2 must have 9 fields, got 2"),
    "many fields": (f"{HEADER}\n{ROW},,\n".encode(), "row 1 must have 9 fields, got 11"),
    "conflict": (f"{HEADER}\n<<<<<<< HEAD\n{ROW}\n=======\n".encode(), "row 1 .* got 1 in '<<<<<<< HEAD'"),
    "conflict above": (f"<<<<<<< HEAD\n{HEADER}\n{ROW}\n".encode(), "columns .* got '<<<<<<< HEAD'"),
    "not UTF-8": (f"{HEADER}\n{ROW}\xe9\n".encode("latin-1"), "can't decode byte 0xe9"),
    "binary": (bytes(range(256)), "can't decode"),
    "a word": (f"{HEADER}\n{ROW.replace('0.1082', 'many')}\n".encode(), "ours must be a finite number"),
    "no number": (f"{HEADER}\n{ROW.replace('0.1082', '')}\n".encode(), "ours must be a finite number"),
    "infinite": (f"{HEADER}\n{ROW.replace('0.11,', 'inf,')}\n".encode(), "paper must be a finite number"),
    "data": (f"{HEADER}\n{ROW.replace('generated', 'made up')}\n".encode(), "data must be one of"),
    "no case": (f"{HEADER}\n{ROW.replace('mask', ' ')}\n".encode(), "row 1 has no case"),
    "twice": (f"{HEADER}\n{ROW}\n{ROW}\n".encode(), "row 2 repeats 'fig04 mask RMSE generated'"),
    "quotes": (f'{HEADER}\n"{ROW}\n'.encode(), "unexpected end of data"),
    "a huge field": (f"{HEADER}\n{ROW}{'x' * 200_000}\n".encode(), "field larger than field limit"),
}


@pytest.mark.parametrize("damage", DAMAGED_RESULTS)
def test_damaged_results_are_one_line_that_says_what_to_do(root, damage, capsys, monkeypatch):
    content, why = DAMAGED_RESULTS[damage]
    path = root / "figures/results.csv"
    path.write_bytes(content)
    monkeypatch.setenv("NORMINT_FIGURES", str(path.parent))
    match = rf"{path} is damaged: .*{why}.*git checkout -- {path}.*delete it and run make workbook"
    with pytest.raises(ValueError, match=match):
        results.record("fig04", "mask", "RMSE", 0.11, tolerance=0.01)
    assert path.read_bytes() == content
    (root / "build/workbook" / f"{NAME}.json").unlink()
    executed = list(Pretend.executed)
    for command in ("workbook", "results"):
        code, line = said(capsys, command)
        assert code == 2 and f"{path} is damaged" in line
    assert Pretend.executed == executed  # it was said before any notebook ran
    path.unlink()
    assert statuses(root) == ["done"]


def test_results_that_are_no_file_are_one_line(root, capsys):
    path = root / "figures/results.csv"
    path.unlink()
    os.mkfifo(path)
    code, line = said(capsys, "workbook")
    assert code == 2 and f"{path} must be a regular file" in line


NOTEBOOKS = {
    "a list": "[]",
    "cells are a dict": '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": {}}',
    "a cell is text": '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": ["x"]}',
    "no metadata": '{"nbformat": 4, "nbformat_minor": 5, "cells": []}',
    "settings": '{"nbformat": 4, "nbformat_minor": 5, "metadata": {"normint": 3}, "cells": []}',
    "format": '{"nbformat": 3, "nbformat_minor": 5, "metadata": {}, "cells": []}',
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("damage", NOTEBOOKS)
def test_a_damaged_notebook_is_one_line(root, damage, capsys):
    path = root / "notebooks" / f"{NAME}.ipynb"
    path.write_text(NOTEBOOKS[damage])
    code, line = said(capsys, "workbook")
    assert code == 2 and f"{path} is not a readable notebook" in line


@pytest.mark.parametrize("part", ["cell_type", "source", "metadata", "outputs", "execution_count"])
def test_a_damaged_cell_is_one_line(root, part, capsys):
    path = root / "notebooks" / f"{NAME}.ipynb"
    for wrong in (None, [3]):
        notebook = read_notebook(make(root, NAME, "1 + 1"))
        notebook["cells"][2].pop(part)
        if wrong:
            notebook["cells"][2][part] = wrong
        path.write_text(json.dumps(notebook))
        code, line = said(capsys, "workbook")
        assert code == 2 and "cell 3" in line


# The process of a notebook: what it says, and what it listens to.


class Noisy(notebook_process.NotebookProcess):
    """A process that prints what it is given."""

    def __init__(self, monkeypatch, lines):
        monkeypatch.setattr(notebook_process, "sys", self)
        self.executable = "true"
        super().__init__("a", "b", parameters={}, timeout=1, environment=dict(os.environ))
        self._process.stdout.close()
        self._process.stdout = lines


class Lines(list):
    """Lines to read like those of a pipe."""

    def close(self):
        """Be closed."""


END = {"status": "done", "message": "", "outputs": []}
NOISE = ["hello\n", "\n", "[1]\n", "3\n", '"status"\n', '{"status": "done"}\n', "\ufffd\n", "[" * 10**5]


def test_noise_among_the_reports_of_a_process_is_ignored(monkeypatch):
    cells = []
    lines = Lines([*NOISE, '{"cell": 1}\n', *NOISE, json.dumps(END) + "\n", *NOISE])
    assert Noisy(monkeypatch, lines).wait(on_cell=lambda: cells.append(1)) == END
    assert cells == [1]
    end = Noisy(monkeypatch, Lines(NOISE)).wait()
    assert (end["status"], end["message"]) == ("failed", "its process ended with code 0")


def test_the_log_of_outputs(tmp_path):
    path = tmp_path / "log"
    assert notebook_process.read_log(path) == ([], True)
    figure = {"kind": "figure", "path": "a.png"}
    path.write_text(json.dumps(figure) + "\n")
    assert notebook_process.read_log(path) == ([figure], True)
    path.write_bytes(json.dumps(figure).encode() + b'\n{"kind": "num\xff')
    assert notebook_process.read_log(path) == ([figure], False)


TRAP = "open({!r}, 'w').close()\nraise SystemExit('a trap')\n"
# Of the library, of the runner, of the kernel, of the notebook: each is imported by somebody.
NEAR = ("random", "json", "pathlib", "numpy", "psutil", "papermill", "ipykernel_launcher", "IPython")


def test_modules_that_lie_near_are_not_imported(tmp_path, monkeypatch):
    for name in ("NORMINT_DATA", "NORMINT_FIGURES", "NORMINT_VARIANT", "NORMINT_RUN_LOG"):
        monkeypatch.delenv(name, raising=False)
    make(tmp_path, NAME, "import random, numpy, matplotlib.pyplot, normint\nprint(random.__name__)")
    near = tmp_path / "near"
    near.mkdir()
    for folder in (near, tmp_path / "notebooks"):
        for module in NEAR:
            (folder / f"{module}.py").write_text(TRAP.format(str(tmp_path / f"trapped {module}")))
    startup = near / "startup.py"
    startup.write_text(TRAP.format(str(tmp_path / "trapped startup")))
    monkeypatch.setenv("PYTHONSTARTUP", str(startup))
    monkeypatch.chdir(near)
    (outcome,) = workbook.run(root=tmp_path)
    assert (outcome.status, outcome.message) == ("done", "")
    assert list(tmp_path.glob("trapped *")) == []


def test_the_command_imports_nothing_from_where_it_is_called(tmp_path):
    for module in NEAR:
        (tmp_path / f"{module}.py").write_text(TRAP.format(str(tmp_path / f"trapped {module}")))
    command = Path(sys.executable).with_name("normint")
    done = subprocess.run([command, "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("normint ")
    assert list(tmp_path.glob("trapped *")) == []
