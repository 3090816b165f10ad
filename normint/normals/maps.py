"""Normal maps as they come, and decoded once: real vectors or colours, along any axes, seen by any camera."""

from dataclasses import dataclass

import numpy as np

from normint import inputs
from normint.normals.camera import projection
from normint.normals.lens import Lens

__all__ = ["AXES", "NormalMap", "as_normal_map", "decode", "directions", "known", "turned"]

# The directions, seen by the camera, of the first, second and third component.
AXES = {
    "uvz": "down right toward",  # this package
    "xyz": "right up toward",  # OpenGL; DiLiGenT, most normal maps in image files
    "directx": "right down toward",  # normal maps of games: the green channel turned over
    "opencv": "right down away",  # the coordinates of OpenCV's cameras
}
# From a direction to its axis among u, v, z and its sign.
DIRECTIONS = {
    "down": (0, 1), "up": (0, -1), "right": (1, 1), "left": (1, -1), "toward": (2, 1), "away": (2, -1),
}  # fmt: skip
SHORTEST = 0.5  # a colour that means a shorter vector is no normal: a grey or black background
ROWS = 256  # decoded at a time


def directions(axes):
    """Return the words of axes given by name or by words.

    Parameters
    ----------
    axes : str
        A name of `AXES`, or three words: down or up, right or left, toward (the camera) or away, each
        pair once and in the order of the components.

    Examples
    --------
    >>> directions("xyz")
    ('right', 'up', 'toward')
    >>> directions("yes")
    Traceback (most recent call last):
    ...
    ValueError: axes is 'yes'; expected one of uvz, xyz, ..., or three words such as 'right up toward'
    """
    words = tuple(AXES.get(axes, axes).split()) if isinstance(axes, str) else ()
    axis_of = [DIRECTIONS[word][0] for word in words if word in DIRECTIONS]
    if len(words) != 3 or sorted(axis_of) != [0, 1, 2]:
        raise ValueError(
            f"axes is {axes!r}; expected one of {', '.join(AXES)}, or three words such as 'right up toward'"
        )
    return words


def turned(vectors, words):
    """Return vectors along u, v and z whose components are along these words.

    Examples
    --------
    >>> turned(np.array([[[1.0, 2.0, 3.0]]]), directions("xyz"))
    array([[[-2.,  1.,  3.]]])
    """
    if " ".join(words) == AXES["uvz"]:
        return vectors
    result = np.empty(vectors.shape)
    for k, (axis, sign) in enumerate(DIRECTIONS[word] for word in words):
        np.multiply(vectors[..., k], sign, out=result[..., axis])
    return result


def as_normal_map(normals):
    """Check the shape and type of a normal map, without a copy.

    Parameters
    ----------
    normals : array_like
        rows×columns×3 real numbers, or colours of 8 or 16 bits. Where a masked array hides a component there
        is no normal.

    Returns
    -------
    ndarray
    """
    if np.ma.is_masked(normals):
        hidden = np.ma.getmaskarray(normals).any(axis=-1, keepdims=True)
        normals = np.ma.MaskedArray(normals.data, np.broadcast_to(hidden, normals.shape))
    normals = inputs.unhidden(normals)
    if normals.ndim != 3 or normals.shape[2] != 3 or 0 in normals.shape:
        raise ValueError(f"normals has shape {normals.shape}; expected (rows, columns, 3)")
    if normals.dtype.kind not in "if" and normals.dtype not in (np.uint8, np.uint16):
        raise ValueError(f"normals has type {normals.dtype}; expected real numbers, or uint8 or uint16")
    return normals


def decode(normals):
    """Turn a part of a normal map, as from :func:`as_normal_map`, into float64 vectors.

    Notes
    -----
    A colour c of b bits stands for n = 2c/(2ᵇ − 1) − 1. What is shorter than a half means no normal: zero.

    Examples
    --------
    >>> decode(np.array([[[255, 0, 255], [0, 0, 0]]], dtype=np.uint8))
    array([[[ 1., -1.,  1.],
            [ 0.,  0.,  0.]]])
    """
    if normals.dtype.kind != "u":
        return normals.astype(np.float64, copy=False)
    vectors = normals / np.iinfo(normals.dtype).max
    vectors *= 2.0
    vectors -= 1.0
    nothing = ~normals.any(axis=-1)  # black, which would be (−1, −1, −1)
    nothing |= np.einsum("...k,...k", vectors, vectors) < SHORTEST**2
    vectors[nothing] = 0.0
    return vectors


def known(vectors):
    """Tell which vectors are normals: finite and not zero.

    Examples
    --------
    >>> known(np.array([[[0.0, 0.0, 1.0], [np.nan, 0.0, 1.0], [0.0, 0.0, 0.0]]]))
    array([[ True, False, False]])
    """
    with np.errstate(invalid="ignore", over="ignore"):
        length = np.einsum("...k,...k", vectors, vectors)
        return np.isfinite(length) & (length > 0)


