"""Measure the calibrated method against least squares on a noisy vase, size by size, and on the Cat.

Both get the whole grid of the vase, or the Cat's silhouette and normals from its photographs where the data
are found. Times are those of whole calls, on one thread, with everything compiled before: medians of three
runs that take turns; of one at the largest size.
"""

from functools import partial

import numpy as np

import normint
from benchmarks import cases, judge
from normint import datasets
from normint.experiments import photometric_gradient
from normint.timing import interleaved_medians

METHODS = ("quadratic", "calibrated")
LARGE = 2e6  # pixels from which one run, after one that is not counted, must do
GROWTH = 1.5  # limit of the time per pixel at the largest size, in units of that at the second


def measure(quick):
    """Yield the rows of calibrated.csv, its header first, and print each size as soon as it is measured."""
    yield "what", "method", "case", "pixels", "value", "unit", "limit", "met"
    print(
        "Least squares and the calibrated method, with 1 % of noise on the vase: seconds of a whole call,\n"
        "seconds per megapixel, how many times as long as least squares the calibrated method takes, RMSE.\n"
        f"\n{'case':14s}{'method':12s}{'seconds':>9s}{'s / Mpx':>9s}{'times':>7s}{'RMSE':>8s}",
        flush=True,
    )
    sides = (64, 128, 256) if quick else (256, 512, 1024, 2048)
    costs = {}
    for n in sides:
        surface = cases.noisy_vase(n, seed=0)
        rows, costs[n] = compare(f"vase, {n}²", surface.p, surface.q, None, surface.depth, quick)
        yield from rows
    small, large = sides[1], sides[-1]
    for method in METHODS:
        ratio = costs[large][method] / costs[small][method]
        bound, met = judge(ratio, GROWTH)
        print(f"time per pixel, {large}² / {small}², {method}: {ratio:.3g} times {bound} {met}", flush=True)
        what = f"time per pixel, {large}² / {small}²"
        yield what, method, "vase", large**2, f"{ratio:.3g}", "times", bound, met
    yield from cat(quick)


def compare(case, p, q, mask, truth, quick):
    """Return the rows of one case, and the seconds per megapixel of each method."""
    pixels, depths = p.size if mask is None else int(mask.sum()), {}

    def run(method):
        depths[method] = normint.integrate(p, q, mask, method=method).depth

    calls = {method: partial(run, method) for method in METHODS}
    seconds = interleaved_medians(calls, 1 if quick or pixels > LARGE else 3)
    rows, cost = [], {}
    for method, depth in depths.items():
        cost[method] = seconds[method] / (1e-6 * pixels)
        error = np.nan if truth is None else normint.metrics.rmse(depth, truth, mask)
        times = seconds[method] / seconds["quadratic"]
        for what, value, unit in (
            ("whole call", seconds[method], "s"), ("time per pixel", cost[method], "s / megapixel"),
            ("time / least squares", times, "times"), ("RMSE", error, "pixels"),
        ):  # fmt: skip
            if not np.isnan(value):
                rows.append((what, method, case, pixels, f"{value:.4g}", unit, "", ""))
        numbers = f"{seconds[method]:9.3g}{cost[method]:9.3g}{times:7.1f}{error:8.3g}"
        print(f"{case:14s}{method:12s}{numbers}", flush=True)
    return rows, cost


def cat(quick):
    """Yield the rows of the Cat, where its photographs are found; its true depth is not among them."""
    try:
        photographs = datasets.cat("real")
    except FileNotFoundError:
        print("the Cat was not found: see data/README.md", flush=True)
        return
    p, q, _ = photometric_gradient(photographs.grey(), photographs.lights, photographs.mask)
    yield from compare("Cat", p, q, photographs.mask, None, quick)[0]
