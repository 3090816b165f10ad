"""The weighted 5-point system: its solvers against dense algebra, their reports, their iteration counts."""

import sys

import numpy as np
import pytest
import scipy.ndimage
import scipy.sparse
import scipy.sparse.csgraph
from hypothesis import example, given, settings
from hypothesis import strategies as st
from small_problems import masks, seeds

from normint.domain import Domain
from normint.solver import pixels, references
from normint.solver.elimination import SMALL
from normint.solver.grid import R, place
from normint.solver.multigrid import Multigrid
from normint.solver.system import SOLVERS, System

on_random_masks = settings(max_examples=40)
each_solver = pytest.mark.parametrize("solver", SOLVERS)
# Conjugate gradients without a multigrid need more than the 100 iterations allowed by default.
accurate = pytest.mark.parametrize("solver", ["multigrid", "pyamg", "direct"])
iterative = pytest.mark.parametrize("solver", ["multigrid", "pyamg"])


class Reference:
    """The same problem with the difference matrices of the domain, pixels numbered columnwise."""

    def __init__(self, mask, weights=None, diagonal=None):
        self.domain = Domain(mask)
        weights = np.ones((2, *mask.shape)) if weights is None else weights
        self.D = scipy.sparse.vstack([self.domain.Du_plus, self.domain.Dv_plus])
        defined = np.diff(self.D.tocsr().indptr) > 0
        self.w = np.where(defined, np.concatenate([self.domain.to_vector(w) for w in weights]), 0.0)
        self.held = np.zeros(self.domain.size) if diagonal is None else self.domain.to_vector(diagonal)
        self.graph = self.D.T @ scipy.sparse.diags_array(self.w) @ self.D
        self.matrix = scipy.sparse.csr_array(self.graph + scipy.sparse.diags_array(self.held))

    def flux(self, down, right):
        f = np.concatenate([self.domain.to_vector(f) for f in (down, right)])
        return np.where(self.w > 0, f, 0.0)

    def right_side(self, down, right, prior=0.0):
        prior = self.domain.to_vector(np.broadcast_to(prior, self.domain.shape))
        return self.D.T @ (self.w * self.flux(down, right)) + self.held * prior

    def residual(self, depth, *data):
        b = self.right_side(*data)
        scale = np.linalg.norm(b)
        return np.linalg.norm(b - self.matrix @ self.domain.to_vector(depth)) / (scale if scale > 0 else 1.0)

    def solve(self, *data):
        """Find the solution of minimal norm."""
        z = np.linalg.lstsq(self.matrix.toarray(), self.right_side(*data), rcond=1e-15)[0]
        return self.domain.to_image(z)

    def energy(self, depth, down=None, right=None):
        """Return Σ w (Dz - f)² + Σ λ z², in which directions that no data hold do not count."""
        z = self.domain.to_vector(depth)
        f = 0.0 if down is None else self.flux(down, right)
        return np.sum(self.w * (self.D @ z - f) ** 2) + np.sum(self.held * z**2)


def without_constants(depth, reference):
    """Remove the mean of each part that only edges of weight zero join to the rest, where no λ holds it."""
    z = reference.domain.to_vector(depth)
    count, label = scipy.sparse.csgraph.connected_components(reference.graph != 0, directed=False)
    mean = np.bincount(label, z, count) / np.bincount(label, minlength=count)
    free = np.bincount(label, reference.held, count) == 0
    return z - np.where(free, mean, 0.0)[label]


def random_weights(shape, rng, smallest=1e-3, zeros=0.0):
    weights = smallest ** rng.random((2, *shape))
    return np.where(rng.random(weights.shape) < zeros, 0.0, weights)


def random_diagonal(shape, rng):
    return rng.choice([0.0, 0.0, 0.0, 1e-2, 1.0, 1e2], shape)


