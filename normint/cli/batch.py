"""Many normal maps in one run: one bar, one table; failures are told, and what is done is left alone."""

import copy
import sys
import time
from collections import Counter
from pathlib import Path

from normint import compiling, paths
from normint.cli.outputs import as_text, is_done, planned
from normint.cli.parsing import UsageError
from normint.cli.printing import complain, one_line, say

__all__ = ["run_all"]

SIGNS = {0: "done", 3: "not converged"}


def run_all(arguments, found, integrate_one):
    """Integrate each of some maps, print a table, and return the exit code.

    Parameters
    ----------
    arguments : Namespace
        Of the command line.
    found : list of Found
    integrate_one : callable
        From arguments for one map to its report and exit code.

    Returns
    -------
    int
        1 if one failed, else 3 if one did not converge, else 0.
    """
    jobs = [_job(arguments, map) for map in found]
    _refuse_twins(found, jobs)
    rows, notes = [], {}
    for map, job in _bar(list(zip(found, jobs, strict=True)), hidden=arguments.quiet):
        rows.append(_row(map, job, integrate_one))
        for note in rows[-1]["report"].get("warnings", []):
            notes.setdefault(note, []).append(str(map))
    if not arguments.quiet:
        for note, maps in notes.items():
            others = f" and {len(maps) - 1} more" if len(maps) > 1 else ""
            complain(f"warning: {maps[0]}{others}: {note}")
    for row in rows:
        if row["result"] == "failed":
            error = row["report"]["error"]
            complain(f"error: {error}" if row["map"] in error else f"error: {row['map']}: {error}")
    if arguments.json:
        say(as_text([{"map": row["map"], "result": row["result"], **row["report"]} for row in rows]))
    elif not arguments.quiet:
        say("\n".join(_table(rows)))
    results = {row["result"] for row in rows}
    return 1 if "failed" in results else 3 if "not converged" in results else 0


def _job(arguments, map):
    """Return the arguments of the command for one map alone."""
    job = copy.copy(arguments)
    job.path, job.beside, job.label = str(map.path), map.beside, str(map)
    job.mask = arguments.mask or (map.mask and str(map.mask))
    job.camera = arguments.camera or (map.camera and str(map.camera))
    job.out = None if arguments.out is None else str(Path(arguments.out, map.name))
    job.bar = False
    return job


def _refuse_twins(found, jobs):
    """Refuse maps whose results would have the same names."""
    seen = {}
    for map, job in zip(found, jobs, strict=True):
        report = planned(job)["report"].absolute()
        if report in seen:
            raise UsageError(
                f"{seen[report]} and {map} would both be written to {report.parent}; "
                "expected other names, or one command for each"
            )
        seen[report] = map


def _row(map, job, integrate_one):
    """Integrate one map, and return what came of it."""
    start = time.perf_counter()
    row = {"map": str(map), "result": "failed", "report": {}}
    if not job.force and is_done(job, map.path):
        return row | {"result": "skipped", "seconds": 0.0}
    try:
        with map.file() as path:
            job.path = str(path)
            report, code = integrate_one(job)
        row |= {"result": SIGNS[code], "report": report}
    except MemoryError:
        row["report"] = {"error": "it is too large for the memory"}
    except (ValueError, OSError, ArithmeticError) as error:
        row["report"] = {"error": str(error)}
    return row | {"seconds": time.perf_counter() - start}


def _bar(items, *, hidden):
    """Go through items with a bar in a terminal, whose prediction leaves out the time of compiling."""
    from tqdm import tqdm

    hidden = hidden or not sys.stderr.isatty() or paths.in_ci()
    with tqdm(items, unit="map", file=sys.stderr, leave=False, disable=hidden) as bar:
        before = compiling.compiled()
        for item in bar:
            bar.set_postfix_str(Path(item[1].label).name)
            yield item
            if compiling.compiled() > before:
                before = compiling.compiled()
                bar.unpause()


def _table(rows):
    """Return a table of what came of the maps, and a line that counts."""
    cells = [("map", "pixels", "seconds", "jumps", "result")]
    for row in rows:
        told, jumps = row["report"], row["report"].get("jumps")
        share = "" if jumps is None else f"{100 * jumps['share']:.2g} %"
        cells.append(
            (one_line(row["map"]), str(told.get("pixels", "")), f"{row['seconds']:.2g}", share, row["result"])
        )
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for first, *numbers, result in cells:
        middle = (f"{cell:>{width}}" for cell, width in zip(numbers, widths[1:-1], strict=True))
        lines.append("  ".join([f"{first:{widths[0]}}", *middle, result]))
    counts = Counter(row["result"] for row in rows)
    return [*lines, f"{len(rows)} maps: " + ", ".join(f"{n} {result}" for result, n in counts.items())]
