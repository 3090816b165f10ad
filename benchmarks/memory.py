"""Print the peak memory, in bytes, that one call needs on top of its input; for a process of its own."""

import resource
import sys
from pathlib import Path

import numpy as np

import normint
from benchmarks import cases


def high_water():
    """Return the largest resident size of this process so far, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main(n, name):
    small = cases.masks(64)[name]
    normint.integrate(*cases.gradient(64), small)  # compile first
    p, q = cases.gradient(n)
    mask = cases.masks(n)[name]
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5")  # the high-water mark starts anew from what is resident now
    before = high_water()
    depth = normint.integrate(p, q, mask).depth
    assert np.isfinite(depth[mask]).all()
    print(high_water() - before)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
