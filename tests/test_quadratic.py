"""The quadratic method against dense least squares, surfaces it must recover, and what must not change it."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import normint
from normint.domain import Domain

seeds = st.integers(0, 2**32 - 1)
masks = hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9)).filter(np.any)
DEGENERATE = {
    "one pixel": np.ones((1, 1), bool),
    "a row": np.ones((1, 9), bool),
    "a column": np.ones((8, 1), bool),
    "a broken row": np.array([[1, 1, 0, 1, 0, 0, 1, 1, 1]], bool),
    "isolated pixels": np.indices((6, 7)).sum(axis=0) % 2 == 0,
    "a hole": np.pad(np.zeros((3, 2), bool), 2, constant_values=True),
    "a ring one pixel wide": np.pad(np.zeros((5, 6), bool), 1, constant_values=True),
    "two pieces and a pixel": np.array([[1, 1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 1]], bool),
    "pieces that touch at a corner": np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]], bool),
}
on_degenerate_masks = pytest.mark.parametrize("mask", DEGENERATE.values(), ids=DEGENERATE.keys())
on_random_masks = settings(deadline=None, max_examples=50)


def accurate(p, q, mask=None, **options):
    """Integrate to rounding, so that only the mathematics is compared."""
    result = normint.integrate(p, q, mask, tolerance=1e-12, **options)
    assert result.converged
    return result.depth


def dense_least_squares(p, q, mask, prior=None, weight=None):
    """Minimise the paper's energy as one stack of rows, one per observed difference; minimal norm."""
    domain = Domain(mask)
    rows, data = [], []
    for field, D, observed in (
        (p, domain.Du_plus, domain.omega_u_plus),
        (p, domain.Du_minus, domain.omega_u_minus),
        (q, domain.Dv_plus, domain.omega_v_plus),
        (q, domain.Dv_minus, domain.omega_v_minus),
    ):
        defined = domain.to_vector(observed)
        rows.append(np.sqrt(0.5) * D.toarray()[defined])
        data.append(np.sqrt(0.5) * domain.to_vector(field)[defined])
    if weight is not None:
        held = domain.to_vector(weight) > 0
        root = np.sqrt(domain.to_vector(weight)[held])
        rows.append(root[:, np.newaxis] * np.eye(domain.size)[held])
        data.append(root * domain.to_vector(prior)[held])
    # Of all minimisers the shortest has zero mean in every component whose constant is free.
    return domain.to_image(np.linalg.lstsq(np.vstack(rows), np.concatenate(data), rcond=1e-12)[0])


def energy(z, p, q, mask, prior=None, weight=None):
    """Evaluate the paper's energy with differences of shifted images."""
    total = 0.0
    for field, axis in ((p, 0), (q, 1)):
        near, far = ([np.s_[:-1], np.s_[1:]], [np.s_[:, :-1], np.s_[:, 1:]])[axis]
        both = mask[near] & mask[far]
        difference = (z[far] - z[near])[both]
        total += 0.5 * np.sum((difference - field[near][both]) ** 2)
        total += 0.5 * np.sum((difference - field[far][both]) ** 2)
    if weight is not None:
        held = mask & (weight > 0)
        total += np.sum(weight[held] * (z[held] - prior[held]) ** 2)
    return total


def assert_same_depth(depth, expected, relative=1e-8):
    scale = max(1.0, np.nanmax(np.abs(expected)))
    np.testing.assert_allclose(depth, expected, rtol=0, atol=relative * scale)


def without_means(z, mask):
    """Subtract from each connected component its mean."""
    domain = Domain(mask)
    z = np.where(mask, z, np.nan)
    for label in range(1, domain.component_count + 1):
        z[domain.components == label] -= z[domain.components == label].mean()
    return z


def assert_zero_means(depth, mask):
    np.testing.assert_allclose(depth[mask], without_means(depth, mask)[mask], rtol=0, atol=1e-11)


def gradients(mask, seed):
    """Draw a gradient that is NaN outside the mask."""
    p, q = np.random.default_rng(seed).standard_normal((2, *mask.shape))
    return np.where(mask, p, np.nan), np.where(mask, q, np.nan)


def random_prior(mask, seed):
    """Draw a prior whose weights are zero, moderate and huge, and NaN where they are zero."""
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.0, 0.0, 0.0, 1e-3, 1.0, 1e6], mask.shape)
    prior = np.where(weight > 0, 3 * rng.standard_normal(mask.shape), np.nan)
    return prior, weight


