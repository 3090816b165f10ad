"""The quadratic method against dense least squares, surfaces it must recover, and what must not change it."""

import numpy as np
import pytest
from hypothesis import given, settings
from small_problems import centred, dense_least_squares, edges_of, masks, seeds

import normint
from normint.domain import Domain

DEGENERATE = {
    "one pixel": np.ones((1, 1), bool),
    "isolated pixels": np.indices((6, 7)).sum(axis=0) % 2 == 0,
    "a hole": np.pad(np.zeros((3, 2), bool), 2, constant_values=True),
    "pieces that touch at a corner": np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]], bool),
}
on_degenerate_masks = pytest.mark.parametrize("mask", DEGENERATE.values(), ids=DEGENERATE.keys())
on_random_masks = settings(max_examples=50)


def accurate(p, q, mask=None, **options):
    """Integrate to rounding, so that only the mathematics is compared."""
    result = normint.integrate(p, q, mask, tolerance=1e-12, **options)
    assert result.converged
    return result.depth


def readings(p, q, mask):
    """List (one pixel, the next, ½, slope): every slope is read twice (paper, Section 3.1)."""
    terms = []
    for slope, inside, step in zip((p, q), edges_of(mask), ((1, 0), (0, 1)), strict=True):
        for i, j in np.argwhere(inside):
            one, two = (i, j), (i + step[0], j + step[1])
            terms += [(one, two, 0.5, slope[one]), (one, two, 0.5, slope[two])]
    return terms


def dense(p, q, mask, prior=None, weight=None):
    """Minimise the paper's energy with dense matrices; NaN outside the mask.

    Of all minimisers the shortest has zero mean in every component whose constant is free.
    """
    prior = None if prior is None else np.nan_to_num(prior)
    return np.where(mask, dense_least_squares(mask, readings(p, q, mask), prior, weight), np.nan)


def assert_same_depth(depth, expected, relative=1e-8):
    scale = max(1.0, np.nanmax(np.abs(expected)))
    np.testing.assert_allclose(depth, expected, rtol=0, atol=relative * scale)


def assert_zero_means(depth, mask):
    np.testing.assert_allclose(depth[mask], centred(depth, mask)[mask], rtol=0, atol=1e-11)


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
    def check(self, mask, seed, **options):
        p, q = gradients(mask, seed)
        depth = accurate(p, q, mask, **options)
        np.testing.assert_array_equal(np.isnan(depth), ~mask)
        assert_same_depth(depth, dense(p, q, mask))
        assert_zero_means(depth, mask)

    def check_prior(self, mask, seed):
        p, q = gradients(mask, seed)
        prior, weight = random_prior(mask, seed + 1)
        if not weight[mask].any():
            return
        depth = accurate(p, q, mask, prior=prior, prior_weight=weight)
        assert_same_depth(depth, dense(p, q, mask, prior, weight))
        labels = Domain(mask).components
        free = np.setdiff1d(labels[mask], labels[mask & (weight > 0)])
        if free.size:
            assert_zero_means(depth, np.isin(labels, free))

    @on_random_masks
    @given(masks(9), seeds)
    def test_random_masks(self, mask, seed):
        self.check(mask, seed)
        self.check_prior(mask, seed)

    @on_degenerate_masks
    def test_degenerate_masks(self, mask):
        for solver in ("multigrid", "pyamg", "direct"):
            self.check(mask, 0, solver=solver)
        self.check_prior(mask, 2)


class TestSurfacesRecoveredExactly:
    @on_random_masks
    @given(masks(9), seeds)
    def test_paraboloid(self, mask, seed):
        # The mean of the slopes at both ends of an edge is the exact difference of a quadratic polynomial.
        a, b, c, d, e = np.random.default_rng(seed).standard_normal(5)
        u, v = np.indices(mask.shape)
        z = a * u**2 + b * u * v + c * v**2 + d * u + e * v
        depth = accurate(2 * a * u + b * v + d, b * u + 2 * c * v + e, mask)
        np.testing.assert_allclose(depth[mask], centred(1.0 * z, mask)[mask], atol=1e-8)

    @pytest.mark.parametrize("shape", [(1, 7), (17, 23), (33, 101)])
    @pytest.mark.parametrize("held", [False, True], ids=["free", "held"])
    def test_the_natural_cosine_transform_is_this_method_on_a_rectangle(self, shape, held):
        p, q, prior = np.random.default_rng(0).standard_normal((3, *shape))
        given = {"prior": prior, "prior_weight": 0.3} if held else {}
        reference = normint.integrate(p, q, method="dct", **given)
        result = normint.integrate(p, q, tolerance=1e-12, **given)
        assert_same_depth(result.depth, reference.depth, 1e-9)
        np.testing.assert_allclose(result.energies, reference.energies, rtol=1e-9)

    def test_vase(self):
        # Figure 4: 0.11 on the mask; 4.66 on the grid, where least squares smears the contour.
        vase = normint.surfaces.vase()
        inside = normint.integrate(vase.p, vase.q, vase.mask).depth
        assert abs(normint.metrics.rmse(inside, vase.depth) - 0.11) < 0.01
        everywhere = normint.integrate(vase.p, vase.q).depth
        assert abs(normint.metrics.rmse(everywhere, vase.depth) - 4.66) < 0.02


