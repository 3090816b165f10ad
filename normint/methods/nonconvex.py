"""Non-convex estimators Φ1 and Φ2: quadratic near zero, flat far away, so that jumps cost little."""

import numpy as np

from normint import inputs
from normint.compiling import FAST, njit
from normint.methods import pairs
from normint.methods.iteration import Problem
from normint.methods.reweighted import Descent, Reweighted

INERTIA = 0.8  # of iPiano, as in the paper
# The parameters that the fast scheme begins with, times the one asked for. Small ones take the large
# residuals of the start for jumps before smooth parts bend around them: the minima are lower, and better.
SHARPER = np.minimum(0.3 * 1.19 ** np.arange(8), 1.0)
# Steps of conjugate gradients for each system, how many systems share coarse levels, and how many do not at
# first. Φ2 gives up an edge for good, and sooner where a system is solved well: with two steps parts of the
# vase end 15 pixels away. Where it has given up is decided by the first systems.
SOLVED = {pairs.PHI_1: (2, 4, 0), pairs.PHI_2: (1, 4, 12)}
GROWTH = 1.2  # by which backtracking raises the estimate of the Lipschitz constant


def phi1(
    p, q, mask=None, *, prior=None, prior_weight=0.0, beta=0.5, scheme="fast",
    initial=None, tolerance=None, max_iterations=None, callback=None,
):  # fmt: skip
    """Integrate with Φ1(s) = log(s² + β²).

    Parameters
    ----------
    p, q, mask, prior, prior_weight
        As for :func:`normint.integrate`.
    beta : float
        Residuals well below β are treated as noise, those above as discontinuities.
    scheme : {"fast", "paper"}
        Reweighted least squares with multigrid, or the paper's iPiano; see the Notes.
    initial : array_like, optional
        Depth to start from, by default that of least squares. It decides which local minimum is found.
    tolerance : float, optional
        Stop when the energy changes by less than this part; 1e-6 for the fast scheme, 0 for the paper's.
    max_iterations : int, optional
        100 for the fast scheme, 1000 for the paper's.
    callback : callable, optional
        Called as ``callback(iteration, energy)``.

    Returns
    -------
    Integration
        Its weights are Φ'(s)/2s summed on each edge: small where the surface jumps.

    When to use it
    --------------
    For surfaces that jump, and data with little noise. Choose β: above the noise of the slopes, below the
    jumps. What is found depends on the start.

    Notes
    -----
    The energy (paper, Section 4.3) is E(z) = ¼ Σ_{UV} Σ_{Ω^{UV}} Φ(‖∇^{UV}z - g‖) + Σ λ (z - z⁰)².

    *paper*: iPiano, z ← prox_{αg}(z - α∇f(z) + 0.8 (z - z_last)). The step α = 2 (1 - 0.8) / L comes from
    backtracking: L starts at 1, is raised until f(z') ≤ f(z) + ⟨∇f(z), z' - z⟩ + L/2 ‖z' - z‖², and never
    exceeds a bound on the curvature. The prox of λ(z - z⁰)² is (x + 2αλz⁰)/(1 + 2αλ); the paper prints it
    with √λ in place of λ.

    *fast*: Φ is concave in s², so the quadratic with weights Φ'(s)/2s lies above it. Such quadratics are
    lowered in turn by steps of multigrid-preconditioned conjugate gradients, with momentum, the first ones
    for parameters below β: two steps for Φ1, one for Φ2. Four systems one after the other share the
    multigrid's coarse levels, but not the first twelve of Φ2. A depth with a larger E is not accepted.

    Transposing or negating the data, adding a plane, or scaling them together with β, does the same to the
    depth. Flipping an image may not: the solver goes through the pixels in an order of its own, and where
    two parts of a surface are torn apart, E has many minima that differ in height. On a vase with noise of
    1 % a flip moves parts by 40 % of the largest depth, while E changes by less than 0.1 %.

    Examples
    --------
    A plane with one wrong slope, which least squares spreads and Φ1 leaves out:

    >>> p, q = np.zeros((4, 6)), np.ones((4, 6))
    >>> q[1, 2] = 6.0
    >>> phi1(p, q, beta=0.1).depth.round(1)[1]
    array([-2.5, -1.5, -0.5,  0.5,  1.5,  2.5])
    """
    beta = inputs.as_positive("beta", beta)
    arguments = prior, prior_weight, initial, scheme, tolerance, max_iterations, callback
    return _nonconvex(p, q, mask, pairs.PHI_1, beta, *arguments)