@dataclass(frozen=True, eq=False)
class NormalMap:
    """A normal map that has been checked and decoded: what is integrated, and what is left out.

    Attributes
    ----------
    stored : ndarray
        rows×columns×3, as given.
    axes : str
        As given; `words` are the directions of the components.
    lens : Lens
        The camera.
    least_cosine : float or None
    domain : ndarray of bool
        The mask's pixels that have a normal, and a ray; without a mask, all that have.
    missing : int
        How many pixels of the mask have none.
    away : int
        How many normals of the domain face away, where `least_cosine` does not leave them out.
    mask : ndarray of bool
        The pixels to integrate: the domain without what faces away or `least_cosine` leaves out.
    p, q : ndarray of float64
        Slopes along u and v, in pixels per pixel: of the depth or, with a camera, of f log d. 0 outside.
    """

    stored: np.ndarray
    axes: str
    words: tuple
    lens: Lens
    least_cosine: float | None
    domain: np.ndarray
    missing: int
    away: int
    mask: np.ndarray
    p: np.ndarray
    q: np.ndarray

    @classmethod
    def decoded(
        cls, normals, mask=None, camera=None, *, axes="uvz", depth=None, least_cosine=None, steepest=200.0
    ):  # fmt: skip
        """Check and decode a normal map. Normals that are missing or face away are counted, not refused.

        Parameters
        ----------
        normals, mask, camera, axes, depth, least_cosine, steepest
            As for :func:`normint.integrate_normals`.

        Examples
        --------
        >>> seen = NormalMap.decoded(np.full((1, 2, 3), [0.6, 0.0, 0.8]), axes="xyz")
        >>> seen.q, seen.mask
        (array([[-0.75, -0.75]]), array([[ True,  True]]))
        """
        stored, words, lens = as_normal_map(normals), directions(axes), projection(camera, depth)
        lens.check(stored.shape[:2])
        mask = None if mask is None else inputs.as_mask(mask, stored.shape[:2])
        least = None if least_cosine is None else _as_cosine(least_cosine)
        steepest = np.inf if steepest is None else inputs.as_positive("steepest", steepest)
        shape = stored.shape[:2]
        p, q = np.zeros(shape), np.zeros(shape)
        domain, kept, away = np.zeros(shape, bool), np.zeros(shape, bool), 0
        # A few rows at a time, so that a large normal map is never copied as a whole.
        for top in range(0, shape[0], ROWS):
            rows = slice(top, top + ROWS)
            if mask is not None and not mask[rows].any():
                continue
            n = turned(decode(stored[rows]), words)
            part = {"rows": np.arange(top, top + len(n))[:, np.newaxis]}
            inside = known(n) & lens.sees(**part)
            if mask is not None:
                inside &= mask[rows]
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                cosine, (p_part, q_part) = lens.facing(n, **part), lens.slopes(n, **part)
                facing = inside & (cosine > 0 if least is None else cosine >= least)
                p_part, q_part = lens.unit * p_part, lens.unit * q_part
                shorten = np.minimum(1.0, steepest / np.hypot(p_part, q_part))
            shorten[np.isnan(shorten)] = 1.0  # 0/0: flat, and no limit
            np.multiply(p_part, shorten, out=p[rows], where=facing)
            np.multiply(q_part, shorten, out=q[rows], where=facing)
            domain[rows], kept[rows] = inside, facing
            away += np.count_nonzero(inside & ~facing) if least is None else 0
        missing = 0 if mask is None else np.count_nonzero(mask) - np.count_nonzero(domain)
        return cls(stored, axes, words, lens, least, domain, missing, away, kept, p, q)

    def part(self, rows, columns):
        """Return the components in these rows and columns as they are stored, but decoded."""
        return decode(self.stored[np.ix_(rows, columns)])

    def refuse_missing(self):
        """Raise if pixels of the mask have no normal or, without a mask, if none has."""
        if not self.missing and not self.domain.any():
            raise ValueError("normals are NaN or zero everywhere; expected a normal somewhere")
        if self.missing:
            total = self.missing + np.count_nonzero(self.domain)
            raise ValueError(
                f"normals: {self.missing} of the mask's {total} pixels are NaN, infinite or zero; expected a "
                "normal at each pixel of the mask"
            )

    def refuse_away(self):
        """Raise if normals face away, or nothing is left, saying what to do."""
        if self.away:
            total = np.count_nonzero(self.domain)
            advice = (
                f"most of them, so check the axes ({self.axes!r} were taken)"
                if 2 * self.away > total
                else "least_cosine=0.05, say, leaves those and grazing ones out"
            )
            raise ValueError(
                f"normals: {self.away} of the mask's {total} pixels face away from the camera; {advice}"
            )
        if not self.mask.any():
            raise ValueError(
                f"least_cosine is {self.least_cosine}; no normal has a cosine as large, so nothing is left"
            )


def _as_cosine(least):
    """Check the option least_cosine."""
    least = inputs.as_positive("least_cosine", least)
    if least >= 1:
        raise ValueError(f"least_cosine is {least}; expected a number between 0 and 1")
    return least
