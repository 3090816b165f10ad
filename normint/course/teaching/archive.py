"""The students' archive: skeletons, and of the package what they run with, without answers.

It is laid out like the repository, so that notebooks find everything where they do here. Students need no
compiler and no numba, whose 200 MB would be the largest part of their environment: what the methods of the
package find on the scenes of exercise 10 was recorded.
"""

import json
import re
import tempfile
import tomllib
import zipfile
from pathlib import Path

from normint import __version__, paths
from normint.course.teaching import answers
from normint.files.writing import write_atomically
from normint.workbook.notebook_files import read_notebook, source

NAME = "normint-exercises"
# Of the dependencies of the package and its workbook those that the exercises need.
LIBRARIES = ("jupyterlab", "lazy_loader", "matplotlib", "numpy", "scipy")
LEFT_OUT = ("cli", "course", "__main__.py", "compiling.py", "__pycache__")
DATA = ("paper_matrices.json",)
ABOUT_SOLUTIONS = re.compile(r" A full solution is in `solutions/`; look at it when you are done\.")
LINK_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]+\)")  # to a notebook that students have not
KERNELS = '''"""Kernels are compiled where numba is installed. No exercise calls one."""

from contextlib import nullcontext
from importlib.util import find_spec

FAST = INNER = WITHIN = ANYTHING = SHORT_ROWS = {}
interruptible = nullcontext


def njit(**flags):
    """Return a decorator that leaves a function for those who have numba."""

    def decorate(function):
        def kernel(*given, **options):
            raise ImportError("this needs numba; install it: python -m pip install numba", name="numba")

        return kernel

    return decorate


def compiled():
    """Return how many kernels were compiled: none."""
    return 0


if find_spec("numba"):
    from normint.with_numba import *  # noqa: F403
'''


def release(out=None):
    """Write the archive for students and return its path.

    Parameters
    ----------
    out : path, optional
        A `.zip`; `build/normint-exercises.zip` of the repository if not given.
    """
    out = Path(out) if out else paths.root() / "build" / f"{NAME}.zip"
    if out.suffix != ".zip":
        raise ValueError(f"the archive would be {out}; expected a name that ends with .zip")
    out.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(out) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, contents in sorted((package() | _recorded() | skeletons() | _handout()).items()):
            # A date that is always the same: two archives of the same course are the same file.
            archive.writestr(zipfile.ZipInfo(f"{NAME}/{name}"), contents, zipfile.ZIP_DEFLATED)
    return out


def package():
    """Return the files of the package as students get them, from their path to their contents."""
    compiling = (paths.PACKAGE / "compiling.py").read_bytes()
    files = {"normint/compiling.py": KERNELS.encode(), "normint/with_numba.py": compiling}
    for path in sorted(paths.PACKAGE.rglob("*")):
        parts = path.relative_to(paths.PACKAGE).parts
        if path.suffix in (".py", ".pyi") and parts[0] not in LEFT_OUT and "__pycache__" not in parts:
            files["/".join(("normint", *parts))] = path.read_bytes()
    for name, text in answers.public_sources().items():
        files[f"normint/course/{name}"] = text.encode()
    for name in DATA:
        files[f"data/{name}"] = (paths.root() / "data" / name).read_bytes()
    return files


def skeletons():
    """Return the notebooks that students begin with."""
    files = {}
    for path in sorted(exercises().glob("[0-9][0-9]_*.ipynb")):
        notebook = read_notebook(path)
        for cell in notebook["cells"]:
            text = LINK_OUTSIDE.sub(r"\1", ABOUT_SOLUTIONS.sub("", source(cell)))
            cell["source"] = text.splitlines(keepends=True)
        files[f"notebooks/{path.name}"] = (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()
    return files


def exercises():
    """Return the folder of the exercises."""
    return paths.root() / "notebooks" / "exercises"


def _recorded():
    """Return the numbers that the checks compare with."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.npz"
        answers.record(path)
        return {"normint/course/answers.npz": path.read_bytes()}


def _handout():
    """Return what tells students, and pip, how to begin."""
    project = tomllib.loads((paths.root() / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = [*project["dependencies"], *project["optional-dependencies"]["workbook"]]
    needed = [text for text in known if re.match(r"[\w-]+", text)[0] in LIBRARIES]
    files = {path.name: path.read_bytes() for path in sorted((exercises() / "handout").glob("*.*"))}
    settings = f'version = "{__version__}"\nrequires-python = "{project["requires-python"]}"\n'
    settings += f"dependencies = {json.dumps(needed)}\n"
    files["pyproject.toml"] += settings.encode()
    files["LICENSE"] = (paths.root() / "LICENSE").read_bytes()
    return files
