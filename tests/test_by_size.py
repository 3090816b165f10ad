"""Domains of many pieces: each is solved as if it were alone, whatever the others are like."""

import warnings

import numpy as np
import pytest
import scipy.ndimage
import scipy.sparse.csgraph
from hypothesis import given
from small_problems import masks, seeds
from torture.masks import exact_solution

import normint
from normint.solver import by_size, elimination, offsets, system
from normint.solver.pieces import Pieces
from normint.solver.system import System

METHODS = (
    "quadratic", "total_variation", "phi1", "phi2", "anisotropic_diffusion", "mumford_shah", "bilateral",
)  # fmt: skip


def squares(count, side, gap=2):
    """Return a mask of count×count squares."""
    lines = np.arange(count * (side + gap)) % (side + gap) < side
    return lines[:, np.newaxis] & lines


def random_slopes(shape, seed=0):
    return np.random.default_rng(seed).standard_normal((2, *shape))


@pytest.fixture
def multigrid_only(monkeypatch):
    monkeypatch.setattr(by_size, "SMALL", 0)


class TestPieces:
    @given(masks(12))
    def test_are_those_of_scipy(self, mask):
        labels, count = scipy.ndimage.label(mask)
        pieces = Pieces(mask)
        np.testing.assert_array_equal(pieces.labels, labels)
        np.testing.assert_array_equal(
            pieces.sizes, [0, *np.bincount(labels.ravel(), minlength=count + 1)[1:]]
        )

    @given(masks(12), seeds)
    def test_end_at_edges_of_weight_zero(self, mask, seed):
        weights = np.random.default_rng(seed).choice([0.0, 1.0], (2, *mask.shape))
        number = np.arange(mask.size).reshape(mask.shape)
        graph = scipy.sparse.lil_array((mask.size, mask.size))
        for w, (here, there) in zip(weights, system.NEIGHBOURS, strict=True):
            joined = mask[here] & mask[there] & (w[here] > 0)
            graph[number[here][joined], number[there][joined]] = 1
        _, expected = scipy.sparse.csgraph.connected_components(graph.tocsr(), directed=False)
        labels = Pieces(mask, tuple(weights)).labels[mask]
        pairs = np.unique(np.stack([labels, expected.reshape(mask.shape)[mask]]), axis=1)
        assert pairs.shape[1] == np.unique(pairs[0]).size == np.unique(pairs[1]).size

    @given(masks(12), seeds)
    def test_members_are_all_pixels_of_a_piece(self, mask, seed):
        pieces = Pieces(mask)
        count = pieces.sizes.size - 1
        chosen = np.flatnonzero(np.random.default_rng(seed).random(count) < 0.7) + 1
        members, begin, _ = pieces.members(chosen)
        for k, first, last in zip(chosen, begin, begin[1:], strict=False):
            np.testing.assert_array_equal(np.sort(members[first:last]), np.flatnonzero(pieces.labels == k))

    @given(masks(12), seeds)
    def test_settle_finds_the_constants_that_cost_least(self, mask, seed):
        rng = np.random.default_rng(seed)
        depth, prior = rng.standard_normal((2, *mask.shape))
        weight = np.where(mask, rng.choice([0.0, 0.0, 0.1, 10.0], mask.shape), 0.0)
        pieces = Pieces(mask, diagonal=weight)
        settled = depth.copy()
        pieces.settle(settled, prior)
        for k in range(1, pieces.sizes.size):
            inside = pieces.labels == k
            assert np.ptp(settled[inside] - depth[inside]) < 1e-12
            pull = np.sum((weight * (settled - prior))[inside])
            np.testing.assert_allclose(
                pull if weight[inside].any() else settled[inside].mean(), 0, atol=1e-11
            )


class TestElimination:
    @pytest.mark.parametrize("decades", [0, 8, 200])
    def test_a_free_constant_is_found_whatever_the_weights(self, decades):
        rng = np.random.default_rng(0)
        for count in (1, 2, 5, 30):
            band, own = 10.0 ** -rng.uniform(0, decades, (count, max(count - 1, 1))), np.zeros(count)
            elimination.factorise(band, own)
            np.testing.assert_array_equal(own == 0, np.arange(count) == count - 1)


