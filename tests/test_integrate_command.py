"""`normint integrate`: what it writes is what the package computes, and what fails leaves nothing behind."""

import dataclasses
import json
import os

import cv2
import numpy as np
import pytest
import trimesh
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
    assert_refused,
    contents,
    make,
    run,
)

import normint
from normint.cli import integrate as command
from normint.cli import outputs
from normint.integration import METHODS
from normint.normals import integrate_normals as normal_integration
from normint.normals.convert import gradient_to_normals


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Work in an empty folder, so that nothing is written into another."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def folder(tmp_path):
    """Make a folder with a normal map of 16 bits and a mask."""
    return make(tmp_path / "relief")


class TestDepth:
    def test_is_that_of_the_surface(self, folder, tmp_path, capsys):
        assert run(folder) == 0
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

    def test_options_reach_the_method(self, folder):
        assert run(folder, "--method", "phi1", "--option", "beta=0.3", "--option", "max-iterations=3") == 3
        settings = json.load(open("normint-out/report.json"))
        assert settings["settings"]["options"] == {"beta": 0.3, "max_iterations": 3}
        assert settings["iterations"] == 3

    def test_prior(self, folder):
        np.save("prior.npy", np.where((U == 10) & (V == 12), 70.0, np.nan))
        assert run(folder, "--prior", "prior.npy", "--prior-weight", "1e6") == 0
        assert np.load("normint-out/depth.npy")[10, 12] == pytest.approx(70, abs=1e-3)

    def test_initial_depth_from_a_file(self, folder):
        np.save("start.npy", DEPTH)
        assert run(folder, "--method", "phi2", "--option", "initial=start.npy") == 0

    def test_camera_of_the_folder(self, folder):
        (folder / "K.txt").write_text("900 0 11.5\n0 900 9.5\n0 0 1")
        assert run(folder, "--out", "near") == 0
        assert run(folder, "--camera", "none", "--out", "far") == 0
        near, far = np.load("near/depth.npy"), np.load("far/depth.npy")
        assert (near[MASK] > 0).all() and abs(far[MASK].mean()) < 1e-9
        expected = normint.integrate_normals(
            XYZ, MASK, [[900, 0, 11.5], [0, 900, 9.5], [0, 0, 1]], axes="xyz"
        ).depth
        np.testing.assert_allclose(near, expected, rtol=1e-5)

    def test_pixels_without_normals_are_left_out_and_counted(self, folder, capsys):
        image = cv2.imread(str(folder / "normal_map.png"), cv2.IMREAD_UNCHANGED)
        image[9:11, 12] = 0
        cv2.imwrite(str(folder / "normal_map.png"), image)
        assert run(folder) == 0
        assert "2 pixels of the mask have no normal" in capsys.readouterr().err
        assert np.isfinite(np.load("normint-out/depth.npy")).sum() == MASK.sum() - 2


class TestAxes:
    def test_the_likely_ones_are_named(self, folder, capsys):
        assert run(folder, "--axes", "directx") == 0
        assert "with --axes 'directx'" in (error := capsys.readouterr().err) and "--axes 'xyz'" in error
        assert json.load(open("normint-out/report.json"))["warnings"]

    def test_also_where_all_normals_face_away(self, folder, capsys):
        assert_refused(capsys, run(folder, "--axes", "opencv"), "face away", "--axes 'xyz'")

    def test_the_right_ones_are_not_doubted(self, folder, capsys):
        assert run(folder) == 0
        assert capsys.readouterr().err == ""


class TestFiles:
    def test_16_bits(self, folder):
        assert run(folder, "--png", "--tiff") == 0
        depth, scale = np.load("normint-out/depth.npy"), json.load(open("normint-out/report.json"))["16 bits"]
        for name in ("depth.png", "depth.tiff"):
            image = cv2.imread(f"normint-out/{name}", cv2.IMREAD_UNCHANGED)
            assert image.dtype == np.uint16
            np.testing.assert_array_equal(image == 0, ~MASK)
            low, high = scale["depth of 1"], scale["depth of 65535"]
            back = low + (image - 1.0) / 65534 * (high - low)
            assert np.abs(back - depth)[MASK].max() <= 0.5001 * (high - low) / 65534

    @pytest.mark.parametrize("suffix", command.MESHES)
    def test_mesh(self, folder, suffix):
        assert run(folder, "--mesh", suffix.upper()) == 0
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

    def test_preview(self, folder):
        assert run(folder, "--preview") == 0
        assert cv2.imread("normint-out/preview.png").std() > 10

    def test_report(self, folder, capsys):
        assert run(folder, "--json", "--png") == 0
        output = capsys.readouterr()
        assert output.err == ""
        report = json.loads(output.out)
        assert report == json.load(open("normint-out/report.json"))
        assert (report["pixels"], report["rows"], report["columns"]) == (MASK.sum(), ROWS, COLUMNS)
        assert report["converged"] and report["residual"]["mean"] < 1e-3 and report["relative_curl"] < 0.02
        assert sorted(map(os.path.basename, report["files"])) == ["depth.npy", "depth.png", "report.json"]
        assert all(os.path.exists(file) for file in report["files"])
        assert report["settings"]["normals"] == str(folder / "normal_map.png")

    def test_quiet(self, folder, capsys):
        assert run(folder, "--quiet", "--axes", "directx") == 0
        assert capsys.readouterr() == ("", "")

    def test_one_pixel(self, capsys):
        np.save("n.npy", NORMALS[:1, :1])
        assert run("n.npy", "--axes", "uvz", "--preview", "--png") == 0
        capsys.readouterr()
        assert_refused(capsys, run("n.npy", "--axes", "uvz", "--mesh", "ply", "--out", "o"), "no triangle")