class TestAgainstDenseLeastSquares:
    def check(self, mask, seed):
        p, q = gradients(mask, seed)
        depth = accurate(p, q, mask)
        np.testing.assert_array_equal(np.isnan(depth), ~mask)
        assert_same_depth(depth, dense_least_squares(p, q, mask))
        assert_zero_means(depth, mask)

    @on_random_masks
    @given(masks, seeds)
    def test_random_masks(self, mask, seed):
        self.check(mask, seed)

    @on_degenerate_masks
    def test_degenerate_masks(self, mask):
        self.check(mask, 0)

    def check_prior(self, mask, seed):
        p, q = gradients(mask, seed)
        prior, weight = random_prior(mask, seed + 1)
        if not weight[mask].any():
            return
        depth = accurate(p, q, mask, prior=prior, prior_weight=weight)
        assert_same_depth(depth, dense_least_squares(p, q, mask, np.nan_to_num(prior), weight))
        labels = Domain(mask).components
        free = np.setdiff1d(labels[mask], labels[mask & (weight > 0)])
        if free.size:
            assert_zero_means(depth, np.isin(labels, free))

    @on_random_masks
    @given(masks, seeds)
    def test_random_priors(self, mask, seed):
        self.check_prior(mask, seed)

    @on_degenerate_masks
    def test_priors_on_degenerate_masks(self, mask):
        self.check_prior(mask, 2)

    @pytest.mark.parametrize("solver", ["pyamg", "direct"])
    @on_degenerate_masks
    def test_library_solvers(self, mask, solver):
        p, q = gradients(mask, 0)
        depth = accurate(p, q, mask, solver=solver)
        assert_same_depth(depth, dense_least_squares(p, q, mask))
        assert_zero_means(depth, mask)


class TestSurfacesRecoveredExactly:
    @on_random_masks
    @given(masks, st.floats(-9, 9), st.floats(-9, 9))
    def test_plane(self, mask, slope_u, slope_v):
        u, v = np.indices(mask.shape)
        z = slope_u * u + slope_v * v
        depth = accurate(np.full(mask.shape, slope_u), np.full(mask.shape, slope_v), mask)
        np.testing.assert_allclose(depth[mask], without_means(z, mask)[mask], atol=1e-9)

    @on_random_masks
    @given(masks, seeds)
    def test_paraboloid(self, mask, seed):
        # The mean of the slopes at both ends of an edge is the exact difference of a quadratic polynomial.
        a, b, c, d, e = np.random.default_rng(seed).standard_normal(5)
        u, v = np.indices(mask.shape)
        z = a * u**2 + b * u * v + c * v**2 + d * u + e * v
        depth = accurate(2 * a * u + b * v + d, b * u + 2 * c * v + e, mask)
        np.testing.assert_allclose(depth[mask], without_means(z, mask)[mask], atol=1e-8)

    @pytest.mark.parametrize("shape", [(1, 1), (1, 7), (9, 1), (2, 2), (17, 23), (64, 48), (33, 101)])
    def test_the_natural_cosine_transform_is_this_method_on_a_rectangle(self, shape):
        p, q = np.random.default_rng(0).standard_normal((2, *shape))
        reference = normint.integrate(p, q, method="dct")
        result = normint.integrate(p, q, tolerance=1e-12)
        assert_same_depth(result.depth, reference.depth, 1e-9)
        np.testing.assert_allclose(result.energies, reference.energies, rtol=1e-9)

    def test_so_it_is_with_a_prior(self):
        p, q, prior = np.random.default_rng(0).standard_normal((3, 20, 31))
        given = {"prior": prior, "prior_weight": 0.3}
        reference = normint.integrate(p, q, method="dct", **given).depth
        assert_same_depth(accurate(p, q, **given), reference, 1e-9)

    def test_vase(self):
        # Figure 4: 0.11 on the mask; 4.66 on the grid, where least squares smears the contour.
        vase = normint.surfaces.vase()
        inside = normint.integrate(vase.p, vase.q, vase.mask).depth
        assert abs(normint.metrics.rmse(inside, vase.depth) - 0.11) < 0.01
        everywhere = normint.integrate(vase.p, vase.q).depth
        assert abs(normint.metrics.rmse(everywhere, vase.depth) - 4.66) < 0.02


