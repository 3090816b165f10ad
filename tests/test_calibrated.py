"""Calibrated integration: invariances, exact recoveries, least squares on smooth data, any mask, priors."""

import numpy as np
import pytest
from small_problems import MASKS, centred, each_mask, edges_of, held_or_not, prior_of, random_fields

import normint
from normint.methods.calibrated import CONSTANTS, calibrated
from normint.metrics import rmse
from normint.normals.camera import projection
from normint.normals.integrate_normals import integrate_normals

METHODS = "calibrated", "quadratic"
N = 48
U, V = np.indices((N, N)).astype(float)
EVERYWHERE = np.ones((N, N), bool)
L_SHAPE = (U >= 24) | (V < 20)


# How the half is used where images are small.
BESIDE, ALONE = CONSTANTS._replace(whole=256), CONSTANTS._replace(whole=256, large=256)


def piecewise(name):
    """Return a mask, the depth, and slopes of which every step is the mean, but across the jumps.

    Each of these is higher than half a pixel: lower ones are none to the method.
    """
    mask, zero = EVERYWHERE, np.zeros((N, N))
    if name == "roof":  # the ridge lies between two rows
        depth, p, q = -0.7 * np.abs(U - 23.5), -0.7 * np.sign(U - 23.5), zero
    elif name == "tent":
        inside = (np.abs(U - 23.5) < 12) & (np.abs(V - 23.5) < 14)
        depth = np.where(inside, 1.2 * (12 - np.abs(U - 23.5)), 0.0)
        p, q = np.where(inside, -1.2 * np.sign(U - 23.5), 0.0), zero
    elif name == "step that tapers to nothing":
        lifted = (U >= 24) & (V > 10)
        depth, p, q = np.where(lifted, 1.2 * (V - 10.5), 0.0), zero, np.where(lifted, 1.2, 0.0)
    elif name == "board attached at its broad side":  # at the other, it could as well have been attached
        board = (np.abs(U - 23.5) < 14 - 0.4 * np.maximum(V - 16, 0)) & (V > 10) & (V < 38)
        depth, p, q = np.where(board, 1.2 * (V - 10.5), 0.0), zero, np.where(board, 1.2, 0.0)
    elif name == "two planes and a kink":
        right = V > 20
        depth = 0.2 * U + np.where(right, 0.8, -0.3) * (V - 20.5)
        p, q = 0.2 + zero, np.where(right, 0.8, -0.3)
    elif name == "roof on an L":
        mask = L_SHAPE
        depth, p, q = -0.7 * np.abs(U - 33.5), -0.7 * np.sign(U - 33.5), zero
    depth, p, q = depth + 0.1 * U - 0.3 * V, p + 0.1, q - 0.3
    return mask, centred(np.where(mask, depth, np.nan), mask), p, q


PIECEWISE = (
    "roof", "tent", "step that tapers to nothing", "board attached at its broad side",
    "two planes and a kink", "roof on an L",
)  # fmt: skip


def scenes():
    """Return slopes with noise, and their masks, by name."""
    tent, vase = normint.surfaces.canadian_tent(64, 16, 16), normint.surfaces.vase(80)
    peaks, rng = normint.surfaces.peaks(64), np.random.default_rng(0)
    found = {}
    for name, surface, sigma in (("tent", tent, 0.01), ("vase", vase, 0.01), ("peaks", peaks, 0.05)):
        noisy = surface.with_noise(sigma, rng)
        found[name] = noisy.p, noisy.q, np.ones(noisy.p.shape, bool)
    rows = np.arange(64)[:, np.newaxis]
    ring = np.hypot(rows - 31, rows.T - 33) > 14
    noisy = tent.with_noise(0.01, rng)
    found["tent with a hole"] = noisy.p, noisy.q, ring
    return found


SCENES = scenes()
each_scene = pytest.mark.parametrize("scene", SCENES)