class TestAgainstDenseAlgebra:
    @accurate
    @on_random_masks
    @given(masks(9), seeds, st.sampled_from([0.0, 0.3]), st.booleans())
    def test_weights_and_diagonal(self, solver, mask, seed, zeros, held):
        rng = np.random.default_rng(seed)
        weights = random_weights(mask.shape, rng, zeros=zeros)
        diagonal = random_diagonal(mask.shape, rng) if held else None
        data = rng.standard_normal((3 if held else 2, *mask.shape))
        reference = Reference(mask, weights, diagonal)
        solution = System(mask, weights, diagonal, solver=solver).solve(*data, tolerance=1e-12)
        assert solution.converged
        np.testing.assert_array_equal(np.isnan(solution.depth), ~mask)
        expected = without_constants(reference.solve(*data), reference)
        scale = max(1.0, np.abs(expected).max())
        depth = without_constants(solution.depth, reference)
        np.testing.assert_allclose(depth, expected, rtol=0, atol=1e-7 * scale)

    @accurate
    @on_random_masks
    @given(masks(9), seeds)
    @example(np.ones((7, 1), bool), 13)
    def test_weights_over_eight_decades(self, solver, mask, seed):
        # Depth differences across edges of weight 1e-8 are hardly determined; their part of the energy is.
        rng = np.random.default_rng(seed)
        weights = random_weights(mask.shape, rng, smallest=1e-8)
        data = rng.standard_normal((2, *mask.shape))
        reference = Reference(mask, weights)
        depth, _, _, converged = System(mask, weights, solver=solver).solve(*data, tolerance=1e-12)
        assert converged
        size = reference.energy(np.zeros(mask.shape), *data)
        assert reference.energy(depth - reference.solve(*data)) <= 1e-12 * size

    @each_solver
    @on_random_masks
    @given(masks(9), seeds)
    def test_slopes_are_averaged_along_edges_and_nothing_outside_is_used(self, solver, mask, seed):
        rng = np.random.default_rng(seed)
        weights = random_weights(mask.shape, rng)
        p, q = rng.standard_normal((2, *mask.shape))
        down, right = np.zeros((2, *mask.shape))
        down[:-1] = (p[:-1] + p[1:]) / 2
        right[:, :-1] = (q[:, :-1] + q[:, 1:]) / 2
        expected = System(mask, weights, solver=solver).solve(down, right, tolerance=1e-12).depth
        domain = Domain(mask)
        inside = np.stack([domain.omega_u_plus, domain.omega_v_plus])
        hidden = np.where(inside, [down, right], np.nan)
        system = System(mask, np.where(inside, weights, np.nan), solver=solver)
        np.testing.assert_array_equal(system.solve(*hidden, tolerance=1e-12).depth, expected)
        slopes = (np.where(mask, slope, np.nan) for slope in (p, q))
        found = system.solve(*slopes, slopes=True, tolerance=1e-12).depth
        np.testing.assert_allclose(found, expected, atol=1e-8)

    @pytest.mark.parametrize("solver", ["cg", "jacobi"])
    @pytest.mark.parametrize("held", [False, True])
    def test_conjugate_gradients_arrive_in_the_end(self, solver, held):
        mask, weights, fluxes = rough_problem()
        rng = np.random.default_rng(4)
        diagonal = random_diagonal(mask.shape, rng) if held else None
        prior = rng.standard_normal(mask.shape) if held else None
        expected = System(mask, weights, diagonal, solver="direct").solve(*fluxes, prior).depth
        system = System(mask, weights, diagonal, solver=solver)
        solution = system.solve(*fluxes, prior, tolerance=1e-12, max_iterations=5000)
        assert solution.converged
        np.testing.assert_allclose(solution.depth[mask], expected[mask], atol=1e-6)

    def test_the_diagonal_saves_conjugate_gradients_iterations(self):
        mask, rng = np.ones((30, 30), bool), np.random.default_rng(4)
        weights, fluxes = 10 ** rng.uniform(-4, 0, (2, 30, 30)), rng.standard_normal((2, 30, 30))
        plain, preconditioned = (
            System(mask, weights, solver=solver).solve(*fluxes, tolerance=1e-6, max_iterations=5000)
            for solver in ("cg", "jacobi")
        )
        assert preconditioned.converged and preconditioned.iterations < plain.iterations


@on_random_masks
@given(masks(9), seeds, st.booleans())
def test_adjointness(mask, seed, unit):
    """⟨b(f), z⟩ = Σ_e w_e f_e (z_j − z_i): the right-hand side is the adjoint of the differences."""
    rng = np.random.default_rng(seed)
    weights, fluxes = rng.random((2, *mask.shape)), rng.standard_normal((2, *mask.shape))
    z = rng.standard_normal(mask.shape)
    weights = np.ones_like(weights) if unit else weights
    domain, expected = Domain(mask), 0.0
    for axis, inside in enumerate((domain.omega_u_plus, domain.omega_v_plus)):
        expected += np.sum((weights[axis] * fluxes[axis] * (np.roll(z, -1, axis) - z))[inside])
    labels = mask.astype(np.int32)
    solver = Multigrid(labels, np.ones(2), None if unit else tuple(weights), precision=float)
    nothing = np.zeros((0, 0))
    given = (nothing, nothing) if unit else tuple(weights)
    data = labels, given, tuple(fluxes), False, nothing, nothing, nothing, np.ones(2)
    pixels.residual(0, 0, len(mask), *data, *solver.where[1:3], solver.nodes, np.zeros((1, 2, 2)))
    image = np.zeros(mask.shape)
    for i, j in np.argwhere(mask):
        image[i, j] = solver.nodes[R, place.py_func(solver.where, int(i), int(j))]
    assembled = references.Direct(mask, None if unit else weights).right_side(*fluxes, False, None)
    np.testing.assert_allclose([np.sum(image * z), assembled @ z[mask]], expected, atol=1e-11)