def phi2(
    p, q, mask=None, *, prior=None, prior_weight=0.0, gamma=1.0, scheme="fast",
    initial=None, tolerance=None, max_iterations=None, callback=None,
):  # fmt: skip
    """Integrate with Φ2(s) = s² / (s² + γ²).

    Parameters
    ----------
    p, q, mask, prior, prior_weight
        As for :func:`normint.integrate`.
    gamma : float
        Residuals well below γ are treated as noise, those above as discontinuities.
    scheme : {"fast", "paper"}
        As for `phi1`.
    initial, tolerance, max_iterations, callback : optional
        As for `phi1`.

    Returns
    -------
    Integration

    When to use it
    --------------
    For surfaces with high jumps, and data with little noise: Φ2 is bounded, a jump costs at most 1, however
    high. Choose γ: above the noise of the slopes, below the jumps. What is found depends on the start.
    """
    gamma = inputs.as_positive("gamma", gamma)
    arguments = prior, prior_weight, initial, scheme, tolerance, max_iterations, callback
    return _nonconvex(p, q, mask, pairs.PHI_2, gamma, *arguments)


def _nonconvex(
    p, q, mask, kind, parameter, prior, prior_weight, initial, scheme, tolerance, iterations, callback,
):  # fmt: skip
    if tolerance is None:
        tolerance = 0.0 if scheme == "paper" else 1e-6
    if iterations is None:
        iterations = 1000 if scheme == "paper" else 100
    problem = Problem(p, q, mask, prior, prior_weight, initial, scheme, tolerance, iterations, callback)
    steps, kept, alone = SOLVED[kind]
    model = Reweighted(problem, kind, parameter, steps=steps, kept=kept, alone=alone)
    start = model.energy(problem.z)
    if scheme == "paper":
        return problem.run(_Ipiano(problem, kind, parameter).step, start, model)
    descent = Descent(model, parameter * SHARPER)
    return problem.run(descent.step, start, model, descent.settled)


class _Ipiano:
    """Forward-backward splitting with inertia and lazy backtracking."""

    def __init__(self, problem, kind, parameter):
        self.problem, self.kind, self.parameter = problem, kind, parameter
        self.last = problem.z.copy()
        self.spare = np.empty_like(problem.z)  # for the next depth: three images take turns
        self.slope, self.next_slope = np.empty((2, *problem.mask.shape))
        self.f = pairs.gradient(problem.z, *problem.data, kind, parameter, self.slope)
        # |Φ''| ≤ 2/parameter² for both, and the differences between pixels raise it at most eightfold.
        self.lipschitz, self.untested = 1.0, True
        self.bound = max(self.lipschitz, 16.0 / parameter**2)

    def step(self, z):
        """Return the next depth and its energy."""
        problem = self.problem
        while True:
            alpha = 2 * (1 - INERTIA) / self.lipschitz
            new = self.spare
            descent, length = _move(z, self.last, self.slope, alpha, problem.prior, problem.weight, new)
            f = pairs.gradient(new, *problem.data, self.kind, self.parameter, self.next_slope)
            curve = 0.5 * self.lipschitz * length
            expected, rounding = self.f + descent + curve, 1e-12 * abs(self.f)
            if self.lipschitz >= self.bound:
                break
            if self.untested and curve <= rounding:  # too small a step to tell anything about its curvature
                self.lipschitz = self.bound
                continue
            self.untested = False
            if f <= expected + rounding:
                break
            self.lipschitz = min(GROWTH * self.lipschitz, self.bound)
        self.spare, self.last, self.f = self.last, z, f
        self.slope, self.next_slope = self.next_slope, self.slope
        return new, f + problem.prior_energy(new)


@njit(**FAST)
def _move(z, last, slope, alpha, prior, weight, new):
    """Set the next depth; return how the linear model at z changes with it, and the squared distance."""
    descent, length = 0.0, 0.0
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            x = z[i, j] - alpha * slope[i, j] + INERTIA * (z[i, j] - last[i, j])
            if prior is not None:  # (I + α∂g)⁻¹ with g = λ(z - z⁰)²
                pull = 2.0 * alpha * weight[i, j]
                x = (x + pull * prior[i, j]) / (1.0 + pull)
            new[i, j] = x
            descent += slope[i, j] * (x - z[i, j])
            length += (x - z[i, j]) ** 2
    return descent, length
