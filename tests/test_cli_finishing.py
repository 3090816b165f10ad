"""`normint integrate` makes surfaces worth keeping: meshes, height maps, tiles, and without a bend."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
import trimesh
from relief_files import MASK, XYZ, as_colours, assert_refused, contents, run, write
from test_solids import corner_marks, seen_colours

from normint.normals.convert import gradient_to_normals

CAMERA = "300 0 12\n0 300 10\n0 0 1"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Work in a folder of its own, so that nothing is written into another."""
    monkeypatch.chdir(tmp_path)


def report(out="normint-out"):
    return json.loads(Path(out, "report.json").read_text())


def depth(out="normint-out"):
    return np.load(Path(out, "depth.npy"))


def save_slopes(path, p, q):
    np.save(path, gradient_to_normals(p, q))
    return path, "--axes", "uvz"


class TestMeshes:
    def test_a_solid_for_printing(self, relief, capsys):
        assert run(relief, "--mesh", "stl", "--solid", "--mm-per-pixel", 0.5) == 0
        solid = trimesh.load("normint-out/mesh.stl")
        assert solid.is_watertight and solid.volume > 0
        told = report()["mesh"]
        assert told["closed"] and told["unit"] == "mm" and told["cut"] == "never"
        np.testing.assert_allclose(solid.extents, told["size"], rtol=1e-5)
        np.testing.assert_allclose(solid.extents[:2], 0.5 * np.ptp(np.argwhere(MASK), axis=0)[::-1])
        assert "mm, closed" in capsys.readouterr().out

    def test_the_base_is_in_millimetres(self, relief):
        assert run(relief, "--mesh", "stl", "--base", 3, "--dpi", 254) == 0
        high = trimesh.load("normint-out/mesh.stl").extents[2]
        assert high == pytest.approx(3 + 0.1 * np.nanmax(depth()) - 0.1 * np.nanmin(depth()), rel=1e-5)
        assert report()["mm per pixel"] == pytest.approx(0.1)

    @pytest.mark.parametrize("suffix", ["glb", "obj"])
    def test_a_texture(self, relief, suffix):
        (relief / "mask.png").unlink()
        write(Path("photo.png"), corner_marks(40, 48))
        assert run(relief, "--mesh", suffix, "--texture", "photo.png") == 0
        read = trimesh.load(f"normint-out/mesh.{suffix}", force="mesh", process=False)
        assert seen_colours(read) == [[[255, 0, 0]], [[0, 255, 0]], [[0, 0, 255]], [[90, 90, 90]]]
        names = {Path(name).name for name in report()["files"]}
        assert names == {path.name for path in Path("normint-out").iterdir()}
        assert ("mesh.mtl" in names) == (suffix == "obj")
        assert run(relief, "--mesh", suffix, "--texture", "photo.png", "--force") == 0

    def test_16_bits_and_jpeg_are_pictures_too(self, relief):
        picture = corner_marks(20, 24)
        write(Path("photo.png"), picture.astype(np.uint16) * 257)
        cv2.imwrite("photo.jpg", picture[..., ::-1])
        for name in ("photo.png", "photo.jpg"):
            assert run(relief, "--mesh", "glb", "--texture", name, "--out", name[:-4] + name[-3:]) == 0

    def test_few_triangles(self, relief):
        assert run(relief, "--mesh", "ply", "--triangles", 200) == 0
        assert len(trimesh.load("normint-out/mesh.ply").faces) <= 204
        assert report()["mesh"]["triangles"] <= 204
        assert report()["warnings"] == []

    def test_more_than_asked_for_is_said(self, relief, capsys):
        assert run(relief, "--mesh", "ply", "--triangles", 10) == 0
        assert "its outline needs them" in capsys.readouterr().err

    def test_cuts_can_be_left_out(self, tmp_path):
        u, v = np.mgrid[:40, :40].astype(float)
        q = np.where(v < 20, 0.5, -0.5) + 0 * u
        named = save_slopes("n.npy", 0 * q, q)
        wanted = ("--method", "mumford_shah", "--mesh", "ply")
        prior = np.where(v < 20, 0.0, 30.0) + np.where(v < 20, 0.5 * v, -0.5 * v)
        np.save("prior.npy", prior)
        held = ("--prior", "prior.npy", "--prior-weight", 0.1)
        assert run(*named, *wanted, *held, "--out", "cut") == 0
        assert run(*named, *wanted, *held, "--mesh-cut", "never", "--out", "whole") == 0
        cut, whole = (trimesh.load(f"{name}/mesh.ply") for name in ("cut", "whole"))
        assert (cut.body_count, whole.body_count) == (2, 1)
        assert (report("cut")["mesh"]["cut"], report("whole")["mesh"]["cut"]) == ("jumps", "never")

    def test_a_near_camera_has_its_own_unit(self, relief, capsys):
        (relief / "K.txt").write_text(CAMERA)
        assert run(relief, "--mesh", "stl", "--solid", "--option", "distance=100", "--out", "near") == 0
        assert trimesh.load("near/mesh.stl").is_watertight and report("near")["mesh"]["unit"] == "any"
        capsys.readouterr()
        code = run(relief, "--mesh", "stl", "--mm-per-pixel", 1)
        assert_refused(capsys, code, "--mm-per-pixel", "camera", "distance=", "--camera none")
        assert not Path("normint-out").exists()


