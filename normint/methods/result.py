"""What every method returns."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Integration:
    """A depth map and how it was obtained.

    Attributes
    ----------
    depth : ndarray
        The depth, rows×cols, NaN outside the mask.
    energies : ndarray
        The method's energy after each iteration (only the last one for methods that solve one system).
    iterations : int
    converged : bool
        Whether the tolerance was reached. Where it was not, :func:`normint.integrate` warns.
    seconds : float
        How long the call took.
    weights : (ndarray, ndarray) or None
        Weights of the edges downwards and to the right that the method ended with, where it has any.
    confidence : (ndarray, ndarray) or None
        How well the slopes predict the step of each edge, beside what noise alone would allow: 1 where they
        do, less at kinks and contours. Only "calibrated" tells.
    noise : ndarray or None
        The standard deviation of the slopes' noise at each pixel, NaN outside the mask. Only "calibrated"
        tells.
    """

    depth: np.ndarray = field(repr=False)
    energies: np.ndarray = field(repr=False)
    iterations: int
    converged: bool
    seconds: float
    weights: tuple | None = field(default=None, repr=False)
    confidence: tuple | None = field(default=None, repr=False)
    noise: np.ndarray | None = field(default=None, repr=False)
