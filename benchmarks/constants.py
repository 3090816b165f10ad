"""Halve and double each constant of the calibrated method: how much does the error change?

On one scene of each kind of the development set, on the paper's vase and the tent with 1 % of noise, on small
vases of which a few depths are known, and on the Cat where the data are found.
"""

from benchmarks import judge
from normint import datasets, paths
from normint.methods.calibrated.constants import CONSTANTS
from normint.surfaces.scenes import DEVELOPMENT
from normint.workbook.studies.constants import sensitivity

LIMIT = 1.25  # times the error with the constants as they are


def measure(quick):
    """Yield the rows of constants.csv, its header first, and print those that change the error."""
    yield "constant", "factor", "case", "value", "unit", "limit", "met"
    changes = sensitivity(problems(quick), CONSTANTS, depends=[str(place) for place in paths.data_folders()])
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
    """Return, for each case, what to integrate."""
    scenes, vase, tent = (48, 80, 64) if quick else (128, 320, 192)
    noise = {"sigma": 0.01, "seed": 0}
    found = {
        "scenes": [
            {"surface": "scene", "kind": kind, "variant": variant, "n": scenes}
            for kind, variant in DEVELOPMENT
            if variant == 2
        ],
        "vase, 1 %": [{"surface": "vase", "n": vase, **noise}],
        "tent, 1 %": [
            {
                "surface": "canadian_tent",
                "n": tent,
                "half_length": tent // 4,
                "half_width": tent // 4,
                **noise,
            }
        ],
        "known depths": [
            {"surface": "vase", "n": 80, "sigma": 0.01, "seed": seed, "prior": 12, "prior_weight": 10.0}
            for seed in range(1 if quick else 4)
        ],
    }
    return found if quick else found | cat()


def cat():
    """Return the Cat, if it is there."""
    try:
        datasets.depth_and_normals("real")
    except FileNotFoundError:
        return {}
    return {"Cat": [{"surface": "measured", "dataset": "real"}]}