class TestWhatMustNotChangeTheDepth:
    @on_random_masks
    @given(masks, seeds)
    def test_flips_and_transposition(self, mask, seed):
        p, q = gradients(mask, seed)
        depth = accurate(p, q, mask)
        assert_same_depth(accurate(-p[::-1], q[::-1], mask[::-1])[::-1], depth)
        assert_same_depth(accurate(p[:, ::-1], -q[:, ::-1], mask[:, ::-1])[:, ::-1], depth)
        assert_same_depth(accurate(q.T, p.T, mask.T).T, depth)

    @pytest.mark.parametrize("scale", [1e-100, -1e-9, 1e6, 1e8])
    def test_scaling(self, scale):
        mask = np.random.default_rng(1).random((12, 9)) < 0.7
        p, q = gradients(mask, 0)
        depth = accurate(p, q, mask)
        assert_same_depth(accurate(scale * p, scale * q, mask) / scale, depth)

    @pytest.mark.parametrize("corner", [(0, 0), (3, 8), (4, 5), (13, 21)])
    def test_place_in_a_larger_image(self, corner):
        mask = np.random.default_rng(1).random((12, 9)) < 0.7
        p, q = gradients(mask, 0)
        window = tuple(slice(c, c + n) for c, n in zip(corner, mask.shape, strict=True))
        large_mask = np.zeros((25, 30), bool)
        large_p, large_q = np.full((2, 25, 30), np.nan)
        large_mask[window], large_p[window], large_q[window] = mask, p, q
        depth = accurate(large_p, large_q, large_mask)
        np.testing.assert_array_equal(np.isnan(depth), ~large_mask)
        assert_same_depth(depth[window], accurate(p, q, mask))

    @pytest.mark.parametrize("weight", [1e-9, 1e-3, 1.0, 1e6], ids=lambda weight: f"weight {weight:g}")
    @pytest.mark.parametrize("tolerance", [1e-4, 1e-10], ids=lambda tolerance: f"tolerance {tolerance:g}")
    def test_a_constant_added_to_the_prior_is_added_to_the_depth(self, weight, tolerance):
        p, q, prior = np.random.default_rng(0).standard_normal((3, 20, 24))
        given = {"prior_weight": weight, "tolerance": tolerance}
        depth = normint.integrate(p, q, prior=prior, **given).depth
        shifted = normint.integrate(p, q, prior=prior + 1000, **given).depth
        assert_same_depth(shifted - 1000, depth, 10 * tolerance)

    def test_what_outside_the_mask_is(self):
        mask = DEGENERATE["a hole"]
        p, q = gradients(mask, 0)
        prior, weight = random_prior(mask, 0)
        expected = accurate(p, q, mask, prior=prior, prior_weight=weight)
        for outside in (0.0, np.inf, -np.inf, 1e300):
            fields = [np.where(mask, field, outside) for field in (p, q, prior, weight)]
            depth = accurate(*fields[:2], mask, prior=fields[2], prior_weight=fields[3])
            np.testing.assert_array_equal(depth, expected)

    def test_form_of_the_input(self):
        rng = np.random.default_rng(0)
        p, q, prior = rng.integers(-9, 10, (3, 6, 7))
        mask = rng.random((6, 7)) < 0.8
        expected = accurate(*np.array([p, q], float), mask, prior=prior.astype(float), prior_weight=1.0)
        for form in (
            np.int64, np.int8, np.float32, ">f8", np.asfortranarray, np.ndarray.tolist,
            lambda field: np.repeat(field, 2, axis=1)[:, ::2],
        ):  # fmt: skip
            convert = form if callable(form) and not isinstance(form, type) else lambda a, t=form: a.astype(t)
            depth = accurate(convert(p), convert(q), convert(mask), prior=convert(prior), prior_weight=1)
            np.testing.assert_array_equal(depth, expected)

    def test_inputs_are_left_alone(self):
        mask = DEGENERATE["two pieces and a pixel"]
        p, q = gradients(mask, 0)
        prior, weight = random_prior(mask, 0)
        arrays = p, q, mask, prior, weight, np.zeros(mask.shape)
        before = [array.copy() for array in arrays]
        for array in arrays:
            array.flags.writeable = False
        p, q, mask, prior, weight, initial = arrays
        depth = accurate(p, q, mask, prior=prior, prior_weight=weight, initial=initial)
        for array, copy in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(array, copy)
            assert not np.shares_memory(array, depth)

    def test_initial_depth(self):
        mask = DEGENERATE["a hole"]
        p, q = gradients(mask, 0)
        initial = np.where(mask, 100 * np.random.default_rng(0).standard_normal(mask.shape), np.nan)
        assert_same_depth(accurate(p, q, mask, initial=initial), accurate(p, q, mask))


