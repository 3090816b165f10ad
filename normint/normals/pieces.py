"""Which pixels of a surface hang together: neighbours in the mask, where no method let the surface jump."""

import numpy as np
import scipy.ndimage
import scipy.sparse

from normint import inputs

__all__ = ["joined", "pieces"]


JUMP = 1.0  # pixels, at least


def joined(mask, weights=None, below=0.1, height=None):
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


def pieces(mask, weights=None, below=0.1, height=None):
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
        return scipy.ndimage.label(mask)
    number = np.cumsum(mask, dtype=np.int64).reshape(mask.shape) - 1
    down, right = joined(mask, weights, below, height)
    i = np.concatenate([number[:-1][down], number[:, :-1][right]])
    j = np.concatenate([number[1:][down], number[:, 1:][right]])
    size = np.count_nonzero(mask)
    graph = scipy.sparse.coo_array((np.ones(len(i), bool), (i, j)), shape=(size, size))
    count, found = scipy.sparse.csgraph.connected_components(graph, directed=False)
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
