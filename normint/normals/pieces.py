"""Which pixels of a surface hang together: neighbours in the mask, where no method let the surface jump."""

import numpy as np
import scipy.ndimage
import scipy.sparse

from normint import inputs

__all__ = ["joined", "pieces"]


def joined(mask, weights=None, below=0.1):
    """Tell which edges downwards and to the right join two pixels of the mask and are not cut.

    Parameters
    ----------
    mask : ndarray of bool
    weights : (array_like, array_like), optional
        Of the edges downwards and to the right, as in :class:`normint.Integration`. An edge is cut where its
        weight is below ``below`` times the median.
    below : float

    Returns
    -------
    down, right : ndarray of bool
        One row less than the mask, and one column less.

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
    least = below * np.median(values)
    return down & (strengths[0] >= least), right & (strengths[1] >= least)


def pieces(mask, weights=None, below=0.1):
    """Number the pieces that a surface falls into.

    Parameters
    ----------
    mask, weights, below
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
    down, right = joined(mask, weights, below)
    i = np.concatenate([number[:-1][down], number[:, :-1][right]])
    j = np.concatenate([number[1:][down], number[:, 1:][right]])
    size = np.count_nonzero(mask)
    graph = scipy.sparse.coo_array((np.ones(len(i), bool), (i, j)), shape=(size, size))
    count, found = scipy.sparse.csgraph.connected_components(graph, directed=False)
    labels = np.zeros(mask.shape, np.int32)
    labels[mask] = found + 1
    return labels, int(count)
