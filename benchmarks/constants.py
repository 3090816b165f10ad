"""Halve and double each constant of the calibrated method: how much does the error change?

On one scene of each kind of the development set, on the paper's vase and the tent with 1 % of noise, on small
vases of which a few depths are known, and on the Cat where the data are found.
"""

from functools import partial

import numpy as np

from benchmarks import judge
from normint import datasets, surfaces
from normint.methods.calibrated.constants import CONSTANTS
from normint.metrics import rmse
from normint.normals.integrate_normals import integrate_normals
from normint.surfaces.scenes import DEVELOPMENT, scene
from normint.workbook.studies.constants import error_of_constants, sensitivity, with_known_depths
from normint.workbook.studies.open_problem import aligned_error

LIMIT = 1.25  # times the error with the constants as they are


def measure(quick):
    """Yield the rows of constants.csv, its header first, and print those that change the error."""
    yield "constant", "factor", "case", "value", "unit", "limit", "met"
    changes = sensitivity(problems(quick), CONSTANTS)
    for case, ratios in changes.items():
        for (name, factor), ratio in ratios.items():
            bound, met = judge(ratio, LIMIT)
            if abs(ratio - 1) > 0.01:
                told = f"{case:16s}{name:16s} x {factor:3g}{ratio:8.2f} times the error"
                print(f"{told}  {bound} {met}", flush=True)
            yield name, f"{factor:g}", case, f"{ratio:.3g}", "error / error as it is", bound, met
        within = sum(ratio <= LIMIT for ratio in ratios.values())
        print(f"{case}: after {within} of {len(ratios)} changes at most {LIMIT} times as large", flush=True)


def problems(quick):
    """Return, for each case, functions from constants to an error."""
    sides = (48, 80, 64) if quick else (128, 320, 192)
    vase, tent = surfaces.vase(sides[1]), surfaces.canadian_tent(sides[2], sides[2] // 4, sides[2] // 4)
    scenes = [scene(*one, n=sides[0]) for one in DEVELOPMENT if one[1] == 2]
    found = {"scenes": [error_of_constants(s.p, s.q, s.error, s.mask) for s in scenes]}
    for name, surface in (("vase, 1 %", vase), ("tent, 1 %", tent)):
        noisy = surface.with_noise(0.01, np.random.default_rng(0))
        found[name] = [error_of_constants(noisy.p, noisy.q, partial(rmse, truth=surface.depth))]
    found["known depths"] = [with_known_depths(surfaces.vase(80), seed) for seed in range(1 if quick else 4)]
    if not quick:
        found |= cat()
    return found


def cat():
    """Return the Cat, if it is there."""
    try:
        data = datasets.depth_and_normals("real")
    except FileNotFoundError:
        return {}

    def error(constants):
        options = {"method": "calibrated", "constants": constants}
        depth = integrate_normals(data.normals, data.mask, data.camera, axes="uvz", **options).depth
        return aligned_error(depth, data.depth, scaled=True)

    return {"Cat": [error]}
