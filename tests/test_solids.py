"""Meshes to keep: textured, in millimetres, with few triangles, closed for printing."""

import numpy as np
import pytest
import trimesh
from scipy.ndimage import gaussian_filter

from normint.files.meshes import SUFFIXES, mesh, write_mesh
from normint.files.triangles import grid_triangles, outline, simplified
from normint.jumps import joined, pieces

K = [[300.0, 0, 20.0], [0, 280.0, 15.0], [0, 0, 1]]
ROWS, COLUMNS = 60, 80
U, V = np.mgrid[:ROWS, :COLUMNS].astype(float)
BUMP = 8 * np.exp(-((U - 20) ** 2 + (V - 25) ** 2) / 60)


def holes_and_islands(kind, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "islands":
        mask = gaussian_filter(rng.standard_normal((ROWS, COLUMNS)), 4) > -0.01
    elif kind == "crumbs":
        mask = rng.random((ROWS, COLUMNS)) < 0.85
    elif kind == "corners":  # parts that touch in points
        mask = (U // 5 + V // 5) % 2 == 0
    else:
        mask = (U - 30) ** 2 / 28**2 + (V - 40) ** 2 / 38**2 < 1
        mask[35:45, 30:40] = False
    return mask


def some_cuts(seed=0):
    rng = np.random.default_rng(seed)
    right = np.ones((ROWS, COLUMNS))
    right[:, 50] = 0.0
    return np.where(rng.random((ROWS, COLUMNS)) < 0.02, 0.0, 1.0), right


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("triangles", [None, 3000])
@pytest.mark.parametrize("kind", ["ellipse", "islands", "crumbs", "corners"])
def test_a_solid_is_watertight_in_memory_and_from_stl(tmp_path, kind, triangles, cut):
    depth = np.where(holes_and_islands(kind), BUMP + 5 * (V > 50), np.nan)
    solid = mesh(depth, weights=some_cuts() if cut else None, base=4.0, triangles=triangles)
    assert solid.is_watertight and solid.is_winding_consistent and solid.volume > 0
    for suffix in (".stl", ".obj"):
        write_mesh(tmp_path / f"solid{suffix}", solid)
        read = trimesh.load(tmp_path / f"solid{suffix}", force="mesh")
        assert read.is_watertight and read.is_winding_consistent
        assert read.volume == pytest.approx(solid.volume, rel=1e-4)


def test_a_solid_has_the_volume_below_its_surface():
    mask = holes_and_islands("ellipse")
    flat = mesh(np.where(mask, 3.0, np.nan), base=4.0)
    area = mesh(np.where(mask, 3.0, np.nan)).area
    assert flat.volume == pytest.approx(4.0 * area)
    np.testing.assert_allclose(flat.bounds[:, 2], [-1.0, 3.0])
    assert mesh(BUMP, base="auto").bounds[0, 2] == pytest.approx(-0.05 * (COLUMNS - 1), abs=1e-3)


@pytest.mark.parametrize("triangles", [None, 2000])
def test_a_solid_of_a_near_camera_goes_back_along_the_rays(triangles):
    distance = np.where(holes_and_islands("ellipse"), 300 - BUMP, np.nan)
    solid = mesh(distance, camera=K, base=10.0, triangles=triangles)
    assert solid.is_watertight and solid.volume > 0
    floor = solid.vertices[solid.vertices[:, 2] == solid.bounds[0, 2]]
    assert solid.bounds[0, 2] == pytest.approx(-310)
    places = floor[:, :2] / -floor[:, 2:] * [300, -280] + [20, 15]
    if triangles is None:
        np.testing.assert_allclose(places, np.round(places), atol=0.06)  # the gaps where parts touch


def test_islands_become_bodies_and_cuts_go_through():
    whole = mesh(BUMP, base=2.0)
    assert whole.body_count == 1
    down, right = np.ones((2, ROWS, COLUMNS))
    right[:, 50] = 0.0
    assert mesh(BUMP, base=2.0, weights=(down, right)).body_count == 2


class TestFewTriangles:
    def test_there_are_as_many_as_asked_for_and_the_outline_stays(self):
        depth = np.where(holes_and_islands("ellipse"), BUMP, np.nan)
        full, few = mesh(depth), mesh(depth, triangles=1500)
        assert 1300 < len(few.faces) <= 1530
        edges = [{tuple(p) for p in np.round(m.vertices[outline(m.faces)[:, 0], :2])} for m in (full, few)]
        assert edges[0] == edges[1]

    def test_they_are_where_the_detail_is(self):
        waves = np.sin(U) * np.sin(V) * (V >= 40)
        few = mesh(waves, triangles=4000)
        assert np.mean(few.triangles_center[:, 0] > 39) > 0.85
        smooth = mesh(BUMP, triangles=1500)
        near = np.hypot(smooth.vertices[:, 0] - 25, smooth.vertices[:, 1] + 20)
        inner = (smooth.vertices[:, 0] % 79 > 0) & (smooth.vertices[:, 1] % 59 > 0)
        assert np.mean(near[inner] < 20) > 0.8

    @pytest.mark.parametrize("camera", [None, K])
    def test_they_are_on_the_surface_and_shaded_like_it(self, camera):
        depth = BUMP if camera is None else 300 - BUMP
        full, few = mesh(depth, camera=camera), mesh(depth, camera=camera, triangles=2000)
        assert len(few.faces) <= 2040
        _, index = trimesh.proximity.ProximityQuery(full).vertex(few.vertices)
        plane = np.einsum("ij,ij->i", few.vertices - full.vertices[index], full.vertex_normals[index])
        assert np.abs(plane).max() < 0.1
        assert (
            np.degrees(
                np.arccos(np.einsum("ij,ij->i", few.vertex_normals, full.vertex_normals[index]).clip(-1, 1))
            ).max()
            < 25
        )
        # Textures lie where they lay.
        np.testing.assert_allclose(few.visual.uv, full.visual.uv[index], atol=0.8 / ROWS)
        assert (few.face_normals @ [0, 0, 1] > 0).all()

    def test_not_more_than_there_are(self):
        assert len(mesh(BUMP, triangles=10**6).faces) == 2 * 59 * 79

    def test_a_rectangle_may_have_very_few(self):
        u, v = np.mgrid[:300, :300]
        few = mesh(10 * np.sin(u / 20) * np.cos(v / 15), triangles=800)
        assert len(few.faces) <= 816  # its outline alone has 1196 sides
        np.testing.assert_allclose(few.extents[:2], 299, atol=3)

    def test_no_side_has_three_triangles(self):
        mask = holes_and_islands("crumbs")
        points = np.concatenate([np.argwhere(mask), BUMP[mask][:, np.newaxis]], axis=1)
        _, faces = simplified(points, grid_triangles(mask, *joined(mask)), 500, keep_outline=False)
        sides = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        assert np.unique(sides, axis=0, return_counts=True)[1].max() <= 2


def test_the_outline_has_the_sides_of_one_triangle_only():
    rng = np.random.default_rng(1)
    for _ in range(20):
        mask = rng.random((9, 9)) < 0.8
        faces = grid_triangles(mask, *joined(mask))
        sides = [(f[k], f[(k + 1) % 3]) for f in faces.tolist() for k in range(3)]
        expected = {(a, b) for a, b in sides if (b, a) not in sides}
        assert {tuple(side) for side in outline(faces).tolist()} == expected


def corner_marks(rows=ROWS, columns=COLUMNS):
    """Return a picture whose upper left is red, upper right green, lower left blue and lower right grey."""
    picture = np.full((rows, columns, 3), 90, np.uint8)
    half, middle = rows // 2, columns // 2
    picture[:half, :middle], picture[:half, middle:], picture[half:, :middle] = (
        [255, 0, 0], [0, 255, 0], [0, 0, 255],
    )  # fmt: skip
    return picture


def seen_colours(read):
    """Return the colours of a mesh in its four quarters, looked up as a viewer does."""
    material = read.visual.material
    picture = getattr(material, "baseColorTexture", None) or material.image
    image, uv = np.asarray(picture.convert("RGB")), read.visual.uv
    rows = np.clip(((1 - uv[:, 1]) * len(image)).astype(int), 0, len(image) - 1)
    columns = np.clip((uv[:, 0] * image.shape[1]).astype(int), 0, image.shape[1] - 1)
    colours, middle = image[rows, columns], read.bounds.mean(axis=0)
    place = read.vertices - middle
    far = np.abs(place[:, :2]).min(axis=1) > 0.05 * np.ptp(read.vertices[:, 0])
    top, left = place[:, 1] > 0, place[:, 0] < 0
    quarters = [far & top & left, far & top & ~left, far & ~top & left, far & ~top & ~left]
    return [np.unique(colours[quarter], axis=0).tolist() for quarter in quarters]


@pytest.mark.parametrize("suffix", [".glb", ".obj"])
@pytest.mark.parametrize("options", [{}, {"triangles": 1500}, {"base": 5.0}, {"camera": K}])
@pytest.mark.parametrize("size", [1, 3])
def test_a_texture_is_upright_and_not_mirrored(tmp_path, suffix, options, size):
    depth = 300 - BUMP if "camera" in options else BUMP
    made = mesh(depth, texture=corner_marks(size * ROWS, size * COLUMNS), **options)
    write_mesh(tmp_path / f"statue{suffix}", made)
    names = {file.name for file in tmp_path.iterdir()}
    assert names == (
        {"statue.glb"} if suffix == ".glb" else {"statue.obj", "statue.mtl", "statue_texture.png"}
    )
    read = trimesh.load(tmp_path / f"statue{suffix}", force="mesh", process=False)
    assert seen_colours(read) == [[[255, 0, 0]], [[0, 255, 0]], [[0, 0, 255]], [[90, 90, 90]]]


@pytest.mark.parametrize("suffix", [".ply", ".obj", ".glb"])
def test_files_hold_normals_and_texture_coordinates(tmp_path, suffix):
    few = mesh(BUMP, triangles=1500)
    write_mesh(tmp_path / f"statue{suffix}", few)
    read = trimesh.load(tmp_path / f"statue{suffix}", process=False)
    read = next(iter(read.geometry.values())) if isinstance(read, trimesh.Scene) else read
    np.testing.assert_allclose(read.vertex_normals, few.vertex_normals, atol=1e-4)
    np.testing.assert_allclose(read.visual.uv, few.visual.uv, atol=1e-5)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_real_units(tmp_path, suffix):
    made = mesh(BUMP, mm_per_pixel=0.5, base=2.0)
    np.testing.assert_allclose(made.extents[:2], [39.5, 29.5])
    assert made.extents[2] == pytest.approx(0.5 * np.ptp(BUMP) + 2.0), "the base is in millimetres, too"
    write_mesh(tmp_path / f"statue{suffix}", made)
    read = trimesh.load(tmp_path / f"statue{suffix}", force="mesh")
    metres = 0.001 if suffix == ".glb" else 1.0
    np.testing.assert_allclose(read.extents, metres * made.extents, rtol=1e-4)


def test_a_mesh_of_other_makers_can_be_written(tmp_path):
    write_mesh(tmp_path / "box.ply", trimesh.creation.box())
    write_mesh(tmp_path / "box.obj", trimesh.creation.box())
    assert trimesh.load(tmp_path / "box.ply").volume == pytest.approx(1)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"base": -1}, "base is -1; expected a finite number > 0"),
        ({"base": "thick"}, "base is 'thick'"),
        ({"triangles": 2}, "triangles is 2; expected a whole number"),
        ({"mm_per_pixel": 0}, "mm_per_pixel is 0"),
        ({"mm_per_pixel": 1.0, "camera": K}, "mm_per_pixel is given with a camera"),
        (
            {"texture": np.zeros((10, 10, 3), np.uint8)},
            "texture has 10 rows and 10 columns; expected the view",
        ),
        ({"texture": np.full((ROWS, COLUMNS), 7.0)}, "outside 0 to 1"),
        ({"texture": np.zeros((ROWS, COLUMNS, 2), np.uint8)}, "texture has shape"),
        ({"texture": np.zeros((ROWS, COLUMNS), np.int64)}, "texture has type int64"),
    ],
)
def test_bad_arguments_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        mesh(BUMP + 10, **options)


def test_a_missing_library_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "fast_simplification", None)
    with pytest.raises(ImportError, match=r"pip install 'normint\[mesh\]'"):
        mesh(BUMP, triangles=100)


def test_pieces_are_what_mask_and_cuts_separate():
    labels, count = pieces(holes_and_islands("corners"))
    assert count == 12 * 16 // 2 and (labels > 0).sum() == ROWS * COLUMNS // 2
    down, right = np.ones((2, ROWS, COLUMNS))
    right[:, 50] = 0.0
    labels, count = pieces(np.ones((ROWS, COLUMNS), bool), (down, right))
    assert count == 2 and (labels[:, :51] == 1).all() and (labels[:, 51:] == 2).all()
