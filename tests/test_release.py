"""The students' archive: it has no answers in it, and its checks say what ours say."""

import ast
import inspect
import json
import subprocess
import sys
import textwrap
import zipfile

import numpy as np
import pytest
from course_notebooks import FOLDER, NAMES, solution

from normint import cli, course
from normint.course.teaching import answers, archive
from normint.workbook.notebook_files import source, tags

TASKS = [task for tasks in course.EXERCISES.values() for task in tasks if type(task) is course.Task]
SHORT = 40  # characters: what is shorter, such as to exchange p and q, is nobody's answer


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """Return the unpacked archive."""
    folder = tmp_path_factory.mktemp("released")
    assert cli.main(["course", "release", "--out", str(folder / "exercises.zip")]) == 0
    with zipfile.ZipFile(folder / "exercises.zip") as packed:
        packed.extractall(folder)
    assert (folder / "exercises.zip").stat().st_size < 5e6
    return folder / archive.NAME


def run(released, code, *, without=("numba", "llvmlite", "cv2", "trimesh", "tqdm", "plotly")):
    """Run code with the released package, in a Python without what students have not."""
    block = f"import sys\nsys.path.insert(0, {str(released)!r})\n"
    block += "".join(f"sys.modules[{name!r}] = None\n" for name in without)
    done = subprocess.run(
        [sys.executable, "-I", "-c", block + textwrap.dedent(code)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_archive_has_every_skeleton_and_no_solution(released):
    names = sorted(path.name for path in released.rglob("*.ipynb"))
    assert names == [f"{name}.ipynb" for name in NAMES]
    everything = {path: path.read_bytes() for path in released.rglob("*") if path.is_file()}
    assert not [path for path in everything if "solutions" in str(path) or "teaching" in str(path)]
    for path, contents in everything.items():
        assert path.suffix != ".ipynb" or not (b"solutions" in contents or b"](../" in contents)


def lines_of(tree):
    """Return the statements of a piece of code, however it is laid out."""
    return {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)}


def test_no_file_has_a_line_of_an_answer(released):
    """Of what solutions and right functions do, the course of the archive says nothing."""
    public = set()
    for path in (released / "normint" / "course").glob("*.py"):
        if path.stem != "given":
            public |= lines_of(ast.parse(path.read_bytes()))
    found = 0
    for task in TASKS:
        if inspect.getmodule(task.right) is not course.given:  # later exercises begin with it
            secret = lines_of(ast.parse(textwrap.dedent(inspect.getsource(task.right))))
            found += sum(len(line) >= SHORT for line in secret)
            assert all(len(line) < SHORT for line in secret & public), (task.name, secret & public)
    for name in NAMES:
        for cell in solution(name):
            if "task" in tags(cell):
                assert all(len(line) < SHORT for line in lines_of(ast.parse(source(cell))) & public)
    assert found > 50


def test_a_case_that_needs_an_answer_cannot_be_released(monkeypatch, tmp_path):
    for path in answers.FOLDER.glob("*.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with open(tmp_path / "estimators.py", "a") as file:
        file.write("\n\ncheck_more = Task('more', 'more', phi2, lambda: {'one': (phi1(1.0, 2.0),)})\n")
    monkeypatch.setattr(answers, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"estimators\.phi1 is an answer"):
        answers.public_sources()


def test_released_checks_say_what_ours_say(released, capsys):
    """Of each mistake, alone or with another, and of an answer that is nobody's."""
    inputs, ours = {}, []
    for number, tasks in course.EXERCISES.items():
        for place, task in enumerate(tasks):
            if task not in TASKS:
                continue
            cases = task.cases()
            pairs = [options for mistakes, options in task.together() if len(mistakes) == 2]
            tried = [{}, *(mistake.options for mistake in task.mistakes), *pairs[::20]]
            for options in tried:
                try:
                    results = {case: task.expected(case, given, options) for case, given in cases.items()}
                except (RuntimeError, ValueError):
                    continue
                for key, scale in ((f"{number} {place} {len(ours)}", 1.0), (f"{number} {place} -", 1.5)):
                    if scale == 1.0 or options == {}:
                        results = {
                            case: tuple(scale * one for one in result) for case, result in results.items()
                        }
                        inputs |= {
                            f"{key} {k} {i}": part
                            for k, result in enumerate(results.values())
                            for i, part in enumerate(result)
                        }
                        ours.append([key, *task.verdict(cases, results)])
    np.savez(released / "tried.npz", **inputs)
    (released / "keys.json").write_text(json.dumps([key for key, *_ in ours]))
    told = run(
        released,
        f"""
        import json, numpy as np
        from pathlib import Path
        from normint import course
        assert course.__file__.startswith({str(released)!r})
        folder = Path({str(released)!r})
        tried, said = np.load(folder / "tried.npz"), []
        for key in json.loads((folder / "keys.json").read_text()):
            number, place, _ = key.split()
            task = course.EXERCISES[int(number)][int(place)]
            cases = task.cases()
            results = {{
                case: tuple(tried[f"{{key}} {{k}} {{i}}"] for i in range(len(task.returns)))
                for k, case in enumerate(cases)
            }}
            said.append([key, *task.verdict(cases, results)])
        print(json.dumps(said))
        """,
    )
    assert json.loads(told) == json.loads(json.dumps(ours))
    assert sum(right for _, right, _ in ours) == len(TASKS)


@pytest.mark.slow
def test_skeletons_and_solutions_run_with_what_students_have(released):
    """Whole notebooks, figures included, without the libraries that the archive does not ask for."""
    files = [folder / f"{name}.ipynb" for folder in (FOLDER, FOLDER / "solutions") for name in NAMES]
    code = f"""
    import contextlib, io, json
    import matplotlib
    matplotlib.use("Agg")
    from normint import course, paths
    said = []
    for file in {[str(file) for file in files]!r}:
        figures, words = [], io.StringIO()
        names = {{"__name__": "__main__", "display": figures.append}}
        with open(file, encoding="utf-8") as notebook, contextlib.redirect_stdout(words):
            for cell in json.load(notebook)["cells"]:
                if cell["cell_type"] == "code":
                    exec("".join(cell["source"]).replace("%matplotlib inline", ""), names)
        said.append([words.getvalue(), len(figures)])
    print(json.dumps(said))
    """
    for file, (words, figures) in zip(files, json.loads(run(released, code)), strict=True):
        solved = file.parent.name == "solutions"
        tasks = len(course.EXERCISES[int(file.name[:2])])
        assert words.count("✓" if solved else "✗") == tasks, file
        assert words.count("nothing here yet") == (0 if solved else tasks), file
        assert bool(figures) == solved, file


def test_two_archives_of_the_same_course_are_the_same_file(released, tmp_path):
    again = archive.release(tmp_path / "again.zip")
    assert again.read_bytes() == released.with_name("exercises.zip").read_bytes()


def test_only_a_zip_is_written(tmp_path, capsys):
    assert cli.main(["course", "release", "--out", str(tmp_path / "exercises.tar")]) == 2
    assert "expected a name that ends with .zip" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
