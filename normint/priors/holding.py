"""Hold an integrated normal map by what else is known: a depth map in units, or a few points.

The weight λ is chosen for the user, and a depth map that is coarser than it looks is read as what it is.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import label, map_coordinates

from normint import inputs
from normint.integration import integrate
from normint.normals.maps import NormalMap
from normint.priors.depth_sensor import block_means, refined
from normint.priors.weights import Choice, choose_weight, known_values

__all__ = ["EXACT", "Held", "disagreement", "hold", "resolution"]

EXACT = 100.0  # λ of a point that is taken as exact: the surface is within a few per cent of a pixel there
ON_A_GRID = 0.95  # part of a prior's steps that lie on the edges of blocks, if it has blocks
LARGEST = 32  # pixels: side of the largest blocks that are looked for
LACKING = 0.5  # of the normals' detail; with less, a prior is too coarse for its pixels
CALM = 0.9  # quantile of the curvatures that count: the others are jumps


class Held(NamedTuple):
    """What :func:`normint.integrate_normals` takes as a prior, and how it came about."""

    prior: NDArray[np.float64]  # a depth, NaN where there is none
    weight: NDArray[np.float64]  # λ of each pixel
    size: int  # side of the blocks of pixels that share a value of the prior
    choice: Choice | None  # of λ; None if it was given, or if there are points only
    outside: int  # points that are not in the mask: left out
    pieces: int  # connected pieces that nothing holds
    distance: float | None  # the median depth of what is known, with a camera: where free pieces may go


def hold(
    seen: NormalMap, prior: ArrayLike | None = None, *, rng: np.random.Generator,
    weight: float | None = None, confidence: ArrayLike | None = None, size: int | None = None,
    points: ArrayLike | None = None, points_weight: float = EXACT, jumps: bool = False,
) -> Held:  # fmt: skip
    """Prepare a depth map and control points for the integration of a normal map.

    Parameters
    ----------
    seen : NormalMap
    prior : array_like, optional
        A depth in the units of the result, measured as the camera measures; NaN where unknown. It may have
        one value for each block of `size`×`size` pixels.
    rng : numpy.random.Generator
        For the choice of λ.
    weight : float, optional
        λ; by default it is chosen by :func:`normint.priors.choose_weight`.
    confidence : array_like, optional
        From 0 to 1: λ is multiplied by it.
    size : int, optional
        Side of the blocks of pixels that share a value; by default what :func:`resolution` finds, or 1 if λ
        is given.
    points : array_like, optional
        n×3 or n×4: row, column, depth and, if there is one, a weight. Rows and columns may be fractions: the
        depth is moved to the nearest pixel along the slope there, which is exact for a plane. Where there
        are several in a pixel, their mean counts. Where there is a point, the prior does not count.
    points_weight : float
        λ of a point of weight 1: by default that of an exact one.
    jumps : bool
        Whether the method gives up slopes where the surface jumps, as "calibrated" does. What is left of
        their errors then is noise, and λ is the `noise_weight` of the choice. Least squares needs more, since
        it carries every jump on to the whole surface.

    Returns
    -------
    Held

    Examples
    --------
    A tilted wall 2 metres away, of which one point is known:

    >>> normals = np.full((4, 6, 3), [0.6, 0.0, 0.8])
    >>> seen = NormalMap.decoded(normals, camera=[[90, 0, 2], [0, 90, 2], [0, 0, 1]])
    >>> held = hold(seen, points=[[1, 2, 2.0]], rng=np.random.default_rng(0))
    >>> from normint.normals.integrate_normals import integrate_map
    >>> integrate_map(seen, prior=held.prior, prior_weight=held.weight).depth[1].round(3)
    array([2., 2., 2., 2., 2., 2.])
    """
    if prior is None and points is None:
        raise ValueError("prior and points are missing; expected one of them")
    lens: Any = seen.lens
    shape, mask = seen.mask.shape, seen.mask
    known, weights, choice, outside = np.full(shape, np.nan), np.zeros(shape), None, 0
    if prior is not None:
        known, weights, size, choice = _held_by_map(seen, prior, weight, confidence, size, rng, jumps)
    if points is not None:
        at_points, of_points, outside = _held_by_points(seen, points, points_weight)
        known, weights = (
            np.where(of_points > 0, *both) for both in ((at_points, known), (of_points, weights))
        )
    pieces, count = label(mask)
    free = count - len(np.unique(pieces[mask & (weights > 0)]))
    depth = lens.depth(known / lens.unit)
    distance = None if lens.far else float(np.median(depth[weights > 0]))
    return Held(depth, weights, size or 1, choice, outside, free, distance)


def disagreement(seen: NormalMap, held: Held, depth: NDArray[np.float64]) -> float | None:
    """Return how far a depth is from the prior, divided by the prior's noise: about 1 at most if all is well.

    None where that noise is not known, because λ was given, or is nothing.
    """
    if held.choice is None or not held.choice.prior_noise > 0:
        return None
    lens: Any = seen.lens
    off = lens.unit * (lens.potential(depth) - lens.potential(held.prior))
    means = block_means(np.nan_to_num(off), held.size, np.isfinite(off) & (held.weight > 0), least=0.0)
    return float(np.sqrt(np.nanmean(means**2)) / held.choice.prior_noise)


def resolution(p: ArrayLike, q: ArrayLike, prior: NDArray[np.float64], mask: NDArray[np.bool_]) -> int:
    """Find how many pixels a side share a value of a prior: 1 if each has its own.

    Parameters
    ----------
    p, q, prior, mask
        As for :func:`normint.priors.choose_weight`.

    Notes
    -----
    A depth map of few pixels that was enlarged has as many values as pixels, but errors that neighbours
    share. Taken for independent, they would look small, and λ would come out far too large.

    Enlarged by repetition, its values change at the edges of blocks only. Enlarged smoothly, it lacks the
    detail that the normals show. So its second differences over h pixels, D z⁰, are compared with those of
    the depth z from the normals alone, by the regression coefficient c = Σ Dz⁰ Dz / Σ (Dz)². Noise of the
    prior leaves that at 1, and makes it uncertain. The largest h = 1, 2, 4, … for which c is surely less than
    a half is half the side of a block.

    Examples
    --------
    >>> from normint.priors.depth_sensor import spread
    >>> from normint.surfaces import peaks
    >>> s = peaks(64)
    >>> stairs = spread(block_means(s.depth, 8), 8, s.mask)
    >>> resolution(s.p, s.q, stairs, s.mask), resolution(s.p, s.q, s.depth, s.mask)
    (8, 1)
    """
    size = _repeated(prior)
    if size > 1:
        return size
    z = integrate(p, q, mask, tolerance=1e-5).depth
    h = 1
    while 2 * h <= LARGEST and 4 * h < min(mask.shape):
        coefficient, error = _detail(prior, z, h)
        if not coefficient + 2 * error < LACKING:
            break
        h *= 2
    return h


def _held_by_map(
    seen: NormalMap, prior: ArrayLike, weight: float | None, confidence: ArrayLike | None, size: int | None,
    rng: np.random.Generator, jumps: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64], int, Choice | None]:  # fmt: skip
    """Return a prior as it is integrated, its weights, the side of its blocks, and the choice of λ."""
    lens: Any = seen.lens
    mask, shape = seen.mask, seen.mask.shape
    prior = inputs.as_real("prior", prior)
    if prior.shape != shape:
        size = inputs.as_count("size", 1 if size is None else size)
        expected = tuple(-(-n // size) for n in shape)
        if prior.shape != expected:
            raise ValueError(f"prior has shape {prior.shape}; expected {expected}")
        prior = np.repeat(np.repeat(prior, size, axis=0), size, axis=1)[: shape[0], : shape[1]]
    share = np.ones(shape) if confidence is None else inputs.as_real("confidence", confidence)
    if share.shape != shape or not ((share >= 0) & (share <= 1)).all():
        raise ValueError(f"confidence has shape {share.shape}; expected numbers from 0 to 1 of shape {shape}")
    held = mask & np.isfinite(prior) & (share > 0)
    potential = lens.unit * lens.potential(np.where(held, prior, np.nan), "prior")
    known_values(potential, mask)
    if size is None:
        size = resolution(seen.p, seen.q, potential, mask) if weight is None else 1
    if size > 1:
        values = block_means(potential, size, held, least=0.0)
        potential = np.where(held, refined(values, size, seen.p, seen.q, mask), np.nan)
    choice = None
    if weight is None:
        choice = _choose(seen, potential, size, rng)
        weight = choice.noise_weight if jumps else choice.weight
    weight = inputs.as_positive("weight", weight) / size**2
    return potential, np.where(held, weight * share, 0.0), size, choice


def _choose(seen: NormalMap, potential: NDArray[np.float64], size: int, rng: np.random.Generator) -> Choice:
    try:
        return choose_weight(seen.p, seen.q, potential, seen.mask, rng=rng, size=size)
    except ValueError as error:
        raise ValueError(f"{error}; or give the weight of the prior") from error


def _held_by_points(
    seen: NormalMap, points: ArrayLike, points_weight: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Return an image of points as they are integrated, their weights, and how many are not in the mask."""
    lens, mask, points = seen.lens, seen.mask, inputs.as_real("points", points)
    if points.ndim != 2 or points.shape[1] not in (3, 4) or not len(points):
        raise ValueError(f"points has shape {points.shape}; expected (n, 3) or (n, 4): row, column, depth")
    u, v, depth = points[:, :3].T
    weight = inputs.as_positive("points_weight", points_weight) * np.ones(len(points))
    if points.shape[1] == 4:
        weight *= points[:, 3]
    rows, columns = (
        np.ceil(x - 0.5).astype(int) for x in np.nan_to_num((u, v), nan=-1, posinf=-1, neginf=-1)
    )
    there = (rows >= 0) & (rows < mask.shape[0]) & (columns >= 0) & (columns < mask.shape[1])
    if not (there.all() and np.isfinite(points).all() and (weight >= 0).all()):
        wrong = int(np.argmin(there & np.isfinite(points).all(axis=1) & (weight >= 0)))
        raise ValueError(
            f"points[{wrong}] is {points[wrong].tolist()}; expected a pixel of the image, weight ≥ 0"
        )
    inside = mask[rows, columns] & (weight > 0)
    if not inside.any():
        raise ValueError(f"points: none of the {len(points)} is inside the mask with a weight; expected one")
    at = rows[inside], columns[inside]
    moved = seen.p[at] * (at[0] - u[inside]) + seen.q[at] * (at[1] - v[inside])
    values = _potentials(lens, mask.shape, u[inside], v[inside], depth[inside]) + moved
    total: NDArray[np.float64] = np.zeros(mask.shape)
    sums: NDArray[np.float64] = np.zeros(mask.shape)
    np.add.at(total, at, weight[inside])
    np.add.at(sums, at, weight[inside] * values)
    image: NDArray[np.float64] = np.full(mask.shape, np.nan)
    np.divide(sums, total, out=image, where=total > 0)
    return image, total, len(points) - int(np.count_nonzero(inside))


