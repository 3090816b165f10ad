"""The tiles of an image, what is read for one, and what is done in one: measure it, or solve it.

These functions take what a window of the image holds and return what comes of it, so that they may run in
this process or in another.
"""

from typing import NamedTuple

import numpy as np

from normint import inputs
from normint.domain import NEIGHBOURS
from normint.solver.system import System
from normint.solver.threads import set_threads
from normint.tiles.cells import number_parts, restricted


class Window(NamedTuple):
    """Some rows and columns of an image."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def slices(self):
        """What to take from an image."""
        return slice(self.top, self.bottom), slice(self.left, self.right)

    @property
    def shape(self):
        """Rows and columns."""
        return self.bottom - self.top, self.right - self.left

    def grown(self, by, shape):
        """Return the window and so many pixels on each side, as far as the image goes.

        Examples
        --------
        >>> Window(0, 4, 4, 8).grown(2, (20, 9))
        Window(top=0, bottom=6, left=2, right=9)
        """
        rows, columns = shape
        top, left = max(0, self.top - by), max(0, self.left - by)
        return Window(top, min(rows, self.bottom + by), left, min(columns, self.right + by))

    def within(self, other):
        """Return where this window is in what was read of another one."""
        top, left = self.top - other.top, self.left - other.left
        return slice(top, top + self.shape[0]), slice(left, left + self.shape[1])


def divide(shape, tile):
    """Return the tiles of an image in four colours: those of one colour do not touch each other.

    Examples
    --------
    >>> [len(colour) for colour in divide((300, 200), 100)]
    [2, 2, 1, 1]
    """
    rows, columns = shape
    return [
        [
            Window(top, min(top + tile, rows), left, min(left + tile, columns))
            for top in range(down * tile, rows, 2 * tile)
            for left in range(right * tile, columns, 2 * tile)
        ]
        for down in range(2)
        for right in range(2)
    ]


class Held(NamedTuple):
    """What a window of the image holds, as the computation wants it: real, and zero outside the mask."""

    p: np.ndarray
    q: np.ndarray
    mask: np.ndarray
    prior: np.ndarray | None
    weight: np.ndarray | None


def hold(window, p, q, mask, prior, weight, check=False):
    """Check and convert what was read of a window; see :class:`Held`."""
    try:
        inside = np.ones(window.shape, bool) if mask is None else _as_truth(np.asarray(mask))
        fields = []
        for name, values in (("p", p), ("q", q)):
            values = inputs.as_real(name, values)
            if check:
                values = inputs.as_field(name, values, inside, inputs.STEEPEST)
            fields.append(values if inside.all() else np.where(inside, values, 0.0))
        if prior is None:
            return Held(*fields, inside, None, None)
        prior = inputs.as_real("prior", prior)
        weight = np.where(inside & ~np.isnan(prior), inputs.as_real("prior_weight", weight), 0.0)
        if check:
            prior = inputs.as_field("prior", prior, weight > 0)
            if not 0 <= weight.min() <= weight.max() <= inputs.STRONGEST:
                raise ValueError(f"prior_weight is negative, NaN or beyond {inputs.STRONGEST:g}")
        return Held(*fields, inside, np.where(weight > 0, prior, 0.0), weight)
    except ValueError as error:
        top, bottom, left, right = window
        raise ValueError(f"{error} (in rows {top} to {bottom} and columns {left} to {right})") from None


def survey(window, side, *read):
    """Return the numbers of a tile's parts, how many there are, and Σλ and Σλz⁰."""
    held = hold(window, *read, check=True)
    parts, count = number_parts(held.mask, side)
    if held.weight is None:
        return parts, count, 0.0, 0.0
    return parts, count, float(held.weight.sum()), float(np.sum(held.weight * held.prior))


class Measured(NamedTuple):
    """The residual of a tile: of its parts, which are numbered from `first` on, and the tile's energy."""

    first: int
    total: np.ndarray  # weighted by the functions of the corners
    squares: np.ndarray
    energy: float


