"""Statues: slopes are those of the depth, and bodies hide one another where the depth jumps."""

import numpy as np
import pytest

from normint.surfaces import Surface, bust, canadian_tent, figurine, peaks

STATUES = {"figurine": figurine, "bust": bust}
each_statue = pytest.mark.parametrize("make", STATUES.values(), ids=STATUES)
INNER = np.s_[1:-1, 1:-1]


def central(z):
    """Central differences on the interior of the grid."""
    return 0.5 * (z[2:, 1:-1] - z[:-2, 1:-1]), 0.5 * (z[1:-1, 2:] - z[1:-1, :-2])


def inside_one_body(parts):
    """Tell where a pixel and its four neighbours show the same body."""
    inner = parts[INNER]
    others = parts[2:, 1:-1], parts[:-2, 1:-1], parts[1:-1, 2:], parts[1:-1, :-2]
    return (inner >= 0) & np.logical_and.reduce([inner == other for other in others])


class TestSlopes:
    @each_statue
    def test_they_are_those_of_the_depth(self, make):
        # The tail is made of many beads with two numbers; it is left out, the single bodies are exact.
        errors = []
        for n in (300, 600):
            statue = make(n)
            parts = statue.parts
            if make is figurine:
                parts = np.where(parts >= parts.max() - 1, -1, parts)
            gentle = inside_one_body(parts) & (np.hypot(statue.p, statue.q)[INNER] < 1)
            assert gentle.sum() > 0.1 * gentle.size
            p, q = central(statue.depth)
            both = [np.abs(p - statue.p[INNER])[gentle], np.abs(q - statue.q[INNER])[gentle]]
            errors.append(np.mean(both))
        assert errors[0] < 2e-3
        # Of second order in the size of a pixel.
        assert errors[0] / errors[1] == pytest.approx(4, rel=0.15)

    def test_the_tail_is_a_smooth_string_of_beads(self):
        statue = figurine(600)
        for part in (statue.parts.max() - 1, statue.parts.max()):
            inside = inside_one_body(np.where(statue.parts == part, 0, -1))
            gentle = inside & (np.hypot(statue.p, statue.q)[INNER] < 1)
            assert gentle.sum() > 1000
            for found, exact in zip(central(statue.depth), (statue.p, statue.q), strict=True):
                # The beads are so close to one another that there is no deeper notch between them.
                assert np.abs(found - exact[INNER])[gentle].max() < 0.2

    @each_statue
    def test_they_are_cut_at_ten(self, make):
        statue = make()
        for slope in (statue.p, statue.q):
            assert np.abs(slope).max() == 10
            assert np.isfinite(slope).all()

    @each_statue
    def test_depths_grow_with_the_size_and_slopes_do_not(self, make):
        # Each pixel of a picture is in the middle of three by three of one that is three times as large.
        small, large = make(100), make(300)
        middle = np.s_[1::3, 1::3]
        np.testing.assert_array_equal(small.parts, large.parts[middle])
        np.testing.assert_allclose(3 * small.depth, large.depth[middle], rtol=1e-12)
        np.testing.assert_allclose(small.p, large.p[middle], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(small.q, large.q[middle], rtol=1e-9, atol=1e-12)


class TestSilhouette:
    @each_statue
    @pytest.mark.parametrize("n", [8, 9, 40, 300])
    def test_outside_is_zero(self, make, n):
        statue = make(n)
        assert statue.depth.shape == (n, round(0.9 * n) if make is figurine else n)
        assert statue.mask.any() and not statue.mask.all()
        background = -1 if make is figurine else statue.parts.max()  # nothing, or a wall
        np.testing.assert_array_equal(statue.mask, statue.parts != background)
        for image in (statue.depth, statue.p, statue.q):
            assert image.shape == statue.mask.shape
            assert not image[~statue.mask].any()
        assert np.isfinite(statue.depth).all()

    @each_statue
    def test_nothing_touches_the_frame(self, make):
        mask = make().mask
        assert not (mask[0].any() or mask[:, 0].any() or mask[:, -1].any())

    def test_the_bust_stands_before_its_wall(self):
        statue = bust()
        assert statue.depth[statue.mask].min() > 0.2 * 256

    def test_the_figurine_is_in_one_piece(self):
        from scipy.ndimage import label

        assert label(figurine().mask)[1] == 1

    @each_statue
    @pytest.mark.parametrize("n", [7, 0, -1, 100.0, None, "300", True])
    def test_bad_size(self, make, n):
        with pytest.raises(ValueError, match="n is .*; expected a whole number ≥ 8"):
            make(n)


def seen(statue, here, there):
    """Return the edges whose two pixels show something."""
    return (statue.parts[here] >= 0) & (statue.parts[there] >= 0)


class TestOcclusions:
    def two_plates(self, step, slope=0.0):
        """Return two plates side by side, the right one nearer by a step."""
        v = np.broadcast_to(np.arange(10.0), (6, 10))
        parts = (v >= 5).astype(int)
        depth = slope * v + step * parts
        return Surface(depth, np.zeros((6, 10)), np.full((6, 10), slope), np.ones((6, 10), bool), parts=parts)

    @pytest.mark.parametrize("slope", [0.0, 3.0, -8.0])
    @pytest.mark.parametrize("step", [5.0, -5.0])
    def test_exactly_the_edges_between_plates(self, slope, step):
        down, right = self.two_plates(step, slope).occlusions()
        assert not down.any()
        np.testing.assert_array_equal(right, np.broadcast_to(np.arange(10) == 4, (6, 10)))

    @pytest.mark.parametrize(("step", "least", "hidden"), [(0.9, 1, False), (1.1, 1, True), (1.1, 2, False)])
    def test_least(self, step, least, hidden):
        assert self.two_plates(step).occlusions(least)[1].any() == hidden

    @pytest.mark.parametrize("ridge", [4.5, 4.2, 4.9])
    @pytest.mark.parametrize("sign", [1, -1], ids=["ridge", "valley"])
    def test_creases_are_none(self, ridge, sign):
        # Two roofs that meet, steeper than a step that counts: each goes on where the other ends.
        v = np.broadcast_to(np.arange(10.0) - ridge, (6, 10))
        depth, q, parts = -3 * sign * np.abs(v), -3 * sign * np.sign(v), (v > 0).astype(int)
        roof = Surface(depth, np.zeros((6, 10)), q, np.ones((6, 10), bool), parts=parts)
        assert not any(edges.any() for edges in roof.occlusions())

    @pytest.mark.parametrize("slope", [3.0, -8.0])
    def test_bodies_that_go_on_into_each_other_are_none(self, slope):
        assert not any(edges.any() for edges in self.two_plates(0.0, slope).occlusions())

    def test_one_body_hides_nothing_of_itself(self):
        assert not any(edges.any() for edges in peaks(32).occlusions())
        assert not any(edges.any() for edges in canadian_tent(32, 8, 8).occlusions())

    @each_statue
    def test_they_are_where_the_depth_jumps(self, make):
        statue = make()
        for axis, edges in enumerate(statue.occlusions()):
            here, there = (np.s_[:-1], np.s_[1:]) if axis == 0 else (np.s_[:, :-1], np.s_[:, 1:])
            step = np.abs(np.diff(statue.depth, axis=axis))
            other = (statue.parts[here] != statue.parts[there]) & seen(statue, here, there)
            assert edges[here].sum() > 50
            assert not edges[-1].any() if axis == 0 else not edges[:, -1].any()
            # Between two bodies, a step of more than the steepest slope and a pixel is always one, and one of
            # less than a pixel never is; inside a body none is.
            assert edges[here][other & (step > 11)].all()
            assert not edges[here][step < 1].any()
            assert not edges[here][~other].any()

    @each_statue
    def test_no_jump_is_missed(self, make):
        # Where both ends are less steep than 3, a step of more than 5 pixels cannot be a slope.
        statue = make()
        for edges, slope, axis in zip(statue.occlusions(), (statue.p, statue.q), (0, 1), strict=True):
            here, there = (np.s_[:-1], np.s_[1:]) if axis == 0 else (np.s_[:, :-1], np.s_[:, 1:])
            gentle = (np.abs(slope[here]) < 3) & (np.abs(slope[there]) < 3)
            gentle &= seen(statue, here, there)
            jump = gentle & (np.abs(np.diff(statue.depth, axis=axis)) > 5)
            assert jump.sum() > 10
            assert edges[here][jump].all()

    def test_the_silhouette_is_one_of_them_if_there_is_something_behind(self):
        for statue, counts in ((bust(), True), (figurine(), False)):
            for edges, axis in zip(statue.occlusions(), (0, 1), strict=True):
                here, there = (np.s_[:-1], np.s_[1:]) if axis == 0 else (np.s_[:, :-1], np.s_[:, 1:])
                contour = statue.mask[here] != statue.mask[there]
                step = np.abs(np.diff(statue.depth, axis=axis))
                assert (edges[here][contour & (step > 11)] == counts).all()

    @each_statue
    def test_bodies_hide_bodies(self, make):
        # Not only the silhouette: what makes a statue hard to integrate is inside.
        statue = make()
        down, right = statue.occlusions()
        inside = (down[:-1] & statue.mask[:-1] & statue.mask[1:]).sum()
        inside += (right[:, :-1] & statue.mask[:, :-1] & statue.mask[:, 1:]).sum()
        assert inside > 100

    @each_statue
    def test_small_statues(self, make):
        for edges in make(8).occlusions():
            assert edges.shape == make(8).mask.shape
