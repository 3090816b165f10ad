"""The parts of the multigrid solver: grid, aggregates, coarse matrices, the cycle and the threads."""

from unittest import mock

import numpy as np
import pytest
import scipy.ndimage
import scipy.sparse
import scipy.sparse.csgraph
from hypothesis import given, settings
from hypothesis import strategies as st
from small_problems import masks, seeds
from torture.masks import ALLOWED, check, draw

from normint.domain import Domain
from normint.solver import coarsening, grid, hierarchy, pixels, threads
from normint.solver.coarse_edges import STIFFNESS
from normint.solver.elimination import solve_factorised
from normint.solver.grid import DOWN, INVERSE, OWN, RIGHT, E, R
from normint.solver.hierarchy import SMALLEST
from normint.solver.multigrid import Multigrid
from normint.solver.system import System

on_random_masks = settings(max_examples=50)
PRECISIONS = {np.float32: 1e-5, np.float64: 1e-12}
place, cell_of = grid.place.py_func, coarsening.cell_of.py_func  # compiled, they are for kernels only
each_precision = pytest.mark.parametrize("precision", PRECISIONS)


def solver_for(mask, weights=None, diagonal=None, precision=np.float64):
    """Set up the solver on a mask of any pieces, all weights measured in their own unit."""
    labels = scipy.ndimage.label(mask)[0].astype(np.int32)
    noted = []

    def noting(*arguments):
        noted.append(coarsening.aggregate(*arguments))
        return noted[-1]

    with mock.patch.object(hierarchy, "aggregate", noting):
        solver = Multigrid(labels, np.ones(labels.max() + 1), weights, diagonal, precision=precision)
    solver.noted = noted
    return solver


def random_solver(mask, seed, held=False, smallest=1e-6, precision=np.float64):
    """Set up a system whose weights vary over some decades, and some of whose pixels have their own."""
    rng = np.random.default_rng(seed)
    weights = smallest ** rng.random((2, *mask.shape))
    diagonal = np.where(mask, rng.choice([0.0, 0.0, 0.1, 1.0, 10.0], mask.shape), 0.0) if held else None
    return solver_for(mask, tuple(weights), diagonal, precision), fine_matrix(mask, weights, diagonal)


def fine_matrix(mask, weights, diagonal=None):
    """Assemble the system on the pixels, row by row, from the domain's difference matrices."""
    domain = Domain(mask)
    A = np.zeros((domain.size, domain.size)) if diagonal is None else np.diag(domain.to_vector(diagonal))
    for difference, w in zip((domain.Du_plus, domain.Dv_plus), weights, strict=True):
        A = A + difference.T @ scipy.sparse.diags_array(domain.to_vector(w)) @ difference
    order = domain.to_vector(np.cumsum(mask).reshape(mask.shape) - 1)
    to_rows = np.argsort(order)
    return np.asarray(A)[np.ix_(to_rows, to_rows)]


def nodes_of(solver):
    """Return the node of each pixel, row by row."""
    where = solver.where
    return np.array([place(where, int(i), int(j)) for i, j in np.argwhere(solver.labels > 0)], int)


def level_matrix(hierarchy, level):
    """Return a coarse level's nodes, its off-diagonal weights and its diagonal, dense."""
    nodes, lists, where = hierarchy.nodes, hierarchy._lists, hierarchy.places[level]
    base, end, begin = where[0], hierarchy.ends[level], where[0] + 2 * where[1] * where[2]
    weights = np.zeros((end - base, end - base))
    for node in range(base, begin):
        y, x = cell_of(where, node)
        for row, (i, j) in ((DOWN, (y + 1, x)), (RIGHT, (y, x + 1))):
            if nodes[row, node] > 0:
                other = place(where, i, j)
                weights[node - base, other - base] = weights[other - base, node - base] = nodes[row, node]
    for n in range(lists.extra[level], lists.extra[level + 1]):
        node = begin + n - lists.extra[level]
        columns = lists.column[lists.row[n] : lists.row[n + 1]]
        assert np.unique(columns).size == columns.size
        assert (columns[: lists.middle[n] - lists.row[n]] < begin).all()
        assert (columns[lists.middle[n] - lists.row[n] :] >= begin).all()
        weights[node - base, columns - base] = lists.value[lists.row[n] : lists.row[n + 1]]
        weights[columns - base, node - base] = weights[node - base, columns - base]
    inverse = nodes[INVERSE, base:end].astype(float)
    there = np.flatnonzero(inverse > 0)
    return there + base, weights[np.ix_(there, there)], 1.0 / inverse[there], nodes[OWN, base:end][there]


