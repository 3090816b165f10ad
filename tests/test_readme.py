"""The README says what is so: its table, its code, its commands and its links."""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import trimesh
from readme_commands import Clone, printed_commands

import normint
from normint import cli, paths
from normint.datasets.writing import write_normal_map
from normint.normals.convert import gradient_to_normals
from normint.surfaces import figurine
from normint.workbook import overview
from normint.workbook.results import BEGIN, END, read, table

README = (paths.root() / "README.md").read_text(encoding="utf-8")
STUDY = next(line for line in README.splitlines() if line.startswith(".venv/bin/normint study"))
INTEGRATE = ".venv/bin/normint integrate my_normals --out my_surface --mesh ply --preview"
NOTEBOOK = "01_three_by_three"

# `make` prints what it would run instead of running it: these take long, would call this test again, or serve
# until they are stopped.
WOULD_RUN = {
    "make workbook": [".venv/bin/normint workbook"],
    "NORMINT_DATA=~/normal-integration-data make workbook": [".venv/bin/normint workbook"],
    "make test": ["-m pytest -n 2", " -p no:nbval", "--nbval-sanitize-with=tests/nbval_sanitize.cfg"],
    "make LOCK=1 workbook": [".venv/bin/normint workbook"],
    "make report": [".venv/bin/normint report"],
    "make lab": [".venv/bin/jupyter lab --notebook-dir=notebooks"],
    "make bench": [".venv/bin/python -m benchmarks"],
    "make setup": [".venv/bin/normint warm-up"],
    "make site": [".venv/bin/sphinx-build -q -W", "docs build/site"],
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """Lay out a clone with one notebook, an exercise, and a newcomer's normals."""
    folder = tmp_path_factory.mktemp("clone") / "normint"
    clone = Clone(
        paths.root(), folder, ("01_*.ipynb", "04_*.ipynb", "exercises/README.md", "exercises/01_*.ipynb")
    )
    statue = figurine(96)
    write_normal_map(folder / "my_normals", gradient_to_normals(statue.p, statue.q), statue.mask)
    return clone


def would_run(clone, command):
    done = clone.run(command, MAKEFLAGS="-n")
    for part in WOULD_RUN[command]:
        assert part in done.stdout
    assert "pip install" not in done.stdout
    words = re.sub(r"\\\n", " ", done.stdout).split()
    named = [word.split("=")[-1] for word in words]
    for path in {"tests/browser", "tests/nbval_sanitize.cfg", "notebooks"}.intersection(named):
        assert (clone.folder / path).exists()
    programs = [word for word in words if word.startswith(".venv/bin/")]
    assert programs and all(os.access(clone.folder / program, os.X_OK) for program in programs)
    assert "benchmarks" not in named or (clone.folder / "benchmarks" / "__main__.py").exists()
    return done


def integrates(clone, command):
    done = clone.run(command)
    depth = np.load(clone.folder / "my_surface" / "depth.npy")
    statue = figurine(96)
    np.testing.assert_array_equal(np.isnan(depth), ~statue.mask)
    report = json.loads((clone.folder / "my_surface" / "report.json").read_text())
    assert {"settings", "seconds", "residual"} <= set(report)
    assert len(trimesh.load(clone.folder / "my_surface" / "mesh.ply").faces) > 1000
    assert (clone.folder / "my_surface" / "preview.png").stat().st_size > 10_000
    again = clone.run(command)
    assert again.returncode == 1 and "exists; use --force" in again.stderr  # as the README promises
    return done


def with_the_command(clone, command):
    """Run a command of an installed package, which here is in the clone's environment."""
    return clone.run(command, PATH=f"{clone.folder / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}")


def writes_beside(clone, command):
    done = with_the_command(clone, command)
    made = {"normal_map_depth.npy", "normal_map.glb", "normal_map_preview.png"}
    assert made < set(os.listdir(clone.folder / "my_normals"))
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "size",
        "axes",
        "method",
        "time",
        "jumps",
    ]
    again = with_the_command(clone, command)
    assert again.returncode == 1 and "exists; use --force" in again.stderr  # never over anything
    for path in (clone.folder / "my_normals").glob("normal_map[_.][!p]*"):
        path.unlink()
    return done


def tells(*words):
    def run(clone, command):
        done = with_the_command(clone, command)
        assert all(word in done.stdout for word in words)
        return done

    return run


def runs_notebook_into(place):
    def run(clone, command):
        published = {path: path.stat().st_mtime_ns for path in (clone.folder / "figures").iterdir()}
        done = clone.run(command)
        assert re.search(rf"{NOTEBOOK} +done", done.stdout), done.stdout + done.stderr
        made = clone.folder / "build" / place
        assert list(made.rglob(f"{NOTEBOOK}.ipynb")) and list(made.rglob("fig01*.png"))
        assert published == {path: path.stat().st_mtime_ns for path in (clone.folder / "figures").iterdir()}
        return done

    return run


