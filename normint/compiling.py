"""How kernels are compiled, and where their machine code is kept.

A kernel contains the code of the kernels that it calls, from whatever module they come, but numba looks for
changes only in its own file: after an edit, or a pull, old code would stay in use. So the machine code is
kept in a folder that is named after the contents of all rooms that have kernels, and of all else that it
depends on. What a file is named after is only its own module and those that this one imports: a new folder
takes over from older ones what still holds.
"""

import ast
import atexit
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import llvmlite
import numba
import numpy as np
from numba.core import caching, config
from numba.misc.appdirs import AppDirs

from normint import paths

PACKAGE = Path(__file__).resolve().parent
# Sums may be reordered, but divisions are exact: estimates, which only vectors have, would make a result
# depend on whether the compiler's guard against overlapping arrays lets it use vectors, so on addresses.
FAST = {
    "fastmath": {"nnan", "ninf", "nsz", "reassoc", "contract"}, "error_model": "numpy", "nogil": True,
}  # fmt: skip
# For kernels that only kernels call: Python needs no way in, which would have to be compiled.
INNER = FAST | {"no_cpython_wrapper": True}
# For the few lines that kernels call at every node: a call would cost more than they do.
WITHIN = INNER | {"forceinline": True}
# For images: outside the mask they may hold anything, also what is not a number.
ANYTHING = FAST | {"fastmath": {"nsz", "reassoc", "contract"}}
# For rows of a handful of entries: sums that may be reordered would be vectorised, which is slower.
SHORT_ROWS = FAST | {"fastmath": {"contract"}}

FIRST_USE = "about 40 s"
KEPT = 8  # folders of some 15 MB: for branches and versions of Python side by side, with and without checks
COMPLETE = "complete"  # a file, where everything is compiled
STAMPS = "stamps.json"  # a file, in every folder
# The settings of numba that change the code and that its own index does not ask for.
SETTINGS = (
    "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "DISABLE_INTEL_SVML", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE",
)  # fmt: skip
KERNELS = []  # all that were made so far


def njit(**flags):
    """Return a decorator that compiles a function, and keeps the machine code for the next process.

    Parameters
    ----------
    **flags
        Those of `numba.njit`, such as `FAST`. There is no ``cache``: it is always on.

    Examples
    --------
    >>> @njit(**FAST)
    ... def total(values):
    ...     result = 0.0
    ...     for value in values:
    ...         result += value
    ...     return result
    >>> total(np.array([1.0, 2.5]))
    3.5
    """

    def decorate(function):
        kernel = numba.njit(no_cfunc_wrapper=True, **flags)(function)  # nobody calls it from C
        if kernel is not function:
            KERNELS.append(kernel)
            if _as_in_folder(function) and folder() is not None:
                kernel._cache = _Cache(function)
        return kernel

    return decorate


_compiled = 0  # kernels that were not found on disk


def compiled():
    """Return how many kernels this process had to compile so far: time that tells nothing about the next."""
    return _compiled


def _tell_of_compiling():
    """Count a kernel that has to be compiled, and say so before the first, if anybody watches."""
    global _compiled
    _compiled += 1
    if _compiled > 1 or not paths.watched():
        return
    new = folder() is None or next(folder().glob("*.nbc"), None) is None
    seconds = FIRST_USE if new else "some seconds"
    print(f"normint: compiling, first use only ({seconds})", file=sys.stderr, flush=True)


@contextmanager
def interruptible():
    """Let Ctrl-C be a KeyboardInterrupt also where it strikes while a kernel hands over what it computed.

    There, numba makes it a SystemError, with the interrupt as its cause.

    Examples
    --------
    >>> try:
    ...     with interruptible():
    ...         raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
    ... except KeyboardInterrupt:
    ...     print("stopped")
    stopped
    """
    try:
        yield
    except SystemError as error:
        cause = error.__cause__
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__cause__
        if cause is None:
            raise
        raise cause from None


@cache
def folder():
    """Return the folder of this package's machine code, or None if no folder can be written to."""
    name = "normint-" + _stamp(_sources())
    for parent in _places():
        found = parent / name
        try:
            if not found.is_dir():
                found.mkdir(parents=True, exist_ok=True)
                _take_over(found)
            tempfile.TemporaryFile(dir=found).close()
            os.utime(found)
        except OSError:
            continue
        _remove_old(parent)
        return found
    with suppress(OSError):
        return _private_folder()
    return None


def complete():
    """Tell whether somebody has compiled everything, and said so by `mark_complete`."""
    return folder() is not None and (folder() / COMPLETE).exists()


def mark_complete():
    """Remember that everything is compiled, for as long as the folder stays."""
    if folder() is not None:
        with suppress(OSError):
            (folder() / COMPLETE).touch()


