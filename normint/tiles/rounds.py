"""The rounds through all tiles: a coarse surface for all of them together, then one tile after the other."""

import numpy as np

from normint.tiles import windows
from normint.tiles.cells import Cells

__all__ = ["Images", "Rounds"]

PART = 0.1  # of a tile's residual may be left in each round
MOST_STEPS = 100  # of a tile's solver


class Images:
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


class Rounds:
    """The rounds, on a depth and the numbers of parts, which are arrays in memory or mapped from files.

    Parameters
    ----------
    images : Images
    depth, parts : ndarray of float64, ndarray of int32
        Of the shape of the images; whatever they hold is replaced.
    tile, overlap, side : int
        Of the tiles and of the cells, in pixels.
    run : callable
        Called as ``run(function, calls)``: yields what the function returns for the arguments of each call.
    """

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
                (window, around, PART, MOST_STEPS, *self._read(around))
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
