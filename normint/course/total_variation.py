"""Exercise 3: the steps of ADMM for total variation."""

import numpy as np

from normint.course import given
from normint.course.checking import Mistake, Task, draws
from normint.course.discretisation import HOLE, connected
from normint.domain import Domain


def shrink(s, threshold, *, how="lengths", at_zero=0.0):
    """Shorten the rows of s by a threshold."""
    if how == "components":
        return np.sign(s) * np.maximum(np.abs(s) - threshold, 0.0)
    length = np.linalg.norm(s, axis=1, keepdims=True)
    left = length - threshold if how == "unlimited" else np.maximum(length - threshold, 0.0)
    if how == "unscaled":
        return left * s
    if how == "hard":
        return s * (length > threshold)
    if how == "lengths only":
        return left * np.ones_like(s)
    return np.where(length > 0, left * s / np.where(length > 0, length, 1.0), at_zero)


def update(
    Du, Dv, p, q, z, b, alpha, *, scale=1.0, inverse=True, g=-1, memory=True, dual="s - r", swapped=False
):
    """Return the next r and b of one pair."""
    p, q = (q, p) if swapped else (p, q)
    gap = np.stack([Du @ z + g * p, Dv @ z + g * q], axis=1)
    s = gap + b if memory else gap
    r = shrink(s, scale / alpha if inverse else scale * alpha)
    return r, {"s - r": s - r, "r - s": r - s, "s": s, "gap": gap - r, "old": b}[dual]


def system(
    pairs, r, b, alpha, *, share_A=0.125, share_b=0.125, r_sign=1, b_sign=-1, data=1, sign=1, step=True
):
    """Return the matrix and the right-hand side of the z-update."""
    alpha = alpha if step else 1.0
    A = alpha * share_A * sum(Du.T @ Du + Dv.T @ Dv for Du, Dv, _, _ in pairs)
    rhs = 0.0
    for (Du, Dv, p, q), one, dual in zip(pairs, r, b, strict=True):
        target = data * np.stack([p, q], axis=1) + r_sign * one + b_sign * dual
        rhs = rhs + sign * alpha * share_b * (Du.T @ target[:, 0] + Dv.T @ target[:, 1])
    return A, rhs


def _vectors(seed=None):
    s, thresholds = np.array([[3.0, 4.0], [0.3, -0.4], [0.0, 0.0], [-2.0, 0.5], [0.9, 0.9]]), (1.0, 0.25)
    if seed is not None:
        rng = draws(3, seed)
        s *= rng.choice([-1.0, 1.0], size=s.shape) * rng.uniform(0.8, 1.2, size=s.shape)
        thresholds = rng.uniform(0.9, 1.1), rng.uniform(0.2, 0.3)
    return {f"five vectors and the threshold {t:.3g}": (s, t) for t in thresholds}


def _pairs(seed):
    rng = draws(4, seed)
    mask = HOLE if seed is None else connected(rng)
    omega = Domain(mask)
    return rng, given.pairs(omega, *rng.normal(size=(2, *mask.shape))), rng.normal(size=omega.size)


def _update_cases(seed=None):
    rng, pairs, z = _pairs(seed)
    return {
        f"a mask with a hole, α = {alpha:g}": (*pair, z, 0.5 * rng.normal(size=(len(pair.p), 2)), alpha)
        for pair, alpha in zip(pairs, (1.0, 2.0, 3.0, 0.8), strict=True)
    }


def _system_cases(seed=None):
    rng, pairs, _ = _pairs(seed)
    r, b = ([rng.normal(size=(len(pair.p), 2)) for pair in pairs] for _ in range(2))
    return {"a mask with a hole, α = 1": (pairs, r, b, 1.0), "a mask with a hole, α = 3": (pairs, r, b, 3.0)}


check_shrinkage = Task(
    "shrink",
    "an array like s, each of its rows shortened by the threshold",
    shrink,
    _vectors,
    (
        Mistake(
            {"how": "components"},
            "each component is shrunk by itself.",
            "That minimises |r_u| + |r_v|, the anisotropic total variation. Here the length √(r_u² + r_v²) "
            "counts: where p cannot be trusted, q cannot either, so both go together.",
        ),
        Mistake(
            {"how": "unscaled"},
            "s is multiplied by max(‖s‖ − t, 0) but not divided by its length.",
            "The result should have the length max(‖s‖ − t, 0) and the direction s/‖s‖.",
        ),
        Mistake(
            {"how": "hard"},
            "long vectors are kept as they are: hard thresholding.",
            "That minimises the number of non-zero vectors, which is not convex. "
            "The length costs ‖r‖, so even long vectors become shorter, by t.",
        ),
        Mistake(
            {"how": "unlimited"},
            "vectors shorter than the threshold are turned around.",
            "max(‖s‖ − t, 0) is missing its max: a length cannot be negative. These vectors become zero, "
            "and that is what makes residuals exactly zero almost everywhere.",
        ),
        Mistake(
            {"how": "lengths only"},
            "the rows have the right length in both components, but no direction.",
            "Multiply by s/‖s‖: shrinking shortens a vector and does not turn it.",
        ),
        Mistake(
            {"at_zero": np.nan},
            "the zero vector becomes NaN.",
            "0/0: where ‖s‖ = 0 there is no direction to divide out, and the answer is 0. "
            "Divide by np.maximum(length, a tiny number).",
        ),
    ),
    returns=("r",),
    hint="r has the direction of s, and the length max(‖s‖ − t, 0).",
)

