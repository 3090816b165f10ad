"""`normint integrate` when it cannot: one line, an exit code, and every file as it was."""

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relief_files import MASK, NORMALS, XYZ, assert_refused, contents, make, run

from normint import cli
from normint.cli import outputs
from normint.files import writing as files
from normint.integration import METHODS

ALL = ("--png", "--tiff", "--mesh", "ply")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Work in a folder of its own, so that nothing is written into another."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def folder(tmp_path):
    return make(tmp_path / "relief")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--method cubic", "--method is 'cubic'; expected one of quadratic, dct"),
        ("--method phi1 --option gamma=1", "gamma is not an option of method phi1; it has beta, scheme"),
        ("--method phi1 --option beta", "--option is 'beta'; expected name=value"),
        ("--method phi1 --option =1", "--option is '=1'; expected name=value"),
        ("--method phi1 --option beta=x", "option beta is 'x'; expected a number"),
        ("--method phi1 --option beta=1 --option beta=2", "option beta is given twice"),
        ("--option max_iterations=1.5", "option max_iterations is '1.5'; expected a whole number"),
        ("--option callback=print", "callback is not an option"),
        ("--axes zyx", "--axes is 'zyx'; expected one of uvz, xyz"),
        ("--mesh 3ds", "--mesh is '3ds'; expected one of ply"),
        ("--prior p.npy", "--prior and --prior-weight go together"),
        ("--prior-weight 1", "--prior and --prior-weight go together"),
        ("--prior p.npy --prior-weight nan", "--prior-weight is nan; expected a finite number > 0"),
        ("--prior p.npy --prior-weight x", "invalid float value: 'x'"),
        ("--colour red", "unrecognized arguments: --colour red"),
        ("--mask", "expected one argument"),
    ],
)
def test_wrong_usage(folder, tmp_path, capsys, line, words):
    before = contents(tmp_path)
    assert_refused(capsys, run(folder, *line.split()), words, expected=2)
    assert contents(tmp_path) == before


class TestBadFiles:
    def damage(self, name, data):
        Path("relief", name).write_bytes(data)

    @pytest.mark.parametrize(
        ("name", "data", "words"),
        [
            ("normal_map.png", b"no image", "normal_map.png is not an image"),
            ("normal_map.png", None, "normal_map.png ends too early"),
            ("mask.png", b"", "mask.png is not an image"),
            ("K.txt", b"one two three", "K.txt is not a table of numbers"),
            ("K.txt", b"1 2 3\n4 5 6\n7 8 9", "K.txt is not the matrix of a camera"),
        ],
    )
    def test_damaged(self, folder, tmp_path, capsys, name, data, words):
        self.damage(name, (folder / name).read_bytes()[:-20] if data is None else data)
        assert_refused(capsys, run(folder), words)
        assert not (tmp_path / "normint-out").exists()

    @pytest.mark.parametrize("option", ["--mask", "--camera", "--prior"])
    def test_missing(self, folder, capsys, option):
        weight = ("--prior-weight", 1) if option == "--prior" else ()
        assert_refused(capsys, run(folder, option, "none.npy", *weight), "none.npy is missing")
        assert_refused(capsys, run("nowhere"), "nowhere is missing")
        assert_refused(capsys, run("."), "normal_map.png is missing")

    def test_shapes_that_differ(self, folder, capsys):
        np.save("turned.npy", MASK.T.astype(float))
        words = "turned.npy has shape (24, 20); expected (20, 24) numbers"
        assert_refused(capsys, run(folder, "--mask", "turned.npy"), words)
        assert_refused(capsys, run(folder, "--prior", "turned.npy", "--prior-weight", 1), words)

    def test_empty_masks(self, folder, capsys):
        np.save("empty.npy", np.zeros(MASK.shape))
        assert_refused(capsys, run(folder, "--mask", "empty.npy"), "empty.npy is empty")
        np.save("n.npy", np.where(MASK[..., np.newaxis], XYZ, 0))
        np.save("outside.npy", ~MASK)
        assert_refused(capsys, run("n.npy", "--mask", "outside.npy"), "outside.npy has no pixel where n.npy")

    def test_methods_that_need_a_rectangle(self, folder, capsys):
        assert_refused(capsys, run(folder, "--method", "dct"), "mask")

    def test_some_normals_face_away(self, capsys):
        normals = NORMALS.copy()
        normals[3, 4, 2] *= -1
        np.save("n.npy", normals)
        advice = "--option least_cosine=0.05"
        assert_refused(capsys, run("n.npy", "--axes", "uvz"), "1 of the mask's 480 pixels face away", advice)
        assert run("n.npy", "--axes", "uvz", *advice.split()) == 0

    def test_a_library_is_missing(self, folder, monkeypatch, capsys):
        monkeypatch.setitem(sys.modules, "pyamg", None)
        missing = "pyamg is not installed; pip install 'normint[workbook]'"
        assert_refused(capsys, run(folder, "--option", "solver=pyamg"), missing)

    def test_out_of_memory(self, folder, monkeypatch, capsys):
        def fail(*_, **__):
            raise MemoryError

        monkeypatch.setattr("normint.normals.integrate_normals.integrate_map", fail)
        assert_refused(capsys, run(folder), "relief is too large for the memory")