def would_lock(clone, command):
    done = clone.run(command, MAKEFLAGS="-n")
    for part in ("build/lock/bin/python -m pip freeze", "mv build/lock/requirements.lock requirements.lock"):
        assert part in done.stdout
    return done


def would_install(clone, command):
    here = {"PATH": f"{clone.folder / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    # As printed, but from what is here: no index, and built by the setuptools of this environment.
    done = clone.run(command, **here, PIP_DRY_RUN="1", PIP_NO_INDEX="1", PIP_NO_BUILD_ISOLATION="0")
    assert f"Would install normint-{normint.__version__}" in done.stdout
    return done


def lists_the_targets(clone, command):
    done = clone.run(command)
    listed = [line.split()[0] for line in done.stdout.splitlines()]
    assert {name for name in re.findall(r"`make ([a-z-]+)`", README)} <= set(listed)
    return done


def says(*words):
    def run(clone, command):
        done = clone.run(command)
        assert all(word in done.stdout for word in words)
        return done

    return run


def makes_a_conda_environment(clone, command):
    if shutil.which("conda") is None:
        pytest.skip("no conda is here; test_environment.py compares environment.yml with pyproject.toml")
    if not os.environ.get("NORMINT_TEST_CONDA"):
        pytest.skip("NORMINT_TEST_CONDA=1 would download and make the environment, which takes minutes")
    return clone.run(command, CONDA_ENVS_DIRS=str(clone.folder.parent / "environments"))


def varies_a_parameter(clone, command):
    """Try only whether it would run: the notebook takes minutes."""
    wrong = clone.run(command.replace("mu=30", "mu=x"))
    assert wrong.returncode == 2 and "mu is 'x'; expected something like 45.0" in wrong.stderr
    return clone.run(".venv/bin/normint workbook --help")


def studies(clone, command):
    done = clone.run(command)
    assert len(done.stdout.splitlines()) == 1 + 5, done.stderr  # five values of beta
    assert (clone.folder / "vase.png").stat().st_size > 10_000
    return done


KNOWN = {
    **dict.fromkeys(WOULD_RUN, would_run),
    ".venv/bin/normint workbook --only 01 --seed 7": runs_notebook_into("seed7"),
    ".venv/bin/normint workbook --only 01 --quick": runs_notebook_into("quick"),
    ".venv/bin/normint workbook --only 04 --set mu=30": varies_a_parameter,
    STUDY: studies,
    ".venv/bin/normint workbook --help": says("--only", "--seed", "--quick"),
    ".venv/bin/normint integrate --help": says("--method", "--option", "--axes", "--prior", "--force"),
    INTEGRATE: integrates,
    "normint integrate my_normals/normal_map.png": writes_beside,
    "normint methods": tells("quadratic", "calibrated"),
    "normint methods calibrated": tells("calibrated: ", "away (default False)"),
    "normint warm-up": tells("compiled"),
    "make lock": would_lock,
    "pip install .": would_install,
    "make help": lists_the_targets,
    "conda env create -f environment.yml": makes_a_conda_environment,
}


def between(name):
    return README.split(BEGIN.format(name))[1].split(END.format(name))[0].strip()


def test_the_results_table_is_the_one_the_results_give():
    assert between("results") == table(read(paths.root() / "figures"))
    assert "reproduced within" in between("results")


def test_the_findings_are_those_of_notebook_00():
    assert between("findings") == overview.findings()


def test_the_python_blocks_run_one_after_the_other():
    code = "\n".join(re.findall(r"```python\n(.*?)```", README, flags=re.S))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=paths.root())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(320, 320) 0.108")


@pytest.mark.parametrize("command", printed_commands(README))
def test_command(clone, command):
    assert command in KNOWN, f"the README prints {command!r}, and nothing here says how to try it"
    done = KNOWN[command](clone, command)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_known_command_is_printed():
    assert set(KNOWN) == set(printed_commands(README))


QUOTED = re.findall(r"`(--[^`\n]+)`", README)
# Of those, some that need no other files, and that go together.
TOGETHER = ["--axes auto", "--method phi1 --option beta=0.5", "--mesh glb",
            "--mesh-cut never", "--mm-per-pixel 0.1", "--height-map png8", "--flatten plane"]  # fmt: skip


def test_options_quoted_alone_are_known(capsys):
    with pytest.raises(SystemExit):
        cli.main(["integrate", "--help"])
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert {flag for span in QUOTED for flag in re.findall(r"--[a-z-]+", span)} <= known


def test_options_quoted_alone_do_what_the_sentence_says(clone):
    assert set(TOGETHER) <= set(QUOTED)
    done = clone.run(f".venv/bin/normint integrate my_normals --out other {' '.join(TOGETHER)}")
    assert done.returncode == 0, done.stderr
    assert "phi1: " in done.stdout and "flattened by plane" in done.stdout and " mm" in done.stdout


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((?!http)([^)#]+)\)", README))))
def test_links_lead_somewhere(link):
    assert (paths.root() / link).exists()
