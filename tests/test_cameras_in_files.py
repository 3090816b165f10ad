"""Cameras as people keep them, through files and the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from near_shapes import SHAPE, K, sphere
from relief_files import assert_refused, contents, run, write
from test_rays import error, fisheye, panorama, room

import normint
from normint.files.cameras import read_camera, read_rays
from normint.normals.camera import camera_of_view, projection
from normint.normals.rays import Rays

MATRIX = np.array([[500.0, 0, 320.5], [0, 510.0, 240.25], [0, 0, 1]])
EXTENDED = np.hstack([MATRIX, np.zeros((3, 1))])
SQUARE = np.vstack([EXTENDED, [0, 0, 0, 1]])
TEXTS = {
    "by rows": "500 0 320.5\n0 510 240.25\n0 0 1\n",
    "by columns": "500 0 0\n0 510 0\n320.5 240.25 1\n",
    "y first": "0 510 240.25\n500 0 320.5\n0 0 1",
    "y first, by columns": "0 500 0\n510 0 0\n240.25 320.5 1",
    "rows exchanged": "510 0 240.25\n0 500 320.5\n0 0 1",
    "one line": "500 0 320.5 0 510 240.25 0 0 1",
    "one line by columns": "500,0,0,0,510,0,320.5,240.25,1",
    "as printed": "[[500.    0.   320.5 ]\n [  0.   510.   240.25]\n [  0.     0.     1.  ]]",
    "commas and a comment": "# camera\n5e2, 0, 320.5\n0, 510, 240.25 # y\n\n0, 0, 1",
    "3×4": "\n".join(" ".join(map(str, row)) for row in EXTENDED),
    "4×3": "\n".join(" ".join(map(str, row)) for row in EXTENDED.T),
    "4×4": "\n".join(" ".join(map(str, row)) for row in SQUARE),
    "4×4 by columns": "\n".join(" ".join(map(str, row)) for row in SQUARE.T),
    "12 in a line": " ".join(map(str, EXTENDED.ravel())),
    "12 in a line by columns": " ".join(map(str, EXTENDED.T.ravel())),
    "16 in a line": " ".join(map(str, SQUARE.ravel())),
}
WRONG = {
    "500 0 320\n0 x 240\n0 0 1": "K.txt, line 2, column 2: 'x' is not a number",
    "500 0 320\n0 inf 240\n0 0 1": "K.txt, line 2, column 2: 'inf' is not finite",
    "500 0 320\n0 510 240": "K.txt has 2 × 3 numbers; expected 3 × 3",
    "500 0 320\n0 510 240\n0 0 2": "K.txt is not the matrix of a camera",
    "500 3 320\n0 510 240\n0 0 1": "K.txt is not the matrix of a camera",
    "-500 0 320\n0 510 240\n0 0 1": "K.txt is not the matrix of a camera",
    "500 0 320 7\n0 510 240 0\n0 0 1 0": "K.txt is not the matrix of a camera",
    "# nothing": "K.txt is empty; expected a matrix",
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Work in a folder of its own, so that nothing is written into another."""
    monkeypatch.chdir(tmp_path)


def report(out="normint-out"):
    return json.loads(Path(out, "report.json").read_text())


class TestMatrix:
    @pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
    def test_in_every_order(self, text):
        Path("K.txt").write_text(text)
        np.testing.assert_array_equal(read_camera("K.txt", (480, 640)), MATRIX)

    @pytest.mark.parametrize("text, words", WRONG.items())
    def test_what_is_wrong_is_named(self, text, words):
        Path("K.txt").write_text(text)
        with pytest.raises(ValueError) as refused:
            read_camera("K.txt", (480, 640))
        assert words in str(refused.value)


