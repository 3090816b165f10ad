"""The folders of the repository and the environment variables: no other module knows them.

Installed from a wheel there is no repository, and what needs one says so.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
# One thread each: neither results nor timings then depend on what else is running.
THREADS = tuple(f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"))


def root():
    """Return the folder of the repository that the package is part of.

    Raises
    ------
    FileNotFoundError
        If it is installed without one.
    """
    found = PACKAGE.parent
    if not (found / "notebooks").is_dir() or not (found / "pyproject.toml").is_file():
        raise FileNotFoundError(
            "the workbook belongs to the repository of normint, and this normint was installed without it; "
            "clone the repository and run make workbook there"
        )
    return found


def figures():
    """Return the folder of figures and results: `$NORMINT_FIGURES`, or `figures` of the repository."""
    return Path(os.environ.get("NORMINT_FIGURES") or root() / "figures")


def studies():
    """Return where rows of studies are kept: `$NORMINT_STUDIES`, or `build/studies` of the repository.

    Without a repository it is a folder among the user's caches.
    """
    try:
        place = root() / "build"
    except FileNotFoundError:
        place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "normint"
    return Path(os.environ.get("NORMINT_STUDIES") or place / "studies")


def data_folders():
    """Return the folders where real data may be: `$NORMINT_DATA`, then `data` of the repository."""
    named = named_data()
    if named and not Path(named).is_dir():  # a slip of the pen must not look like absent data
        raise ValueError(f"NORMINT_DATA is {named}; expected an existing folder")
    folders = [Path(named)] if named else []
    try:
        return [*folders, root() / "data"]
    except FileNotFoundError:
        return folders


def named_data():
    """Return `$NORMINT_DATA`, the folder of the real data, or None."""
    return os.environ.get("NORMINT_DATA") or None


def wanted_data():
    """Return `$NORMINT_DATASET`, which data the notebooks take where nothing else is said, or None."""
    return os.environ.get("NORMINT_DATASET") or None


def in_run():
    """Tell whether a run of the workbook executes this notebook: `$NORMINT_RUN`."""
    return bool(os.environ.get("NORMINT_RUN"))


def variant():
    """Return `$NORMINT_VARIANT`, how this run differs from the published one; empty if it does not."""
    return os.environ.get("NORMINT_VARIANT", "")


def keeping():
    """Tell whether `$NORMINT_KEEP` asks for new tables in `data/studies`, and this run is no variation."""
    return bool(os.environ.get("NORMINT_KEEP")) and not variant()


def threads():
    """Return how many threads are asked for: `$NORMINT_THREADS`, or `$OMP_NUM_THREADS`, or None."""
    for name in ("NORMINT_THREADS", "OMP_NUM_THREADS"):
        text = os.environ.get(name, "")
        if text.isdecimal() and int(text) > 0:
            return int(text)
    return None


def memory():
    """Return how many bytes of memory may be taken at most: `$NORMINT_MEMORY`, such as 8e9, or None."""
    text = os.environ.get("NORMINT_MEMORY", "").strip()
    if not text:
        return None
    try:
        if (size := float(text)) > 0:
            return size
    except ValueError:
        pass
    raise ValueError(f"NORMINT_MEMORY is {text!r}; expected a number of bytes > 0, such as 8e9")


def kernel_environment(figures_folder, variant, data):
    """Return the environment of the kernels that run the notebooks."""
    environment = {
        **os.environ,
        **dict.fromkeys(THREADS, "1"),
        "NORMINT_FIGURES": str(figures_folder),
        "NORMINT_VARIANT": variant,
        "NORMINT_RUN": "1",
        "PYTHONSAFEPATH": "1",  # a random.py that happens to be near must not be imported
    }
    environment.pop("MPLBACKEND", None)  # it would turn off the figures in the notebooks
    if data:
        environment["NORMINT_DATA"] = str(Path(data).resolve())
    return environment


def in_ci():
    """Tell whether nobody watches because continuous integration runs this: `$CI`."""
    return bool(os.environ.get("CI"))


def in_jupyter():
    """Tell whether a Jupyter server started this kernel, so that somebody may be watching."""
    return "JPY_SESSION_NAME" in os.environ


def watched():
    """Tell whether somebody sees what goes to standard error: in a terminal, or in a notebook that is open.

    Nobody does in continuous integration, where the workbook runs notebooks, or where pytest does.
    """
    if in_ci() or in_run() or "PYTEST_VERSION" in os.environ:
        return False
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


def listing(folder, pattern="*"):
    """Describe the files below `folder`, so that a change of any of them changes the description.

    Code and tables count by content; data, which may be large, by size and date.
    """
    entries = []
    for file in sorted(Path(folder).rglob(pattern)):
        if file.is_file():
            stat = file.stat()
            by_content = file.suffix in (".py", ".csv")
            what = hashlib.sha256(file.read_bytes()).hexdigest() if by_content else stat.st_mtime_ns
            entries.append([file.relative_to(folder).as_posix(), stat.st_size, what])
    return entries


def digest(what):
    """Return a short text that identifies `what`, anything that JSON can hold."""
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()