def _potentials(
    lens: Any, shape: tuple[int, ...], u: NDArray[np.float64], v: NDArray[np.float64],
    depth: NDArray[np.float64],
) -> NDArray[np.float64]:  # fmt: skip
    """Return what is integrated, of depths at points between the pixels."""
    if lens.far:
        return depth
    if (depth <= 0).any():
        raise ValueError("points have a depth of zero or less; expected distances > 0 with a camera")
    stretch = np.broadcast_to(lens.stretch(shape), shape)
    return lens.unit * np.log(depth / map_coordinates(stretch, [u, v], order=1, mode="nearest"))


def _repeated(prior: NDArray[np.float64]) -> int:
    """Return the side of the blocks of equal values: nearly all steps lie on the edges of blocks."""
    places = []
    for image in (prior, prior.T):
        both = np.isfinite(image[1:]) & np.isfinite(image[:-1])
        places.append(1 + np.nonzero(both & (image[1:] != image[:-1]))[0])
    if not all(len(one) for one in places):
        return 1
    for size in range(LARGEST, 1, -1):
        if all(np.mean(one % size == 0) >= ON_A_GRID for one in places):
            return size
    return 1


def _detail(prior: NDArray[np.float64], z: NDArray[np.float64], h: int) -> tuple[float, float]:
    """Return which part of the normals' second differences over h pixels the prior has, and its error."""
    pairs = []
    for a, b in ((z, prior), (z.T, prior.T)):
        x, y = (image[2 * h :] + image[: -2 * h] - 2 * image[h:-h] for image in (a, b))
        there = np.isfinite(x) & np.isfinite(y)
        pairs.append((x[there], y[there]))
    x, y = (np.concatenate(one) for one in zip(*pairs, strict=True))
    if not x.size:
        return 1.0, np.inf
    calm = np.abs(x) <= np.quantile(np.abs(x), CALM)
    x, y = x[calm], y[calm]
    total = np.sum(x**2)
    if not total > 0:
        return 1.0, np.inf
    c = np.sum(x * y) / total
    return float(c), float(np.sqrt(np.sum((x * (y - c * x)) ** 2)) / total)
