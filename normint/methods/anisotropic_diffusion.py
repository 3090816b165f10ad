"""Anisotropic diffusion: least squares with weights that fall where the surface is steep."""

import numpy as np

from normint import inputs
from normint.compiling import FAST, njit
from normint.methods import pairs
from normint.methods.iteration import Problem
from normint.methods.pairs import DOWN, LEFT, RIGHT, UP
from normint.methods.reweighted import Reweighted


def anisotropic_diffusion(
    p, q, mask=None, *, prior=None, prior_weight=0.0, mu=1.0, nu=1.0, solver=None, scheme="fast",
    initial=None, tolerance=None, max_iterations=None, callback=None,
):  # fmt: skip
    """Integrate with diffusion weights; with μ = ν = 1 there is no parameter to tune.

    Parameters
    ----------
    p, q, mask, prior, prior_weight
        As for :func:`normint.integrate`.
    mu : float
        Weights fall where ‖∇z‖ exceeds μ: the smaller, the more discontinuities are allowed.
    nu : float
        Weights fall where |p| or |q| exceeds ν.
    solver : str, optional
        See :class:`normint.solver.system.System`; "multigrid" for the fast scheme, "direct" for the paper's.
    scheme : {"fast", "paper"}
        The fixed point by multigrid and a last step down the energy, or by sparse factorisations.
    initial : array_like, optional
        Depth that the first weights come from, by default that of least squares.
    tolerance : float, optional
        Stop when the energy changes by less than this part; 1e-6 for the fast scheme, 0 for the paper's.
    max_iterations : int, optional
        21 for the fast scheme, 20 for the paper's: linear systems to solve at most, and the fast scheme's
        last step.
    callback : callable, optional
        Called as ``callback(iteration, energy)``.

    Returns
    -------
    Integration
        Its weights are the diffusion weights summed on each edge.

    When to use it
    --------------
    For surfaces that jump where they are steep, such as the outline of a body before another, when there is
    no time to tune: μ = ν = 1 does on most data. It takes steep slopes for jumps, and jumps between gentle
    sides for slopes.

    Notes
    -----
    The energy (paper, Section 4.4) is

        E(z) = ¼ Σ_{UV} Σ_{Ω^{UV}} a² (∂_u^U z - p)² + b² (∂_v^V z - q)² + Σ λ (z - z⁰)²

    with a² = 1 / ((1 + p²/ν²) (1 + ‖∇^{UV}z‖²/μ²)) and b² likewise with q. With the weights frozen at the
    last z it is a system of :mod:`normint.solver.system`, solved anew until nothing moves. This fixed point
    ignores how the weights change with z: it is no minimiser of E, and E may end above that of least squares.
    Its iterates swing between two states that differ from pixel to pixel.

    *paper*: sparse factorisations.

    *fast*: multigrid from the last depth; and the last iteration is a gradient step down E itself, weights
    included, which ends the swinging. Going on down would lead to another surface: E has local minima.

    Transposing, flipping or negating the data, or scaling them together with μ and ν, does the same to the
    depth. Adding a plane does not: weights depend on how steep the surface is.

    Examples
    --------
    >>> p, q = np.full((3, 4), 2.0), np.full((3, 4), 1.0)
    >>> anisotropic_diffusion(p, q).depth.round(6)[0]
    array([-3.5, -2.5, -1.5, -0.5])
    """
    mu, nu = inputs.as_positive("mu", mu), inputs.as_positive("nu", nu)
    if tolerance is None:
        tolerance = 0.0 if scheme == "paper" else 1e-6
    if max_iterations is None:
        max_iterations = 20 if scheme == "paper" else 21
    problem = Problem(p, q, mask, prior, prior_weight, initial, scheme, tolerance, max_iterations, callback)
    if solver is None:
        solver = "direct" if scheme == "paper" else "multigrid"
    exact = {"tolerance": 1e-10, "steps": 50}
    if scheme == "fast":
        exact |= {"tolerance": 1e-5, "kept": 3}
    model = Reweighted(problem, pairs.DIFFUSION, mu, nu, solver=solver, **exact)
    with np.errstate(over="ignore", invalid="ignore"):  # outside the mask anything is allowed
        steepness = problem.p**2 + problem.q**2
        weight = 1.0 / ((1.0 + steepness / mu**2) * (1.0 + steepness / nu**2))
    start, stop = model.look(problem.z), {"descends": False, "least": problem.rounding(weight)}
    if scheme == "fast":
        scheme = _FixedPointThenDescent(model)
        return problem.run(scheme.step, start, model, scheme.settled, **stop)

    def step(z):
        z = model.minimise(z)
        return z, model.look(z)

    return problem.run(step, start, model, **stop)


