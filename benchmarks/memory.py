"""Print the peak memory, in bytes, that one call needs on top of its input; for a process of its own."""

import ctypes
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np

import normint
from benchmarks import cases
from normint import paths
from normint.solver import memory


def high_water():
    """Return the largest resident size of this process so far, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def release():
    """Give the system back what is free, which the call would otherwise use without being charged for it."""
    memory.clear()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # not every C library has it
    if trim is not None:
        trim(0)


def peak_bytes(n, name):
    """Return what the call of this size and name prints in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.memory", str(n), name]
    return int(
        subprocess.run(command, cwd=paths.root(), check=True, stdout=subprocess.PIPE, text=True).stdout
    )


def problem(n, name):
    """Return the domain and the call: a method for piecewise smooth surfaces, or least squares on a mask."""
    if name in cases.PIECEWISE:
        return np.ones((n, n), bool), cases.fixed_iterations(n, name)
    mask = cases.mask(n, name)
    return mask, partial(normint.integrate, *cases.gradient(n), mask)


def main(n, name):
    problem(64, name)[1]()  # compile first
    mask, call = problem(n, name)
    release()
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5")  # the high-water mark starts anew from what is resident now
    before = high_water()
    depth = call().depth
    assert np.isfinite(depth[mask]).all()
    print(high_water() - before)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
