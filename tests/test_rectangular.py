"""The rectangular baselines against dense least squares and the paper's printed matrices."""

import numpy as np
import pytest
import scipy.ndimage
from hypothesis import given
from hypothesis import strategies as st
from small_problems import seeds

import normint
from normint.domain import Domain
from normint.methods.periodic import periodic_energy, periodic_residuals
from normint.methods.rectangular import central_difference_matrix, dct_depth, rectangle_of, sylvester_depth
from normint.metrics import rmse
from normint.surfaces import peaks

# Section 3.5, a line of seven pixels: twice the central differences, four times their second-order operator.
TWICE_CENTRAL = [
    [-3, 4, -1, 0, 0, 0, 0],
    [-1, 0, 1, 0, 0, 0, 0],
    [0, -1, 0, 1, 0, 0, 0],
    [0, 0, -1, 0, 1, 0, 0],
    [0, 0, 0, -1, 0, 1, 0],
    [0, 0, 0, 0, -1, 0, 1],
    [0, 0, 0, 0, 1, -4, 3],
]
FOUR_TIMES_SECOND_ORDER = [
    [10, -12, 2, 0, 0, 0, 0],
    [-12, 17, -4, -1, 0, 0, 0],
    [2, -4, 3, 0, -1, 0, 0],
    [0, -1, 0, 2, 0, -1, 0],
    [0, 0, -1, 0, 3, -4, 2],
    [0, 0, 0, -1, -4, 17, -12],
    [0, 0, 0, 0, 2, -12, 10],
]
METHODS = [dct_depth, sylvester_depth]
sizes = st.integers(1, 7)


def dense_quadratic(p, q, prior=0.0, weight=0.0):
    """Solve the paper's system on the whole rectangle by dense least squares of minimal norm."""
    domain = Domain(np.ones(p.shape))
    p, q, prior = (domain.to_vector(np.broadcast_to(field, p.shape)) for field in (p, q, prior))
    matrix = domain.laplacian().toarray() + weight * np.eye(domain.size)
    b = domain.Du @ p + domain.Dv @ q + weight * prior
    return domain.to_image(np.linalg.lstsq(matrix, b, rcond=None)[0])


def dense_sylvester(p, q, prior=0.0, weight=0.0):
    """Minimise Harker and O'Leary's energy itself, as one stacked least-squares problem of minimal norm."""
    rows, columns = p.shape
    along_u = np.kron(central_difference_matrix(rows).toarray(), np.eye(columns))
    along_v = np.kron(np.eye(rows), central_difference_matrix(columns).toarray())
    matrix = np.vstack([along_u, along_v, np.sqrt(weight) * np.eye(p.size)])
    data = np.concatenate([p.ravel(), q.ravel(), np.sqrt(weight) * np.broadcast_to(prior, p.shape).ravel()])
    return np.linalg.lstsq(matrix, data, rcond=None)[0].reshape(p.shape)


