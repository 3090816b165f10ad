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
from normint.tiles.cells import Cells

__all__ = ["integrate_tiles", "memory_of_tiles"]

MOST_CELLS = 2**18  # of the coarse surface: beyond, to factorise its system takes much memory
MEMORY_OF_TILE = 230  # bytes for each pixel of a tile and its overlap, as measured
MEMORY_OF_CELL = 4000  # bytes, of the coarse system and its factors
MEMORY_OF_RESULT = 12  # bytes a pixel, where the depth is not in a file
PART = 0.1  # of a tile's residual may be left in each round


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
    images = _Images(p, q, mask, prior, prior_weight)
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
            work = _Work(images, depth, parts, tile, overlap, side, run)
            found = work.iterate(tolerance, max_iterations)
            work.settle()
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


class _Images:
    """What is given, checked as far as it can be without reading it."""

    def __init__(self, p, q, mask, prior, weight):
        given = {"p": p, "q": q, "mask": mask, "prior": prior}
        for name, image in given.items():
            if isinstance(image, np.ma.MaskedArray):
                raise ValueError(
                    f"{name} is a masked array; expected a plain one, and what it hides as mask="
                )
            if image is not None and not hasattr(image, "shape"):
                given[name] = np.asarray(image)
        self.shape = given["p"].shape
        if len(self.shape) != 2 or 0 in self.shape:
            raise ValueError(f"p has shape {self.shape}; expected rows and columns")
        for name, image in given.items():
            if image is not None and image.shape != self.shape:
                raise ValueError(f"{name} has shape {image.shape}; expected {self.shape}, the shape of p")
        if np.ndim(weight) and np.shape(weight) != self.shape:
            raise ValueError(f"prior_weight has shape {np.shape(weight)}; expected a number, or {self.shape}")
        if prior is None and (np.ndim(weight) or weight != 0):
            raise ValueError("prior is missing although prior_weight is given; expected a depth to weight")
        self._given, self._weight = given, weight
        self.lazy = any(type(image).__module__.startswith("dask.") for image in given.values())

    def read(self, window):
        """Return what a tile's functions take: p, q, mask, prior and its weight, or what will become it."""
        images = [None if image is None else image[window.slices] for image in self._given.values()]
        return *images, self._weight[window.slices] if np.ndim(self._weight) else self._weight


class _Work:
    """The rounds, on a depth and the numbers of parts that are arrays in memory or mapped from files."""

    def __init__(self, images, depth, parts, tile, overlap, side, run):
        self.images, self.depth, self.parts = images, depth, parts
        self.overlap, self.side, self.run = overlap, side, run
        self.colours = windows.divide(depth.shape, tile)
        self.tiles = [window for colour in self.colours for window in colour]
        self._survey()

    def _survey(self):
        """Check all numbers, find the parts of all cells, and set up the coarse system."""
        read, count, weight, weighted = self.images.read, 0, 0.0, 0.0
        calls = ((window, self.side, *read(window)) for window in self.tiles)
        for window, found in zip(self.tiles, self.run(windows.survey, calls), strict=True):
            parts, number, *sums = found
            self.parts[window.slices] = np.where(parts > 0, parts + count, 0)
            count, weight, weighted = count + number, weight + sums[0], weighted + sums[1]
        if not count:
            raise ValueError("mask is empty; expected at least one pixel inside")
        if self.images.read(self.tiles[0])[3] is not None and not weight:
            raise ValueError(
                "prior has no weight inside the mask; expected prior_weight > 0 where it is known"
            )
        self.start = weighted / weight if weight else 0.0
        self.cells = Cells(self.side, count)
        for window in self.tiles:
            top, bottom, left, right = window
            parts, held = np.asarray(self.parts[top : bottom + 1, left : right + 1]), None
            if weight:
                held = windows.hold(window, *read(window)).weight
            self.cells.add(parts, *window.shape, held)
        self.cells.factorise()

    def iterate(self, tolerance, max_iterations):
        """Go through all tiles until the residual is small; return what a result holds beside the depth."""
        for window in self.tiles:
            self.depth[window.slices] = np.where(self.parts[window.slices] > 0, self.start, 0.0)
        total, scale, _ = self._measure()
        energies, converged = [], False
        while not converged and len(energies) < max_iterations:
            self._bend(total)
            solved = self._solve()
            total, left, energy = self._measure()
            energies.append(energy)
            converged = solved and bool((left <= tolerance * scale).all())
        return {"iterations": len(energies), "converged": converged, "energies": np.array(energies)}

    def _measure(self):
        """Return the restricted residual, its norm in each piece, and the energy."""
        total, squares, energy = np.zeros((self.cells.count + 1, 4)), np.zeros(self.cells.count + 1), 0.0
        calls = (
            (window, around, self.side, self.parts[window.slices], *self._read(around))
            for window in self.tiles
            for around in [window.grown(1, self.depth.shape)]
        )
        for found in self.run(windows.measure, calls):
            part = slice(found.first, found.first + found.squares.size)
            total[part] += found.total
            squares[part] += found.squares
            energy += found.energy
        return total, np.sqrt(np.bincount(self.cells.piece, squares)), energy

    def _bend(self, total):
        """Add the coarse surface that takes most of the energy away."""
        heights = self.cells.heights(total)
        for window in self.tiles:
            self.depth[window.slices] += self.cells.surface(self.parts[window.slices], heights)

    def _solve(self):
        """Solve all tiles, one colour after the other; tell whether all were solved."""
        solved = True
        for colour in self.colours:
            wide = [window.grown(self.overlap, self.depth.shape) for window in colour]
            calls = (
                (window, around, PART, 100, *self._read(around))
                for window in wide
                for around in [window.grown(1, self.depth.shape)]
            )
            for window, found in zip(wide, self.run(windows.solve, calls), strict=True):
                self.depth[window.slices] = found[0]
                solved &= found[1]
        return solved

    def settle(self):
        """Give each piece that no λ holds zero mean, and NaN to what is outside."""
        shift = np.zeros((2, self.cells.count + 1))
        for window in self.tiles:
            parts = self.parts[window.slices].ravel()
            first = parts.min()
            for k, values in enumerate((None, self.depth[window.slices].ravel())):
                found = np.bincount(parts - first, values)
                shift[k, first : first + found.size] += found
        count, sums = (np.bincount(self.cells.piece, values) for values in shift)
        mean = np.where(self.cells.held_pieces, 0.0, sums / np.maximum(count, 1))
        mean[0] = np.nan
        for window in self.tiles:
            self.depth[window.slices] -= mean[self.cells.piece[self.parts[window.slices]]]

    def _read(self, window):
        return self.depth[window.slices], *self.images.read(window)


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
