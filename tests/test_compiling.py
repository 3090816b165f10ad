"""Machine code: it is that of the present sources, wherever it may be kept, and bounds can be checked."""

import os
import re
import shutil
import sys
import types
from pathlib import Path

import pytest
import started_numba

from normint import compiling, paths

# A package like ours: a kernel that contains the code of a kernel of another module.
INNER = "from normint.compiling import FAST, njit\n\n@njit(**FAST)\ndef inner(x):\n    return x + {}\n"
OUTER = (
    "from normint.compiling import FAST, njit\nfrom normint.inner import inner\n\n"
    "@njit(**FAST)\ndef outer(x):\n    return 10 * inner(x)\n"
    "@njit(**FAST)\ndef past_the_end(values):\n    return values[len(values)]\n"
)
SILENT = "CI", "PYTEST_VERSION", "NORMINT_RUN"  # where any of these is set, nobody reads along
CALL = "from normint.outer import outer; print(outer(1), sum(outer.stats.cache_hits.values()))"


@pytest.fixture(scope="module")
def python():
    started = started_numba.start()
    yield started
    started.close()


@pytest.fixture
def package(tmp_path, python):
    """Lay out a small package with our compiler module, and return a way to run code with it."""
    folder = tmp_path / "place" / "normint"
    folder.mkdir(parents=True)
    for module in (compiling, paths):
        shutil.copy2(module.__file__, folder)
    (folder / "__init__.py").touch()
    (folder.parent / "pyproject.toml").touch()  # as in a clone
    (folder / "outer.py").write_text(OUTER)
    (folder / "inner.py").write_text(INNER.format(1))
    home, out, err = tmp_path / "home", tmp_path / "stdout", tmp_path / "stderr"
    home.mkdir()

    def run(code=CALL, terminal=None, **environment):
        silent = ("XDG_CACHE_HOME", "TMPDIR") + (SILENT if terminal is not None else ())
        kept = {k: v for k, v in os.environ.items() if k not in silent and not k.startswith("NUMBA_")}
        kept |= {"PYTHONPATH": str(folder.parent), "HOME": str(home), **environment}
        if terminal:
            return in_terminal(lambda name: python.run(code, kept, out, name))
        python.run(code, kept, out, err)
        if terminal is False:
            return err.read_text()
        return out.read_text().strip() or err.read_text().strip().splitlines()[-1]

    run.folder, run.home = folder, home
    return run


def in_terminal(call):
    """Return what a call writes to the terminal of which it is given the name."""
    ours, theirs = os.openpty()
    call(os.ttyname(theirs))
    os.set_blocking(ours, False)
    try:
        return os.read(ours, 10_000).decode()
    except BlockingIOError:
        return ""
    finally:
        os.close(ours)
        os.close(theirs)


def caches(folder):
    return sorted(path.name for path in folder.glob("normint-*"))


def test_an_edit_of_an_inlined_function_of_another_module_is_seen(package):
    assert package() == "20 0"
    assert package() == "20 1"  # taken from the cache
    (package.folder / "inner.py").write_text(INNER.format(2))
    assert package() == "30 0"
    assert package() == "30 1"
    (package.folder / "inner.py").write_text(INNER.format(1))
    assert package() == "20 1"  # the old state of the package still has its own


def test_an_edit_leaves_what_does_not_contain_it(package):
    (package.folder / "apart.py").write_text(INNER.format(5).replace("inner", "apart"))
    apart = "from normint.apart import apart; print(apart(1), sum(apart.stats.cache_hits.values()))"
    assert [package(), package(apart), package(apart)] == ["20 0", "6 0", "6 1"]
    (package.folder / "inner.py").write_text(INNER.format(2))
    assert [package(apart), package()] == ["6 1", "30 0"]
    (package.folder / "apart.py").write_text(INNER.format(7).replace("inner", "apart"))
    assert [package(apart), package()] == ["8 0", "30 1"]


def test_code_that_changes_while_a_process_runs_is_not_kept(package):
    change = (
        "import pathlib, normint.compiling, normint.inner as old\n"
        f"pathlib.Path(old.__file__).write_text({INNER.format(2)!r})\n"
        "import importlib; importlib.reload(old)\n"
    )
    assert package(change + CALL) == "30 0"
    (package.folder / "inner.py").write_text(INNER.format(1))
    assert package() == "20 0"  # not what the process above compiled


def test_where_it_is_kept(package):
    package()
    (name,) = caches(package.folder / "__pycache__")
    shutil.rmtree(package.folder / "__pycache__")
    (package.folder / "__pycache__").touch()  # now no folder can be made there, not even by root
    assert package() == "20 0"
    assert caches(package.home / ".cache/numba") == [name]
    chosen = package.home / "chosen"
    assert package(NUMBA_CACHE_DIR=str(chosen)) == "20 0"
    assert caches(chosen) == [name]
    assert package(NUMBA_CACHE_DIR=str(chosen)) == "20 1"


