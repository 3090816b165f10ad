"""Exercise 6: the two updates of the Mumford-Shah alternation, its energy, and the alternation itself."""

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from normint.course import given
from normint.course.checking import Mistake, Task, draws
from normint.course.discretisation import connected
from normint.domain import Domain


def indicator(
    D, g, exists, z, mu, epsilon, *, exchanged="", weight=True, power=2, pull=0.25, sign=1, border=True,
    smooth=True, target=True,
):  # fmt: skip
    """Return the w of one difference that minimises the energy for a fixed z."""
    r = np.abs(D @ z - g) * (exists if border else 1.0)
    rough, strength = (pull / epsilon, epsilon) if exchanged else (epsilon, pull / epsilon)
    A = scipy.sparse.diags_array((mu if weight else 1.0) * r**power + strength)
    if smooth:
        A = A + sign * rough * (D.T @ D)
    strength = pull / epsilon if exchanged == "left" else strength
    rhs = np.full(z.size, strength if target else 1.0)
    return scipy.sparse.linalg.spsolve(A.tocsc(), rhs)


def system(readings, w, mu, *, half=0.5, power=2, weighted=True, weight=True, sign=1, first=4):
    """Return the matrix and the right-hand side for fixed indicators."""
    A, rhs = 0.0, 0.0
    factor = half * (mu if weight else 1.0)
    for (D, g, _), one in list(zip(readings, w, strict=True))[:first]:
        square = one**power
        A = A + factor * (D.T @ scipy.sparse.diags_array(square) @ D)
        rhs = rhs + sign * factor * (D.T @ ((square if weighted else 1.0) * g))
    return A, rhs


def energy(
    readings, z, w, mu, epsilon, *, halves=0.5, pull=0.25, power=2, border=True, rough=True, exchanged=False
):
    """Compute E_AT."""
    total, stiffness, strength = 0.0, epsilon, pull / epsilon
    if exchanged:
        stiffness, strength = strength, stiffness
    for (D, g, exists), one in zip(readings, w, strict=True):
        r = (D @ z - g) * (exists if border else 1.0)
        total += halves * mu * np.sum(one**power * r**2)
        total += halves * strength * np.sum((one - 1) ** 2)
        total += halves * stiffness * np.sum((D @ one) ** 2) if rough else 0.0
    return total


def alternate(readings, z, mu, epsilon, iterations, *, order="w first", update="every time", more=0):
    """Return the depth and the indicators after some iterations."""
    w = [np.ones_like(z) for _ in readings]
    for iteration in range(iterations + more):
        if order == "z first":
            z = given.solve(*system(readings, w, mu))
        if iteration == 0 or update != "once":
            w = [indicator(D, g, exists, z, mu, epsilon) for D, g, exists in readings]
        if order == "w first":
            z = given.solve(*system(readings, w, mu))
    return z, np.array(w)


def _readings(seed):
    rng = draws(8, seed)
    mask = np.ones((4, 5), dtype=bool)
    mask[0, 0] = mask[2, 3] = False
    mask = mask if seed is None else connected(rng)
    omega = Domain(mask)
    readings = given.readings(omega, *rng.normal(size=(2, *mask.shape)))
    return rng, readings, rng.normal(size=omega.size)


def _indicator_cases(seed=None):
    _, readings, z = _readings(seed)
    forwards, sideways = readings[0], readings[3]
    return {
        "a mask with a hole, downwards": (*forwards, z, 2.0, 0.3),
        "a mask with a hole, to the left": (*sideways, z, 5.0, 0.1),
    }


def _system_cases(seed=None):
    rng, readings, z = _readings(seed)
    w = rng.uniform(0.1, 1.0, (4, z.size))
    return {"a mask with a hole, μ = 45": (readings, w, 45.0)}


def _energy_cases(seed=None):
    rng, readings, z = _readings(seed)
    w = rng.uniform(0.1, 1.0, (4, z.size))
    return {
        "a mask with a hole, ε = 0.3": (readings, z, w, 2.0, 0.3),
        "a mask with a hole, ε = 0.1": (readings, z, w, 45.0, 0.1),
    }


def _alternation_cases(seed=None):
    _, readings, z = _readings(seed)
    z = z - z.mean()
    return {
        "a small mask, one iteration": (readings, z, 2.0, 0.3, 1),
        "a small mask, three iterations": (readings, z, 2.0, 0.3, 3),
    }


BORDER = Mistake(
    {"border": False},
    "where a difference does not exist, −p or −q counts as its residual.",
    "The row of D is zero there, so D z − g is −g. It is no observation: multiply the residual by exists.",
)

