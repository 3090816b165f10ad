"""One run: the call, its time, its memory, and what went wrong."""

import sys
import time
from pathlib import Path

import numpy as np

from normint import compiling
from normint.workbook.study.store import code_stamp, versions

# The processor's time: on one thread, what others do on the machine hardly changes it. (The clock of Windows
# for it is too coarse.)
CLOCK = time.perf_counter if sys.platform == "win32" else time.process_time


def measured(function, keep, stamp, settings):
    """Call a function with settings, wherever this process is.

    Parameters
    ----------
    function : callable
    keep : sequence of str
        The arrays to return.
    stamp : str
        Of the code that asks. A process with other code refuses: its numbers would be others.
    settings : dict

    Returns
    -------
    row : dict
    arrays : dict
    problem : str
        Why the call failed; empty if it did not.
    """
    if code_stamp() != stamp:
        raise RuntimeError(f"a worker has other code or libraries than the study: it has {versions()}")
    try:
        before = compiling.compiled()
        found, seconds = _timed(function, settings)
        if compiling.compiled() > before:  # that took its time and memory, and comes only once
            found, seconds = _timed(function, settings)
    except Exception as error:  # one of a thousand runs must not end the others
        return {}, {}, f"{type(error).__name__}: {error}"
    arrays = {name: value for name, value in found.items() if isinstance(value, np.ndarray)}
    missing = [name for name in keep if name not in arrays]
    if missing:
        return {}, {}, f"it returned no array {', '.join(missing)}; it returned {', '.join(found)}"
    row = {name: plain(value) for name, value in found.items() if name not in arrays}
    row = {"seconds": seconds, **row, "seconds_in_all": seconds, "megabytes": peak(), "versions": versions()}
    return row, {name: arrays[name] for name in keep}, ""


def _timed(function, settings):
    begin_peak()
    start = CLOCK()
    found = function(**settings)
    return found, CLOCK() - start


def plain(value):
    """Return a number of NumPy as one of Python, and all else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def begin_peak():
    """Let the largest memory of this process count from now on, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def peak():
    """Return the largest memory of this process, in megabytes; None where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text().splitlines()
        return round(int(next(line for line in status if line.startswith("VmHWM")).split()[1]) / 1024, 1)
    except (OSError, StopIteration):
        pass
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:
        return None
    return round(getrusage(RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3), 1)
