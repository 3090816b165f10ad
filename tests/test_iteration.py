"""What holds for all iterative methods alike: any mask, symmetries, the start, the weights, the reports."""

import numpy as np
import pytest
from small_problems import (
    MASKS,
    centred,
    each_mask,
    each_method,
    each_scheme,
    edges_of,
    held_or_not,
    on_masks,
    pieces,
    prior_of,
    random_fields,
)

import normint


def plane(mask):
    """Return the slopes of a plane, and the plane with zero mean in each piece; all NaN outside the mask."""
    u, v = np.indices(mask.shape)
    p, q, depth = (np.where(mask, field, np.nan) for field in (2.0 + 0 * u, -0.7 + 0 * v, 2.0 * u - 0.7 * v))
    return p, q, centred(depth, mask)


def leeway(method, scheme):
    """Return what rounding may change: much where conjugate gradients stop at a residual of 1e-4."""
    return 5e-3 if (method, scheme) == ("mumford_shah", "paper") else 1e-6


class TestEveryMask:
    @pytest.mark.parametrize("slope", [0.0, 1e3])
    @each_mask
    @each_method
    @each_scheme
    def test_weights_are_positive_on_the_edges_alone(self, method, scheme, mask, slope):
        p, q, _ = random_fields(mask)
        result = normint.integrate(
            slope * (1 + p), slope * q, mask, method=method, scheme=scheme, max_iterations=5
        )
        for weight, inside in zip(result.weights, edges_of(mask), strict=True):
            assert weight.shape == mask.shape and np.isfinite(weight).all()
            np.testing.assert_array_equal(weight > 0, inside)
            assert (weight >= 0).all()


class TestSymmetries:
    """The slopes of a surface, turned or mirrored, are those of the surface turned or mirrored."""

    @each_scheme
    @each_method
    @on_masks("thread", "hole")
    def test_transposing(self, method, scheme, mask):
        # With so much noise that surfaces are cut, but not so much that rounding decides between two minima.
        p, q, _ = (0.5 * field for field in random_fields(mask))
        options = {"method": method, "scheme": scheme, "max_iterations": 40}
        expected = normint.integrate(p, q, mask, **options)
        found = normint.integrate(q.T, p.T, mask.T, **options)
        np.testing.assert_allclose(found.depth.T, expected.depth, atol=leeway(method, scheme))
        for weights, others in zip(found.weights, reversed(expected.weights), strict=True):
            np.testing.assert_allclose(weights.T, others, rtol=10 * leeway(method, scheme))


class TestStart:
    @each_scheme
    @each_method
    @on_masks("thread", "hole")
    def test_a_constant_changes_nothing_and_it_is_not_written_to(self, method, scheme, mask):
        fields = p, q, z = random_fields(mask)
        kept = np.copy(fields)
        options = {"method": method, "scheme": scheme, "max_iterations": 40}
        expected = normint.integrate(p, q, mask, initial=z, **options)
        np.testing.assert_array_equal(fields, kept)
        found = normint.integrate(p, q, mask, initial=z + 100.0, **options)
        np.testing.assert_allclose(found.depth, expected.depth, atol=leeway(method, scheme))

    @held_or_not
    @each_scheme
    @each_method
    def test_is_least_squares_by_default(self, method, scheme, held):
        mask = MASKS["thread"]
        p, q, _ = random_fields(mask)
        prior = prior_of(mask, held)
        options = {"method": method, "scheme": scheme, "max_iterations": 3, **prior}
        least_squares = normint.integrate(p, q, mask, tolerance=1e-12, **prior).depth
        expected = normint.integrate(p, q, mask, initial=least_squares, **options)
        found = normint.integrate(p, q, mask, **options)
        np.testing.assert_allclose(found.energies, expected.energies, rtol=leeway(method, scheme))


