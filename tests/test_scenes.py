"""Generated scenes: their slopes, jumps and pieces are exact, and what is measured is spoilt as announced."""

import numpy as np
import pytest
import scipy.ndimage

from normint.domain import NEIGHBOURS
from normint.surfaces import drawing, shapes
from normint.surfaces.layers import CONTACT, Layers, join, placed
from normint.surfaces.scenes import DEVELOPMENT, KINDS, REPORT, SIGMAS, _layers, scene

FLAT = placed(shapes.plane(0.0, 0.0))
SHAPES = {
    "plane": shapes.plane(0.3, -2.0),
    "hill": shapes.hill(9.0, 8.0, 15.0),
    "wave": shapes.wave(3.0, 20.0),
    "fold": shapes.fold(0.7, 13.3),
    "fault": shapes.fault(8.0, 20.0),
    "fault that ends": shapes.fault(-8.0, 20.0, end=45.0, reach=25.0, bend=4.0),
    "ramp": shapes.ramp(9.0, 30.0, 12.0, widening=0.3, curve=-0.5, landing=0.2),
    "ellipsoid": shapes.ellipsoid(30.0, 17.0, 12.0),
    "cylinder": shapes.cylinder(10.0, 40.0, 0.4),
    "cone": shapes.cone(1.5, 22.0),
    "board": shapes.board(0.2, 0.5, 30.0, 20.0),
    "roof": shapes.roof(1.0, 2.0, 20.0, 12.0),
}


def half_board(lift=0.0):
    """A board that leaves the flat ground along column 10 and rises by 1 per pixel to the right."""
    board = placed(shapes.ramp(10.0, 10.0, 8.0), (10.0, 10.0), 90.0, lift)
    return Layers((FLAT,), (), (board,))


def look(layers, n=24):
    u, v = (np.arange(n) + 0.5)[:, np.newaxis], (np.arange(n) + 0.5)[np.newaxis]
    z, p, q, number = layers.see(u, v)
    return z, p, q, number, layers.jumps(u, v, number)


class TestShapes:
    @pytest.mark.parametrize("name", SHAPES)
    def test_slopes_are_the_derivatives(self, name):
        layer = placed(SHAPES[name], (3.0, -2.0), 33.0, 5.0)
        u, v = np.random.default_rng(0).uniform(-25, 25, (2, 2000))
        h = 1e-6
        z, p, q, inside = (np.broadcast_to(part, u.shape) for part in layer(u, v))
        for slope, du, dv in ((p, h, 0), (q, 0, h)):
            ahead, behind = layer(u + du, v + dv), layer(u - du, v - dv)
            there = inside & ahead[3] & behind[3]
            assert there.sum() > 50
            difference = (ahead[0] - behind[0]) / (2 * h)
            # A point within 1e-6 of a crease would differ; among 2000 there is none.
            np.testing.assert_allclose(difference[there], slope[there], rtol=1e-5, atol=1e-5)

    def test_smooth_bodies_end_at_their_steepest_slope(self):
        t = np.linspace(-10, 10, 100001)
        for shape in (shapes.ellipsoid(10.0, 10.0, 10.0), shapes.cylinder(10.0, 40.0, 0.0)):
            _, z_s, z_t, inside = shape(0 * t, t)
            slope = np.hypot(z_s, z_t)[inside]
            assert slope.max() == pytest.approx(shapes.STEEPEST, rel=0.05)
            assert slope.max() <= shapes.STEEPEST


