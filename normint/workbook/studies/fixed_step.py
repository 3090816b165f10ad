"""iPiano with a fixed step: what Figure 9 would have shown with another one.

The paper chooses its step by a backtracking that it does not describe in full. What comes of it is one
number, L, an estimate of the Lipschitz constant of the gradient; the step is 2 (1 - 0.8)/L.
"""

import numpy as np

from normint.inputs import as_count, as_gradient, as_positive
from normint.methods import pairs
from normint.methods.nonconvex import INERTIA
from normint.metrics import rmse
from normint.surfaces import canadian_tent

__all__ = ["reached", "snapshot", "snapshots"]


def snapshot(*, sigma, seed, lipschitz, count):
    """Run iPiano on the noisy tent so many times; a run of a study."""
    noisy = canadian_tent().with_noise(sigma, np.random.default_rng(seed))
    return {"rmse": snapshots(noisy, lipschitz, [count])[0]}


def snapshots(surface, lipschitz, counts, *, beta=0.5):
    """Run iPiano for Φ1 from zero with a fixed L, and measure the RMSE on the way.

    Parameters
    ----------
    surface : Surface
        With its true depth and a noisy gradient, on a full rectangle.
    lipschitz : float
        L.
    counts : sequence of int
        After how many iterations to measure, growing.
    beta : float

    Returns
    -------
    list of float
    """
    step = 2 * (1 - INERTIA) / as_positive("lipschitz", lipschitz)
    p, q, mask = as_gradient(surface.p, surface.q)
    data = p, q, *pairs.neighbours(mask)
    z, last, slope = np.zeros((3, *p.shape))
    errors, done = [], 0
    for count in counts:
        for _ in range(as_count("counts", count) - done):
            pairs.gradient(z, *data, pairs.PHI_1, beta, slope)
            # z - step·slope + inertia·(z - last), in the memory of the last depth.
            np.subtract(z, last, out=last)
            last *= INERTIA
            slope *= step
            last -= slope
            last += z
            z, last = last, z
        done = count
        errors.append(rmse(z, surface.depth))
    return errors


def reached(counts, errors, wanted):
    """Return after how many iterations a falling error is the wanted one, on a straight line between two.

    Examples
    --------
    >>> reached([100, 200, 300], [9.0, 7.0, 6.0], 6.5)
    250.0
    """
    if not errors[-1] <= wanted <= errors[0]:
        raise ValueError(f"wanted is {wanted}; expected an error between {errors[-1]:g} and {errors[0]:g}")
    return float(np.interp(-wanted, -np.asarray(errors), counts))
