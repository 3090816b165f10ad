"""Calibrated integration: it measures the noise, finds the discontinuities, and has nothing to tune."""

import time

import numpy as np

from normint import inputs
from normint.domain import bounding_box
from normint.methods.calibrated.constants import CONSTANTS, Constants
from normint.methods.calibrated.energy import WEAKEST, CalibratedEnergy
from normint.methods.calibrated.search import best
from normint.methods.result import Integration
from normint.solver.pieces import Pieces


def calibrated(
    p, q, mask=None, *, prior=None, prior_weight=0.0, callback=None, observe=None, constants=CONSTANTS,
):  # fmt: skip
    """Integrate a piecewise smooth surface: nothing has to be known, and nothing tuned.

    Parameters
    ----------
    p, q, mask, prior, prior_weight
        As for :func:`normint.integrate`. λ is relative to an edge that is neither uncertain nor cut. Where
        only some pixels are held (control points), the surface does not jump between them and their
        neighbours.
    callback : callable, optional
        Called as ``callback(solves, energy)`` whenever a surface has been polished, that of a smaller image
        among them, with the linear systems solved so far.
    observe : callable, optional
        Called as ``observe(stage, depth)`` with "least squares", "cooling" after every temperature,
        "annealed", "moved" and "done". All before "moved" are of one start among several; in large images
        they come from a smaller one.
    constants : Constants
        For studies of the method itself.

    Returns
    -------
    Integration
        Its weights are those of Geman and McClure's function: near 1 on edges where the surface is continuous
        and the slopes agree with it, and 0 across discontinuities. Its confidence and noise are those of the
        measured slopes. Its energies are those of the start and of the accepted rounds, before the last fit.

    Notes
    -----
    1. The noise σ of the slopes is measured by their curl (:mod:`normint.methods.calibrated.noise`).
    2. For every edge, its step t and the variance V of this prediction come from the slopes around it
       (:mod:`normint.methods.calibrated.edges`).
    3. The energy is Σ c x/(1 + x) with x = (Δz - t)²/(9 c V), Geman and McClure's function: an edge that
       agrees costs c x, one that is cut c. The price c is lower where discontinuities are likely, and in
       proportion to how much an edge tells: log(L/√V) in units of that of an edge with noise alone, with L
       the depth that the slopes' deviation amounts to across the image. (An edge whose step could be
       anything would agree with all.)
    4. Three starts. The first is the result of this method for the image of half as many rows and columns
       (:mod:`normint.methods.calibrated.pyramid`), which places what is large. The others begin with least
       squares, reweighted with Cauchy's weights and the variance V + τ² while the temperature τ falls, with
       contours taken for contours and, if there are any, for kinks; they find details. Each is polished with
       the weights of the energy itself. Then they are fused: a minimum cut takes from each what costs least.
       (Small images have no half; large ones have nothing else, so that the time per pixel does not grow.)
    5. Local minima are left by moving pieces (:mod:`normint.methods.calibrated.piece_moves`) and
       discontinuities (:mod:`normint.methods.calibrated.cut_moves`). What lowers the energy after polishing
       is kept.
    6. The edges that are not cut are fitted by least squares.

    Transposing, flipping or negating the data, scaling them or adding a plane does the same to the depth, up
    to rounding; where two surfaces cost the same, rounding may decide between them.

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
    if not isinstance(constants, Constants):
        raise ValueError(f"constants is a {type(constants).__name__}; expected Constants")
    box = bounding_box(mask)
    images = p, q, prior, weight
    cropped = (None if image is None else np.where(mask[box], image[box], 0.0) for image in images)
    surface = CalibratedEnergy(mask[box], *cropped, constants, callback)

    def whole(image, outside):
        image, inside = np.full(mask.shape, outside), image
        image[box] = inside
        return image

    def tell(stage, z):
        if observe is not None:
            observe(stage, whole(np.where(surface.mask, surface.unit * z, np.nan), np.nan))

    z, energies = best(surface, tell)
    tell("moved", z)
    z, kept = surface.last_fit(z)
    Pieces(surface.mask, diagonal=surface.weight).settle(z, surface.prior)
    tell("done", z)
    weights = np.where(surface.exists, np.where(kept, surface.agreement(z), WEAKEST), 0.0)
    confidence = np.where(surface.exists, np.minimum(surface.plain / surface.variance, 1.0), 0.0)
    return Integration(
        depth=whole(np.where(surface.mask, surface.unit * z, np.nan), np.nan),
        energies=np.array(energies),
        iterations=surface.solves,
        converged=len(energies) <= constants.rounds.rounds,
        seconds=time.perf_counter() - start,
        weights=tuple(whole(image, 0.0) for image in weights),
        confidence=tuple(whole(image, 0.0) for image in confidence),
        noise=whole(np.where(surface.mask, surface.noise, np.nan), np.nan),
    )
