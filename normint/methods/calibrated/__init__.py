"""Calibrated integration: it measures the noise, finds the discontinuities, and has nothing to tune."""

import time

import numpy as np

from normint import inputs
from normint.domain import bounding_box
from normint.methods.calibrated.confidence import confidence
from normint.methods.calibrated.constants import CONSTANTS, Constants
from normint.methods.calibrated.energy import CalibratedEnergy
from normint.methods.calibrated.search import ROUNDS, best, in_silence
from normint.methods.result import Integration
from normint.solver.pieces import Pieces


def calibrated(
    p, q, mask=None, *, prior=None, prior_weight=0.0, away=False, callback=None, observe=None,
    constants=CONSTANTS,
):  # fmt: skip
    """Integrate a piecewise smooth surface: nothing has to be known, and nothing tuned.

    Parameters
    ----------
    p, q, mask, prior, prior_weight
        As for :func:`normint.integrate`; slopes in pixels per pixel. λ is relative to an edge that is neither
        uncertain nor cut. Where single pixels are held (control points), the surface does not jump between
        them and their neighbours.
    away : bool
        Whether the depth grows away from the viewer, as f log d does with a near camera. By default it grows
        towards the viewer. It matters: the side in front is the one that hides the other.
    callback : callable, optional
        Called as ``callback(solves, energy)`` whenever a surface has been polished, that of a smaller image
        among them, with the linear systems solved so far.
    observe : callable, optional
        Called as ``observe(stage, depth)`` with "least squares", "cooling" after every temperature,
        "annealed", "moved" and "done". All before "moved" are of one start of two; in large images they come
        from a smaller one.
    constants : Constants
        For studies of the method itself.

    Returns
    -------
    Integration
        Its weights are 0 where the surface jumps and 1 where it does not: an edge is cut if its step lies
        more than half a pixel outside what the slopes at both ends explain, and a jump is likelier than
        noise. Its confidence is the probability that this is right, edge by edge. Its noise is that of a
        step seen straight on. Its energies are those of the start and of the accepted rounds, before the last
        fit.

    When to use it
    --------------
    Where a surface jumps or may jump, and nothing is known about the noise. It has nothing to tune, and takes
    some seconds a megapixel. On smooth surfaces it gives what least squares gives, in more time. A part whose
    outline jumps all around may end at a wrong height: then a few known depths help, or a mask for each part.

    Notes
    -----
    1. The noise is measured by the curl of the slopes (:mod:`normint.methods.calibrated.noise`): how strong
       it is around each pixel, how it grows where the surface turns away, and what bends and errors that
       neighbours share add to it.
    2. Every edge has a step t, a variance S², and the price C of giving it up, which is the logarithm of the
       odds that it holds (:mod:`normint.methods.calibrated.edges`). It is low where normals differ and the
       side in front falls away, as it does at the contour of a body.
    3. The energy is Σ C x/(1 + x) with x = (Δz - t)²/(2 C S²), Geman and McClure's function: an edge that
       agrees costs what a normal distribution would, one that is cut C.
    4. Two starts. One begins with least squares, reweighted with Cauchy's weights and the variance S² + τ²
       while the temperature τ falls (graduated non-convexity). The other is the result of this method for the
       image of half as many rows and columns (:mod:`normint.methods.calibrated.pyramid`), which places what
       is large. Both are polished with the weights of the energy itself, and fused: a minimum cut takes from
       each what costs less. (Small images have no half; large ones have nothing else, so that the time per
       pixel does not grow.)
    5. Local minima are left by moving pieces (:mod:`normint.methods.calibrated.piece_moves`) and
       discontinuities (:mod:`normint.methods.calibrated.cut_moves`). What lowers the energy after polishing
       is kept.
    6. The edges that are likelier to hold than to jump are fitted by least squares.

    Transposing or flipping the data does the same to the depth, up to rounding; where two surfaces cost the
    same, rounding may decide between them. Negating the data and `away` negates the depth. Scaling the depth
    or adding a plane does not do the same to the result: the angle between two normals changes.

    References
    ----------
    Geman, McClure: Statistical methods for tomographic image reconstruction. Bull. ISI 52, 1987.
    Blake, Zisserman: Visual Reconstruction. MIT Press 1987 (graduated non-convexity).
    Boykov, Veksler, Zabih: Fast approximate energy minimization via graph cuts. PAMI 23, 2001.
    Cao, Santo, Shi, Okura, Matsushita: Bilateral Normal Integration. ECCV 2022 (one side may jump).

    Examples
    --------
    A roof whose gables are vertical walls, whose height the slopes do not show:

    >>> from normint.surfaces import canadian_tent
    >>> from normint.metrics import rmse
    >>> tent = canadian_tent(64, 16, 16)
    >>> round(rmse(calibrated(tent.p, tent.q).depth, tent.depth), 3)
    0.0
    """
    start = time.perf_counter()
    p, q, mask = inputs.as_gradient(p, q, mask)
    prior, weight = inputs.as_prior(prior, prior_weight, mask)
    if not isinstance(away, (bool, np.bool_)):
        raise ValueError(f"away is {away!r}; expected True or False")
    if not isinstance(constants, Constants):
        raise ValueError(f"constants is a {type(constants).__name__}; expected Constants")
    for name, value in constants._asdict().items():
        inputs.as_positive(name, value)
    box = bounding_box(mask)
    images, inside = (p, q, prior, weight), np.ascontiguousarray(mask[box])  # kernels are compiled once
    cropped = (None if image is None else np.where(inside, image[box], 0.0) for image in images)
    surface = CalibratedEnergy(inside, *cropped, bool(away), constants, callback)

    def whole(image, outside):
        image, inside = np.full(mask.shape, outside), image
        image[box] = inside
        return image

    def show(stage, z):
        observe(stage, whole(np.where(surface.mask, z, np.nan), np.nan))

    tell = in_silence if observe is None else show
    z, energies = best(surface, tell)
    tell("moved", z)
    z, cut = surface.last_fit(z)
    Pieces(surface.mask, diagonal=surface.weight).settle(z, surface.prior)
    tell("done", z)
    r = surface.residual(z)
    sure = np.where(surface.exists, confidence(cut, surface.beyond(r), surface.prices(r)), 0.0)
    return Integration(
        depth=whole(np.where(surface.mask, z, np.nan), np.nan),
        energies=np.array(energies),
        iterations=surface.solves,
        converged=len(energies) <= ROUNDS,
        seconds=time.perf_counter() - start,
        weights=tuple(whole(1.0 * held, 0.0) for held in surface.exists & ~cut),
        confidence=tuple(whole(image, 0.0) for image in sure),
        noise=whole(np.where(surface.mask, surface.noise.levels, np.nan), np.nan),
    )