class TestProgress:
    line = ("--method", "phi1", "--out")

    def test_a_bar_in_a_terminal_only(self, folder, monkeypatch, capsys):
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        monkeypatch.delenv("CI", raising=False)
        assert run(folder, *self.line, "terminal") == 0
        assert "phi1: " in capsys.readouterr().err
        assert run(folder, *self.line, "quiet", "--quiet") == 0
        monkeypatch.setenv("CI", "true")
        assert run(folder, *self.line, "log") == 0
        assert capsys.readouterr().err == ""

    def test_a_method_that_stopped_early_says_so(self, folder, monkeypatch, capsys):
        stopped = dataclasses.replace(normint.integrate(P, Q, MASK), converged=False)
        monkeypatch.setattr(normal_integration, "integrate_map", lambda *_, **__: stopped)
        assert run(folder) == 3
        assert "not converged after" in capsys.readouterr().err
        report = json.load(open("normint-out/report.json"))
        assert report["converged"] is False and len(report["warnings"]) == 1
        for option, code in {"scheme=paper": 0, "tolerance=0": 0, "max_iterations=5": 3}.items():
            assert run(folder, "--method", "phi1", "--option", option, "--force") == code
            assert ("not converged" in capsys.readouterr().err) == (code == 3)


class TestForce:
    def test_nothing_is_replaced_without_it(self, folder, tmp_path, capsys):
        assert run(folder, "--mesh", "ply") == 0
        before = contents(tmp_path)
        capsys.readouterr()
        assert_refused(capsys, run(folder, "--method", "phi1"), "depth.npy exists; use --force")
        assert contents(tmp_path) == before
        assert run(folder, "--method", "phi1", "--force") == 0
        report = json.load(open("normint-out/report.json"))
        assert report["settings"]["method"] == "phi1"
        assert [os.path.basename(file) for file in report["older files"]] == ["mesh.ply"]
        assert run(folder, "--mesh", "ply", "--force") == 0  # it is still known
        assert len(contents(tmp_path / "normint-out")) == 3

    @pytest.mark.parametrize(
        "report", [None, "[]", '{"files": ["mesh.ply"]}', '{"normint": "1", "files": []}', "{"]
    )
    def test_files_of_others_are_not_replaced_with_it(self, folder, tmp_path, capsys, report):
        (tmp_path / "normint-out").mkdir()
        (tmp_path / "normint-out" / "mesh.ply").write_text("mine")
        if report:
            (tmp_path / "normint-out" / "report.json").write_text(report)
        before = contents(tmp_path)
        for force in ([], ["--force"]):
            code = run(folder, "--mesh", "ply", *force)
            assert_refused(capsys, code, "mesh.ply exists, and no report.json of normint beside it lists it")
            assert contents(tmp_path) == before

    @pytest.mark.parametrize("name", ["depth.npy", "report.json"])
    @pytest.mark.parametrize("kind", ["a pipe", "a link", "a folder"])
    def test_only_plain_files_are_replaced(self, folder, tmp_path, capsys, name, kind):
        assert run(folder) == 0
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
        assert_refused(capsys, run(folder, "--force"), f"{name} is {kind}; expected a plain file")
        assert os.lstat(path).st_mode == mode and (tmp_path / "aside").read_bytes() == before

    def test_checked_before_the_work(self, folder, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(command, "_read", None)
        (tmp_path / "file").touch()
        (tmp_path / "folder" / "depth.npy").mkdir(parents=True)
        assert_refused(capsys, run(folder, "--out", "file"), "file is a file; expected a folder")
        assert_refused(capsys, run(folder, "--out", "file/below"), "is a file; expected a folder")
        assert_refused(capsys, run(folder, "--out", "folder", "--force"), "depth.npy is a folder")
        monkeypatch.setattr(outputs.os, "access", lambda *_: False)
        assert_refused(capsys, run(folder, "--out", "new"), "cannot be written to")

    def test_a_file_that_appears_during_the_work(self, folder, tmp_path, monkeypatch, capsys):
        def report(*_):
            (tmp_path / "normint-out").mkdir()
            (tmp_path / "normint-out" / "depth.npy").write_text("mine")
            return {}

        monkeypatch.setattr(outputs, "report", report)
        assert_refused(capsys, run(folder), "depth.npy exists")
        assert contents(tmp_path / "normint-out") == {"depth.npy": b"mine"}
