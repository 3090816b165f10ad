"""Measure what a user waits for besides the solver: import, compiling, small images, the calibrated one."""

import os
import subprocess
import sys
import tempfile
import time
from functools import partial

import numpy as np

import normint
from benchmarks import Row, cases
from normint import paths
from normint.workbook.studies.timing import median_seconds

SMALL, IMPORT = 3, 1  # limits: milliseconds, seconds

COLD = """
import time
import normint
from normint.cli.warm_up import run_everything
surface = normint.surfaces.vase(96)
start = time.process_time()
normint.integrate(surface.p, surface.q, surface.mask)
print(time.process_time() - start)
run_everything()
print(time.process_time() - start)
"""


def measure(quick):
    """Yield the rows of the rest."""
    p, q = cases.gradient(64)
    milliseconds = 1e3 * median_seconds(partial(normint.integrate, p, q), 50)
    yield Row("quadratic, 64²: whole call", milliseconds, "ms", SMALL)
    yield Row("import normint", seconds_of("import normint") - seconds_of(""), "s", IMPORT)
    yield from per_megapixel(160 if quick else 512)
    if not quick:
        yield from compiling()


def per_megapixel(n):
    """Yield a row: the whole call of the calibrated method, on the vase with 1 % of noise."""
    noisy = cases.noisy_vase(n, seed=0)
    small = cases.noisy_vase(64, seed=0)
    normint.integrate(small.p, small.q, method="calibrated")  # compile
    start = time.process_time()
    normint.integrate(noisy.p, noisy.q, method="calibrated")
    seconds = (time.process_time() - start) / (1e-6 * n**2)
    yield Row(f"calibrated, {n}² vase", seconds, "s / megapixel")


def compiling():
    """Yield rows: the processor's seconds until everything is compiled, with nothing kept from before."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        command = [sys.executable, "-c", COLD]
        done = subprocess.run(
            command, cwd=paths.root(), env=environment, check=True, stdout=subprocess.PIPE, text=True
        )
    for what, seconds in zip(("quadratic", "everything"), done.stdout.split(), strict=True):
        yield Row(f"compiling {what}, cold", float(seconds), "s")


def seconds_of(code):
    """Return how long a process that runs this code takes, the median of five."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], cwd=paths.root(), check=True)
        times.append(time.perf_counter() - start)
    return float(np.median(times))