@pytest.mark.parametrize(
    ("method", "dense"), [(dct_depth, dense_quadratic), (sylvester_depth, dense_sylvester)]
)
@given(sizes, sizes, seeds, st.floats(1e-3, 1e3))
def test_the_minimum_of_the_method_s_energy_without_and_with_a_prior(
    method, dense, rows, columns, seed, weight
):
    p, q, prior = np.random.default_rng(seed).standard_normal((3, rows, columns))
    z = method(p, q)
    np.testing.assert_allclose(z, dense(p, q), atol=1e-10)
    assert abs(z.mean()) < 1e-12
    z = method(p, q, prior=prior, prior_weight=weight)
    np.testing.assert_allclose(z, dense(p, q, prior, weight), atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_equal_weights_may_come_as_an_array(method):
    p, q, prior = np.random.default_rng(0).standard_normal((3, 4, 5))
    array = method(p, q, prior=prior, prior_weight=np.full((4, 5), 0.5))
    np.testing.assert_array_equal(array, method(p, q, prior=prior, prior_weight=0.5))


@pytest.mark.parametrize("method", METHODS)
def test_weights_that_vary_are_refused(method):
    field = np.ones((2, 2))
    with pytest.raises(ValueError, match='prior_weight varies between pixels .* Use method="quadratic"'):
        method(field, field, prior=field, prior_weight=np.array([[0.0, 1.0], [1.0, 1.0]]))


@pytest.mark.parametrize("method", METHODS)
def test_a_paraboloid_is_recovered(method):
    # Mean fluxes are exact for quadratic depths, and so are the one-sided ends of the central differences.
    u, v = np.mgrid[:8.0, :5.0]
    z = 0.5 * u**2 - 0.3 * u * v + 0.2 * v**2
    np.testing.assert_allclose(method(u - 0.3 * v, 0.4 * v - 0.3 * u), z - z.mean(), atol=1e-10)


@pytest.mark.parametrize("method", [*METHODS, lambda p, q: dct_depth(p, q, border="dropped")])
@given(sizes, sizes, seeds)
def test_transposition_and_flips(method, rows, columns, seed):
    p, q = np.random.default_rng(seed).standard_normal((2, rows, columns))
    z = method(p, q)
    np.testing.assert_allclose(method(q.T.copy(), p.T.copy()).T, z, atol=1e-10)
    np.testing.assert_allclose(method(-p[::-1], q[::-1])[::-1], z, atol=1e-10)


@pytest.mark.parametrize("method", [*METHODS, lambda p, q: dct_depth(p, q, border="dropped")])
def test_data_are_left_alone(method):
    p, q = np.random.default_rng(0).standard_normal((2, 6, 4))
    before = p.copy(), q.copy()
    method(p, q)
    np.testing.assert_array_equal((p, q), before)


class TestDroppedBorder:
    def test_what_it_drops(self):
        # Recover the right-hand sides from the solutions: they differ by the divergence along the sides and
        # nowhere else, up to the constant that the system cannot take.
        rows, columns = 6, 5
        p, q = np.random.default_rng(0).standard_normal((2, rows, columns))
        domain = Domain(np.ones((rows, columns)))
        difference = dct_depth(p, q) - dct_depth(p, q, border="dropped")
        dropped = domain.to_image(domain.laplacian() @ domain.to_vector(difference))
        expected = np.zeros((rows, columns))
        for row in (0, -1):
            expected[row, 1:-1] = (q[row, :-2] - q[row, 2:]) / 2
        for column in (0, -1):
            expected[1:-1, column] = (p[:-2, column] - p[2:, column]) / 2
        np.testing.assert_allclose(dropped, expected - expected.mean(), atol=1e-12)

    def test_a_plane_has_nothing_to_drop(self):
        p, q = np.full((4, 6), 2.0), np.full((4, 6), -1.0)
        np.testing.assert_allclose(dct_depth(p, q, border="dropped"), dct_depth(p, q), atol=1e-12)

    def test_unknown_border(self):
        with pytest.raises(ValueError, match='border is \'open\'; expected "natural" or "dropped"'):
            dct_depth(np.ones((2, 2)), np.ones((2, 2)), border="open")


def test_errors_on_noisy_peaks():
    # Figure 3 at σ = 10 %, n = 128, means over seeds: the natural border is best, Sylvester 1.9 times worse.
    surface = peaks(128)
    errors = []
    for seed in range(20):
        noisy = surface.with_noise(0.1, np.random.default_rng(seed))
        p, q = noisy.p, noisy.q
        depths = dct_depth(p, q), dct_depth(p, q, border="dropped"), sylvester_depth(p, q)
        errors.append([rmse(depth, surface.depth) for depth in depths])
    np.testing.assert_allclose(np.mean(errors, axis=0), [0.064, 0.070, 0.119], atol=0.003)


def test_central_differences_of_seven_pixels():
    D = central_difference_matrix(7)
    np.testing.assert_array_equal(2 * D.toarray(), TWICE_CENTRAL)
    np.testing.assert_array_equal(4 * (D.T @ D).toarray(), FOUR_TIMES_SECOND_ORDER)


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_only_constants_have_no_central_difference(n):
    D = central_difference_matrix(n).toarray()
    np.testing.assert_allclose(D.sum(axis=1), 0, atol=1e-15)
    assert np.linalg.matrix_rank(D) == n - 1


@pytest.mark.parametrize("n", [3, 4, 7])
def test_central_differences_are_exact_for_parabolas(n):
    x = np.arange(n)
    np.testing.assert_allclose(central_difference_matrix(n) @ (x**2), 2 * x, atol=1e-12)


class TestRectangle:
    def test_inside_a_larger_image(self):
        mask = np.zeros((5, 6), dtype=bool)
        mask[2:4, 1:6] = True
        assert rectangle_of(mask) == (slice(2, 4), slice(1, 6))

    @pytest.mark.parametrize("method", ["dct", "sylvester"])
    def test_anything_else_is_refused(self, method):
        mask = np.ones((3, 3), dtype=bool)
        mask[1, 1] = False
        message = f'mask is not a full rectangle; method="{method}" .* Use method="quadratic" instead'
        with pytest.raises(ValueError, match=message):
            rectangle_of(mask, method)


class TestTiles:
    @staticmethod
    def tile(shape=(24, 30), seed=0):
        """Return a periodic surface, and slopes of which the mean of two neighbours is their step."""
        rng = np.random.default_rng(seed)
        z = scipy.ndimage.gaussian_filter(rng.standard_normal(shape), 1.5, mode="wrap")
        waves = np.fft.fft2(z - z.mean())
        angles = [2 * np.pi * np.fft.fftfreq(n) for n in shape]
        for axis, (angle, n) in enumerate(zip(angles, shape, strict=True)):
            if n % 2 == 0:  # the mean of two neighbours loses the fastest wave, which may then have any slope
                waves.swapaxes(0, axis)[n // 2] = 0
            angle[np.abs(angle) > 3.14159] = 0
        z = np.fft.ifft2(waves).real
        p = np.fft.ifft2(2j * np.tan(angles[0] / 2)[:, np.newaxis] * waves).real
        q = np.fft.ifft2(2j * np.tan(angles[1] / 2) * waves).real
        return z, p, q

    @pytest.mark.parametrize("shape", [(24, 30), (25, 31), (1, 16), (16, 1), (2, 2)])
    def test_a_periodic_surface_comes_back_to_rounding(self, shape):
        z, p, q = self.tile(shape)
        result = normint.integrate(p, q, method="dct", border="periodic")
        np.testing.assert_allclose(result.depth, z, atol=1e-12)

    def test_mean_slopes_have_no_effect(self):
        z, p, q = self.tile()
        result = normint.integrate(p + 0.7, q - 0.2, method="dct", border="periodic")
        np.testing.assert_allclose(result.depth, z, atol=1e-12)
        # The natural border, which takes them for a tilt, would not meet at the seam.
        open_ = normint.integrate(p + 0.7, q - 0.2, method="dct").depth
        assert np.abs(open_[-1] - open_[0]).mean() > 10

    def test_it_is_the_minimum_and_the_seam_is_an_edge_like_others(self):
        rng = np.random.default_rng(3)
        _, p, q = self.tile()
        p, q = p + 0.1 * rng.standard_normal(p.shape), q + 0.1 * rng.standard_normal(q.shape)
        result = normint.integrate(p, q, method="dct", border="periodic")
        least = periodic_energy(result.depth, p, q)
        assert result.energies[-1] == pytest.approx(least)
        for _ in range(5):
            other = result.depth + 1e-3 * rng.standard_normal(p.shape)
            assert periodic_energy(other, p, q) > least
        down, right = (np.abs(left) for left in periodic_residuals(result.depth, p, q))
        seam = np.concatenate([down[-1], right[:, -1]])
        inside = np.concatenate([down[:-1].ravel(), right[:, :-1].ravel()])
        assert seam.mean() < 1.3 * inside.mean() and seam.max() <= inside.max()

    def test_shifting_the_tile_shifts_the_depth(self):
        rng = np.random.default_rng(4)
        p, q = rng.standard_normal((2, 12, 17))
        shifted = [np.roll(s, (5, 9), (0, 1)) for s in (p, q)]
        depth = normint.integrate(p, q, method="dct", border="periodic").depth
        again = normint.integrate(*shifted, method="dct", border="periodic").depth
        np.testing.assert_allclose(np.roll(depth, (5, 9), (0, 1)), again, atol=1e-12)

    def test_a_prior_holds_it(self):
        z, p, q = self.tile()
        held = {"prior": z + 3.0, "prior_weight": 0.1}
        result = normint.integrate(p, q, method="dct", border="periodic", **held)
        np.testing.assert_allclose(result.depth, z + 3.0, atol=1e-12)
        assert result.energies[-1] == pytest.approx(periodic_energy(z, p, q))
