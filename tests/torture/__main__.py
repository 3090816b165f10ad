"""Run trials of every kind in turn, count them, and print how to repeat each that fails."""

import argparse
import importlib
import itertools
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

KINDS = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))


def main(argv=None):
    """Return 0 if no trial failed, else 1."""
    options = _options(argv)
    modules = {kind: importlib.import_module(f"{__package__}.{kind}") for kind in options.only or KINDS}
    trials, failures, spent = Counter(), Counter(), Counter()
    begun = time.monotonic()
    for seed in itertools.count(options.seed):
        for kind, module in modules.items():
            spent_alike = spent[kind] <= min(spent[other] for other in modules) + 1.0
            wanted = trials[kind] < options.trials if options.trials else spent_alike
            if not wanted:
                continue
            start = time.monotonic()
            trials[kind] += 1
            failures[kind] += not _passes(kind, module, seed)
            if seed > options.seed:  # the first ones compile what they need
                spent[kind] += time.monotonic() - start
        if seed == options.seed:
            begun = time.monotonic()
        if options.trials:
            if min(trials[kind] for kind in modules) >= options.trials:
                break
        elif time.monotonic() - begun >= options.seconds:
            break
    for kind in modules:
        print(f"{kind}: {trials[kind]} trials, {failures[kind]} failed, {spent[kind]:.0f} s")
    total = sum(failures.values())
    print(f"{sum(trials.values()) - total} passed, {total} failed")
    return int(total > 0)


def _options(argv):
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long (%(default)s)")
    parser.add_argument("--trials", type=int, help="how many of each kind, however long it takes")
    parser.add_argument("--seed", type=int, default=0, help="of the first trial (%(default)s)")
    parser.add_argument("--only", action="append", choices=KINDS, help="one kind (repeatable)")
    return parser.parse_args(argv)


def _passes(kind, module, seed):
    """Run one trial; if it fails, say why and how to repeat it."""
    try:
        with tempfile.TemporaryDirectory(prefix="torture-") as folder:
            module.trial(seed, Path(folder))
        return True
    except Exception as error:
        what = str(error) if isinstance(error, AssertionError) else traceback.format_exc()
    print(f"{kind}, seed {seed}: {what}", flush=True)
    print(f"    python -m tests.torture --only {kind} --seed {seed} --trials 1", flush=True)
    if hasattr(module, "shrunk"):
        try:
            with tempfile.TemporaryDirectory(prefix="torture-") as folder:
                print(module.shrunk(seed, Path(folder)), flush=True)
        except Exception:
            print(f"    (it could not be made smaller: {traceback.format_exc(limit=1)})", flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main())