class TestJumpsAndPieces:
    def test_a_ramp_jumps_as_high_as_it_has_risen(self):
        _, _, _, number, (down, right) = look(half_board())
        # Its pixels are those of the rows 6 … 13 and the columns 10 … 19, where it is 0.5 … 9.5 high.
        assert number.sum() == number[6:14, 10:20].sum() == 80 * number.max()
        expected = np.arange(0.5, 10)
        np.testing.assert_allclose(down[5, 10:20], expected, atol=1e-6)
        np.testing.assert_allclose(down[13, 10:20], expected, atol=1e-6)
        np.testing.assert_allclose(right[6:14, 9], 0.0, atol=1e-6)
        np.testing.assert_allclose(right[6:14, 19], 10.0, atol=1e-6)
        assert np.count_nonzero(down) == 20 and np.count_nonzero(right > 1e-6) == 8

    def test_it_is_one_piece_while_attached_and_two_when_lifted(self):
        for lift, count in ((0.0, 1), (CONTACT / 2, 1), (1.0, 2)):
            _, _, _, number, jumps = look(half_board(lift))
            pieces = join(np.ones(number.shape, bool), jumps)
            assert pieces.max() + 1 == count
        np.testing.assert_array_equal(pieces == 1, number > 0)

    def test_mask_takes_part(self):
        z, _, _, number, jumps = look(half_board())
        mask = np.ones(z.shape, bool)
        mask[:, 9] = False  # where the ramp was attached
        pieces = join(mask, jumps)
        assert (pieces[~mask] == -1).all()
        assert len(np.unique(pieces[mask])) == 3  # left of the gap, right of it, and the ramp

    def test_things_that_cross_between_pixels_touch(self):
        tilted = Layers((FLAT,), (), (placed(shapes.plane(3.0, 0.3), (11.3, 0.0)),))
        *_, number, jumps = look(tilted)
        assert len(np.unique(number)) == 2
        assert max(jump.max() for jump in jumps) < 1e-6


EXAMPLES = DEVELOPMENT[1::4] + REPORT[2::12]


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda pair: f"{pair[0]}{pair[1]}")
def example(request):
    return scene(*request.param)


class TestScenes:
    def test_a_step_is_the_integral_of_the_slopes_and_the_jumps(self, example):
        # The jumps were found by bisection; here slopes are summed up over 1000 points of each edge.
        layers = _layers(example.kind, example.variant)[0]
        rng, t = np.random.default_rng(3), (np.arange(1000) + 0.5) / 1000
        for axis, (here, there) in enumerate(NEIGHBOURS):
            step = example.surface.depth[there] - example.surface.depth[here]
            jump = example.jumps[axis][here]
            high = np.argwhere(jump > CONTACT)
            edges = np.concatenate([rng.permutation(high)[:40], rng.integers(0, 127, (40, 2))])
            u, v = (edges.T + 0.5)[..., np.newaxis] + np.eye(2)[axis][:, np.newaxis, np.newaxis] * t
            beyond = step[tuple(edges.T)] - layers.see(u, v)[1 + axis].mean(axis=-1)
            jump = jump[tuple(edges.T)]
            np.testing.assert_allclose(beyond[jump < CONTACT], 0.0, atol=CONTACT + 0.03)
            # Two jumps on the way over one edge, at a corner say, may add up or cancel: few edges have them.
            assert np.mean(np.abs(np.abs(beyond) - jump) < 0.03) > 0.9

    def test_depth_is_finite_and_slopes_are_bounded(self, example):
        surface = example.surface
        assert np.isfinite(surface.depth).all()
        steepest = np.hypot(surface.p, surface.q)[surface.mask].max()
        assert 0.1 < steepest < 1.5 * shapes.STEEPEST
        assert (surface.parts[~surface.mask] == -1).all() and (surface.parts[surface.mask] >= 0).all()

    def test_error_forgives_one_constant_for_each_piece(self, example):
        lift = np.random.default_rng(1).standard_normal(example.pieces.max() + 2)
        lifted = example.surface.depth + lift[example.pieces]
        assert example.error(lifted) == pytest.approx(0.0, abs=1e-10)
        tilted = example.surface.depth + np.arange(128)
        assert 1e-3 < example.error(tilted) <= np.std(np.arange(128)) + 1e-9

    def test_most_scenes_are_in_one_piece(self, example):
        components = scipy.ndimage.label(example.mask)[1]
        floats = example.variant in (5, 6) and example.kind not in ("kinks", "smooth")
        assert (example.pieces.max() + 1 > components) == floats

    def test_jumps_are_neither_tiny_nor_huge(self, example):
        highest = max(jump[example.mask].max() for jump in example.jumps)
        if example.kind in ("kinks", "smooth"):
            assert highest < 1e-6
        else:
            assert 3 <= highest <= drawing.HIGHEST