check_indicator = Task(
    "indicator",
    "the vector w that minimises the energy for a fixed z",
    indicator,
    _indicator_cases,
    (
        *(
            Mistake(
                {"exchanged": sides},
                f"ε and 1/(4ε) are exchanged{where}.",
                "ε weighs the roughness of w, 1/(4ε) draws w to 1. The smaller ε, the narrower the jump: "
                "exchanged, a small ε would blur it over the whole image.",
            )
            for sides, where in (("both", ""), ("left", " on the left-hand side"))
        ),
        Mistake(
            {"pull": 0.125},
            "1/(8ε) stands where 1/(4ε) belongs.",
            "The energy has 1/(8ε)(w − 1)² and the derivative of a square brings a 2, in all terms.",
        ),
        Mistake(
            {"weight": False},
            "μ is forgotten.",
            "μ says how large a residual has to be for a jump: w falls to ½ where μ r² = 1/(4ε).",
        ),
        Mistake(
            {"power": 1},
            "the residual is not squared.",
            "The derivative of μ/2 w² r² by w is μ r² w.",
        ),
        BORDER,
        Mistake(
            {"sign": -1},
            "DᵀD has the wrong sign.",
            "DᵀD ≈ −∂² is positive semi-definite and smooths w; with a minus it makes w rough.",
        ),
        Mistake(
            {"smooth": False},
            "ε DᵀD is forgotten.",
            "Without it w is decided pixel by pixel, and the length of the jumps has no price.",
        ),
        Mistake(
            {"target": False},
            "the right-hand side is 1, and should be 1/(4ε).",
            "The derivative of 1/(8ε)(w − 1)² is (w − 1)/(4ε): without residuals w must come out as 1.",
        ),
    ),
    returns=("w",),
    hint="(μ r² + 1/(4ε)) w + ε DᵀD w = 1/(4ε).",
)

check_depth_system = Task(
    "depth_system",
    "the sparse matrix A and the vector rhs",
    system,
    _system_cases,
    (
        Mistake(
            {"power": 1},
            "w is not squared.",
            "‖W(Dz − g)‖² has the derivative 2 Dᵀ W² (Dz − g).",
        ),
        Mistake(
            {"weighted": False},
            "A has the indicators, the right-hand side has not.",
            "Across a jump, g must not be believed in b either: Dᵀ W² g.",
        ),
        Mistake(
            {"half": 1.0},
            "the factor ½ is missing.",
            "Without λ the solution is the same; with one the prior would weigh half of what it should.",
        ),
        Mistake(
            {"weight": False},
            "μ is forgotten.",
            "Without λ it cancels. With one, the prior would weigh μ times as much as it should.",
        ),
        Mistake(
            {"sign": -1},
            "the right-hand side has the wrong sign.",
            "Dᵀ is minus the divergence already: A z = μ/2 Σ Dᵀ W² g.",
        ),
        Mistake(
            {"first": 1},
            "only the first difference is used.",
            "There are four: is the return inside the loop?",
        ),
    ),
    returns=("A", "rhs"),
    hint="A = μ/2 Σ Dᵀ diag(w²) D over the four differences.",
)

check_energy = Task(
    "energy",
    "E_AT(z, w), a number",
    energy,
    _energy_cases,
    (
        Mistake(
            {"pull": 0.5},
            "1/(4ε) stands where 1/(8ε) belongs.",
            "The continuous energy has 1/(4ε); the mean of forward and backward differences brings ½ to "
            "every term.",
        ),
        Mistake(
            {"halves": 1.0},
            "all terms are twice as large as they should be.",
            "Every term is the mean of a forward and a backward version: μ/2, ε/2 and 1/(8ε).",
        ),
        Mistake(
            {"exchanged": True},
            "ε and 1/(4ε) are exchanged.",
            "ε weighs the roughness of w, 1/(4ε) its distance to 1.",
        ),
        Mistake(
            {"power": 1},
            "w is not squared before the residuals.",
            "w weighs the residual inside the square: ‖W(Dz − g)‖².",
        ),
        BORDER,
        Mistake(
            {"rough": False},
            "ε/2 ‖Dw‖² is forgotten.",
            "It is the price for the ends of a jump; without it any speckle is allowed.",
        ),
    ),
    returns=("E",),
    hint="for each difference: μ/2 ‖w r‖² + ε/2 ‖D w‖² + 1/(8ε) ‖w − 1‖².",
)

check_alternation = Task(
    "alternate",
    "z and the list of the four w after the given number of iterations",
    alternate,
    _alternation_cases,
    (
        Mistake(
            {"order": "z first"},
            "z is updated before w.",
            "With w ≡ 1 the first z is that of least squares, whatever the start: all starts become one. "
            "Update the four w first, then z.",
        ),
        Mistake(
            {"update": "once"},
            "the indicators are computed once, from the first z, and kept.",
            "They have to follow z, and z them: both updates belong into the loop, and w takes the last z.",
        ),
        Mistake(
            {"more": -1},
            "there is one iteration too few.",
            "range(iterations) makes that many; return what the last one gave.",
        ),
        Mistake(
            {"more": 1},
            "there is one iteration too many.",
            "range(iterations) makes that many.",
        ),
    ),
    returns=("z", "w"),
    tolerance=1e-6,
    hint="in every iteration: w = [indicator(...) for each reading], then z = solve(*depth_system(...)).",
)
