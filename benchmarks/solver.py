"""Measure the solver: time in units of one Poisson solve by cosine transforms, growth, and memory.

Times are ratios to one float64 Poisson solve by scipy's cosine transform of the bounding rectangle, on one
thread, medians of runs that take turns. Ours include everything from gradient to depth: checks, assembly,
set-up, solution.
"""

import time
from functools import partial

import numpy as np
import scipy.fft

import normint
from benchmarks import Row, cases
from benchmarks.memory import peak_bytes
from normint.solver.system import System
from normint.workbook.studies.timing import interleaved_medians

N = 1024
LIMITS = {
    "rectangle": 1.5, "disk": 2.7, "annulus": 2.7, "star": 2.7, "slits": 2.7,
    "spiral": 3.3, "moth-eaten": 3.3, "blobs": 3.3,
}  # fmt: skip
WEIGHTED, THREADS, BYTES, APART, GROWTH, PYAMG = 5, 1.9, 90, 2, 1.2, -8  # limits
GROWING = "disk", "slits", "moth-eaten"  # whose growth with the size is measured
ENDS = "phi1", "mumford_shah", "total_variation"  # whose last weights are solved with


def measure(quick):
    """Yield the rows of the solver."""
    n, repeats = (N // 2, 3) if quick else (N, 9)
    yield from speed(n, repeats)
    yield from weighted(n, repeats)
    if hasattr(normint, "set_threads"):
        yield from threads(n, repeats)
    yield from growth([256, 512, 1024] if quick else [256, 512, 1024, 2048, 4096])
    yield from thin([256, 512] if quick else [256, 512, 1024])
    yield from against_pyamg(n)
    yield from memory(2 * n, ("rectangle", "disk") if quick else ("rectangle", "disk", "slits", "moth-eaten"))


def dct_poisson(n):
    """Return a call that solves one Poisson equation on an n×n rectangle, and nothing else."""
    b = np.random.default_rng(0).standard_normal((n, n))
    line = 4 * np.sin(np.pi * np.arange(n) / (2 * n)) ** 2
    eigenvalues = line[:, None] + line
    eigenvalues[0, 0] = 1.0

    def call():
        z = scipy.fft.dctn(b, type=2, workers=1)
        z /= eigenvalues
        return scipy.fft.idctn(z, type=2, workers=1, overwrite_x=True)

    return call


def in_units_of_dct(calls, n, repeats, **options):
    """Return the time of each call in units of the transform, which takes turns with them."""
    seconds = interleaved_medians({**calls, "DCT": dct_poisson(n)}, repeats, **options)
    return {name: seconds[name] / seconds["DCT"] for name in calls}


def speed(n, repeats):
    """Yield rows: the time of least squares on each mask."""
    p, q = cases.gradient(n)
    calls = {name: partial(normint.integrate, p, q, cases.mask(n, name)) for name in cases.MASKS}
    for name, ratio in in_units_of_dct(calls, n, repeats).items():
        yield Row(f"quadratic, {n}², {name}", ratio, "DCT", LIMITS[name])


def weighted(n, repeats):
    """Yield rows: time and iterations with weights over many decades, drawn and as methods end with them."""
    everywhere = np.ones((n, n), bool)
    problems = {"1e-6 along curves": (cases.weak_curves(n), cases.gradient(n))}
    vase = cases.noisy_vase(n, seed=0)
    for method in ENDS:
        result = normint.integrate(vase.p, vase.q, method=method, **cases.PIECEWISE[method])
        least = 1e-12 * np.max(result.weights)  # the solver refuses smaller ones
        problems[f"of {method}"] = [np.maximum(w, least) for w in result.weights], (vase.p, vase.q)
    calls = {
        name: lambda weights=weights, slopes=slopes: System(everywhere, weights).solve(*slopes, slopes=True)
        for name, (weights, slopes) in problems.items()
    }
    counts = {name: call().iterations for name, call in calls.items()}
    for name, ratio in in_units_of_dct(calls, n, repeats // 2 + 1, first=False).items():
        yield Row(f"weights {name}, {n}²", ratio, "DCT", WEIGHTED)
    for name, count in counts.items():
        yield Row(f"weights {name}, {n}²: iterations", count)


def threads(n, repeats):
    """Yield a row: the disk on two threads, by the clock."""
    call = partial(normint.integrate, *cases.gradient(n), cases.mask(n, "disk"))
    normint.set_threads(2)
    try:
        (ratio,) = in_units_of_dct({"disk": call}, n, repeats, clock=time.perf_counter).values()
    finally:
        normint.set_threads(1)
    yield Row(f"quadratic, {n}², disk, two threads", ratio, "DCT", THREADS)


def growth(sides):
    """Yield rows: how iterations and time per pixel change with the size."""
    small, large = 512, sides[-1]
    slopes = {n: cases.gradient(n) for n in sides}
    for name in GROWING:
        calls = {n: partial(normint.integrate, *slopes[n], cases.mask(n, name)) for n in sides}
        counts = [call().iterations for call in calls.values()]
        spread = max(counts) - min(counts)
        yield Row(f"iterations, {sides[0]}² to {large}², {name}: most", max(counts))
        yield Row(f"iterations, {sides[0]}² to {large}², {name}: most less fewest", spread, "", APART)
        # In turns, so that a slow moment of the machine does not pass for growth.
        seconds = interleaved_medians({n: calls[n] for n in (small, large)}, 3, first=False)
        ratio = (seconds[large] / large**2) / (seconds[small] / small**2)
        yield Row(f"time per pixel, {large}² / {small}², {name}", ratio, "times", GROWTH)


def thin(sides):
    """Yield rows: how iterations change with the size on thin domains."""
    for name in cases.thin_masks(8):
        counts = [normint.integrate(*cases.gradient(n), cases.thin_masks(n)[name]).iterations for n in sides]
        spread = max(counts) - min(counts)
        yield Row(f"iterations, {sides[0]}² to {sides[-1]}², {name}: most less fewest", spread, "", APART)


def against_pyamg(n):
    """Yield a row: how many times longer the library takes on the disk."""
    call = partial(normint.integrate, *cases.gradient(n), cases.mask(n, "disk"))
    seconds = interleaved_medians({"pyamg": partial(call, solver="pyamg"), "ours": call}, 1)
    yield Row(f"pyamg / ours, {n}², disk", seconds["pyamg"] / seconds["ours"], "times", PYAMG)


def memory(n, names):
    """Yield rows: peak memory of the whole call, measured in processes of their own."""
    for name in names:
        yield Row(f"peak memory, {n}², {name}", peak_bytes(n, name) / n**2, "bytes / pixel", BYTES)
