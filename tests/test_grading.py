"""Grading: hidden cases judge as the visible ones do, and no submission can fool or stop it."""

import csv
import json
import os
import socket

import numpy as np
import pytest
from course_notebooks import FOLDER, NAMES, cells, solution

from normint import cli, course, paths
from normint.course.teaching import grading, sandbox
from normint.workbook.notebook_files import source

TASKS = [task for tasks in course.EXERCISES.values() for task in tasks]
WITH_ANSWERS = [task for task in TASKS if type(task) is course.Task]  # a contest has none
SHRINKAGE = next(name for name in NAMES if name.startswith("03"))  # its tasks: shrink, update, depth_system
QUICK = sandbox.Limits(seconds=12.0, memory=1024.0)

pytestmark = pytest.mark.skipif(sandbox.resource is None, reason="processes cannot be limited on Windows")
only_isolated = pytest.mark.skipif(not sandbox.isolated(), reason="this kernel makes no namespaces")


@pytest.mark.parametrize("task", WITH_ANSWERS, ids=lambda task: task.name)
def test_hidden_cases_have_other_numbers_and_find_every_known_mistake(task):
    def results(cases, options):
        return {case: task.expected(case, arguments, options) for case, arguments in cases.items()}

    for seed in (1, 2**40):
        cases = task.cases(seed)
        right = results(cases, {})
        assert task.verdict(cases, right)[0]
        for seen in results(task.cases(), {}).values():
            for other in right.values():
                assert not all(np.array_equal(one, two) for one, two in zip(seen, other, strict=True))
        for mistake in task.mistakes:
            verdict, (what, *_) = task.verdict(cases, results(cases, mistake.options))
            assert not verdict and what == mistake.what


def write(path, texts):
    """Write a notebook of code cells."""
    code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    notebook["cells"] = [code | {"id": f"c{k}", "source": text} for k, text in enumerate(texts)]
    path.write_text(json.dumps(notebook))
    return path


@pytest.mark.parametrize(
    "task", [task for task in TASKS if task not in WITH_ANSWERS], ids=lambda task: task.name
)
def test_a_contest_is_held_on_other_scenes(task):
    seen, hidden = task.cases(), task.cases(1)
    assert not set(seen) & set(hidden)
    results = {case: task.expected(case, arguments) for case, arguments in hidden.items()}
    verdict, (what, *_) = task.verdict(hidden, results)
    assert not verdict and what == next(mistake.what for mistake in task.mistakes if not mistake.options)


@pytest.fixture(scope="module")
def examiner():
    with grading.Examiner(seed=11, limits=QUICK) as examiner:
        yield examiner


@pytest.fixture
def mark(examiner, tmp_path):
    """Return a function that marks the solution of exercise 3 with code before and after its own."""

    def mark(before="", after="", *, of=solution):
        texts = [source(cell) for cell in of(SHRINKAGE) if cell["cell_type"] == "code"]
        return examiner.mark(write(tmp_path / "handed_in.ipynb", [texts[0], before, *texts[1:], after]))

    return mark


def rights(marked):
    return [right for right, _ in marked.verdicts]


def said(marked):
    return " ".join(line for _, lines in marked.verdicts for line in lines)