class TestInvariance:
    """On a mask with a hole; tests/test_invariances.py has more on whole images."""

    def test_transposing(self):
        p, q, mask = SCENES["tent with a hole"]
        expected = calibrated(p, q, mask)
        found = calibrated(q.T, p.T, mask.T)
        leeway = 1e-4 * expected.depth[mask].std()  # the systems are solved to 1e-5
        np.testing.assert_allclose(found.depth.T[mask], expected.depth[mask], atol=leeway)
        np.testing.assert_array_equal(found.weights[0].T, expected.weights[1])
        np.testing.assert_allclose(found.confidence[0].T, expected.confidence[1], atol=1e-3)

    @pytest.mark.parametrize("axis", [0, 1])
    def test_flipping(self, axis):
        p, q, mask = SCENES["tent with a hole"]
        expected = calibrated(p, q, mask)
        p, q, flipped = (np.flip(image, axis) for image in (p, q, mask))
        found = calibrated(*((-p, q) if axis == 0 else (p, -q)), flipped)
        np.testing.assert_allclose(np.flip(found.noise, axis), expected.noise)
        difference = (np.flip(found.depth, axis) - expected.depth)[mask]
        difference -= np.median(difference)
        # A single pixel may have two places that cost the same; the systems' rounding decides between them.
        assert np.sum(np.abs(difference) > 1e-4 * expected.depth[mask].std()) <= 1

    @each_scene
    def test_negating_the_depth_and_where_it_grows(self, scene):
        p, q, mask = SCENES[scene]
        expected, found = calibrated(p, q, mask), calibrated(-p, -q, mask, away=True)
        leeway = 1e-4 * expected.depth[mask].std()
        np.testing.assert_allclose(-found.depth[mask], expected.depth[mask], atol=leeway)
        np.testing.assert_array_equal(found.weights, expected.weights)
        np.testing.assert_allclose(found.noise, expected.noise)

    @each_scene
    def test_twice_the_same(self, scene):
        first, second = (calibrated(*SCENES[scene]) for _ in range(2))
        np.testing.assert_array_equal(first.depth, second.depth)
        np.testing.assert_array_equal(first.energies, second.energies)
        np.testing.assert_array_equal(first.weights, second.weights)


class TestRecovery:
    @pytest.mark.parametrize("name", PIECEWISE)
    def test_planes_without_noise_are_exact_and_weights_tell_their_jumps(self, name):
        mask, depth, p, q = piecewise(name)
        found = calibrated(p, q, mask)
        np.testing.assert_allclose(found.depth, depth, atol=1e-4 * np.ptp(depth[mask]))
        for axis, slope, weight, inside in zip((0, 1), (p, q), found.weights, edges_of(mask), strict=True):
            mean = slope + 0.5 * np.diff(slope, axis=axis, append=0)
            wrong = np.abs(np.diff(depth, axis=axis, append=0) - mean)
            bend = 0.5 * np.abs(np.diff(slope, axis=axis, append=0))
            assert (weight[inside & (wrong < 1e-9)] == 1).all()
            assert (weight[inside & (wrong - bend > CONSTANTS.jump)] == 0).all()
            assert not weight[~inside].any()

    @staticmethod
    def errors(surface, sigma):
        """Return those of calibrated and of least squares."""
        noisy = surface.with_noise(sigma, np.random.default_rng(0))
        depths = (normint.integrate(noisy.p, noisy.q, method=m).depth for m in METHODS)
        return [rmse(depth, surface.depth) for depth in depths]

    @pytest.mark.parametrize("sigma", [0.0, 0.01, 0.1])
    def test_a_smooth_surface_is_that_of_least_squares(self, sigma):
        ours, least_squares = self.errors(normint.surfaces.peaks(96), sigma)
        assert ours <= 1.02 * least_squares

    def test_tent_and_vase_with_noise(self):
        for surface in (normint.surfaces.canadian_tent(64, 16, 16), normint.surfaces.vase(96)):
            ours, least_squares = self.errors(surface, 0.01)
            assert ours < 0.35 * least_squares

    def test_a_tent_before_a_near_camera(self):
        camera = np.array([[100.0, 0.0, 40.0], [0.0, 100.0, 40.0], [0.0, 0.0, 1.0]])
        rays = projection(camera).rays((80, 80))
        far, *roof = ((np.array(n), d) for n, d in (
            ((0.0, 0.0, 1.0), -200.0), ((0.5, 0.0, 1.0), -180.0), ((-0.5, 0.0, 1.0), -180.0)))  # fmt: skip
        wall, above, below = (d / (rays @ n) for n, d in (far, *roof))
        columns = np.abs(np.arange(80) - 40.2) < 22
        shown = columns & (np.maximum(above, below) < wall)
        distance = np.where(shown, np.maximum(above, below), wall)
        faces = np.where((above > below)[..., np.newaxis], roof[0][0], roof[1][0])
        normals = np.where(shown[..., np.newaxis], faces, far[0])
        depths = (integrate_normals(normals, camera=camera, axes="uvz", method=m).depth for m in METHODS)
        errors = [np.std(np.log(depth / distance)) for depth in depths]
        assert errors[0] < 0.1 * errors[1]


