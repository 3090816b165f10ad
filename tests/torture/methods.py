"""Every method on random masks, slopes, parameters, λ and kinds of arrays: what must hold for any of them."""

import inspect
import warnings

import numpy as np

import normint
from normint.integration import METHODS

from .masks import random_mask

RECTANGULAR = ("dct", "sylvester")
# Fixed points, which follow weights and not an energy; and methods that have none to compare.
NOT_DESCENDING = ("anisotropic_diffusion", "bilateral", "calibrated")


def trial(seed, folder):
    """Integrate one random problem and check everything that can be checked without knowing the answer."""
    check(draw(seed))


def draw(seed, method=None):
    """Draw a method with its options, a mask, a field of slopes, a prior, and how the arrays are kept."""
    rng = np.random.default_rng(seed)
    method = method or str(rng.choice(list(METHODS)))
    shape = tuple(rng.integers(2 if method in RECTANGULAR else 1, 61 if method != "calibrated" else 33, 2))
    mask = np.ones(shape, bool) if method in RECTANGULAR else random_mask(rng, shape)
    kind = str(rng.choice(["plane", "noise", "outliers"]))
    slope = rng.standard_normal(2)
    p, q = (np.full(shape, s) for s in slope)
    if kind != "plane":
        p, q = (field + 0.3 * rng.standard_normal(shape) for field in (p, q))
    if kind == "outliers":
        p[rng.random(shape) < 0.05] *= 100
    scale = 10.0 ** rng.uniform(-9, 6)
    held = {}
    if method not in RECTANGULAR and kind != "plane" and rng.random() < 0.3:
        weight = np.where(rng.random(shape) < rng.choice([0.05, 1.0]), 10.0 ** rng.uniform(-9, 9), 0.0)
        if weight[mask].any():
            held = {"prior": scale * rng.standard_normal(shape), "prior_weight": np.where(mask, weight, 0.0)}
    return {
        "method": method, "mask": mask, "kind": kind, "p": scale * p, "q": scale * q, "held": held,
        "options": _options(rng, method), "kept": str(rng.choice(list(KEPT))),
    }  # fmt: skip


def _options(rng, method):
    names = {
        "phi1": ["beta"],
        "phi2": ["gamma"],
        "anisotropic_diffusion": ["mu", "nu"],
        "mumford_shah": ["mu"],
    }
    options = {name: float(10.0 ** rng.uniform(-4, 4)) for name in names.get(method, [])}
    if method == "calibrated":
        options["away"] = bool(rng.random() < 0.5)
    if "scheme" in inspect.signature(METHODS[method].function).parameters and rng.random() < 0.2:
        options |= {"scheme": "paper", "max_iterations": int(rng.integers(1, 20))}
    return options


def check(problem):
    """Assert what must hold; the message says what the problem was."""
    p, q, mask, held = (problem[name] for name in ("p", "q", "mask", "held"))
    text = f"{problem['method']} {problem['options']}, {mask.shape}, {problem['kind']}, {problem['kept']}"
    result = integrate(problem, p, q, mask)
    depth = result.depth
    assert (np.isnan(depth) == ~mask).all(), f"{text}: NaN inside the mask, or a depth outside"
    assert np.isfinite(depth[mask]).all() and np.isfinite(result.energies).all(), f"{text}: not finite"
    if problem["method"] not in (*NOT_DESCENDING, *RECTANGULAR, "quadratic"):
        assert result.energies[-1] <= result.energies[0], f"{text}: energies {result.energies[[0, -1]]}"
    expected, size = plain_energy(problem, depth)
    # Of a plane, rounding is left; and it decides where a parameter is tiny beside the slopes.
    tiny = min([np.inf, *(v for v in problem["options"].values() if isinstance(v, float))])
    if expected is not None and problem["kind"] != "plane" and tiny > 1e-6 * max(np.ptp(p), np.ptp(q)):
        error = abs(result.energies[-1] - expected)
        assert error <= 1e-8 * size, f"{text}: energy {result.energies[-1]}, formula {expected}"
    # From a depth of 0 to three digits of the right-hand side: that is no plane yet.
    inexact = problem["method"] == "bilateral" and problem["options"].get("scheme") == "paper"
    if problem["kind"] == "plane" and not inexact:
        rows, cols = np.indices(mask.shape)
        plane = p * rows + q * cols
        off = (depth - plane)[mask]
        for label in range(1, (labels := normint.domain.Domain(mask).components).max() + 1):
            inside = labels[mask] == label
            assert np.ptp(off[inside]) <= 1e-5 * max(np.ptp(plane), 1e-300), f"{text}: not a plane"
    given = KEPT[problem["kept"]](p, q, mask)
    copies = [np.array(array) for array in given]
    again = integrate(problem, *given)
    assert np.array_equal(again.depth, depth, equal_nan=True), f"{text}: another depth"
    for array, copy in zip(given, copies, strict=True):
        assert np.array_equal(np.asarray(array), copy, equal_nan=True), f"{text}: an argument was changed"


