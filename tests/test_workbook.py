"""The runner: on tiny notebooks, some of which fail, hang, or are killed."""

import base64
import io
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from PIL import Image
from tiny_workbook import SETTINGS, Pretend, code_cell, make

from normint import paths
from normint.workbook import progress, results, statements
from normint.workbook import run as workbook
from normint.workbook.notebook_files import normalised, read_notebook, write_notebook
from normint.workbook.variations import comparison

FIGURE = """
import os
from pathlib import Path
from normint.files.writing import write_atomically
from normint.paths import figures
from normint.workbook.results import tell_run
with write_atomically(figures() / "fig00_tiny.png") as temporary:
    temporary.write_text("a figure")
tell_run("generated", path=figures() / "fig00_tiny.png")
"""
NUMBER = """from normint.workbook.results import record
print(record('fig04', 'mask', 'RMSE', 0.108, tolerance=0.01))"""
# It refuses to be interrupted, says who it is, and stops half-way through a figure until it is let on.
STUBBORN = """
import os, signal, time
from pathlib import Path
from normint.files.writing import write_atomically
from normint.paths import figures
for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, signal.SIG_IGN)
with write_atomically(figures() / "fig00_slow.png") as temporary:
    temporary.write_text("half a figure")
    Path("../kernel.pid").write_text(str(os.getpid()))
    while not Path("../gate").exists(): time.sleep(0.02)
"""


def printed(path):
    cells = read_notebook(path)["cells"]
    return "".join("".join(o.get("text", "")) for cell in cells for o in cell.get("outputs", []))


def visible(folder):
    return sorted(file.name for file in folder.iterdir())


def wait_until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def is_running(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)


# The real thing: nbclient and kernels.


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run a notebook that works and two that fail, together."""
    root = tmp_path_factory.mktemp("ran")
    (root / "README.md").write_text("<!-- results:begin --><!-- results:end -->")
    make(root, "01_good", "print('seed', seed)", FIGURE, NUMBER, "import os; os.environ['OMP_NUM_THREADS']")
    make(root, "02_bad", "x = 1", "\ny = x / 0\nprint('never')")
    make(root, "03_dies", "import os; os._exit(3)")
    sources = [path.read_bytes() for path in workbook.select(root / "notebooks")]
    outcomes = workbook.run(root=root)
    assert [path.read_bytes() for path in workbook.select(root / "notebooks")] == sources
    return root, outcomes


@pytest.mark.slow
def test_a_good_notebook(ran):
    root, (good, _, _) = ran
    assert good.status == "done" and not good.message
    assert good.figures == [str(root / "figures" / "fig00_tiny.png")]
    assert good.summary()[-2:] == ("1", "1 of 1")
    assert printed(root / "build/workbook/01_good.ipynb") == "seed 0\nreproduced within 0.01\n"
    assert visible(root / "figures") == ["fig00_tiny.png", "results.csv"]


@pytest.mark.slow
def test_a_failing_notebook_is_named_with_its_cell_and_error_and_the_readme_waits(ran):
    root, (_, bad, dies) = ran
    assert (bad.status, bad.message) == ("failed", "cell 4 (y = x / 0): ZeroDivisionError: division by zero")
    assert dies.status == "failed"
    assert dies.message.startswith("cell 3 (import os; os._exit(3)): DeadKernelError")
    build = visible(root / "build/workbook")
    assert "02_bad.failed.ipynb" in build and "02_bad.ipynb" not in build
    workbook.run(root=root, only=["01"])
    assert (root / "README.md").read_text() == "<!-- results:begin --><!-- results:end -->"


@pytest.mark.slow
def test_update_writes_outputs_and_no_trace_of_the_run(ran):
    root, _ = ran
    path = root / "notebooks/01_good.ipynb"
    before = read_notebook(path)
    assert [outcome.status for outcome in workbook.run(root=root, only=["01"], update=True)] == ["skipped"]
    after = read_notebook(path)
    assert printed(path) == "seed 0\nreproduced within 0.01\n"
    assert [cell.get("execution_count") for cell in after["cells"]] == [None, 1, 2, 3, 4, 5]
    assert after["cells"][-1]["outputs"][0]["data"]["text/plain"] == ["'1'"]
    for cell in (*before["cells"], *after["cells"]):
        cell.pop("outputs", None), cell.pop("execution_count", None)
        cell["source"] = "".join(cell["source"])
    assert after == before
    assert [outcome.status for outcome in workbook.run(root=root, only=["01"])] == ["skipped"]


@pytest.mark.slow
def test_a_variation_leaves_the_published_figures_alone(ran, tmp_path):
    root, _ = ran
    figures = {file.name: file.stat().st_mtime_ns for file in (root / "figures").iterdir()}
    (outcome,) = workbook.run(root=root, only=["01"], changes={"quick": True, "seed": 3}, data=tmp_path)
    assert outcome.status == "done"
    assert {file.name: file.stat().st_mtime_ns for file in (root / "figures").iterdir()} == figures
    folder = root / "build/quick-seed3"
    assert visible(folder / "figures") == ["fig00_tiny.png", "results.csv"]
    assert "seed 3" in printed(folder / "01_good.ipynb")
    (failed,) = workbook.run(root=root, only=["02"], changes={"seed": 3})
    assert failed.message.startswith("cell 4 (y = x / 0)")  # counted without the injected cell


@pytest.mark.slow
def test_a_notebook_that_hangs_is_ended_with_its_kernel(tmp_path):
    make(tmp_path, "01_hangs", STUBBORN)
    for timeout in (3, 10, 60):  # until it is long enough for a kernel to start
        (outcome,) = workbook.run(root=tmp_path, timeout=timeout)
        assert (outcome.status, outcome.ok) == ("timed out", False)
        if (tmp_path / "kernel.pid").exists():
            break
    assert outcome.message == f"cell 3 (import os, signal, time): not finished after {timeout} s"
    assert not is_running(int((tmp_path / "kernel.pid").read_text()))
    assert visible(tmp_path / "figures") == []


@pytest.mark.slow
def test_two_at_a_time_but_those_that_measure_alone(tmp_path):
    meet = """