class TestHeightMaps:
    KINDS = {
        "png8": "height8.png",
        "png16": "height16.png",
        "tiff": "height16.tiff",
        "tiff32": "height32.tiff",
    }

    def test_white_is_near(self, relief, capsys):
        assert run(relief, *(word for kind in self.KINDS for word in ("--height-map", kind))) == 0
        z = depth()
        low, high = np.nanmin(z), np.nanmax(z)
        for kind, name in self.KINDS.items():
            image = cv2.imread(f"normint-out/{name}", cv2.IMREAD_UNCHANGED)
            types = {"png8": np.uint8, "png16": np.uint16, "tiff": np.uint16, "tiff32": np.float32}
            assert image.dtype == types[kind]
            white = high - low if image.dtype == np.float32 else np.iinfo(image.dtype).max
            assert image.max() == pytest.approx(white) and (image[~MASK] == 0).all()
            step = 1e-4 if image.dtype == np.float32 else 0.51 * (high - low) / white
            assert np.abs(image / white * (high - low) - (z - low))[MASK].max() <= step
        assert report()["height maps"]["range"] == {"pixels": pytest.approx(high - low)}
        assert "white is near, range" in capsys.readouterr().out

    def test_exr_in_millimetres(self, relief):
        pytest.importorskip("OpenEXR")
        from normint.files.exr import read_exr

        assert run(relief, "--height-map", "EXR", "--mm-per-pixel", 0.2) == 0
        image = read_exr("normint-out/height32.exr")["Y"]
        z = depth()
        np.testing.assert_allclose(image[MASK], 0.2 * (z - np.nanmin(z))[MASK], rtol=1e-5, atol=1e-6)
        told = report()["height maps"]["range"]
        assert told["mm"] == pytest.approx(0.2 * told["pixels"]) == pytest.approx(image.max(), rel=1e-5)

    @pytest.mark.parametrize("near", ["white", "black"])
    def test_near_is_the_small_distance_of_a_camera(self, relief, near):
        (relief / "K.txt").write_text(CAMERA)
        assert run(relief, "--height-map", "png16", "--height-near", near) == 0
        image = cv2.imread("normint-out/height16.png", cv2.IMREAD_UNCHANGED)
        place = np.unravel_index(np.nanargmin(depth()), MASK.shape)
        assert image[place] == (65535 if near == "white" else 0)

    def test_the_old_flags_are_as_they_were(self, relief):
        assert run(relief, "--png", "--tiff", "--height-map", "png16") == 0
        assert {"depth.png", "depth.tiff", "height16.png"} < {
            path.name for path in Path("normint-out").iterdir()
        }


class TestTiles:
    def test_opposite_sides_meet(self, capsys):
        u, v = np.mgrid[:32, :48].astype(float)
        z = 2 * np.sin(2 * np.pi * u / 32) * np.cos(4 * np.pi * v / 48)
        along = 2 * np.tan(np.pi / 32), 2 * np.tan(2 * np.pi / 48)
        p = 2 * along[0] * np.cos(2 * np.pi * u / 32) * np.cos(4 * np.pi * v / 48)
        q = -2 * along[1] * np.sin(2 * np.pi * u / 32) * np.sin(4 * np.pi * v / 48)
        assert run(*save_slopes("n.npy", p + 0.05, q), "--tile", "--height-map", "png16") == 0
        np.testing.assert_allclose(depth(), z, atol=1e-9)
        told = report()["tile"]
        assert told["mean slopes removed"] == pytest.approx([0.05, 0.0], abs=1e-9)
        assert told["residual of the seam"] < 1e-9 and told["residual inside"] < 1e-9
        assert report()["settings"]["method"] == "dct"
        assert "mean slopes 0.05" in capsys.readouterr().out

    def test_noise_does_not_open_the_seam(self):
        rng = np.random.default_rng(0)
        p, q = 0.2 * rng.standard_normal((2, 40, 50))
        assert run(*save_slopes("n.npy", p, q), "--tile", "--flatten", "highpass:20") == 0
        told = report()["tile"]
        assert told["residual of the seam"] < 1.3 * told["residual inside"]
        z = depth()
        assert np.abs(z[-1] - z[0]).mean() < 1.5 * np.abs(np.diff(z, axis=0)).mean()

    def test_holes_and_cameras_are_refused(self, relief, capsys):
        assert_refused(capsys, run(relief, "--tile"), "--tile needs a normal at every pixel")
        (relief / "mask.png").unlink()
        (relief / "K.txt").write_text(CAMERA)
        assert_refused(capsys, run(relief, "--tile"), "--tile", "camera", "--camera none")
        assert not Path("normint-out").exists()