def aggregates(solver):
    """Yield for the pixels, and then for each level but the last, its nodes and the parents of these.

    The parent of a node left to the smoother is 0.
    """
    places = solver.hierarchy.places
    for level, (cells, (line, parents, extra_parents, *_)) in enumerate(
        zip(places, solver.noted, strict=True)
    ):
        where, here = solver.where, nodes_of(solver)
        here = here[solver.nodes[INVERSE, here] > 0]
        if level > 0:
            where, here = places[level - 1], level_matrix(solver.hierarchy, level - 1)[0]
        begin, found = where[0] + 2 * where[1] * where[2], []
        for node in here.tolist():
            y, x = cell_of(where, node)
            special = -1 if node >= begin else line[(y >> 1) * (where[2] - 2) + (x >> 1)]
            if node >= begin:
                found.append(extra_parents[node - begin])
            else:
                number = 2 * (y & 1) + (x & 1)
                found.append(place(cells, y >> 1, x >> 1) if special < 0 else parents[special, number])
        yield here, np.array(found, int)


class TestGrid:
    @on_random_masks
    @given(masks(9))
    def test_every_pixel_has_a_place_away_from_the_padding(self, mask):
        height, width = grid.shape_for(*mask.shape)
        places = np.array([place((0, height, width, 0), int(i), int(j)) for i, j in np.argwhere(mask)])
        assert np.unique(places).size == places.size
        _, k, m = np.unravel_index(places, (2, height, width))
        assert ((k > 0) & (k < height - 1) & (m > 0) & (m < width - 1)).all()

    @pytest.mark.parametrize("shape", [(1, 7), (8, 1), (3, 5), (4, 6)])
    def test_a_place_is_found_again_and_neighbours_have_the_other_colour(self, shape):
        where = (0, *grid.shape_for(*shape), 0)
        places = np.array([[place(where, i, j) for j in range(shape[1])] for i in range(shape[0])])
        assert [cell_of(where, int(node)) for node in places.ravel()] == list(np.ndindex(shape))
        colours = places >= where[1] * where[2]
        assert (np.diff(colours, axis=0) != 0).all() and (np.diff(colours, axis=1) != 0).all()

    @each_precision
    @on_random_masks
    @given(masks(9), seeds, st.booleans(), st.booleans())
    def test_residual_and_product(self, precision, mask, seed, unit, held):
        # Both ways to compute A z, from images and on the grid, are that of the matrix.
        if unit:
            solver, A = solver_for(mask, precision=precision), fine_matrix(mask, np.ones((2, *mask.shape)))
        else:
            solver, A = random_solver(mask, seed, held, precision=precision)
        rng = np.random.default_rng(seed + 1)
        fluxes, prior, depth = rng.standard_normal((2, *mask.shape)), *rng.standard_normal((2, *mask.shape))
        depth[~mask] = 0.0
        nothing = np.zeros((0, 0))
        weights = (nothing, nothing) if solver.weights is None else solver.weights
        own = nothing if solver.diagonal is None else solver.diagonal
        factors = np.ones(solver.normal.size)
        squares = np.zeros((1, 2, factors.size))
        data = solver.labels, weights, tuple(fluxes), False, own, prior
        pixels.residual(0, 0, len(mask), *data, depth, factors, *solver.where[1:3], solver.nodes, squares)
        b = self.right_side(mask, solver.weights, fluxes, solver.diagonal, prior)
        left, here = b[mask] - A @ depth[mask], nodes_of(solver)
        size = max(1.0, np.abs(A).max()) * PRECISIONS[precision] * 10
        np.testing.assert_allclose(solver.nodes[R, here], left, atol=size)
        np.testing.assert_allclose(squares[0, :, 1:].sum(axis=1), [b[mask] @ b[mask], left @ left], rtol=1e-9)
        # A step of length one along z takes A z from the residual.
        solver.nodes[E], solver._x[:], before = 0.0, 0.0, solver.nodes[R].copy()
        solver.nodes[E, here] = depth[mask]
        region, one = (1, solver.where[1] - 1, 0, 0), precision(1)
        grid.step(solver.nodes, solver._span, solver.where, region, one, one, solver._x, solver._sums)
        np.testing.assert_allclose((before - solver.nodes[R])[here], A @ depth[mask], atol=size)
        known = solver.nodes[INVERSE, here] > 0  # a pixel alone has no equation
        np.testing.assert_allclose(solver._x[here][known], depth[mask][known], rtol=1e-6)
        np.testing.assert_allclose(solver._sums[:, 0].sum(), np.sum(solver.nodes[R] ** 2), rtol=1e-4)

    def right_side(self, mask, weights, fluxes, diagonal, prior):
        b = np.zeros(mask.shape) if diagonal is None else diagonal * prior
        for k, (here, there) in enumerate(((np.s_[:-1], np.s_[1:]), (np.s_[:, :-1], np.s_[:, 1:]))):
            w = np.where(mask[here] & mask[there], 1.0 if weights is None else weights[k][here], 0.0)
            b[here] -= w * fluxes[k][here]
            b[there] += w * fluxes[k][here]
        return b


