"""Depth maps and control points hold an integrated normal map in their units."""

import numpy as np
import pytest
from near_shapes import SHAPE, K, sphere

import normint
from normint.normals.integrate_normals import integrate_map
from normint.normals.maps import NormalMap
from normint.priors.depth_sensor import block_means, spread
from normint.priors.holding import disagreement, hold, resolution

TRUTH, NORMALS, MASK = sphere()
SEEN = NormalMap.decoded(NORMALS, MASK, K)
ALONE = np.full(SHAPE, np.nan)
ALONE[40, 50] = 300.0  # a map of one value has no noise to measure


def held(seen=SEEN, **given):
    return hold(seen, rng=np.random.default_rng(0), **given)


def merged(seen, one):
    return integrate_map(seen, prior=one.prior, prior_weight=one.weight, distance=one.distance).depth


def rms(depth, truth=TRUTH, mask=MASK):
    return float(np.sqrt(np.mean((depth - truth)[mask] ** 2)))


class TestMap:
    def test_decides_the_unit_and_is_cleaned_of_noise(self):
        noise = 3.0 * np.random.default_rng(1).standard_normal(SHAPE)
        for unit in (1.0, 0.001, 1e6):
            one = held(prior=unit * (TRUTH + noise))
            depth = merged(SEEN, one) / unit
            assert rms(depth) < 0.15 and one.size == 1
        assert one.distance / unit == pytest.approx(np.median(TRUTH[MASK]), rel=0.01)

    def test_along_the_rays(self):
        seen = NormalMap.decoded(NORMALS, MASK, K, depth="ray")
        length = np.linalg.norm(seen.lens.rays(SHAPE), axis=-1)
        noise = 3.0 * np.random.default_rng(1).standard_normal(SHAPE)
        assert rms(merged(seen, held(seen, prior=TRUTH * length + noise)), TRUTH * length) < 0.15

    def test_without_a_camera(self):
        surface = normint.surfaces.peaks(64)
        seen = NormalMap.decoded(normint.gradient_to_normals(surface.p, surface.q))
        noise = np.random.default_rng(1).standard_normal((64, 64))
        one = held(seen, prior=100 + surface.depth + noise)
        assert rms(merged(seen, one) - 100, surface.depth, surface.mask) < 0.15 and one.distance is None

    def test_a_method_that_finds_jumps_needs_less(self):
        """A vase before a wall, and a map of its depth with a hole."""
        vase = normint.surfaces.vase(96)
        seen = NormalMap.decoded(normint.gradient_to_normals(vase.p, vase.q))
        prior = vase.depth + np.random.default_rng(1).standard_normal((96, 96))
        prior[10:14, 10:14] = np.nan
        smooth, sharp = held(seen, prior=prior), held(seen, prior=prior, jumps=True)
        assert sharp.weight.max() == sharp.choice.noise_weight < 0.1 * smooth.weight.max()
        given = {"prior": sharp.prior, "prior_weight": sharp.weight}
        depth = integrate_map(seen, "calibrated", **given).depth
        assert rms(depth, vase.depth, seen.mask) < 0.3 * rms(merged(seen, smooth), vase.depth, seen.mask)
        assert disagreement(seen, sharp, depth) < 1.1

    def test_a_depth_far_from_the_prior_is_noticed(self):
        truth = TRUTH * np.where(np.arange(96) < 48, 1.0, 1.1)  # a step that no normal shows
        one = held(prior=truth + np.random.default_rng(1).standard_normal(SHAPE), jumps=True)
        assert disagreement(SEEN, one, merged(SEEN, one)) > 2
        assert disagreement(SEEN, held(prior=truth, weight=1.0), truth) is None

    def test_a_given_weight_is_taken(self):
        one = held(prior=TRUTH, weight=0.3)
        assert one.choice is None
        np.testing.assert_array_equal(one.weight, np.where(MASK, 0.3, 0.0))
        np.testing.assert_allclose(one.prior[MASK], TRUTH[MASK])

    def test_confidence_multiplies_the_weight(self):
        confidence = np.zeros(SHAPE)
        confidence[:, :48], confidence[:, 48:60] = 1.0, 0.25
        prior = TRUTH.copy()
        prior[:, 60:] = 1e6  # nonsense that nobody trusts
        one = held(prior=prior, confidence=confidence)
        np.testing.assert_allclose(one.weight, np.where(MASK, one.choice.weight * confidence, 0.0))
        assert np.isnan(one.prior[:, 60:]).all() and rms(merged(SEEN, one)) < 0.5

    def test_coarse_values_are_compared_as_means(self):
        coarse = block_means(TRUTH, 8, MASK, least=0.1)
        by_size, by_sight = held(prior=coarse, size=8), held(prior=spread(coarse, 8, MASK))
        assert (by_size.size, by_sight.size) == (8, 8)
        np.testing.assert_allclose(by_size.prior, by_sight.prior)
        np.testing.assert_allclose(by_size.weight, by_sight.weight)
        assert rms(merged(SEEN, by_size)) < 0.1 * rms(np.nan_to_num(spread(coarse, 8, MASK), nan=300.0))