def fail_with(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.fixture(params=["new folder", "old files"])
def before(request, folder, tmp_path):
    """Write all files with other content or none, and return what is there before the run."""
    if request.param == "old files":
        assert run(folder, *ALL, "--method", "phi1") == 0
    return contents(tmp_path)


class TestInterruptedWrites:
    @pytest.mark.parametrize("stage", ["_as_npy", "_as_image", "_surface", "_as_preview", "as_text"])
    def test_full_disk(self, before, folder, tmp_path, monkeypatch, capsys, stage):
        monkeypatch.setattr(outputs, stage, fail_with(OSError(errno.ENOSPC, "No space left on device")))
        capsys.readouterr()
        assert_refused(capsys, run(folder, *ALL, "--preview", "--force"), "No space left on device")
        self.assert_as_before(tmp_path, before)

    def test_files_that_may_not_grow(self, before, folder, tmp_path, capsys):
        # A limit of the system: the write begins, and fails in the middle as on a full disk.
        capsys.readouterr()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
        try:
            code = run(folder, "--force")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert_refused(capsys, code, "depth.npy cannot be written: File too large")
        self.assert_as_before(tmp_path, before)

    @pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
    @pytest.mark.parametrize("renamed", range(12))
    def test_renaming_stops_half_way(self, before, folder, tmp_path, monkeypatch, capsys, error, renamed):
        rename, count = os.rename, []

        def stop(source, target):
            count.append(target)
            if len(count) == renamed + 1:
                raise error
            rename(source, target)

        monkeypatch.setattr(files.os, "rename", stop)
        capsys.readouterr()
        code = run(folder, *ALL, "--force")
        output = capsys.readouterr()
        if code == 0:  # there were not that many
            assert len(count) <= renamed
            return
        assert code == (130 if isinstance(error, KeyboardInterrupt) else 1)
        assert output.out == "" and output.err.count("\n") == 1
        self.assert_as_before(tmp_path, before)

    @pytest.mark.parametrize("where", ["integrate_normals.integrate_map", "axes.axes_warning"])
    def test_interrupted_work(self, before, folder, tmp_path, monkeypatch, capsys, where):
        monkeypatch.setattr(f"normint.normals.{where}", fail_with(KeyboardInterrupt()))
        capsys.readouterr()
        assert run(folder, *ALL, "--force") == 130
        assert capsys.readouterr() == ("", "normint: interrupted\n")
        self.assert_as_before(tmp_path, before)

    def assert_as_before(self, tmp_path, before):
        assert contents(tmp_path) == before
        if not any("normint-out" in name for name in before):
            assert not (tmp_path / "normint-out").exists()


class TestProcess:
    def test_ctrl_c(self, folder, tmp_path):
        # The process stops itself at a known place, as if by chance there when the user presses the keys.
        program = (
            "import os, signal, sys; from normint import cli; from normint.files import normal_maps\n"
            "normal_maps.read_normals = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)\n"
            "sys.exit(cli.main(['integrate', 'relief']))"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "normint: interrupted\n")
        assert os.listdir(tmp_path) == ["relief"]

    def test_killed_while_it_replaces_files(self, folder, tmp_path, capsys):
        assert run(folder, "--png") == 0
        (tmp_path / "normint-out" / "notes.txt").write_text("mine")
        program = (
            "import os, signal, sys; from normint import cli; from normint.files import writing as files\n"
            "rename = os.rename\n"
            "def stop(source, target):\n"
            "    if str(target).endswith('depth.png'): os.kill(os.getpid(), signal.SIGKILL)\n"
            "    rename(source, target)\n"
            "files.os.rename = stop\n"
            "cli.main(['integrate', 'relief', '--png', '--method', 'phi1', '--force'])"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert done.returncode == -signal.SIGKILL
        assert not Path("normint-out/report.json").exists()
        capsys.readouterr()
        assert_refused(capsys, run(folder, "--png"), "depth.npy exists; use --force")
        assert json.loads(Path("normint-out/report.json").read_text())["settings"]["method"] == "phi1"
        assert sorted(os.listdir("normint-out")) == ["depth.npy", "depth.png", "notes.txt", "report.json"]

    def test_killed_in_a_new_folder(self, folder, tmp_path):
        program = (
            "import os, signal, sys; from normint import cli; from normint.files import writing as files\n"
            "files.os.rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
            "cli.main(['integrate', 'relief', '--out', 'a/b'])"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert done.returncode == -signal.SIGKILL and not Path("a").exists()
        assert len(os.listdir()) == 2  # relief, and what was left
        assert run(folder, "--out", "a/b") == 0
        assert sorted(os.listdir()) == ["a", "relief"] and len(os.listdir("a/b")) == 2


# What may follow each option: sense and nonsense. No text has a slash, so that all stays in one folder.
OPTIONS = ["mu=1", "beta=1e-300", "nu=-1", "tolerance=0", "scheme=paper", "scheme=slow", "initial=n.npy",
           "initial=depth.npy", "solver=x", "max_iterations=2", "distance=5", "distance=0", "steepest=none",
           "steepest=1e-300", "least_cosine=0.999", "least_cosine=0.5", "border=dropped", "="]  # fmt: skip
FILES = ["n.npy", "depth.npy", "relief/mask.png", "K.txt", "fuzzed.npy", "none", "relief"]
VALUES = {
    "--mask": FILES, "--camera": FILES, "--prior": FILES, "--option": OPTIONS, "--method": list(METHODS),
    "--axes": ["uvz", "xyz", "opencv", "left up away", "up up up"], "--variable": ["N", ""],
    "--prior-weight": ["1", "1e300", "1e-300", "-1", "nan"], "--mesh": ["ply", "glb", ".STL", "x"],
    "--out": ["new", "old", "..", "n.npy", "a/b"],
}  # fmt: skip
TEXT = st.text(st.characters(exclude_characters="/"), max_size=6)
PAIRS = st.sampled_from(sorted(VALUES)).flatmap(
    lambda flag: st.tuples(st.just(flag), st.one_of(*[st.sampled_from(VALUES[flag])] * 9, TEXT))
)
SINGLE = st.tuples(st.sampled_from(["--png", "--tiff", "--force", "--json", "--quiet"]))
LINES = st.lists(st.one_of(*[PAIRS] * 6, SINGLE, SINGLE, st.tuples(TEXT)), max_size=4)
PATHS = ["relief", "n.npy", "n.npy", "fuzzed.npy", "fuzzed.png"]


@settings(max_examples=100)
@given(first=st.sampled_from(PATHS), line=LINES, data=st.binary(max_size=60))
def test_any_command_line(tmp_path_factory, first, line, data):
    top = tmp_path_factory.getbasetemp() / "fuzz"
    home = top / "one" / "two"  # so that ".." is still a place of our own
    if not home.exists():
        home.mkdir(parents=True)
        make(home / "relief")
        np.save(home / "n.npy", NORMALS)
        np.save(home / "depth.npy", 5 + MASK)
        (home / "K.txt").write_text("90 0 11\n0 90 9\n0 0 1")
    for name in ("fuzzed.npy", "fuzzed.png"):
        (home / name).write_bytes(data)
    os.chdir(home)
    before, out, err = contents(top), StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = cli.main(["integrate", first, *sum(line, ())])
        except SystemExit as stop:  # help was asked for
            assert not stop.code
            code = 0
    assert code in (0, 1, 2, 3)
    if code:
        assert err.getvalue().startswith("normint: error: ") and err.getvalue().count("\n") == 1
        assert out.getvalue() == "" and contents(top) == before
    for name in contents(top).keys() - before.keys():
        (top / name).unlink()
