"""The one entry point: dispatch, the result, and what importing the package brings with it."""

import dataclasses
import inspect
import subprocess
import sys

import numpy as np
import pytest

import normint
from normint.integration import METHODS
from normint.methods import (
    anisotropic_diffusion,
    bilateral,
    calibrated,
    mumford_shah,
    nonconvex,
    rectangular,
    total_variation,
)
from normint.methods import quadratic as quadratic_module

FUNCTIONS = {
    "quadratic": quadratic_module.quadratic,
    "dct": rectangular.dct,
    "sylvester": rectangular.sylvester,
    "total_variation": total_variation.total_variation,
    "phi1": nonconvex.phi1,
    "phi2": nonconvex.phi2,
    "anisotropic_diffusion": anisotropic_diffusion.anisotropic_diffusion,
    "mumford_shah": mumford_shah.mumford_shah,
    "calibrated": calibrated.calibrated,
    "bilateral": bilateral.bilateral,
}
each_method = pytest.mark.parametrize("method", FUNCTIONS)


def options_of(method):
    return inspect.signature(METHODS[method].function).parameters


ITERATIVE = [method for method in METHODS if "scheme" in options_of(method)]


def run(code):
    """Run code in a Python of its own and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


class TestDispatch:
    @each_method
    def test_a_method_is_the_function_of_that_name(self, method):
        p, q, prior = np.random.default_rng(0).standard_normal((3, 6, 7))
        given = {"prior": prior, "prior_weight": 0.5}
        by_name = normint.integrate(p, q, method=method, **given)
        directly = FUNCTIONS[method](p, q, **given)
        np.testing.assert_array_equal(by_name.depth, directly.depth)
        np.testing.assert_array_equal(by_name.energies, directly.energies)

    def test_quadratic_by_default(self):
        p, q = np.random.default_rng(0).standard_normal((2, 6, 7))
        expected = normint.integrate(p, q, method="quadratic").depth
        np.testing.assert_array_equal(normint.integrate(p, q).depth, expected)

    def test_options_arrive(self):
        p, q = np.random.default_rng(0).standard_normal((2, 61, 60))
        with pytest.warns(RuntimeWarning, match="max_iterations=4, say"):
            result = normint.integrate(p, q, tolerance=1e-12, max_iterations=1)
        assert result.iterations == 1 and not result.converged
        natural = normint.integrate(p, q, method="dct").depth
        dropped = normint.integrate(p, q, method="dct", border="dropped").depth
        assert np.abs(natural - dropped).max() > 1e-3

    @pytest.mark.parametrize("method", [m for m in METHODS if "max_iterations" in options_of(m)])
    def test_what_did_not_converge_says_so_once_where_the_caller_sees_it(self, method):
        p, q = np.random.default_rng(0).standard_normal((2, 61, 60))
        normals = normint.gradient_to_normals(p, q)
        once = {"method": method, "max_iterations": 1}
        message = f"^{method} did not converge in 1 iteration; max_iterations=4, say, allows more$"
        with pytest.warns(RuntimeWarning, match=message) as seen:
            assert not normint.integrate(p, q, **once).converged
        with pytest.warns(RuntimeWarning, match=message) as seen_too:
            assert not normint.integrate_normals(normals, axes="uvz", **once).converged
        for found in (seen, seen_too):
            files = [warning.filename for warning in found if warning.category is RuntimeWarning]
            assert files == [__file__]

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize("fixed", [{"scheme": "paper"}, {"tolerance": 0}])
    def test_who_counts_iterations_is_not_warned(self, fixed):
        p, q = np.random.default_rng(0).standard_normal((2, 20, 20))
        assert not normint.integrate(p, q, method="phi1", max_iterations=1, **fixed).converged

    def test_every_method_is_here(self):
        assert list(FUNCTIONS) == list(METHODS)

    @pytest.mark.parametrize("method", ["", "Quadratic", "integrate", None, 3, ["dct"]])
    def test_unknown_method(self, method):
        with pytest.raises(ValueError, match=f"^method is .*; expected one of {', '.join(METHODS)}($|;)"):
            normint.integrate(np.ones((2, 2)), np.ones((2, 2)), method=method)

    @each_method
    def test_unknown_option(self, method):
        with pytest.raises(ValueError, match=f"^colour is not an option of method '{method}'"):
            normint.integrate(np.ones((2, 2)), np.ones((2, 2)), method=method, colour=1.0)

    def test_an_option_of_another_method(self):
        with pytest.raises(ValueError, match="^border is not an option of method 'quadratic'"):
            normint.integrate(np.ones((2, 2)), np.ones((2, 2)), border="dropped")

    def test_only_the_data_are_positional(self):
        field = np.ones((2, 2))
        with pytest.raises(TypeError):
            normint.integrate(field, field, field, "dct")


class TestResult:
    @pytest.fixture(params=FUNCTIONS)
    def result(self, request):
        mask = np.zeros((7, 9), bool)
        mask[2:6, 1:8] = True
        p, q = np.random.default_rng(0).standard_normal((2, 7, 9)).astype(np.float32)
        options = {"max_iterations": 1000} if request.param in ITERATIVE else {}
        return normint.integrate(p, q, mask, method=request.param, **options), mask

    def test_depth(self, result):
        result, mask = result
        assert result.depth.dtype == np.float64
        np.testing.assert_array_equal(np.isfinite(result.depth), mask)
        np.testing.assert_array_equal(np.isnan(result.depth), ~mask)
        assert abs(result.depth[mask].mean()) < 1e-12

    def test_how_it_was_obtained(self, result, request):
        result, mask = result
        method = request.node.callspec.params["result"]
        assert isinstance(result, normint.Integration)
        assert isinstance(result.iterations, int) and result.iterations >= 1
        assert result.converged is True
        assert isinstance(result.seconds, float) and result.seconds > 0
        assert result.energies.ndim == 1 and result.energies.dtype == np.float64
        assert np.isfinite(result.energies).all()
        assert (result.energies >= 0).all() or method == "phi1"  # a sum of logarithms
        if method == "calibrated":  # its energies are those of whole rounds
            assert [weight.shape for weight in result.weights] == [mask.shape] * 2
        elif method in ITERATIVE:
            assert len(result.energies) == result.iterations + 1
            assert [weight.shape for weight in result.weights] == [mask.shape] * 2
        else:
            assert result.weights is None

    def test_is_frozen(self, result):
        result, _ = result
        with pytest.raises(dataclasses.FrozenInstanceError):
            result.depth = np.zeros((7, 9))

    def test_prints_on_one_line(self, result):
        assert len(repr(result[0]).splitlines()) == 1

    def test_owns_its_depth(self):
        p = np.ones((3, 4))
        first, second = normint.integrate(p, p).depth, normint.integrate(p, p).depth
        assert not np.shares_memory(first, second)
        first[:] = 0.0
        np.testing.assert_array_equal(normint.integrate(p, p).depth, second)


class TestImport:
    def test_brings_nothing_slow(self):
        modules = run("import sys, normint; print(*sys.modules)")
        for slow in ("numba", "matplotlib", "scipy.fft", "scipy.sparse", "pyamg"):
            assert slow not in modules

    @pytest.mark.parametrize("module", ["domain", "surfaces", "metrics"])
    def test_public_modules_are_at_hand(self, module):
        assert run(f"import normint; print(normint.{module}.__name__)") == [f"normint.{module}"]

    def test_unknown_names_are_attribute_errors(self):
        with pytest.raises(AttributeError, match="no_such_name"):
            _ = normint.no_such_name