import time
from pathlib import Path
Path(f"../{me}").touch()
end = time.monotonic() + 20
while not Path(f"../{other}").exists() and time.monotonic() < end: time.sleep(0.02)
assert Path(f"../{other}").exists(), "nobody came"
"""
    make(tmp_path, "01_a", "me, other = 'a', 'b'", meet, "Path('../a.done').touch()")
    make(tmp_path, "02_alone", "from pathlib import Path\nassert Path('../a.done').exists()", alone=True)
    make(tmp_path, "03_b", "me, other = 'b', 'a'", meet)
    outcomes = workbook.run(root=tmp_path, jobs=2)
    assert [(outcome.name, outcome.status) for outcome in outcomes] == [
        ("01_a", "done"), ("02_alone", "done"), ("03_b", "done"),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_run_leaves_nothing_half_done_and_goes_on(tmp_path, number):
    make(tmp_path, "01_quick", "#" * len(STUBBORN) + "\nprint('done')")  # the larger one runs first
    make(tmp_path, "02_slow", STUBBORN)
    code = (
        "import pathlib, signal, sys, normint.cli, normint.paths\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "normint.paths.root = lambda: pathlib.Path(sys.argv[1])\n"
        "sys.exit(normint.cli.main(['workbook', '--jobs', '1']))"
    )
    runner = subprocess.Popen([sys.executable, "-c", code, tmp_path], stderr=subprocess.PIPE, text=True)
    said = tmp_path / "kernel.pid"
    wait_until(lambda: said.exists() and said.read_text())
    kernel = int(said.read_text())
    runner.send_signal(number)
    _, errors = runner.communicate(timeout=30)
    assert runner.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL)
    assert "Traceback" not in errors
    wait_until(lambda: not is_running(kernel))
    assert not (tmp_path / "figures/fig00_slow.png").exists()
    assert [name for name in visible(tmp_path / "build/workbook") if "02" in name] == []

    (tmp_path / "gate").touch()
    outcomes = workbook.run(root=tmp_path)
    assert [outcome.status for outcome in outcomes] == ["skipped", "done"]
    assert visible(tmp_path / "figures") == ["fig00_slow.png"]
    assert visible(tmp_path / "build/workbook") == [
        "01_quick.ipynb", "01_quick.json", "02_slow.ipynb", "02_slow.json",
    ]  # fmt: skip


# Decisions, without kernels.


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Return a run of two notebooks whose executions only pretend; it returns the names executed."""

    for name in ("01_one", "02_two"):
        make(tmp_path, name, "1 + 1")
    monkeypatch.setattr(workbook, "execute", Pretend.execute)
    monkeypatch.setattr(Pretend, "data", "generated")

    def run(**options):
        Pretend.executed.clear()
        run.outcomes = workbook.run(root=tmp_path, jobs=1, **options)
        return list(Pretend.executed)

    run.root, run.environments = tmp_path, Pretend.environments
    return run


