"""Cameras known by their rays: a fisheye and a panorama see a room as it is."""

import numpy as np
import pytest
from near_shapes import SHAPE, K, plane, sphere

import normint
from normint.files.meshes import mesh
from normint.normals.camera import camera_of_part, projection
from normint.normals.maps import NormalMap
from normint.normals.rays import Rays

HALF = np.array([2.0, 1.2, 3.0])  # sides of the room, halved: to the right, down, ahead


def panorama(columns=256):
    """Return the rays of a full panorama: x right, y down, z forward."""
    rows = columns // 2
    longitude = (np.arange(columns) + 0.5) * 2 * np.pi / columns - np.pi
    latitude = ((np.arange(rows) + 0.5) * np.pi / rows - np.pi / 2)[:, np.newaxis]
    x, z = np.cos(latitude) * np.sin(longitude), np.cos(latitude) * np.cos(longitude)
    return np.stack([x, np.broadcast_to(np.sin(latitude), x.shape), z], axis=-1)


def fisheye(side=200, degrees=200.0):
    """Return the rays of an equidistant fisheye; NaN outside its circle."""
    v, u = np.meshgrid(*[np.arange(side) - (side - 1) / 2] * 2)
    angle = np.hypot(u, v) / (side / 2) * np.radians(degrees) / 2
    around = np.arctan2(u, v)
    rays = np.stack([np.sin(angle) * np.cos(around), np.sin(angle) * np.sin(around), np.cos(angle)], axis=-1)
    rays[angle > np.radians(degrees) / 2] = np.nan
    return rays


def room(rays, eye=(0.4, 0.3, -0.5), soft=40):
    """Return distances and inward normals of a room with rounded edges: |x/a|⁴⁰ + |y/b|⁴⁰ + |z/c|⁴⁰ = 1."""
    eye = np.asarray(eye)
    low, high = np.zeros(rays.shape[:2]), np.full(rays.shape[:2], 10.0)

    def level(distance):
        return np.sum(np.abs((eye + distance[..., np.newaxis] * rays) / HALF) ** soft, axis=-1)

    for _ in range(60):
        middle = (low + high) / 2
        inside = level(middle) < 1
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    points = (eye + low[..., np.newaxis] * rays) / HALF
    normals = -np.sign(points) * np.abs(points) ** (soft - 1) / HALF
    return np.where(np.isfinite(rays[..., 0]), low, np.nan), normals / np.linalg.norm(
        normals, axis=-1, keepdims=True
    )


def error(depth, truth):
    """Return the largest and the mean relative error of a depth whose scale is free."""
    ratio = depth / truth
    off = np.abs(ratio / np.nanmedian(ratio) - 1)
    return np.nanmax(off), np.nanmean(off)


@pytest.mark.parametrize("rays", [panorama(), fisheye()], ids=["panorama", "fisheye of 200 degrees"])
def test_a_room_is_seen_as_it_is(rays):
    truth, normals = room(rays)
    result = normint.integrate_normals(normals, camera=Rays(rays), axes="opencv", check_axes=False)
    np.testing.assert_array_equal(np.isfinite(result.depth), np.isfinite(truth))
    largest, mean = error(result.depth, truth)
    assert largest < 0.02 and mean < 4e-4


def test_the_error_falls_with_the_square_of_the_step():
    means = []
    for columns in (128, 256):
        truth, normals = room(panorama(columns), soft=4)
        camera = Rays(panorama(columns))
        depth = normint.integrate_normals(normals, camera=camera, axes="opencv", tolerance=1e-8).depth
        means.append(error(depth, truth)[1])
    assert 3.3 < means[0] / means[1] < 4.7


def test_a_sphere_before_a_fisheye():
    rays = fisheye(160, 185.0)
    centre, radius = np.array([0.3, -0.2, 2.0]), 1.5
    b = rays @ centre
    root = b**2 - centre @ centre + radius**2
    truth = b - np.sqrt(np.where(root > 0, root, np.nan))
    normals = (truth[..., np.newaxis] * rays - centre) / radius
    mask = -np.sum(normals * rays, axis=-1) > 0.3
    depth = normint.integrate_normals(normals, mask, Rays(rays), axes="opencv").depth
    assert error(depth, truth)[0] < 0.002


