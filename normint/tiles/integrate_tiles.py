"""From a gradient field that does not fit into the memory to a depth map: quadratic integration in tiles."""

import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from normint import inputs
from normint.extras import extra
from normint.files.writing import write_atomically
from normint.methods.result import Integration
from normint.shortage import shortage
from normint.solver import threads
from normint.tiles import windows
from normint.tiles.rounds import Images, Rounds

__all__ = ["integrate_tiles", "memory_of_tiles"]

MOST_CELLS = 2**18  # of the coarse surface: beyond, to factorise its system takes much memory
MEMORY_OF_TILE = 230  # bytes for each pixel of a tile and its overlap, as measured
MEMORY_OF_CELL = 4000  # bytes, of the coarse system and its factors
MEMORY_OF_RESULT = 12  # bytes a pixel, where the depth is not in a file


def integrate_tiles(
    p: Any, q: Any, mask: Any = None, *, prior: Any = None, prior_weight: Any = 0.0, tile: int = 2048,
    overlap: int = 64, tolerance: float = 1e-4, max_iterations: int = 50, workers: int | None = None,
    out: str | PathLike[str] | None = None,
) -> Integration:  # fmt: skip
    """Integrate a gradient field by least squares, tile by tile; the depth is that of ``method="quadratic"``.

    Parameters
    ----------
    p, q, mask, prior, prior_weight
        As for :func:`normint.integrate`: arrays of NumPy, in memory or memory-mapped, or of Dask. Only what
        a tile needs is read at a time.
    tile : int
        The side of a tile, in pixels; a multiple of the overlap, to which it is rounded up.
    overlap : int
        By how many pixels a tile reaches into its neighbours. More of them means fewer iterations, each of
        more work.
    tolerance : float
        Bound on the relative residual of every connected piece, as for
        :func:`normint.methods.quadratic.quadratic`.
    max_iterations : int
        After so many rounds through all tiles the depth is returned as it is, with ``converged`` false and
        a warning.
    workers : int, optional
        How many tiles Dask solves at once, each on one thread: on the cluster of the current
        ``distributed.Client``, or else in threads. By default one, on all threads, and Dask is only needed if
        the arrays are its own.
    out : path-like, optional
        The depth is written to this NPY file, all or nothing, and what is returned is mapped from it. Without
        it, the depth is in memory.

    Returns
    -------
    Integration
        If an array of Dask is given, the depth is one.

    Notes
    -----
    A round minimises the energy E(z) of the quadratic method over one set of changes after the other:

    1. a coarse surface, added everywhere: bilinear in cells that are as wide as an overlap, and torn
       where the domain is (:mod:`normint.tiles.cells`). It places all tiles at once, bends them, and solves
       one sparse system;
    2. the pixels of a tile and its overlap, the depth around them being as it is: a system of the usual kind.
       Tiles that do not touch may do so at the same time.

    Each step is an orthogonal projection in the norm of E, the changes together are all there are, and so the
    rounds converge to the minimiser, the untiled result, whatever the tiles [1]_. How fast depends on the
    cell's side over the overlap, and neither on the size of the tiles nor on their number.

    References
    ----------
    .. [1] A. Toselli, O. Widlund, "Domain Decomposition Methods", Springer 2005, Chapters 2 and 3.

    Examples
    --------
    >>> p, q = np.random.default_rng(0).standard_normal((2, 40, 70))
    >>> from normint import integrate
    >>> tiled = integrate_tiles(p, q, tile=16, overlap=4, tolerance=1e-9)
    >>> bool(np.allclose(tiled.depth, integrate(p, q, tolerance=1e-9).depth, atol=1e-6))
    True
    """
    start = time.perf_counter()
    images = Images(p, q, mask, prior, prior_weight)
    tile, overlap = inputs.as_count("tile", tile, 8), inputs.as_count("overlap", overlap)
    if 2 * overlap >= tile:
        raise ValueError(f"overlap is {overlap}; expected less than half of the tile, {tile / 2:g}")
    tolerance = inputs.as_positive("tolerance", tolerance)
    max_iterations = inputs.as_count("max_iterations", max_iterations)
    workers = None if workers is None else inputs.as_count("workers", workers)
    if out is not None and Path(out).suffix.lower() != ".npy":
        raise ValueError(f"out is {out}; expected a name that ends in .npy")
    side = _side(images.shape, overlap)
    tile = side * -(-tile // side)
    what = f"p of {images.shape[0]} × {images.shape[1]} pixels, in tiles of {tile} × {tile},"
    if short := shortage(what, memory_of_tiles(images.shape, tile, overlap, workers or 1, out is None)):
        raise MemoryError(f"{short}; expected a smaller tile=, fewer workers=, or a file out= for the depth")
    with _runner(workers, images.lazy) as run:

        def work(depth, parts):
            """Fill two arrays, in memory or mapped; return what a result holds beside the depth."""
            rounds = Rounds(images, depth, parts, tile, overlap, side, run)
            found = rounds.iterate(tolerance, max_iterations)
            rounds.settle()
            return found

        depth, found = _filled(images.shape, out, work)
    if images.lazy:
        import dask.array

        depth = dask.array.from_array(depth, chunks=getattr(p, "chunks", "auto"))
    result = Integration(depth=depth, **found, seconds=time.perf_counter() - start)
    if not result.converged:
        text = f"integrate_tiles did not converge in {max_iterations} rounds; a larger overlap needs fewer"
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    return result


def memory_of_tiles(shape, tile, overlap, workers=1, in_memory=True):
    """Return how many bytes :func:`integrate_tiles` takes.

    Examples
    --------
    >>> memory_of_tiles((100_000, 50_000), 2048, 64, in_memory=False) / 1e9
    2.1...
    """
    rows, columns = shape
    wide = min(rows, tile + 2 * overlap) * min(columns, tile + 2 * overlap)
    cells = MEMORY_OF_CELL * min(MOST_CELLS, rows * columns / overlap**2)
    return workers * MEMORY_OF_TILE * wide + cells + in_memory * MEMORY_OF_RESULT * rows * columns


def _side(shape, overlap):
    """Return the side of a cell: the overlap, or so many times it that there are not too many cells.

    Examples
    --------
    >>> _side((10_000, 10_000), 64), _side((100_000, 100_000), 64)
    (64, 256)
    """
    rows, columns = shape
    times = int(np.ceil(np.sqrt(rows * columns / MOST_CELLS) / overlap))
    return overlap * max(1, times)


def _filled(shape, out, work):
    """Return the depth, in memory or mapped from a file that is there when it is complete, and more."""
    if out is None:
        depth = np.empty(shape)
        return depth, work(depth, np.empty(shape, np.int32))
    with write_atomically(out) as temporary, tempfile.TemporaryFile(dir=temporary.parent) as scratch:
        # Nobody else holds these arrays: some systems do not rename a file that is still mapped.
        found = work(
            np.lib.format.open_memmap(temporary, "w+", np.float64, shape),
            np.memmap(scratch, np.int32, "w+", shape=shape),
        )
    return np.load(out, mmap_mode="r"), found


@contextmanager
def _runner(workers, lazy) -> Iterator[Any]:
    """Yield a function that calls another for one tile after the other, or for several at once on Dask."""
    if workers is None and not lazy:
        yield _in_turn
        return
    workers = workers or 1
    with extra("cluster", "tiles of Dask arrays, or on several workers,"):
        import dask

    def run(function, calls):
        if function is windows.solve:
            function = windows.solve_on_one_thread
        calls, task = iter(calls), dask.delayed(function, pure=False)
        while batch := [task(*call) for call in islice(calls, workers)]:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")  # a tile is, and is sent once
                found = dask.compute(*batch)
            yield from found

    before = threads.chosen()
    try:
        yield run
    finally:
        threads.set_threads(before)


def _in_turn(function, calls):
    """Call a function for one tile after the other."""
    return (function(*call) for call in calls)
