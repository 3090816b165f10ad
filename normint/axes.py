"""Where the components of a normal point: conventions, and a check that tells a wrong one."""

from itertools import product

import numpy as np

from normint import inputs
from normint.boxes import bounding_box
from normint.camera import camera_of_part, projection
from normint.curl import relative_curl
from normint.normal_maps import as_normal_map, decode, where_normals

__all__ = ["AXES", "axes_warning", "guess_axes", "to_uvz"]

# The directions, seen by the camera, of the first, second and third component.
AXES = {
    "uvz": "down right toward",  # this package
    "xyz": "right up toward",  # OpenGL; DiLiGenT, most normal maps in image files
    "directx": "right down toward",  # normal maps of games: the green channel turned over
    "opencv": "right down away",  # the coordinates of OpenCV's cameras
}

# From a direction to its axis among u, v, z and its sign.
_DIRECTIONS = {"down": (0, 1), "up": (0, -1), "right": (1, 1), "left": (1, -1)}
_DIRECTIONS |= {"toward": (2, 1), "away": (2, -1)}
_OPPOSITE = {"down": "up", "right": "left", "toward": "away"}
_OPPOSITE |= {b: a for a, b in _OPPOSITE.items()}

SAMPLES = 400  # rows and columns looked at, at most: enough to tell axes, and quick for any image
CURL = 0.25  # fields whose relative curl is smaller are not doubted
BETTER = 0.75  # nor are those that no other axes bring below this part of their curl
FEWEST = 200  # pixels: of fewer, chance would decide


def directions(axes):
    """Return the words of axes given by name or by words.

    Examples
    --------
    >>> directions("xyz")
    ('right', 'up', 'toward')
    """
    words = tuple(AXES.get(axes, axes).split()) if isinstance(axes, str) else ()
    known = [_DIRECTIONS[word][0] for word in words if word in _DIRECTIONS]
    if len(words) != 3 or sorted(known) != [0, 1, 2]:
        raise ValueError(
            f"axes is {axes!r}; expected one of {', '.join(AXES)}, or three words such as 'right up toward'"
        )
    return words


def to_uvz(axes):
    """Return a function that turns a part of a normal map into float64 vectors along u, v and z.

    Parameters
    ----------
    axes : str
        A name of `AXES`, or three words: down or up, right or left, toward (the camera) or away, each
        pair once and in the order of the components.

    Examples
    --------
    >>> to_uvz("xyz")(np.array([[[1.0, 2.0, 3.0]]]))
    array([[[-2.,  1.,  3.]]])
    >>> to_uvz("yes")
    Traceback (most recent call last):
    ...
    ValueError: axes is 'yes'; expected one of uvz, xyz, ..., or three words such as 'right up toward'
    """
    places = [_DIRECTIONS[word] for word in directions(axes)]

    def turn(normals):
        vectors = decode(normals)
        if all(place == (k, 1) for k, place in enumerate(places)):
            return vectors
        turned = np.empty(vectors.shape)
        for k, (axis, sign) in enumerate(places):
            np.multiply(vectors[..., k], sign, out=turned[..., axis])
        return turned

    return turn


def guess_axes(normals, mask=None, camera=None, axes="uvz"):
    """Measure how well other axes fit a normal map: the same with components turned over or swapped.

    Parameters
    ----------
    normals, mask, camera
        As for :func:`normint.integrate_normals`.
    axes : str
        Those that are to be compared with others.

    Returns
    -------
    dict
        From axes to the relative curl that the slopes then have (see :func:`normint.curl.relative_curl`),
        the smallest first; of equal ones, the given axes first and then those that fit the contour better.

    Notes
    -----
    Slopes of a surface have no curl. Turning one component over, or swapping two, gives them one. Turning
    both over gives none: it makes the surface hollow where it was raised. There the contour tells: at the
    edge of a silhouette, normals point outwards. With a mask that fills the image, nothing does, and the
    vertical component is taken to be the wrong one, as it is most often.

    Examples
    --------
    >>> from normint import gradient_to_normals
    >>> from normint.surfaces import vase
    >>> surface = vase(128)
    >>> normals = gradient_to_normals(-surface.p, surface.q)  # with u turned over: along up, right, toward
    >>> list(guess_axes(normals, surface.mask))[0]
    'up right toward'
    """
    normals = as_normal_map(normals)
    mask = where_normals(normals) if mask is None else inputs.as_mask(mask, normals.shape[:2])
    normals, mask, camera = _thinned(normals, mask, camera)
    lens, words = projection(camera), directions(axes)
    found = {}
    for candidate in _candidates(words, _mostly_away(normals, mask, lens, words)):
        n = to_uvz(" ".join(candidate))(normals)
        with np.errstate(invalid="ignore", divide="ignore"):
            # Grazing normals have slopes of any size: few, but they would decide.
            inside = mask & (lens.facing(n) > 0.1)
            p, q = lens.slopes(n)
        try:
            curl = relative_curl(p, q, inside)
        except ValueError:  # too few pixels to go around
            continue
        found[candidate] = curl, _outward(n, inside)
    return {_name(candidate): found[candidate][0] for candidate in _in_order(found, words)}


