"""Generated surfaces: slopes are those of the depth, and bodies hide one another where the depth jumps."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.ndimage

from normint.domain import NEIGHBOURS
from normint.surfaces import Surface, bust, canadian_tent, figurine, peaks, vase

STATUES = {"figurine": figurine, "bust": bust}
each_statue = pytest.mark.parametrize("make", STATUES.values(), ids=STATUES)
INNER = np.s_[1:-1, 1:-1]
VASE = vase()


def slope_errors(surface, where):
    """Return how far p and q are from central differences of the depth, where `where` holds."""
    z = surface.depth
    differences = 0.5 * (z[2:, 1:-1] - z[:-2, 1:-1]), 0.5 * (z[1:-1, 2:] - z[1:-1, :-2])
    slopes = surface.p[INNER], surface.q[INNER]
    return np.abs([(d - s)[where] for d, s in zip(differences, slopes, strict=True)])


def same_five(images):
    """Tell where an image is constant over a pixel and its four neighbours."""
    others = images[2:, 1:-1], images[:-2, 1:-1], images[1:-1, 2:], images[1:-1, :-2]
    return np.logical_and.reduce([images[INNER] == other for other in others])


def gentle(surface, limit):
    return np.hypot(surface.p, surface.q)[INNER] < limit


def assert_falls_with_the_square(errors):
    """Check errors for a step and for half of it."""
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.15)


class TestFormulas:
    def test_the_gradient_of_peaks_to_second_order(self):
        # Per unit of length rather than per pixel, the error must fall with the square of the step.
        errors = [slope_errors(peaks(n), ...).max() * (n - 1) / 6 for n in (101, 201)]
        assert errors[0] < 0.1
        assert_falls_with_the_square(errors)

    def test_matlab_values(self):
        # On peaks(49), the classical default, the highest point is at x = 0, y = 1.625 and the lowest at
        # x = 0.25, y = −1.625. Rows run along y, so that the highest point is in the lower half.
        depth = peaks(49).depth
        assert np.unravel_index(depth.argmax(), depth.shape) == (37, 24)
        assert np.unravel_index(depth.argmin(), depth.shape) == (11, 26)
        assert (depth.max(), depth.min()) == pytest.approx((8.0752, -6.5466), abs=1e-4)

    def test_the_gradient_inside_the_vase(self):
        # Away from the contour, where the depth has a vertical tangent.
        inside = same_five(VASE.mask) & gentle(VASE, 1.5)
        assert inside.sum() > 12_000
        assert slope_errors(VASE, inside).max() < 0.02

    def test_slopes_of_the_vase_are_clipped(self):
        assert np.hypot(VASE.p, VASE.q).max() == pytest.approx(10 * np.sqrt(2))
        flat, steep = vase(steepest=2.0), vase(steepest=1e9)
        for clipped, limit in ((flat, 2), (VASE, 10)):
            np.testing.assert_array_equal(clipped.q, np.clip(steep.q, -limit, limit))
        assert 10 < np.abs(steep.q).max() < 1e9

    def test_the_vase_stands_on_flat_ground_and_is_its_mirror_image(self):
        assert not any(image[~VASE.mask].any() for image in (VASE.depth, VASE.p, VASE.q))
        # Towards the camera in the middle: rising from the left edge, falling to the right one.
        assert VASE.depth.min() == 0 and VASE.q[150, 140] > 0 > VASE.q[150, 180]
        left, right = slice(160, 0, -1), slice(160, 320)
        np.testing.assert_array_equal(VASE.depth[:, left], VASE.depth[:, right])
        np.testing.assert_array_equal(VASE.q[:, left], -VASE.q[:, right])

    def test_the_authors_vase(self):
        folder = os.environ.get("NORMINT_DATA")
        if not folder or not (path := Path(folder, "vase", "vase.mat")).is_file():
            pytest.skip("needs the authors' file: NORMINT_DATA names no folder with vase/vase.mat")
        authors = scipy.io.loadmat(path)
        for key, image in (("u", VASE.depth), ("p", VASE.p), ("q", VASE.q)):
            np.testing.assert_allclose(image, authors[key], rtol=0, atol=1e-10)
        np.testing.assert_array_equal(VASE.mask, authors["mask"] > 0)

    def test_the_tent_is_exact_on_its_roofs_and_jumps_at_its_gables(self):
        tent = canadian_tent()
        smooth = same_five(tent.depth > 0) & same_five(tent.p)
        assert smooth.mean() > 0.9 and slope_errors(tent, smooth).max() < 1e-12
        assert tent.p[60, 96] == 1.3  # the roof rises downwards to the ridge
        rows, columns = np.nonzero(tent.depth)
        assert (np.ptp(rows) + 1, np.ptp(columns) + 1) == (100, 100)
        # Continuous at the eaves (half a pixel away from the ground), as high as the roof at the gables.
        assert np.abs(np.diff(tent.depth, axis=0)).max() == pytest.approx(1.3)
        assert np.abs(np.diff(tent.depth, axis=1)).max() == tent.depth.max()

    def test_symmetries_of_the_tent(self):
        tent = canadian_tent(n=31, half_length=10, half_width=7, slope=0.5)
        for image in (tent.depth, tent.p):
            np.testing.assert_array_equal(image, image[:, ::-1])
        np.testing.assert_array_equal(tent.depth, tent.depth[::-1])
        np.testing.assert_array_equal(tent.p, -tent.p[::-1])

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: peaks(1), "n is 1; expected a whole number ≥ 2"),
            (lambda: peaks(2.5), "n is 2.5; expected a whole number ≥ 2"),
            (lambda: vase(steepest=0), "^steepest"),
            (lambda: figurine(7), "n is 7; expected a whole number ≥ 8"),
            (lambda: bust(True), "n is True; expected a whole number ≥ 8"),
            (lambda: peaks(8).with_noise(-0.1, np.random.default_rng(0)), "sigma is"),
            (lambda: peaks(8).with_noise(np.nan, np.random.default_rng(0)), "sigma is"),
            (lambda: peaks(8).with_noise(0.1, 0), "rng is a int; expected a numpy.random.Generator"),
        ],
    )
    def test_bad_arguments(self, call, message):
        with pytest.raises(ValueError, match=message):
            call()


class TestNoise:
    @pytest.mark.parametrize("surface", [peaks(256), VASE], ids=["peaks", "vase"])
    def test_level(self, surface):
        noisy = surface.with_noise(0.1, np.random.default_rng(3))
        level = 0.1 * np.hypot(surface.p, surface.q).max()
        noises = noisy.p - surface.p, noisy.q - surface.q
        for noise in noises:  # to four standard errors of the mean and of the deviation
            assert abs(noise.mean()) < 4 * level / np.sqrt(noise.size)
            assert noise.std() == pytest.approx(level, rel=4 / np.sqrt(2 * noise.size))
        assert abs(np.corrcoef(noises[0].ravel(), noises[1].ravel())[0, 1]) < 0.02

    def test_it_depends_on_the_generator_only_and_leaves_the_exact_surface(self):
        surface = peaks(16)
        first, again, other = (surface.with_noise(0.1, np.random.default_rng(seed)) for seed in (7, 7, 8))
        np.testing.assert_array_equal(first.q, again.q)
        assert (first.q != other.q).any() and first.depth is surface.depth
        np.testing.assert_array_equal(surface.p, peaks(16).p)


class TestStatues:
    @each_statue
    def test_slopes_are_those_of_the_depth(self, make):
        # The tail is made of many beads with two numbers; it is left out, the single bodies are exact.
        errors = []
        for n in (300, 600):
            statue = make(n)
            last = statue.parts.max() - 1 if make is figurine else np.inf
            single = (statue.parts[INNER] >= 0) & (statue.parts[INNER] < last)
            inside = single & same_five(statue.parts) & gentle(statue, 1)
            assert inside.mean() > 0.1
            errors.append(slope_errors(statue, inside).mean())
        assert errors[0] < 2e-3
        assert_falls_with_the_square(errors)

    def test_the_tail_is_a_smooth_string_of_beads(self):
        statue = figurine(600)
        for part in (statue.parts.max() - 1, statue.parts.max()):
            inside = (statue.parts[INNER] == part) & same_five(statue.parts) & gentle(statue, 1)
            assert inside.sum() > 1000
            # The beads are so close to one another that there is no deeper notch between them.
            assert slope_errors(statue, inside).max() < 0.2

    @each_statue
    def test_depths_grow_with_the_size_and_slopes_do_not(self, make):
        # Each pixel of a picture is in the middle of three by three of one that is three times as large.
        small, large = make(100), make(300)
        middle = np.s_[1::3, 1::3]
        np.testing.assert_array_equal(small.parts, large.parts[middle])
        np.testing.assert_allclose(3 * small.depth, large.depth[middle], rtol=1e-12)
        for one, other in ((small.p, large.p), (small.q, large.q)):
            np.testing.assert_allclose(one, other[middle], rtol=1e-9, atol=1e-12)
            assert np.abs(other).max() == 10

    @each_statue
    @pytest.mark.parametrize("n", [8, 9, 300])
    def test_outside_is_zero_and_nothing_touches_the_frame(self, make, n):
        statue = make(n)
        mask = statue.mask
        assert mask.shape == (n, round(0.9 * n) if make is figurine else n) and mask.any()
        background = -1 if make is figurine else statue.parts.max()  # nothing, or a wall
        np.testing.assert_array_equal(mask, statue.parts != background)
        for image in (statue.depth, statue.p, statue.q):
            assert np.isfinite(image).all() and not image[~mask].any()
        assert n < 300 or not (mask[0].any() or mask[:, 0].any() or mask[:, -1].any())

    def test_the_bust_stands_before_its_wall_and_the_figurine_is_in_one_piece(self):
        statue = bust()
        assert statue.depth[statue.mask].min() > 0.2 * 256
        assert scipy.ndimage.label(figurine().mask)[1] == 1


class TestOcclusions:
    def two_plates(self, step, slope=0.0):
        """Return two plates side by side, the right one nearer by a step."""
        v = np.broadcast_to(np.arange(10.0), (6, 10))
        parts = (v >= 5).astype(int)
        depth = slope * v + step * parts
        return Surface(depth, np.zeros((6, 10)), np.full((6, 10), slope), np.ones((6, 10), bool), parts=parts)

    @pytest.mark.parametrize("slope", [0.0, -8.0])
    @pytest.mark.parametrize("step", [5.0, -5.0, 0.0])
    def test_exactly_the_edges_between_plates_that_do_not_go_on_into_each_other(self, slope, step):
        down, right = self.two_plates(step, slope).occlusions()
        assert not down.any()
        np.testing.assert_array_equal(right, np.broadcast_to((np.arange(10) == 4) & (step != 0), (6, 10)))

    @pytest.mark.parametrize(("step", "least", "hidden"), [(0.9, 1, False), (1.1, 1, True), (1.1, 2, False)])
    def test_least(self, step, least, hidden):
        assert self.two_plates(step).occlusions(least)[1].any() == hidden

    @pytest.mark.parametrize("ridge", [4.5, 4.9])
    @pytest.mark.parametrize("sign", [1, -1], ids=["ridge", "valley"])
    def test_creases_are_none(self, ridge, sign):
        # Two roofs that meet, steeper than a step that counts: each goes on where the other ends.
        v = np.broadcast_to(np.arange(10.0) - ridge, (6, 10))
        depth, q, parts = -3 * sign * np.abs(v), -3 * sign * np.sign(v), (v > 0).astype(int)
        roof = Surface(depth, np.zeros((6, 10)), q, np.ones((6, 10), bool), parts=parts)
        assert not any(edges.any() for edges in roof.occlusions())

    def test_one_body_hides_nothing_of_itself(self):
        for surface in (peaks(32), canadian_tent(32, 8, 8)):
            assert not any(edges.any() for edges in surface.occlusions())

    @each_statue
    def test_they_are_where_the_depth_jumps_between_bodies(self, make):
        statue = make()
        slopes, inside = (statue.p, statue.q), 0
        for axis, (edges, (here, there)) in enumerate(zip(statue.occlusions(), NEIGHBOURS, strict=True)):
            step = np.abs(np.diff(statue.depth, axis=axis))
            seen = (statue.parts[here] >= 0) & (statue.parts[there] >= 0)
            other = seen & (statue.parts[here] != statue.parts[there])
            assert edges.sum() == edges[here].sum() > 50
            # Between two bodies, a step of more than the steepest slope and a pixel is always one, and one of
            # less than a pixel never is; inside a body none is.
            assert edges[here][other & (step > 11)].all()
            assert not edges[here][(step < 1) | ~other].any()
            # Where both ends are less steep than 3, a step of more than 5 pixels cannot be a slope.
            flat = (np.abs(slopes[axis][here]) < 3) & (np.abs(slopes[axis][there]) < 3)
            jump = seen & flat & (step > 5)
            assert jump.sum() > 10 and edges[here][jump].all()
            # The silhouette is one of them if there is something behind.
            contour = statue.mask[here] != statue.mask[there]
            assert (edges[here][contour & (step > 11)] == (make is bust)).all()
            inside += np.count_nonzero(edges[here] & statue.mask[here] & statue.mask[there])
        assert inside > 100  # not only the silhouette: what makes a statue hard to integrate