def rough_problem(solver="multigrid", seed=0):
    """Make a domain with holes and pieces, and data that take several iterations."""
    n = 90 if solver == "multigrid" else 40  # ours iterates on large pieces only
    rng = np.random.default_rng(seed)
    mask = scipy.ndimage.gaussian_filter(rng.standard_normal((n, n)), 2) > -0.1
    return mask, random_weights((n, n), rng), rng.standard_normal((2, n, n))


class TestReports:
    @accurate
    @pytest.mark.parametrize("tolerance", [1e-4, 1e-12])
    def test_residual_is_the_true_one_and_the_callback_hears_of_all(self, solver, tolerance):
        mask, weights, fluxes = rough_problem(solver)
        calls = []
        solution = System(mask, weights, solver=solver).solve(
            *fluxes, tolerance=tolerance, callback=lambda *call: calls.append(call)
        )
        domains = [mask]
        if solver == "multigrid":  # ours tells that of the worst piece, which is 0 where it is eliminated
            labels, count = scipy.ndimage.label(mask)
            domains = [labels == k + 1 for k in range(count) if np.count_nonzero(labels == k + 1) > SMALL]
        true = max(Reference(domain, weights).residual(solution.depth, *fluxes) for domain in domains)
        np.testing.assert_allclose(solution.residual, true, rtol=1e-6, atol=1e-14)
        assert solution.converged and true <= tolerance
        iterations, residuals = zip(*calls, strict=True)
        assert iterations == tuple(range(1, solution.iterations + 1))
        assert residuals[-1] <= tolerance
        if solver != "multigrid":  # ours goes on until no depth changes either
            assert all(residual > tolerance for residual in residuals[:-1])

    @iterative
    def test_every_iteration_lowers_the_energy(self, solver):
        mask, weights, fluxes = rough_problem(solver)
        system, reference = System(mask, weights, solver=solver), Reference(mask, weights)
        energies = [reference.energy(np.zeros(mask.shape), *fluxes)]
        for count in range(1, 8):
            solution = system.solve(*fluxes, tolerance=1e-12, max_iterations=count)
            assert solution.iterations == count and not solution.converged and solution.residual > 1e-12
            np.testing.assert_array_equal(np.isfinite(solution.depth), mask)
            energies.append(reference.energy(solution.depth, *fluxes))
        assert (np.diff(energies) < 0).all()

    @iterative
    def test_a_warm_start_saves_iterations_or_all_of_them(self, solver):
        mask, weights, fluxes = rough_problem(solver)
        system = System(mask, weights, solver=solver)
        near = system.solve(*fluxes, tolerance=1e-3).depth
        cold = system.solve(*fluxes, tolerance=1e-10)
        assert system.solve(*fluxes, tolerance=1e-10, initial=near).iterations < cold.iterations
        again = system.solve(*fluxes, tolerance=1e-8, initial=cold.depth)
        assert again.iterations == 0 and again.converged
        np.testing.assert_allclose(again.depth, cold.depth, atol=1e-12)

    @each_solver
    @pytest.mark.filterwarnings("error")
    def test_nothing_to_solve(self, solver):
        # With b = 0 the depth is zero, whatever it starts from.
        mask, weights, fluxes = rough_problem(solver)
        calls = []
        solution = System(mask, weights, solver=solver).solve(
            *np.zeros_like(fluxes), initial=fluxes[0], callback=lambda *call: calls.append(call)
        )
        np.testing.assert_allclose(solution.depth[mask], 0, atol=1e-12)
        assert solution.converged and solution.iterations <= 1 and np.isfinite(calls).all()

    @each_solver
    def test_a_system_serves_many_right_hand_sides(self, solver):
        mask, weights, fluxes = rough_problem(solver)
        diagonal = random_diagonal(mask.shape, np.random.default_rng(1))
        others = np.random.default_rng(2).standard_normal((2, *mask.shape))
        prior = np.random.default_rng(3).standard_normal(mask.shape)
        system = System(mask, weights, diagonal, solver=solver)
        for data in (fluxes, others, fluxes):
            fresh = System(mask, weights, diagonal, solver=solver)
            np.testing.assert_array_equal(system.solve(*data, prior).depth, fresh.solve(*data, prior).depth)


