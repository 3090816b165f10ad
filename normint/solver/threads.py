"""How many threads share a pass over the pixels, and how.

Each takes a region of rows and does there all stages of the pass whose neighbours are its own; then the rows
around the borders between regions are done. A pixel is computed from the same numbers whatever the regions
are, and sums are taken row by row, so the result has the same digits for any number of threads.
"""

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

from normint import inputs, paths

LEAST = 2**17  # pixels for each thread: below, handing over takes as long as it saves

_chosen = None
_pool = None


def set_threads(count):
    """Choose how many threads a solution may use.

    Parameters
    ----------
    count : int or None
        None for the default: ``NORMINT_THREADS``, or ``OMP_NUM_THREADS``, or all cores; and one in a process
        that was started to work beside others.

    Examples
    --------
    >>> set_threads(2)
    >>> threads()
    2
    >>> set_threads(None)
    """
    global _chosen
    _chosen = None if count is None else inputs.as_count("count", count)


def threads():
    """Return how many threads a solution may use."""
    if _chosen is not None:
        return _chosen
    asked = paths.threads()
    if asked is not None:
        return asked
    if multiprocessing.parent_process() is not None:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share(kernel, fine, stages, *rest):
    """Call ``kernel(*fine, region, *rest)`` for regions that together are all rows.

    A region is its first row, the one after its last, and by how many rows each of them moves from one of
    the ``stages`` of the pass to the next.
    """
    _, height, width, _ = fine[-1]
    count = min(threads(), 2 * height * width // LEAST, height // (8 * stages))
    if count <= 1:
        kernel(*fine, (1, height - 1, 0, 0), *rest)
        return
    borders = [1 + (height - 2) * k // count for k in range(count + 1)]
    inner = borders[1:-1]
    regions = [
        (begin, end, int(begin > 1), -int(end < height - 1))
        for begin, end in zip(borders, borders[1:], strict=False)
    ]
    for group in (regions, [(border, border, -1, 1) for border in inner]):
        calls = [_threads(count).submit(kernel, *fine, region, *rest) for region in group[1:]]
        kernel(*fine, group[0], *rest)
        for call in calls:
            call.result()


def _threads(count):
    """Return threads that wait for work; those of another process are not ours."""
    global _pool
    if _pool is None or _pool[0] != (os.getpid(), count):
        _pool = (os.getpid(), count), ThreadPoolExecutor(count - 1, "normint")
    return _pool[1]
