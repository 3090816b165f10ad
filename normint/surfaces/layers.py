"""Layers that scenes are built of: a ground with displaced regions, and bodies before it.

:func:`placed` shifts and turns a shape of :mod:`normint.surfaces.shapes` into the image. :class:`Layers`
holds a ground and bodies and tells, at any point of the image, what is seen there.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph

from normint.domain import NEIGHBOURS

CONTACT = 0.1  # two bodies touch where their depths differ by less than this part of a pixel
# The first and the second pixels of all edges, downwards and to the right.


def placed(shape, centre=(0.0, 0.0), angle=0.0, height=0.0):
    """Shift and turn a shape, so that it is a function of the image's coordinates (u, v).

    Parameters
    ----------
    shape : callable
        Returns z, ∂z/∂s, ∂z/∂t and where it exists, at (s, t).
    centre : tuple of float
        The point (u, v) that s = t = 0 comes to.
    angle : float
        From the direction of u (down) to that of s, in degrees.
    height : float
        What is added to z.

    Returns
    -------
    callable
        Returns z, p = ∂z/∂u, q = ∂z/∂v and where it exists, at (u, v).

    Examples
    --------
    A plane that rises by 2 along its s, which points to the right in the image:

    >>> from normint.surfaces.shapes import plane
    >>> z, p, q, inside = placed(plane(2.0, 0.0), (10, 10), 90)(np.array([10.0]), np.array([11.0]))
    >>> z.round(6), p.round(6), q.round(6)
    (array([2.]), array([0.]), array([2.]))
    """
    cosine, sine = np.cos(np.radians(angle)), np.sin(np.radians(angle))

    def turned(u, v):
        du, dv = u - centre[0], v - centre[1]
        z, z_s, z_t, inside = shape(cosine * du + sine * dv, cosine * dv - sine * du)
        return height + z, cosine * z_s - sine * z_t, sine * z_s + cosine * z_t, inside

    return turned


@dataclass(frozen=True)
class Layers:
    """A ground with displaced regions, and bodies before it.

    Attributes
    ----------
    ground : tuple of callable
        Placed shapes that exist everywhere; the ground is their sum.
    displaced : tuple of callable
        Placed shapes that are added to the ground where they exist.
    bodies : tuple of callable
        Placed shapes that hide what lies behind them.
    """

    ground: tuple
    displaced: tuple = ()
    bodies: tuple = ()

    def see(self, u, v):
        """Return depth, slopes and the number of what is seen, at the points (u, v)."""
        total = [np.zeros(np.broadcast_shapes(u.shape, v.shape)) for _ in range(3)]
        for layer in self.ground:
            for sum_, part in zip(total, layer(u, v)[:3], strict=True):
                sum_ += part
        number = np.zeros(total[0].shape, dtype=int)
        for bit, layer in enumerate(self.displaced):
            *parts, inside = layer(u, v)
            for sum_, part in zip(total, parts, strict=True):
                sum_ += np.where(inside, part, 0.0)
            number += np.where(inside, 1 << bit, 0)
        for count, layer in enumerate(self.bodies):
            *parts, inside = layer(u, v)
            front = inside & (parts[0] > total[0])
            for sum_, part in zip(total, parts, strict=True):
                sum_[front] = np.broadcast_to(part, front.shape)[front]
            number[front] = (1 << len(self.displaced)) + count
        return *total, number

    def jumps(self, u, v, number):
        """Measure how far the depth jumps between neighbours of a grid, exactly.

        Parameters
        ----------
        u, v : ndarray
            The coordinates of the grid's rows (n×1) and columns (1×m).
        number : ndarray of int
            What is seen there.

        Returns
        -------
        down, right : ndarray
            The largest jump on the way from each pixel to the next one downwards, and to the right.

        Notes
        -----
        On the way from one pixel to the next, each place where another thing comes into view is found by
        bisection. The jump is the difference of the depths on its two sides: 0 where things touch.
        """
        u, v = np.broadcast_arrays(u, v)
        both = []
        for here, there in NEIGHBOURS:
            jump = np.zeros(number.shape)
            other = number[here] != number[there]
            start, end = (np.stack([u[part][other], v[part][other]]) for part in (here, there))
            jump[here][other] = self._largest(start, end)
            both.append(jump)
        return tuple(both)

    def _largest(self, start, end, parts=32, halvings=24):
        """Return the largest jump on each of the ways from start to end."""
        at = np.linspace(0, 1, parts + 1)
        way = start[..., np.newaxis] + (end - start)[..., np.newaxis] * at
        number = self.see(*way)[3]
        edge, part = np.nonzero(number[:, 1:] != number[:, :-1])
        low, high = way[:, edge, part], way[:, edge, part + 1]
        first = number[edge, part]
        for _ in range(halvings):
            middle = (low + high) / 2
            same = self.see(*middle)[3] == first
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        largest = np.zeros(start.shape[1])
        np.maximum.at(largest, edge, np.abs(self.see(*high)[0] - self.see(*low)[0]))
        return largest


def join(mask, jumps, least=CONTACT):
    """Number the pieces of a surface: pixels that are joined by ways without a jump.

    Parameters
    ----------
    mask : ndarray of bool
    jumps : tuple of ndarray
        How far the depth jumps from each pixel to the next one downwards, and to the right.
    least : float
        What counts as a jump.

    Returns
    -------
    ndarray of int
        −1 outside the mask.

    Examples
    --------
    >>> right = np.array([[0.0, 5.0, 0.0]])
    >>> join(np.array([[True, True, True]]), (np.zeros((1, 3)), right))
    array([[0, 0, 1]])
    """
    index = np.arange(mask.size).reshape(mask.shape)
    rows, columns = [], []
    for jump, (here, there) in zip(jumps, NEIGHBOURS, strict=True):
        joined = mask[here] & mask[there] & (jump[here] < least)
        rows.append(index[here][joined])
        columns.append(index[there][joined])
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    graph = scipy.sparse.coo_array((np.ones(rows.size), (rows, columns)), shape=(mask.size,) * 2)
    labels = scipy.sparse.csgraph.connected_components(graph, directed=False)[1].reshape(mask.shape)
    pieces = np.full(mask.shape, -1)
    pieces[mask] = np.unique(labels[mask], return_inverse=True)[1]
    return pieces
