"""Measure speed and memory, print one table, and say what got slower.

The table has the solver, the methods, and what else a user waits for. Longer measurements have names of their
own, and write to ``build/bench``: how the methods for piecewise smooth surfaces and the calibrated one grow
with the size, how much the latter depends on its constants, how soon the panels answer, what maps of 100
megapixels take, and which tent comes nearest to Figure 14. The last two are kept.
"""

import argparse
import time

from benchmarks import calibrated, constants, costs, large, methods, panels, piecewise, solver, tents
from benchmarks.table import Table, write
from normint import paths

PARTS = {"solver": solver.measure, "costs": costs.measure, "methods": methods.measure}
# What a notebook or the book reads, and is too long to measure there.
KEPT = {"tents": ("data", "tents.csv"), "large": ("benchmarks", "large.csv")}
LONG = {
    "piecewise": piecewise.measure,
    "calibrated": calibrated.measure,
    "constants": constants.measure,
    "large": large.measure,
    "panels": panels.measure,
    "tents": tents.measure,
}


def main():
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.split("\n")[0])
    parser.add_argument("part", nargs="?", choices=[*PARTS, *LONG], help="measure only this part")
    parser.add_argument("--quick", action="store_true", help="smaller images, fewer repeats")
    parser.add_argument(
        "--update", action="store_true", help="keep what was measured: the table, large maps, or the tents"
    )
    options = parser.parse_args()
    if options.update and (options.quick or (options.part in LONG and options.part not in KEPT)):
        parser.error("--update needs the table, large maps or the tents, in full")
    if options.part in LONG:
        rows = list(LONG[options.part](options.quick))
        place = KEPT[options.part] if options.update else ("build", "bench", f"{options.part}.csv")
        print(write(paths.root().joinpath(*place), rows))
        return
    table, start = Table(), time.perf_counter()
    print(table.header(), flush=True)
    for name in [options.part] if options.part else PARTS:
        for row in PARTS[name](options.quick):
            print(table.add(row), flush=True)
    print(f"\n{table.closing()}\nmeasured in {time.perf_counter() - start:.0f} s")
    if options.update:
        print(table.write())


if __name__ == "__main__":
    main()
