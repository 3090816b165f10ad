"""From a gradient field to a depth map: one call for every method."""

import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from normint import inputs
from normint.compiling import interruptible
from normint.domain import bounding_box
from normint.methods.anisotropic_diffusion import anisotropic_diffusion
from normint.methods.bilateral import bilateral
from normint.methods.calibrated import calibrated
from normint.methods.mumford_shah import mumford_shah
from normint.methods.nonconvex import phi1, phi2
from normint.methods.quadratic import quadratic
from normint.methods.rectangular import dct, sylvester
from normint.methods.result import Integration
from normint.methods.total_variation import total_variation
from normint.shortage import shortage

MEMORY_OF_PRIOR = 90  # bytes a pixel that a prior adds, whatever the method
MEMORY_OF_REST = 30  # bytes for each pixel far from the mask: slopes as float64, and the depth
UNASKED = 1e8  # bytes: there is always so much


class Method(NamedTuple):
    """A row of the table of methods."""

    function: Callable[..., Integration]
    label: str  # in figures, panels and tables
    colour: str  # in charts
    memory: int  # bytes for each pixel of the rectangle around the mask, as measured
    option: str | None = None  # the parameter that decides most, if there is one to choose


METHODS = {
    "quadratic": Method(quadratic, "least squares", "#0072b2", 90),
    "dct": Method(dct, "DCT", "#000000", 40),
    "sylvester": Method(sylvester, "Sylvester", "#d55e00", 75),
    "total_variation": Method(total_variation, "total variation", "#009e73", 170),
    "phi1": Method(phi1, "Φ1", "#56b4e9", 200, "beta"),
    "phi2": Method(phi2, "Φ2", "#000000", 260, "gamma"),
    "anisotropic_diffusion": Method(anisotropic_diffusion, "diffusion", "#cc79a7", 250, "mu"),
    "mumford_shah": Method(mumford_shah, "Mumford-Shah", "#e69f00", 300, "mu"),
    "calibrated": Method(calibrated, "calibrated", "#882255", 400),
    "bilateral": Method(bilateral, "bilateral", "#999933", 175, "k"),
}


def integrate(
    p: ArrayLike, q: ArrayLike, mask: ArrayLike | None = None, *, method: str = "quadratic",
    prior: ArrayLike | None = None, prior_weight: ArrayLike = 0.0, **options: Any,
) -> Integration:  # fmt: skip
    """Integrate a gradient field into a depth map.

    Parameters
    ----------
    p, q : array_like
        p = ∂z/∂u along rows, downwards, and q = ∂z/∂v along columns, to the right; rows×cols, finite
        inside the mask and from -1e9 to 1e9. What masked arrays hide is outside the mask.
    mask : array_like of bool, optional
        The domain Ω, of any shape: holes, thin parts and separate pieces included. Everything by default.
    method : str
        "quadratic", "dct", "sylvester", "total_variation", "phi1", "phi2", "anisotropic_diffusion",
        "mumford_shah", "calibrated" or "bilateral": which surfaces are preferred, and how they are found.
        Each is described, with its options, in its module under :mod:`normint.methods`.
    prior : array_like, optional
        A depth z⁰ to stay close to: a coarse depth map, or a few control points (NaN elsewhere).
    prior_weight : float or array_like
        λ ≥ 0, how close. Zero by default: then nothing but the gradient decides, and each connected component
        of Ω gets zero mean, since a gradient says nothing about the constant.
    **options
        The method's own parameters.

    Returns
    -------
    Integration

    Raises
    ------
    ValueError
        If an argument is wrong; the message names it.
    MemoryError
        If there is not the memory that the method needs, before any work.
        :func:`normint.integrate_tiles` needs less.

    Warns
    -----
    RuntimeWarning
        If the method did not converge. Not with ``scheme="paper"`` or ``tolerance=0``, which ask for a number
        of iterations.

    Examples
    --------
    A plane, from its slopes:

    >>> import numpy as np
    >>> result = integrate(np.full((2, 4), 2.0), np.full((2, 4), 1.0))
    >>> result.depth.round(6)
    array([[-2.5, -1.5, -0.5,  0.5],
           [-0.5,  0.5,  1.5,  2.5]])
    >>> integrate(np.zeros((2, 3)), np.zeros((2, 3)), method="cubic")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: method is 'cubic'; expected one of quadratic, dct, sylvester, ...
    """
    held = {"prior": prior, "prior_weight": prior_weight}
    result = integrate_quietly(p, q, mask, method=method, **held, **options)
    if not result.converged:
        warn_not_converged(method, result, options, stacklevel=3)
    return result


