"""Exercise 2: the linear system of quadratic integration, and its solution where it is singular."""

import numpy as np
import scipy.sparse

from normint.course import given
from normint.course.checking import Mistake, Task, draws
from normint.course.discretisation import connected, masks
from normint.domain import Domain


def system(
    omega, p, q, lam, z0, *, half_A=0.5, half_b=0.5, sign=1, power=1.0, prior_A=True, prior_b=True,
    swapped=False, transposed=True, readings="both",
):  # fmt: skip
    """Return A and b of A z = b."""
    p, q = (q, p) if swapped else (p, q)
    L, b = 0.0, 0.0
    for D, g in ((omega.Du_plus, p), (omega.Du_minus, p), (omega.Dv_plus, q), (omega.Dv_minus, q)):
        if readings == "both" or D is omega.Du_plus or D is omega.Dv_plus:
            L = L + half_A * (D.T @ D)
            b = b + sign * half_b * ((D.T if transposed else D) @ g)
    weight = lam**power
    A = L + scipy.sparse.diags_array(prior_A * weight)
    return A, b + prior_b * weight * z0


def _system_cases(seed=None):
    rng = draws(2, seed)
    cases = {}
    for name, mask in masks(seed).items():
        omega = Domain(mask)
        p, q, z0 = rng.normal(size=(3, omega.size))
        cases[name] = (omega, p, q, rng.uniform(0.1, 3, omega.size), z0)
    return cases


def _singular_cases(seed=None):
    rng = draws(3, seed)
    cases = {}
    rectangle = np.pad(np.ones((5, 6), dtype=bool), 1)
    rectangle[1, 1] = rectangle[3:5, 4] = False
    row = np.ones((1, 7), dtype=bool)
    rectangle, row = (rectangle, row) if seed is None else (connected(rng), row[:, : rng.integers(4, 7)])
    for name, mask in {"a row of pixels": row, "a rectangle with a hole": rectangle}.items():
        omega = Domain(mask)
        b = omega.Du @ rng.normal(size=omega.size) + omega.Dv @ rng.normal(size=omega.size)
        cases[name] = (omega.laplacian(), b)
    return cases


def _judge_solution(arguments, answers, expected):
    A, b = arguments
    (z,), (right,) = answers, expected
    if z.shape != right.shape:
        return None
    if not np.isfinite(z).all() or np.abs(z).max() > 1e6 * np.abs(right).max():
        return (
            "z has values that are infinite, NaN, or enormous.",
            "Without λ, A is singular: A 1 = 0, so z and z + c solve the system alike, and a general solver "
            "divides by zero. Fix one pixel, say z[0] = 0, and solve for the others.",
        )
    if np.allclose(z - z.mean(), right):
        return (
            "the slopes are right, but the mean of z is not removed.",
            "Slopes do not tell the constant: every z + c is a solution. Mean zero is the choice that does "
            "not depend on which pixel was fixed; subtract z.mean().",
        )
    rest = np.linalg.norm(A @ z - b) / np.linalg.norm(b)
    if rest < 0.1:
        return (
            f"A z and b still differ, by {rest:.0e} of b.",
            "Either an iterative solver stopped early (lower its rtol), or a small number was added to the "
            "diagonal. The latter is a prior z⁰ = 0 and flattens the surface, the more the larger it is.",
        )
    return None


check_system = Task(
    "assemble",
    "the sparse matrix A and the vector b of A z = b",
    system,
    _system_cases,
    (
        Mistake(
            {"sign": -1},
            "the data terms in b have the wrong sign.",
            "Dᵀ acts as minus the divergence: D_u p + D_v q ≈ −∇·g already has the minus of "
            "−Δz + λz = −∇·g + λz⁰. With another one, hills become hollows.",
        ),
        Mistake(
            {"transposed": False},
            "b is made with D where Dᵀ belongs.",
            "The derivative of ½‖Dz − p‖² by z is Dᵀ(Dz − p). D p would also be a difference of slopes, but "
            "of the wrong pixels at the border.",
        ),
        Mistake(
            {"half_A": 1.0, "half_b": 1.0},
            "both A and b lack the factor ½.",
            "Without a prior the solution is the same. With one, the slopes weigh twice what λ says.",
        ),
        Mistake(
            {"half_b": 1.0},
            "b lacks the factor ½ that A has.",
            "The readings of p, forwards and backwards, count half each. The surface would be twice as high.",
        ),
        Mistake(
            {"half_A": 1.0},
            "A lacks the factor ½ that b has.",
            "The two readings of each edge count half each. This surface would be half as high.",
        ),
        Mistake(
            {"power": 2.0},
            "the diagonal holds λ², and should hold λ.",
            "Λ holds √λ, so that ‖Λ(z − z⁰)‖² = Σ λ (z − z⁰)². Its square Λ² holds λ.",
        ),
        Mistake(
            {"power": 0.5},
            "the diagonal holds √λ, and should hold λ.",
            "Λ holds √λ, but A has Λ², which comes from the derivative of ‖Λ(z − z⁰)‖².",
        ),
        Mistake(
            {"prior_A": False, "prior_b": False},
            "λ is forgotten, in A and in b.",
            "Without Λ² the prior has no say and A stays singular.",
        ),
        Mistake(
            {"prior_b": False},
            "λ z⁰ is missing in b.",
            "A z = b then draws the depth to 0 rather than to z⁰.",
        ),
        Mistake(
            {"prior_A": False},
            "λ is missing on the diagonal of A.",
            "The derivative of λ(z − z⁰)² has two terms: λz belongs to A, λz⁰ to b.",
        ),
        Mistake(
            {"swapped": True},
            "p and q are exchanged.",
            "p is the slope along u (down) and belongs to D_u; q to D_v.",
        ),
        Mistake(
            {"readings": "forward"},
            "only the forward differences are used.",
            "A still counts every edge, but with ½, and b takes the slope from one end of an edge instead of "
            "the mean of both: first order instead of second.",
        ),
    ),
    returns=("A", "b"),
    hint="set the derivative of E_L2 by z to zero and divide by two.",
)  # fmt: skip

check_solution = Task(
    "solve",
    "the vector z of zero mean with A z = b",
    given.solve,
    _singular_cases,
    returns=("z",),
    judge=_judge_solution,
    hint="does A @ z give b?",
)