def measure(window, around, side, parts, depth, *read):
    """Measure how far a depth is from solving a tile's equations.

    Parameters
    ----------
    window, around : Window
        The tile, and what was read: a pixel more on each side.
    side : int
        Of a cell.
    parts : ndarray of int
        The numbers of the tile's parts.
    depth, *read
        What was read.

    Returns
    -------
    Measured
    """
    held, own = hold(around, *read), window.within(around)
    depth = np.asarray(depth)
    residual, energy = np.zeros(around.shape), 0.0
    for slope, (here, there) in zip((held.p, held.q), NEIGHBOURS, strict=True):
        joined = held.mask[here] & held.mask[there]
        gap = np.where(joined, depth[there] - depth[here] - 0.5 * (slope[here] + slope[there]), 0.0)
        residual[here] += gap
        residual[there] -= gap
        bend = np.where(joined, slope[there] - slope[here], 0.0)
        energy += np.sum(gap[own] ** 2) + 0.25 * np.sum(bend[own] ** 2)  # of edges that begin in the tile
    residual = residual[own]
    if held.weight is not None:
        apart = (held.prior - depth)[own]
        residual += held.weight[own] * apart
        energy += np.sum(held.weight[own] * apart**2)
    first = int(parts.min())
    squares = np.bincount((parts - first).ravel(), (residual**2).ravel())
    return Measured(first, restricted(side, parts - first, residual), squares, float(energy))


def solve(window, around, tolerance, max_iterations, depth, *read):
    """Return the depth of a tile that fits better to the depth around it, and whether it was found.

    Parameters
    ----------
    window, around : Window
        The tile with its overlap, and what was read: a pixel more on each side.
    tolerance, max_iterations
        As for :meth:`normint.solver.system.System.solve`.
    depth, *read
        What was read.

    Notes
    -----
    An edge that leaves the tile asks that z_i = z_j − f, with z_j as it is now: it is a prior, of weight 1.
    So a tile is a system of the same kind as the whole. It is solved for the change of the depth, whose
    right-hand side is the residual: then the tolerance means a part of what is still wrong.
    """
    held, own = hold(around, *read), window.within(around)
    depth, mask = np.asarray(depth), np.ascontiguousarray(held.mask[own])
    start = depth[own]
    if not mask.any():
        return start, True
    outside = np.ones(around.shape, bool)
    outside[own] = False
    if held.weight is None:
        weight, pull = np.zeros((2, *around.shape))
    else:
        weight, pull = held.weight.copy(), held.weight * (held.prior - depth)
    fluxes = []
    for slope, (here, there) in zip((held.p, held.q), NEIGHBOURS, strict=True):
        joined = held.mask[here] & held.mask[there]
        flux = np.zeros(around.shape)
        flux[here] = 0.5 * (slope[here] + slope[there]) - (depth[there] - depth[here])
        fluxes.append(np.ascontiguousarray(flux[own]))
        for inner, outer, sign in ((there, here, 1), (here, there, -1)):
            enters = joined & outside[outer] & ~outside[inner]
            weight[inner] += enters
            pull[inner] += np.where(enters, sign * flux[here], 0.0)
    weight, pull = (np.ascontiguousarray(image[own]) for image in (weight, pull))
    prior = np.divide(pull, weight, out=np.zeros(weight.shape), where=weight > 0)
    solution = System(mask, diagonal=weight).solve(
        *fluxes, prior, tolerance=tolerance, max_iterations=max_iterations, correction=True
    )
    return np.where(mask, start + solution.depth, 0.0), solution.converged


def solve_on_one_thread(*arguments):
    """Solve beside others, which have the other cores."""
    set_threads(1)
    return solve(*arguments)


def _as_truth(mask):
    """Check a part of a mask, which may be empty."""
    if mask.dtype != bool and (mask.dtype.kind not in "iuf" or not ((mask == 0) | (mask == 1)).all()):
        raise ValueError("mask has values other than 0 and 1; expected bool, or the numbers 0 and 1")
    return np.ascontiguousarray(mask, dtype=bool)
