"""`normint integrate map.png` alone: what it writes beside the map, over nothing, and what it tells."""

import json
import os

import cv2
import numpy as np
import pytest
import trimesh
from relief_files import MASK, NORMALS, XYZ, as_colours, assert_refused, contents, make, run_beside, write

import normint
from normint.jumps import find_jumps
from normint.normals.convert import gradient_to_normals

MADE = {"map_depth.npy", "map.glb", "map_preview.png", "map_report.json"}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def normal_map(tmp_path):
    return write(tmp_path / "map.png", as_colours(np.where(MASK[..., np.newaxis], XYZ, -1.0), np.uint16))


class TestBeside:
    def test_three_files_and_the_report(self, normal_map, tmp_path, capsys):
        before = normal_map.read_bytes()
        assert run_beside(normal_map) == 0
        assert set(os.listdir(tmp_path)) == MADE | {"map.png"} and normal_map.read_bytes() == before
        depth = np.load("map_depth.npy")
        np.testing.assert_array_equal(np.isfinite(depth), MASK)
        assert len(trimesh.load("map.glb", force="mesh").vertices) == MASK.sum()
        assert cv2.imread("map_preview.png").std() > 10
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[0] for line in lines] == ["size", "axes", "method", "time", "jumps"]
        assert "20 × 24 pixels" in lines[0] and str(MASK.sum()) in lines[0]
        assert "xyz: right, up, toward the camera; by its curl, " in lines[1]
        assert "quadratic: least squares" in lines[2]
        assert "wrote map_depth.npy, map.glb, map_preview.png, map_report.json" in lines[3]
        assert "--method calibrated" in lines[4]

    @pytest.mark.parametrize("kernels", [0, 3])
    def test_its_time_names_what_only_the_first_run_takes(self, normal_map, kernels, capsys, monkeypatch):
        monkeypatch.setattr("normint.compiling.compiled", lambda: kernels)
        assert run_beside(normal_map) == 0
        line = capsys.readouterr().out.splitlines()[3]
        assert ("of it integration and, this once, compiling;" in line) == (kernels > 0)

    def test_of_a_folder_beside_its_map(self, tmp_path):
        folder = make(tmp_path / "relief")
        assert run_beside(folder, "--quiet") == 0
        names = {name.replace("map", "normal_map", 1) for name in MADE}
        assert set(os.listdir(folder)) == names | {"normal_map.png", "mask.png"}
        assert os.listdir(tmp_path) == ["relief"]

    def test_more_formats_if_asked(self, normal_map, tmp_path):
        assert run_beside(normal_map, "--png", "--mesh", "stl", "--quiet") == 0
        assert set(os.listdir(tmp_path)) == MADE - {"map.glb"} | {"map.png", "map.stl", "map_depth.png"}

    def test_never_over_anything(self, normal_map, tmp_path, capsys):
        (tmp_path / "map.glb").write_text("mine")
        for force in ([], ["--force"]):
            before = contents(tmp_path)
            words = "map.glb exists, and no map_report.json of normint beside it lists it", "--out"
            assert_refused(capsys, run_beside(normal_map, *force), *words)
            assert contents(tmp_path) == before

    def test_its_own_with_force_only(self, normal_map, tmp_path, capsys):
        assert run_beside(normal_map, "--quiet") == 0
        before = contents(tmp_path)
        assert_refused(capsys, run_beside(normal_map), "map_depth.npy exists; use --force", "--out")
        assert contents(tmp_path) == before
        assert run_beside(normal_map, "--method", "phi1", "--force", "--quiet") == 0
        assert json.loads((tmp_path / "map_report.json").read_text())["settings"]["method"] == "phi1"

    def test_a_folder_that_cannot_be_written_to_names_out(self, normal_map, monkeypatch, capsys):
        monkeypatch.setattr("normint.cli.outputs.os.access", lambda *_: False)
        assert_refused(capsys, run_beside(normal_map), "cannot be written to", "--out DIR")


