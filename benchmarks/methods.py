"""Measure the fast schemes of the iterative methods against the paper's: whole calls, and where they end.

Both have their default options. The processor's time counts, from gradient to depth. That of the fast scheme
is a median of calls before and after the one of the paper's scheme.
"""

import numpy as np

import normint
from benchmarks import Row, cases
from normint.integration import integrate_quietly
from normint.surfaces.scenes import scene
from normint.workbook.study.measuring import CLOCK

TIMES = {  # limits, see `judge`
    "total_variation": -20, "phi1": -8, "phi2": -8, "anisotropic_diffusion": -30, "mumford_shah": -10,
}  # fmt: skip
HIGHER, BILATERAL = 1e-6, 8  # limits: parts of the paper's energy, seconds a megapixel
SCENES = ("bodies", 2), ("steps", 1), ("holes", 3)


def measure(quick):
    """Yield the rows of the methods."""
    six = surfaces(64 if quick else 192)
    for method, limit in TIMES.items():
        for scheme in ("paper", "fast"):  # compile
            call(surfaces(64)[0], method, scheme=scheme, max_iterations=2)
        times, higher = zip(*(compare(slopes, method, 1 if quick else 2) for slopes in six), strict=True)
        name = method.replace("_", " ")
        yield Row(f"{name}: paper scheme / fast, median of six surfaces", np.median(times), "times", limit)
        yield Row(f"{name}: energy above the paper's, worst of six", max(higher), "", HIGHER)
    yield from bilateral(160 if quick else 512)


def surfaces(n):
    """Return p, q and mask of six surfaces: three formulas with 1 % of noise on n×n pixels, three scenes."""
    formulas = (
        normint.surfaces.vase(n),
        normint.surfaces.canadian_tent(n, n / 4, n / 4),
        normint.surfaces.peaks(n),
    )
    noisy = [surface.with_noise(0.01, np.random.default_rng(0)) for surface in formulas]
    seen = [scene(*which, n=5 * n // 6) for which in SCENES]
    return [(each.p, each.q, None) for each in noisy] + [(each.p, each.q, each.mask) for each in seen]


def call(slopes, method, **options):
    """Integrate; return the last energy and the seconds."""
    start = CLOCK()
    energies = integrate_quietly(*slopes, method=method, **options).energies
    return energies[-1], CLOCK() - start


def compare(slopes, method, repeats):
    """Return how many times longer the paper's scheme takes, and by what part the fast one ends higher."""
    fast = [call(slopes, method) for _ in range(repeats)]
    energy, seconds = call(slopes, method, scheme="paper")
    fast += [call(slopes, method) for _ in range(repeats)]
    times = seconds / np.median([each[1] for each in fast])
    return float(times), (fast[0][0] - energy) / abs(energy)


def bilateral(n):
    """Yield a row: the method of others that we compare with, on the vase with 1 % of noise."""
    vase, small = cases.noisy_vase(n, seed=0), cases.noisy_vase(64, seed=0)
    call((small.p, small.q), "bilateral")  # compile
    _, seconds = call((vase.p, vase.q), "bilateral")
    yield Row(f"bilateral, {n}² vase", seconds / (1e-6 * n**2), "s / megapixel", BILATERAL)
