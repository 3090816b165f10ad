"""How near to the least total variation can a surface of a given error be? (Figure 7 at 1 % of noise).

The energy E of total variation is convex, and so is n·RMSE², the squared distance to the truth after removing
the mean difference. So E + w·n·RMSE² can be minimised for any weight w: that is total variation with the
truth as its prior. It gives the best surfaces that any energy allows, and a bound for all others.
"""

from dataclasses import dataclass

import numpy as np

from normint.integration import integrate_quietly
from normint.methods import pairs
from normint.metrics import rmse

__all__ = ["Point", "admm", "front", "least_energy"]


@dataclass(frozen=True)
class Point:
    """A surface: its energy, its RMSE, and the weight of the truth or the iterations that made it."""

    energy: float
    error: float
    weight: float = 0.0
    iterations: int = 0


def front(surface, weights):
    """Minimise E + w·n·RMSE² for several w.

    Parameters
    ----------
    surface : Surface
        With its true depth and a noisy gradient.
    weights : sequence of float

    Returns
    -------
    list of Point
    """
    found = []
    for weight in weights:
        depth = integrate_quietly(
            surface.p, surface.q, method="total_variation", prior=surface.depth, prior_weight=weight
        ).depth
        found.append(_point(depth, surface, weight=weight))
    return found


def admm(surface, step, counts):
    """Run the paper's scheme with a step α, and look at it after several numbers of iterations.

    Returns
    -------
    list of Point
    """
    options = {"method": "total_variation", "scheme": "paper", "step": step}
    return [
        _point(
            integrate_quietly(surface.p, surface.q, max_iterations=count, **options).depth,
            surface,
            iterations=count,
        )
        for count in counts
    ]


def least_energy(points, error, pixels):
    """Return an energy that no surface with this RMSE, or a smaller one, is below.

    Parameters
    ----------
    points : list of Point
        As `front` gives them.
    error : float
    pixels : int
        Their number n.

    Notes
    -----
    The point of a weight w minimises E + w·n·RMSE². So any surface with an RMSE of r has at least the energy
    E_w + w·n·(RMSE_w² - r²). The largest of these bounds counts; one more is the minimum of E itself.
    """
    return max(one.energy + one.weight * pixels * (one.error**2 - error**2) for one in points)


def _point(depth, surface, **made):
    exists, observed = pairs.neighbours(np.ones(depth.shape, bool))
    energy = pairs.energy(depth, surface.p, surface.q, exists, observed, pairs.TOTAL_VARIATION, 0.0)
    return Point(float(energy), rmse(depth, surface.depth), **made)
