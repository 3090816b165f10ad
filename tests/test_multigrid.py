"""The pieces of the multigrid solver: the checkerboard, the aggregates, the coarse matrices and the cycle."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph
from hypothesis import given, settings
from hypothesis import strategies as st
from small_problems import masks, seeds

from normint.domain import Domain
from normint.solver import checkerboard
from normint.solver.coarse_graph import STIFFNESS
from normint.solver.elimination import solve_factorised
from normint.solver.hierarchy import SMALLEST
from normint.solver.multigrid import Multigrid

on_random_masks = settings(max_examples=50)


def random_solver(mask, seed, held=False, smallest=1e-6):
    """Set up a system whose weights vary over some decades, and some of whose pixels have their own."""
    rng = np.random.default_rng(seed)
    weights = smallest ** rng.random((2, *mask.shape))
    diagonal = np.where(mask, rng.choice([0.0, 0.0, 0.1, 1.0, 10.0], mask.shape), 0.0) if held else None
    return Multigrid(mask, tuple(weights), diagonal), fine_matrix(mask, weights, diagonal)


def fine_matrix(mask, weights, diagonal=None):
    """Assemble the system on the pixels, row by row, from the domain's difference matrices."""
    domain = Domain(mask)
    A = np.zeros((domain.size, domain.size)) if diagonal is None else np.diag(domain.to_vector(diagonal))
    for D, w in zip((domain.Du_plus, domain.Dv_plus), weights, strict=True):
        A = A + D.T @ scipy.sparse.diags_array(domain.to_vector(w)) @ D
    order = domain.to_vector(np.cumsum(mask).reshape(mask.shape) - 1)
    to_rows = np.argsort(order)
    return np.asarray(A)[np.ix_(to_rows, to_rows)]


def read(mask, values):
    """Return the pixels of a checkerboard row by row."""
    image = np.zeros(mask.shape, values.dtype)
    checkerboard.gather(mask, values, image)
    return image[mask]


def store(mask, pixels):
    image = np.zeros(mask.shape)
    image[mask] = pixels
    values = np.zeros(checkerboard.shape_for(*mask.shape))
    checkerboard.scatter(mask, image, values)
    return values


def level_matrix(hierarchy, level):
    """Return a coarse level's off-diagonal weights and its diagonal, dense."""
    s, e = hierarchy.starts[level : level + 2]
    weights = np.zeros((e - s, e - s))
    for i in range(s, e):
        entries = slice(hierarchy.row[i], hierarchy.row[i + 1])
        columns = hierarchy.column[entries].astype(int)
        assert np.unique(columns).size == columns.size
        weights[i - s, columns - s] = hierarchy.value[entries]
        assert (columns[: hierarchy.middle[i] - hierarchy.row[i]] < i).all()
        assert (columns[hierarchy.middle[i] - hierarchy.row[i] :] > i).all()
    inverse = hierarchy.inverse[s:e]
    return weights, np.divide(1.0, inverse, out=np.zeros(e - s), where=inverse > 0)


def interpolation(aggregate, first, last):
    """Return the piecewise-constant interpolation from nodes first to last; nodes of number 0 get nothing."""
    return (aggregate[:, np.newaxis] == np.arange(first, last)).astype(float)


def interpolations(solver):
    """Return the interpolation to the pixels from the first level, and to each level from the next."""
    hierarchy = solver.hierarchy
    starts = hierarchy.starts
    yield interpolation(read(solver.mask, hierarchy.pixel_aggregate), *starts[:2])
    for s, e, n in zip(starts, starts[1:], starts[2:], strict=False):
        yield interpolation(hierarchy.aggregate[s:e], e, n)


class TestCheckerboard:
    @on_random_masks
    @given(masks(9), seeds)
    def test_scatter_and_gather(self, mask, seed):
        image = np.random.default_rng(seed).standard_normal(mask.shape)
        values = np.zeros(checkerboard.shape_for(*mask.shape))
        checkerboard.scatter(mask, image, values)
        assert np.count_nonzero(values) == np.count_nonzero(mask)
        # The padding that makes boundaries unnecessary stays zero.
        assert not values[:, [0, -1]].any() and not values[:, :, [0, -1]].any()
        back = np.full(mask.shape, np.nan)
        checkerboard.gather(mask, values, back)
        np.testing.assert_array_equal(back, np.where(mask, image, np.nan))

    @pytest.mark.parametrize("shape", [(1, 7), (8, 1), (3, 5), (4, 6)])
    def test_neighbours_have_the_other_colour(self, shape):
        colours, image = np.zeros(checkerboard.shape_for(*shape)), np.zeros(shape)
        colours[1] = 1
        checkerboard.gather(np.ones(shape, bool), colours, image)
        assert (np.diff(image, axis=0) != 0).all() and (np.diff(image, axis=1) != 0).all()

    @on_random_masks
    @given(masks(9), seeds, st.booleans())
    def test_residual(self, mask, seed, held):
        solver, A = random_solver(mask, seed, held)
        x, b = np.random.default_rng(seed + 1).standard_normal((2, np.count_nonzero(mask)))
        r = np.zeros(solver.inverse.shape)
        matrix = *solver.weights, solver.inverse, solver.span
        square = checkerboard.residual(store(mask, x), store(mask, b), *matrix, r)
        # Pixels without an edge and without a weight have no equation.
        expected = np.where(np.diag(A) > 0, b - A @ x, 0.0)
        np.testing.assert_allclose(read(mask, r), expected, atol=1e-13)
        np.testing.assert_allclose(square, expected @ expected, rtol=1e-12)

    @on_random_masks
    @given(masks(9))
    def test_unit_edges_are_weights_of_one(self, mask):
        unit, ones = Multigrid(mask), Multigrid(mask, tuple(np.ones((2, *mask.shape))))
        np.testing.assert_array_equal(unit.weights, ones.weights)
        np.testing.assert_array_equal(unit.inverse, ones.inverse)


