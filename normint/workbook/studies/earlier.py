"""What least squares was before the paper: forward differences, Jacobi iterations, another boundary."""

import numpy as np

from normint.inputs import as_count, as_gradient, as_positive
from normint.solver.rectangle import cosine_solution, minus_divergence
from normint.solver.system import System

__all__ = ["forward_only", "homogeneous_neumann", "jacobi_iterations"]


def forward_only(p, q, mask=None):
    """Integrate by least squares with forward differences only: z_{u+1,v} - z_{u,v} = p_{u,v}.

    Examples
    --------
    >>> forward_only([[0.0, 0.0, 0.0]], [[1.0, 2.0, 9.0]]).round(6)
    array([[-1.333333, -0.333333,  1.666667]])
    """
    p, q, mask = as_gradient(p, q, mask)
    return System(mask).solve(p, q, tolerance=1e-8).depth


def jacobi_iterations(p, q, *, tolerance=1e-4, max_iterations=100_000):
    """Count the Jacobi iterations until the residual of least squares on a rectangle has fallen.

    Parameters
    ----------
    p, q : array_like
    tolerance : float
        Bound on the residual, relative to the right-hand side.
    max_iterations : int

    Returns
    -------
    int

    Notes
    -----
    Every pixel takes the mean of what its neighbours say. On a bipartite graph that may swing for ever; half
    of a step, as here, never does.
    """
    p, q, mask = as_gradient(p, q)
    tolerance, max_iterations = (
        as_positive("tolerance", tolerance),
        as_count("max_iterations", max_iterations),
    )
    down, right = 0.5 * (p[1:] + p[:-1]), 0.5 * (q[:, 1:] + q[:, :-1])
    neighbours = np.zeros(mask.shape)
    for part in (np.s_[1:], np.s_[:-1], np.s_[:, 1:], np.s_[:, :-1]):
        neighbours[part] += 1
    z, residual = np.zeros(mask.shape), np.empty(mask.shape)
    scale = None
    for iteration in range(max_iterations):
        residual[:] = 0
        for axis, flux in enumerate((down, right)):
            flow = np.diff(z, axis=axis) - flux
            here, there = (np.s_[:-1], np.s_[1:]) if axis == 0 else (np.s_[:, :-1], np.s_[:, 1:])
            residual[here] += flow
            residual[there] -= flow
        norm = np.linalg.norm(residual)
        scale = norm if scale is None else scale  # from zero, the first residual is the right-hand side
        if norm <= tolerance * scale:
            return iteration
        z += 0.5 * residual / neighbours
    raise ValueError(f"max_iterations is {max_iterations}; expected enough of them to reach {tolerance:g}")


def homogeneous_neumann(p, q):
    """Integrate on a rectangle as if the surface were level across its border, ∇z·η = 0.

    Notes
    -----
    The Poisson equation with ∇p·η = ∇q·η = 0 as in the paper's Section 3.4, but z equal on both sides of the
    border: the slopes across it leave the right-hand side.

    Examples
    --------
    >>> homogeneous_neumann(np.ones((4, 4)), np.zeros((4, 4))).round(6)[:, 0] + 0.0  # a plane becomes flat
    array([0., 0., 0., 0.])
    """
    p, q, _ = as_gradient(p, q)
    b = minus_divergence(p, q, True)
    b[0] += p[0]
    b[-1] -= p[-1]
    b[:, 0] += q[:, 0]
    b[:, -1] -= q[:, -1]
    return cosine_solution(b)