class TestPrior:
    @each_scheme
    @each_method
    def test_control_points_say_where_each_piece_is(self, method, scheme):
        mask = MASKS["thread"]
        p, q, truth = plane(mask)
        truth += np.where(pieces(mask)[0], 5.0, -3.0)
        points = (np.array([1, 7, 6]), np.array([1, 9, 0]))
        prior, weight = np.full(mask.shape, np.nan), np.zeros(mask.shape)
        prior[points], weight[points] = truth[points], 1e3
        u, v = np.indices(mask.shape)
        result = normint.integrate(
            p, q, mask, method=method, scheme=scheme, prior=prior, prior_weight=weight,
            initial=truth + 0.1 * np.sin(u + v),
        )  # fmt: skip
        np.testing.assert_allclose(result.depth, truth, atol=max(1e-5, leeway(method, scheme)))


class TestJumps:
    @each_scheme
    @pytest.mark.parametrize("method", ["total_variation", "phi1", "phi2", "mumford_shah"])
    def test_edges_across_them_weigh_little(self, method, scheme):
        # The gable ends of a tent. Diffusion, which looks at how steep a surface is, hardly tells them from
        # the roof.
        tent = normint.surfaces.canadian_tent(24, half_length=7, half_width=7)
        noisy = tent.with_noise(0.02, np.random.default_rng(0))
        result = normint.integrate(noisy.p, noisy.q, method=method, scheme=scheme)
        jumps = np.abs(np.diff(tent.depth, axis=1)) > 0.6 * tent.depth.max()
        weights = result.weights[1][:, :-1]
        assert jumps.any()
        assert weights[jumps].max() < 0.1 * np.median(weights)


class TestReports:
    @each_scheme
    @each_method
    def test_callback_hears_every_energy(self, method, scheme):
        p, q, _ = random_fields(MASKS["hole"])
        calls = []
        result = normint.integrate(
            p, q, MASKS["hole"], method=method, scheme=scheme, max_iterations=4, tolerance=0,
            callback=lambda *call: calls.append(call),
        )  # fmt: skip
        assert [iteration for iteration, _ in calls] == [1, 2, 3, 4]
        np.testing.assert_array_equal([energy for _, energy in calls], result.energies[1:])
        assert result.iterations == 4 and not result.converged

    @each_scheme
    @each_method
    def test_it_stops_where_the_energy_stands_still(self, method, scheme):
        p, q, _ = random_fields(MASKS["rectangle"])
        result = normint.integrate(
            0.1 * p, 0.1 * q, method=method, scheme=scheme, tolerance=1e-4, max_iterations=1000
        )
        changes = np.abs(np.diff(result.energies)) / np.abs(result.energies[1:])
        assert result.converged and result.iterations < 1000
        assert changes[-2:].min() <= 1e-4  # the fast diffusion makes one more step after that

    @each_method
    def test_it_stops_where_only_rounding_is_left(self, method):
        mask = np.random.default_rng(0).random((43, 157)) > 0.4  # many small pieces, all solved exactly
        assert normint.integrate(*plane(mask)[:2], mask, method=method).converged


class TestBadInput:
    field = np.ones((3, 4))

    @each_method
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("scheme", "slow"), ("initial", np.ones((4, 3))), ("tolerance", -1.0), ("max_iterations", 0),
            ("prior_weight", -1.0),
        ],
    )  # fmt: skip
    def test_of_all(self, method, name, value):
        options = {"prior": self.field} if name == "prior_weight" else {}
        with pytest.raises(ValueError, match=f"^{name}"):
            normint.integrate(self.field, self.field, method=method, **options, **{name: value})

    @pytest.mark.parametrize(
        ("method", "name"),
        [
            ("total_variation", "step"), ("phi1", "beta"), ("phi2", "gamma"), ("mumford_shah", "mu"),
            ("mumford_shah", "epsilon"), ("anisotropic_diffusion", "mu"), ("anisotropic_diffusion", "nu"),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("value", [0.0, "one"])
    def test_of_one(self, method, name, value):
        with pytest.raises(ValueError, match=f"^{name} is "):
            normint.integrate(self.field, self.field, method=method, **{name: value})
