"""The domain Ω of an integration problem: its neighbours, difference matrices and connected components."""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.ndimage
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from normint.inputs import as_mask

__all__ = ["NEIGHBOURS", "Domain"]

# Of the edges downwards and of those to the right: the pixels where they begin, and where they end.
NEIGHBOURS: tuple[tuple[Any, Any], tuple[Any, Any]] = (np.s_[:-1], np.s_[1:]), (np.s_[:, :-1], np.s_[:, 1:])


class Domain:
    """Describe the discrete domain Ω given by a mask, in the paper's own terms.

    u points down (rows) and v to the right (columns). The pixels of Ω are numbered columnwise: down the first
    column, then down the second, and so on. Everything is computed when first asked for.

    Parameters
    ----------
    mask : array_like
        Truth values, or the numbers 0 and 1: True inside Ω.

    Attributes
    ----------
    mask : ndarray of bool
    shape : tuple of int
        The rows and columns of the grid.
    size : int
        |Ω|, the number of pixels inside.

    Notes
    -----
    A difference exists where both its pixels are inside Ω. The forward difference along u, for instance, is
    defined on Ω_u^+ = {(u, v) ∈ Ω : (u+1, v) ∈ Ω}, and row i of its |Ω|×|Ω| matrix `Du_plus` has −1 in
    column i and 1 in column i+1 if pixel i is in Ω_u^+, and only zeros otherwise.

    These matrices are for reading, testing and small problems; the solvers work on the grid itself.

    Examples
    --------
    >>> domain = Domain([[1, 1], [1, 0]])
    >>> domain.size
    3
    >>> domain.Du_plus.toarray()
    array([[-1.,  1.,  0.],
           [ 0.,  0.,  0.],
           [ 0.,  0.,  0.]])
    >>> domain.laplacian().toarray()
    array([[ 2., -1., -1.],
           [-1.,  1.,  0.],
           [-1.,  0.,  1.]])
    """

    def __init__(self, mask: ArrayLike) -> None:
        if mask is None:
            raise ValueError("mask is None; expected a 2-D array of truth values")
        self.mask = as_mask(mask, np.shape(mask))
        self.shape = self.mask.shape
        self.size = int(np.count_nonzero(self.mask))

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"Domain({self.size} of {rows}×{columns} pixels)"

    @cached_property
    def omega_u_plus(self) -> NDArray[np.bool_]:
        """Return Ω_u^+ as a boolean image: the pixels whose lower neighbour is inside Ω."""
        return self.mask & _shifted(self.mask, 1, 0)

    @cached_property
    def omega_u_minus(self) -> NDArray[np.bool_]:
        """Return Ω_u^- as a boolean image: the pixels whose upper neighbour is inside Ω."""
        return self.mask & _shifted(self.mask, -1, 0)

    @cached_property
    def omega_v_plus(self) -> NDArray[np.bool_]:
        """Return Ω_v^+ as a boolean image: the pixels whose right neighbour is inside Ω."""
        return self.mask & _shifted(self.mask, 0, 1)

    @cached_property
    def omega_v_minus(self) -> NDArray[np.bool_]:
        """Return Ω_v^- as a boolean image: the pixels whose left neighbour is inside Ω."""
        return self.mask & _shifted(self.mask, 0, -1)

    @cached_property
    def Du_plus(self) -> scipy.sparse.csr_array:
        """Return the forward differences along u: z(u+1, v) − z(u, v)."""
        return self._differences(self.omega_u_plus, self.omega_u_minus, self.omega_u_plus)

    @cached_property
    def Du_minus(self) -> scipy.sparse.csr_array:
        """Return the backward differences along u: z(u, v) − z(u−1, v)."""
        return self._differences(self.omega_u_plus, self.omega_u_minus, self.omega_u_minus)

    @cached_property
    def Dv_plus(self) -> scipy.sparse.csr_array:
        """Return the forward differences along v: z(u, v+1) − z(u, v)."""
        return self._differences(self.omega_v_plus, self.omega_v_minus, self.omega_v_plus)

    @cached_property
    def Dv_minus(self) -> scipy.sparse.csr_array:
        """Return the backward differences along v: z(u, v) − z(u, v−1)."""
        return self._differences(self.omega_v_plus, self.omega_v_minus, self.omega_v_minus)

    @cached_property
    def Du(self) -> scipy.sparse.csr_array:
        """Return ½(Du_plusᵀ + Du_minusᵀ), which makes −∂p/∂u out of p in the right-hand side."""
        return _sorted_csr(0.5 * (self.Du_plus + self.Du_minus).T)

    @cached_property
    def Dv(self) -> scipy.sparse.csr_array:
        """Return ½(Dv_plusᵀ + Dv_minusᵀ), which makes −∂q/∂v out of q in the right-hand side."""
        return _sorted_csr(0.5 * (self.Dv_plus + self.Dv_minus).T)

    def laplacian(self) -> scipy.sparse.csr_array:
        """Assemble the negative Laplacian L of Ω.

        Returns
        -------
        scipy.sparse.csr_array
            |Ω|×|Ω|, symmetric, positive semi-definite.

        Notes
        -----
        L = ½(Du_plusᵀDu_plus + Du_minusᵀDu_minus) + ½(Dv_plusᵀDv_plus + Dv_minusᵀDv_minus). It is the
        Laplacian of the graph of 4-neighbours: the diagonal counts a pixel's neighbours, and −1 stands
        where two pixels are neighbours. Its null vectors are constant on each connected component.

        Examples
        --------
        >>> Domain([[1, 1, 1]]).laplacian().toarray()
        array([[ 1., -1.,  0.],
               [-1.,  2., -1.],
               [ 0., -1.,  1.]])
        """
        differences = (self.Du_plus, self.Du_minus, self.Dv_plus, self.Dv_minus)
        return _sorted_csr(0.5 * sum(D.T @ D for D in differences))

    @cached_property
    def components(self) -> NDArray[np.integer]:
        """Return an image of labels: 0 outside Ω, 1 … `component_count` on its 4-connected components."""
        return self._labels[0]

    @cached_property
    def component_count(self) -> int:
        """Return the number of 4-connected components of Ω."""
        return int(self._labels[1])

    @cached_property
    def boundary(self) -> list[tuple[int, int]]:
        """Return ∂Ω: the (row, column) outside Ω that have a 4-neighbour inside.

        They are listed row by row, and may lie one pixel off the grid (−1, or the number of rows or columns):
        these are the points that the continuous optimality condition asks data from.
        """
        inside = np.pad(self.mask, 1)
        steps = ((1, 0), (-1, 0), (0, 1), (0, -1))
        beside = np.logical_or.reduce([_shifted(inside, *step) for step in steps])
        return [(int(row) - 1, int(column) - 1) for row, column in np.argwhere(beside & ~inside)]

    def to_vector(self, image: ArrayLike) -> NDArray[Any]:
        """Stack the pixels of Ω columnwise.

        Parameters
        ----------
        image : array_like
            Of the grid's shape.

        Returns
        -------
        ndarray
            Of length |Ω|.

        Examples
        --------
        >>> Domain([[1, 1], [1, 0]]).to_vector([[1, 3], [2, 4]])
        array([1, 2, 3])
        """
        image = np.asarray(image)
        if image.shape != self.shape:
            raise ValueError(f"image has shape {image.shape}; expected {self.shape}, the shape of the mask")
        return image.T[self.mask.T]

    def to_image(self, vector: ArrayLike, outside: float = np.nan) -> NDArray[np.float64]:
        """Put a stacked vector back on the grid.

        Parameters
        ----------
        vector : array_like
            Of length |Ω|.
        outside : float, optional
            The value outside Ω.

        Returns
        -------
        ndarray of float64

        Examples
        --------
        >>> Domain([[1, 1], [1, 0]]).to_image([1, 2, 3])
        array([[ 1.,  3.],
               [ 2., nan]])
        """
        vector = np.asarray(vector)
        if vector.shape != (self.size,):
            raise ValueError(f"vector has shape {vector.shape}; expected ({self.size},), one value per pixel")
        image = np.full(self.shape, outside, dtype=np.float64)
        image.T[self.mask.T] = vector
        return image

    @cached_property
    def _labels(self) -> tuple[NDArray[np.integer], int]:
        return scipy.ndimage.label(self.mask)

    @cached_property
    def _numbers(self) -> NDArray[np.integer]:
        """The number of each pixel in the paper's columnwise order; −1 outside Ω."""
        numbers = np.full(self.shape, -1)
        numbers.T[self.mask.T] = np.arange(self.size)
        return numbers

    def _differences(
        self, first: NDArray[np.bool_], second: NDArray[np.bool_], observed: NDArray[np.bool_]
    ) -> scipy.sparse.csr_array:
        """Return the differences second − first of neighbours, as rows of the observed ones of the two."""
        # Both images list the same pairs in the same order: shifting an image keeps the order of its pixels.
        i, j, rows = (self._numbers[pixels] for pixels in (first, second, observed))
        ones = np.ones(rows.size)
        entries = (np.concatenate([-ones, ones]), (np.tile(rows, 2), np.concatenate([i, j])))
        return _sorted_csr(scipy.sparse.coo_array(entries, shape=(self.size, self.size)))


def _shifted(inside: NDArray[np.bool_], down: int, right: int) -> NDArray[np.bool_]:
    """Return the image whose pixel (u, v) tells whether (u + down, v + right) is inside."""
    rows, columns = inside.shape
    return np.pad(inside, 1)[1 + down : 1 + down + rows, 1 + right : 1 + right + columns]


def _sorted_csr(matrix: Any) -> scipy.sparse.csr_array:
    """Return the matrix as CSR without stored zeros, its columns in order."""
    matrix = scipy.sparse.csr_array(matrix)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def bounding_box(mask: NDArray[np.bool_], margin: int = 0) -> tuple[slice, ...]:
    """Return the slices of the smallest rectangle that holds a mask and so many pixels around it.

    Examples
    --------
    >>> mask = np.array([[0, 0, 0], [0, 1, 1]], bool)
    >>> bounding_box(mask)
    (slice(1, 2, None), slice(1, 3, None))
    >>> mask[bounding_box(mask, margin=1)].shape
    (2, 3)
    """
    lines = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    return tuple(slice(max(int(line[0]) - margin, 0), int(line[-1]) + 1 + margin) for line in lines)
