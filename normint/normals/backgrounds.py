"""Backgrounds of normal maps that come without a mask: a colour along the border of the image."""

import re
from typing import NamedTuple

import numpy as np
import scipy.ndimage

__all__ = ["COLOURS", "Background", "as_background", "find_background"]

# Parts of the largest value, as red, green and blue. All but the last stand for no unit vector.
COLOURS = {
    "black": (0.0, 0.0, 0.0),
    "grey": (0.5, 0.5, 0.5),
    "white": (1.0, 1.0, 1.0),
    "flat": (0.5, 0.5, 1.0),
}
UNIFORM = 0.5  # of the pixels at the border: the object may touch it
NEAR = 3.5 / 255  # how near a colour must be: 127 and 128 are both a half, and JPEG changes some


class Background(NamedTuple):
    """A background, and whether it may as well be a part of the surface."""

    name: str  # of its colour
    pixels: np.ndarray  # rows×columns: those of that colour, joined to the border if it may be a normal
    certain: bool  # no normal has that colour


def as_background(background):
    """Return the colour that an option names as parts of the largest value; None for "auto" and "none".

    Parameters
    ----------
    background : str or sequence of int
        "auto", "none", a name of `COLOURS`, or red, green and blue from 0 to 255: three numbers,
        "128,128,255" or "#8080ff".

    Examples
    --------
    >>> as_background("White"), as_background("255,0,0"), as_background("auto")
    ((1.0, 1.0, 1.0), (1.0, 0.0, 0.0), None)
    """
    text = background.strip().lower() if isinstance(background, str) else background
    text = {"gray": "grey"}.get(text, text) if isinstance(text, str) else text
    if isinstance(text, str) and text in ("auto", "none"):
        return None
    if isinstance(text, str) and text in COLOURS:
        return COLOURS[text]
    try:
        if isinstance(text, str):
            code = re.fullmatch("#([0-9a-f]{6})", text)
            text = bytes.fromhex(code[1]) if code else text.replace(",", " ").split()
        values = tuple(float(value) / 255 for value in text)
    except (TypeError, ValueError):
        values = ()
    if len(values) != 3 or not all(0 <= value <= 1 for value in values):
        raise ValueError(
            f"background is {background!r}; expected auto, none, {', '.join(COLOURS)}, or red, green and "
            "blue from 0 to 255 such as '128,128,255'"
        )
    return values


def find_background(stored, background="auto"):
    """Find the background of a normal map.

    Parameters
    ----------
    stored : ndarray
        As from :func:`normint.normals.arrays.as_normal_map`.
    background : str or sequence of int
        As for :func:`as_background`.

    Returns
    -------
    Background or None
        With "auto" a colour of `COLOURS` that at least half of the border has; None if there is none. A
        colour that is given must be at the border.

    Examples
    --------
    >>> picture = np.full((4, 4, 3), 255, dtype=np.uint8)
    >>> picture[1:3, 1:3] = [128, 128, 255]
    >>> found = find_background(picture)
    >>> found.name, int(found.pixels.sum()), found.certain
    ('white', 12, True)
    """
    given = as_background(background)
    if given is None and str(background).strip().lower() == "none":
        return None
    border = np.concatenate([stored[0], stored[-1], stored[1:-1, 0], stored[1:-1, -1]])
    if given is not None:
        name = next((name for name, colour in COLOURS.items() if colour == given), f"{background}")
        if not _like(border, given).any():
            raise ValueError(
                f"background is {background!r}; no pixel at the border of the normal map has that colour"
            )
        return _background(stored, name, given)
    for name, colour in COLOURS.items():
        if name == "grey" and stored.dtype.kind == "f":  # the vector 0, which means no normal
            continue
        alike = border[_like(border, colour)]
        if name == "flat" and len(alike):  # a surface may be nearly flat there, but hardly to the last bit
            alike = alike[(alike == np.median(alike, axis=0)).all(axis=1)]
        if len(alike) >= UNIFORM * len(border):
            found = _background(stored, name, colour)
            return None if found.pixels.all() else found
    return None


def _background(stored, name, colour):
    pixels, certain = _like(stored, colour), name in COLOURS and name != "flat"
    if not certain:  # a normal may have this colour: only what is joined to the border is background
        labels, _ = scipy.ndimage.label(pixels)
        edge = np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])
        pixels = np.isin(labels, edge[edge > 0])
    return Background(name, pixels, certain)


def _like(stored, colour):
    """Tell which pixels have a colour; a flat one also with its third component turned over."""
    largest = np.iinfo(stored.dtype).max if stored.dtype.kind == "u" else None
    alike = np.ones(stored.shape[:-1], bool)
    for k, part in enumerate(colour):
        values = stored[..., k] / largest if largest else 0.5 * (stored[..., k] + 1)
        with np.errstate(invalid="ignore"):
            near = np.abs(values - part) <= NEAR
            if k == 2 and colour == COLOURS["flat"]:
                near |= np.abs(values) <= NEAR
        alike &= near
    return alike