class TestJumps:
    def test_where_they_are(self, capsys):
        vase = normint.surfaces.vase(64)
        np.save("n.npy", gradient_to_normals(vase.p, vase.q))
        assert run_beside("n.npy", "--axes", "uvz", "--method", "mumford_shah") == 0
        line = capsys.readouterr().out.splitlines()[4]
        told = json.loads(open("n_report.json").read())["jumps"]
        assert f"longest {told['longest']} px" in line and told["edges"] > 0
        assert f"{100 * told['share']:.2g} % of the edges" in line

    def test_none_is_said(self, capsys):
        np.save("n.npy", NORMALS)
        assert run_beside("n.npy", "--axes", "uvz", "--method", "calibrated") == 0
        assert capsys.readouterr().out.splitlines()[4].split() == ["jumps", "none"]

    @pytest.mark.parametrize(
        ("rows", "columns", "place"),
        [
            ((0, 5), (0, 5), "upper left"),
            ((25, 29), (0, 5), "lower left"),
            ((0, 5), (5, 25), "at the top"),
            ((12, 17), (12, 17), "in the middle"),
            ((0, 29), (24, 28), "on the right"),
            ((0, 29), (0, 29), "all over"),
        ],
    )
    def test_the_place_and_the_length(self, rows, columns, place):
        weights = np.ones((2, 30, 30))
        weights[0][rows[0] : rows[1], columns[0] : columns[1]] = 0.0
        found = find_jumps(np.ones((30, 30), bool), weights)
        assert found.place == place
        assert found.edges == (rows[1] - rows[0]) * (columns[1] - columns[0])
        assert found.share == pytest.approx(found.edges / (2 * 29 * 30))
        assert found.longest == columns[1] - columns[0]  # each line across is apart from the next

    def test_a_line_that_turns_is_one(self):
        weights = np.ones((2, 9, 9))
        weights[0][4, :5] = 0.0
        weights[1][5:, 4] = 0.0
        assert find_jumps(np.ones((9, 9), bool), weights).longest == 9


@pytest.fixture
def vase():
    return normint.surfaces.vase(48)


@pytest.fixture
def result(vase):
    return normint.integrate(vase.p, vase.q, vase.mask)


class TestResults:
    """What an Integration shows and saves."""

    def test_a_picture_in_notebooks_without_matplotlib(self, result, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
        image = cv2.imdecode(np.frombuffer(result._repr_png_(), np.uint8), cv2.IMREAD_COLOR)
        np.testing.assert_array_equal(image[..., ::-1], result.picture())
        assert image.std() > 10

    def test_saved_by_the_name(self, result, vase):
        result.save("z.npy")
        np.testing.assert_array_equal(np.load("z.npy"), result.depth)
        for suffix in ("ply", "obj", "stl", "glb"):
            result.save(f"z.{suffix}")
            assert len(trimesh.load(f"z.{suffix}", force="mesh").faces) == len(result.to_mesh().faces)
        result.save("z.png")
        assert open("z.png", "rb").read() == result._repr_png_()
        with pytest.raises(ValueError, match=r"path is z\.doc; expected a name that ends in \.npy"):
            result.save("z.doc")
        assert not os.path.exists("z.doc")

    def test_meshes_are_cut_where_it_jumps(self, vase):
        found = normint.integrate(vase.p, vase.q, method="calibrated")
        assert len(found.to_mesh().faces) < len(found.to_mesh(weights=None).faces) == 2 * 47 * 47

    def test_a_near_camera_is_remembered(self, vase):
        K = [[400, 0, 24], [0, 400, 24], [0, 0, 1]]
        normals = gradient_to_normals(vase.p, vase.q)
        near = normint.integrate_normals(normals, vase.mask, K, least_cosine=0.05)
        points = near.to_mesh().vertices
        assert (points[:, 2] < 0).all()  # the camera is at the origin
        expected = normint.files.meshes.mesh(near.depth, None, K).vertices
        np.testing.assert_allclose(points, expected)
        assert near._repr_png_() != normint.integrate(vase.p, vase.q, vase.mask)._repr_png_()

    def test_plots(self, result):
        assert len(result.plot(view=(60, -100)).axes) == 1
