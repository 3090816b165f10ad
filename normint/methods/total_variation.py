"""Total variation: the sum of the lengths of the residuals, which forgives a few large ones."""

import numpy as np

from normint import inputs
from normint.compiling import FAST, njit
from normint.methods import pairs
from normint.methods.iteration import Problem
from normint.methods.pairs import DOWN, RIGHT
from normint.methods.reweighted import Descent, Reweighted
from normint.solver.system import System

FALLING = np.maximum(0.2 * 0.75 ** np.arange(28), 1e-4)  # δ of the fast scheme, in parts of the mean residual


def total_variation(
    p, q, mask=None, *, prior=None, prior_weight=0.0, step=1.0, scheme="fast",
    initial=None, tolerance=None, max_iterations=None, callback=None,
):  # fmt: skip
    """Integrate by minimising the isotropic total variation of ∇z - g.

    Parameters
    ----------
    p, q, mask, prior, prior_weight
        As for :func:`normint.integrate`.
    step : float
        α of the paper's scheme: how fast it converges, not where to.
    scheme : {"fast", "paper"}
        Reweighted least squares with multigrid, or the paper's ADMM; see the Notes.
    initial : array_like, optional
        Depth to start from, by default that of least squares. The energy is convex: its least value is
        reached from any start.
    tolerance : float, optional
        Stop when the energy changes by less than this part; 1e-7 for the fast scheme, 0 for the paper's.
    max_iterations : int, optional
        100 for the fast scheme, 1000 for the paper's.
    callback : callable, optional
        Called as ``callback(iteration, energy)``.

    Returns
    -------
    Integration
        Its weights are 1/2√(s² + δ²) with s = ‖∇z - g‖ and the last δ of the Notes, averaged on each edge:
        small where the surface jumps.

    When to use it
    --------------
    For smooth surfaces with a few wrong normals. It is convex: no start leads astray. And there is nothing to
    tune. Small jumps survive as ramps; where high ones matter, other methods do better.

    Notes
    -----
    The energy (paper, Equation 36) is E(z) = ¼ Σ_{UV} Σ_{Ω^{UV}} ‖∇^{UV}z - g‖ + Σ λ (z - z⁰)².

    *paper*: ADMM with r^{UV} = ∇^{UV}z - g. The z-update is one fixed system with the weight α/8 for each
    pair, the r-update shrinks vectors by 1/α. The paper prints 4/α, which belongs to the energy without its
    factor ¼.

    *fast*: √(s² + δ²) lies below a quadratic that touches it. Such quadratics are lowered in turn by a
    step of multigrid-preconditioned conjugate gradients, with momentum, while δ falls from 0.2 to 1e-4 of
    the mean residual. Eight systems one after the other share the multigrid's coarse levels. A depth with a
    larger E is not accepted.

    Transposing, flipping or negating the data, scaling them or adding a plane does the same to the depth. The
    fast scheme stops a little before the minimum, and a little elsewhere when the image is flipped: depths
    then differ by up to 1e-3 of the largest on surfaces with some noise, by up to 1e-2 on pure noise.

    Examples
    --------
    >>> p, q = np.full((3, 4), 2.0), np.full((3, 4), 1.0)
    >>> total_variation(p, q).depth.round(6)[0]
    array([-3.5, -2.5, -1.5, -0.5])
    """
    step = inputs.as_positive("step", step)
    if tolerance is None:
        tolerance = 0.0 if scheme == "paper" else 1e-7
    if max_iterations is None:
        max_iterations = 1000 if scheme == "paper" else 100
    problem = Problem(p, q, mask, prior, prior_weight, initial, scheme, tolerance, max_iterations, callback)
    model = Reweighted(problem, pairs.TOTAL_VARIATION, 0.0, kept=8)
    start = model.energy(problem.z)
    # Where the gradient is exactly that of a surface, nothing but rounding is left: δ stays above that.
    rounding = 1e-9 * max(np.abs(field[problem.mask]).max() for field in (problem.p, problem.q)) + 1e-30

    def deltas():
        energy = start
        for part in FALLING:
            yield part * max(energy / np.count_nonzero(problem.mask), rounding)
            energy = descent.energy

    if scheme == "paper":
        model.parameter = FALLING[-1] * max(start / np.count_nonzero(problem.mask), rounding)
        return problem.run(_Admm(problem, model, step).step, start, model)
    descent = Descent(model, deltas())
    return problem.run(descent.step, start, model, descent.settled)


