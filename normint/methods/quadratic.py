"""Quadratic integration: least squares on the masked grid, for smooth surfaces."""

import time

import numpy as np

from normint import inputs
from normint.compiling import FAST, njit
from normint.methods.result import Integration
from normint.solver.pieces import NOTHING
from normint.solver.system import System
from normint.solver.threads import band_count, share_rows


def quadratic(
    p, q, mask=None, *, prior=None, prior_weight=0.0,
    initial=None, tolerance=1e-4, max_iterations=100, callback=None, solver="multigrid",
):  # fmt: skip
    """Find the depth whose finite differences are closest to the gradient in the sense of least squares.

    Parameters
    ----------
    p, q, mask, prior, prior_weight
        As for :func:`normint.integrate`.
    initial : array_like, optional
        Depth to start from. The solution does not depend on it, only the number of iterations.
    tolerance : float
        Bound on the relative residual of the linear system; :meth:`normint.solver.system.System.solve` says
        what depth error it leaves.
    max_iterations : int
        Of the linear solver.
    callback : callable, optional
        Called as ``callback(iteration, relative_residual)``.
    solver : {"multigrid", "pyamg", "cg", "jacobi", "direct"}
        See :class:`normint.solver.system.System`.

    Returns
    -------
    Integration

    When to use it
    --------------
    For smooth surfaces, and wherever a mask separates the objects. It is the fastest on any mask, has one
    answer and nothing to tune. Where the surface jumps inside the mask it bends what is on both sides.

    Notes
    -----
    Every p_{u,v} is read twice, as the forward and as the backward difference at its pixel, each only if the
    neighbour is in Ω (Section 3.1 of the paper):

        E(z) = ½ Σ_{Ω_u⁺} (∂_u⁺z - p)² + ½ Σ_{Ω_u⁻} (∂_u⁻z - p)² + the same for v and q + Σ_Ω λ (z - z⁰)².

    The forward reading at a pixel and the backward one at the next share an edge. Their sum is
    (z_j - z_i - ½(p_i + p_j))² and a constant: one edge of weight 1 whose flux is the mean slope. No boundary
    condition is needed, because an edge that leaves Ω is simply not there.

    Transposing, flipping or negating the data, scaling them or adding a plane does the same to the depth.
    Flips and planes do so up to what the tolerance leaves, since the solver goes through the pixels in an
    order of its own: at 1e-4, depths differ by up to 6e-4 of the largest, on pure noise.

    References
    ----------
    Y. Quéau, J.-D. Durou, J.-F. Aujol, "Variational Methods for Normal Integration", Section 3.

    Examples
    --------
    >>> mask = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]])
    >>> result = quadratic(np.ones((3, 3)), np.zeros((3, 3)), mask)
    >>> result.depth.round(3)
    array([[-0.875, -0.875, -0.875],
           [ 0.125,  0.125,  0.125],
           [ 1.125,  1.125,    nan]])
    """
    start = time.perf_counter()
    p, q, mask = inputs.as_gradient(p, q, mask)
    prior, weight = inputs.as_prior(prior, prior_weight, mask)
    if initial is not None:
        initial = inputs.as_field("initial", initial, mask)
    tolerance = inputs.as_positive("tolerance", tolerance)
    max_iterations = inputs.as_count("max_iterations", max_iterations)

    solution = System(mask, diagonal=weight, solver=solver).solve(
        p, q, prior, slopes=True,
        initial=initial, tolerance=tolerance, max_iterations=max_iterations, callback=callback,
    )  # fmt: skip
    return Integration(
        depth=solution.depth,
        energies=np.array([energy(solution.depth, p, q, mask, prior, weight)]),
        iterations=solution.iterations,
        converged=solution.converged,
        seconds=time.perf_counter() - start,
    )


def energy(z, p, q, mask, prior=None, weight=None):
    """Compute E(z): the residuals of all differences that exist, and the prior."""
    sums = np.zeros(band_count(len(mask)))
    held = (NOTHING, NOTHING) if prior is None else (prior, weight)
    share_rows(_energy, mask.shape, z, p, q, mask, *held, sums)
    return float(sums.sum())


@njit(**FAST)
def _energy(band, begin, end, z, p, q, mask, prior, weight, sums):
    rows, cols = mask.shape
    total = 0.0
    for i in range(begin, end):
        for j in range(cols):
            if not mask[i, j]:
                continue
            if i + 1 < rows and mask[i + 1, j]:
                t = z[i + 1, j] - z[i, j]
                total += 0.5 * ((t - p[i, j]) ** 2 + (t - p[i + 1, j]) ** 2)
            if j + 1 < cols and mask[i, j + 1]:
                t = z[i, j + 1] - z[i, j]
                total += 0.5 * ((t - q[i, j]) ** 2 + (t - q[i, j + 1]) ** 2)
            if weight.size > 0:
                total += weight[i, j] * (z[i, j] - prior[i, j]) ** 2
    sums[band] = total
