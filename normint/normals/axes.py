"""Where the components of a normal point: conventions, and a check that tells a wrong one."""

from itertools import product
from typing import NamedTuple

import numpy as np

from normint.normals.conventions import AXES, DIRECTIONS, OPPOSITE, name_of
from normint.normals.maps import NormalMap, turned
from normint.normals.readings import contest, sample

__all__ = ["AXES", "Candidate", "axes_warning", "compare_axes", "guess_axes"]

SURE = 5.0  # standard errors by which other axes must fit better: chance and rounding stay below 4
CURL = 0.2  # nor are axes doubted with a smaller relative curl: blur or a camera's errors can cause it
FEWEST = 200  # pixels: of fewer, chance would decide


class Candidate(NamedTuple):
    """Axes that a normal map may have, and what speaks for or against them.

    Attributes
    ----------
    words : tuple of str
    curl : float
        The relative curl that the slopes then have, around the loops that tell most.
    outward : float
        How far the normals at the mask's edge point out of it: 1, away from the inside; −1, into it.
    worse : float
        By how many standard errors the first candidate fits better: sure from `SURE` on; 0, not at all.
    """

    words: tuple
    curl: float
    outward: float
    worse: float


def compare_axes(seen):
    """Measure how well the axes of a `NormalMap` fit, and the same with components turned over or swapped.

    Returns
    -------
    found : list of Candidate
        First the given axes or, if they surely fit better, others. Where most normals face away from the
        camera, z is turned over in all candidates. Empty where the domain has no four pixels in a square.
    away : bool
        Whether most normals face away.
    pixels : int
        How many were looked at.

    Notes
    -----
    The curl is compared by :func:`normint.normals.readings.contest`. Of the eight, each two have the same
    one: the surface is raised in one and hollow in the other, and the contour orders them, see
    :func:`guess_axes`. A near camera may tell these two apart as well. Some shapes fit more than two: f(u) +
    g(v) also with one component turned over, uv also with both swapped.

    Examples
    --------
    >>> from normint import gradient_to_normals
    >>> u, v = np.indices((32, 32)) / 16
    >>> found, _, _ = compare_axes(NormalMap.decoded(gradient_to_normals(v, u)))
    >>> [(" ".join(one.words), round(one.worse)) for one in found[::2]]
    [('down right toward', 0), ('right down toward', 0), ('right up toward', 0), ('up right toward', 27)]
    """
    lens, words, part = seen.lens, seen.words, sample(seen)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        away = bool(np.median(lens.facing(turned(part.vectors, words), **part.pixels)[part.mask]) < 0)
        readings = {one: turned(part.vectors, one) for one in _candidates(words, away)}
    # Far away, the second four have the slopes of the first with the other sign, and the same curl.
    told = list(readings.values())[: 4 if lens.far else 8]
    curl, better, loudest, inside = contest(part, lens, told)
    pixels, found = np.count_nonzero(part.mask), []
    if not len(curl):
        return found, away, pixels
    best, size = _best(better, loudest)
    for k, (one, n) in enumerate(readings.items()):
        j = k % len(told)
        found.append(Candidate(one, float(curl[size, j]), _outward(n, inside), float(better[j, best])))
    return _in_order(found, best, words), away, pixels


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
        From axes to the relative curl that the slopes then have (see :func:`normint.curl.relative_curl`).
        First the given axes or, if they surely fit better, others; then the smallest first. Of equal ones,
        the given axes come first and then those that fit the contour better.

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
    seen = NormalMap.decoded(normals, mask, camera, axes=axes)
    if not seen.domain.any():
        seen.refuse_missing()
    return {name_of(one.words): one.curl for one in compare_axes(seen)[0]}


def axes_warning(seen):
    """Say in one sentence which axes a normal map seems to have, if not the given ones.

    Parameters
    ----------
    seen : NormalMap

    Returns
    -------
    str or None
        None where there is no reason to doubt: where the given axes have little curl, or where no others
        surely fit better, see :func:`compare_axes`. If some fit as well as those named, so are they.

    Examples
    --------
    >>> from normint import gradient_to_normals
    >>> from normint.surfaces import vase
    >>> surface = vase(128)
    >>> normals = gradient_to_normals(surface.p, surface.q)
    >>> axes_warning(NormalMap.decoded(normals, surface.mask)) is None
    True
    >>> print(axes_warning(NormalMap.decoded(normals[..., [1, 0, 2]], surface.mask)))
    the normals look as if they had other axes: relative curl 0.65 with axes='uvz', 0.04 with axes='directx'
    """
    words, axes, (candidates, away, pixels) = seen.words, seen.axes, compare_axes(seen)
    if not candidates or pixels < FEWEST:
        return None
    best = candidates[0]
    also = "".join(f" or axes={name_of(one.words)!r}" for one in candidates[2::2] if one.worse <= SURE)
    if away:
        return (
            f"most normals face away from the camera with axes={axes!r}; "
            f"axes={name_of(best.words)!r}{also} would turn them"
        )
    given = next(one for one in candidates if one.words == words)
    if given.worse <= SURE or given.curl < CURL:
        return None
    return (
        "the normals look as if they had other axes: relative curl "
        f"{given.curl:.2f} with axes={axes!r}, {best.curl:.2f} with axes={name_of(best.words)!r}{also}"
    )


def _candidates(words, away):
    """Return all ways to turn the components along the image over and to swap them.

    The first four differ in their curl. The second four are the same with both components turned over.
    """
    places = [k for k, word in enumerate(words) if DIRECTIONS[word][0] < 2]
    deep = 3 - sum(places)
    for both, swap, one in product((False, True), repeat=3):
        new = list(words)
        first, second = (words[k] for k in (reversed(places) if swap else places))
        for k, word, flip in zip(places, (first, second), (both, both != one), strict=True):
            new[k] = OPPOSITE[word] if flip else word
        if away:
            new[deep] = OPPOSITE[words[deep]]
        yield tuple(new)


def _best(better, loudest):
    """Return which reading fits best: the first, the given one, unless another surely does; and the loops.

    The loops are those that tell most about the given one; if that is the best, about any other.
    """
    # Of a reading, its hardest contest decides; the first of equal ones wins.
    contests = np.where(np.eye(len(better), dtype=bool), np.inf, better)
    best = int(np.argmax(contests.min(axis=0)))
    if better[0, best] > SURE:
        return best, loudest[0, best]
    return 0, loudest[1 + int(np.argmax(better[1:, 0])), 0]


def _in_order(found, best, words):
    """Sort candidates: the best and its twin first; of a hollow and a raised one, the given or likelier."""

    def order(k):
        one, twin = found[k], found[(k + 4) % 8]
        curl = round(0.5 * (one.curl + twin.curl), 6)
        pair = (k % 4 != best % 4, min(one.worse, twin.worse) > SURE, curl, k % 4)
        changed = [DIRECTIONS[a][0] for a, b in zip(words, one.words, strict=True) if a != b]
        return *pair, one.worse > SURE, bool(changed), -one.outward, len(changed), changed

    return [found[k] for k in sorted(range(8), key=order)]


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