class _Admm:
    """The paper's alternating direction method, with one hierarchy for all its linear systems."""

    def __init__(self, problem, model, alpha):
        self.problem, self.model, self.alpha = problem, model, alpha
        self.dual = np.zeros((8, *problem.mask.shape))  # b of each pair: its u and v component
        self.edges = np.empty((4, *problem.mask.shape))
        self.system = None

    def step(self, z):
        """Return the next depth and its energy: shrink, update the dual variables, solve."""
        problem = self.problem
        _shrink(z, *problem.data, 1.0 / self.alpha, self.alpha / 8, self.dual, *self.edges)
        if self.system is None:
            self.system = System(problem.mask, self.edges[:2], problem.weight)
        # Always one step of conjugate gradients, and that is enough: the systems hardly change from one
        # to the next. Near the end any tolerance would be met without a step.
        solution = self.system.solve(
            *self.edges[2:], problem.prior, initial=z, tolerance=1e-10, max_iterations=1
        )
        z = np.where(problem.mask, solution.depth, 0.0)
        return z, self.model.energy(z)


@njit(**FAST)
def _shrink(z, p, q, exists, observed, threshold, share, dual, down, right, flux_down, flux_right):
    """Update r and b of every pair, and set the weights and fluxes of the system for z."""
    rows, cols = z.shape
    residuals, weights, sums = np.empty((4, cols)), np.empty((4, cols)), np.empty((4, cols))
    above, keep, padded = np.empty((2, cols)), np.empty(cols), np.zeros(cols + 2)
    for i in range(rows):
        pairs.residuals(i, z, p[i], q[i], exists, padded, residuals)
        weights[:], sums[:] = 0.0, 0.0
        for a in range(2):
            for b in range(2):
                k, u, v = 4 * a + 2 * b, DOWN + a, RIGHT + b
                there = observed[u, i] & observed[v, i]
                _kept_share(residuals[u], residuals[v], dual[k, i], dual[k + 1, i], threshold, keep)
                _update(residuals[u], keep, there, dual[k, i], sums[u])
                _update(residuals[v], keep, there, dual[k + 1, i], sums[v])
                _count(there, share, weights[u])
                _count(there, share, weights[v])
        for k in range(4):
            _mean_slope(p[i] if k < RIGHT else q[i], share, exists[k, i], weights[k], sums[k])
        pairs.collect(i, weights, sums, above, down, right, flux_down, flux_right)


@njit(**FAST)
def _kept_share(r, s, b, c, threshold, keep):
    """Set the factor by which shrinkage shortens the vectors (r + b, s + c)."""
    for j in range(keep.size):
        length = np.sqrt((r[j] + b[j]) ** 2 + (s[j] + c[j]) ** 2)
        keep[j] = 1.0 - threshold / length if length > threshold else 0.0


@njit(**FAST)
def _update(residual, keep, there, b, total):
    """Split s = residual + b into r = keep·s and the new b = s - r; z is drawn to g + r - b."""
    for j in range(keep.size):
        s = residual[j] + b[j] if there[j] else 0.0
        b[j] = s - keep[j] * s
        total[j] += (2.0 * keep[j] - 1.0) * s


@njit(**FAST)
def _count(there, share, weight):
    for j in range(weight.size):
        weight[j] += share if there[j] else 0.0


@njit(**FAST)
def _mean_slope(slope, share, exists, weight, total):
    """Turn the sum of what pairs draw a difference to into its mean; what does not exist weighs nothing."""
    for j in range(weight.size):
        total[j] = slope[j] + share * total[j] / weight[j] if weight[j] > 0 else 0.0
        weight[j] = weight[j] if exists[j] else 0.0