def test_only_what_changed_runs_again(tiny):
    root = tiny.root
    assert tiny() == ["01_one", "02_two"]
    assert tiny() == []
    assert sorted(tiny(force=True)) == ["01_one", "02_two"]  # the longer one first, whichever it was
    assert tiny(only=["02"], force=True) == ["02_two"]
    make(root, "02_two", "1 + 2")
    assert tiny() == ["02_two"]
    (root / "data").mkdir()
    (root / "data/paper_values.csv").write_text("other values")
    assert tiny() == ["01_one", "02_two"]


def test_those_that_take_longest_begin_first(tiny):
    make(tiny.root, "03_long", "1 + 1\n" * 100)
    assert tiny() == ["03_long", "01_one", "02_two"]  # by size
    path = tiny.root / "build/workbook/02_two.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "seconds": 60}))
    assert tiny(force=True) == ["02_two", "01_one", "03_long"]  # by the time of the last run
    assert [outcome.name for outcome in tiny.outcomes] == ["01_one", "02_two", "03_long"]


def test_what_all_need_is_prepared_once_before_several_run(tiny):
    prepared = []
    options = {"root": tiny.root, "prepare": lambda: prepared.append(True)}
    workbook.run(jobs=1, **options)
    workbook.run(jobs=2, **options)  # nothing is left to do
    assert prepared == []
    workbook.run(jobs=2, force=True, **options)
    assert prepared == [True]


def test_parameters_and_data_count_as_changes(tiny, tmp_path):
    assert len(tiny()) == len(tiny(changes={"seed": 1})) == len(tiny(changes={"seed": 2})) == 2
    assert len(tiny(changes={"quick": True})) == 2
    assert tiny() == tiny(changes={"seed": 2}) == []
    data = tmp_path / "real"
    data.mkdir()
    assert len(tiny(data=data)) == 0  # an empty folder is like none
    (data / "cat.png").write_text("cat")
    assert len(tiny(data=data)) == 2
    assert tiny.environments[-1]["NORMINT_DATA"] == str(data)
    assert tiny(data=data) == []
    os.utime(data / "cat.png", ns=(1, 1))
    assert len(tiny(data=data)) == 2


def test_a_recorded_number_that_is_gone_or_changed_is_made_again(tiny):
    tiny()
    path = tiny.root / "figures/results.csv"
    whole = path.read_text()
    path.write_text("".join(line for line in whole.splitlines(keepends=True) if "01_one" not in line))
    assert tiny() == ["01_one"]
    assert path.read_text() == whole
    path.write_text(whole.replace("0.5", "0.25", 1))
    assert tiny() == ["01_one"]
    assert path.read_text() == whole


def test_an_answer_that_is_gone_or_changed_is_given_again(tiny, monkeypatch):
    def make_and_answer(name, figures):
        number = 16 if name == "01_one" else 17
        statements.answer(number, "agrees", "shown")
        return [*make(name, figures), {"data": "generated", "key": [str(number)]}]

    make = Pretend.make
    monkeypatch.setattr(Pretend, "make", make_and_answer)
    tiny()
    assert tiny() == []
    path = tiny.root / "figures/statements.csv"
    whole = path.read_text()
    path.write_text(whole.replace("16,agrees", "16,disagrees"))
    assert tiny() == ["01_one"]
    assert path.read_text() == whole


def test_what_reads_the_others_runs_after_them_and_whenever_they_do(tiny):
    make(tiny.root, "00_reader", "pass", last=True)
    assert tiny()[-1] == "00_reader"
    assert tiny() == []
    make(tiny.root, "01_one", "2")
    assert tiny() == ["01_one", "00_reader"]
    make(tiny.root, "00_reader", "3", last=True)
    assert tiny() == ["00_reader"]


