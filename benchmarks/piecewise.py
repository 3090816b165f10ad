"""Measure the methods for piecewise smooth surfaces on a noisy vase: two schemes, and cost against size.

Both schemes of a method start from least squares and have the same energy. What counts is when an iteration
of the fast one first ends with an energy as low as the paper's scheme ends with, and that the fast one does
not end higher. Times include the start, on one thread, with everything compiled before.
"""

import time
from dataclasses import dataclass

import numpy as np

import normint
from benchmarks import cases, judge
from benchmarks.memory import peak_bytes
from normint.workbook.studies.timing import interleaved_medians

SPEEDUP, GROWTH = -5, 1.5  # limits, see `judge`


def measure(quick):
    """Yield the rows of piecewise.csv, its header first, and print tables as they are measured."""
    yield "what", "method", "scheme", "seed", "n", "value", "unit", "limit", "met"
    if quick:
        yield from schemes(80, seeds=(0,), repeats=1)
        yield from growth((40, 80, 160), repeats=1)
    else:
        yield from schemes(320, seeds=(0, 1, 2), repeats=3)
        yield from growth((160, 320, 640, 1280), repeats=3)


@dataclass(frozen=True)
class Run:
    """One call, watched: its energy and the time since its start after each iteration, and its end."""

    times: list
    energies: list
    seconds: float
    rmse: float

    @property
    def iterations(self):
        return len(self.energies)

    @property
    def energy(self):
        return self.energies[-1]

    def seconds_to(self, energy):
        """Return when an iteration first ended at or below this energy; NaN if none did."""
        pairs = zip(self.times, self.energies, strict=True)
        return next((seconds for seconds, reached in pairs if reached <= energy), np.nan)


def run(surface, method, scheme, **options):
    """Integrate the whole grid of a surface and watch how the energy falls."""
    times, energies = [], []
    start = time.perf_counter()

    def watch(_, energy):
        times.append(time.perf_counter() - start)
        energies.append(energy)

    options = {**cases.PIECEWISE[method], **options}
    result = normint.integrate(surface.p, surface.q, method=method, scheme=scheme, callback=watch, **options)
    seconds = time.perf_counter() - start
    return Run(times, energies, seconds, normint.metrics.rmse(result.depth, surface.depth))


def schemes(n, seeds, repeats):
    """Yield rows: the paper's scheme and the fast one, each with its defaults."""
    print(
        f"\nThe two schemes on the {n}² vase with 1 % of noise: seconds, iterations, final energy, RMSE;\n"
        "and for the fast one: seconds until the paper's final energy, how many times sooner than the\n"
        "paper's whole call that is, and how much higher its final energy is, as a part of the paper's.\n"
        f"\n{'method':22s}{'seed':>4s} {'scheme':6s} {'seconds':>8s} {'it.':>5s} {'energy':>10s} {'RMSE':>6s}"
        f"  {'until':>7s} {'sooner':>7s} {'required, met':14s}  {'higher':>8s} required, met",
        flush=True,
    )
    for method in cases.PIECEWISE:
        for scheme in ("paper", "fast"):  # compile
            run(cases.noisy_vase(64, seed=0), method, scheme, max_iterations=3)
        for seed in seeds:
            surface = cases.noisy_vase(n, seed)
            # The slow scheme once, amid the repetitions of the fast one.
            fast = [run(surface, method, "fast")]
            paper = run(surface, method, "paper")
            _print_run(paper, method, seed, "paper", paper.seconds)
            fast += [run(surface, method, "fast") for _ in range(repeats - 1)]
            yield from _comparison(paper, fast, method, seed, n)


def _comparison(paper, repetitions, method, seed, n):
    """Yield what one pair of schemes gave, and print the fast one's line of the table."""
    fast = repetitions[-1]
    seconds = float(np.median([each.seconds for each in repetitions]))
    until = float(np.median([each.seconds_to(paper.energy) for each in repetitions]))
    for scheme, entry, whole in (("paper", paper, paper.seconds), ("fast", fast, seconds)):
        where = method, scheme, seed, n
        yield _row("whole call", *where, whole, "s")
        yield _row("iterations", *where, entry.iterations)
        yield _row("final energy", *where, entry.energy)
        yield _row("RMSE", *where, entry.rmse, "pixels")
    yield _row("call until the paper's final energy", *where, until, "s")
    where = method, "both", seed, n
    sooner, higher = paper.seconds / until, (fast.energy - paper.energy) / abs(paper.energy)
    yield _row("whole call, paper / call until that energy, fast", *where, sooner, "times", SPEEDUP)
    yield _row("final energy, (fast - paper) / |paper|", *where, higher, "", 0)
    verdicts = (
        f"{until:7.3g} {sooner:7.3g} {' '.join(judge(sooner, SPEEDUP)):14s}"
        f"  {higher:8.2g} {' '.join(judge(higher, 0))}"
    )
    _print_run(fast, "", "", "fast", seconds, verdicts)


def _print_run(entry, method, seed, scheme, seconds, more=""):
    numbers = f"{seconds:8.3g} {entry.iterations:5d} {entry.energy:10.7g} {entry.rmse:6.3g}"
    print(f"{method:22s}{seed:>4} {scheme:6s} {numbers}  {more}".rstrip(), flush=True)


def growth(sides, repeats):
    """Yield rows: time and memory of the fast scheme against size, for a fixed number of iterations."""
    small, large = sides[1], sides[-1]
    names = "".join(f"{f'{n}²':>7s}" for n in sides)
    print(
        f"\nThe fast scheme against size, {cases.ITERATIONS} iterations on the vase with 1 % of noise:\n"
        "seconds per megapixel and iteration, how they grow, and peak memory in bytes per pixel.\n"
        f"\n{'method':22s}{names}  {f'{large}²/{small}²':>10s} {'required, met':15s}  {names}",
        flush=True,
    )
    for method in cases.PIECEWISE:
        cases.fixed_iterations(64, method)()  # compile
        # In turns, so that a slow moment of the machine does not pass for growth.
        seconds = interleaved_medians({n: cases.fixed_iterations(n, method) for n in sides}, repeats)
        cost = {n: seconds[n] / (cases.ITERATIONS * 1e-6 * n**2) for n in sides}
        for n in sides:
            yield _row("time per iteration", method, "fast", 0, n, cost[n], "s / megapixel")
        ratio = cost[large] / cost[small]
        yield _row(f"time per pixel, {large}² / {small}²", method, "fast", 0, large, ratio, "times", GROWTH)
        times = "".join(f"{value:7.3g}" for value in cost.values())
        verdict = f"{ratio:10.3g} {' '.join(judge(ratio, GROWTH)):15s}"
        print(f"{method:22s}{times}  {verdict}  ", end="", flush=True)
        for n in sides:
            peak = peak_bytes(n, method) / n**2
            print(f"{peak:7.0f}", end="", flush=True)
            yield _row("peak memory", method, "fast", 0, n, peak, "bytes / pixel")
        print(flush=True)


def _row(what, method, scheme, seed, n, value, unit="", limit=None):
    return what, method, scheme, seed, n, f"{value:.6g}", unit, *judge(value, limit)