class TestEnergy:
    @on_random_masks
    @given(masks, seeds, st.booleans())
    def test_reported_and_lowest(self, mask, seed, with_prior):
        p, q = gradients(mask, seed)
        prior, weight = random_prior(mask, seed + 1) if with_prior else (None, None)
        if with_prior and not weight[mask].any():
            return
        given = {"prior": prior, "prior_weight": weight} if with_prior else {}
        result = normint.integrate(p, q, mask, tolerance=1e-12, **given)
        lowest = energy(result.depth, p, q, mask, prior, weight)
        assert result.energies.shape == (1,)
        np.testing.assert_allclose(result.energies[-1], lowest, rtol=1e-10, atol=1e-12)
        rng = np.random.default_rng(seed + 2)
        for size in (1e-3, 1e-1, 1.0):
            other = result.depth + size * rng.standard_normal(mask.shape)
            assert energy(other, p, q, mask, prior, weight) >= lowest - 1e-12 * max(1.0, lowest)


class TestControlPoints:
    def scene(self):
        """Make three pieces of a noisy slope, and heights far from zero for two of them."""
        mask = np.ones((24, 30), bool)
        mask[:, [9, 19]] = False
        rng = np.random.default_rng(0)
        p, q = 1 + 0.1 * rng.standard_normal((2, 24, 30))
        prior, weight = np.full((24, 30), np.nan), np.zeros((24, 30))
        for row, column, height in ((3, 2, 100.0), (20, 6, 118.0), (12, 25, -50.0)):
            prior[row, column], weight[row, column] = height, 1e6
        return p, q, mask, prior, weight

    def test_default_tolerance(self):
        p, q, mask, prior, weight = self.scene()
        result = normint.integrate(p, q, mask, prior=prior, prior_weight=weight)
        expected = dense_least_squares(p, q, mask, np.nan_to_num(prior), weight)
        assert np.nanmax(np.abs(result.depth - expected)) < 0.01 * np.ptp(expected[:, :9])

    def test_pieces_are_pinned(self):
        p, q, mask, prior, weight = self.scene()
        depth = accurate(p, q, mask, prior=prior, prior_weight=weight)
        held = weight > 0
        np.testing.assert_allclose(depth[held], prior[held], atol=1e-4)
        assert_same_depth(depth, dense_least_squares(p, q, mask, np.nan_to_num(prior), weight))

    def test_other_pieces_have_zero_mean(self):
        p, q, mask, prior, weight = self.scene()
        depth = accurate(p, q, mask, prior=prior, prior_weight=weight)
        assert abs(depth[:, 10:19].mean()) < 1e-12
        np.testing.assert_allclose(depth[:, 10:19], accurate(p, q, mask)[:, 10:19], atol=1e-6)

    def test_one_control_point_moves_its_piece_as_a_whole(self):
        p, q, mask, prior, weight = self.scene()
        prior[20, 6], weight[20, 6] = np.nan, 0.0
        depth = accurate(p, q, mask, prior=prior, prior_weight=weight)
        free = accurate(p, q, mask)
        assert_same_depth(depth[:, :9], free[:, :9] - free[3, 2] + 100.0)

    def test_all_of_the_prior_at_a_huge_weight(self):
        p, q, prior = np.random.default_rng(0).standard_normal((3, 9, 8))
        depth = normint.integrate(p, q, prior=prior, prior_weight=1e9).depth
        np.testing.assert_allclose(depth, prior, atol=1e-6)