class TestWhatMustNotChangeTheDepth:
    @pytest.mark.parametrize("corner", [(0, 0), (3, 8)])
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

    def test_pieces_are_pinned_and_others_have_zero_mean(self):
        p, q, mask, prior, weight = self.scene()
        given = {"prior": prior, "prior_weight": weight}
        depth, expected = accurate(p, q, mask, **given), dense(p, q, mask, prior, weight)
        held = weight > 0
        np.testing.assert_allclose(depth[held], prior[held], atol=1e-4)
        assert_same_depth(depth, expected)
        assert abs(depth[:, 10:19].mean()) < 1e-12
        np.testing.assert_allclose(depth[:, 10:19], accurate(p, q, mask)[:, 10:19], atol=1e-6)
        by_default = normint.integrate(p, q, mask, **given).depth
        assert np.nanmax(np.abs(by_default - expected)) < 0.01 * np.ptp(expected[:, :9])

    def test_one_control_point_moves_its_piece_as_a_whole(self):
        p, q, mask, prior, weight = self.scene()
        prior[20, 6], weight[20, 6] = np.nan, 0.0
        depth = accurate(p, q, mask, prior=prior, prior_weight=weight)
        free = accurate(p, q, mask)
        assert_same_depth(depth[:, :9], free[:, :9] - free[3, 2] + 100.0)


FIELD = np.arange(12.0).reshape(3, 4)
NOT_FINITE = np.where(FIELD == 5, np.nan, FIELD)
INFINITE = np.where(FIELD == 5, np.inf, FIELD)
NEGATIVE = np.where(FIELD == 5, -1.0, FIELD)
BAD_INPUT = [
    ({"q": FIELD.T}, r"q has shape \(4, 3\); expected \(3, 4\)"),
    ({"mask": np.ones((4, 3))}, r"mask has shape \(4, 3\); expected \(3, 4\)"),
    ({"mask": np.zeros((3, 4))}, "mask is empty; expected at least one pixel"),
    ({"mask": np.full((3, 4), 0.5)}, "mask has values other than 0 and 1"),
    ({"p": FIELD[0], "q": FIELD[0]}, "p has 1 dimensions; expected 2"),
    ({"p": NOT_FINITE}, r"p is NaN or infinite at 1 pixel inside the mask, first at \(1, 1\)"),
    ({"q": INFINITE}, r"q is NaN or infinite at 1 pixel inside the mask, first at \(1, 1\)"),
    ({"p": FIELD.astype(complex)}, "p has type complex128; expected real numbers"),
    ({"p": [["a", "b"]], "q": [[1, 2]]}, "p has type .*; expected real numbers"),
    ({"p": [[1, 2], [3]]}, "p is not an array; expected rows of equal length"),
    ({"prior": FIELD, "prior_weight": NEGATIVE}, "prior_weight is negative, NaN or beyond .* at 1 pixel"),
    ({"prior": FIELD, "prior_weight": -1}, r"prior_weight is -1.*; expected a number from 0 to 1e"),
    ({"prior": FIELD, "prior_weight": FIELD.T}, r"prior_weight has shape \(4, 3\)"),
    ({"prior": FIELD.T, "prior_weight": 1}, r"prior has shape \(4, 3\); expected \(3, 4\)"),
    ({"prior": INFINITE, "prior_weight": 1}, r"prior is NaN or infinite at 1 pixel .* at \(1, 1\)"),
    ({"prior": NOT_FINITE, "prior_weight": FIELD + 9}, r"prior is NaN or infinite .* at \(1, 1\)"),
    ({"prior_weight": 1}, "prior is missing although prior_weight is positive"),
    ({"method": "cubic"}, "method is 'cubic'; expected one of quadratic, dct, sylvester"),
    ({"smoothness": 1}, "smoothness is not an option of method 'quadratic'; it has .*tolerance"),
    ({"solver": "gauss"}, "solver is 'gauss'; expected one of multigrid, pyamg, cg, jacobi, direct"),
    ({"initial": FIELD.T}, r"initial has shape \(4, 3\); expected \(3, 4\)"),
    ({"initial": NOT_FINITE}, r"initial is NaN or infinite at 1 pixel inside the mask, first at \(1, 1\)"),
    ({"tolerance": 0}, "tolerance is 0; expected a finite number > 0"),
    ({"tolerance": np.nan}, "tolerance is nan; expected a finite number > 0"),
    ({"max_iterations": 0}, "max_iterations is 0; expected a whole number ≥ 1"),
    ({"max_iterations": 1.5}, "max_iterations is 1.5; expected a whole number ≥ 1"),
]


class TestBadInput:
    @pytest.mark.parametrize(("wrong", "message"), BAD_INPUT)
    def test_is_refused_before_any_work(self, wrong, message, monkeypatch):
        def work(*args, **kwargs):
            pytest.fail("a system was set up although the input is wrong")

        monkeypatch.setattr("normint.solver.pieces.Pieces.__init__", work)
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
            assert_same_depth(accurate(wrong, wrong, mask, initial=100 * wrong), expected)
        held = accurate(FIELD, FIELD, mask, prior=FIELD, prior_weight=FIELD)
        for wrong in (NOT_FINITE, INFINITE, NEGATIVE):
            depth = accurate(FIELD, FIELD, mask, prior=NOT_FINITE, prior_weight=wrong)
            np.testing.assert_array_equal(depth, held)