check_update = Task(
    "update",
    "the next r and b of one pair, two arrays with two columns",
    update,
    _update_cases,
    (
        Mistake(
            {"scale": 4.0},
            "the threshold is 4/α. It should be 1/α.",
            "4/α is what the paper prints, and belongs to ‖r‖. The energy has ¼‖r‖: the derivative of "
            "α/8 ‖r − s‖² + ¼‖r‖ vanishes where ‖r − s‖ = 1/α. Without λ both lead to the same surface, "
            "with λ they do not.",
        ),
        Mistake(
            {"inverse": False},
            "the threshold is α. It should be 1/α.",
            "α weighs the quadratic term: the larger α, the closer r stays to s, so the less it is shrunk.",
        ),
        Mistake(
            {"g": 1},
            "g is added where it should be subtracted.",
            "r stands for the residual ∇z − g.",
        ),
        Mistake(
            {"swapped": True},
            "p and q are exchanged.",
            "The first column belongs to u: Du z − p. The second to v: Dv z − q.",
        ),
        Mistake(
            {"memory": False, "dual": "gap"},
            "b is forgotten in s.",
            "s = ∇z − g + b. Without b nothing remembers how far r and ∇z − g still are apart, and the "
            "iteration minimises a penalty instead of the energy.",
        ),
        Mistake(
            {"dual": "r - s"},
            "the new b has the wrong sign.",
            "b grows by what the constraint is violated: b + (∇z − g) − r. With the other sign the "
            "iteration pushes r and ∇z − g apart.",
        ),
        Mistake(
            {"dual": "s"},
            "r is not subtracted in the new b.",
            "b + ∇z − g − r: only what r does not take of s stays in b.",
        ),
        Mistake(
            {"dual": "gap"},
            "the new b forgets the old one.",
            "b sums up the violations ∇z − g − r of all iterations: add to the old b.",
        ),
        Mistake(
            {"dual": "old"},
            "b is returned as it came.",
            "Without its update the iteration minimises a penalty, and r never becomes ∇z − g.",
        ),
    ),
    returns=("r", "b"),
    hint="s = ∇z − g + b, r is s shortened by 1/α, and the new b is s − r.",
)

check_depth_system = Task(
    "depth_system",
    "the sparse matrix A_TV and the vector b_TV",
    system,
    _system_cases,
    (
        Mistake(
            {"b_sign": 1},
            "b is added where it should be subtracted.",
            "r + g − b: b was added to ∇z − g on the way to r, so it has to go on the way back.",
        ),
        Mistake(
            {"r_sign": -1},
            "r is subtracted where it should be added.",
            "∇z − g = r means ∇z = g + r: that is what z is drawn to.",
        ),
        Mistake(
            {"r_sign": 0, "b_sign": 0},
            "r and b are not used.",
            "This is the system of least squares, whose solution never changes.",
        ),
        Mistake(
            {"data": 0},
            "p and q are not used.",
            "z is drawn to g + r − b. Without g the surface is flat.",
        ),
        Mistake(
            {"share_A": 1.0, "share_b": 1.0},
            "both lack the factor 1/8.",
            "Without λ the solution is the same. With one the prior would weigh an eighth of what it should.",
        ),
        Mistake(
            {"share_A": 0.25, "share_b": 0.25},
            "both have the factor ¼ instead of 1/8.",
            "¼ is what the derivative of α/8 ‖·‖² gives. The paper divides the whole system by two, as it "
            "does for least squares; with Λ² on the diagonal it matters.",
        ),
        Mistake(
            {"step": False},
            "α is forgotten.",
            "Without λ it cancels. With one, the prior would weigh 1/α of what it should.",
        ),
        Mistake(
            {"share_b": 1.0},
            "the factor 1/8 is in A but not in the right-hand side.",
            "Both sides come from the same derivative; the surface comes out eight times too high.",
        ),
        Mistake(
            {"sign": -1},
            "the right-hand side has the wrong sign.",
            "The derivative of ‖Dz − t‖² is 2Dᵀ(Dz − t): A z = Dᵀt. Dᵀ is minus the divergence already.",
        ),
    ),
    returns=("A", "rhs"),
    hint="each pair draws Du z to p + r[:, 0] − b[:, 0], and Dv z to q + r[:, 1] − b[:, 1].",
)  # fmt: skip
