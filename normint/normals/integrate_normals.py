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
from normint.normals.arrays import as_array
from normint.normals.axes import axes_warning
from normint.normals.lens import Lens
from normint.normals.taking import take

__all__ = ["integrate_map", "integrate_normals"]


def integrate_normals(
    normals: ArrayLike, mask: ArrayLike | None = None, camera: ArrayLike | Lens | None = None, *,
    axes: str = "auto", method: str = "quadratic", prior: ArrayLike | None = None,
    prior_weight: ArrayLike = 0.0, distance: float | None = None, least_cosine: float | None = None,
    steepest: float | None = 200.0, check_axes: bool = True, depth: str | None = None,
    background: str | tuple[int, int, int] = "auto", pose: ArrayLike | None = None, **options: Any,
) -> Integration:  # fmt: skip
    """Integrate a normal map into a depth map.

    Parameters
    ----------
    normals : array_like
        rows×columns×3, of any positive length, or the channels first; also of torch, xarray and others that
        NumPy can read. Whole numbers of 8 or 16 bits are colours as in image files: 0 stands for −1, the
        largest for 1; black, grey and white stand for no normal. Real numbers are colours, too, if that gives
        them the length 1. A fourth channel is alpha, and what is transparent is outside.
    mask : array_like of bool, optional
        The domain Ω. By default wherever there is a normal: finite and not zero. Pixels in it without a
        normal are left out with a warning.
    camera : array_like or Lens, optional
        The matrix [[f_x, 0, c_x], [0, f_y, c_y], [0, 0, 1]] of a perspective camera, in pixels, the centre of
        the first pixel being (0, 0); :func:`normint.normals.camera.camera_of_view` makes one from a field of
        view. Or :class:`normint.normals.rays.Rays`, any camera by the direction of each pixel: a fisheye, a
        panorama. None for a camera far away (orthographic).
    axes : str
        Where the three components point: "xyz" (right, up, to the camera; most normal maps), "uvz" (down,
        right, to the camera; this package), "opengl", "directx", "blender", "dsine", … (see
        :data:`normint.normals.conventions.CONVENTIONS`), or three words such as "right down away". "auto"
        takes the reading that the data support and notes it in `notes`; where they do not tell, it asks, by
        an error that names two. See :func:`normint.normals.auto_axes.choose_axes`.
    method, prior, prior_weight
        As for :func:`normint.integrate`. The prior is a depth as this function returns it, NaN where
        unknown; with a camera it decides the scale of the pieces that it touches.
    distance : float, optional
        With a camera only: the mean distance (geometric) of each connected piece that no prior holds, in any
        unit; by default 1. Normals do not tell the size of what is seen. It is along the axis for a matrix
        and along the rays for Rays, whatever `depth` is.
    least_cosine : float, optional
        Leave out pixels where the cosine between the normal and the direction to the camera is smaller:
        they are outside the domain, and NaN in the depth. By default normals that face away (cosine ≤ 0)
        are left out, with a warning, if they are few; more than 5 % are refused.
    steepest : float or None
        Steeper slopes, in pixels per pixel, are shortened to this; None for no limit. See the Notes.
    check_axes : bool
        Whether to warn when the normals look as if they had other axes, see :func:`axes_warning`.
    depth : {"z", "ray"}, optional
        With a camera only: along what its depths are measured, those given and those returned. Along its
        axis ("z"), as depth cameras and renderers do: all of a wall at a right angle to the axis has the same
        depth. Or along the ray of each pixel ("ray"), the distance of the point from the camera, as laser
        scanners do. By default "z" with a matrix and "ray" with Rays, which may look sideways or back.
    background : str or (int, int, int)
        The colour of a background to leave out: "black", "grey", "white", "flat" (128, 128, 255), or red,
        green and blue from 0 to 255; a colour that a normal may have is left out where it is joined to the
        border. "auto", without a mask or alpha, warns of a border of such a colour, and leaves it out if no
        normal has it. "none" does not look.
    pose : array_like, optional
        Of normals in the axes of the world: the 4×4 or 3×3 matrix from the camera to the world. The axes are
        then those of that camera ("xyz" for Blender and NeRF, "opencv" for OpenCV and COLMAP). Of a matrix
        from the world to the camera, give the inverse.
    **options
        The method's own parameters; `initial` is a depth like the prior.

    Returns
    -------
    Integration
        Without a camera, the depth is z towards the viewer, in pixels, of zero mean in each piece. With one
        it is a distance > 0, see `depth`. Energies and weights are those of what is integrated.

    Notes
    -----
    With a camera, f log d is integrated, f being the mean of the focal lengths, or the pixels per radian of
    Rays. By :class:`normint.normals.camera.Perspective` its slopes are f·(n_u/f_u)/(−n·r) and
    f·(n_v/f_v)/(−n·r), and by :class:`normint.normals.lens.NearLens` those of any camera: pixels per pixel,
    as without a camera. So the parameters of the methods (`beta`, `mu`, …) and λ mean the
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
    seen, because, notes = take(
        normals, mask, camera, axes=axes, depth=depth, background=background, pose=pose,
        least_cosine=least_cosine, steepest=steepest,
    )  # fmt: skip
    seen.refuse_missing()
    seen.refuse_away()
    if left_out := seen.left_out():
        warnings.warn(left_out, RuntimeWarning, stacklevel=2)
    if check_axes and because is None and (doubt := axes_warning(seen)):
        notes.append(doubt)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    chosen = [] if because is None else [f"axes={seen.axes!r} ({' '.join(seen.words)}) {because}"]
    notes = (*chosen, *([left_out] if left_out else []), *notes)
    prior = as_array("prior", prior)
    held = {"prior": prior, "prior_weight": prior_weight, "distance": distance}
    result = integrate_map(seen, method, **held, **options)
    if not result.converged:
        warn_not_converged(method, result, options, stacklevel=3)
    return dataclasses.replace(result, seconds=time.perf_counter() - start, notes=notes)


def integrate_map(
    seen, method="quadratic", *, prior=None, prior_weight=0.0, distance=None, integrate=integrate_quietly,
    **options,
):  # fmt: skip
    """Integrate a decoded normal map, without a warning.

    Parameters
    ----------
    seen : NormalMap
        Its mask is integrated.
    method, prior, prior_weight, distance, **options
        As for :func:`integrate_normals`.
    integrate : callable
        What integrates slopes, by that method.

    Returns
    -------
    Integration
    """
    start, lens = time.perf_counter(), seen.lens
    if lens.far and distance is not None:
        raise ValueError("distance is given without a camera; expected a camera, or no distance")
    distance = 1.0 if distance is None else inputs.as_positive("distance", distance)
    lens.refuse_sideways(seen.mask)

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
    result = integrate(seen.p, seen.q, seen.mask, method=method, **held, **options)
    depth = result.depth if lens.far else distance * lens.depth(result.depth / lens.unit)
    camera = None if lens.far else lens
    return dataclasses.replace(result, depth=depth, camera=camera, seconds=time.perf_counter() - start)