class TestPreconditioner:
    def apply(self, solver, pixels):
        """Run one cycle on a residual, as the iteration does; return e, A e and the three products."""
        coarse, mask = solver.hierarchy, solver.mask
        r, ad = store(mask, pixels), np.zeros(solver.inverse.shape)
        e, ae = np.zeros((2, *r.shape))
        fine = r, *solver.weights, solver.inverse, solver.span, coarse.pixel_aggregate, e
        coarse.right_side[: coarse.starts[1]] = 0.0
        checkerboard.smooth_and_restrict(*fine, coarse.right_side)
        coarse.cycle()
        products = checkerboard.prolong_and_smooth(*fine, coarse.solution, ae[1], ad)
        ae[0] = r[0]  # red pixels are solved exactly
        return read(mask, e), read(mask, ae), products

    def check(self, solver, A, seed):
        r = A @ np.random.default_rng(seed).standard_normal(len(A))
        if not np.linalg.norm(r) > 0:
            return
        e, ae, (e_ae, e_ad, e_r) = self.apply(solver, r)
        assert np.isfinite(e).all()
        assert e @ r > 0
        # The products that conjugate gradients uses are what they are called.
        np.testing.assert_allclose(ae, A @ e, atol=1e-10 * np.abs(A).max() * np.abs(e).max())
        size = np.linalg.norm(e) * np.linalg.norm(r)
        np.testing.assert_allclose([e_r, e_ad], [e @ r, 0.0], atol=1e-10 * size)
        np.testing.assert_allclose(e_ae, e @ A @ e, atol=1e-10 * np.abs(A).max() * (e @ e))

    @on_random_masks
    @given(masks(9), seeds, st.booleans())
    def test_descent_on_random_masks(self, mask, seed, held):
        solver, A = random_solver(mask, seed, held, smallest=1e-2)
        self.check(solver, A, seed + 1)

    @pytest.mark.parametrize(("smallest", "held"), [(1.0, False), (1e-2, True), (1e-6, False)])
    def test_descent_over_several_levels(self, smallest, held):
        mask = np.random.default_rng(0).random((37, 40)) < 0.9
        solver, A = random_solver(mask, 0, held, smallest)
        assert len(solver.hierarchy.sizes) > 2
        self.check(solver, A, 0)

    @pytest.mark.parametrize("shape", [(30, 30), (1, 80), (17, 41)])
    def test_one_cycle_reduces_the_error(self, shape):
        # e with the best step length takes away at least half of the error of a smooth and of a rough depth.
        solver, A = Multigrid(np.ones(shape, bool)), fine_matrix(np.ones(shape, bool), np.ones((2, *shape)))
        u, v = np.indices(shape)
        smooth = np.cos(3 * u / shape[0]) + np.cos(3 * v / shape[1])
        for z in (smooth, np.random.default_rng(0).random(shape)):
            r = A @ z.ravel()
            e, ae, _ = self.apply(solver, r)
            error = z.ravel() - (e @ r) / (e @ ae) * e
            assert error @ A @ error < 0.25 * (z.ravel() @ A @ z.ravel())


