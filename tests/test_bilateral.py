"""Bilateral integration: its energy and weights by the formula, exact recoveries, symmetries, any mask."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.special
from small_problems import MASKS, centred, each_mask, held_or_not, prior_of, random_fields

import normint
from normint.domain import Domain
from normint.methods.bilateral import bilateral
from normint.surfaces import shapes
from normint.surfaces.layers import Layers, placed

REAL = Path(os.environ.get("NORMINT_DATA", "data")) / "bini"
AUTHORS = {"cat": 0.074, "buddha": 1.098, "harvest": 1.838, "pot2": 0.220}  # mm, by their own code with k = 2


def functional(z, p, q, mask, k=2.0, facing=None):
    """Return the energy and the weights of the edges by the formula, with the matrices of the domain."""
    domain = Domain(mask)
    z, p, q = (domain.to_vector(field) for field in (z, p, q))
    n_z = 1 / np.sqrt(1 + p**2 + q**2) if facing is None else domain.to_vector(facing)
    energy, edges = 0.0, []
    for plus, minus, inside_plus, inside_minus, g in (
        (domain.Du_plus, domain.Du_minus, domain.omega_u_plus, domain.omega_u_minus, p),
        (domain.Dv_plus, domain.Dv_minus, domain.omega_v_plus, domain.omega_v_minus, q),
    ):
        w = scipy.special.expit(k * ((n_z * (minus @ z)) ** 2 - (n_z * (plus @ z)) ** 2))
        readings = [(plus, inside_plus, w), (minus, inside_minus, 1 - w)]
        image = np.zeros(mask.shape)
        for D, inside, share in readings:
            there = domain.to_vector(inside)
            energy += np.sum((share * n_z**2 * (D @ z - g) ** 2)[there])
            # An edge belongs to the pixel above it, or to the left: the first one of its two.
            image[domain.omega_u_plus if g is p else domain.omega_v_plus] += domain.to_image(share * n_z**2)[
                inside
            ]
        edges.append(image)
    return energy, edges


def far_connection(n=40, height=10.0):
    """A board attached along its left side that rises to the right and ends in the air, without noise."""
    v = np.arange(n)[np.newaxis] + np.zeros((n, 1))
    u = v.T
    board = (u >= 12) & (u < 28) & (v >= 8) & (v < 30)
    slope = height / 22
    depth = np.where(board, slope * (v - 7.5), 0.0)
    return depth, np.zeros((n, n)), np.where(board, slope, 0.0)


class TestFormula:
    @each_mask
    @held_or_not
    def test_energy(self, mask, held):
        p, q, z = random_fields(mask)
        options = prior_of(mask, held)
        result = bilateral(p, q, mask, initial=z, k=1.3, max_iterations=1, **options)
        for depth, found in zip((z, np.nan_to_num(result.depth)), result.energies, strict=True):
            expected, _ = functional(depth, p, q, mask, k=1.3)
            if held:
                weight = np.where(mask, options["prior_weight"], 0.0)
                expected += np.sum(weight * (depth - options["prior"]) ** 2)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)

    @each_mask
    def test_weights(self, mask):
        p, q, z = random_fields(mask)
        facing = np.random.default_rng(5).uniform(0.1, 1.0, mask.shape)
        result = bilateral(p, q, mask, facing=facing, max_iterations=3)
        _, expected = functional(np.nan_to_num(result.depth), p, q, mask, facing=facing)
        for found, image in zip(result.weights, expected, strict=True):
            np.testing.assert_allclose(found, image, atol=1e-9)

    @each_mask
    def test_a_step_solves_the_frozen_problem(self, mask):
        p, q, z = random_fields(mask)
        # From a depth of 0 all weights are ½: weighted least squares, here by dense algebra.
        domain = Domain(mask)
        n_z = 1 / np.sqrt(1 + domain.to_vector(p) ** 2 + domain.to_vector(q) ** 2)
        rows, sides = [np.zeros((1, domain.size))], [np.zeros(1)]
        for D, g in ((domain.Du_plus, p), (domain.Du_minus, p), (domain.Dv_plus, q), (domain.Dv_minus, q)):
            exists = np.abs(D).sum(axis=1) > 0
            rows.append((n_z[:, np.newaxis] * D.toarray())[exists])
            sides.append((n_z * domain.to_vector(g))[exists])
        expected = np.linalg.lstsq(np.concatenate(rows), np.concatenate(sides), rcond=None)[0]
        found = bilateral(p, q, mask, max_iterations=1).depth
        np.testing.assert_allclose(found, centred(domain.to_image(expected), mask), atol=1e-5)


class TestPaperScheme:
    """Conjugate gradients from the last depth, until 10⁻³ of the right-hand side is left."""

    def test_the_first_system_is_solved_to_three_digits(self):
        mask = np.random.default_rng(3).random((40, 40)) < 0.9
        p, q, _ = random_fields(mask)
        found = bilateral(p, q, mask, scheme="paper", max_iterations=1).depth
        domain = Domain(mask)
        z, p, q = (domain.to_vector(field) for field in (found, p, q))
        n_z = 1 / np.sqrt(1 + p**2 + q**2)
        both = (domain.Du_plus, p), (domain.Du_minus, p), (domain.Dv_plus, q), (domain.Dv_minus, q)
        b = sum(D.T @ (n_z**2 * g) for D, g in both)
        left = b - sum(D.T @ (n_z**2 * (D @ z)) for D, _ in both)
        assert 1e-5 < np.linalg.norm(left) / np.linalg.norm(b) < 1.001e-3

    @each_mask
    def test_a_depth_that_solves_its_own_system_stays(self, mask):
        p, q, _ = random_fields(mask)
        settled = bilateral(0.2 * p, 0.2 * q, mask, tolerance=0, max_iterations=60).depth
        found = bilateral(0.2 * p, 0.2 * q, mask, scheme="paper", initial=settled, max_iterations=3).depth
        np.testing.assert_allclose(found, settled, atol=1e-12)

    @pytest.mark.slow
    @pytest.mark.skipif(not REAL.exists(), reason="the normal maps with a depth are not there")
    @pytest.mark.parametrize("name", AUTHORS)
    def test_the_depth_error_is_that_of_the_authors(self, name):
        if not (REAL / name).exists():
            pytest.skip(f"{name} is not there")
        data = normint.datasets.read_normal_map(REAL / name)
        options = {"method": "bilateral", "scheme": "paper", "steepest": None}
        depth = normint.integrate_normals(data.normals, data.mask, data.camera, axes="uvz", **options).depth
        error = depth * np.nanmedian(data.depth / depth) - data.depth
        assert np.nanmean(np.abs(error)) == pytest.approx(AUTHORS[name], rel=0.05)


class TestRecovery:
    def test_a_ball_that_leans_on_a_slope(self):
        # It touches the ground above and stands before it below: one can walk around the ends of the jump.
        slope, ball = placed(shapes.plane(0.8, 0.0), (24, 24)), placed(shapes.ellipsoid(10, 10, 10), (24, 24))
        u, v = np.arange(48)[:, np.newaxis] + 0.5, np.arange(48)[np.newaxis] + 0.5
        depth, p, q, _ = Layers((slope,), (), (ball,)).see(u, v)
        least_squares = normint.metrics.rmse(normint.integrate(p, q).depth, depth)
        assert normint.metrics.rmse(bilateral(p, q).depth, depth) < 0.4 * least_squares

    def test_a_high_step_stays_once_it_is_there(self):
        depth, p, q = far_connection(height=40.0)
        least_squares = normint.metrics.rmse(normint.integrate(p, q).depth, depth)
        found = bilateral(p, q, initial=depth)
        assert normint.metrics.rmse(found.depth, depth) < 0.02 * least_squares
        right = found.weights[1]  # the board's end is at column 29
        assert right[13:27, 29].max() < 1e-9 < 0.1 < right[13:27, 7].min()

    @pytest.mark.parametrize(("scheme", "digits"), [("fast", 1e-5), ("paper", 0.05)])
    def test_control_points_hold(self, scheme, digits):
        mask = MASKS["hole"]
        u, v = np.indices(mask.shape)
        prior = np.where((u == 1) & (v == 1), 100.0, np.nan)
        p, q = np.full(mask.shape, 2.0), np.full(mask.shape, -0.7)
        found = bilateral(p, q, mask, prior=prior, prior_weight=1e4, scheme=scheme).depth
        np.testing.assert_allclose(found[mask], (100 + 2.0 * (u - 1) - 0.7 * (v - 1))[mask], atol=digits)

    def test_a_small_k_is_least_squares_with_the_cosines(self):
        p, q, _ = random_fields(np.ones((8, 9), bool))
        even = bilateral(p, q, max_iterations=1).depth
        np.testing.assert_allclose(bilateral(p, q, k=1e-9).depth, even, atol=1e-5)


class TestSymmetries:
    @held_or_not
    @pytest.mark.parametrize("name", ["rectangle", "hole", "thread"])
    def test_flips_and_transposition(self, name, held):
        mask = MASKS[name]
        p, q, z = random_fields(mask)
        facing = np.random.default_rng(6).uniform(0.2, 1.0, mask.shape)
        prior = prior_of(mask, held)
        settings = {"max_iterations": 6, "tolerance": 1e-12, "scheme": "paper"}
        expected = bilateral(p, q, mask, facing=facing, initial=z, **prior, **settings).depth

        def moved(move):
            return {name: move(image) for name, image in (prior | {"facing": facing, "initial": z}).items()}

        found = bilateral(-p[::-1], q[::-1], mask[::-1], **moved(np.flipud), **settings).depth[::-1]
        np.testing.assert_allclose(found, expected, atol=1e-6)
        found = bilateral(q.T, p.T, mask.T, **moved(np.transpose), **settings).depth.T
        np.testing.assert_allclose(found, expected, atol=1e-6)

    @each_mask
    def test_schemes_agree_if_both_solve_exactly(self, mask):
        p, q, _ = random_fields(mask)
        fast = bilateral(0.2 * p, 0.2 * q, mask)
        paper = bilateral(0.2 * p, 0.2 * q, mask, scheme="paper", solver="direct")
        np.testing.assert_allclose(fast.depth, paper.depth, atol=1e-4)


class TestArguments:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"k": 0}, "^k is 0; expected a finite number > 0"),
            ({"facing": np.zeros((3, 3))}, "^facing: zero or negative inside the mask; expected numbers > 0"),
            ({"facing": np.ones((2, 3))}, r"^facing has shape \(2, 3\); expected \(3, 3\)"),
            ({"facing": np.full((3, 3), np.nan)}, "^facing is NaN or infinite at 9 pixels"),
            ({"scheme": "slow"}, "^scheme is 'slow'; expected one of fast, paper"),
        ],
    )
    def test_bad_ones(self, options, message):
        with pytest.raises(ValueError, match=message):
            bilateral(np.ones((3, 3)), np.ones((3, 3)), **options)