class TestResolution:
    surface = normint.surfaces.peaks(128)

    def found(self, prior):
        return resolution(self.surface.p, self.surface.q, prior, self.surface.mask)

    @pytest.mark.parametrize("size", [2, 3, 8, 16])
    def test_of_repeated_values(self, size):
        assert self.found(spread(block_means(self.surface.depth, size), size, self.surface.mask)) == size

    def test_of_a_value_for_each_pixel(self):
        depth, rng = self.surface.depth, np.random.default_rng(0)
        for prior in (depth, depth + rng.standard_normal(depth.shape), np.round(depth, 1)):
            assert self.found(prior) == 1

    def test_of_a_blurred_one(self):
        from scipy.ndimage import gaussian_filter

        rng = np.random.default_rng(0)
        detail = self.surface.depth + gaussian_filter(rng.standard_normal((128, 128)), 1.5) * 5
        p, q = np.gradient(detail)
        whole = self.surface.mask
        assert resolution(p, q, gaussian_filter(detail, 8.0), whole) in (16, 32)
        assert resolution(p, q, detail, whole) == 1


class TestPoints:
    def test_one_decides_the_unit(self):
        depth = merged(SEEN, held(points=[[40, 50, TRUTH[40, 50]]]))
        assert rms(depth) < 0.05

    def test_between_pixels_they_are_moved_along_the_slope(self):
        """On a plane, the depth at a fraction of a pixel leads to the exact plane."""
        normals = np.full((*SHAPE, 3), [0.4, -0.3, 0.8])
        truth = -200.0 / (NormalMap.decoded(normals, camera=K).lens.rays(SHAPE) @ normals[0, 0])
        for depth in ("z", "ray"):
            seen = NormalMap.decoded(normals, camera=K, depth=depth)
            ray = np.array([(30.4 - 36.0) / 240, (40.7 - 47.0) / 300, -1.0])
            known = -200.0 / (ray @ normals[0, 0]) * (1 if depth == "z" else np.linalg.norm(ray))
            found = merged(seen, held(seen, points=[[30.4, 40.7, known]]))
            expected = truth * (1 if depth == "z" else np.linalg.norm(seen.lens.rays(SHAPE), axis=-1))
            np.testing.assert_allclose(found, expected, rtol=3e-5)

    def test_several_in_a_pixel_are_averaged(self):
        seen = NormalMap.decoded(np.full((4, 4, 3), [0.0, 0.0, 1.0]))
        one = held(seen, points=[[1, 1, 5.0, 1.0], [1.2, 1.3, 8.0, 2.0]])
        assert one.prior[1, 1] == pytest.approx(7.0) and one.weight[1, 1] == 300.0
        np.testing.assert_allclose(merged(seen, one), 7.0)

    def test_go_before_the_map(self):
        one = held(prior=TRUTH, weight=1.0, points=[[40, 50, 123.0]], points_weight=7.0)
        assert (one.prior[40, 50], one.weight[40, 50]) == (pytest.approx(123.0), 7.0)
        assert one.prior[40, 51] == pytest.approx(TRUTH[40, 51])

    def test_those_outside_the_mask_are_counted(self):
        assert held(points=[[40, 50, 300.0], [0, 0, 300.0]]).outside == 1

    def test_pieces_without_any_are_counted(self):
        mask = MASK.copy()
        mask[:, 47] = False
        seen = NormalMap.decoded(NORMALS, mask, K)
        assert held(seen, points=[[40, 50, 300.0]]).pieces == 1
        assert held(seen, points=[[40, 50, 300.0], [40, 40, 300.0]]).pieces == 0


@pytest.mark.parametrize(
    "given, words",
    [
        ({}, "prior and points are missing"),
        ({"prior": np.ones((3, 3))}, "prior has shape .3, 3."),
        ({"prior": -np.ones(SHAPE)}, "prior is zero or negative"),
        ({"prior": np.full(SHAPE, np.nan)}, "NaN everywhere"),
        ({"prior": TRUTH, "confidence": np.full(SHAPE, 2.0)}, "from 0 to 1"),
        ({"prior": TRUTH, "weight": -1}, "weight is -1"),
        ({"points": [[1, 2]]}, "points has shape .1, 2."),
        ({"points": [[1, 2000, 3.0]]}, r"points\[0\] is"),
        ({"points": [[40, 50, 1.0], [1, np.nan, 3.0]]}, r"points\[1\] is"),
        ({"points": [[0, 0, 3.0]]}, "none of the 1 is inside"),
        ({"points": [[40, 50, -3.0]]}, "depth of zero or less"),
        ({"prior": ALONE}, "give the weight of the prior"),
    ],
)
def test_refusals(given, words):
    with pytest.raises(ValueError, match=words):
        held(**given)
