"""Sculptures: depth and normals belong to each other, and noise and rounding are as announced."""

from functools import cache

import numpy as np
import pytest

from normint.normals.camera import projection
from normint.surfaces import sculptures
from normint.surfaces.sculptures import BITS, SIGMAS, sculpture

N = 64
TURN = np.linalg.qr(np.random.default_rng(5).standard_normal((3, 3)))[0]
CENTRE, SCALE = np.array([0.3, -0.2, 0.1]), np.array([0.5, 0.3, 0.4])


@cache
def made(seed):
    return sculpture(seed, N)


def exact(far):
    """Return the numbers of sculptures without noise, hardly rounded, seen from afar or from near."""
    found = [k for k in range(20) if made(k).sigma == 0 and made(k).bits != 8]
    return [k for k in found if (made(k).camera is None) == far]


def exact_normals(seed, monkeypatch):
    """Return a sculpture as it was made, and with neither noise nor rounding."""
    spoilt = sculpture(seed, N)
    with monkeypatch.context() as patch:
        patch.setattr(sculptures, "SIGMAS", (0.0,) * len(SIGMAS))
        patch.setattr(sculptures, "BITS", (None,) * len(BITS))
        return spoilt, sculpture(seed, N)


def test_the_same_number_makes_the_same_scene():
    again = sculpture(7, N)
    np.testing.assert_array_equal(again.normals, made(7).normals)
    np.testing.assert_array_equal(again.depth, made(7).depth)
    assert not np.array_equal(made(8).mask, made(7).mask)


def test_depth_and_normals_are_known_just_inside_the_mask():
    for seed in range(10):
        one = made(seed)
        np.testing.assert_array_equal(np.isfinite(one.depth), one.mask)
        np.testing.assert_array_equal(np.isfinite(one.normals).all(axis=-1), one.mask)
        np.testing.assert_array_equal(one.slopes().mask, one.mask)
        assert one.mask.mean() > 0.1


@pytest.mark.parametrize("far", [True, False])
def test_slopes_are_the_differences_of_the_depth(far):
    seeds = exact(far)
    assert len(seeds) >= 3
    for seed in seeds:
        one, seen = made(seed), made(seed).slopes()
        potential = seen.lens.unit * seen.lens.potential(one.depth)
        for axis, slope in enumerate((seen.p, seen.q)):
            slope, z = np.moveaxis(slope, axis, 0), np.moveaxis(potential, axis, 0)
            mask = np.moveaxis(seen.mask, axis, 0)
            inside = mask[:-2] & mask[1:-1] & mask[2:]
            central = ((z[2:] - z[:-2]) / 2)[inside]
            bend = (np.abs(slope[2:] - slope[1:-1]) + np.abs(slope[1:-1] - slope[:-2]))[inside]
            off = np.abs(central - slope[1:-1][inside])
            assert np.mean(off <= bend + 1e-3) > 0.9  # the rest is beside jumps
            assert np.median(off) < 0.05


def test_a_near_camera_sees_where_its_rays_go(monkeypatch):
    asked, march = [], sculptures._march
    monkeypatch.setattr(sculptures, "_march", lambda *given: asked.append(given) or march(*given))
    one = sculpture(exact(False)[0], N)
    distance, origins, rays = asked[0]
    d, f = one.depth[one.mask][:, np.newaxis], one.camera[0, 0]
    # The camera's points are along u (down), v (right) and z; the scene's along right, up and z.
    u, v, z = projection(one.camera).points(one.depth)[one.mask].T
    scene = np.stack([v, -u, z], axis=-1) + origins[0, 0]
    np.testing.assert_allclose(origins[one.mask] + d * rays[one.mask], scene, atol=1e-12)
    assert np.quantile(np.abs(distance(scene)), 0.99) < 1e-5
    assert origins[0, 0, 2] == pytest.approx(f * 2 * sculptures.VIEW / N)
    np.testing.assert_allclose(rays[::-1, ::-1, :2], -rays[..., :2], atol=1e-12)


@pytest.mark.parametrize("seed", range(0, 40, 3))
def test_a_far_camera_stands_before_everything(seed):
    rng = np.random.default_rng(seed)
    origins, rays = sculptures._rays(None, 24)
    assert (sculptures._table(rng)(origins) > 0).all()
    np.testing.assert_array_equal(rays, np.broadcast_to([0, 0, -1.0], rays.shape))


def on(body, *points):
    """Measure the distance of points that are given in a body's own axes."""
    return body(CENTRE, TURN, SCALE, CENTRE + np.array(points) @ TURN.T)