class TestBadInput:
    mask = np.ones((5, 6), bool)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"weights": (np.ones((5, 6)), np.ones((6, 5)))}, r"weights to the right has shape \(6, 5\)"),
            ({"weights": (-np.ones((5, 6)), np.ones((5, 6)))}, "weights downwards: negative"),
            ({"weights": (np.full((5, 6), np.nan), np.ones((5, 6)))}, "weights downwards is NaN"),
            ({"weights": (np.ones((5, 6)),)}, "weights"),
            ({"diagonal": -np.ones((5, 6))}, "diagonal: negative"),
            ({"diagonal": np.full((5, 6), np.inf)}, "diagonal is NaN or infinite"),
            ({"diagonal": np.ones((1, 6))}, "diagonal"),
            ({"solver": "gauss"}, "solver is 'gauss'; expected one of multigrid, pyamg, cg, jacobi, direct"),
        ],
    )
    def test_of_the_system(self, arguments, message):
        with pytest.raises(ValueError, match=f"^{message}"):
            System(self.mask, **arguments)

    @pytest.mark.parametrize("name", ["flux_down", "flux_right", "prior", "initial"])
    def test_of_the_data(self, name):
        system = System(self.mask, diagonal=np.ones((5, 6)))
        data = dict.fromkeys(("flux_down", "flux_right", "prior", "initial"), np.zeros((5, 6)))
        with pytest.raises(ValueError, match=rf"^{name} has shape \(4, 6\); expected the mask's \(5, 6\)"):
            system.solve(**data | {name: np.zeros((4, 6))})

    def test_missing_pyamg_is_named_with_the_command_that_installs_it(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyamg", None)
        with pytest.raises(ImportError, match=r"needs pyamg, .*; pip install 'normint\[workbook\]'"):
            System(self.mask, solver="pyamg")


def disk(n):
    return np.hypot(*(np.mgrid[:n, :n] - (n - 1) / 2)) < 0.475 * n


def slits(n):
    """Cut a disk by lines one pixel wide; one bridge of a pixel is left."""
    mask = disk(n)
    mask[n // 5 :: n // 5] = False
    mask[:, n // 3] = False
    mask[n // 5, n // 4] = True
    return mask


def comb(n):
    mask = np.zeros((n, n), bool)
    mask[0], mask[:, ::2] = True, True
    return mask


def serpentine(n):
    mask = np.zeros((n, n), bool)
    mask[::2], mask[1::4, -1], mask[3::4, 0] = True, True, True
    return mask


def weak_curves(n, weight, width, seed=1):
    """Make weights that are one but along the closed curves where smooth noise changes sign."""
    side = scipy.ndimage.gaussian_filter(np.random.default_rng(seed).standard_normal((n, n)), width) > 0
    down, right = np.ones((2, n, n))
    down[:-1][side[:-1] != side[1:]] = weight
    right[:, :-1][side[:, :-1] != side[:, 1:]] = weight
    return down, right


def iterations(mask, weights=None, tolerance=1e-4):
    """Count the iterations for noise, which all frequencies are part of."""
    fluxes = np.random.default_rng(0).standard_normal((2, *mask.shape))
    solution = System(mask, weights).solve(*fluxes, tolerance=tolerance)
    assert solution.converged
    assert Reference(mask, weights).residual(solution.depth, *fluxes) <= 1.001 * tolerance
    return solution.iterations


class TestIterationCounts:
    """On images that are small enough for a test; `make bench` counts up to 4096²."""

    @pytest.mark.parametrize("shape", [disk, slits, comb])
    def test_of_domains(self, shape):
        counts = [iterations(shape(n)) for n in (256, 320)]
        assert max(counts) <= 12
        assert np.ptp(counts) <= 2

    @pytest.mark.parametrize("weight", [1e-8, 1e-3])
    def test_of_weak_curves(self, weight):
        for n, width, draws in ((200, 10, 1), (48, 3, 10)):
            for seed in range(draws):
                weights = weak_curves(n, weight, width, seed)
                assert iterations(np.ones((n, n), bool), weights) <= 12
                iterations(np.ones((n, n), bool), weights, tolerance=1e-10)  # converges

    def test_of_long_paths_does_not_grow_with_their_length(self):
        # No bound on the count itself: blocks of 2×2 pixels only halve a path, so its levels are many.
        assert np.ptp([iterations(serpentine(n)) for n in (128, 200)]) <= 2

    @pytest.mark.parametrize("shape", [disk, slits, serpentine])
    @pytest.mark.parametrize("tolerance", [1e-8, 1e-12])
    def test_small_tolerances_are_reached(self, shape, tolerance):
        iterations(shape(128), tolerance=tolerance)


@pytest.mark.parametrize("weighted", [False, True])
def test_other_weights_give_what_a_new_system_gives(weighted):
    mask, weights, fluxes = rough_problem()
    system = System(mask, tuple(np.ones((2, *mask.shape))) if weighted else None)
    system.reweight(weights)
    expected = System(mask, weights).solve(*fluxes, tolerance=1e-10)
    found = system.solve(*fluxes, tolerance=1e-10)
    assert found.converged
    np.testing.assert_allclose(found.depth, expected.depth, atol=1e-6 * np.nanmax(np.abs(expected.depth)))