def test_another_version_of_a_library_counts_as_a_change(tiny, monkeypatch):
    assert "numpy" in workbook.versions() and "pytest" not in workbook.versions()
    tiny()
    monkeypatch.setattr(workbook, "_version", lambda name: "99")
    assert len(tiny()) == 2
    assert tiny() == []
    monkeypatch.setenv("NORMINT_DATASET", "stand-in")
    assert len(tiny()) == 2


def test_where_things_go_and_what_kernels_are_given(tiny, monkeypatch):
    root = tiny.root
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    tiny(changes={"quick": True}, out=root / "elsewhere")
    assert tiny.outcomes[0].figures == [str(root / "elsewhere/figures/01_one.png")]
    assert (root / "elsewhere/01_one.ipynb").exists()
    tiny(changes={"seed": 0})
    assert tiny.outcomes[0].figures == [str(root / "build/seed0/figures/01_one.png")]
    assert not (root / "figures").exists()
    given = tiny.environments[-1]
    assert (given["NORMINT_VARIANT"], given["NUMBA_NUM_THREADS"]) == (
        "seed0",
        "1",
    ) and "MPLBACKEND" not in given


def test_notebooks_without_the_parameter_are_left_out(tiny):
    make(tiny.root, "03_other", "1 + 1")
    notebook = read_notebook(tiny.root / "notebooks/03_other.ipynb")
    notebook["cells"][1]["source"] = "mu = 45.0  # a weight\nvalues = [1, 2]\nelse_ = abs(-1)"
    write_notebook(notebook, tiny.root / "notebooks/03_other.ipynb")
    assert tiny(changes={"mu": 30, "values": [3, 4]}) == ["03_other"]
    assert tiny.environments[-1]["NORMINT_VARIANT"] == "mu30-values_3_4_"


def test_a_varied_run_is_compared_with_the_published_one():
    row = dict.fromkeys(results.COLUMNS, "") | {"figure": "fig13", "metric": "RMSE", "data": "generated"}
    published = [{**row, "case": "a", "ours": "2"}, {**row, "case": "b", "ours": "5"}]
    varied = [
        {**row, "case": "a", "ours": "3"},
        {**row, "case": "b", "ours": "5"},
        {**row, "case": "c", "ours": "1"},
    ]
    text = comparison(published, varied)
    assert "| fig13 | a | RMSE | 2 | 3 | 1.5 |" in text and "| b |" not in text
    assert "1 numbers are the same; 1 have no counterpart" in text


def test_a_complete_run_refreshes_the_readme(tiny):
    readme = tiny.root / "README.md"
    readme.write_text("<!-- results:begin -->\n<!-- results:end -->")
    tiny()
    assert "| figure | case |" in readme.read_text()


def test_bad_input_is_refused_before_anything_runs(tiny, tmp_path, monkeypatch):
    for options, message in [
        ({"only": ["07"]}, "no notebook begins with '07'; there are 01_one, 02_two"),
        ({"data": tmp_path / "nowhere"}, "data must be an existing folder"),
        ({"timeout": 0}, "timeout must be"),
        ({"changes": {"seed": -1}}, "seed must not be negative"),
        ({"changes": {"mu": 3}}, "mu is no parameter of these notebooks, which have: 01_one: seed"),
        ({"changes": {"seed": "x"}}, "seed is 'x'; expected something like 0"),
        ({"update": True, "changes": {"quick": True}}, "update needs a run with default parameters"),
        ({"update": True, "data": tmp_path}, "without real data"),
    ]:
        with pytest.raises(ValueError, match=message):
            tiny(**options)
    for options, message in [
        ({"root": tmp_path, "jobs": 0}, "jobs must be"),
        ({"root": tmp_path / "figures"}, "there are no notebooks in"),
    ]:
        with pytest.raises(ValueError, match=message):
            workbook.run(**options)
    with monkeypatch.context() as patched:
        patched.setenv("NORMINT_DATA", str(tmp_path))
        with pytest.raises(ValueError, match="without real data"):
            tiny(update=True)
    bare = read_notebook(tmp_path / "notebooks/01_one.ipynb")
    del bare["cells"][1]
    write_notebook(bare, tmp_path / "notebooks/03_bare.ipynb")
    (tmp_path / "notebooks/04_broken.ipynb").write_text("{")
    with pytest.raises(ValueError, match="04_broken.ipynb is not a readable notebook"):
        tiny()
    assert not (tmp_path / "build").exists()


