"""What every method returns."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


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
        For each edge the probability that the method is right about it: that the surface jumps there if its
        weight is 0, and does not if it is 1. Only "calibrated" tells.
    noise : ndarray or None
        The standard deviation of the step from one pixel to the next, seen straight on, as noise in the data
        makes it; NaN outside the mask. Only "calibrated" tells.
    notes : tuple of str
        What was decided about a normal map: its axes, and why, and what was left out.
    """

    depth: NDArray[np.float64] = field(repr=False)
    energies: NDArray[np.float64] = field(repr=False)
    iterations: int
    converged: bool
    seconds: float
    weights: tuple[NDArray[np.float64], NDArray[np.float64]] | None = field(default=None, repr=False)
    confidence: tuple[NDArray[np.float64], NDArray[np.float64]] | None = field(default=None, repr=False)
    noise: NDArray[np.float64] | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
