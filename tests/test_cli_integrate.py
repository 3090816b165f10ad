"""`normint integrate`: what it writes is what the package computes; what fails leaves files as they were."""

import dataclasses
import errno
import json
import os
import re
import resource
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import cv2
import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from relief_files import (
    COLUMNS,
    DEPTH,
    MASK,
    NORMALS,
    ROWS,
    XYZ,
    P,
    Q,
    U,
    V,
    as_colours,
    assert_refused,
    contents,
    make,
    run,
    write,
)  # fmt: skip

import normint
from normint import cli
from normint.cli import integrate as command
from normint.cli import outputs
from normint.files import writing
from normint.integration import METHODS
from normint.normals.convert import gradient_to_normals

ALL = ("--png", "--tiff", "--mesh", "ply")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Work in a folder of its own, so that nothing is written into another."""
    monkeypatch.chdir(tmp_path)


def report(out="normint-out"):
    return json.loads(Path(out, "report.json").read_text())


class TestDepth:
    def test_is_that_of_the_surface(self, relief, tmp_path, capsys):
        assert run(relief) == 0
        depth = np.load(tmp_path / "normint-out" / "depth.npy")
        np.testing.assert_array_equal(np.isfinite(depth), MASK)
        # The slopes are linear, so that the mean of two is the difference: only the colours are rounded.
        assert np.abs((depth - DEPTH)[MASK] - (depth - DEPTH)[MASK].mean()).max() < 2e-3
        assert "quadratic: " in capsys.readouterr().out

    @pytest.mark.parametrize("method", METHODS)
    def test_every_method_gives_what_the_package_gives(self, tmp_path, method):
        np.save("n.npy", NORMALS)
        assert run("n.npy", "--axes", "uvz", "--method", method, "--out", "o", "--quiet") == 0
        expected = normint.integrate(P, Q, method=method).depth
        np.testing.assert_allclose(np.load("o/depth.npy"), expected, atol=1e-9)

    def test_options_reach_the_method(self, relief):
        assert run(relief, "--method", "phi1", "--option", "beta=0.3", "--option", "max-iterations=3") == 3
        assert report()["settings"]["options"] == {"beta": 0.3, "max_iterations": 3}
        assert report()["iterations"] == 3

    def test_prior(self, relief):
        np.save("prior.npy", np.where((U == 10) & (V == 12), 70.0, np.nan))
        assert run(relief, "--prior", "prior.npy", "--prior-weight", "1e6") == 0
        assert np.load("normint-out/depth.npy")[10, 12] == pytest.approx(70, abs=1e-3)

    def test_initial_depth_from_a_file(self, relief):
        np.save("start.npy", DEPTH)
        assert run(relief, "--method", "phi2", "--option", "initial=start.npy") == 0

    def test_camera_of_the_folder(self, relief):
        (relief / "K.txt").write_text("900 0 11.5\n0 900 9.5\n0 0 1")
        assert run(relief, "--out", "near") == 0
        assert run(relief, "--camera", "none", "--out", "far") == 0
        near, far = np.load("near/depth.npy"), np.load("far/depth.npy")
        assert (near[MASK] > 0).all() and abs(far[MASK].mean()) < 1e-9
        expected = normint.integrate_normals(
            XYZ, MASK, [[900, 0, 11.5], [0, 900, 9.5], [0, 0, 1]], axes="xyz"
        ).depth
        np.testing.assert_allclose(near, expected, rtol=1e-5)

    def test_pixels_without_normals_are_left_out_and_counted(self, relief, capsys):
        image = as_colours(XYZ, np.uint16)
        image[9:11, 12] = 0
        write(relief / "normal_map.png", image)
        assert run(relief) == 0
        assert "left out 2 of 249 pixels: 2 without a normal" in capsys.readouterr().err
        assert np.isfinite(np.load("normint-out/depth.npy")).sum() == MASK.sum() - 2


class TestAxes:
    def test_the_likely_ones_are_named(self, relief, capsys):
        assert run(relief, "--axes", "directx") == 0
        assert "with --axes 'directx'" in (error := capsys.readouterr().err) and "--axes 'xyz'" in error
        assert report()["warnings"]

    def test_also_where_all_normals_face_away(self, relief, capsys):
        assert_refused(capsys, run(relief, "--axes", "opencv"), "face away", "--axes 'xyz'")

    def test_the_right_ones_are_not_doubted(self, relief, capsys):
        assert run(relief) == 0
        assert capsys.readouterr().err == ""


class TestTaking:
    """What the normal map does not come with: axes, a mask, a pose."""

    def test_axes_are_chosen_and_said(self, relief, capsys):
        assert run(relief) == 0
        assert "xyz: right, up, toward the camera; by its curl, " in capsys.readouterr().out
        settings = report()["settings"]
        assert settings["axes"] == "xyz" and "standard errors before" in settings["axes why"]

    def test_axes_that_cannot_be_chosen_are_asked_for(self, capsys):
        np.save("n.npy", np.full((9, 9, 3), [0.0, 0.6, 0.8]))
        assert_refused(capsys, run("n.npy"), "n.npy", "--axes 'xyz' (right up toward)", "choose one of them")
        assert run("n.npy", "--axes", "OpenGL") == 0

    @pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp"])
    def test_a_white_background(self, tmp_path, suffix, capsys):
        image = np.full((60, 64, 3), 255, np.uint8)
        image[20:40, 20:44] = as_colours(XYZ, np.uint8)
        write(tmp_path / f"n{suffix}", image)
        assert run(f"n{suffix}", "--axes", "xyz") == 0
        assert "border of the normal map is white" in (said := capsys.readouterr().err)
        assert "--background 'white'" in said
        assert run(f"n{suffix}", "--axes", "xyz", "--background", "white", "--force") == 0
        assert "white" not in capsys.readouterr().err
        assert np.isfinite(np.load("normint-out/depth.npy")).mean() < 0.2

    def test_normals_of_the_world(self, capsys):
        turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
        np.save("world.npy", np.where(MASK[..., np.newaxis], XYZ @ turn.T, 0))
        np.savetxt("pose.txt", turn)
        np.save("inverse.npy", turn.T)
        assert run("world.npy", "--axes", "xyz", "--pose", "pose.txt", "--out", "one") == 0
        assert run("world.npy", "--axes", "xyz", "--world-to-camera", "inverse.npy", "--out", "two") == 0
        expected = normint.integrate_normals(XYZ, MASK, axes="xyz").depth
        for folder in ("one", "two"):
            np.testing.assert_allclose(np.load(f"{folder}/depth.npy"), expected, atol=1e-6)
        capsys.readouterr()
        both = run("world.npy", "--pose", "pose.txt", "--world-to-camera", "inverse.npy")
        assert_refused(capsys, both, "both given", expected=2)


class TestFiles:
    def test_16_bits(self, relief):
        assert run(relief, "--png", "--tiff") == 0
        depth, scale = np.load("normint-out/depth.npy"), report()["16 bits"]
        for name in ("depth.png", "depth.tiff"):
            image = cv2.imread(f"normint-out/{name}", cv2.IMREAD_UNCHANGED)
            assert image.dtype == np.uint16
            np.testing.assert_array_equal(image == 0, ~MASK)
            low, high = scale["depth of 1"], scale["depth of 65535"]
            back = low + (image - 1.0) / 65534 * (high - low)
            assert np.abs(back - depth)[MASK].max() <= 0.5001 * (high - low) / 65534

    @pytest.mark.parametrize("suffix", command.MESHES)
    def test_mesh(self, relief, suffix):
        assert run(relief, "--mesh", suffix.upper()) == 0
        mesh = trimesh.load(f"normint-out/mesh.{suffix}", force="mesh")
        depth = np.load("normint-out/depth.npy")
        assert mesh.bounds[:, 2] == pytest.approx([np.nanmin(depth), np.nanmax(depth)], abs=1e-4)

    def test_mesh_is_cut_where_the_method_found_jumps(self):
        vase = normint.surfaces.vase(64)  # before a background, whose distance the slopes do not tell
        np.save("n.npy", gradient_to_normals(vase.p, vase.q))
        faces = {}
        for method in ("quadratic", "mumford_shah"):
            assert run("n.npy", "--axes", "uvz", "--method", method, "--mesh", "ply", "--out", method) == 0
            faces[method] = len(trimesh.load(f"{method}/mesh.ply").faces)
        assert faces["quadratic"] == 2 * 63 * 63
        assert 0 < faces["mumford_shah"] < faces["quadratic"]

    def test_preview(self, relief):
        assert run(relief, "--preview") == 0
        picture = cv2.imread("normint-out/preview.png")
        assert picture.std() > 10 and (picture[[0, -1]] == 255).all() and (picture[:, [0, -1]] == 255).all()
        assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100

    def test_report(self, relief, capsys):
        assert run(relief, "--json", "--png") == 0
        output = capsys.readouterr()
        assert output.err == ""
        told = json.loads(output.out)
        assert told == report()
        assert (told["pixels"], told["rows"], told["columns"]) == (MASK.sum(), ROWS, COLUMNS)
        assert told["converged"] and told["residual"]["mean"] < 1e-3 and told["relative_curl"] < 0.02
        assert sorted(map(os.path.basename, told["files"])) == ["depth.npy", "depth.png", "report.json"]
        assert all(os.path.exists(file) for file in told["files"])
        assert told["settings"]["normals"] == str(relief / "normal_map.png")

    def test_quiet(self, relief, capsys):
        assert run(relief, "--quiet", "--axes", "directx") == 0
        assert capsys.readouterr() == ("", "")

    def test_one_pixel(self, capsys):
        np.save("n.npy", NORMALS[:1, :1])
        assert run("n.npy", "--axes", "uvz", "--preview", "--png") == 0
        capsys.readouterr()
        assert_refused(capsys, run("n.npy", "--axes", "uvz", "--mesh", "ply", "--out", "o"), "no triangle")


class TestProgress:
    line = ("--method", "phi1", "--out")

    def test_a_bar_in_a_terminal_only(self, relief, monkeypatch, capsys):
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        monkeypatch.delenv("CI", raising=False)
        assert run(relief, *self.line, "terminal") == 0
        assert "phi1: " in capsys.readouterr().err
        assert run(relief, *self.line, "quiet", "--quiet") == 0
        monkeypatch.setenv("CI", "true")
        assert run(relief, *self.line, "log") == 0
        assert capsys.readouterr().err == ""

    def test_a_method_that_stopped_early_says_so(self, relief, monkeypatch, capsys):
        stopped = dataclasses.replace(normint.integrate(P, Q, MASK), converged=False)
        monkeypatch.setattr("normint.normals.integrate_normals.integrate_map", lambda *_, **__: stopped)
        assert run(relief) == 3
        assert "not converged after" in capsys.readouterr().err
        assert report()["converged"] is False and len(report()["warnings"]) == 1
        for option, code in {"scheme=paper": 0, "tolerance=0": 0, "max_iterations=5": 3}.items():
            assert run(relief, "--method", "phi1", "--option", option, "--force") == code
            assert ("not converged" in capsys.readouterr().err) == (code == 3)


class TestForce:
    def test_nothing_is_replaced_without_it(self, relief, tmp_path, capsys):
        assert run(relief, "--mesh", "ply") == 0
        before = contents(tmp_path)
        capsys.readouterr()
        assert_refused(capsys, run(relief, "--method", "phi1"), "depth.npy exists; use --force")
        assert contents(tmp_path) == before
        assert run(relief, "--method", "phi1", "--force") == 0
        assert report()["settings"]["method"] == "phi1"
        assert [os.path.basename(file) for file in report()["older files"]] == ["mesh.ply"]
        assert run(relief, "--mesh", "ply", "--force") == 0  # it is still known
        assert len(contents(tmp_path / "normint-out")) == 3

    @pytest.mark.parametrize(
        "other", [None, "[]", '{"files": ["mesh.ply"]}', '{"normint": "1", "files": []}', "{"]
    )
    def test_files_of_others_are_not_replaced_with_it(self, relief, tmp_path, capsys, other):
        (tmp_path / "normint-out").mkdir()
        (tmp_path / "normint-out" / "mesh.ply").write_text("mine")
        if other:
            (tmp_path / "normint-out" / "report.json").write_text(other)
        before = contents(tmp_path)
        for force in ([], ["--force"]):
            code = run(relief, "--mesh", "ply", *force)
            assert_refused(capsys, code, "mesh.ply exists, and no report.json of normint beside it lists it")
            assert contents(tmp_path) == before

    @pytest.mark.parametrize("name", ["depth.npy", "report.json"])
    @pytest.mark.parametrize("kind", ["a pipe", "a link", "a folder"])
    def test_only_plain_files_are_replaced(self, relief, tmp_path, capsys, name, kind):
        assert run(relief) == 0
        capsys.readouterr()
        path = tmp_path / "normint-out" / name
        path.rename(tmp_path / "aside")
        made = {
            "a pipe": os.mkfifo,
            "a link": lambda p: os.symlink(tmp_path / "aside", p),
            "a folder": os.mkdir,
        }
        made[kind](path)
        mode, before = os.lstat(path).st_mode, (tmp_path / "aside").read_bytes()
        assert_refused(capsys, run(relief, "--force"), f"{name} is {kind}; expected a plain file")
        assert os.lstat(path).st_mode == mode and (tmp_path / "aside").read_bytes() == before

    def test_checked_before_the_work(self, relief, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(command, "_read", None)
        (tmp_path / "file").touch()
        (tmp_path / "folder" / "depth.npy").mkdir(parents=True)
        assert_refused(capsys, run(relief, "--out", "file"), "file is a file; expected a folder")
        assert_refused(capsys, run(relief, "--out", "file/below"), "is a file; expected a folder")
        assert_refused(capsys, run(relief, "--out", "folder", "--force"), "depth.npy is a folder")
        monkeypatch.setattr(outputs.os, "access", lambda *_: False)
        assert_refused(capsys, run(relief, "--out", "new"), "cannot be written to")

    def test_a_file_that_appears_during_the_work(self, relief, tmp_path, monkeypatch, capsys):
        def made_meanwhile(*_):
            (tmp_path / "normint-out").mkdir()
            (tmp_path / "normint-out" / "depth.npy").write_text("mine")
            return {}

        monkeypatch.setattr(outputs, "report", made_meanwhile)
        assert_refused(capsys, run(relief), "depth.npy exists")
        assert contents(tmp_path / "normint-out") == {"depth.npy": b"mine"}


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
        ("--axes zyx", "--axes is 'zyx'; expected auto, one of uvz, xyz"),
        ("--mesh 3ds", "--mesh is '3ds'; expected one of ply"),
        ("--prior-weight 1", "--prior-weight is given without --prior; expected both, or neither"),
        ("--prior p.npy --prior-weight nan", "--prior-weight is nan; expected a finite number > 0"),
        ("--prior p.npy --prior-weight x", "invalid float value: 'x'"),
        ("--colour red", "unrecognized arguments: --colour red"),
        ("--mask", "expected one argument"),
    ],
)
def test_wrong_usage(relief, tmp_path, capsys, line, words):
    before = contents(tmp_path)
    assert_refused(capsys, run(relief, *line.split()), words, expected=2)
    assert contents(tmp_path) == before


class TestRefusals:
    def test_methods_that_need_a_rectangle(self, relief, capsys):
        assert_refused(capsys, run(relief, "--method", "dct"), "mask")

    def test_some_normals_face_away(self, capsys):
        normals = NORMALS.copy()
        normals[3, 4, 2] *= -1
        np.save("n.npy", normals)
        assert run("n.npy", "--axes", "uvz", "--out", "one") == 0
        assert "left out 1 of 480 pixels: 1 facing away from the camera" in capsys.readouterr().err
        normals[:2, :, 2] *= -1
        np.save("n.npy", normals)
        advice = "--option least_cosine=0.01"
        wrong = run("n.npy", "--axes", "uvz")
        assert_refused(capsys, wrong, "of 480 pixels face away", "--axes 'uvz'", "the --pose", advice)
        assert run("n.npy", "--axes", "uvz", *advice.split()) == 0

    def test_out_of_memory(self, relief, monkeypatch, capsys):
        monkeypatch.setattr("normint.normals.integrate_normals.integrate_map", fail_with(MemoryError()))
        assert_refused(capsys, run(relief), "relief is too large for the memory")


def fail_with(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.fixture(params=["new folder", "old files"])
def before(request, relief, tmp_path):
    """Write all files with other content or none, and return what is there before the run."""
    if request.param == "old files":
        assert run(relief, *ALL, "--method", "phi1") == 0
    return contents(tmp_path)


class TestInterruptedWrites:
    @pytest.mark.parametrize("stage", ["as_npy", "encode_image", "encode_mesh", "_as_preview", "as_text"])
    def test_full_disk(self, before, relief, tmp_path, monkeypatch, capsys, stage):
        monkeypatch.setattr(outputs, stage, fail_with(OSError(errno.ENOSPC, "No space left on device")))
        capsys.readouterr()
        assert_refused(capsys, run(relief, *ALL, "--preview", "--force"), "No space left on device")
        self.assert_as_before(tmp_path, before)

    def test_files_that_may_not_grow(self, before, relief, tmp_path, capsys):
        # A limit of the system: the write begins, and fails in the middle as on a full disk.
        capsys.readouterr()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
        try:
            code = run(relief, "--force")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert_refused(capsys, code, "depth.npy cannot be written: File too large")
        self.assert_as_before(tmp_path, before)

    @pytest.mark.parametrize("renamed", range(12))
    def test_renaming_stops_half_way(self, before, relief, tmp_path, monkeypatch, capsys, renamed):
        error = KeyboardInterrupt() if renamed % 2 else OSError(errno.EIO, "Input/output error")
        rename, count = os.rename, []

        def stop(source, target):
            count.append(target)
            if len(count) == renamed + 1:
                raise error
            rename(source, target)

        monkeypatch.setattr(writing.os, "rename", stop)
        capsys.readouterr()
        code = run(relief, *ALL, "--force")
        output = capsys.readouterr()
        if code == 0:  # there were not that many
            assert len(count) <= renamed
            return
        assert code == (130 if isinstance(error, KeyboardInterrupt) else 1)
        assert output.out == "" and output.err.count("\n") == 1
        self.assert_as_before(tmp_path, before)

    @pytest.mark.parametrize("where", ["integrate_normals.integrate_map", "taking.take"])
    def test_interrupted_work(self, before, relief, tmp_path, monkeypatch, capsys, where):
        monkeypatch.setattr(f"normint.normals.{where}", fail_with(KeyboardInterrupt()))
        capsys.readouterr()
        assert run(relief, *ALL, "--force") == 130
        assert capsys.readouterr() == ("", "normint: interrupted\n")
        self.assert_as_before(tmp_path, before)

    def assert_as_before(self, tmp_path, before):
        assert contents(tmp_path) == before
        if not any("normint-out" in name for name in before):
            assert not (tmp_path / "normint-out").exists()


@pytest.mark.slow
class TestProcess:
    def test_ctrl_c(self, relief, tmp_path):
        # The process stops itself at a known place, as if by chance there when the user presses the keys.
        program = (
            "import os, signal, sys\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # which scripts may ignore
            "from normint import cli; from normint.files import normal_maps\n"
            "normal_maps.read_stored = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)\n"
            "sys.exit(cli.main(['integrate', 'relief', '--out', 'normint-out']))"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "normint: interrupted\n")
        assert os.listdir(tmp_path) == ["relief"]

    def test_killed_while_it_replaces_files(self, relief, tmp_path, capsys):
        assert run(relief, "--png") == 0
        (tmp_path / "normint-out" / "notes.txt").write_text("mine")
        program = (
            "import os, signal, sys; from normint import cli; from normint.files import writing\n"
            "rename = os.rename\n"
            "def stop(source, target):\n"
            "    if str(target).endswith('depth.png'): os.kill(os.getpid(), signal.SIGKILL)\n"
            "    rename(source, target)\n"
            "writing.os.rename = stop\n"
            "cli.main(['integrate', 'relief', '--out=normint-out', '--png', '--method', 'phi1', '--force'])"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert done.returncode == -signal.SIGKILL
        assert not Path("normint-out/report.json").exists()
        capsys.readouterr()
        assert_refused(capsys, run(relief, "--png"), "depth.npy exists; use --force")
        assert report()["settings"]["method"] == "phi1"
        assert sorted(os.listdir("normint-out")) == ["depth.npy", "depth.png", "notes.txt", "report.json"]

    def test_killed_in_a_new_folder(self, relief, tmp_path):
        program = (
            "import os, signal, sys; from normint import cli; from normint.files import writing\n"
            "writing.os.rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
            "cli.main(['integrate', 'relief', '--out', 'a/b'])"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert done.returncode == -signal.SIGKILL and not Path("a").exists()
        assert len(os.listdir()) == 2  # relief, and what was left
        assert run(relief, "--out", "a/b") == 0
        assert sorted(os.listdir()) == ["a", "relief"] and len(os.listdir("a/b")) == 2


# What may follow each option: sense and nonsense. No text has a slash, so that all stays in one folder.
OPTIONS = ["mu=1", "beta=1e-300", "nu=-1", "tolerance=0", "scheme=paper", "scheme=slow", "initial=n.npy",
           "initial=depth.npy", "solver=x", "max_iterations=2", "distance=5", "distance=0", "steepest=none",
           "steepest=1e-300", "least_cosine=0.999", "least_cosine=0.5", "border=dropped", "="]  # fmt: skip
FILES = ["n.npy", "depth.npy", "relief/mask.png", "K.txt", "fuzzed.npy", "none", "relief"]
VALUES = {
    "--mask": FILES, "--camera": FILES, "--prior": FILES, "--option": OPTIONS, "--method": list(METHODS),
    "--axes": ["uvz", "xyz", "opencv", "left up away", "up up up"], "--variable": ["N", ""],
    "--prior-weight": ["1", "1e300", "1e-300", "-1", "nan"],
    "--prior-scale": ["1", "-2", "0", "1e-300", "inf"],
    "--prior-confidence": FILES, "--points": FILES, "--points-weight": ["1", "1e300", "-1"], "--rays": FILES,
    "--fov": ["60", "1e-300", "180", "nan"], "--fov-axis": ["vertical", "x"], "--depth": ["z", "ray", "x"],
    "--rays-axes": ["xyz", "x"], "--mesh": ["ply", "glb", ".STL", "x"],
    "--out": ["new", "old", "..", "n.npy", "a/b"],
}  # fmt: skip
TEXT = st.text(st.characters(exclude_characters="/"), max_size=6)
PAIRS = st.sampled_from(sorted(VALUES)).flatmap(
    lambda flag: st.tuples(st.just(flag), st.one_of(*[st.sampled_from(VALUES[flag])] * 9, TEXT))
)
SINGLE = st.tuples(st.sampled_from(["--png", "--tiff", "--force", "--json", "--quiet"]))
LINES = st.lists(st.one_of(*[PAIRS] * 6, SINGLE, SINGLE, st.tuples(TEXT)), max_size=4)
PATHS = ["relief", "n.npy", "n.npy", "fuzzed.npy", "fuzzed.png"]


@pytest.mark.slow
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
    if re.search(r"\d maps: ", out.getvalue()):  # a text was taken for one more map: each was tried
        assert all(line.startswith("normint: ") for line in err.getvalue().splitlines())
    elif "--json" in sum(line, ()) and out.getvalue().startswith("["):
        json.loads(out.getvalue())
    elif code and err.getvalue().count("\n") > 1:  # the same, told by errors alone
        assert "--quiet" in sum(line, ()) and out.getvalue() == ""
    elif code:
        assert err.getvalue().startswith("normint: error: ") and err.getvalue().count("\n") == 1
        assert out.getvalue() == "" and contents(top) == before
    for name in contents(top).keys() - before.keys():
        (top / name).unlink()