def test_an_installed_package_finds_it_again_when_it_is_installed_again(package, tmp_path):
    (package.folder.parent / "pyproject.toml").unlink()
    assert package() == "20 0"
    assert len(caches(package.home / ".cache/numba")) == 1
    other = shutil.move(package.folder.parent, tmp_path / "other")  # another environment
    shutil.rmtree(other / "normint" / "__pycache__", ignore_errors=True)
    assert package(PYTHONPATH=str(other)) == "20 1"


def test_that_everything_is_compiled_is_remembered_until_an_edit(package):
    code = "from normint import compiling\nprint(compiling.complete()); compiling.mark_complete()"
    assert [package(code), package(code)] == ["False", "True"]
    (package.folder / "inner.py").write_text(INNER.format(2))
    assert package(code) == "False"


def test_without_any_place_to_keep_it_a_private_folder_goes_with_the_process(package, tmp_path):
    (package.folder / "__pycache__").touch()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    nowhere = {"HOME": __file__, "TMPDIR": str(temporary)}  # a home that is no folder
    forked = "import os; from normint import compiling; compiling.folder()\n"
    forked += "if os.fork() == 0: raise SystemExit\n"
    forked += "os.wait(); assert compiling.folder().is_dir()\n"
    assert package(forked + CALL, **nowhere) == "20 0"
    assert list(temporary.iterdir()) == []
    unwritable = "import tempfile; tempfile.mkdtemp = lambda **options: open('nowhere')\n"
    assert package(unwritable + CALL, **nowhere) == "20 0"


def test_a_damaged_cache_is_compiled_again_and_mended(package):
    package()
    (folder,) = (package.folder / "__pycache__").glob("normint-*")
    outer, inner = sorted(folder.glob("*.nbi"))
    for one, other in ((b"", b"\x80\x04."), (b"not a pickle", os.urandom(100))):
        outer.write_bytes(one)
        inner.write_bytes(other)
        assert package() == "20 0"
    assert package() == "20 1"
    for data in folder.glob("*.nbc"):
        data.write_bytes(data.read_bytes()[:100])
    assert package() == "20 0"
    remove = f"import shutil; from normint.outer import outer; shutil.rmtree({str(folder)!r})\n"
    assert package(remove + CALL) == "20 0"


def test_old_folders_go_and_others_stay(package):
    place = package.folder / "__pycache__"
    place.mkdir()
    for number in range(compiling.KEPT + 3):
        (place / f"normint-{number:016x}").mkdir()
        os.utime(place / f"normint-{number:016x}", (number, number))
    (place / "normint-mine").mkdir()
    package()
    left = caches(place)
    assert "normint-mine" in left and len(left) == compiling.KEPT + 1
    newest = range(4, compiling.KEPT + 3)
    assert {f"normint-{number:016x}" for number in newest} < set(left)


def test_bounds_are_checked_if_asked_and_never_mixed_with_the_fast_code(package):
    wrong = "import numpy as np; from normint.outer import past_the_end\n"
    wrong += "past_the_end(np.zeros(3)); print('not noticed')"
    assert package(wrong) == "not noticed"
    assert package(wrong, NUMBA_BOUNDSCHECK="1").startswith("IndexError")
    assert package(wrong) == "not noticed"
    assert len(caches(package.folder / "__pycache__")) == 2


LINE = r"normint: compiling, first use only \(about \d+ s\)\r?\n"
NOTEBOOK = "import sys, types; sys.modules['ipykernel'] = types.ModuleType('ipykernel')\n" + CALL


class TestTheLine:
    def test_once_at_the_first_use_and_not_again(self, package):
        assert re.fullmatch(LINE, package(terminal=True))
        assert package(terminal=True) == ""
        (package.folder / "inner.py").write_text(INNER.format(2))
        assert re.fullmatch(LINE, package(terminal=True))  # an edit is a first use, too

    def test_less_is_said_where_little_is_missing(self, package):
        package()
        other = "from normint.outer import outer; outer(1.5)"
        assert package(other, terminal=True).rstrip() == "normint: compiling, first use only (some seconds)"

    def test_in_an_open_notebook_too(self, package):
        assert re.fullmatch(LINE, package(NOTEBOOK, terminal=False))

    def test_not_where_nobody_reads_it(self, package, monkeypatch):
        assert package(NOTEBOOK, terminal=False, CI="1") == ""
        monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
        for name in SILENT:
            monkeypatch.delenv(name, raising=False)
        assert paths.watched()
        for name in SILENT:
            with monkeypatch.context() as patched:
                patched.setenv(name, "1")
                assert not paths.watched()

    def test_not_into_a_log(self, package):
        assert package(terminal=False) == ""

    def test_compiled_kernels_are_counted(self, package):
        code = "from normint import compiling; from normint.outer import outer; outer(1)\n"
        code += "outer(2); print(compiling.compiled(), len(compiling.KERNELS))"
        assert package(code) == "2 3"  # outer, and inner in it, of three
        assert package(code) == "0 3"


def test_without_compiling(package):
    assert package("from normint.outer import outer; print(outer(1))", NUMBA_DISABLE_JIT="1") == "20"


def test_all_kernels_are_compiled_here():
    for path in Path(compiling.PACKAGE).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name != "compiling.py":
            assert not re.search(r"^\s*(from|import) numba|jit\(.*cache=", text, flags=re.M), path
