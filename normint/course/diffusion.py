"""Exercise 5: the weights of anisotropic diffusion, the weighted system, and the fixed point."""

import numpy as np
import scipy.sparse

from normint.course import given
from normint.course.checking import Mistake, Task, draws
from normint.course.discretisation import connected
from normint.domain import Domain


def weights(
    du, dv, p, q, mu, nu, *, root=True, exchanged=False, squared=True, residual=False, crossed=False,
    coupled=True, inverse=True, data=True,
):  # fmt: skip
    """Return a and b of one pair."""
    mu, nu = (nu, mu) if exchanged else (mu, nu)
    p_of_a, q_of_b = (q, p) if crossed else (p, q)
    r, s = (du - p, dv - q) if residual else (du, dv)
    steep = r**2 + s**2 if coupled else np.stack([r**2, s**2])
    steep = 1 + steep / mu**2 if squared else 1 + np.sqrt(steep) / mu
    power = (-1 if inverse else 1) * (0.5 if root else 1.0)
    given_a, given_b = (1 + (g / nu) ** 2 if data else 1.0 for g in (p_of_a, q_of_b))
    first, second = (steep, steep) if coupled else steep
    return (given_a * first) ** power, (given_b * second) ** power


def system(pairs, a, b, *, quarter_A=0.25, quarter_b=0.25, power=2, weighted=True, crossed=False, sign=1):
    """Return the matrix and the right-hand side for fixed weights."""
    A, rhs = 0.0, 0.0
    for (Du, Dv, p, q), one, other in zip(pairs, a, b, strict=True):
        one, other = (other, one) if crossed else (one, other)
        for D, g, w in ((Du, p, one), (Dv, q, other)):
            square = w**power
            A = A + quarter_A * (D.T @ scipy.sparse.diags_array(square) @ D)
            rhs = rhs + sign * quarter_b * (D.T @ ((square if weighted else 1.0) * g))
    return A, rhs


def fixed_point(pairs, z, mu, nu, iterations, *, update="every time", more=0):
    """Return the depth after some iterations."""
    for iteration in range(iterations + more):
        if iteration == 0 or update != "once":
            gradients = [(p, q) if update == "from g" else (Du @ z, Dv @ z) for Du, Dv, p, q in pairs]
            found = [weights(*d, p, q, mu, nu) for d, (_, _, p, q) in zip(gradients, pairs, strict=True)]
        new = given.solve(*system(pairs, *zip(*found, strict=True)))
        z = new
    return z


def _slopes(seed=None):
    du, dv, p, q = draws(6, seed).normal(scale=2.0, size=(4, 6))
    return {"μ = 0.2, ν = 10": (du, dv, p, q, 0.2, 10.0), "μ = 2, ν = 1": (du, dv, p, q, 2.0, 1.0)}


def _pairs(seed):
    rng = draws(7, seed)
    mask = np.ones((4, 5), dtype=bool)
    mask[0, 0] = False
    mask = mask if seed is None else connected(rng)
    omega = Domain(mask)
    return rng, given.pairs(omega, *rng.normal(size=(2, *mask.shape))), rng.normal(size=omega.size)


def _system_cases(seed=None):
    rng, pairs, _ = _pairs(seed)
    a, b = ([rng.uniform(0.1, 1, len(pair.p)) for pair in pairs] for _ in range(2))
    return {"a mask without a corner": (pairs, a, b)}


def _fixed_point_cases(seed=None):
    _, pairs, z = _pairs(seed)
    z = z - z.mean()
    return {
        "a small mask, one iteration": (pairs, z, 0.5, 2.0, 1),
        "a small mask, three iterations": (pairs, z, 0.5, 2.0, 3),
    }