def smooth(name, size):
    """Return slopes of a smooth surface, at most 1, from normals of 8 bits for each component."""
    u, v = 6 * np.indices((size, size)) / (size - 1) - 3
    if name == "peaks":
        surface = normint.surfaces.peaks(size)
        p, q = surface.p, surface.q
    elif name == "waves":
        p, q = np.cos(2 * u) * np.cos(v), -0.5 * np.sin(2 * u) * np.sin(v)
    else:
        centres = {
            "bump": [(0, 0, 1)],
            "wide bump": [(0, 0, 4)],
            "bump and pit": [(1, 1, 0.5), (-1, -0.5, -0.4)],
        }
        p, q = np.zeros((2, size, size))
        for at_u, at_v, width in centres[name]:
            bell = np.sign(width) * np.exp(-((u - at_u) ** 2 + (v - at_v) ** 2) / (2 * abs(width)))
            p, q = p - (u - at_u) * bell, q - (v - at_v) * bell
    steepest = np.hypot(p, q).max()
    normals = normint.gradient_to_normals(p / steepest, q / steepest)
    return normint.normals_to_gradient(np.rint((normals + 1) * 127.5) / 127.5 - 1)


class TestSmooth:
    """Rounding to 8 bits tears nothing."""

    @pytest.mark.parametrize("size", [24, 33, 64, 128])
    @pytest.mark.parametrize("name", ["bump", "wide bump", "bump and pit", "waves", "peaks"])
    def test_a_bump_of_8_bits_is_cut_nowhere(self, name, size):
        p, q = smooth(name, size)[:2]
        for sign in (1, -1):
            result = calibrated(sign * p, sign * q)
            np.testing.assert_array_equal(result.weights, edges_of(p < np.inf))

    def test_nor_where_it_is_hollow_or_the_depth_grows_away(self):
        p, q = smooth("bump", 64)[:2]
        np.testing.assert_array_equal(calibrated(p, q, away=True).weights, edges_of(p < np.inf))


class TestEveryMask:
    @each_mask
    @held_or_not
    @pytest.mark.parametrize("slope", [0.0, 1e3])
    def test_nothing_outside_counts_and_all_is_finite_inside(self, mask, slope, held):
        p, q, _ = (slope * field for field in random_fields(mask))
        prior = prior_of(mask, held)
        expected = calibrated(p, q, mask, **prior)
        found = calibrated(np.where(mask, p, np.nan), np.where(mask, q, np.inf), mask, **prior)
        np.testing.assert_array_equal(found.depth, expected.depth)
        for image in (found.depth, found.noise):
            np.testing.assert_array_equal(np.isfinite(image), mask)
        for weight, confidence, inside in zip(found.weights, found.confidence, edges_of(mask), strict=True):
            assert np.isin(weight[inside], (0, 1)).all() and not weight[~inside].any()
            assert ((confidence > 0) & (confidence <= 1))[inside].all() and not confidence[~inside].any()
        assert np.isfinite(found.energies).all() and found.energies.size