def integrate_quietly(
    p: ArrayLike, q: ArrayLike, mask: ArrayLike | None = None, *, method: str = "quadratic", **options: Any
) -> Integration:
    """Integrate as :func:`integrate` does, but without a warning: studies take methods as they are."""
    known = options_of(method)
    for name in options:
        if name not in known:
            own = ", ".join(name for name in known if name not in ("prior", "prior_weight"))
            meant = inputs.nearest(name, known)
            raise ValueError(f"{name} is not an option of method {method!r}; it has {own}{meant}")
    _check_memory(p, mask, method, options.get("prior") is not None)
    with interruptible():
        return function_of(method)(p, q, mask, **options)


def memory_of(method: str, pixels: int, *, prior: bool = False) -> int:
    """Return how many bytes a method takes for so many pixels of the rectangle around the mask.

    Examples
    --------
    >>> memory_of("quadratic", 100_000_000) / 1e9
    9.0
    """
    return pixels * (METHODS[method].memory + (MEMORY_OF_PRIOR if prior else 0))


def _check_memory(p: Any, mask: Any, method: str, prior: bool) -> None:
    """Refuse, before any work, what does not fit into the memory."""
    shape: tuple[int, ...] = getattr(p, "shape", ())
    if len(shape) != 2 or memory_of(method, math.prod(shape), prior=prior) < UNASKED:
        return
    pixels = math.prod(shape)
    if isinstance(mask, np.ndarray) and mask.shape == shape and mask.any():
        pixels = mask[bounding_box(mask)].size
    needed = memory_of(method, pixels, prior=prior) + MEMORY_OF_REST * (math.prod(shape) - pixels)
    what = f"p of {shape[0]} × {shape[1]} pixels, {pixels / 1e6:.4g} million of them around the mask,"
    if short := shortage(f"{what} integrated by {method},", needed):
        raise MemoryError(f"{short}; normint.integrate_tiles integrates by least squares tile by tile")


def options_of(method: str) -> list[str]:
    """List the parameters that are given to a method by name."""
    parameters = inspect.signature(function_of(method)).parameters
    return [name for name, parameter in parameters.items() if parameter.kind is parameter.KEYWORD_ONLY]


def function_of(method: str) -> Callable[..., Integration]:
    """Return the function that implements a method."""
    if not isinstance(method, str) or method not in METHODS:
        meant = inputs.nearest(method, METHODS)
        raise ValueError(f"method is {method!r}; expected one of {', '.join(METHODS)}{meant}")
    return METHODS[method].function


def warn_not_converged(method: str, result: Integration, options: dict[str, Any], stacklevel: int) -> None:
    """Warn in one sentence that a result did not converge, and say what to do.

    Parameters
    ----------
    method : str
    result : Integration
    options : dict
        As given. There is no warning if :func:`iterations_are_asked_for`.
    stacklevel : int
        As for :func:`warnings.warn`.
    """
    if iterations_are_asked_for(options):
        return
    advice = f"max_iterations={4 * max(result.iterations, 1)}, say, allows more"
    if method == "calibrated":  # it has no such option
        advice = "expect a surface that is not the best one"
    times = "1 iteration" if result.iterations == 1 else f"{result.iterations} iterations"
    warnings.warn(f"{method} did not converge in {times}; {advice}", RuntimeWarning, stacklevel=stacklevel)


def iterations_are_asked_for(options: dict[str, Any]) -> bool:
    """Tell whether options ask for a number of iterations, so that not converging is no fault.

    Examples
    --------
    >>> iterations_are_asked_for({"scheme": "paper"}), iterations_are_asked_for({"max_iterations": 1})
    (True, False)
    """
    return options.get("scheme") == "paper" or options.get("tolerance") == 0