class TestMeasurement:
    def test_same_arguments_same_scene(self):
        for kind in ("steps", "holes", "outliers"):
            one, two, other = scene(kind, 1), scene(kind, 1), scene(kind, 3)
            np.testing.assert_array_equal(one.p, two.p)
            np.testing.assert_array_equal(one.surface.depth, two.surface.depth)
            assert np.abs(one.surface.depth - other.surface.depth).max() > 1

    def test_noise_has_the_announced_deviation(self):
        used = set()
        for variant in range(5):
            ramps = scene("ramps", variant)
            used.add(ramps.sigma)
            for measured, exact in ((ramps.p, ramps.surface.p), (ramps.q, ramps.surface.q)):
                assert np.std(measured - exact) == pytest.approx(ramps.deviation[0, 0], rel=0.05)
        assert used == set(SIGMAS)

    @pytest.mark.parametrize("variant", range(2))
    def test_varying_noise_varies_by_a_factor_of_five(self, variant):
        varying = scene("varying", variant)
        assert varying.deviation.max() / varying.deviation.min() == pytest.approx(5, rel=0.1)
        relative = (varying.p - varying.surface.p) / varying.deviation
        strong = varying.deviation > np.sqrt(5) * varying.deviation.min()
        for part in (strong, ~strong):
            assert np.std(relative[part]) == pytest.approx(1.0, abs=0.1)

    def test_outliers_are_few_and_large(self):
        for variant in range(2):
            some = scene("outliers", variant)
            assert 0.005 < some.outliers.mean() < 0.06
            off = np.hypot(some.p - some.surface.p, some.q - some.surface.q)
            assert off[~some.outliers].max() < 7 * some.deviation.max() + 1e-12
            assert np.median(off[some.outliers]) > 10 * np.median(off[~some.outliers])

    def test_quantised_normals_are_on_the_grid_of_8_bits(self):
        for variant in range(2):
            coarse = scene("quantised", variant)
            normals = np.stack([-coarse.p, -coarse.q, np.ones_like(coarse.p)])
            # One component is enough to know the length that the rounded normal had: near 1.
            lengths = np.linspace(0.98, 1.02, 4001)[:, np.newaxis]
            for pixel in (0, 5000, 12345):
                unit = normals.reshape(3, -1)[:, pixel] / np.linalg.norm(normals.reshape(3, -1)[:, pixel])
                levels = (lengths * unit + 1) / 2 * 255
                assert np.abs(levels - np.round(levels)).max(axis=1).min() < 0.02

    def test_other_sizes_show_the_same_scene(self):
        small, large = scene("bodies", 1, n=64), scene("bodies", 1, n=192)
        # The centres of the small pixels are every third centre of the large image.
        np.testing.assert_allclose(large.surface.depth[1::3, 1::3], 3 * small.surface.depth)
        np.testing.assert_allclose(large.surface.p[1::3, 1::3], small.surface.p)

    def test_development_and_report_share_nothing(self):
        assert not set(DEVELOPMENT) & set(REPORT)
        assert len(set(DEVELOPMENT)) == len(set(REPORT)) == 4 * len(KINDS)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("cubes",), "^kind is 'cubes'; expected one of steps, ramps"),
            (("steps", -1), "^variant is -1; expected a whole number ≥ 0"),
            (("steps", 0, 3), "^n is 3; expected a whole number ≥ 16"),
        ],
    )
    def test_bad_arguments(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            scene(*arguments)