class TestPinhole:
    """The rays of a matrix are that matrix."""

    lens = projection(K)
    camera = Rays(7 * lens.rays(SHAPE), "uvz")

    def test_the_same_surface(self):
        _, normals, mask = sphere()
        for depth in ("z", "ray"):
            both = [
                normint.integrate_normals(normals, mask, one, depth=depth, distance=300.0).depth
                for one in (K, self.camera)
            ]
            ratio = (both[1] / both[0])[mask]
            assert np.ptp(ratio) < 2e-5
        truth = sphere()[0] * np.linalg.norm(self.lens.rays(SHAPE), axis=-1)
        assert error(np.where(mask, both[1], np.nan), truth)[0] < 1e-3

    def test_the_same_formulas(self):
        _, normals, mask = sphere()
        normals = np.where(mask[..., np.newaxis], normals, [0.0, 0.0, 1.0])
        length = np.linalg.norm(self.lens.rays(SHAPE), axis=-1)
        np.testing.assert_allclose(self.camera.facing(normals)[mask], self.lens.facing(normals)[mask])
        p, q = self.lens.slopes(normals)
        longer = np.gradient(np.log(length))
        for found, slope, change in zip(self.camera.slopes(normals), (p, q), longer, strict=True):
            np.testing.assert_allclose(found[mask], (slope + change)[mask], atol=2e-6)
        against = self.camera.turned_against(*self.camera.slopes(normals))
        np.testing.assert_allclose(against[mask], self.lens.facing(normals)[mask], rtol=1e-4)
        assert self.camera.unit == pytest.approx(270, rel=0.02)

    def test_points_lie_where_they_are(self):
        distance, _ = plane()
        length = np.linalg.norm(self.lens.rays(SHAPE), axis=-1)
        expected = self.lens.points(distance)
        np.testing.assert_allclose(self.camera.points(distance * length), expected)
        np.testing.assert_allclose(self.camera.measuring("z").points(distance), expected)
        np.testing.assert_allclose(self.lens.measuring("ray").points(distance * length), expected)
        np.testing.assert_allclose(
            mesh(distance, camera=K).vertices, mesh(distance * length, camera=self.camera).vertices
        )

    def test_potential_and_depth_are_inverse(self):
        distance, _ = plane()
        for one in (self.lens, self.camera):
            for kind in ("z", "ray"):
                lens = one.measuring(kind)
                np.testing.assert_allclose(lens.depth(lens.potential(distance)), distance)

    def test_the_camera_of_a_part(self):
        part = camera_of_part(self.camera, top=4, left=2, step=2)
        expected = Rays(projection(camera_of_part(K, 4, 2, 2)).rays((38, 47)), "uvz")
        np.testing.assert_allclose(part.directions, expected.directions)
        assert camera_of_part(self.lens, 4, 2, 2).focal == (150.0, 120.0)


def test_the_variance_is_that_of_noise():
    rays = fisheye(40)
    _, normals = room(rays)
    normals, lens, rng = normals[..., [1, 0, 2]] * [1, 1, -1], Rays(rays), np.random.default_rng(0)
    drawn = [np.stack(lens.slopes(normals + 1e-4 * rng.standard_normal(normals.shape))) for _ in range(1000)]
    found = np.var(drawn, axis=0).sum(axis=0) / 1e-8
    inside = lens.facing(normals) > 0.1
    assert np.median(np.abs(found / lens.variance(normals) - 1)[inside]) < 0.05


@pytest.mark.parametrize(
    "rows, columns", [(None, None), ([3, 50], None), (None, [0, 60]), ([3, 50], [0, 60])]
)
def test_some_pixels_give_what_all_give(rows, columns):
    rays = fisheye(64)
    _, normals = room(rays)
    lens = Rays(rays)
    part = {
        "rows": None if rows is None else np.array(rows)[:, np.newaxis],
        "columns": None if columns is None else np.array(columns),
    }
    some = np.ix_(range(64) if rows is None else rows, range(64) if columns is None else columns)
    for name in ("facing", "variance"):
        whole = getattr(lens, name)(normals)
        np.testing.assert_array_equal(getattr(lens, name)(normals[some], **part), whole[some])
    np.testing.assert_array_equal(lens.sees(**part), lens.sees()[some])


