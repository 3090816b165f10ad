"""Take a normal map as it comes: find its background and its axes, and say what was decided and left out."""

from typing import NamedTuple

import numpy as np

from normint import inputs
from normint.normals.arrays import as_array, as_normal_map
from normint.normals.auto_axes import choose_axes
from normint.normals.backgrounds import as_background, find_background
from normint.normals.conventions import directions, name_of
from normint.normals.maps import NormalMap
from normint.normals.pose import rotation_of

__all__ = ["Taken", "is_auto", "take"]


class Taken(NamedTuple):
    """A normal map that was taken, and what the user should know about it.

    Attributes
    ----------
    seen : NormalMap
    because : str or None
        Why its axes were chosen, and how sure that is; None if they were given.
    warnings : list of str
    """

    seen: NormalMap
    because: str | None
    warnings: list


def is_auto(axes):
    """Tell whether the axes are to be chosen."""
    return isinstance(axes, str) and axes.strip().lower() == "auto"


def take(normals, mask=None, camera=None, *, axes="auto", background="auto", pose=None, **limits):
    """Decode a normal map whose axes and background need not be known.

    Parameters
    ----------
    normals, mask, camera, axes, background, pose
        As for :func:`normint.integrate_normals`.
    **limits
        Its `depth`, `least_cosine` and `steepest`.

    Returns
    -------
    Taken
        Normals that face away, or are missing, may be any number: see :meth:`NormalMap.refuse_away`.

    Examples
    --------
    >>> from normint import gradient_to_normals
    >>> from normint.surfaces import vase
    >>> surface = vase(96)
    >>> p, q = surface.p, surface.q
    >>> taken = take(gradient_to_normals(q, -p), surface.mask)  # along right, up, toward
    >>> taken.seen.axes, taken.because
    ('xyz', 'by its curl, 25 standard errors before directx')
    """
    if not is_auto(axes):
        directions(axes)
    rotation = None if pose is None else rotation_of(as_array("pose", pose))
    as_background(background)
    stored, opaque = as_normal_map(normals)
    inside = None if mask is None else inputs.as_mask(as_array("mask", mask), stored.shape[:2])
    if opaque is not None:
        inside = opaque if inside is None else inside & opaque
    inside, warnings = _without_background(stored, inside, background, rotation is not None)
    if inside is not None and not inside.any():
        raise ValueError("mask, alpha and background leave no pixel; expected some inside")
    decoded = {"mask": inside, "camera": camera, "rotation": rotation, **limits}
    if not is_auto(axes):
        return Taken(NormalMap.decoded(stored, axes=axes, **decoded), None, warnings)
    seen = NormalMap.decoded(stored, axes="xyz", **decoded)
    seen.refuse_missing()
    choice = choose_axes(seen)
    if choice.words != seen.words:
        seen = NormalMap.decoded(stored, axes=name_of(choice.words), **decoded)
    return Taken(seen, choice.why, warnings + ([choice.doubt] if choice.doubt else []))


def _without_background(stored, inside, background, in_world):
    """Return the pixels inside without the background, or None for all; and what to say about it."""
    given = as_background(background) is not None
    if inside is not None and not given:
        return inside, []
    found = find_background(stored, background)
    if found is None:
        return inside, []
    share = f"{100 * np.mean(found.pixels):.0f} %"
    if not given and not found.certain:
        text = (
            f"the border of the normal map, {share} of its pixels, is flat, of colour (128, 128, 255), and "
            "was integrated; if it is background, background='flat' leaves it out"
        )
        return inside, [] if in_world else [text]
    text = (
        f"the border of the normal map is {found.name}: {share} of the pixels were left out as background; "
        f"background={found.name!r} confirms that, and a mask= says better what is inside"
    )
    # Where no normal has that colour, decoding has left it out, and all else without a normal, too.
    if not (found.certain and stored.dtype.kind == "u"):
        inside = ~found.pixels if inside is None else inside & ~found.pixels
    return inside, [] if given else [text]
