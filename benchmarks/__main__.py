"""Measure the solver, the piecewise smooth methods and the panels, print the tables and write them as CSV.

The other parts are :mod:`benchmarks.piecewise`, :mod:`benchmarks.calibrated`, :mod:`benchmarks.constants` and
:mod:`benchmarks.panels`.
The solver's times are ratios to one float64 Poisson solve by scipy's cosine transform of the bounding
rectangle, on one thread, medians of runs that take turns. Ours include everything from gradient to depth:
checks, assembly, set-up, solution.
"""

import argparse
import csv
import subprocess
import sys
import time
from functools import partial

import numpy as np
import scipy.fft

import normint
from benchmarks import calibrated, cases, constants, judge, panels, piecewise
from benchmarks.memory import peak_bytes
from normint import paths
from normint.files.writing import write_atomically
from normint.solver.system import System
from normint.workbook.studies.timing import interleaved_medians, median_seconds


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


def speed(n, repeats):
    """Yield rows: time of each mask, of weak curves, and of pyamg."""
    p, q = cases.gradient(n)
    weights = cases.weak_curves(n)
    everywhere = np.ones((n, n), bool)
    calls = {name: partial(normint.integrate, p, q, mask) for name, mask in cases.masks(n).items()}
    calls["DCT"] = dct_poisson(n)
    calls["weak curves"] = lambda: System(everywhere, weights).solve(p, q, slopes=True)
    seconds = interleaved_medians(calls, repeats)
    for name in cases.masks(n):
        yield f"quadratic, {n}², {name}: time", seconds[name] / seconds["DCT"], "DCT", 8
    yield f"weights 1e-6 along curves, {n}²: time", seconds["weak curves"] / seconds["DCT"], "DCT", 10
    yield f"weights 1e-6 along curves, {n}²: iterations", calls["weak curves"]().iterations, "", 12
    for name, mask in cases.masks(n).items():
        slow = {"pyamg": partial(normint.integrate, p, q, mask, solver="pyamg"), "ours": calls[name]}
        pair = interleaved_medians(slow, max(1, repeats // 4))
        yield f"pyamg / ours, {n}², {name}: time", pair["pyamg"] / pair["ours"], "times", -8


def growth(sides):
    """Yield rows: iterations at each size, and time per pixel of the largest against 512²."""
    for name in cases.masks(64):
        calls = {}
        for n in sides:
            calls[n] = partial(normint.integrate, *cases.gradient(n), cases.masks(n)[name])
        counts = [call().iterations for call in calls.values()]
        label = f"iterations {sides[0]}² to {sides[-1]}², {name}: {' '.join(map(str, counts))}"
        yield label, max(counts), "", 12
        small, large = 512, sides[-1]
        # In turns, so that a slow moment of the machine does not pass for growth.
        seconds = interleaved_medians({n: calls[n] for n in (small, large)}, 5)
        ratio = (seconds[large] / large**2) / (seconds[small] / small**2)
        yield f"time per pixel, {large}² / {small}², {name}", ratio, "times", 1.5


def thin(sides):
    """Yield rows: iterations on thin domains, which must not grow with the size."""
    for name in cases.thin_masks(8):
        counts = [normint.integrate(*cases.gradient(n), cases.thin_masks(n)[name]).iterations for n in sides]
        label = f"iterations {sides[0]}² to {sides[-1]}², {name}: {' '.join(map(str, counts))}; growth"
        yield label, max(counts) - min(counts), "", 2


def memory(n):
    """Yield rows: peak memory of the whole call, measured in processes of their own."""
    for name in cases.masks(8):
        yield f"peak memory, {n}², {name}", peak_bytes(n, name) / n**2, "bytes / pixel", 200


def small():
    """Yield rows: a 64² call and the import."""
    p, q = cases.gradient(64)
    yield "quadratic, 64²: whole call", 1e3 * median_seconds(lambda: normint.integrate(p, q), 50), "ms", 3
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import normint"], cwd=paths.root(), check=True)
        times.append(time.perf_counter() - start)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", ""], check=True)
    empty = time.perf_counter() - start
    yield "import normint", float(np.median(times)) - empty, "s", 1


def solver(quick):
    """Yield the rows of solver.csv, its header first, and print each as soon as it is measured."""
    yield "what", "value", "unit", "limit", "met"
    if quick:
        parts = small(), speed(512, 4), growth([256, 512, 1024]), thin([256, 512]), memory(1024)
    else:
        sides = [256, 512, 1024, 2048, 4096]
        parts = small(), speed(1024, 9), growth(sides), thin(sides[:3]), memory(2048)
    for part in parts:
        for what, value, unit, limit in part:
            bound, met = judge(value, limit)
            print(f"{what:70s} {value:8.3g} {unit:14s} {bound:14s} {met}", flush=True)
            yield what, f"{value:.3g}", unit, bound, met


PARTS = {
    "solver": solver,
    "piecewise": piecewise.measure,
    "calibrated": calibrated.measure,
    "constants": constants.measure,
    "panels": panels.measure,
}


def main():
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.split("\n")[0])
    parser.add_argument("part", nargs="?", choices=PARTS, help="measure only this part")
    parser.add_argument("--quick", action="store_true", help="smaller images, fewer repeats")
    options = parser.parse_args()
    for name in [options.part] if options.part else PARTS:
        rows = list(PARTS[name](options.quick))
        path = paths.root() / ("build/bench" if options.quick else "benchmarks") / f"{name}.csv"
        with write_atomically(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        print(f"written to {path.relative_to(paths.root())}", flush=True)


if __name__ == "__main__":
    main()
