"""How well different readings of one normal map fit: the circulation of their slopes tells.

A reading says which component points where, and so what the slopes are. Slopes of a surface add up to zero
around any loop. Those of a wrong reading do not, and neither do those of a right one with noise, rounding,
discontinuities or contours. What tells them apart is a comparison around the same loops.
"""

from typing import NamedTuple

import numpy as np

from normint.curl import curl_of_squares
from normint.domain import bounding_box

__all__ = ["Sample", "compare", "contest", "sample"]

SAMPLES = 400  # rows and columns looked at, at most: enough to tell, and quick for any image
TILE = 32  # neighbouring rows and columns that are looked at together; also the largest loop
LEAST_COSINE = 0.1  # grazing normals have slopes of any size
ROUNDING = 1 / 255  # an error of normals that is not doubted: what 8 bits make of them
BETTER = 0.5  # a reading is clearly better with less than this part of the other's mean squared circulation
LARGEST = 0.75  # circulations above this quantile count as if they were there


class Sample(NamedTuple):
    """A part of a normal map that is enough to compare readings."""

    vectors: np.ndarray  # components as they are stored, decoded
    mask: np.ndarray
    pixels: dict  # the rows and columns, as a lens takes them
    joined: np.ndarray  # which squares of four pixels are squares in the image: not those across a gap


def sample(seen):
    """Take the part of a `NormalMap` with the object or, where it is large, tiles of neighbours all over it.

    Every k-th row and column would be simpler. But what is finer than 2k pixels then looks like something
    else, whose slopes have a curl.
    """
    rows, columns = (_lines(part) for part in bounding_box(seen.domain))
    joined = (np.diff(rows) == 1)[:, np.newaxis] & (np.diff(columns) == 1)
    pixels = {"rows": rows[:, np.newaxis], "columns": columns}
    return Sample(seen.part(rows, columns), seen.domain[np.ix_(rows, columns)], pixels, joined)


def contest(part, lens, readings):
    """Let readings of a sample compete.

    Parameters
    ----------
    part : Sample
    lens : Orthographic or Perspective
    readings : list of ndarray
        The sample's vectors along u, v and z, as each reading has them.

    Returns
    -------
    curl : ndarray
        As from :func:`compare`; empty where there is no square to look at.
    better : ndarray
        readings×readings: by how many standard errors the second axis' reading fits better than the first
        axis', around the loops that say most about the two.
    loudest : ndarray
        readings×readings: which loops these are.
    inside : ndarray of bool
        The pixels looked at: those that no reading sees at a grazing angle.
    """
    told = np.stack(readings)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        inside = part.mask & np.all(lens.facing(told, **part.pixels) > LEAST_COSINE, axis=0)
        noise = lens.variance(told, **part.pixels)
        curl, gain = compare(*lens.slopes(told, **part.pixels), noise, inside, part.joined)
    if not len(curl):
        nothing = np.zeros((len(told), len(told)))
        return curl, nothing, nothing.astype(int), inside
    loudest = np.argmax(np.abs(gain), axis=0)
    return curl, np.take_along_axis(gain, loudest[np.newaxis], axis=0)[0], loudest, inside