def test_distances_are_zero_on_the_surface_and_negative_inside():
    a, b, c = SCALE
    side, thick = 0.8 * SCALE + 0.1 * b, 0.35 * b
    surface = {
        sculptures._ellipsoid: ([a, 0, 0], [0, -b, 0], [0, 0, c], [a * 0.6, 0, c * 0.8]),
        sculptures._capsule: ([0, b / 2, 0], [2 * a + b / 2, 0, 0], [-a, 0, -b / 2]),
        sculptures._box: ([side[0], 0.1, 0.1], [0, -side[1], 0.2], [0.1, 0, side[2]]),
        sculptures._ring: ([a + thick, 0, 0], [0, a - thick, 0], [0.6 * a, -0.8 * a, thick]),
    }
    for body, points in surface.items():
        np.testing.assert_allclose(on(body, *points), 0, atol=1e-12)
    for body in (sculptures._ellipsoid, sculptures._capsule, sculptures._box):
        assert on(body, [0.01, 0.02, 0])[0] < 0 < on(body, [3.0, 3, 3])[0]
    assert on(sculptures._ring, [0, a, 0])[0] < 0 < on(sculptures._ring, [0.0, 0, 0])[0]


@pytest.mark.parametrize("body", [sculptures._capsule, sculptures._box, sculptures._ring])
@pytest.mark.parametrize("apart", [1e-3, 1.0])
def test_distances_change_by_no_more_than_the_way(body, apart):
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, (5000, 3))
    y = x + apart * rng.standard_normal(x.shape)
    change = np.abs(body(CENTRE, TURN, SCALE, x) - body(CENTRE, TURN, SCALE, y))
    way = np.linalg.norm(x - y, axis=-1)
    assert (change <= way * (1 + 1e-9) + 1e-12).all()
    assert (change / way).max() > 0.95


def test_a_seam_is_only_ever_filled():
    a, b = np.random.default_rng(2).uniform(-1, 1, (2, 1000))
    np.testing.assert_array_equal(sculptures._melted(0.0, a, b), np.minimum(a, b))
    melted = sculptures._melted(0.3, a, b)
    assert (melted <= np.minimum(a, b)).all() and (melted >= np.minimum(a, b) - 0.3 / 4 - 1e-12).all()
    far = np.abs(a - b) > 0.3
    np.testing.assert_array_equal(melted[far], np.minimum(a, b)[far])


@pytest.mark.parametrize("sigma", [s for s in sorted(set(SIGMAS)) if s])
def test_noise_is_as_strong_as_announced(sigma, monkeypatch):
    seed = next(k for k in range(40) if made(k).sigma == sigma and made(k).bits != 8)
    spoilt, clean = exact_normals(seed, monkeypatch)
    np.testing.assert_array_equal(spoilt.depth, clean.depth)
    well = clean.mask & (clean.normals[..., 2] > 0.3)
    off = (spoilt.normals - clean.normals)[well]
    # Normals keep their length, so that of three components of noise two are seen.
    assert np.sqrt(np.mean(np.sum(off**2, axis=-1)) / 2) == pytest.approx(sigma, rel=0.1)


@pytest.mark.parametrize("bits", [8, 16])
def test_normals_are_rounded_as_announced(bits, monkeypatch):
    seed = next(k for k in range(40) if made(k).bits == bits and made(k).sigma == 0)
    rounded, clean = exact_normals(seed, monkeypatch)
    well = clean.mask & (clean.normals[..., 2] > 0.3)
    colours = (rounded.normals[well] + 1) / 2 * (2**bits - 1)
    np.testing.assert_allclose(colours, np.rint(colours), atol=1e-6)
    assert np.abs(rounded.normals - clean.normals)[well].max() <= 1.001 / (2**bits - 1)


def test_the_first_twenty_are_of_many_kinds():
    first = [made(k) for k in range(20)]
    assert {one.camera is None for one in first} == {True, False}
    assert {one.bits for one in first} == set(BITS)
    assert len({one.sigma for one in first}) >= 4


def test_errors_are_in_pixels_up_to_a_constant_or_a_factor():
    far, near = made(exact(True)[0]), made(exact(False)[0])
    half = np.zeros((N, N))
    half[::2] = 3.0
    expected = np.mean(np.abs(half[far.mask] - np.median(half[far.mask])))
    assert far.error(far.depth + 10 + half) == pytest.approx(expected)
    # At the median distance a pixel is as wide as that distance divided by the focal length.
    pixel = np.median(near.depth[near.mask]) / near.camera[0, 0]
    wrong = near.depth.copy()
    rows, columns = (index[::4] for index in np.nonzero(near.mask))
    wrong[rows, columns] += 2 * pixel
    assert near.error(5 * wrong) == pytest.approx(2 * rows.size / near.mask.sum())