def integrate(problem, p, q, mask):
    """Integrate the drawn problem with these arrays; that it may not converge is no failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        method, held, options = problem["method"], problem["held"], problem["options"]
        return normint.integrate(p, q, mask, method=method, **held, **options)


def _read_only(*arrays):
    copies = [array.copy() for array in arrays]
    for array in copies:
        array.flags.writeable = False
    return copies


def _strided(*arrays):
    wide = [np.zeros((2 * array.shape[0], 3 * array.shape[1]), array.dtype) for array in arrays]
    for one, array in zip(wide, arrays, strict=True):
        one[::2, 1::3] = array
    return [one[::2, 1::3] for one in wide]


def _hidden(p, q, mask):
    """Hide what is outside the mask in masked arrays, over numbers that must not be read."""
    wild = np.where(mask, p, 1e300)
    return np.ma.MaskedArray(wild, ~mask), np.ma.MaskedArray(np.where(mask, q, np.nan), ~mask), mask


# How the same arrays may be kept.
KEPT = {
    "as they are": lambda *arrays: arrays,
    "by columns": lambda *arrays: [np.asfortranarray(array) for array in arrays],
    "read-only": _read_only,
    "strided": _strided,
    "hidden": _hidden,
    "numbers as mask": lambda p, q, mask: (p, q, mask.astype(np.uint8)),
    "NaN outside": lambda p, q, mask: (np.where(mask, p, np.nan), np.where(mask, q, np.inf), mask),
    "big-endian": lambda p, q, mask: (p.astype(">f8"), q.astype(">f8"), mask),
}


def plain_energy(problem, z):
    """Return the energy of a depth by its formula, and the size of what is added up; None if not known."""
    p, q, mask, options = (problem[name] for name in ("p", "q", "mask", "options"))
    r, exists = residuals(z, p, q, mask)
    method = problem["method"]
    if method == "quadratic":
        total = 0.5 * np.sum(r**2) + _prior_energy(problem, z)
        return total, total
    if method not in ("total_variation", "phi1", "phi2", "anisotropic_diffusion"):
        return None, None
    along_u, along_v = exists[0] | exists[1], exists[2] | exists[3]
    total = size = _prior_energy(problem, z)
    for u in (0, 1):
        for v in (2, 3):
            # A pixel without neighbours along one direction counts its other differences twice.
            there = (exists[u] | (along_v & ~along_u)) & (exists[v] | (along_u & ~along_v))
            cost = _cost(method, options, r[u], r[v], p, q)[there]
            total, size = total + 0.25 * cost.sum(), size + 0.25 * np.abs(cost).sum()
    return total, max(size, 1e-300)


def _prior_energy(problem, z):
    held = problem["held"]
    return float(np.nansum(held["prior_weight"] * (z - held["prior"]) ** 2)) if held else 0.0


def residuals(z, p, q, mask):
    """Return ∂z - g downwards, up, right and left, zero where there is no neighbour, and where there is."""
    r, exists = np.zeros((4, *mask.shape)), np.zeros((4, *mask.shape), bool)
    for k, (slope, axis) in enumerate(((p, 0), (p, 0), (q, 1), (q, 1))):
        first = [np.s_[:]] * 2
        second = first.copy()
        first[axis], second[axis] = np.s_[:-1], np.s_[1:]
        first, second = tuple(first), tuple(second)
        here = second if k % 2 else first
        exists[k][here] = mask[first] & mask[second]
        r[k][here] = np.where(exists[k][here], z[second] - z[first] - slope[here], 0.0)
    return r, exists


def _cost(method, options, r, s, p, q):
    square = r**2 + s**2
    if method == "total_variation":
        return np.sqrt(square)
    if method == "phi1":
        return np.log(square + options["beta"] ** 2)
    if method == "phi2":
        return square / (square + options["gamma"] ** 2)
    mu, nu = options["mu"], options["nu"]
    steep = 1 + (np.where(r != 0, r + p, 0) ** 2 + np.where(s != 0, s + q, 0) ** 2) / mu**2
    return (r**2 / (1 + (p / nu) ** 2) + s**2 / (1 + (q / nu) ** 2)) / steep