class TestPreconditioner:
    def check(self, solver, A, seed):
        """One cycle gives e with e·r > 0, and a step along it lowers the energy."""
        r = A @ np.random.default_rng(seed).standard_normal(len(A))
        here = nodes_of(solver)
        if not np.linalg.norm(r) > 0:
            return
        solver.nodes[R] = solver._x[:] = 0.0
        solver.nodes[R, here] = r
        solver._forget()
        assert solver._advance() is not None
        e, x = solver.nodes[E, here], solver._x[here]
        assert np.isfinite(e).all() and e @ r > 0
        assert x @ A @ x / 2 - r @ x < 0
        # The step is the best one along e, and the residual is what is left.
        np.testing.assert_allclose(x @ A @ x, r @ x, rtol=1e-6)
        np.testing.assert_allclose(
            solver.nodes[R, here], r - A @ x, atol=1e-9 * np.abs(A).max() * np.abs(x).max()
        )

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
    def test_one_step_reduces_the_error(self, shape):
        # It takes away at least half of the error of a smooth and of a rough depth.
        mask = np.ones(shape, bool)
        solver, A = solver_for(mask), fine_matrix(mask, np.ones((2, *shape)))
        u, v = np.indices(shape)
        smooth = np.cos(3 * u / shape[0]) + np.cos(3 * v / shape[1])
        for z in (smooth.ravel(), np.random.default_rng(0).random(mask.size)):
            self.check(solver, A, 0)
            solver.nodes[R] = solver._x[:] = 0.0
            solver.nodes[R, nodes_of(solver)] = A @ z
            solver._forget()
            solver._advance()
            error = z - solver._x[nodes_of(solver)]
            assert error @ A @ error < 0.25 * (z @ A @ z)


class TestAggregates:
    @on_random_masks
    @given(masks(9), seeds, st.booleans())
    def test_left_out_are_exactly_pixels_that_are_held(self, mask, seed, held):
        solver, A = random_solver(mask, seed, held)
        share = np.divide(A.sum(axis=1), np.diag(A), out=np.zeros(len(A)), where=np.diag(A) > 0)
        _, parents = next(aggregates(solver))
        share = share[np.diag(A) > 0]
        decided = np.abs(share - 0.5) > 1e-9
        np.testing.assert_array_equal((parents == 0)[decided], (share >= 0.5)[decided])

    @on_random_masks
    @given(masks(9), seeds, st.booleans())
    def test_pixels_of_an_aggregate_are_connected(self, mask, seed, held):
        solver, A = random_solver(mask, seed, held)
        A = A[np.ix_(np.diag(A) > 0, np.diag(A) > 0)]
        _, parents = next(aggregates(solver))
        for node in np.unique(parents[parents > 0]):
            members = np.flatnonzero(parents == node)
            assert members.size <= 4
            graph = scipy.sparse.csr_array(A[np.ix_(members, members)] != 0)
            assert scipy.sparse.csgraph.connected_components(graph, directed=False)[0] == 1

    def composed(self, solver):
        """Yield for each level the node that each pixel belongs to, 0 for none."""
        node = nodes_of(solver)
        for here, parents in aggregates(solver):
            known = dict(zip(here.tolist(), parents.tolist(), strict=True))
            node = np.array([known.get(k, 0) for k in node.tolist()])
            yield node

    def test_pieces_are_never_joined(self):
        mask = np.random.default_rng(0).random((60, 71)) < 0.65
        labels = Domain(mask).components[mask]
        for node in self.composed(solver_for(mask)):
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
        solver = solver_for(np.ones((n, n), bool), tuple(weights))
        several = True
        for node in self.composed(solver):
            inside, outside = (np.unique(node[part.ravel() & (node > 0)]) for part in (disk, ~disk))
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

    def test_graphs(self, problem):
        # Weights are positive, and the diagonal is their sum with what the node weighs itself.
        solver, _ = problem
        for level in range(len(solver.hierarchy.sizes)):
            _, weights, diagonal, own = level_matrix(solver.hierarchy, level)
            assert (weights >= 0).all() and not np.diag(weights).any() and (own >= 0).all()
            np.testing.assert_allclose(diagonal, weights.sum(axis=1) + own, rtol=1e-12)

    def test_galerkin_up_to_the_rescaling_of_edges(self, problem):
        # Own weights are the row sums of PᵀAP: those of the nodes, and their edges to nodes left out.
        # Weights are those of PᵀAP reduced by a factor between 1 and 1 + STIFFNESS.
        solver, A = problem
        A = A[np.ix_(np.diag(A) > 0, np.diag(A) > 0)]
        for level, (_, parents) in enumerate(aggregates(solver)):
            new, weights, diagonal, own = level_matrix(solver.hierarchy, level)
            every = np.union1d(new, parents[parents > 0])
            P = (parents[:, np.newaxis] == every).astype(float)
            assert (P.sum(axis=0) >= 1).all()
            exact = (P.T @ A @ P)[np.ix_(np.isin(every, new), np.isin(every, new))]
            np.testing.assert_allclose(own, exact.sum(axis=1), atol=1e-11 * max(1.0, np.abs(A).max()))
            galerkin = -(exact - np.diag(np.diag(exact)))
            assert (weights <= galerkin * (1 + 1e-12)).all()
            assert (weights * (1 + STIFFNESS) >= galerkin * (1 - 1e-12)).all()
            A = np.diag(diagonal) - weights


