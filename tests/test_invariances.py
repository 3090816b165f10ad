"""What changes with the image and what does not: the invariances that each method's docstring states."""

import warnings
from functools import cache

import numpy as np
import pytest

import normint
from normint.integration import METHODS

# How far a depth may be from that of the unchanged problem, in parts of the largest depth.
ROUNDING = 1e-8
TOLERANCE = 1e-3  # some tolerances of the solver, or of an iteration that stops before the minimum
# Which transformations each method answers to, and how accurately.
ALL = dict.fromkeys(("transposed", "flipped", "negated", "scaled", "tilted"), ROUNDING)
NOT_FLIPPED = {"transposed": TOLERANCE, "negated": 0.0, "tilted": ROUNDING}
EXPECTED = {
    "quadratic": ALL | {"flipped": TOLERANCE, "tilted": TOLERANCE},
    "dct": ALL,
    "sylvester": ALL,
    "total_variation": ALL | {"transposed": TOLERANCE, "flipped": TOLERANCE},
    "phi1": NOT_FLIPPED,
    "phi2": NOT_FLIPPED,
    "anisotropic_diffusion": {"transposed": ROUNDING, "flipped": 1e-5, "negated": 0.0},
    "mumford_shah": NOT_FLIPPED,
    "calibrated": {"transposed": TOLERANCE, "flipped": TOLERANCE, "negated": TOLERANCE},
    "bilateral": {"transposed": ROUNDING, "flipped": 1e-6, "negated": 0.0},
}
# How parameters in the units of slopes change with these, so that the depth changes with them too.
SCALED = {
    "phi1": lambda c: {"beta": 0.5 * c},
    "phi2": lambda c: {"gamma": 1.0 * c},
    "anisotropic_diffusion": lambda c: {"mu": 1.0 * c, "nu": 1.0 * c},
    "mumford_shah": lambda c: {"mu": 45.0 / c**2},
}


def depth_of(method, p, q, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # stopping early, all do so alike
        return normint.integrate(p, q, method=method, **options).depth


def transposed(method, p, q):
    return (depth_of(method, q.T, p.T).T,)


def flipped(method, p, q):
    upside_down = depth_of(method, -p[::-1], q[::-1])[::-1]
    mirrored = depth_of(method, p[:, ::-1], -q[:, ::-1])[:, ::-1]
    return upside_down, mirrored


def negated(method, p, q):
    away = {"away": True} if method == "calibrated" else {}  # it tells what is in front from what is behind
    return (-depth_of(method, -p, -q, **away),)


def scaled(method, p, q):
    return (depth_of(method, 3 * p, 3 * q) / 3,)


def tilted(method, p, q):
    rows, columns = np.indices(p.shape)
    return (depth_of(method, p + 0.3, q - 0.2) - 0.3 * rows + 0.2 * columns,)


def difference(z, expected):
    off = z - expected
    return np.abs(off - off.mean()).max() / np.abs(expected).max()


@pytest.fixture(scope="module", params=["vase", "tent"])
def slopes(request):
    surface = (
        normint.surfaces.vase(64) if request.param == "vase" else normint.surfaces.canadian_tent(64, 16, 16)
    )
    noisy = surface.with_noise(0.01, np.random.default_rng(0))
    return noisy.p, noisy.q


@pytest.fixture(scope="module")
def unchanged(slopes):
    return cache(lambda method: depth_of(method, *slopes))


@pytest.mark.parametrize("change", [transposed, flipped, negated, scaled, tilted], ids=lambda f: f.__name__)
@pytest.mark.parametrize("method", METHODS)
def test_of_the_image(slopes, unchanged, method, change):
    off = max(difference(depth, unchanged(method)) for depth in change(method, *slopes))
    if change.__name__ in EXPECTED[method]:
        assert off <= EXPECTED[method][change.__name__]
    elif change is not flipped and method != "calibrated":  # the same jumps may be found by accident
        assert off > TOLERANCE


@pytest.mark.parametrize("method", SCALED)
def test_scaling_slopes_and_parameters(slopes, method):
    p, q = slopes
    expected = depth_of(method, p, q, **SCALED[method](1.0))
    found = depth_of(method, 4 * p, 4 * q, **SCALED[method](4.0)) / 4
    assert difference(found, expected) <= ROUNDING


@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("dct", "sylvester")])
def test_a_constant_of_the_prior_is_one_of_the_depth(slopes, method):
    p, q = slopes
    prior = np.random.default_rng(1).standard_normal(p.shape)
    lifted = depth_of(method, p, q, prior=prior + 1000.0, prior_weight=0.1)
    expected = depth_of(method, p, q, prior=prior, prior_weight=0.1)
    np.testing.assert_allclose(lifted - 1000.0, expected, atol=1e-4 * np.abs(expected).max())