def test_update_refuses_outputs_made_from_real_data(tiny, monkeypatch):
    monkeypatch.setattr(Pretend, "data", "real")
    tiny()
    before = (tiny.root / "notebooks/01_one.ipynb").read_bytes()
    with pytest.raises(ValueError, match="01_one found real data"):
        tiny(update=True)
    assert (tiny.root / "notebooks/01_one.ipynb").read_bytes() == before


def test_a_second_run_in_the_same_folder_is_refused(tiny):
    folder = tiny.root / "build/workbook"
    folder.mkdir(parents=True)
    with workbook.locked(folder), pytest.raises(ValueError, match="another run is writing to"):
        tiny()


def test_normalised_outputs():
    stream = {"output_type": "stream", "name": "stdout"}
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "1f3a"}, "text/plain": ["Slider()"]}
    outputs = [
        {**stream, "text": "on"}, {**stream, "text": ["e\n", "two\n"]},
        {**stream, "name": "stderr", "text": "!"},
        {"output_type": "display_data", "metadata": {}, "data": widget},
    ]  # fmt: skip
    cell = code_cell("f()", 0)
    source = {"metadata": {"widgets": {}, "kernelspec": {}}, "cells": [cell]}
    injected = code_cell("seed = 3", 1, ["injected-parameters"])
    done = {**cell, "outputs": outputs, "execution_count": 7, "metadata": {"papermill": {"duration": 1}}}
    notebook = normalised(source, {"metadata": {"papermill": {}}, "cells": [injected, done]})
    assert notebook["metadata"] == {"kernelspec": {}}
    (cell,) = notebook["cells"]
    assert cell["metadata"] == {}
    assert [o.get("text") for o in cell["outputs"]] == [["one\n", "two\n"], ["!"], None]
    assert cell["outputs"][2]["data"] == {"text/plain": ["Slider()"]}
    with pytest.raises(ValueError, match="made from other cells"):
        normalised(source, {"metadata": {}, "cells": [injected]})


def test_committed_pictures_have_a_palette_and_their_size():
    pixels = np.random.default_rng(0).integers(0, 256, (60, 80, 3), np.uint8)
    drawn = io.BytesIO()
    Image.fromarray(pixels).save(drawn, "png")
    text = base64.b64encode(drawn.getvalue()).decode()
    cell = code_cell("f()", 0)
    done = {**cell, "outputs": [{"output_type": "display_data", "metadata": {}, "data": {"image/png": text}}]}
    (cell,) = normalised({"metadata": {}, "cells": [cell]}, {"metadata": {}, "cells": [done]})["cells"]
    found = cell["outputs"][0]["data"]["image/png"]
    image = Image.open(io.BytesIO(base64.b64decode(found)))
    assert len(found) < len(text) and image.size == (80, 60) and image.mode == "P"


def test_committed_notebooks_are_small_enough_to_be_shown_by_code_hosts():
    notebooks = [*(paths.root() / "notebooks").glob("**/*.ipynb")]
    assert len(notebooks) >= 23
    assert {path.name: size for path in notebooks if (size := path.stat().st_size) >= 1e6} == {}


def test_report_is_a_table():
    outcomes = [workbook.Outcome("01_one", "done", 1.25), workbook.Outcome("02_longer", "timed out", 600)]
    assert workbook.report(outcomes).splitlines() == [
        "notebook   status        time  figures  reproduced",
        "01_one     done         1.2 s        0           -",
        "02_longer  timed out  600.0 s        0           -",
    ]


def test_progress_in_a_terminal_and_elsewhere(monkeypatch, capsys):
    outcome = workbook.Outcome("01_one", "failed", 1.0, "cell 3 (x): NameError: x")
    for terminal, ci in ((True, ""), (False, ""), (True, "true")):
        monkeypatch.setenv("CI", ci)
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        shown = progress.Progress()
        shown.begin(4)
        shown.start("01_one")
        shown.cell()
        shown.finish(outcome)
        shown.close()
        errors = capsys.readouterr().err
        line = "01_one: failed, 1.0 s: cell 3 (x): NameError: x\n"
        if terminal and not ci:
            assert line in errors and ("cell/s" in errors or "?cell" in errors)
        else:
            assert errors == line
