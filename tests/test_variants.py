"""What the paper names without trying it: each study against something that is known."""

import numpy as np
import pytest

import normint
from normint.integration import integrate_quietly
from normint.metrics import rmse
from normint.workbook.studies import earlier, editing, first_order, normal_noise, variants


@pytest.fixture(scope="module")
def noisy():
    return normint.surfaces.vase(48).with_noise(0.01, np.random.default_rng(0))


def plane(rows=12, columns=15):
    u, v = np.indices((rows, columns))
    z = 0.7 * u - 0.3 * v
    return z - z.mean(), np.full(z.shape, 0.7), np.full(z.shape, -0.3)


def level(z):
    return z - z.mean()


class TestEarlier:
    def test_forward_differences_follow_the_slope_of_one_pixel(self):
        p = np.array([[1.0], [5.0], [9.0]])
        depth = earlier.forward_only(p, np.zeros((3, 1)))
        np.testing.assert_allclose(np.diff(depth[:, 0]), [1, 5], atol=1e-6)

    def test_jacobi_needs_four_times_the_iterations_for_twice_the_side(self):
        def iterations(n):
            surface = normint.surfaces.peaks(n)
            return earlier.jacobi_iterations(surface.p, surface.q)

        assert 3 < iterations(32) / iterations(16) < 5

    def test_too_few_jacobi_iterations_are_refused(self):
        surface = normint.surfaces.peaks(16)
        with pytest.raises(ValueError, match="max_iterations is 5"):
            earlier.jacobi_iterations(surface.p, surface.q, max_iterations=5)

    def test_a_level_border_is_right_only_where_it_is_level(self):
        u, v = np.indices((64, 64)) + 0.5
        z = np.cos(np.pi * u / 64) * np.cos(np.pi * v / 64)
        p = -np.pi / 64 * np.sin(np.pi * u / 64) * np.cos(np.pi * v / 64)
        q = -np.pi / 64 * np.cos(np.pi * u / 64) * np.sin(np.pi * v / 64)
        assert rmse(earlier.homogeneous_neumann(p, q), z) < 0.05 * z.std()
        tilted, slope_u, slope_v = plane()
        assert rmse(earlier.homogeneous_neumann(slope_u, slope_v), tilted) > 0.9 * tilted.std()


class TestReweighted:
    rules = [variants.lengths(), variants.lengths(isotropic=False), variants.indicators(45.0)]
    rules += [variants.indicators(45.0, fields=1), variants.smoothed_diffusion(0.2, 10.0)]

    @pytest.mark.parametrize("rule", rules)
    def test_a_plane_is_exact_whatever_the_weights(self, rule):
        z, p, q = plane()
        np.testing.assert_allclose(level(variants.reweighted(p, q, rule, iterations=5)), z, atol=1e-5)

    def test_total_variation_is_that_of_the_package(self, noisy):
        ours = variants.reweighted(noisy.p, noisy.q, variants.lengths())
        best = normint.integrate(noisy.p, noisy.q, method="total_variation")
        start = normint.integrate(noisy.p, noisy.q, method="total_variation", initial=ours)
        assert start.energies[0] == pytest.approx(best.energies[-1], rel=2e-3)
        assert start.energies[0] < 0.95 * best.energies[0]  # where least squares begins

    def test_four_indicators_are_those_of_the_paper(self, noisy):
        ours = variants.reweighted(noisy.p, noisy.q, variants.indicators(45.0), iterations=50)
        theirs = integrate_quietly(noisy.p, noisy.q, method="mumford_shah", scheme="paper").depth
        assert rmse(ours, theirs) < 0.01 * theirs.std()

    def test_isotropic_weights_do_not_change_when_the_image_is_transposed(self, noisy):
        z = variants.reweighted(noisy.p, noisy.q, variants.lengths(), iterations=10)
        turned = variants.reweighted(noisy.q.T, noisy.p.T, variants.lengths(), iterations=10)
        assert rmse(turned.T, z) < 1e-3

    def test_smoothness_flattens(self, noisy):
        rule = variants.smoothed_diffusion(0.2, 10.0)

        def heavy(d):
            return {name: np.full(z.shape, 1e3) for name, z in d.items()}

        flat = variants.reweighted(noisy.p, noisy.q, rule, iterations=2, smoothness=heavy)
        assert flat.std() < 0.05 * normint.surfaces.vase(48).depth.std()

    def test_weights_from_the_slopes_alone_fall_where_they_should(self):
        tent = normint.surfaces.canadian_tent(48, 12, 12)
        free = dict.fromkeys(("down", "up", "right", "left"), None)
        curl = variants.from_integrability(tent.p, tent.q, 0.1)(0, free, free)["down"]
        assert curl[20, 24] == 1 and curl[20, 11:13].max() < 0.1  # on the roof, and at a gable
        steep = variants.from_smoothed_slopes(tent.p, tent.q, 0.1)(0, free, free)["down"]
        assert steep[2, 2] == pytest.approx(1) and steep[18, 24] < 0.1

    def test_a_third_number_of_fields_is_refused(self):
        with pytest.raises(ValueError, match="fields is 2"):
            variants.indicators(45.0, fields=2)