class TestPrior:
    block = (np.abs(U - 23.5) < 9) & (np.abs(V - 20.5) < 8)
    truth = np.where(block, 20 + 0.3 * (V - 20.5), 0.1 * U)
    p, q = np.where(block, 0.0, 0.1), np.where(block, 0.3, 0.0)

    @pytest.mark.parametrize("constants", [CONSTANTS, BESIDE, ALONE], ids=["whole", "beside", "alone"])
    def test_control_points_place_a_floating_block(self, constants):
        prior = np.full((N, N), np.nan)
        prior[24, 20], prior[3, 3] = self.truth[24, 20], self.truth[3, 3]
        found = calibrated(self.p, self.q, prior=prior, prior_weight=10.0, constants=constants).depth
        np.testing.assert_allclose(found, self.truth, atol=1e-3)

    def test_a_weak_prior_everywhere_places_it_too(self):
        # Each part is where the mean of the prior puts it, and else as the slopes say.
        error = 0.5 * np.random.default_rng(0).standard_normal((N, N))
        found = calibrated(self.p, self.q, prior=self.truth + error, prior_weight=1e-6).depth
        for part in (self.block, ~self.block):
            np.testing.assert_allclose((found - self.truth)[part], error[part].mean(), atol=2e-3)

    @pytest.mark.parametrize("scene", ["tent", "tent with a hole"])
    def test_a_strong_prior_is_reproduced(self, scene):
        p, q, mask = SCENES[scene]
        prior = np.random.default_rng(1).standard_normal(mask.shape)
        found = calibrated(p, q, mask, prior=prior, prior_weight=1e8).depth
        np.testing.assert_allclose(found[mask], prior[mask], atol=1e-3)

    def test_the_truth_as_prior_changes_nothing(self):
        mask, depth, p, q = piecewise("tent")
        for weight in (1e-6, 1.0, 1e3):
            found = calibrated(p, q, prior=depth, prior_weight=weight).depth
            np.testing.assert_allclose(found, depth, atol=1e-5)


class TestHalves:
    """Large images start with their half, alone or beside other starts; here small ones do."""

    either = pytest.mark.parametrize("constants", [BESIDE, ALONE], ids=["beside", "alone"])

    @either
    @pytest.mark.parametrize("name", PIECEWISE)
    def test_planes_without_noise_are_exact(self, name, constants):
        mask, depth, p, q = piecewise(name)
        found = calibrated(p, q, mask, constants=constants).depth
        np.testing.assert_allclose(found, depth, atol=1e-4 * np.ptp(depth[mask]))

    @either
    def test_a_smooth_surface_is_that_of_least_squares(self, constants):
        peaks = normint.surfaces.peaks(81)
        noisy = peaks.with_noise(0.05, np.random.default_rng(0))
        found = calibrated(noisy.p, noisy.q, constants=constants).depth
        assert rmse(found, peaks.depth) <= 1.02 * rmse(normint.integrate(noisy.p, noisy.q).depth, peaks.depth)

    @either
    def test_more_starts_do_no_harm(self, constants):
        p, q, mask = SCENES["vase"]
        without = CONSTANTS._replace(whole=p.size)
        energies = [calibrated(p, q, mask, constants=c).energies[-1] for c in (constants, without)]
        assert energies[0] <= 1.005 * energies[1]

    @each_mask
    @held_or_not
    def test_every_mask(self, mask, held):
        p, q, _ = random_fields(mask)
        smallest = CONSTANTS._replace(whole=2, large=2)
        found = calibrated(np.where(mask, p, np.nan), q, mask, **prior_of(mask, held), constants=smallest)
        np.testing.assert_array_equal(np.isfinite(found.depth), mask)
        u, v = np.indices(mask.shape)
        plane = calibrated(np.ones(mask.shape), -np.ones(mask.shape), mask, constants=smallest).depth
        np.testing.assert_allclose(plane, centred(np.where(mask, 1.0 * (u - v), np.nan), mask), atol=1e-4)

    @either
    def test_each_stage_is_told_once_and_in_full_size(self, constants):
        p, q, mask = SCENES["tent with a hole"]
        stages = []
        calibrated(p, q, mask, constants=constants, observe=lambda stage, z: stages.append((stage, z)))
        names, depths = zip(*stages, strict=True)
        assert [name for name in names if name != "cooling"] == ["least squares", "annealed", "moved", "done"]
        assert names[1] == "cooling" and names[-4:] == ("cooling", "annealed", "moved", "done")
        for depth in depths:
            np.testing.assert_array_equal(np.isfinite(depth), mask)


class TestInvarianceOfHalves:
    @each_scene
    def test_mirroring(self, scene):
        cropped = (image[:-1, :-3] for image in SCENES[scene])  # odd numbers of rows and columns
        p, q, mask = cropped
        expected = calibrated(p, q, mask, constants=BESIDE).depth
        found = calibrated(-p[::-1], q[::-1], mask[::-1], constants=BESIDE).depth[::-1]
        moved = np.abs(found - expected - np.nanmedian(found - expected)) > 5e-4 * np.nanstd(expected)
        assert moved.sum() <= 1  # as in TestInvariance; systems are solved to 1e-5