FIELD = np.arange(12.0).reshape(3, 4)
NOT_FINITE = np.where(FIELD == 5, np.nan, FIELD)
INFINITE = np.where(FIELD == 5, np.inf, FIELD)
NEGATIVE = np.where(FIELD == 5, -1.0, FIELD)
BAD_INPUT = [
    ({"q": FIELD.T}, r"q has shape \(4, 3\); expected \(3, 4\)"),
    ({"mask": np.ones((4, 3))}, r"mask has shape \(4, 3\); expected \(3, 4\)"),
    ({"mask": np.zeros((3, 4))}, "mask is empty; expected at least one pixel"),
    ({"mask": np.full((3, 4), 0.5)}, "mask has values other than 0 and 1"),
    ({"mask": np.full((3, 4), np.nan)}, "mask has values other than 0 and 1"),
    ({"p": FIELD[0], "q": FIELD[0]}, "p has 1 dimensions; expected 2"),
    ({"p": NOT_FINITE}, r"p is NaN or infinite at 1 pixel inside the mask, first at \(1, 1\)"),
    ({"q": INFINITE}, r"q is NaN or infinite at 1 pixel inside the mask, first at \(1, 1\)"),
    ({"p": FIELD.astype(complex)}, "p has type complex128; expected real numbers"),
    ({"p": [["a", "b"]], "q": [[1, 2]]}, "p has type .*; expected real numbers"),
    ({"p": [[1, 2], [3]]}, "p is not an array; expected rows of equal length"),
    ({"prior": FIELD, "prior_weight": NEGATIVE}, "prior_weight is negative, NaN or beyond .* at 1 pixel"),
    ({"prior": FIELD, "prior_weight": NOT_FINITE}, "prior_weight is negative, NaN or beyond .* at 1 pixel"),
    ({"prior": FIELD, "prior_weight": -1}, r"prior_weight is -1.*; expected a number from 0 to 1e"),
    ({"prior": FIELD, "prior_weight": np.nan}, "prior_weight is nan; expected a number from 0 to 1e"),
    ({"prior": FIELD, "prior_weight": FIELD.T}, r"prior_weight has shape \(4, 3\)"),
    ({"prior": FIELD.T, "prior_weight": 1}, r"prior has shape \(4, 3\); expected \(3, 4\)"),
    ({"prior": INFINITE, "prior_weight": 1}, r"prior is NaN or infinite at 1 pixel .* at \(1, 1\)"),
    ({"prior": NOT_FINITE, "prior_weight": FIELD + 9}, r"prior is NaN or infinite .* at \(1, 1\)"),
    ({"prior_weight": 1}, "prior is missing although prior_weight is positive"),
    ({"method": "cubic"}, "method is 'cubic'; expected one of quadratic, dct, sylvester"),
    ({"smoothness": 1}, "smoothness is not an option of method 'quadratic'; it has .*tolerance"),
    ({"solver": "jacobi"}, "solver is 'jacobi'; expected one of multigrid, pyamg, cg, direct"),
    ({"initial": FIELD.T}, r"initial has shape \(4, 3\); expected \(3, 4\)"),
    ({"initial": NOT_FINITE}, r"initial is NaN or infinite at 1 pixel inside the mask, first at \(1, 1\)"),
    ({"tolerance": 0}, "tolerance is 0; expected a finite number > 0"),
    ({"tolerance": -1e-4}, "tolerance is -0.0001; expected a finite number > 0"),
    ({"tolerance": np.nan}, "tolerance is nan; expected a finite number > 0"),
    ({"max_iterations": 0}, "max_iterations is 0; expected a whole number ≥ 1"),
    ({"max_iterations": 1.5}, "max_iterations is 1.5; expected a whole number ≥ 1"),
]


class TestBadInput:
    @pytest.mark.parametrize(("wrong", "message"), BAD_INPUT)
    def test_is_refused_before_any_work(self, wrong, message, monkeypatch):
        def work(*args, **kwargs):
            pytest.fail("a system was set up although the input is wrong")

        monkeypatch.setattr("normint.solver.multigrid.Multigrid", work)
        monkeypatch.setattr("normint.solver.references._Assembled.__init__", work)
        arguments = {"p": FIELD, "q": FIELD} | wrong
        with pytest.raises(ValueError, match=f"^{message}"):
            normint.integrate(arguments.pop("p"), arguments.pop("q"), **arguments)

    @pytest.mark.parametrize("method", ["dct", "sylvester"])
    def test_rectangles_only(self, method):
        mask = FIELD != 5
        with pytest.raises(ValueError, match='^mask is not a full rectangle.* Use method="quadratic"'):
            normint.integrate(FIELD, FIELD, mask, method=method)

    def test_the_same_outside_the_mask_is_fine(self):
        mask = FIELD != 5
        expected = accurate(FIELD, FIELD, mask)
        for wrong in (NOT_FINITE, INFINITE):
            np.testing.assert_array_equal(accurate(wrong, wrong, mask), expected)
            assert_same_depth(accurate(wrong, wrong, mask, initial=wrong), expected)
        held = accurate(FIELD, FIELD, mask, prior=FIELD, prior_weight=FIELD)
        for wrong in (NOT_FINITE, INFINITE, NEGATIVE):
            depth = accurate(FIELD, FIELD, mask, prior=NOT_FINITE, prior_weight=wrong)
            np.testing.assert_array_equal(depth, held)