def test_a_class_is_graded_into_a_table_and_a_page_for_each(tmp_path, capsys):
    folder = tmp_path / "handed in"
    for student in ("anna", "carl"):
        (folder / student).mkdir(parents=True)
    for name in NAMES[:2]:
        (folder / "anna" / f"{name}.ipynb").write_bytes((FOLDER / "solutions" / f"{name}.ipynb").read_bytes())
    (folder / "anna" / "notes.ipynb").write_text("no notebook")
    write(folder / "carl" / "01 (2).ipynb", [source(cell) for cell in cells(NAMES[0]) if "code" in str(cell)])
    wrong = [source(cell).replace("0.5 * total", "total") for cell in solution(NAMES[0])]
    write(folder / "dora.ipynb", [text for text in wrong if "import" in text[:60] or text.startswith("def")])
    out = tmp_path / "grades"
    assert cli.main(["course", "grade", str(folder), "--out", str(out), "--seed", "3"]) == 0
    with open(out / "grades.csv", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    count = sum(len(course.EXERCISES[number]) for number in (1, 2))
    assert [rows[name]["total"] for name in ("anna", "carl", "dora")] == [str(count), "0", "2"]
    assert rows["dora"]["1.3 functional"] == "0" and rows["dora"]["2.1 assemble"] == ""
    assert "notes.ipynb" in rows["anna"]["remarks"] and "not a readable notebook" in rows["anna"]["remarks"]
    pages = {name: (out / "feedback" / f"{name}.md").read_text(encoding="utf-8") for name in rows}
    assert "factor ½ is missing" in pages["dora"] and "2 of 3 tasks are right" in pages["dora"]
    assert pages["carl"].count("nothing here yet") == 3
    assert "seed 3" in pages["anna"]


def test_a_folder_without_notebooks_is_told(tmp_path, capsys):
    assert cli.main(["course", "grade", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "has no notebooks" in capsys.readouterr().err


def test_the_solution_is_right_and_magics_do_no_harm(mark):
    marked = mark("%timeit 1\n!ls", "%%bash\nexit 1")
    assert rights(marked) == [True] * 3 and not marked.remarks


def test_verdicts_that_a_submission_writes_itself_do_not_count(mark):
    """It sets its own verdicts, changes the checks, and sends lines to whoever listens."""
    forged = """
import json, os
from normint import course
from normint.course import checking
right_1 = right_2 = right_3 = True
course.check_shrinkage = course.check_update = lambda function: True
checking.Task.verdict = checking.Task.__call__ = lambda *given: (True, ["right in all cases (9)."])
checking.Task._agree = lambda *given: True
for place in range(3):
    for right in (True, 1):
        line = {"task": place, "case": "five vectors", "right": right, "verdict": True, "points": 3}
        for stream in range(3, 64):
            try:
                os.write(stream, (json.dumps(line) + "\\n[[[\\nnonsense\\n").encode())
            except OSError:
                pass
"""
    marked = mark(forged, forged, of=cells)
    assert rights(marked) == [False] * 3 and marked.points == 0
    assert rights(mark(forged)) == [True] * 3


@pytest.mark.parametrize(
    "body",
    [
        "return course.check_shrinkage.right(s, threshold)",
        "return course.total_variation.shrink(s, threshold)",
        "from normint.course.teaching import answers; return s",
        "return course.check_shrinkage.right.answer('five vectors and the threshold 1', {})[0]",
    ],
)
def test_answers_are_not_in_the_process(mark, body):
    marked = mark(after=f"def shrink(s, threshold):\n    {body}\n")
    assert rights(marked)[0] is False
    assert "`shrink` uses the package itself." in marked.remarks


@only_isolated
def test_answers_are_not_in_files_that_the_process_can_read(mark):
    path = paths.PACKAGE / "course" / "total_variation.py"
    steal = f"def shrink(s, threshold):\n    names = {{}}\n    exec(open({str(path)!r}).read(), names)\n"
    marked = mark(after=steal + "    return names['shrink'](s, threshold)\n")
    assert rights(marked)[0] is False and "FileNotFoundError" in said(marked)


def test_visible_answers_learnt_by_heart_are_wrong(mark):
    table = {case: task for case, task in course.check_shrinkage.cases().items()}
    rows = [[s.tolist(), t, course.check_shrinkage.right(s, t).tolist()] for s, t in table.values()]
    learnt = f"TABLE = {rows}\ndef shrink(s, t):\n    return next(np.array(r) for a, b, r in TABLE "
    assert course.check_shrinkage(eval(f"lambda s, t: next(np.array(r) for a, b, r in {rows} if b == t)"))
    assert rights(mark(after=learnt + "if np.allclose(a, s) and b == t)\n"))[0] is False


def test_an_endless_function_costs_only_its_own_point(mark):
    marked = mark(after="def shrink(s, threshold):\n    while True: pass\n")
    assert rights(marked) == [False, False, True]  # update calls it
    assert "takes longer than" in said(marked)


def test_an_endless_cell_costs_only_its_time(mark):
    marked = mark("import time\nwhile True: time.sleep(1)")
    assert rights(marked) == [True] * 3
    assert "takes longer than" in " ".join(marked.remarks)


def test_what_will_not_be_stopped_is_killed_and_keeps_the_points_before(mark):
    deaf = "import signal, time\n    signal.signal(signal.SIGALRM, signal.SIG_IGN)\n    time.sleep(99)\n"
    marked = mark(after=f"def depth_system(*given):\n    {deaf}")
    assert rights(marked) == [True, True, False]
    assert "did not end within" in said(marked)


@pytest.mark.parametrize(
    ("crash", "words"),
    [
        ("import os; os._exit(0)", "before it came to it"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ("import os; os.kill(os.getpid(), 9)", ""),
        ("raise SystemExit", "your code stops"),
        ("raise KeyboardInterrupt", "your code stops"),
        ("return shrink(s, threshold)", "RecursionError"),
    ],
)
def test_a_crash_is_told(mark, crash, words):
    marked = mark(after=f"def shrink(s, threshold):\n    {crash}\n")
    assert rights(marked)[0] is False and words in said(marked)


@pytest.mark.parametrize(
    "bomb", ["return np.ones(10**11)", "kept = []\n    while True: kept.append(np.empty(10**7))"]
)
def test_memory_is_limited(mark, bomb):
    marked = mark(after=f"def shrink(s, threshold):\n    {bomb}\n")
    assert rights(marked)[0] is False and "MemoryError" in said(marked)
    assert rights(marked)[2] is True


def test_there_is_no_network(mark):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        call = f"import socket\nsocket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 1)\n"
        assert "Error" in " ".join(mark(call).remarks)
        with pytest.raises(TimeoutError):
            server.accept()


@only_isolated
def test_not_even_by_calls_of_the_system(mark):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        port = server.getsockname()[1]
        call = f"import _socket\ns = _socket.socket(2, 1)\ns.connect(('127.0.0.1', {port}))\n"
        assert "Error" in " ".join(mark(call).remarks)
        with pytest.raises(TimeoutError):
            server.accept()


@only_isolated
def test_files_and_processes_of_the_teacher_are_out_of_reach(mark, tmp_path):
    """What was started is gone, what was there is still there, and nothing new is."""
    ours = tmp_path / "ours"
    ours.write_text("here")
    harm = f"""
import os, signal
try:
    os.kill({os.getpid()}, signal.SIGTERM)
except OSError:
    pass
if os.fork() == 0:
    os.setsid()
    while True:
        open({str(tmp_path / "new")!r}, "a").write("x")
"""
    marked = mark(f"import os\nos.remove({str(ours)!r})", harm)
    assert "Read-only file system" in " ".join(marked.remarks)
    assert ours.read_text() == "here" and not (tmp_path / "new").exists()


def test_a_flood_of_output_is_cut(mark):
    flood = (
        "import os\nwhile True:\n    for stream in range(3, 9):\n        try: os.write(stream, b'x' * 10**6)"
    )
    marked = mark(after=flood + "\n        except OSError: pass\n")
    assert marked.points < 3


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '{"cells": 5}'])
def test_what_is_no_notebook_is_told(examiner, tmp_path, text):
    path = tmp_path / "broken.ipynb"
    path.write_text(text)
    marked = examiner.mark(path)
    assert marked.exercise == 0 and "not a readable notebook" in marked.remarks[0]


def test_words_of_a_submission_obey_nobody(mark):
    shout = "raise ValueError('\\x1b[31m <script>alert(1)</script> [a](b) ' * 99)"
    marked = mark(after=f"def shrink(s, threshold):\n    {shout}\n")
    page = grading.feedback("<b>eve</b>", [marked], 0)
    assert (
        "<script>" not in page.replace("\\<", "")
        and "\x1b" not in page
        and "<b>" not in page.replace("\\<", "")
    )
    assert max(map(len, page.splitlines())) < 700


def test_the_sandbox_says_how_a_process_ended(tmp_path):
    script = tmp_path / "ends.py"
    script.write_text("import sys; print(sys.stdin.read()); sys.exit(3)")
    output, end = sandbox.run(script, "hello", limits=QUICK)
    assert (output.strip(), end) == ("hello", "it ended by itself, with the code 3")
