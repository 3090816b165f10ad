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
from normint.surfaces import vase
from normint.workbook.study import Study
from normint.workbook.study.kept import kept

__all__ = ["Point", "least_energy", "point", "points", "surface_near"]


@dataclass(frozen=True)
class Point:
    """A surface: its energy, its RMSE, and the weight of the truth or the iterations that made it."""

    energy: float
    error: float
    weight: float = 0.0
    iterations: int = 0


def surface_near(*, n, sigma, seed, weight=0.0, step=None, count=0):
    """Make a surface of low energy on the noisy vase; a run of a study.

    Parameters
    ----------
    n, sigma, seed
        Of the vase and its noise.
    weight : float
        w: it minimises E + w·n·RMSE².
    step, count
        If a step α is given, it is instead what the paper's scheme has after so many iterations.

    Returns
    -------
    dict
        Its `level`, which is the energy, and its `rmse`.
    """
    truth = vase(n)
    noisy = truth.with_noise(sigma, np.random.default_rng(seed))
    if step is None:
        how = {"prior": truth.depth, "prior_weight": weight}
    else:
        how = {"scheme": "paper", "step": step, "max_iterations": count}
    one = point(integrate_quietly(noisy.p, noisy.q, method="total_variation", **how).depth, noisy)
    return {"level": one.energy, "rmse": one.error}


def points(**settings):
    """Return the `Point` of each run of :func:`surface_near`, one of the settings being a list."""
    table = kept(Study.over(surface_near, **settings), "energy_gap", live=1)
    table = table.reindex(columns=["level", "rmse", "weight", "count"], fill_value=0)
    return [Point(*row) for row in table.itertuples(index=False)]


def least_energy(points, error, pixels):
    """Return an energy that no surface with this RMSE, or a smaller one, is below.

    Parameters
    ----------
    points : list of Point
        Of several weights.
    error : float
    pixels : int
        Their number n.

    Notes
    -----
    The point of a weight w minimises E + w·n·RMSE². So any surface with an RMSE of r has at least the energy
    E_w + w·n·(RMSE_w² - r²). The largest of these bounds counts; one more is the minimum of E itself.
    """
    return max(one.energy + one.weight * pixels * (one.error**2 - error**2) for one in points)


def point(depth, surface):
    """Return the `Point` of a depth, for a Surface with its true depth and a noisy gradient."""
    exists, observed = pairs.neighbours(np.ones(depth.shape, bool))
    energy = pairs.energy(depth, surface.p, surface.q, exists, observed, pairs.TOTAL_VARIATION, 0.0)
    return Point(float(energy), rmse(depth, surface.depth))