class TestReports:
    @pytest.mark.parametrize("sigma", [0.01, 0.05, 0.2])
    def test_noise_is_measured(self, sigma):
        peaks = normint.surfaces.peaks(96)
        noisy = peaks.with_noise(sigma, np.random.default_rng(3))
        true = np.std([noisy.p - peaks.p, noisy.q - peaks.q]) / 2**0.5  # an edge is the mean of two pixels
        assert np.median(calibrated(noisy.p, noisy.q).noise) == pytest.approx(true, rel=0.1)

    @each_scene
    def test_only_what_slopes_do_not_explain_is_cut(self, scene):
        p, q, mask = SCENES[scene]
        result = calibrated(p, q, mask)
        cuts = 0
        for axis, slope, weight, inside in zip((0, 1), (p, q), result.weights, edges_of(mask), strict=True):
            step = np.diff(result.depth, axis=axis, append=np.nan)
            other = slope + np.diff(slope, axis=axis, append=0)
            outside = np.maximum(step - np.maximum(slope, other), np.minimum(slope, other) - step)
            cut = inside & (weight == 0)
            cuts += cut.sum()
            assert (outside[cut] > CONSTANTS.jump).all()
        assert (cuts == 0) == (scene == "peaks")

    def test_a_high_jump_is_surer_than_a_low_one(self):
        # Slopes are the same all along the step; it is its height that grows.
        _, depth, p, q = piecewise("step that tapers to nothing")
        result = calibrated(p, q)
        sure, height = result.confidence[0][23, 11:], (depth[24] - depth[23])[11:]
        assert (result.weights[0][23, 11:] == 0).all() and (np.diff(height) > 0).all()
        assert (np.diff(sure) > 0).all() and sure[0] < 0.8 * sure[-1]

    def test_a_smooth_surface_is_surer_where_it_is_flat(self):
        peaks = normint.surfaces.peaks(64)
        result = calibrated(peaks.p, peaks.q)
        bend = np.abs(np.diff(peaks.q, axis=1))
        sure = result.confidence[1][:, :-1]
        assert sure[bend > np.quantile(bend, 0.9)].mean() < sure[bend < np.quantile(bend, 0.1)].mean()

    def test_callback_tells_of_every_polished_surface(self):
        told, stages = [], []
        result = calibrated(
            *SCENES["vase"],
            callback=lambda *call: told.append(call),
            observe=lambda *call: stages.append(call),
        )
        np.testing.assert_array_equal(stages[-1][1], result.depth)
        assert (np.diff(result.energies) < 0).all()
        solves, energies = np.transpose(told)
        assert len(told) >= 3 and (np.diff(solves) > 0).all() and solves[-1] < result.iterations
        assert set(result.energies[1:]) <= set(energies)

    def test_a_callback_may_stop_it(self):
        def stop(solves, energy):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            calibrated(*SCENES["vase"], callback=stop)


class TestBadInput:
    field = np.ones((3, 4))

    @pytest.mark.parametrize(
        ("name", "value"),
        [("q", np.ones((4, 3))), ("p", np.full((3, 4), np.nan)), ("mask", np.zeros((3, 4))),
         ("prior_weight", -1.0), ("away", 1), ("away", None), ("constants", 3.0), ("constants", None)],
    )  # fmt: skip
    def test_names_the_argument(self, name, value):
        arguments = {"p": self.field, "q": self.field, name: value}
        with pytest.raises(ValueError, match=f"^{name}"):
            calibrated(**arguments)

    def test_it_takes_no_start_and_no_scheme(self):
        for name in ("initial", "scheme"):
            with pytest.raises(ValueError, match=f"^{name} is not an option"):
                normint.integrate(self.field, self.field, method="calibrated", **{name: None})

    def test_constants_are_fixed(self):
        with pytest.raises(AttributeError):
            CONSTANTS.jump = 1.0

    @pytest.mark.parametrize("name", CONSTANTS._fields)
    def test_constants_are_positive(self, name):
        with pytest.raises(ValueError, match=f"^{name}"):
            calibrated(self.field, self.field, constants=CONSTANTS._replace(**{name: 0}))

    def test_arguments_are_not_written_to(self):
        fields = random_fields(MASKS["hole"])
        kept = np.copy(fields)
        calibrated(*fields[:2], MASKS["hole"], prior=fields[2], prior_weight=0.1)
        np.testing.assert_array_equal(fields, kept)
