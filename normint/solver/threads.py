"""How many threads share a pass over the pixels, and how.

In a pass of several stages (`share`), each takes a region of rows and does there all stages whose neighbours
are its own; then the rows around the borders between regions are done. A pixel is computed from the same
numbers whatever the regions are, and sums are taken row by row. Where one stage reads images
(`share_rows`), sums are taken band by band. So the result has the same digits for any number of threads.
"""

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from normint import inputs, paths

LEAST = 2**17  # pixels for each thread: below, handing over takes as long as it saves

ROWS = 128  # of a band

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


def chosen():
    """Return what was given to :func:`set_threads`."""
    return _chosen


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
        _together(count, [partial(kernel, *fine, region, *rest) for region in group])


def share_rows(kernel, shape, *rest):
    """Call ``kernel(band, begin, end, *rest)`` for all bands of rows of an image, numbered from 0 on."""
    rows, cols = shape
    bands = [(band, begin, min(begin + ROWS, rows)) for band, begin in enumerate(range(0, rows, ROWS))]
    count = max(1, min(threads(), rows * cols // LEAST, len(bands)))

    def some(first):
        for band in bands[first * len(bands) // count : (first + 1) * len(bands) // count]:
            kernel(*band, *rest)

    _together(count, [partial(some, first) for first in range(count)])


def band_count(rows):
    """Return into how many bands `share_rows` divides an image.

    >>> band_count(ROWS), band_count(ROWS + 1)
    (1, 2)
    """
    return -(-rows // ROWS)


def _together(count, calls):
    """Make all calls: the first in this thread, the others beside it."""
    others = [_threads(count).submit(call) for call in calls[1:]]
    calls[0]()
    for other in others:
        other.result()


def _threads(count):
    """Return threads that wait for work; those of another process are not ours."""
    global _pool
    if _pool is None or _pool[0] != (os.getpid(), count):
        _pool = (os.getpid(), count), ThreadPoolExecutor(count - 1, "normint")
    return _pool[1]