class TestManyPieces:
    @pytest.mark.parametrize("method", METHODS)
    def test_islands_are_not_flat(self, method):
        side = 3
        mask = squares(8, side)
        u, v = np.indices(mask.shape)
        p, q = np.cos(u), 0.5 * np.sin(v)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whether it converges is not the question here
            depth = normint.integrate(p, q, mask, method=method).depth
        for piece in np.s_[:side, :side], np.s_[-side - 2 : -2, -side - 2 : -2]:
            assert np.std(depth[piece]) > 0.1

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("held", [False, True], ids=["free", "held"])
    def test_multigrid_converges_on_fragments(self, multigrid_only, seed, held):
        rng = np.random.default_rng(seed)
        mask = rng.random((60, 60)) < 0.35
        p, q = random_slopes(mask.shape, seed)
        weight = np.where(rng.random(mask.shape) < 0.02, 10.0, 0.0) if held else None
        prior = rng.standard_normal(mask.shape) if held else None
        solution = System(mask, diagonal=weight).solve(p, q, prior, slopes=True, tolerance=1e-8)
        assert solution.converged
        exact, _ = exact_solution(mask, p, q, None, weight, prior)
        np.testing.assert_allclose(solution.depth[mask], exact, atol=1e-6)

    @pytest.mark.parametrize("held", [False, True], ids=["free", "held"])
    def test_each_piece_as_if_it_were_alone(self, held):
        # Three large ones and small ones, with slopes and weights that differ by decades.
        mask = np.zeros((120, 160), bool)
        mask[:50, :50], mask[60:, :70], mask[:100, 75:150] = True, True, True
        mask[0:100:7, 152:158] = True
        labels, count = scipy.ndimage.label(mask)
        rng = np.random.default_rng(0)
        sizes = np.array([0, 1.0, 1e-8, 1e7, *10.0 ** rng.uniform(-9, 8, count - 3)])
        p, q = random_slopes(mask.shape) * sizes[labels]
        weights = tuple(10.0 ** rng.uniform(-2, 0, (2, *mask.shape)) * (1e3 / (labels + 1.0) ** 4))
        weight = np.where(labels % 2 == 1, 0.2, 0.0) * (rng.random(mask.shape) < 0.1) if held else None
        prior = rng.standard_normal(mask.shape) * sizes[labels] if held else None
        together = System(mask, weights, weight).solve(p, q, prior, slopes=True)
        assert together.converged
        for k in range(1, count + 1):
            alone = System(labels == k, weights, weight).solve(p, q, prior, slopes=True, tolerance=1e-9).depth
            error = np.abs(together.depth - alone)[labels == k].max()
            assert error <= 1e-2 * np.nanmax(np.abs(alone)), f"piece {k}"

    def test_thousands_of_pixels_alone(self):
        mask = np.indices((90, 90)).sum(axis=0) % 2 == 0
        prior = random_slopes(mask.shape)[0]
        result = System(mask, diagonal=np.where(prior > 0, 1.0, 0.0)).solve(*random_slopes(mask.shape), prior)
        assert result.converged
        np.testing.assert_allclose(result.depth[mask], np.where(prior > 0, prior, 0.0)[mask], atol=1e-12)


@pytest.mark.parametrize("exponent", [-30, -9, 0, 9, 30])
@pytest.mark.parametrize("side", [12, 60])
@pytest.mark.parametrize("share", [0.01, 1.0])
def test_prior_weights_of_any_size(exponent, side, share):
    rng = np.random.default_rng(0)
    mask = rng.random((side, side)) < 0.9
    p, q = random_slopes(mask.shape)
    weight = np.where(rng.random(mask.shape) < share, 10.0**exponent, 0.0)
    prior = 100 + rng.standard_normal(mask.shape)
    depth = normint.integrate(p, q, mask, prior=prior, prior_weight=weight, tolerance=1e-8).depth
    # Where λ is next to nothing it decides the constants and nothing else, and the other way round.
    weight_exact = np.clip(weight, np.where(weight > 0, 1e-9, 0.0), 1e9)
    exact, _ = exact_solution(mask, p, q, None, weight_exact, prior)
    np.testing.assert_allclose(depth[mask], exact, atol=2e-5 * np.abs(exact - 100).max())