class TestFlattening:
    def bent(self):
        u, v = np.mgrid[:40, :50].astype(float)
        waves = np.sin(u) * np.sin(v)
        p = 0.3 + 0.02 * u + 0.3 * np.cos(u) * np.sin(v)
        q = -0.1 - 0.01 * v + 0.3 * np.sin(u) * np.cos(v)
        return save_slopes("n.npy", p, q), 0.3 * waves

    @pytest.mark.parametrize("shape, most", [("plane", 8), ("quadric", 0.3), ("highpass:30", 0.8)])
    def test_the_bend_goes(self, shape, most, capsys):
        named, waves = self.bent()
        assert run(*named, "--out", "bent") == 0
        assert run(*named, "--flatten", shape, "--mm-per-pixel", 0.1) == 0
        assert np.ptp(depth("bent") - waves) > 20
        assert np.ptp(depth() - waves) < most
        told = report()["flattened"]
        assert told["by"] == shape
        removed = told["removed, peak to valley"]
        assert removed["pixels"] == pytest.approx(np.ptp(depth("bent") - depth()))
        assert removed["mm"] == pytest.approx(0.1 * removed["pixels"])
        assert report()["residual"] == report("bent")["residual"], "it is of the slopes as they are"
        assert f"flattened by {shape}" in capsys.readouterr().out

    def test_points_from_the_command_line_or_a_file(self):
        named, _ = self.bent()
        Path("points.csv").write_text("row,column\n3,4\n30,10\n20,45\n")
        assert run(*named, "--flatten-points", "3,4 30,10 20,45", "--out", "a") == 0
        assert run(*named, "--flatten-points", "points.csv", "--out", "b") == 0
        np.testing.assert_allclose(depth("a")[[3, 30, 20], [4, 10, 45]], 0, atol=1e-9)
        np.testing.assert_array_equal(depth("a"), depth("b"))
        assert report("a")["flattened"]["by"] == "points"

    def test_a_camera_is_refused(self, relief, capsys):
        (relief / "K.txt").write_text(CAMERA)
        assert_refused(capsys, run(relief, "--flatten", "plane"), "--flatten is given with a camera")
        assert run(relief, "--flatten", "plane", "--camera", "none") == 0


@pytest.mark.parametrize(
    "words, expected",
    [
        (["--triangles", "100"], "--triangles is about a mesh"),
        (["--solid"], "--base is about a mesh"),
        (["--texture", "x.png"], "--texture is about a mesh"),
        (["--mesh-cut", "never"], "--mesh-cut is about a mesh"),
        (["--mesh", "stl", "--base", "thick"], "--base is thick; expected a finite number > 0 or auto"),
        (["--mesh", "stl", "--base", "-1"], "--base is -1"),
        (["--mesh", "stl", "--triangles", "1"], "--triangles is 1"),
        (["--mm-per-pixel", "0"], "--mm-per-pixel is 0"),
        (["--mm-per-pixel", "1", "--dpi", "300"], "both given"),
        (["--height-map", "gif"], "--height-map is 'gif'; expected one of png8"),
        (["--tile", "--method", "phi1"], "--tile is by --method dct"),
        (["--tile", "--flatten", "plane"], "would open the seam"),
        (["--flatten", "cubic"], "--flatten is 'cubic'"),
        (["--flatten", "highpass"], "highpass:64"),
        (["--flatten", "plane:64"], "--flatten is 'plane:64'"),
        (["--flatten", "highpass:x"], "--flatten highpass is x"),
        (["--flatten", "plane", "--flatten-points", "1,1 2,2 3,3"], "both given"),
    ],
)
def test_wrong_usage_is_refused_before_any_work(relief, capsys, words, expected):
    before = contents(Path())
    assert_refused(capsys, run(relief, *words), expected, expected=2)
    assert contents(Path()) == before


@pytest.mark.parametrize(
    "words, expected",
    [
        (["--mesh", "glb", "--texture", "none.png"], "none.png"),
        (["--mesh", "glb", "--texture", "small.png"], "expected the view of the depth map"),
        (["--flatten-points", "1,1 2,2"], "expected three or more"),
        (["--flatten-points", "10,10 10,12 900,12"], "no depth at row 900"),
        (["--flatten-points", "a,b c,d e,f"], "cannot be read as pixels"),
        (["--flatten-points", "none.csv"], "none.csv"),
    ],
)
def test_files_that_do_not_fit_are_refused(relief, capsys, words, expected):
    write(Path("small.png"), as_colours(XYZ, np.uint8)[:5, :20])
    assert_refused(capsys, run(relief, *words), expected)
    assert not Path("normint-out").exists()


@pytest.mark.parametrize(
    "words, library, extra",
    [
        (["--mesh", "glb", "--triangles", "100"], "fast_simplification", "mesh"),
        (["--mesh", "glb", "--texture", "x.png"], "PIL", "mesh"),
        (["--height-map", "exr"], "OpenEXR", "exr"),
    ],
)
def test_a_missing_library_is_said_before_any_work(relief, capsys, monkeypatch, words, library, extra):
    from normint import extras

    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    assert_refused(capsys, run(relief, *words), library, f"pip install 'normint[{extra}]'")
