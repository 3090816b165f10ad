"""A mesh is the surface that the camera sees: every pixel a vertex, no triangle across a cut."""

import numpy as np
import pytest
import trimesh

import normint
from normint.files.meshes import SUFFIXES, mesh, write_mesh
from normint.normals.camera import projection

K = [[300.0, 0, 20.0], [0, 280.0, 15.0], [0, 0, 1]]


@pytest.mark.parametrize(
    "mask, triangles",
    [
        ([[1]], 0),
        ([[1, 1, 1]], 0),  # a line has no area
        ([[1, 1], [1, 1]], 2),
        ([[1, 1], [1, 0]], 1),
        ([[1, 1], [0, 1]], 1),
        ([[1, 0], [1, 1]], 1),
        ([[0, 1], [1, 1]], 1),
        ([[1, 0], [0, 1]], 0),
        ([[1, 1, 1], [1, 0, 1], [1, 1, 1]], 4),
        (np.ones((5, 7)), 48),
    ],
)
def test_every_pixel_is_a_vertex_and_every_square_two_triangles(mask, triangles):
    made = mesh(np.zeros(np.shape(mask)), mask)
    assert len(made.vertices) == np.sum(mask)
    assert len(made.faces) == triangles
    assert (made.face_normals == [0, 0, 1]).all(), "turned to the camera"


def test_x_is_right_y_up_and_z_to_the_camera():
    made = mesh([[10.0, 11.0], [12.0, np.nan]])
    np.testing.assert_array_equal(made.vertices, [[0, 0, 10], [1, 0, 11], [0, -1, 12]])


def test_triangles_of_a_plane_have_its_normal():
    u, v = np.indices((6, 8))
    made = mesh(0.75 * u + 0.0 * v)
    # p = 0.75 has the normal (-0.6, 0, 0.8) along u, v, z: up along y.
    np.testing.assert_allclose(made.face_normals, np.broadcast_to([0, 0.6, 0.8], (70, 3)), atol=1e-12)


def test_a_sphere_seen_by_a_near_camera_is_a_sphere():
    rays = projection(K).rays((31, 41))
    centre, radius = np.array([3.0, -2.0, -300.0]), 25.0
    a, b, c = (rays**2).sum(-1), rays @ centre, centre @ centre - radius**2
    mask = b**2 - a * c > 0
    distance = np.where(mask, (b - np.sqrt(np.where(mask, b**2 - a * c, 0))) / a, np.nan)
    made = mesh(distance, camera=K)
    from_centre = made.vertices - [centre[1], -centre[0], centre[2]]
    np.testing.assert_allclose(np.linalg.norm(from_centre, axis=1), radius, atol=1e-9)
    corners = made.triangles_center
    assert (np.sum(made.face_normals * -corners, axis=1) > 0).all(), "turned to the camera, at the origin"


def line_of_cuts(shape, column, least=0.01):
    """Return weights that are weak on the edges to the right of one column."""
    down, right = np.ones(shape), np.ones(shape)
    down[-1], right[:, -1] = 0, 0
    right[:, column] = least
    return down, right


@pytest.mark.parametrize("least, step", [(0.0, 0.0), (0.01, 2.0)])
def test_a_line_of_cuts_separates_the_mesh(least, step):
    depth = step * np.repeat([[0, 0, 0, 0, 1, 1, 1, 1]], 6, axis=0)
    made = mesh(depth, weights=line_of_cuts((6, 8), 3, least))
    pieces = made.split(only_watertight=False)
    assert sorted(len(piece.vertices) for piece in pieces) == [24, 24]
    assert len(made.faces) == 2 * 5 * (3 + 3)


@pytest.mark.parametrize(
    "depth", [np.zeros((6, 8)), 3.0 * np.indices((6, 8))[1], 0.4 * np.indices((6, 8))[1] ** 2]
)
def test_weak_edges_are_not_cut_where_it_is_only_steep(depth):
    assert len(mesh(depth, weights=line_of_cuts((6, 8), 3)).faces) == 2 * 5 * 7


def test_how_weak_an_edge_must_be():
    depth = 2.0 * np.repeat([[0, 0, 0, 0, 1, 1, 1, 1]], 6, axis=0)
    assert len(mesh(depth, weights=line_of_cuts((6, 8), 3), below=0.005).faces) == 2 * 5 * 7


def test_no_triangle_joins_what_only_cut_edges_join():
    """For random cuts, the vertices of every triangle are neighbours by edges that are not cut."""
    rng = np.random.default_rng(0)
    mask = rng.random((20, 20)) < 0.9
    weights = tuple(np.where(rng.random((20, 20)) < 0.3, 0.0, 1.0) for _ in range(2))
    made = mesh(np.zeros(mask.shape), mask, weights=weights)
    pixels = np.argwhere(mask)
    allowed = set()
    for (i, j), k in zip(pixels, range(len(pixels)), strict=True):
        for w, (di, dj) in zip(weights, ((1, 0), (0, 1)), strict=True):
            if i + di < 20 and j + dj < 20 and mask[i + di, j + dj] and w[i, j] == 1:
                allowed.add((k, int(np.flatnonzero((pixels == (i + di, j + dj)).all(1))[0])))
    for face in made.faces:
        sides = {tuple(sorted((face[k], face[k - 1]))) for k in range(3)}
        assert len(sides & allowed) == 2, "two sides are edges, the third is the diagonal"
    areas = made.area_faces
    np.testing.assert_allclose(areas, 0.5)
    centres = {tuple(np.floor(c * [1, -1, 1])[:2]) for c in made.triangles_center}
    assert len(made.faces) <= 2 * len(centres), "at most two triangles a square, which do not overlap"
    assert (made.face_normals[:, 2] == 1).all()


def test_the_cuts_of_a_method_take_away_the_walls_between_a_tent_and_the_ground():
    """At the gables the roof ends in the air, which no slope tells."""
    tent = normint.surfaces.canadian_tent()
    result = normint.integrate(tent.p, tent.q, method="mumford_shah", mu=20)
    meshes = [mesh(result.depth, weights=weights) for weights in (None, result.weights)]
    walls = [made.face_normals[:, 2] < 0.3 for made in meshes]
    assert np.count_nonzero(walls[0]) > 20
    assert np.count_nonzero(walls[1]) == 0


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_gives_back_the_mesh(tmp_path, suffix):
    rng = np.random.default_rng(0)
    depth = 50 + rng.random((5, 6))
    made = mesh(depth, camera=K)
    path = tmp_path / f"statue{suffix}"
    write_mesh(path, made)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    read = trimesh.load(path, force="mesh", process=False)
    np.testing.assert_allclose(read.triangles, made.triangles, rtol=1e-5)


def test_bad_arguments_are_refused(tmp_path):
    flat = np.zeros((3, 4))
    with pytest.raises(ValueError, match="depth has 1 dim"):
        mesh(np.zeros(3))
    with pytest.raises(ValueError, match="mask is empty"):
        mesh(np.full((3, 4), np.nan))
    with pytest.raises(ValueError, match="depth is NaN or infinite at 1 pixel"):
        mesh([[0.0, np.nan]], [[1, 1]])
    with pytest.raises(ValueError, match="expected distances > 0"):
        mesh(flat, camera=K)
    with pytest.raises(ValueError, match="weights has shapes"):
        mesh(flat, weights=(flat, flat[1:]))
    with pytest.raises(ValueError, match="statue.xyz; expected a name that ends in .ply, .obj, "):
        write_mesh(tmp_path / "statue.xyz", mesh(flat))
    assert list(tmp_path.iterdir()) == []