class _Locator(caching._CacheLocator):
    """Where the machine code of one function is."""

    def __init__(self, function):
        self._py_file = function.__code__.co_filename  # the name under which numba asks for it
        self._stamp = _stamps()[Path(self._py_file).resolve().relative_to(PACKAGE).as_posix()]
        self._function = f"{function.__module__}-{function.__code__.co_firstlineno}-{self._stamp}"

    @classmethod
    def from_function(cls, py_func, py_file):
        return cls(py_func)

    def get_cache_path(self):
        return str(folder())

    def get_source_stamp(self):
        return self._stamp

    def get_disambiguator(self):
        return self._function


class _Files(caching.CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class _Cache(caching.FunctionCache):
    """Machine code on disk, which may be damaged, removed by others, or find no space: compiling helps."""

    _impl_class = _Files

    def load_overload(self, sig, target_context):
        try:
            found = super().load_overload(sig, target_context)
        except Exception:  # damaged files raise whatever they like
            with suppress(OSError):
                self.flush()
            found = None
        if found is None:
            _tell_of_compiling()
        return found

    def save_overload(self, sig, data):
        with suppress(OSError):
            super().save_overload(sig, data)


@cache
def _sources():
    """Return the contents of the rooms that have kernels, as digests by file, when first asked for."""
    sources = {path: path.read_bytes() for path in PACKAGE.rglob("*.py")}
    rooms = {PACKAGE} | {path.parent for path, text in sources.items() if b"normint.compiling" in text}
    return {
        path.relative_to(PACKAGE).as_posix(): _digest(text)
        for path, text in sources.items()
        if path.parent in rooms
    }


def _digest(contents):
    return hashlib.sha256(contents).hexdigest()


def _stamp(sources):
    """Return what changes when some sources do, or anything else that machine code depends on."""
    settings = [repr(getattr(config, name, None)) for name in SETTINGS]
    return _digest(json.dumps([sources, _versions(), settings], sort_keys=True).encode())[:16]


@cache
def _stamps():
    """Return the stamps of all modules, by file. They are kept, since to parse all takes 0.2 s."""
    with suppress(OSError, ValueError, AttributeError):
        return json.loads((folder() / STAMPS).read_text())
    return _new_stamps()


def _new_stamps():
    """Return for each module, by file, a stamp of its source and of all that it imports from the package."""
    sources, needed = _sources(), {}
    for name in sources:
        found, new = set(), {name}
        while new:
            found |= new
            new = {other for one in new for other in _imported(one)} & set(sources) - found
        needed[name] = _stamp({one: sources[one] for one in found})
    return needed


@cache
def _imported(name):
    """Return the files of the package that a module may import, directly."""
    found = set()
    for node in ast.walk(ast.parse((PACKAGE / name).read_bytes())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for parts in (name.split(".")[1:] for name in names if name.startswith("normint.")):
            found |= {"/".join(parts) + ".py", "/".join([*parts, "__init__.py"])}
    return found


def _take_over(found):
    """Link into a new folder what older ones have of modules that did not change."""
    stamps = _new_stamps()
    (found / STAMPS).write_text(json.dumps(stamps))
    valid = set(stamps.values())
    for path in found.parent.glob("normint-*/*.nb?"):
        if valid & set(re.findall("[0-9a-f]{16}", path.name)):
            with suppress(OSError):
                os.link(path, found / path.name)


_changed = False


def _as_in_folder(function):
    """Tell whether the code that is being loaded is that of `folder`.

    It is not where a file was edited after the process began: what this process compiles from here on may
    mix the old and the new, and belongs in no folder. Nor is a function from outside the package.
    """
    global _changed
    path = Path(function.__code__.co_filename)
    try:
        name = path.resolve().relative_to(PACKAGE).as_posix()
        _changed |= _sources()[name] != _digest(path.read_bytes())
    except (ValueError, KeyError, OSError):
        return False
    return not _changed


def _versions():
    return [sys.version, numba.__version__, llvmlite.__version__, np.__version__]


def _places():
    """Yield the folders that may hold ours, the best first.

    In a clone it is one of the clone, whatever environment it is used from. An installed package may be
    installed again, without the folders that it had: the machine code waits for it in the user's cache.
    """
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR)
    beside, users = PACKAGE / "__pycache__", Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)
    yield from (beside, users) if (PACKAGE.parent / "pyproject.toml").is_file() else (users, beside)


def _remove_old(parent):
    """Remove all but the folders used last. A process that still uses one compiles what it misses."""
    with suppress(OSError):
        ours = [path for path in parent.iterdir() if re.fullmatch("normint-[0-9a-f]{16}", path.name)]
        for path in sorted(ours, key=lambda path: path.stat().st_mtime_ns)[:-KEPT]:
            shutil.rmtree(path, ignore_errors=True)


def _private_folder():
    """Return a new folder that goes when this process ends, but not when one forked from it does."""
    made, owner = Path(tempfile.mkdtemp(prefix="normint-")), os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(made, ignore_errors=True))
    return made
