"""Measure the calibrated method on noisy vases of several sizes, and on the Cat.

Times are those of whole calls, on one thread, with everything compiled before. How many rounds of moves a
surface needs depends on its noise, so each size gets the same levels of noise, and the sizes take turns.
Medians are over levels; the ratio of two sizes is the median of the ratios at each level.

The larger the vase, the steeper it is at a pixel's distance from its contour. The paper clips its slopes to
10; they are clipped to √(n/320) times as much at size n, so that the contour is sampled alike at every size.
(With 10, some pixels of depth are missing at the contour of a large vase, and nothing can bring them back.)
"""

import time

import numpy as np

import normint
from benchmarks import judge
from normint import datasets
from normint.metrics import rmse
from normint.workbook.progress import bar
from normint.workbook.study.metrics import aligned_error

PAPER = 320  # pixels, the side of the paper's vase
LEVELS = (0.005, 0.01, 0.02)  # of noise, in parts of the paper's steepest slope
SECONDS = {"vase, 320²": 2.0, "Cat": 3.0}  # limits
GROWTH = 1.5  # limit of the time per pixel at the largest size, in units of that at smaller ones


def measure(quick):
    """Yield the rows of calibrated.csv, its header first, and print them."""
    yield "what", "method", "case", "pixels", "value", "unit", "limit", "met"
    sides = (64, 96, 128) if quick else (320, 512, 1024, 2048)
    seconds, errors = vases(sides)
    for what, method, case, pixels, value, unit, limit in [
        *sizes(sides, seconds, errors), *growth(sides, seconds), *cat(1 if quick else 5),
    ]:  # fmt: skip
        bound, met = judge(value, limit)
        print(f"{what:30s}{method:12s}{case:14s}{value:9.3g} {unit:14s}{bound} {met}", flush=True)
        yield what, method, case, pixels, f"{value:.3g}", unit, bound, met


def vases(sides):
    """Return the seconds of each method, and the RMSE, each of shape sizes×levels."""
    seconds = {method: np.zeros((len(sides), len(LEVELS))) for method in ("quadratic", "calibrated")}
    errors = {method: np.zeros_like(values) for method, values in seconds.items()}
    for method in seconds:
        small = normint.surfaces.vase(96)
        normint.integrate(small.p, small.q, method=method)
    for draw, level in enumerate(bar(LEVELS, "levels of noise")):
        for size, n in enumerate(sides):
            steepest = 10.0 * (n / PAPER) ** 0.5
            surface = normint.surfaces.vase(n, steepest)
            noisy = surface.with_noise(level * 10.0 / steepest, np.random.default_rng(draw))
            for method in seconds:
                start = time.perf_counter()
                depth = normint.integrate(noisy.p, noisy.q, method=method).depth
                seconds[method][size, draw] = time.perf_counter() - start
                errors[method][size, draw] = rmse(depth, surface.depth)
    return seconds, errors


def sizes(sides, seconds, errors):
    """Yield rows: time, time per pixel and RMSE of each size."""
    for size, n in enumerate(sides):
        case = f"vase, {n}²"
        for method in seconds:
            median = float(np.median(seconds[method][size]))
            limit = SECONDS.get(case) if method == "calibrated" else None
            yield "whole call", method, case, n**2, median, "s", limit
            yield "time per pixel", method, case, n**2, median / n**2 * 1e6, "s / megapixel", None
            yield "RMSE", method, case, n**2, float(np.median(errors[method][size])), "pixels", None


def growth(sides, seconds):
    """Yield rows: the time per pixel of the largest size in units of those of the two before it."""
    large = sides[-1]
    for method, values in seconds.items():
        for size, small in list(enumerate(sides))[-3:-1]:
            ratio = float(np.median(values[-1] / values[size])) * small**2 / large**2
            what = f"time per pixel, {large}² / {small}²"
            yield what, method, "vase", large**2, ratio, "times", GROWTH


def cat(repeats):
    """Yield rows: the Cat from its true normals, before its camera, where the data are found."""
    try:
        found = datasets.depth_and_normals("real")
    except FileNotFoundError:
        print("the Cat was not found: see data/README.md", flush=True)
        return
    pixels = int(found.mask.sum())
    for method in ("quadratic", "calibrated"):
        times = []
        for turn in range(repeats + 1):
            start = time.perf_counter()
            options = {"axes": "uvz", "method": method}
            depth = normint.integrate_normals(found.normals, found.mask, found.camera, **options).depth
            if turn:
                times.append(time.perf_counter() - start)
        limit = SECONDS["Cat"] if method == "calibrated" else None
        yield "whole call", method, "Cat", pixels, float(np.median(times)), "s", limit
        error = aligned_error(depth, found.depth, scaled=True)
        yield "mean absolute error", method, "Cat", pixels, error, "mm", None