class TestAggregates:
    @on_random_masks
    @given(masks(9), seeds, st.booleans())
    def test_left_out_are_exactly_pixels_alone_or_held(self, mask, seed, held):
        solver, A = random_solver(mask, seed, held)
        own = A.sum(axis=1)  # λ, up to rounding
        diagonal = np.diag(A)
        alone = diagonal == 0
        with np.errstate(invalid="ignore"):
            share = np.where(alone, 1.0, own / diagonal)
        aggregate = read(mask, solver.hierarchy.pixel_aggregate)
        decided = np.abs(share - 0.5) > 1e-9
        np.testing.assert_array_equal((aggregate == 0)[decided], (share >= 0.5)[decided])

    @on_random_masks
    @given(masks(9), seeds, st.booleans())
    def test_pixels_of_an_aggregate_are_connected(self, mask, seed, held):
        solver, A = random_solver(mask, seed, held)
        labels = Domain(mask).components[mask]
        aggregate = read(mask, solver.hierarchy.pixel_aggregate)
        for node in np.unique(aggregate[aggregate > 0]):
            members = np.flatnonzero(aggregate == node)
            assert members.size <= 4
            assert np.unique(labels[members]).size == 1
            graph = scipy.sparse.csr_array(A[np.ix_(members, members)] != 0)
            assert scipy.sparse.csgraph.connected_components(graph, directed=False)[0] == 1

    def composed(self, solver):
        """Return for each level the node that each pixel belongs to, 0 for none."""
        hierarchy = solver.hierarchy
        node = read(solver.mask, hierarchy.pixel_aggregate).astype(int)
        yield node
        for _ in hierarchy.sizes[1:]:
            node = np.where(node > 0, hierarchy.aggregate[node].astype(int), 0)
            yield node

    def test_pieces_are_never_joined(self):
        mask = np.random.default_rng(0).random((60, 71)) < 0.65
        labels = Domain(mask).components[mask]
        for node in self.composed(Multigrid(mask)):
            inside = node > 0
            pairs = np.unique(np.stack([node[inside], labels[inside]]), axis=1)
            assert np.unique(pairs[0]).size == pairs.shape[1]

    @pytest.mark.parametrize("shift", [0, 1])
    def test_weak_curves_are_never_crossed(self, shift):
        # A disk and its surroundings, joined by 1e-6. While both have several nodes, no aggregate has both;
        # a region that has become one node may join another, being constant already.
        n = 64
        y, x = np.indices((n, n)) - n / 2 - shift / 4
        disk = np.hypot(y, x) < 18 + shift
        weights = np.ones((2, n, n))
        weights[0, :-1][disk[:-1] != disk[1:]] = 1e-6
        weights[1, :, :-1][disk[:, :-1] != disk[:, 1:]] = 1e-6
        solver = Multigrid(np.ones((n, n), bool), tuple(weights))
        several = True
        for node in self.composed(solver):
            inside, outside = np.unique(node[disk.ravel()]), np.unique(node[~disk.ravel()])
            if several:
                assert np.intersect1d(inside, outside).size == 0
            several = inside.size > 1 and outside.size > 1
        assert len(solver.hierarchy.sizes) >= 3


class TestCoarseMatrices:
    CASES = {
        "unit weights": (1.0, False, 1.0),
        "many decades": (1e-8, False, 0.9),
        "everything": (1e-6, True, 0.8),
    }

    @pytest.fixture(params=CASES.values(), ids=CASES.keys())
    def problem(self, request):
        smallest, held, filling = request.param
        mask = np.random.default_rng(1).random((33, 38)) < filling
        return random_solver(mask, 0, held, smallest)

    def test_sizes_shrink(self, problem):
        solver, A = problem
        sizes = solver.hierarchy.sizes
        assert sizes[0] < len(A)
        assert (np.diff(sizes) < 0).all()
        assert sizes[-1] <= SMALLEST

    def test_symmetric_graphs(self, problem):
        solver, _ = problem
        for level in range(len(solver.hierarchy.sizes)):
            weights, diagonal = level_matrix(solver.hierarchy, level)
            np.testing.assert_array_equal(weights, weights.T)
            assert (weights >= 0).all() and not np.diag(weights).any()
            assert (diagonal - weights.sum(axis=1) >= -1e-14 * diagonal).all()

    def test_galerkin_up_to_the_rescaling_of_edges(self, problem):
        # Row sums are those of PᵀAP: what nodes weigh themselves, and their edges to nodes left out. Weights
        # are those of PᵀAP reduced by a factor between 1 and 1 + STIFFNESS.
        solver, A = problem
        for level, P in enumerate(interpolations(solver)):
            exact = P.T @ A @ P
            weights, diagonal = level_matrix(solver.hierarchy, level)
            rows = diagonal - weights.sum(axis=1)
            np.testing.assert_allclose(rows, exact.sum(axis=1), atol=1e-11 * max(1.0, np.abs(A).max()))
            galerkin = -(exact - np.diag(np.diag(exact)))
            assert (weights <= galerkin * (1 + 1e-12)).all()
            assert (weights * (1 + STIFFNESS) >= galerkin * (1 - 1e-12)).all()
            A = np.diag(diagonal) - weights

    def test_every_node_has_pixels_or_nodes(self, problem):
        for P in interpolations(problem[0]):
            assert (P.sum(axis=0) >= 1).all() and (P.sum(axis=1) <= 1).all()


def test_the_last_level_is_solved():
    solver, _ = random_solver(np.ones((9, 9), bool), 0, held=True)
    hierarchy = solver.hierarchy
    weights, diagonal = level_matrix(hierarchy, len(hierarchy.sizes) - 1)
    b = np.random.default_rng(0).standard_normal(diagonal.size)
    x = b.copy()
    solve_factorised(hierarchy.factors, hierarchy.pivots, x)
    np.testing.assert_allclose((np.diag(diagonal) - weights) @ x, b, atol=1e-9)


def test_isolated_pixels_need_no_levels():
    mask = np.indices((31, 18)).sum(axis=0) % 2 == 0
    assert Multigrid(mask).hierarchy.sizes == [0]