check_weights = Task(
    "weights",
    "the weights a and b of one pair, two vectors",
    weights,
    _slopes,
    (
        Mistake(
            {"root": False},
            "the square root is missing: these are a² and b².",
            "a stands inside the norm, ‖a (∂z − p)‖², and is squared there. Squared twice, the weights fall "
            "with the fourth power of the slope.",
        ),
        Mistake(
            {"exchanged": True},
            "μ and ν are exchanged.",
            "μ belongs to the unknown ∇z, ν to the data p and q. With μ = 0.2 and ν = 10 the data would "
            "decide the weights, and data do not show a jump.",
        ),
        Mistake(
            {"squared": False},
            "‖∇z‖/μ is not squared.",
            "(‖∇z‖/μ)² + 1 is flat near zero: gentle slopes keep their weight.",
        ),
        Mistake(
            {"residual": True},
            "the residual ∇z − g stands where ∇z belongs.",
            "That is a sound idea, and nearly Φ1 of exercise 4. Perona and Malik's weight looks at the slope "
            "of the surface itself.",
        ),
        Mistake(
            {"crossed": True},
            "a has q and b has p.",
            "a weighs ∂_u z − p and knows p; b weighs ∂_v z − q and knows q.",
        ),
        Mistake(
            {"coupled": False},
            "a has only ∂_u z, and b only ∂_v z.",
            "‖∇z‖² is the sum of both squares: at a jump neither p nor q can be trusted.",
        ),
        Mistake(
            {"inverse": False},
            "the weights grow with the slope.",
            "It is 1 over the roots: steep places are likely jumps and should count less.",
        ),
        Mistake(
            {"data": False},
            "the factors with p and q are missing.",
            "Without them it is Perona and Malik's tensor. The paper's also trusts large p and q less.",
        ),
    ),
    returns=("a", "b"),
    hint="a = 1 / (√(1 + (p/ν)²) √(1 + (‖∇z‖/μ)²)), b the same with q.",
)

check_weighted_system = Task(
    "weighted_system",
    "the sparse matrix A and the vector rhs",
    system,
    _system_cases,
    (
        Mistake(
            {"power": 1},
            "the weights are not squared.",
            "‖a (D z − p)‖² has the derivative 2 Dᵀ a² (D z − p).",
        ),
        Mistake(
            {"weighted": False},
            "A has weights, the right-hand side has not.",
            "Both come from Dᵀ a² (D z − p) = 0. Without the weight on p, an exact gradient no longer gives "
            "back its surface.",
        ),
        Mistake(
            {"crossed": True},
            "a and b are exchanged.",
            "a weighs the differences along u, b those along v.",
        ),
        Mistake(
            {"quarter_A": 1.0, "quarter_b": 1.0},
            "the factor ¼ is missing.",
            "Without λ the solution is the same; with one the prior would weigh a quarter of what it should.",
        ),
        Mistake(
            {"quarter_b": 1.0},
            "A has the factor ¼, the right-hand side has not.",
            "The surface comes out four times too high.",
        ),
        Mistake(
            {"sign": -1},
            "the right-hand side has the wrong sign.",
            "Dᵀ is minus the divergence already: A z = Dᵀ a² p.",
        ),
    ),
    returns=("A", "rhs"),
    hint="A = ¼ Σ Duᵀ diag(a²) Du + Dvᵀ diag(b²) Dv over the four pairs.",
)

check_fixed_point = Task(
    "diffusion",
    "the depth z after the given number of iterations, of zero mean",
    fixed_point,
    _fixed_point_cases,
    (
        Mistake(
            {"update": "once"},
            "the weights are computed once and kept.",
            "They have to follow z: compute them from the current z in every iteration, before the system is "
            "solved. Otherwise the weights are those of the start, which has no jumps yet.",
        ),
        Mistake(
            {"update": "from g"},
            "the weights are computed from p and q, not from z.",
            "The data do not show a jump. Only the unknown surface does: use Du @ z and Dv @ z.",
        ),
        Mistake(
            {"more": 1},
            "there is one iteration too many.",
            "One iteration is: weights from z, then a new z. range(iterations) makes that many.",
        ),
        Mistake(
            {"more": -1},
            "there is one iteration too few.",
            "The last z is solved with weights of the one before: return the new z, not the old.",
        ),
    ),
    returns=("z",),
    tolerance=1e-6,
    hint="in every iteration: weights of all four pairs from z, then z = solve(*weighted_system(...)).",
)