class TestCommand:
    """A sphere before a near camera, as a folder."""

    @pytest.fixture(autouse=True)
    def files(self, elsewhere):
        self.distance, normals, self.mask = sphere()
        self.normals = np.where(self.mask[..., np.newaxis], normals, 0.0)
        np.save("n.npy", self.normals)
        Path("K.txt").write_text("\n".join(" ".join(map(str, row)) for row in K))
        self.length = np.linalg.norm(projection(K).rays(SHAPE), axis=-1)

    def depth(self, *arguments, out):
        assert run("n.npy", "--axes", "uvz", "--quiet", "--out", out, *arguments) == 0
        return np.load(f"{out}/depth.npy")

    def test_z_depth_and_distance_along_the_ray(self):
        z = self.depth("--camera", "K.txt", out="a")
        np.testing.assert_array_equal(self.depth("--camera", "K.txt", "--depth", "z", out="b"), z)
        ray = self.depth("--camera", "K.txt", "--depth", "ray", "--mesh", "ply", out="c")
        np.testing.assert_allclose(ray, z * self.length, rtol=1e-12)
        assert error(z, self.distance)[0] < 2e-3
        assert report("a")["depth"]["along"].startswith("z") and "ray" in report("c")["depth"]["along"]

    def test_the_mesh_is_the_same_whichever_depth_is_written(self):
        import trimesh

        for kind in ("z", "ray"):
            self.depth("--camera", "K.txt", "--depth", kind, "--mesh", "ply", "--preview", out=kind)
        z, ray = (trimesh.load(f"{kind}/mesh.ply", process=False).vertices for kind in ("z", "ray"))
        np.testing.assert_allclose(z, ray, rtol=1e-6)

    def test_a_field_of_view(self):
        found = self.depth("--fov", "20", "--fov-axis", "vertical", out="a")
        camera = camera_of_view(20, SHAPE, "vertical")
        expected = normint.integrate_normals(self.normals, camera=camera, check_axes=False).depth
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        np.testing.assert_allclose(report("a")["settings"]["camera"], camera)
        self.depth("--fov", "20", out="b")
        np.testing.assert_allclose(report("b")["settings"]["camera"], camera_of_view(20, SHAPE))

    def test_a_field_of_view_goes_before_the_camera_of_the_folder(self):
        folder = Path("folder")
        folder.mkdir()
        Path("n.npy").rename(folder / "normal_map.npy")
        Path("K.txt").rename(folder / "K.txt")
        assert run("folder", "--axes", "uvz", "--fov", "20") == 0
        np.testing.assert_allclose(report()["settings"]["camera"], camera_of_view(20, SHAPE))

    def test_rays_of_a_pinhole(self):
        z = self.depth("--camera", "K.txt", out="a")
        np.save("rays.npy", projection(K).rays(SHAPE)[..., [1, 0, 2]] * [1, 1, -1])
        ray = self.depth("--rays", "rays.npy", out="b")
        assert error(ray, z * self.length)[0] < 2e-5
        assert error(self.depth("--rays", "rays.npy", "--depth", "z", out="c"), z)[0] < 2e-5
        np.save("up.npy", projection(K).rays(SHAPE)[..., [1, 0, 2]] * [1, -1, 1])
        up = self.depth("--rays", "up.npy", "--rays-axes", "xyz", out="d")
        np.testing.assert_allclose(up, ray)
        assert report("b")["settings"]["rays"] == "rays.npy"

    @pytest.mark.parametrize(
        "line, words",
        [
            ("--fov 60 --camera K.txt", "--camera and --fov both say what the camera is"),
            ("--fov 60 --rays r.npy", "--fov and --rays both say what the camera is"),
            ("--fov 180", "--fov is 180; expected degrees between 0 and 180, or --rays"),
            ("--fov nan", "--fov is nan"),
            ("--fov wide", "invalid float value: 'wide'"),
            ("--fov 60 --fov-axis up", "--fov-axis is 'up'; expected horizontal or vertical or diagonal"),
            ("--fov-axis vertical", "--fov-axis is given without --fov"),
            ("--rays-axes xyz", "--rays-axes is given without --rays"),
            ("--rays r.npy --rays-axes abc", "--rays-axes is 'abc'; expected"),
            ("--camera K.txt --depth x", "--depth is 'x'; expected z or ray"),
        ],
    )
    def test_wrong_usage(self, tmp_path, capsys, line, words):
        before = contents(tmp_path)
        assert_refused(capsys, run("n.npy", *line.split()), words, expected=2)
        assert contents(tmp_path) == before

    def test_refusals(self, capsys):
        assert_refused(capsys, run("n.npy", "--axes", "uvz", "--depth", "ray"), "'ray' without a camera")
        np.save("r.npy", projection(K).rays(SHAPE)[:, :-1])
        assert_refused(capsys, run("n.npy", "--rays", "r.npy"), "r.npy has shape (80, 95, 3)", "(80, 96, 3)")
        np.save("r.npy", projection(K).rays(SHAPE)[..., [1, 0, 2]])
        assert_refused(capsys, run("n.npy", "--rays", "r.npy"), "r.npy: rays run through", "mirror")
        assert_refused(capsys, run("n.npy", "--rays", "none.npy"), "none.npy is missing")


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".mat", ".exr", ".tiff"])
def test_rays_in_every_format(suffix):
    rays = fisheye(64).astype(np.float32)
    path = write(Path(f"rays{suffix}"), rays)
    np.testing.assert_allclose(read_rays(path, (64, 64)).directions, Rays(rays).directions, atol=1e-7)


def test_rays_with_the_components_first():
    np.save("rays.npy", np.moveaxis(fisheye(64), 2, 0))
    np.testing.assert_allclose(read_rays("rays.npy", (64, 64)).directions, Rays(fisheye(64)).directions)


def test_rays_in_colours_are_refused():
    path = write(Path("rays.png"), np.zeros((8, 8, 3), np.uint16))
    with pytest.raises(ValueError, match="rays.png has numbers of type uint16; expected real numbers"):
        read_rays(path, (8, 8))


@pytest.mark.parametrize("rays", [panorama(128), fisheye(96)], ids=["panorama", "fisheye"])
def test_a_room_from_files_to_files(rays):
    truth, normals = room(rays)
    np.savez("normals.npz", normals=normals)
    np.save("rays.npy", rays)
    given = ("--rays", "rays.npy", "--option", "distance=3", "--mesh", "glb", "--preview")
    assert run("normals.npz", "--axes", "opencv", *given) == 0
    depth = np.load("normint-out/depth.npy")
    np.testing.assert_array_equal(np.isfinite(depth), np.isfinite(truth))
    assert error(depth, truth)[1] < 2e-3
    assert np.exp(np.nanmean(np.log(depth))) == pytest.approx(3)
    assert report()["depth"]["along"] == "the ray of each pixel"
