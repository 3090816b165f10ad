"""Perspective: the logarithm of the distance integrates like a depth."""

import numpy as np
import pytest
from near_shapes import SHAPE, K, plane, sphere

import normint
from normint.normals.camera import Orthographic, Perspective, camera_of_view, projection


def test_the_gradient_of_a_plane_is_that_of_its_log_distance():
    distance, normals = plane()
    p, q = projection(K).gradient(normals)
    step = 1e-4  # of a pixel: shift the centre to look between the pixels
    for slope, (dv, du) in ((p, (0, step)), (q, (step, 0))):
        shifted = Perspective((300.0, 240.0), (47.0 - dv, 36.0 - du)).rays(SHAPE)
        change = np.log(-200.0 / (shifted @ normals[0, 0])) - np.log(distance)
        np.testing.assert_allclose(slope, change / step, rtol=1e-3)


def test_a_sphere_is_recovered_up_to_its_size():
    distance, normals, mask = sphere()
    lens = projection(K)
    potential = normint.integrate(*lens.gradient(normals, mask), mask, tolerance=1e-8).depth
    scale = np.exp(np.mean((lens.potential(distance) - potential)[mask]))
    error = (scale * lens.depth(potential) - distance)[mask]
    assert np.abs(error).max() < 0.01 * np.ptp(distance[mask])
    # A camera far away is the wrong reading: its error is larger by far.
    z = normint.integrate(*normint.normals_to_gradient(normals, mask & (normals[..., 2] > 0.1)), mask).depth
    millimetres = -z * np.mean(distance[mask]) / 300
    assert np.std((millimetres - distance)[mask]) > 5 * np.std(error)


def test_the_length_of_a_normal_does_not_matter():
    _, normals = plane()
    np.testing.assert_allclose(projection(K).gradient(7 * normals), projection(K).gradient(normals))


def test_a_camera_far_away_becomes_orthographic():
    """With f → ∞ and one pixel of size 1 at distance f, d = f - z: ∂ℓ/∂u = -p/f."""
    surface = normint.surfaces.peaks(24)
    normals = normint.gradient_to_normals(surface.p, surface.q)
    far = 1e9
    p, q = Perspective((far, far), (12.0, 12.0)).gradient(normals)
    np.testing.assert_allclose(-far * p, surface.p, atol=1e-6)
    np.testing.assert_allclose(-far * q, surface.q, atol=1e-6)


def test_facing_is_one_for_normals_turned_to_the_camera():
    for lens in (projection(K), Orthographic()):
        towards = -lens.rays(SHAPE) if lens != Orthographic() else np.full((*SHAPE, 3), [0.0, 0.0, 2.0])
        np.testing.assert_allclose(lens.facing(towards), 1.0)


@pytest.mark.parametrize("camera", [None, K])
def test_slopes_tell_how_far_their_unit_normals_are_turned_against_the_ray(camera):
    _, normals, mask = sphere(least=0.1)
    lens = projection(camera)
    rays = [0.0, 0.0, -1.0] if camera is None else lens.rays(SHAPE)
    mask = mask & (normals[..., 2] > 0.1)
    found = lens.turned_against(*lens.gradient(normals, mask))
    np.testing.assert_allclose(found[mask], -(normals * rays).sum(-1)[mask], rtol=1e-9)


def test_potential_and_depth_are_inverse():
    distance, _ = plane()
    for lens in (projection(K), projection(None)):
        np.testing.assert_allclose(lens.depth(lens.potential(distance)), distance)


def test_no_camera_means_orthographic():
    _, normals = plane()
    np.testing.assert_array_equal(projection(None).gradient(normals), normint.normals_to_gradient(normals))


def test_anything_is_allowed_outside_the_mask():
    _, normals = plane()
    mask = np.ones(SHAPE, bool)
    mask[0] = False
    broken = normals.copy()
    broken[0] = np.nan
    p, _ = projection(K).gradient(broken, mask)
    assert np.isnan(p[0]).all() and np.isfinite(p[1:]).all()


@pytest.mark.parametrize(
    "camera, message",
    [
        (np.eye(2), "camera is .2, 2."),
        ([["a"] * 3] * 3, "3×3 matrix of numbers"),
        ([[0, 0, 1], [0, 1, 1], [0, 0, 1]], "focal lengths"),
        ([[np.nan, 0, 1], [0, 1, 1], [0, 0, 1]], "focal lengths"),
        ([[1, 0.5, 1], [0, 1, 1], [0, 0, 1]], "expected ..f_v"),
    ],
)
def test_bad_cameras_are_refused(camera, message):
    with pytest.raises(ValueError, match=message):
        projection(camera)


def test_normals_that_face_away_are_refused():
    _, normals = plane()
    with pytest.raises(ValueError, match="normals: 7680 of the mask's pixels"):
        projection(K).gradient(-normals)
    with pytest.raises(ValueError, match="normals has shape"):
        projection(K).gradient(normals[..., :2])


def test_distances_must_be_positive():
    with pytest.raises(ValueError, match="depth is zero or negative"):
        projection(K).potential([[1.0, 0.0]])


@pytest.mark.parametrize("axis, size", [("horizontal", 96), ("vertical", 80), ("diagonal", np.hypot(80, 96))])
def test_a_field_of_view_is_the_angle_between_the_edges_of_the_image(axis, size):
    (fx, _, cx), (_, fy, cy), _ = camera_of_view(70, SHAPE, axis)
    assert fx == fy and (cx, cy) == (47.5, 39.5)
    assert 2 * np.degrees(np.arctan(size / 2 / fx)) == pytest.approx(70)


@pytest.mark.parametrize(
    "degrees, axis, words",
    [(180, "vertical", "less than 180"), (0, "vertical", "> 0"), (60, "up", "axis is")],
)
def test_bad_views_are_refused(degrees, axis, words):
    with pytest.raises(ValueError, match=words):
        camera_of_view(degrees, SHAPE, axis)


def test_a_lens_is_a_camera():
    _, normals, mask = sphere()
    by_matrix, by_lens = (normint.integrate_normals(normals, mask, one).depth for one in (K, projection(K)))
    np.testing.assert_array_equal(by_matrix, by_lens)


def test_a_depth_along_the_rays_is_the_distance_from_the_camera():
    distance, normals, mask = sphere()
    length = np.linalg.norm(projection(K).rays(SHAPE), axis=-1)
    prior = np.where(mask, distance, np.nan)
    along = [
        normint.integrate_normals(normals, mask, K, prior=given, prior_weight=1.0, depth=depth).depth
        for given, depth in ((prior, None), (prior, "z"), (prior * length, "ray"))
    ]
    np.testing.assert_array_equal(along[0], along[1])
    np.testing.assert_allclose(along[2], along[0] * length, rtol=1e-9)