def test_no_surface_where_there_is_no_ray():
    rays = fisheye(64)
    _, normals = room(rays)
    normals[~np.isfinite(rays[..., 0])] = [0.0, 0.0, -1.0]
    seen = NormalMap.decoded(normals, None, Rays(rays), axes="opencv")
    np.testing.assert_array_equal(seen.mask, np.isfinite(rays[..., 0]))
    seen = NormalMap.decoded(normals, np.ones((64, 64), bool), Rays(rays), axes="opencv")
    assert seen.missing == np.isnan(rays[..., 0]).sum()


@pytest.mark.parametrize("axes", ["xyz", "right up away", "directx"])
def test_turned_axes_of_the_normals_face_away(axes):
    rays = panorama(128)
    _, normals = room(rays, soft=4)
    with pytest.raises(ValueError, match="face away"):
        normint.integrate_normals(normals, camera=Rays(rays), axes=axes, check_axes=False)


@pytest.mark.parametrize("method", ["calibrated", "bilateral", "phi1", "anisotropic_diffusion"])
def test_methods_that_allow_jumps_know_the_camera(method):
    rays = fisheye(48, 190.0)
    truth, normals = room(rays, soft=4)
    depth = normint.integrate_normals(normals, camera=Rays(rays), axes="opencv", method=method).depth
    assert error(depth, truth)[1] < 0.01


class TestRefusals:
    def test_mirrored_and_upside_down(self):
        rays = fisheye(64)
        for axes, words in (("directx", "mirror"), ("right up away", "mirror"), ("xyz", "run up")):
            with pytest.raises(ValueError, match=words):
                Rays(rays, axes)
        assert Rays(rays * [1, -1, -1], "xyz").unit == pytest.approx(Rays(rays).unit)

    def test_too_few_digits(self):
        rays = fisheye(512)
        Rays(rays.astype(np.float32))
        with pytest.raises(ValueError, match="rays are rough"):
            Rays(rays.astype(np.float16))
        with pytest.raises(ValueError, match="rays are rough"):
            Rays(np.round(rays * 127) / 127)

    def test_small_maps_are_not_rough(self):
        Rays(panorama(16))
        Rays(fisheye(12))

    @pytest.mark.parametrize(
        "rays, words",
        [
            (np.zeros((4, 4)), "rays has shape .4, 4."),
            (np.zeros((4, 4, 3)), "NaN or zero everywhere"),
            (np.full((4, 4, 3), "x"), "real numbers"),
        ],
    )
    def test_no_rays(self, rays, words):
        with pytest.raises(ValueError, match=words):
            Rays(rays)

    def test_another_shape(self):
        with pytest.raises(ValueError, match=r"rays has \(64, 64\) pixels; expected \(8, 9\)"):
            normint.integrate_normals(np.ones((8, 9, 3)), camera=Rays(fisheye(64)))

    def test_depths_along_the_axis_beside_and_behind(self):
        rays = fisheye(64)
        _, normals = room(rays)
        given = {"camera": Rays(rays), "axes": "opencv", "depth": "z", "check_axes": False}
        with pytest.raises(ValueError, match="look sideways or back"):
            normint.integrate_normals(normals, **given)
        ahead = rays[..., 2] > 0.1
        depth = normint.integrate_normals(normals, ahead, **given).depth
        assert np.isfinite(depth[ahead]).all()

    @pytest.mark.parametrize("camera, depth", [(None, "ray"), (K, "x"), (K, 3)])
    def test_other_depths(self, camera, depth):
        with pytest.raises(ValueError, match="depth is"):
            normint.integrate_normals(np.full((*SHAPE, 3), [0, 0, 1.0]), camera=camera, depth=depth)