class TestExtremeWeights:
    def weights(self, smallest):
        down, right = np.ones((2, 20, 20))
        right[:, 9] = smallest
        return down, right

    def test_too_small_ones_are_refused(self):
        with pytest.raises(ValueError, match="^weights: 20 are positive but below 1e-12 of the largest in"):
            System(np.ones((20, 20), bool), self.weights(1e-13))
        System(np.ones((20, 20), bool), self.weights(1e-11))
        System(np.ones((20, 20), bool), self.weights(0.0))

    def test_or_raised(self):
        # At the start, the raised ones pull as the small ones did: a depth that fits stays where it is, as
        # far as 1e-12 can be told from rounding.
        depth = random_slopes((20, 20))[0]
        fluxes = np.zeros((2, 20, 20))
        fluxes[0, :-1], fluxes[1, :, :-1] = np.diff(depth, axis=0), np.diff(depth, axis=1)
        system = System(np.ones((20, 20), bool), self.weights(1e-30), raise_weak=True)
        found = system.solve(*fluxes, initial=depth).depth
        np.testing.assert_allclose(found, depth - depth.mean(), atol=1e-3)
        fluxes[1, :, 9] += 1e6  # what a weight of 1e-30 asks for moves nothing
        np.testing.assert_allclose(system.solve(*fluxes, initial=depth).depth, found, atol=1e-3)

    @pytest.mark.parametrize("rough", [False, True])
    @pytest.mark.parametrize("held", [False, True])
    def test_parts_that_they_alone_hold_together_are_placed(self, rough, held):
        # Two parts, joined by one edge of weight one or not; alone, if their other weights are alike.
        rng = np.random.default_rng(0)
        mask = np.ones((64, 64), bool)
        down, right = 10.0 ** -rng.uniform(0, 3 * rough, (2, *mask.shape))
        right[:, 20] = 1e-9
        right[0, 20] = 1.0 if held else 1e-9
        p, q = random_slopes(mask.shape)
        system = System(mask, (down, right))
        offsets = system._solver.multigrid.offsets
        assert offsets is None if held else offsets.alone is not rough
        for tolerance in (1e-4, 1e-8):
            depth = system.solve(p, q, slopes=True, tolerance=tolerance).depth
            exact, _ = exact_solution(mask, p, q, (down, right))
            np.testing.assert_allclose(depth[mask], exact, atol=10 * tolerance * np.abs(exact).max())

    @pytest.mark.parametrize("smallest", [1e-5, 1e-6, 1e-9])
    def test_shattered_surfaces_are_placed_too(self, smallest, monkeypatch):
        rng = np.random.default_rng(0)
        mask = np.ones((90, 90), bool)
        weights = np.where(rng.random((2, *mask.shape)) < 0.9, smallest, 1.0)
        p, q = random_slopes(mask.shape)
        exact, _ = exact_solution(mask, p, q, weights)
        found = System(mask, weights).solve(p, q, slopes=True)
        np.testing.assert_allclose(found.depth[mask], exact, atol=1e-3 * np.abs(exact).max())
        monkeypatch.setattr(offsets, "MANY", 100)  # then what comes out is not called right
        assert found.converged and not System(mask, weights).solve(p, q, slopes=True).converged

    @pytest.mark.parametrize("share", [0.0, 0.1])
    def test_no_matter_what_holds_single_parts(self, share):
        # Squares joined by 1e-10 only, in two pieces, some of their pixels held by λ.
        rng = np.random.default_rng(0)
        mask = np.ones((80, 101), bool)
        mask[:, 50] = False
        down, right = np.ones((2, *mask.shape))
        down[15::16], right[:, 15::16] = 1e-10, 1e-10
        diagonal, prior = np.where(rng.random(mask.shape) < share, 1e-3, 0.0), rng.standard_normal(mask.shape)
        p, q = random_slopes(mask.shape)
        system = System(mask, (down, right), diagonal)
        assert system._solver.multigrid.offsets.alone
        depth = system.solve(p, q, prior, slopes=True, tolerance=1e-8).depth
        exact, _ = exact_solution(mask, p, q, (down, right), diagonal, prior)
        np.testing.assert_allclose(depth[mask], exact, atol=1e-7 * np.abs(exact).max())

    def test_in_other_pieces_do_not_matter(self):
        mask = np.ones((20, 21), bool)
        mask[:, 10] = False
        weights = np.ones((2, 20, 21))
        weights[:, :, 11:] = 1e-20
        p, q = random_slopes(mask.shape)
        ones = System(mask).solve(p, q, slopes=True).depth
        np.testing.assert_allclose(
            System(mask, tuple(weights)).solve(p, q, slopes=True).depth, ones, atol=1e-9
        )


class TestOneSystemManyTimes:
    def test_after_one_that_was_broken_off(self):
        system = System(np.ones((70, 80), bool))
        p, q = random_slopes((70, 80))
        expected = system.solve(p, q).depth

        def interrupt(iteration, residual):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            system.solve(1e8 * q, p, callback=interrupt)
        np.testing.assert_array_equal(system.solve(p, q).depth, expected)
