"""A script beside a clone called normint imports the package, not the clone's folder."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_{}(sys.argv[1]))"
SCRIPT = "import normint; print(normint.__version__, normint.__file__)"


@pytest.fixture(scope="module", params=["editable", "wheel"])
def installed(request, tmp_path_factory):
    """Install a small package with our pyproject.toml from a clone called normint; return both folders."""
    folder = tmp_path_factory.mktemp(request.param)
    clone = folder / "work" / "normint"
    (clone / "normint").mkdir(parents=True)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy2(ROOT / name, clone)
    (clone / "normint" / "__init__.py").write_text('__version__ = "9.9"\n')
    command = [sys.executable, "-c", BUILD.format(request.param), folder]
    subprocess.run(command, cwd=clone, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    site = folder / "site"
    with zipfile.ZipFile(wheel) as file:
        file.extractall(site)
    shutil.rmtree(clone / "build", ignore_errors=True)
    return clone.parent, site


def run(folder, *command, site=None):
    """Run Python without our packages, but with a folder as its place for installed ones."""
    start = f"import site, runpy, sys; {'' if site is None else f'site.addsitedir({str(site)!r}); '}"
    start += "sys.path.insert(0, sys.argv[1]); runpy.run_path(sys.argv[2], run_name='__main__')"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    line = [sys.executable, "-S", "-P", "-c", start, str(folder), *map(str, command)]
    return subprocess.run(line, cwd=folder, env=kept, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("place", [".", "normint", "normint/notebooks", "elsewhere"])
def test_the_package_is_imported(installed, place):
    work, site = installed
    folder = work / place
    folder.mkdir(exist_ok=True)
    (folder / "script.py").write_text(SCRIPT)
    done = run(folder, folder / "script.py", site=site)
    assert done.stdout.startswith("9.9 "), done.stderr
    assert done.stdout.strip().endswith(os.path.join("normint", "__init__.py"))