class TestFirstOrder:
    def test_all_reach_the_minimum_of_admm(self):
        surface = normint.surfaces.peaks(16).with_noise(0.2, np.random.default_rng(0))
        least = normint.integrate(surface.p, surface.q, method="total_variation").energies[-1]
        for algorithm, options in (
            (first_order.primal_dual, {"step": 1.0}),
            (first_order.fista, {"delta": 1e-3}),
        ):
            energies = []
            note = lambda k, energy, seen=energies: seen.append(energy)  # noqa: E731
            algorithm(surface.p, surface.q, iterations=4000, callback=note, **options)
            assert least * (1 - 1e-4) < min(energies) < 1.001 * least

    @pytest.mark.parametrize("weight", [0.5, np.inf])
    def test_generalised_variation_of_a_plane_is_exact(self, weight):
        z, p, q = plane()
        depth = first_order.generalised_variation(p, q, weight=weight, iterations=3000, step=2.0)
        np.testing.assert_allclose(level(depth), z, atol=0.02)

    def test_generalised_variation_ignores_an_outlier_among_slopes_that_drift(self):
        z, p, q = plane()
        bent = p + np.linspace(-0.3, 0.3, len(p))[:, np.newaxis]
        bent[5, 7] += 3
        smooth = first_order.generalised_variation(bent, q, weight=0.5, iterations=3000, step=2.0)
        assert np.abs(np.diff(smooth, 3, axis=0)).max() < 0.05


def test_normals_seen_from_the_front_keep_their_noise():
    found = normal_noise.draw(0, 0.01, 50_000, np.random.default_rng(0))
    assert found.slopes.std() == pytest.approx(0.01, rel=0.02)
    assert found.transformed.std() == pytest.approx(1, rel=0.02)
    np.testing.assert_allclose(found.transformed, found.rewritten, atol=1e-9)


class TestEditing:
    rng = np.random.default_rng(0)
    target = np.full((20, 24, 3), 200, np.uint8)
    shape = np.zeros((20, 24), bool)
    shape[6:14, 5:16] = True

    def test_a_source_that_differs_by_a_constant_leaves_no_trace(self):
        picture = self.rng.integers(60, 120, self.target.shape).astype(np.uint8)
        smooth = np.cumsum(np.cumsum(picture.astype(float) - 90, 0), 1)
        smooth = (100 + 40 * smooth / np.abs(smooth).max()).astype(np.uint8)
        cloned = editing.clone(smooth, smooth + np.uint8(50), self.shape)
        difference = np.abs(cloned.astype(int) - smooth)
        assert difference[~self.shape].max() == 0 and difference.max() < 12

    def test_a_flat_source_takes_the_colour_around(self):
        cloned = editing.clone(self.target, np.full_like(self.target, 10), self.shape)
        assert np.abs(cloned.astype(int) - 200).max() <= 1
        assert editing.seam(cloned, self.shape) <= 1
        pasted = np.where(self.shape[..., np.newaxis], np.uint8(10), self.target)
        assert editing.seam(pasted, self.shape) == 190

    def test_a_shape_at_the_border_is_refused(self):
        with pytest.raises(ValueError, match="shape must have pixels, and none on the border"):
            editing.clone(self.target, self.target, np.ones((20, 24), bool))
