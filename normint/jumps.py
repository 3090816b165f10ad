"""Where a surface jumps: the edges whose weights a method brought down, as lines between pixels."""

from typing import NamedTuple

import numpy as np
from scipy.ndimage import label
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from normint import inputs

__all__ = ["BELOW", "Jumps", "find_jumps", "joined", "pieces"]

BELOW = 0.1  # an edge is cut where its weight is less than this part of the median
JUMP = 1.0  # pixels by which a step differs from those beside it, at least, where weights leave it open


class Jumps(NamedTuple):
    """Where a surface jumps.

    Attributes
    ----------
    edges : int
        How many edges are cut.
    share : float
        Which part of all edges that is.
    longest : int
        Edges of the longest line of cuts, in which each touches the next: its length in pixels.
    place : str
        Where most of them are, such as "lower left", "on the right" or "in the middle"; or "all over".
    """

    edges: int
    share: float
    longest: int
    place: str

    def __str__(self):
        if not self.edges:
            return "none"
        where = "all over" if self.place == "all over" else f"mostly {self.place}"
        return f"{100 * self.share:.2g} % of the edges, {where}; longest {self.longest} px"


def joined(mask, weights=None, below=BELOW, height=None):
    """Tell which edges downwards and to the right join two pixels of the mask and are not cut.

    Parameters
    ----------
    mask : ndarray of bool
    weights : (array_like, array_like), optional
        Of the edges downwards and to the right, as in :class:`normint.Integration`. An edge is cut where its
        weight is 0, and where it is below ``below`` times the median and the height jumps.
    below : float
    height : ndarray, optional
        In pixels. It jumps where a step is by `JUMP` larger or smaller than the steps before and after it.
        Without it, weights alone decide.

    Returns
    -------
    down, right : ndarray of bool
        One row less than the mask, and one column less.

    Notes
    -----
    Some methods let go of what is steep, whether it jumps or not: cut by the weights alone, their surfaces
    would be torn along every outline.

    Examples
    --------
    >>> weights = np.ones((1, 4)), np.array([[1.0, 0.0, 1.0, 0.0]])
    >>> joined(np.ones((1, 4), bool), weights)[1]
    array([[ True, False,  True]])
    """
    down, right = mask[:-1] & mask[1:], mask[:, :-1] & mask[:, 1:]
    if weights is None:
        return down, right
    below = inputs.as_positive("below", below)
    if len(weights) != 2 or any(np.shape(w) != mask.shape for w in weights):
        raise ValueError(f"weights has shapes {[np.shape(w) for w in weights]}; expected two of {mask.shape}")
    strengths = np.asarray(weights[0])[:-1], np.asarray(weights[1])[:, :-1]
    values = np.concatenate([w[edge & (w > 0)] for w, edge in zip(strengths, (down, right), strict=True)])
    if not len(values):
        return down, right
    least, result = below * np.median(values), []
    for axis, (edges, strength) in enumerate(zip((down, right), strengths, strict=True)):
        weak = strength < least
        if height is not None:
            weak &= (strength == 0) | (_jump(np.where(mask, height, np.nan), axis) >= JUMP)
        result.append(edges & ~weak)
    return tuple(result)


def find_jumps(mask, weights, below=BELOW, height=None):
    """Find where a surface jumps.

    Parameters
    ----------
    mask, weights, below, height
        As for :func:`joined`.

    Returns
    -------
    Jumps

    Examples
    --------
    The right half of a square apart from the left:

    >>> mask, weights = np.ones((4, 4), bool), np.ones((2, 4, 4))
    >>> weights[1][:, 2] = 0.0
    >>> print(find_jumps(mask, weights))
    17 % of the edges, mostly on the right; longest 4 px
    """
    there, kept = joined(mask), joined(mask, weights, below, height)
    down, right = (edge & ~held for edge, held in zip(there, kept, strict=True))
    count, total = (sum(int(edge.sum()) for edge in edges) for edges in ((down, right), there))
    if not count:
        return Jumps(0, 0.0, 0, "")
    return Jumps(count, count / total, _longest(down, right), _place(mask, down, right))


def pieces(mask, weights=None, below=BELOW, height=None):
    """Number the pieces that a surface falls into.

    Parameters
    ----------
    mask, weights, below, height
        As for :func:`joined`.

    Returns
    -------
    labels : ndarray of int
        0 outside the mask, 1 and more on the pieces.
    count : int

    Examples
    --------
    >>> weights = np.ones((1, 4)), np.array([[1.0, 0.0, 1.0, 0.0]])
    >>> pieces(np.ones((1, 4), bool), weights)[0].tolist()
    [[1, 1, 2, 2]]
    """
    if weights is None:
        return label(mask)
    number = np.cumsum(mask, dtype=np.int64).reshape(mask.shape) - 1
    down, right = joined(mask, weights, below, height)
    i = np.concatenate([number[:-1][down], number[:, :-1][right]])
    j = np.concatenate([number[1:][down], number[:, 1:][right]])
    size = np.count_nonzero(mask)
    graph = coo_array((np.ones(len(i), bool), (i, j)), shape=(size, size))
    count, found = connected_components(graph, directed=False)
    labels = np.zeros(mask.shape, np.int32)
    labels[mask] = found + 1
    return labels, int(count)


def _jump(height, axis):
    """Return by how much each step along an axis differs from the more alike of those before and after."""
    steps = np.diff(np.moveaxis(height, axis, 0), axis=0)
    change = np.abs(np.diff(steps, axis=0))
    nothing = np.full((1, *steps.shape[1:]), np.nan)
    before, after = (np.concatenate(parts)[: len(steps)] for parts in ((nothing, change), (change, nothing)))
    jump = np.fmin(before, after)
    return np.moveaxis(np.where(np.isnan(jump), np.abs(steps), jump), 0, axis)


def _longest(down, right):
    """Return the number of edges in the largest set in which each cut touches the next.

    A cut is the side that two pixels share: a segment between two corners of pixels.
    """
    corners = down.shape[1] + 1  # in a row
    (i, j), (k, m) = np.nonzero(down), np.nonzero(right)
    begin = np.concatenate([(i + 1) * corners + j, k * corners + m + 1])
    end = np.concatenate([(i + 1) * corners + j + 1, (k + 1) * corners + m + 1])
    used, number = np.unique([begin, end], return_inverse=True)
    begin, end = number.reshape(2, -1)
    graph = coo_array((np.ones(begin.size, bool), (begin, end)), shape=(used.size, used.size))
    _, line = connected_components(graph, directed=False)
    return int(np.bincount(line[begin]).max())


def _place(mask, down, right):
    """Name the part of the domain in which most cuts are."""
    u, v = (np.concatenate(pair) + 0.5 for pair in zip(np.nonzero(down), np.nonzero(right), strict=True))
    row = _third(u, np.flatnonzero(mask.any(axis=1)), ("upper", "middle", "lower"))
    column = _third(v, np.flatnonzero(mask.any(axis=0)), ("left", "middle", "right"))
    words = [word for word in (row, column) if word not in ("", "middle")]
    if len(words) == 1:
        return {"upper": "at the top", "lower": "at the bottom"}.get(words[0], f"on the {words[0]}")
    return " ".join(words) or ("in the middle" if row or column else "all over")


def _third(positions, inside, words):
    """Return the word for the third of a side that holds more than half of the positions, if one does."""
    thirds = np.linspace(inside[0], inside[-1], 4)[1:-1]
    counts = np.bincount(np.searchsorted(thirds, positions), minlength=3)
    return words[counts.argmax()] if counts.max() > positions.size / 2 else ""