def axes_warning(normals, mask, axes, camera):
    """Say in one sentence which axes a normal map seems to have, if not the given ones.

    Parameters
    ----------
    normals, mask, axes, camera
        As for :func:`normint.integrate_normals`.

    Returns
    -------
    str or None
        None where there is no reason to doubt: where the given axes have little curl, or where others have
        not much less, as with noise.

    Examples
    --------
    >>> from normint import gradient_to_normals
    >>> from normint.surfaces import vase
    >>> surface = vase(128)
    >>> normals = gradient_to_normals(surface.p, surface.q)
    >>> axes_warning(normals, surface.mask, "uvz", None) is None
    True
    >>> print(axes_warning(normals[..., [1, 0, 2]], surface.mask, "uvz", None))
    the normals look as if they had other axes: relative curl 0.65 with axes='uvz', 0.08 with axes='directx'
    """
    normals = as_normal_map(normals)
    mask = where_normals(normals) if mask is None else inputs.as_mask(mask, normals.shape[:2])
    thin, thin_mask, thin_camera = _thinned(normals, mask, camera)
    words, curls = directions(axes), guess_axes(normals, mask, camera, axes)
    if not curls or np.count_nonzero(thin_mask) < FEWEST:
        return None
    best, least = next(iter(curls.items()))
    if _mostly_away(thin, thin_mask, projection(thin_camera), words):
        return f"most normals face away from the camera with axes={axes!r}; axes={best!r} would turn them"
    given = curls.get(_name(words), 0.0)
    if given < CURL or least > BETTER * given:
        return None
    return (
        "the normals look as if they had other axes: "
        f"relative curl {given:.2f} with axes={axes!r}, {least:.2f} with axes={best!r}"
    )


def _candidates(words, away):
    """Return all ways to turn the components along the image over and to swap them."""
    places = [k for k, word in enumerate(words) if _DIRECTIONS[word][0] < 2]
    deep = 3 - sum(places)
    for swap, *flips in product((False, True), repeat=3):
        new = list(words)
        first, second = (words[k] for k in (reversed(places) if swap else places))
        for k, word, flip in zip(places, (first, second), flips, strict=True):
            new[k] = _OPPOSITE[word] if flip else word
        if away:
            new[deep] = _OPPOSITE[words[deep]]
        yield tuple(new)


def _in_order(found, words):
    """Sort candidates by their curl; of a hollow and a raised reading, the given or likelier first."""

    def order(candidate):
        other = tuple(_OPPOSITE[word] if _DIRECTIONS[word][0] < 2 else word for word in candidate)
        # Under perspective, the two differ by next to nothing, which must not decide.
        curl = np.mean([found[one][0] for one in (candidate, other) if one in found])
        changed = [_DIRECTIONS[old][0] for old, new in zip(words, candidate, strict=True) if old != new]
        return round(curl, 6), bool(changed), -found[candidate][1], len(changed), changed

    return sorted(found, key=order)


def _name(words):
    text = " ".join(words)
    return next((name for name, known in AXES.items() if known == text), text)


def _mostly_away(normals, mask, lens, words):
    with np.errstate(invalid="ignore", divide="ignore"):
        return bool(np.median(lens.facing(to_uvz(" ".join(words))(normals))[mask]) < 0)


def _outward(normals, mask):
    """Return how far the normals at the mask's edge point out of it: 1, away from the inside; −1, into it."""
    steps, total, count = ((1, 0, 0), (-1, 0, 0), (1, 1, 1), (-1, 1, 1)), 0.0, 0
    for sign, axis, component in steps:
        beside = np.zeros(mask.shape, bool)
        here, there = [np.s_[:]] * 2, [np.s_[:]] * 2
        here[axis], there[axis] = (np.s_[:-1], np.s_[1:]) if sign > 0 else (np.s_[1:], np.s_[:-1])
        beside[tuple(here)] = mask[tuple(here)] & ~mask[tuple(there)]
        total += np.sum(sign * normals[beside, component] / np.linalg.norm(normals[beside], axis=-1))
        count += np.count_nonzero(beside)
    return round(float(total / count), 3) if count else 0.0


def _thinned(normals, mask, camera):
    """Keep the part with the object, and of its rows and columns every k-th where there are many."""
    projection(camera)  # refuses what is none
    rows, columns = box = bounding_box(mask)
    k = max(1, min(mask[box].shape) // SAMPLES)
    camera = camera_of_part(camera, rows.start, columns.start, k)
    return normals[box][::k, ::k], mask[box][::k, ::k], camera