def compare(p, q, variance, inside, joined):
    """Compare readings of a normal map by the circulation of their slopes.

    Parameters
    ----------
    p, q, variance : ndarray
        readings×rows×columns: slopes, and the variance that noise of variance 1 in the normals has in them.
    inside, joined : ndarray of bool
        The pixels and the squares to look at: the same for all readings.

    Returns
    -------
    curl : ndarray
        sizes of loops × readings: the relative curl, as by :func:`normint.curl.relative_curl` for the
        smallest. But all readings are divided by the same, the largest Σ(|∂p/∂v| + |∂q/∂u|) of them.
    gain : ndarray
        sizes×readings×readings: by how many standard errors the third axis' reading fits better than the
        second axis'; 0 where neither is clearly better. Nothing of both where there is no square.

    Notes
    -----
    The circulation around a square of four pixels is ∂p/∂v − ∂q/∂u. Around a larger loop it is the sum of
    those of the squares in it. That grows with the area of the loop, but noise, kinks and what sampling makes
    of a curve only with its boundary. So loops of 1, 2, 4, … pixels are tried, and the most telling counts.

    A squared circulation is divided by the variance that noise of the normals would give it. Noise then is
    alike for all readings, with any camera. Of slopes that are sampled finely enough, the right reading
    has the least mean square: with a wave of frequencies 2a and 2b along u and v, all below π, it is
    proportional to (a cot a − b cot b)², and (a cot a + b cot b)², (a cot b ± b cot a)² for the others, which
    are larger. Elsewhere, at contours and jumps, circulations are large by chance, and are capped.

    The differences between two readings have a mean and, from their own squares, a standard error. What is
    not much larger comes from noise, or from a shape that both readings fit. A mean square that rounding
    explains is not compared.
    """
    found = []
    for reading in zip(p, q, variance, strict=True):
        *turns, square = curl_of_squares(*reading[:2], inside)
        square &= joined
        found.append([np.where(square, values, 0.0) for values in (*turns, _of_squares(reading[2]))])
    if not square.any():
        return np.zeros((0, len(p))), np.zeros((0, len(p), len(p)))
    sums, count, found = np.stack(found, axis=1), square, []
    for _ in range(TILE.bit_length()):
        found.append(_compare_loops(*sums[:, :, count > 0]))
        sums, count = _fourfold(sums), _fourfold(count)
    curl, gain = zip(*found, strict=True)
    return np.array(curl), np.array(gain)


def _compare_loops(across, along, variance):
    """Return the relative curl of each reading, and how much better each fits than each other."""
    total = np.sum(np.abs(across) + np.abs(along), axis=1).max()
    curl = np.sum(np.abs(across - along), axis=1) / (total or 1.0)
    squares = (across - along) ** 2 / variance
    gain = np.zeros((len(squares), len(squares)))
    size, count = squares.mean(axis=0), squares.shape[1]
    heard = size > ROUNDING**2  # a flat background says nothing about a small object
    if not heard.any():
        return curl, gain
    squares, size = squares[:, heard], size[heard]
    squares *= np.minimum(1.0, np.quantile(size, LARGEST) / size)
    mean = squares.sum(axis=1) / count  # of all loops: rounding alone is heard here and there
    for one in range(len(mean)):
        for other in range(len(mean)):
            if mean[other] < BETTER * mean[one] and mean[one] > ROUNDING**2:
                difference = squares[one] - squares[other]
                gain[one, other] = difference.sum() / np.sqrt(np.sum(difference**2))
                gain[other, one] = -gain[one, other]
    return curl, gain


def _lines(part):
    """Return which rows (or columns) of a slice to look at: all, or groups of neighbours."""
    if part.stop - part.start <= SAMPLES:
        return np.arange(part.start, part.stop)
    first = np.linspace(part.start, part.stop - TILE, SAMPLES // TILE).astype(int)
    return (first[:, np.newaxis] + np.arange(TILE)).ravel()


def _of_squares(variance):
    """Return the variance of the circulation around squares: a quarter of the sum of their corners'."""
    with np.errstate(invalid="ignore"):
        return 0.25 * (variance[:-1, :-1] + variance[1:, :-1] + variance[:-1, 1:] + variance[1:, 1:])


def _fourfold(values):
    """Add up the values of two by two loops."""
    rows, columns = values.shape[-2:]
    values = np.pad(values, [(0, 0)] * (values.ndim - 2) + [(0, rows % 2), (0, columns % 2)])
    halves = values[..., ::2, :].astype(np.float64) + values[..., 1::2, :]
    return halves[..., ::2] + halves[..., 1::2]
