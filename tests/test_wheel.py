"""A wheel, installed without extras into an empty environment, works from any folder."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest
import trimesh
from packaging.requirements import Requirement

from normint import __version__, compiling
from normint.datasets.writing import write_normal_map
from normint.normals.convert import gradient_to_normals
from normint.surfaces import figurine

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
INSTALL = "pip install 'normint[workbook]'"


def needed(names):
    """Return these distributions of this environment, and all that they need, directly or not."""
    found, waiting = {}, list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = distribution(name)
            asked = [Requirement(text) for text in found[name].requires or ()]
            waiting += [each.name for each in asked if not each.marker or each.marker.evaluate({"extra": ""})]
    return found.values()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from a copy: nothing of an earlier build can come into it."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(ROOT / "normint", source / "normint", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, source)
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder, source]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "wheel", *options], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """Make an empty environment with the wheel, and links to exactly the libraries that it asks for.

    Nothing is downloaded: the libraries are those of this environment.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    place = {"base": str(folder), "platbase": str(folder)}
    site = Path(sysconfig.get_path("purelib", scheme="venv", vars=place))
    program = Path(sysconfig.get_path("scripts", scheme="venv", vars=place))
    for library in needed([Requirement(text).name for text in PROJECT["dependencies"]]):
        for part in {file.parts[0] for file in library.files} - {"..", "__pycache__"}:
            if not (site / part).exists():
                (site / part).symlink_to(library.locate_file(part))
    python = program / Path(sys._base_executable).name
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    options = ["install", "--no-deps", "--no-index", wheel]
    done = subprocess.run([*pip, *options], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return program


@pytest.fixture
def run(environment, tmp_path):
    """Run a program of the environment in a folder of its own."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NORMINT_", "PYTHON", "VIRTUAL_ENV"))}
    # The same sources have the same machine code.
    kept["NUMBA_CACHE_DIR"] = str(compiling.folder().parent)

    def run(name, *arguments, **more):
        command = [shutil.which(name, path=str(environment)), *map(str, arguments)]
        return subprocess.run(
            command, cwd=tmp_path, env=kept | more, capture_output=True, text=True, timeout=600
        )

    return run


def printed(done):
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name == f"normint-{__version__}-py3-none-any.whl"
    assert {"normint/py.typed", "normint/__init__.pyi"} <= set(names)
    assert any(name.endswith("report.typ") for name in names)
    assert any(name.endswith("report.typ") for name in names)
    assert {name.split("/")[0] for name in names} == {"normint", f"normint-{__version__}.dist-info"}


def test_the_extras_are_not_there(run):
    extras = PROJECT["optional-dependencies"]
    modules = ["matplotlib", "papermill", "pyamg", "plotly", "ipywidgets", "skimage", "OpenEXR", "pytest"]
    modules += ["fast_simplification", "PIL", "typst", "yaml"]
    assert len(extras) == 8
    code = "from importlib.util import find_spec as f; print([name for name in {} if f(name)])"
    assert printed(run("python", "-c", code.format(modules))).strip() == "[]"


def test_the_lines_of_the_readme(run, environment):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.search(r"## The package in five lines\n+```python\n(.*?)```", readme, flags=re.DOTALL)[1]
    shown = printed(run("python", "-c", lines + "print(normint.__file__)")).splitlines()
    assert shown[0].startswith("(320, 320) 0.108")
    assert Path(shown[1]).is_relative_to(environment.parent)


def test_the_command(run, tmp_path):
    statue = figurine(96)
    write_normal_map(tmp_path / "maps", gradient_to_normals(statue.p, statue.q), statue.mask)
    asked = ["maps/normal_map.png", "--axes", "xyz", "--out", "made", "--mesh", "ply", "--preview"]
    printed(run("normint", "integrate", *asked))
    made = tmp_path / "made"
    np.testing.assert_array_equal(np.isfinite(np.load(made / "depth.npy")), statue.mask)
    assert len(trimesh.load(made / "mesh.ply").faces) > 1000
    assert (made / "preview.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((made / "report.json").read_text())["normint"] == __version__


def test_the_module_is_the_command(run):
    assert printed(run("python", "-m", "normint", "--version")) == f"normint {__version__}\n"
    assert printed(run("normint", "--version")) == f"normint {__version__}\n"


def test_data_is_replaced_by_its_stand_in(run):
    code = "import normint; print(normint.datasets.beethoven().data)"
    assert printed(run("python", "-c", code)) == "stand-in\n"


@pytest.mark.parametrize("command", [["workbook"], ["results", "--update-readme"], ["report"]])
def test_the_workbook_asks_for_the_repository(run, command, tmp_path):
    done = run("normint", *command)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "clone the repository" in done.stderr
    assert list(tmp_path.iterdir()) == []


MISSING = {
    "normint.integrate([[0.0, 0.0]], [[0.0, 0.0]], solver='pyamg')": 'solver="pyamg" needs pyamg',
    "normint.workbook.figures": "normint.workbook.figures needs matplotlib",
    "normint.datasets.peppers()": "the stand-in for Peppers needs skimage",
}


def test_a_missing_extra_is_named_with_its_command(run):
    each = "try: {}\nexcept ImportError as error: print(error)\n"
    code = "import normint\n" + "".join(map(each.format, MISSING))
    expected = [f"{what}, which is not installed; {INSTALL}" for what in MISSING.values()]
    assert printed(run("python", "-c", code)).splitlines() == expected


def test_the_notebooks_without_their_libraries(run):
    done = run("normint", "workbook", "--only", "01", PYTHONPATH=str(ROOT))
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert f"papermill is not installed; {INSTALL}" in done.stderr
