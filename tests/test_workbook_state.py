"""What runs leave behind, damaged in every way: it means to run again, and never a traceback."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_workbook import SETTINGS, Pretend, make
from torture.state import trial

from normint import cli, paths
from normint.files.reading import content
from normint.workbook import results
from normint.workbook import run as workbook
from normint.workbook.notebook_files import MADE, read_notebook

NAME = "01_one"


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Return the folder of a workbook that has run."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(workbook, "execute", Pretend.execute)
    (tmp_path / "data").mkdir()
    shutil.copy(paths.root() / "data" / "paper_values.csv", tmp_path / "data")
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
    "no fingerprint": lambda stamp, _: stamp.pop("from"),
    "seconds are infinite": lambda stamp, _: stamp.update(seconds=float("inf")),
    "no files": lambda stamp, _: stamp.update(files={}),
    "a file's content is null": lambda stamp, _: stamp.update(files=dict.fromkeys(stamp["files"])),
    "outputs are a number": lambda _, cell: cell.update(outputs=3),
    "what it made is a text": lambda _, cell: cell["outputs"][0].update(data=MADE),
    "what it made is nothing": lambda _, cell: cell["outputs"][0].update(data={MADE: None}),
    "a figure whose path is no name": lambda _, cell: cell["outputs"][0]["data"][MADE].update(path="\0"),
    "a figure whose path is a number": lambda _, cell: cell["outputs"][0]["data"][MADE].update(path=3),
    "a figure that is a device": lambda _, cell: cell["outputs"][0]["data"][MADE].update(path="/dev/zero"),
    "a number without a name": lambda _, cell: cell["outputs"][1]["data"][MADE].update(key=None),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_forged_state_means_to_run_again(root, change):
    stamp_path, executed_path = (root / "build/workbook" / f"{NAME}.{kind}" for kind in ("json", "ipynb"))
    stamp, executed = (json.loads(path.read_text()) for path in (stamp_path, executed_path))
    CHANGES[change](stamp, executed["cells"][1])
    executed_path.write_text(json.dumps(executed, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    if any(stamp.get("files", {}).values()):
        stamp["files"][str(executed_path)] = content(executed_path)  # someone went to the trouble
    stamp_path.write_text(json.dumps(stamp))
    assert statuses(root) == ["done"]
    assert statuses(root) == ["skipped"]


@pytest.mark.parametrize("seed", range(30))  # many more in tests/torture
def test_whatever_is_damaged_is_made_again(tmp_path, seed):
    trial(seed, tmp_path)


def test_a_state_that_cannot_be_written_is_said(root):
    path = root / "build/workbook" / f"{NAME}.json"
    path.unlink()
    path.mkdir()
    for _ in range(2):
        (outcome,) = workbook.run(root=root)
        assert outcome.status == "done"
        assert f"it will run again next time, since {path} cannot be written" in outcome.message


@pytest.mark.parametrize(
    "put", [os.mkfifo, lambda path: path.symlink_to(path.with_name("elsewhere.png")), os.mkdir]
)
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
    "few fields": (f"{HEADER}\n{ROW}\nfig04,mask\n".encode(), "row 2 must have 9 fields, got 2"),
    "conflict": (f"{HEADER}\n<<<<<<< HEAD\n{ROW}\n=======\n".encode(), "row 1 .* got 1 in '<<<<<<< HEAD'"),
    "not UTF-8": (f"{HEADER}\n{ROW}\xe9\n".encode("latin-1"), "can't decode byte 0xe9"),
    "no number": (f"{HEADER}\n{ROW.replace('0.1082', '')}\n".encode(), "ours must be a finite number"),
    "data": (f"{HEADER}\n{ROW.replace('generated', 'made up')}\n".encode(), "data must be one of"),
    "no case": (f"{HEADER}\n{ROW.replace('mask', ' ')}\n".encode(), "row 1 has no case"),
    "twice": (f"{HEADER}\n{ROW}\n{ROW}\n".encode(), "row 2 repeats 'fig04 mask RMSE generated'"),
    "quotes": (f'{HEADER}\n"{ROW}\n'.encode(), "unexpected end of data"),
}


@pytest.mark.parametrize("damage", DAMAGED_RESULTS)
def test_damaged_results_are_one_line_that_says_what_to_do(root, damage, capsys, monkeypatch):
    damaged, why = DAMAGED_RESULTS[damage]
    path = root / "figures/results.csv"
    path.write_bytes(damaged)
    monkeypatch.setenv("NORMINT_FIGURES", str(path.parent))
    match = rf"{path} is damaged: .*{why}.*git checkout -- {path}.*delete it and run make workbook"
    with pytest.raises(ValueError, match=match):
        results.record("fig04", "mask", "RMSE", 0.11, tolerance=0.01)
    assert path.read_bytes() == damaged
    (root / "build/workbook" / f"{NAME}.json").unlink()
    executed = list(Pretend.executed)
    for command in ("workbook", "results"):
        code, line = said(capsys, command)
        assert code == 2 and f"{path} is damaged" in line
    assert Pretend.executed == executed  # it was said before any notebook ran
    path.unlink()
    assert statuses(root) == ["done"]


NOTEBOOKS = {
    "cells are a dict": '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": {}}',
    "no metadata": '{"nbformat": 4, "nbformat_minor": 5, "cells": []}',
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


TRAP = "open({!r}, 'w').close()\nraise SystemExit('a trap')\n"
# Of the library, of the runner, of the kernel, of the notebook: each is imported by somebody.
NEAR = ("random", "json", "pathlib", "numpy", "psutil", "papermill", "ipykernel_launcher", "IPython")


@pytest.mark.slow
def test_modules_that_lie_near_are_not_imported(tmp_path, monkeypatch):
    for name in SETTINGS:
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
