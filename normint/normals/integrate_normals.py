"""From a normal map to a depth map, in one call: any axes, a far or a near camera, every method."""

import dataclasses
import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from normint import inputs
from normint.integration import function_of, integrate_quietly, options_of, warn_not_converged
from normint.methods.result import Integration
from normint.normals.axes import axes_warning
from normint.normals.maps import NormalMap

__all__ = ["integrate_map", "integrate_normals"]


def integrate_normals(
    normals: ArrayLike, mask: ArrayLike | None = None, camera: ArrayLike | None = None, *, axes: str = "uvz",
    method: str = "quadratic", prior: ArrayLike | None = None, prior_weight: ArrayLike = 0.0,
    distance: float | None = None, least_cosine: float | None = None, steepest: float | None = 200.0,
    check_axes: bool = True, **options: Any,
) -> Integration:  # fmt: skip
    """Integrate a normal map into a depth map.

    Parameters
    ----------
    normals : array_like
        rows×columns×3, of any positive length. Unsigned integers (uint8, uint16) are colours as in image
        files: 0 stands for −1, the largest for 1, and black for no normal.
    mask : array_like of bool, optional
        The domain Ω. By default wherever there is a normal: finite and not zero.
    camera : array_like, optional
        The matrix [[f_x, 0, c_x], [0, f_y, c_y], [0, 0, 1]] of a perspective camera, in pixels, the centre of
        the first pixel being (0, 0). None for a camera far away (orthographic).
    axes : str
        Where the three components point: "uvz" (down, right, to the camera), "xyz" (right, up, to the
        camera; most normal maps), … (see :data:`normint.normals.axes.AXES`), or three words such as
        "right down away".
    method, prior, prior_weight
        As for :func:`normint.integrate`. The prior is a depth as this function returns it, NaN where
        unknown; with a camera it decides the scale of the pieces that it touches.
    distance : float, optional
        With a camera only: the mean distance (geometric) of each connected piece that no prior holds, in any
        unit; by default 1. Normals do not tell the size of what is seen.
    least_cosine : float, optional
        Leave out pixels where the cosine between the normal and the direction to the camera is smaller:
        they are outside the domain, and NaN in the depth. By default none is left out, and normals that face
        away (cosine ≤ 0) are refused.
    steepest : float or None
        Steeper slopes, in pixels per pixel, are shortened to this; None for no limit. See the Notes.
    check_axes : bool
        Whether to warn when the normals look as if they had other axes, see :func:`axes_warning`.
    **options
        The method's own parameters; `initial` is a depth like the prior.

    Returns
    -------
    Integration
        Without a camera, the depth is z towards the viewer, in pixels, of zero mean in each piece. With one
        it is the distance d > 0 along the axis. Energies and weights are those of what is integrated.

    Notes
    -----
    With a camera, f log d is integrated, f being the mean of the focal lengths. By
    :class:`normint.normals.camera.Perspective` its slopes are f·(n_u/f_u)/(−n·r) and f·(n_v/f_v)/(−n·r):
    pixels per pixel, as without a camera. So the parameters of the methods (`beta`, `mu`, …) and λ mean the
    same for both: near d, a difference of 1 in f log d is a difference of d/f in depth, the width of one
    pixel.

    A slope is a division by the cosine. Where it is nearly 0, a small error of the normal is a large one of
    the slope, and least squares hands it on to the whole surface. On a sphere seen up to its contour, with
    1° of noise, the limit of 200 reduces the error to a third, and a lower one would do better still. But
    some normal maps hold jumps in a pixel or two at a grazing angle, and lose them: the mean depth error of
    DiLiGenT's Cat by least squares is 0.40 mm without a limit, 0.25 mm with 200 and 0.96 mm with 100. (200
    was chosen with the Cat in view: it is the best of the limits tried there.)

    Examples
    --------
    A plane that falls to the right, as a normal map with x to the right and y up:

    >>> normals = np.full((2, 4, 3), [0.6, 0.0, 0.8])
    >>> integrate_normals(normals, axes="xyz").depth.round(6)
    array([[ 1.125,  0.375, -0.375, -1.125],
           [ 1.125,  0.375, -0.375, -1.125]])

    A wall at a right angle to the axis of a near camera, 1500 mm away:

    >>> wall = np.full((2, 3, 3), [0.0, 0.0, 1.0])
    >>> integrate_normals(wall, camera=[[900, 0, 1], [0, 900, 0.5], [0, 0, 1]], distance=1500).depth.round(6)
    array([[1500., 1500., 1500.],
           [1500., 1500., 1500.]])
    """
    function_of(method)  # refuses an unknown one before the passes over the normals
    start = time.perf_counter()
    seen = NormalMap.decoded(
        normals, mask, camera, axes=axes, least_cosine=least_cosine, steepest=steepest
    )  # fmt: skip
    seen.refuse_missing()
    seen.refuse_away()
    if check_axes and (doubt := axes_warning(seen)):
        warnings.warn(doubt, stacklevel=2)
    held = {"prior": prior, "prior_weight": prior_weight, "distance": distance}
    result = integrate_map(seen, method, **held, **options)
    if not result.converged:
        warn_not_converged(method, result, options, stacklevel=3)
    return dataclasses.replace(result, seconds=time.perf_counter() - start)


def integrate_map(seen, method="quadratic", *, prior=None, prior_weight=0.0, distance=None, **options):
    """Integrate a decoded normal map, without a warning.

    Parameters
    ----------
    seen : NormalMap
        None of its normals faces away.
    method, prior, prior_weight, distance, **options
        As for :func:`integrate_normals`.

    Returns
    -------
    Integration
    """
    start, lens = time.perf_counter(), seen.lens
    if lens.far and distance is not None:
        raise ValueError("distance is given without a camera; expected a camera, or no distance")
    distance = 1.0 if distance is None else inputs.as_positive("distance", distance)

    def potential(name, depth):
        """Return what is integrated, of a depth that may be anything outside the mask."""
        depth = inputs.unhidden(depth).astype(np.float64)
        if depth.shape != seen.mask.shape:
            raise ValueError(f"{name} has shape {depth.shape}; expected {seen.mask.shape}, the normal map's")
        return lens.unit * lens.potential(np.where(seen.mask, depth / distance, np.nan), name)

    prior = None if prior is None else potential("prior", prior)
    if options.get("initial") is not None:
        options["initial"] = potential("initial", options["initial"])
    if options.get("facing") is None and "facing" in options_of(method):  # slopes alone do not tell the rays
        options["facing"] = lens.turned_against(seen.p / lens.unit, seen.q / lens.unit)
    if "away" in options_of(method):
        options.setdefault("away", not lens.far)
    held = {"prior": prior, "prior_weight": prior_weight}
    result = integrate_quietly(seen.p, seen.q, seen.mask, method=method, **held, **options)
    depth = result.depth if lens.far else distance * lens.depth(result.depth / lens.unit)
    camera = None if lens.far else lens
    return dataclasses.replace(result, depth=depth, camera=camera, seconds=time.perf_counter() - start)
