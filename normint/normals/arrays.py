"""Normal maps as arrays: of any library, with the channels first or last, as colours or real vectors."""

import numpy as np

from normint import inputs

__all__ = ["as_array", "as_normal_map"]

SCALES = (1, 2**8 - 1, 2**16 - 1, 2**32 - 1)  # the largest value of colours that are kept as other numbers
ROWS = 256  # looked at together
GREY = 0.02  # colours whose parts differ by less are no normals: white, black and all between
UNIT = 0.1  # a reading of numbers is that of colours if most vectors are so near to the length 1


def as_array(name, values):
    """Return an array of another library as one of NumPy, where that is possible; others as they are.

    Parameters
    ----------
    name : str
        What the caller knows the argument as.
    values : array_like, or an object with ``__array__`` or ``__dlpack__``
        Such as a tensor of torch or a DataArray of xarray.

    Examples
    --------
    >>> as_array("normals", [[1.0, 2.0]])
    [[1.0, 2.0]]
    >>> as_array("normals", object())
    Traceback (most recent call last):
    ...
    ValueError: normals is an object, which NumPy cannot read; expected an array, such as ...
    """
    if values is None or isinstance(values, (np.ndarray, np.generic, list, tuple, int, float, str)):
        return values
    why = ""
    for read in (np.asarray, *([np.from_dlpack] if hasattr(values, "__dlpack__") else [])):
        try:
            array = read(values)
        except Exception as error:  # whatever the other library raises
            why = why or f" ({error})"
        else:
            if array.dtype != object:
                return array
    kind = type(values).__name__
    article = "an" if kind[0] in "aeiouAEIOU" else "a"
    raise ValueError(
        f"{name} is {article} {kind}, which NumPy cannot read{why}; expected an array, such as "
        "tensor.detach().cpu().numpy() of a tensor"
    )


def as_normal_map(normals):
    """Check the shape and type of a normal map; without a copy, unless its numbers must be changed.

    Parameters
    ----------
    normals : array_like
        rows×columns×3 real numbers, or colours of 8, 16 or 32 bits. A fourth channel is alpha. The channels
        may come first, and axes of length 1 before them. Where a masked array hides a component there is no
        normal.

    Returns
    -------
    stored : ndarray
        rows×columns×3: colours of 8 or 16 bits, or vectors.
    opaque : ndarray of bool, or None
        Where alpha is at least a half of its largest value, and nothing is hidden; None for everywhere.

    Notes
    -----
    Real numbers mean themselves, unless none is negative and 2c/s − 1 has the length 1 for s = 1, 255, … and
    c has not: then they are colours c. What was zero stays zero: no normal.

    Examples
    --------
    >>> as_normal_map([[[0.5, 0.5, 1.0], [0.8, 0.5, 0.9]]])[0]
    array([[[0. , 0. , 1. ],
            [0.6, 0. , 0.8]]])
    >>> as_normal_map(np.zeros((3, 4, 5)))[0].shape
    (4, 5, 3)
    """
    normals, hidden = as_array("normals", normals), None
    if np.ma.is_masked(normals) and normals.ndim == 3:
        channels = 2 if normals.shape[2] in (3, 4) else 0
        hidden = np.ma.getmaskarray(normals).any(axis=channels)
        everywhere = np.broadcast_to(np.expand_dims(hidden, channels), normals.shape)
        normals = np.ma.MaskedArray(normals.data, everywhere)
    try:
        normals = inputs.unhidden(normals)
    except ValueError:  # ragged lists
        raise ValueError("normals is not an array; expected rows of equal length") from None
    shape = normals.shape
    while normals.ndim > 3 and normals.shape[0] == 1:
        normals = normals[0]
    if normals.ndim == 3 and normals.shape[2] not in (3, 4) and normals.shape[0] in (3, 4):
        normals = np.moveaxis(normals, 0, 2)
    if normals.ndim != 3 or normals.shape[2] not in (3, 4) or 0 in normals.shape:
        raise ValueError(
            f"normals has shape {shape}; expected (rows, columns, 3), a fourth channel for alpha, or the "
            "channels first"
        )
    if normals.dtype.kind not in "iuf":
        raise ValueError(
            f"normals has type {normals.dtype}; expected real numbers, or colours of 8 or 16 bits"
        )
    opaque = _opaque(normals[..., 3]) if normals.shape[2] == 4 else None
    if hidden is not None:
        opaque = ~hidden if opaque is None else opaque & ~hidden
    return _as_stored(normals[..., :3]), opaque


def _opaque(alpha):
    """Return where alpha is at least half of its largest value; None if it is constant."""
    with np.errstate(invalid="ignore"):
        opaque = alpha > np.nanmax(alpha, initial=0) / 2
    return None if opaque.all() or not opaque.any() else opaque


def _as_stored(values):
    """Return colours of 8 or 16 bits as they are; other numbers as vectors, whatever they stood for."""
    if values.dtype == np.uint8:
        return values
    if values.dtype == np.uint16:  # some writers keep 8 bits in 16
        return values if values.max() > SCALES[1] or values.max() <= 1 else values.astype(np.uint8)
    if values.dtype in (np.float16, np.float32, np.float64) and _any_negative(values):
        return values
    vectors = values.astype(np.float64, copy=False)
    there = np.isfinite(vectors).all(axis=2) & vectors.any(axis=2)
    scale = _scale_of(vectors[there])
    return vectors if scale is None else np.where(there[..., np.newaxis], 2 / scale * vectors - 1, 0.0)


def _any_negative(values):
    """Tell whether a vector has a component below 0, which no colour has; most often the first rows tell."""
    for top in range(0, len(values), ROWS):
        part = values[top : top + ROWS]
        if (part[np.isfinite(part).all(axis=2)] < 0).any():
            return True
    return False


def _scale_of(values):
    """Return the largest value that colours may have, or None for vectors."""
    if not values.size or values.min() < 0:
        return None
    scale = next((one for one in SCALES if values.max() <= one), None)
    if scale is None:
        return None
    coloured = np.ptp(values, axis=-1) > GREY * scale  # the others may be background, and most of it all
    values = values[coloured] if coloured.any() else values
    as_they_are, as_colours = (
        np.median(np.abs(np.linalg.norm(n, axis=-1) - 1)) for n in (values, 2 / scale * values - 1)
    )
    return scale if as_colours < min(UNIT, as_they_are) else None
