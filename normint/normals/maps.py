"""Normal maps as they come, and decoded once: real vectors or colours, along any axes, seen by any camera."""

from dataclasses import dataclass

import numpy as np

from normint import inputs
from normint.normals.arrays import as_normal_map
from normint.normals.camera import projection
from normint.normals.conventions import AXES, DIRECTIONS, directions
from normint.normals.lens import Lens

__all__ = ["AXES", "NormalMap", "decode", "directions", "known", "turned"]

# A colour that means a shorter or longer vector is no normal: a grey, black or white background.
SHORTEST, LONGEST = 0.5, 1.5
FEW = 0.05  # the part of the normals that may face away and be left out: more is no accident
ROWS = 256  # decoded at a time


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


def decode(normals):
    """Turn a part of a normal map, as from :func:`as_normal_map`, into float64 vectors.

    Notes
    -----
    A colour c of b bits stands for n = 2c/(2ᵇ − 1) − 1. What is far from the length 1, such as grey, black
    and white, means no normal: zero.

    Examples
    --------
    >>> decode(np.array([[[0, 0, 0], [255, 255, 255], [51, 51, 204]]], dtype=np.uint8)).round(2)
    array([[[ 0. ,  0. ,  0. ],
            [ 0. ,  0. ,  0. ],
            [-0.6, -0.6,  0.6]]])
    """
    if normals.dtype.kind != "u":
        return normals.astype(np.float64, copy=False)
    vectors = normals / np.iinfo(normals.dtype).max
    vectors *= 2.0
    vectors -= 1.0
    length = np.einsum("...k,...k", vectors, vectors)
    vectors[(length < SHORTEST**2) | (length > LONGEST**2)] = 0.0
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
    rotation : ndarray or None
        From the axes of the world to those of the camera, as :func:`normint.normals.pose.rotation_of` has it.
    least_cosine : float or None
    domain : ndarray of bool
        The mask's pixels that have a normal, and a ray; without a mask, all that have.
    missing : int
        How many pixels of the mask have none.
    away : int
        How many normals of the domain face away, where `least_cosine` does not leave them out on purpose.
    mask : ndarray of bool
        The pixels to integrate: the domain without what faces away or `least_cosine` leaves out.
    p, q : ndarray of float64
        Slopes along u and v, in pixels per pixel: of the depth or, with a camera, of f log d. 0 outside.
    """

    stored: np.ndarray
    axes: str
    words: tuple
    lens: Lens
    rotation: np.ndarray | None
    least_cosine: float | None
    domain: np.ndarray
    missing: int
    away: int
    mask: np.ndarray
    p: np.ndarray
    q: np.ndarray

    @classmethod
    def decoded(
        cls, normals, mask=None, camera=None, *, axes="uvz", depth=None, rotation=None, least_cosine=None,
        steepest=200.0,
    ):  # fmt: skip
        """Check and decode a normal map. Normals that are missing or face away are counted, not refused.

        Parameters
        ----------
        normals, mask, camera, axes, depth, least_cosine, steepest
            As for :func:`normint.integrate_normals`, but the axes are known.
        rotation : ndarray, optional
            As the attribute.

        Examples
        --------
        >>> seen = NormalMap.decoded(np.full((1, 2, 3), [0.6, 0.0, 0.8]), axes="xyz")
        >>> seen.q, seen.mask
        (array([[-0.75, -0.75]]), array([[ True,  True]]))
        """
        (stored, opaque), words, lens = as_normal_map(normals), directions(axes), projection(camera, depth)
        lens.check(stored.shape[:2])
        mask = None if mask is None else inputs.as_mask(mask, stored.shape[:2])
        if opaque is not None:
            mask = opaque if mask is None else inputs.as_mask(mask & opaque, stored.shape[:2])
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
            n = turned(_in_camera(decode(stored[rows]), rotation), words)
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
        return cls(stored, axes, words, lens, rotation, least, domain, missing, away, kept, p, q)

    def part(self, rows, columns):
        """Return the components in these rows and columns as stored, but decoded, and of the camera."""
        return _in_camera(decode(self.stored[np.ix_(rows, columns)]), self.rotation)

    def left_out(self):
        """Say how many pixels were left out because their normals cannot be used; None if none was."""
        counts = ((self.away, "facing away from the camera"), (self.missing, "without a normal"))
        parts = " and ".join(f"{count} {what}" for count, what in counts if count)
        total = self.missing + np.count_nonzero(self.domain)
        return f"left out {self.away + self.missing} of {total} pixels: {parts}" if parts else None

    def refuse_missing(self):
        """Raise if most pixels of the mask have no normal or, without a mask, if none has."""
        if not self.missing and not self.domain.any():
            raise ValueError("normals are NaN or zero everywhere; expected a normal somewhere")
        total = self.missing + np.count_nonzero(self.domain)
        if 2 * self.missing > total:
            raise ValueError(
                f"normals: {self.missing} of the mask's {total} pixels are NaN, infinite, zero or of a "
                "colour that is no normal; expected a mask that belongs to the normal map, or no mask"
            )

    def refuse_away(self):
        """Raise if too many normals face away, or nothing is left, saying what to do.

        Notes
        -----
        A few, at most `FEW` of them, are left out: they are noise at contours. Of most, the axes are wrong.
        Between, the surface would have large holes, and axes, a pose or a camera may be the reason: so it is
        asked for by `least_cosine`, or not done.
        """
        total = np.count_nonzero(self.domain)
        if self.away > FEW * total:
            advice = (
                f"most of them, so check the axes (axes={self.axes!r} were taken)"
                if 2 * self.away > total
                else f"check the axes (axes={self.axes!r} were taken) and the camera, give the pose= of "
                "normals in the world's axes, or leave these pixels out by least_cosine=0.01"
            )
            raise ValueError(f"normals: {self.away} of {total} pixels face away from the camera; {advice}")
        if not self.mask.any():
            raise ValueError(
                f"least_cosine is {self.least_cosine}; no normal has a cosine as large, so nothing is left"
            )


def _in_camera(vectors, rotation):
    """Return vectors of the world's axes in those of the camera; as they are without a rotation."""
    return vectors if rotation is None else vectors @ rotation


def _as_cosine(least):
    """Check the option least_cosine."""
    least = inputs.as_positive("least_cosine", least)
    if least >= 1:
        raise ValueError(f"least_cosine is {least}; expected a number between 0 and 1")
    return least