def test_the_last_level_is_solved():
    solver, _ = random_solver(np.ones((9, 9), bool), 0, held=True)
    hierarchy = solver.hierarchy
    _, weights, diagonal, _ = level_matrix(hierarchy, len(hierarchy.sizes) - 1)
    b = np.random.default_rng(0).standard_normal(diagonal.size)
    x = b.copy()
    solve_factorised(*hierarchy._bottom[1:], x)
    np.testing.assert_allclose((np.diag(diagonal) - weights) @ x, b, atol=1e-9)


@each_precision
def test_a_mean_that_no_depth_explains_is_not_followed(precision):
    # Rounding leaves a mean in the right-hand side although a constant is free. A step of conjugate gradients
    # that goes after it can be of any length, and does so on every level.
    y, x = np.indices((400, 400)) - 200
    hierarchy = solver_for(np.hypot(y, x) < 200, precision=precision).hierarchy
    end = hierarchy.ends[0]
    inside = np.flatnonzero(hierarchy.nodes[INVERSE, :end])
    for seed in range(4):
        b = np.random.default_rng(seed).standard_normal(inside.size)
        hierarchy.nodes[R, :end] = 0.0
        hierarchy.nodes[R, inside] = b - np.roll(b, 1) + 1e-3
        hierarchy.cycle()
        assert np.abs(hierarchy.nodes[E, :end]).max() < inside.size


def test_isolated_pixels_need_no_levels():
    mask = np.indices((31, 18)).sum(axis=0) % 2 == 0
    assert solver_for(mask).hierarchy.sizes == [0]


class TestThreads:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_any_number_of_threads_gives_the_same_digits(self, monkeypatch, weighted):
        monkeypatch.setattr(threads, "LEAST", 64)
        rng = np.random.default_rng(0)
        mask = rng.random((301, 130)) < 0.95
        weights = tuple(1e-3 ** rng.random((2, *mask.shape))) if weighted else None
        slopes, found = rng.standard_normal((2, *mask.shape)), []
        for count in (1, 2, 3, 5):
            threads.set_threads(count)
            found.append(System(mask, weights).solve(*slopes, slopes=True).depth)
        threads.set_threads(None)
        for depth in found[1:]:
            np.testing.assert_array_equal(depth, found[0])

    def test_how_many(self, monkeypatch):
        monkeypatch.setenv("OMP_NUM_THREADS", "3")
        monkeypatch.delenv("NORMINT_THREADS", raising=False)
        assert threads.threads() == 3
        monkeypatch.setenv("NORMINT_THREADS", "2")
        assert threads.threads() == 2
        with pytest.raises(ValueError, match="count is 0; expected"):
            threads.set_threads(0)


@pytest.mark.parametrize("tolerance", ALLOWED)
def test_weights_over_eight_decades_from_edge_to_edge(tolerance):
    # Corrections of weakly held parts are so large that few digits are left for what happens inside.
    worst, text = check(draw(460) | {"tolerance": tolerance})
    assert worst <= 1, text
