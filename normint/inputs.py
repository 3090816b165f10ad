"""Check what callers pass in, once, before any work.

Every function returns its argument in the form the numerical code expects, or raises a `ValueError` that
names the argument, says what was wrong with it and what is expected.
"""

import difflib
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

STEEPEST = 1e9  # slopes: squares of larger ones, added up, leave no digits for others
LARGEST = 1e15  # depths
STRONGEST = 1e30  # λ

__all__ = ["as_count", "as_field", "as_gradient", "as_mask", "as_positive", "as_prior", "nearest", "unhidden"]


def as_mask(mask: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Check the mask of the domain Ω.

    Parameters
    ----------
    mask : array_like or None
        Truth values, or the numbers 0 and 1, of the given shape. None stands for the whole grid. What a
        masked array hides is outside.
    shape : tuple of int
        The rows and columns of the image the mask belongs to.

    Returns
    -------
    ndarray of bool
        C-contiguous: sums over rows depend on the order in memory, if only in their last digits.

    Examples
    --------
    >>> as_mask(None, (1, 3))
    array([[ True,  True,  True]])
    >>> as_mask([[0, 1]], (1, 3))
    Traceback (most recent call last):
    ...
    ValueError: mask has shape (1, 2); expected (1, 3), the shape of the image
    """
    if len(shape) != 2:
        raise ValueError(f"mask has {len(shape)} dimensions; expected 2 (rows and columns)")
    if mask is None:
        mask = np.ones(shape, dtype=bool)
    else:
        if isinstance(mask, np.ma.MaskedArray):
            mask = mask.filled(0)
        mask = np.asarray(mask)
        if mask.shape != tuple(shape):
            raise ValueError(f"mask has shape {mask.shape}; expected {tuple(shape)}, the shape of the image")
        if mask.dtype != bool:
            if mask.dtype.kind not in "iuf":
                raise ValueError(f"mask has type {mask.dtype}; expected bool, or the numbers 0 and 1")
            truth = mask == 1
            if not (truth | (mask == 0)).all():
                raise ValueError("mask has values other than 0 and 1; expected bool, or the numbers 0 and 1")
            mask = truth
    if not mask.any():
        raise ValueError("mask is empty; expected at least one pixel inside")
    return _for_kernels(mask)


def as_field(
    name: str, values: Any, mask: NDArray[np.bool_], largest: float = LARGEST
) -> NDArray[np.float64]:
    """Check a real image that must be finite inside the mask; outside it anything is allowed.

    Parameters
    ----------
    name : str
        What the caller knows the argument as.
    values : array_like
        Real numbers, of the shape of the mask.
    mask : ndarray of bool
        The domain Ω.
    largest : float
        No value inside may be further from 0.

    Returns
    -------
    ndarray of float64
        C-contiguous; the argument itself if it already was.

    Examples
    --------
    >>> as_field("p", [[1, 2]], np.array([[True, True]]))
    array([[1., 2.]])
    >>> as_field("p", [[1, np.nan]], np.array([[True, True]]))
    Traceback (most recent call last):
    ...
    ValueError: p is NaN or infinite at 1 pixel inside the mask, first at (0, 1); expected finite values there
    """
    values = as_real(name, values)
    if values.shape != mask.shape:
        raise ValueError(f"{name} has shape {values.shape}; expected {mask.shape}, the shape of the mask")
    if not _all_finite(values):
        _refuse_where(name, "NaN or infinite", mask & ~np.isfinite(values), "finite values there")
    if not -largest <= values.min() <= values.max() <= largest:  # most often all are, whatever the mask
        with np.errstate(invalid="ignore"):
            wrong = mask & (np.abs(values) > largest)
        _refuse_where(name, f"beyond {largest:g}", wrong, f"numbers from -{largest:g} to {largest:g}")
    return values


def as_gradient(
    p: Any, q: Any, mask: Any = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Check a gradient field and its mask.

    Parameters
    ----------
    p, q : array_like
        The gradient along u (down) and v (right), finite inside the mask. What masked arrays hide is outside.
    mask : array_like, optional
        The domain Ω; by default the whole grid.

    Returns
    -------
    p, q : ndarray of float64
    mask : ndarray of bool

    Examples
    --------
    >>> p, q, mask = as_gradient([[1, 2]], [[3, 4]])
    >>> mask
    array([[ True,  True]])
    >>> as_gradient([[1, 2]], [[3], [4]])
    Traceback (most recent call last):
    ...
    ValueError: q has shape (2, 1); expected (1, 2), the shape of p
    """
    given, (p, q) = (p, q), (as_real("p", p), as_real("q", q))
    if p.ndim != 2:
        raise ValueError(f"p has {p.ndim} dimensions; expected 2 (rows and columns)")
    if q.shape != p.shape:
        raise ValueError(f"q has shape {q.shape}; expected {p.shape}, the shape of p")
    mask = as_mask(mask, p.shape)
    if (hidden := np.ma.getmaskarray(given[0]) | np.ma.getmaskarray(given[1])).any():
        mask = as_mask(mask & ~hidden, p.shape)
    return as_field("p", p, mask, STEEPEST), as_field("q", q, mask, STEEPEST), mask


def as_prior(
    prior: Any, prior_weight: Any, mask: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | tuple[None, None]:
    """Check a prior depth z⁰ and its weights λ.

    Parameters
    ----------
    prior : array_like or None
        z⁰, finite wherever an array of weights is positive. NaN is allowed elsewhere, so that a few control
        points can be given as an image.
    prior_weight : float or array_like
        λ ≥ 0, one number or one per pixel. One number is the weight wherever the prior is not NaN.
    mask : ndarray of bool
        The domain Ω.

    Returns
    -------
    prior, weight : ndarray of float64, or None and None
        Both None if there is no prior. Otherwise λ is 0 outside the mask and z⁰ is finite everywhere
        (0 replaces what is not finite), so that the product λz⁰ may be formed without care.

    Examples
    --------
    >>> prior, weight = as_prior([[5.0, np.nan]], [[2.0, 0.0]], np.array([[True, True]]))
    >>> weight * prior
    array([[10.,  0.]])
    >>> as_prior([[5.0, 6.0]], 0.0, np.array([[True, True]]))
    Traceback (most recent call last):
    ...
    ValueError: prior is given although prior_weight is 0 everywhere; prior_weight must be positive
    """
    weight = as_real("prior_weight", prior_weight)
    if weight.ndim:
        if weight.shape != mask.shape:
            raise ValueError(
                f"prior_weight has shape {weight.shape}; expected a number or the mask's {mask.shape}"
            )
        weight = np.where(mask, weight, 0.0)
        if not 0 <= weight.min() <= weight.max() <= STRONGEST:
            wrong = ~((weight >= 0) & (weight <= STRONGEST))
            what = f"negative, NaN or beyond {STRONGEST:g}"
            _refuse_where("prior_weight", what, wrong, f"numbers from 0 to {STRONGEST:g}")
    elif not 0 <= weight <= STRONGEST:
        raise ValueError(
            f"prior_weight is {weight}; expected a number from 0 to {STRONGEST:g}, or an array of them"
        )

    used = bool(weight.any())
    if prior is None:
        if used:
            raise ValueError("prior is missing although prior_weight is positive; expected a depth to weight")
        return None, None
    if not used:
        raise ValueError(
            "prior is given although prior_weight is 0 everywhere; prior_weight must be positive"
        )
    prior = as_real("prior", prior)
    if prior.shape != mask.shape:
        raise ValueError(f"prior has shape {prior.shape}; expected {mask.shape}, the shape of the mask")
    if weight.ndim == 0:
        known = mask & ~np.isnan(prior)
        if not known.any():
            raise ValueError("prior is NaN everywhere inside the mask; expected a depth somewhere")
        weight = np.where(known, weight, 0.0)
    if not _all_finite(prior):
        finite = np.isfinite(prior)
        wrong = (weight > 0) & ~finite
        _refuse_where("prior", "NaN or infinite", wrong, "finite values where prior_weight is positive")
        prior = np.where(finite, prior, 0.0)
    return as_field("prior", prior, weight > 0), weight


def as_positive(name: str, value: Any) -> float:
    """Check a positive number, such as a tolerance.

    Parameters
    ----------
    name : str
        What the caller knows the argument as.
    value : float

    Returns
    -------
    float

    Examples
    --------
    >>> as_positive("tolerance", 1e-4)
    0.0001
    >>> as_positive("tolerance", -1)
    Traceback (most recent call last):
    ...
    ValueError: tolerance is -1; expected a finite number > 0
    """
    try:
        if not isinstance(value, str) and 0 < (number := float(value)) < np.inf:
            return number
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{name} is {value!r}; expected a finite number > 0")


def as_count(name: str, value: Any, minimum: int = 1) -> int:
    """Check a whole number, such as a number of iterations.

    Parameters
    ----------
    name : str
        What the caller knows the argument as.
    value : int
    minimum : int, optional
        The least number allowed.

    Returns
    -------
    int

    Examples
    --------
    >>> as_count("max_iterations", 50)
    50
    >>> as_count("max_iterations", 0.5)
    Traceback (most recent call last):
    ...
    ValueError: max_iterations is 0.5; expected a whole number ≥ 1
    """
    try:
        if not isinstance(value, (bool, np.bool_)) and (count := operator.index(value)) >= minimum:
            return count
    except TypeError:
        pass
    raise ValueError(f"{name} is {value!r}; expected a whole number ≥ {minimum}")


def unhidden(values: Any) -> NDArray[Any]:
    """Return an array in which what a masked array hides is unknown: NaN, or 0 in images of whole numbers.

    Examples
    --------
    >>> unhidden(np.ma.MaskedArray([1.0, 2.0], mask=[True, False]))
    array([nan,  2.])
    """
    if not isinstance(values, np.ma.MaskedArray):
        return np.asarray(values)
    if values.dtype.kind == "u":
        return values.filled(0)
    return (
        np.ma.filled(values.astype(np.float64), np.nan) if values.dtype.kind in "bif" else np.asarray(values)
    )


def as_normals(name: str, normals: Any) -> NDArray[np.float64]:
    """Return normals as a float64 array of three dimensions, the last of length 3."""
    normals = unhidden(normals)
    if normals.ndim != 3 or normals.shape[2] != 3:
        raise ValueError(f"{name} has shape {normals.shape}; expected (rows, columns, 3)")
    if normals.dtype.kind not in "iuf":
        raise ValueError(f"{name} has type {normals.dtype}; expected real numbers")
    return normals.astype(np.float64, copy=False)


def as_real(name: str, values: Any) -> NDArray[np.float64]:
    """Return the values as C-contiguous float64, without a copy where they already are; NaN if hidden."""
    try:
        if isinstance(values, np.ma.MaskedArray) and values.dtype.kind == "u":
            values = values.astype(np.float64)
        values = unhidden(values)
    except ValueError:  # ragged lists
        raise ValueError(f"{name} is not an array; expected rows of equal length") from None
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} has type {values.dtype}; expected real numbers")
    return _for_kernels(np.asarray(values, dtype=np.float64))


def _for_kernels(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of the one kind that kernels are compiled for: a copy is sooner made than code."""
    return np.require(array, requirements=["C", "W"])


def _all_finite(values: NDArray[np.float64]) -> bool:
    """Tell, without a temporary array, that all values are finite (False: perhaps not)."""
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.isfinite(values.sum()))


def _refuse_where(name: str, what: str, wrong: NDArray[np.bool_], expected: str) -> None:
    """Raise if any pixel is wrong, saying how many are and where the first one is."""
    count = np.count_nonzero(wrong)
    if count:
        row, column = (int(i) for i in np.unravel_index(wrong.argmax(), wrong.shape))
        pixels = "1 pixel" if count == 1 else f"{count} pixels"
        raise ValueError(
            f"{name} is {what} at {pixels} inside the mask, first at ({row}, {column}); expected {expected}"
        )


def nearest(word: object, known: Iterable[str]) -> str:
    """Return the end of an error about an unknown word: which of the known ones may have been meant.

    Examples
    --------
    >>> nearest("Quadratc", ["quadratic", "dct"]), nearest("cubic", ["dct"])
    ("; did you mean 'quadratic'?", '')
    """
    names = {name.lower(): name for name in known}
    found = difflib.get_close_matches(str(word).lower(), names, n=1)
    return f"; did you mean {names[found[0]]!r}?" if found else ""
