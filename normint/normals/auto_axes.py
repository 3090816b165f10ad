"""Choose the axes that a normal map supports: its curl tells most of them apart, its contours the rest."""

from typing import NamedTuple

import numpy as np

from normint.normals.contours import raised
from normint.normals.conventions import AUTO, name_of, twin
from normint.normals.maps import FEW, turned
from normint.normals.readings import ROUNDING, contest, sample

__all__ = ["Choice", "Unsure", "choose_axes"]

SURE = 4.0  # standard errors by which axes must fit better than others: chance and rounding stay below
RAISED = 0.3  # how far the normals at contours must point to what is hidden, from −1 to 1


class Unsure(ValueError):
    """A normal map that several axes fit. It says which."""


class Choice(NamedTuple):
    """The axes that were chosen, and why.

    Attributes
    ----------
    words : tuple of str
    why : str
        One sentence with how sure it is.
    doubt : str or None
        What the user should look at.
    """

    words: tuple
    why: str
    doubt: str | None


def choose_axes(seen):
    """Choose among the conventions that people use, see :data:`normint.normals.conventions.AUTO`.

    Parameters
    ----------
    seen : NormalMap
        Decoded with any axes.

    Returns
    -------
    Choice

    Raises
    ------
    Unsure
        Names the axes that fit alike, where they give different surfaces.
    ValueError
        If many normals face away, whichever way the third component points.

    Notes
    -----
    The camera sees what faces it: that tells whether the third component points toward it. Slopes of a
    surface have no curl, which tells four pairs of axes apart, see :func:`normint.normals.readings.compare`.
    The two of a pair differ in what is raised and what is hollow. If both are in use, as "directx" and
    "dsine" are, the contours decide: where a surface passes out of sight, its normals point to what it hides,
    the background or a part behind. A cut with scissors is no contour, which its slopes tell.

    Examples
    --------
    >>> from normint import gradient_to_normals
    >>> from normint.normals.maps import NormalMap
    >>> from normint.surfaces import vase
    >>> surface = vase(96)
    >>> choice = choose_axes(NormalMap.decoded(gradient_to_normals(surface.p, surface.q), surface.mask))
    >>> choice.words
    ('down', 'right', 'toward')
    """
    part, lens = sample(seen), seen.lens
    named = _facing(seen, part)
    readings = _readings(named[0][2])
    vectors = [turned(part.vectors, words) for words in readings]
    distinct = 4 if lens.far else 8  # far away, both of a pair have the same curl
    _, curl, _, _ = contest(part, lens, vectors[:distinct])
    curl = np.tile(curl, (8 // distinct, 8 // distinct))
    votes, contour = _by_contours(vectors, part)
    against = np.maximum(np.maximum(curl, contour), (curl + contour) / 2**0.5)
    against[(curl < -SURE) | (contour < -SURE)] = 0.0  # they contradict each other: nobody wins
    place = [readings.index(words) for words in named]
    left = [k for k in place if not (against[k, place] > SURE).any()]
    strangers = [k for k in range(8) if k not in place and (curl[left, k] > SURE).all()]
    if strangers or not left:
        best = readings[strangers[0]] if strangers else named[0]
        raise Unsure(_ask(best, twin(best), "no axes in common use fit these normals"))
    first, *others = left
    if not others:
        rival = min((k for k in place if k != first), key=lambda k: against[k, first])
        by = "its curl" if curl[rival, first] >= contour[rival, first] else "its contours"
        why = f"by {by}, {against[rival, first]:.0f} standard errors before {name_of(readings[rival])}"
        if (other := (first + 4) % 8) in place and contour[other, first] > curl[other, first]:
            why += f"; raised at its contours, which {name_of(readings[other])} would make hollow"
        return Choice(readings[first], why, _hollow(readings[first], votes[first]))
    if all(_alike(vectors[first], vectors[other], part.mask) for other in others):
        return Choice(readings[first], "flat: other axes give the same surface", None)
    pair = readings[first], readings[others[0]]
    reason = "they differ in what is raised and what is hollow" if pair[1] == twin(pair[0]) else None
    raise Unsure(_ask(*pair, "the normals do not tell their axes", reason))


def _by_contours(vectors, part):
    """Compare readings by their contours.

    Returns
    -------
    votes : ndarray
        readings×pixels, as from :func:`normint.normals.contours.raised`.
    better : ndarray
        As from :func:`normint.normals.readings.contest`: by how many standard errors the second reading's
        normals point further to what is hidden, if they do point there.
    """
    votes = raised(vectors, part)
    better = np.zeros((len(votes), len(votes)))
    if votes.shape[1]:
        difference = votes[np.newaxis] - votes[:, np.newaxis]
        spread = np.sqrt(np.sum(difference**2, axis=-1))
        better = np.divide(difference.sum(axis=-1), spread, out=better, where=spread > 0)
        # Only the best of all eight, named or not: what is hollow fits some wrong axes better than others.
        mean = votes.mean(axis=1)
        points = (mean == mean.max()) & (mean >= RAISED)
        better[:, ~points] = np.minimum(better[:, ~points], 0.0)
        better[~points] = np.maximum(better[~points], 0.0)
    return votes, better


def _hollow(words, votes):
    """Return a doubt if the surface is hollow at its contours, or None."""
    if len(votes) < SURE**2 or votes.mean() > -RAISED:
        return None
    return (
        f"with axes={name_of(words)!r} the surface is hollow at its contours; if it should be raised, try "
        f"axes={name_of(twin(words))!r}"
    )


def _facing(seen, part):
    """Return the conventions whose third component turns nearly all normals to the camera."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        shares = {}
        for text in AUTO:
            cosine = seen.lens.facing(turned(part.vectors, tuple(text.split())), **part.pixels)
            shares[tuple(text.split())] = np.mean(cosine[part.mask] > 0)
    most = max(shares.values())
    if 1 - most > FEW and seen.least_cosine is None:
        raise ValueError(
            f"normals: {_percent(1 - most)} of them face away from the camera with any axes in common use; "
            "give the pose= of the camera if they are in the world's axes, the axes= if you know them, or "
            "leave these pixels out by least_cosine=0.01"
        )
    z = next(words for words, share in shares.items() if share == most)[2]
    return [words for words in shares if words[2] == z]


def _readings(z):
    """Return axes of all kinds of curl, named or not, and then those with both turned over."""
    first = [("right", "up", z), ("right", "down", z), ("down", "right", z), ("down", "left", z)]
    return first + [twin(words) for words in first]


def _alike(one, other, mask):
    """Tell whether two readings are the same but for rounding, so that the surface is, too."""
    difference = np.einsum("...k,...k", one - other, one - other)[mask]
    size = np.einsum("...k,...k", one, one)[mask]
    return bool(np.mean(difference / size) <= 4 * ROUNDING**2)


def _ask(first, second, what, reason=None):
    """Return the question that only the user can answer."""
    return (
        f"{what}: axes={name_of(first)!r} ({' '.join(first)}) and axes={name_of(second)!r} "
        f"({' '.join(second)}) fit alike{f', and {reason}' if reason else ''}; choose one of them"
    )


def _percent(share):
    return f"{100 * share:.0f} %"