class _FixedPointThenDescent:
    """The fixed point, and at the end one step down the energy."""

    def __init__(self, model):
        self.model = model
        # One step of plain conjugate gradients is a gradient step: it moves pixels, not whole parts.
        self.downhill = Reweighted(model.problem, model.kind, model.own, model.nu, solver="cg")
        self.left = model.problem.max_iterations
        self.arrived = False

    def step(self, z):
        """Return the next depth and its energy."""
        model = self.model
        self.left -= 1
        if self.arrived or self.left == 0:
            return self._descend(z)
        z = model.minimise(z)
        return z, model.look(z)

    def settled(self, still):
        """Tell whether the last step has been made; once the energy stands still, it is due."""
        settled, self.arrived = self.arrived, self.arrived or still
        return settled

    def _descend(self, z):
        model = self.downhill
        before = model.energy(z)
        _descent_model(z, *model.problem.data, model.parameter, model.nu, *model.edges)
        move = model.minimise(z) - z
        for length in 0.5 ** np.arange(20):
            energy = model.energy(z + length * move)
            if energy <= before:
                return z + length * move, energy
        return z, before


@njit(**FAST)
def _descent_model(z, p, q, exists, observed, mu, nu, down, right, flux_down, flux_right):
    """Set weights and fluxes of a quadratic with the gradient of the energy at z.

    A pair costs N/D, its squared residuals N over D = 1 + ‖∇z‖²/μ². That has the gradient of (N - ρD)/D with
    ρ = N/D and the divisor frozen. Making the concave -ρD linear leaves the weights of the fixed point, and
    slopes that are changed by ρ ∂z/μ², divided by the factor 1/(1 + p²/ν²) or 1/(1 + q²/ν²) of the residual.
    """
    rows, cols = z.shape
    d, padded, flat = np.empty((4, cols)), np.zeros(cols + 2), np.zeros(cols)
    weights, slopes, above = np.empty((4, cols)), np.empty((4, cols)), np.empty((2, cols))
    for i in range(rows):
        pairs.residuals(i, z, flat, flat, exists, padded, d)
        weights[:], slopes[:] = 0.0, 0.0
        for j in range(cols):
            a, b = 1.0 / (1.0 + (p[i, j] / nu) ** 2), 1.0 / (1.0 + (q[i, j] / nu) ** 2)
            for u in (DOWN, UP):
                for v in (RIGHT, LEFT):
                    if observed[u, i, j] and observed[v, i, j]:
                        r = d[u, j] - p[i, j] if exists[u, i, j] else 0.0
                        s = d[v, j] - q[i, j] if exists[v, i, j] else 0.0
                        t = 1.0 / (1.0 + (d[u, j] ** 2 + d[v, j] ** 2) / mu**2)
                        pull = t * t * (a * r * r + b * s * s) / mu**2
                        weights[u, j] += 0.25 * t * a
                        weights[v, j] += 0.25 * t * b
                        slopes[u, j] += 0.25 * pull * d[u, j]
                        slopes[v, j] += 0.25 * pull * d[v, j]
            for k in range(4):
                g = p[i, j] if k < RIGHT else q[i, j]
                slopes[k, j] = g + slopes[k, j] / weights[k, j] if exists[k, i, j] else 0.0
                weights[k, j] = weights[k, j] if exists[k, i, j] else 0.0
        pairs.collect(i, weights, slopes, above, down, right, flux_down, flux_right)
