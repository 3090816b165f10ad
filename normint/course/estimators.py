"""Exercise 4: the estimators Φ1 and Φ2, an energy made of them, and its gradient."""

import numpy as np

from normint.course import given
from normint.course.checking import Mistake, Task, draws
from normint.course.discretisation import HOLE, connected
from normint.domain import Domain


def phi1(s, beta, *, squared=True, inside=True, inner=True, sign=1, factor=2.0):
    """Return Φ1(s) and Φ1'(s)."""
    constant = beta**2 if squared else beta
    value = np.log(s**2 + constant) if inside else np.log(s**2) + constant
    return value, sign * (factor * s if inner else 1.0) / (s**2 + constant)


def phi2(s, gamma, *, squared=True, slope="right"):
    """Return Φ2(s) and Φ2'(s)."""
    c = gamma**2 if squared else gamma
    slopes = {
        "right": 2 * c * s / (s**2 + c) ** 2,
        "no gamma": 2 * s / (s**2 + c) ** 2,
        "one power": 2 * c * s / (s**2 + c),
        "one part": 2 * s / (s**2 + c),
        "no s": 2 * c / (s**2 + c) ** 2,
        "reversed": -2 * c * s / (s**2 + c) ** 2,
    }
    return s**2 / (s**2 + c), slopes[slope]


def finite_differences(f, z, h, *, sided="both", divisor=2.0, sign=1, restore=True):
    """Return the gradient of f at z by differences of width h."""
    z = z.copy()
    result = np.zeros_like(z)
    for i in range(z.size):
        before = z.copy()
        up, down = before.copy(), before.copy()
        up[i] += h if sided != "backward" else 0.0
        down[i] -= h if sided != "forward" else 0.0
        width = divisor if sided == "both" else 1.0
        result[i] = sign * (f(up) - f(down)) / (width * h)
        if not restore:
            z = down
    return result


def energy_and_gradient(
    z, pairs, phi, *, quarter=0.25, gradient_quarter=0.25, argument="length", coupled=True,
    sign=1, divide=True, at_zero=0.0, swapped=False,
):  # fmt: skip
    """Return E(z) and its gradient."""
    energy, gradient = 0.0, 0.0
    for Du, Dv, p, q in pairs:
        p, q = (q, p) if swapped else (p, q)
        r = np.stack([Du @ z - p, Dv @ z - q])
        s = np.hypot(*r) if coupled else np.abs(r)
        s = s**2 if argument == "square" else s
        value, slope = phi(s)
        energy += quarter * value.sum()
        weight = np.where(s > 0, slope / np.where(s > 0, s, 1.0), at_zero) if divide else slope
        gradient = gradient + sign * gradient_quarter * (Du.T @ (weight * r)[0] + Dv.T @ (weight * r)[1])
    return energy, gradient


def _residuals(seed=None):
    s, parameters = np.array([-3.0, -1.0, -0.2, 0.5, 1.5, 8.0]), (0.5, 2.0)
    if seed is not None:
        rng = draws(4, seed)
        s, parameters = s * rng.uniform(0.7, 1.4, size=s.size), rng.uniform((0.3, 1.5), (0.7, 3.0))
    return {f"six residuals and the parameter {c:.3g}": (s, c) for c in parameters}


def _smooth_functions(seed=None):
    z = np.array([0.5, -1.0, 2.0])
    z = z if seed is None else draws(4, seed).normal(scale=2.0, size=4)
    return {
        "f(z) = z₀³ + z₁z₂": (lambda z: z[0] ** 3 + z[1] * z[2], z, 0.1),
        "f(z) = Σ sin z": (lambda z: np.sin(z).sum(), z, 1e-3),
    }


def _energy_cases(seed=None):
    rng = draws(5, seed)
    mask = HOLE if seed is None else connected(rng)
    omega = Domain(mask)
    z = rng.normal(size=omega.size)
    pairs = given.pairs(omega, *rng.normal(size=(2, *mask.shape)))
    whole = Domain(np.ones((3, 4)))
    p, q, more = (2.0, -1.0, 1.0) if seed is None else rng.integers(3, 9, size=3) * (0.5, 0.5, 0.1)
    plane = whole.to_vector(p * np.arange(3)[:, np.newaxis] + q * np.arange(4))
    exact = given.pairs(whole, np.full((3, 4), p), np.full((3, 4), q))
    exact = [pair._replace(q=pair.q + more * (np.arange(len(pair.q)) == 1)) for pair in exact]
    # Other estimators than those asked for: the functions of tasks 1 and 2 may still be wrong.
    return {
        "a mask with a hole and Φ(s) = √(1 + s²)": (
            z, pairs, lambda s: (np.sqrt(1 + s**2), s / np.sqrt(1 + s**2)),
        ),
        "a plane with some zero residuals and Φ(s) = 1 − exp(−s²)": (
            plane, exact, lambda s: (1 - np.exp(-(s**2)), 2 * s * np.exp(-(s**2))),
        ),
    }  # fmt: skip


def _judge_slope(arguments, answers, expected):
    """Tell whether Φ is right and only Φ' is not, with the number that a difference gives."""
    (value, slope), (right, right_slope) = answers, expected
    if value.shape != right.shape or not np.allclose(value, right):
        return None
    where = int(np.argmax(~np.isclose(slope, right_slope))) if slope.shape == right_slope.shape else 0
    s = arguments[0][where]
    return (
        "Φ is right, but Φ' is not its derivative.",
        f"Differences of your Φ at s = {s:g} give the slope {right_slope[where]:.4f}. "
        "Check a derivative like this before you use it: (Φ(s + h) − Φ(s − h)) / 2h with h = 1e-6.",
    )


def _judge_gradient(arguments, answers, expected):
    """Compare the gradient with differences of the energy, if that is right."""
    (energy, gradient), (right, right_gradient) = answers, expected
    if energy.shape != right.shape or not np.allclose(energy, right):
        return None
    if gradient.shape != right_gradient.shape or not np.isfinite(gradient).all():
        return None
    where = int(np.argmax(~np.isclose(gradient, right_gradient)))
    return (
        "E is right, but the gradient is not its gradient.",
        f"Moving z[{where}] a little changes E by {right_gradient[where]:.4f} times as much; "
        f"your gradient says {gradient[where]:.4f}. "
        "Apply the chain rule to one pair: Φ(s) with s = √(r_u² + r_v²).",
    )


check_phi1 = Task(
    "phi1",
    "Φ1(s) and its derivative Φ1'(s)",
    phi1,
    _residuals,
    (
        Mistake(
            {"squared": False},
            "β is not squared.",
            "β is compared with the residual s, so β² with s². With β alone the parameter has another unit.",
        ),
        Mistake(
            {"inside": False},
            "β² stands outside the logarithm.",
            "log(s²) + β² is −∞ at s = 0. Inside, β² makes Φ1 quadratic near zero, which noise needs.",
        ),
        Mistake(
            {"inner": False},
            "the inner derivative 2s is missing in Φ1'.",
            "Chain rule: the derivative of log(x) is 1/x, times that of x = s² + β².",
        ),
        Mistake(
            {"factor": 1.0},
            "the factor 2 is missing in Φ1'.",
            "The derivative of s² is 2s.",
        ),
        Mistake(
            {"sign": -1},
            "Φ1' has the wrong sign.",
            "Φ1 grows with s > 0.",
        ),
    ),
    returns=("Φ", "Φ'"),
    judge=_judge_slope,
    hint="Φ1(s) = log(s² + β²).",
)

check_phi2 = Task(
    "phi2",
    "Φ2(s) and its derivative Φ2'(s)",
    phi2,
    _residuals,
    (
        Mistake(
            {"squared": False},
            "γ is not squared.",
            "γ is compared with the residual s, so γ² with s². With γ alone the parameter has another unit.",
        ),
        Mistake(
            {"slope": "no gamma"},
            "γ² is missing in the numerator of Φ2'.",
            "Quotient rule: 2s(s² + γ²) − s²·2s = 2γ²s.",
        ),
        Mistake(
            {"slope": "one power"},
            "the denominator of Φ2' is not squared.",
            "Quotient rule: (f'g − fg') / g².",
        ),
        Mistake(
            {"slope": "one part"},
            "Φ2' has only the first part of the quotient rule.",
            "The denominator depends on s as well: (f'g − fg') / g².",
        ),
        Mistake(
            {"slope": "no s"},
            "the factor s is missing in Φ2'.",
            "At s = 0 a smooth even function has the slope 0; yours is steepest there.",
        ),
        Mistake(
            {"slope": "reversed"},
            "Φ2' has the wrong sign.",
            "Φ2 grows with s > 0: the quotient rule is (f'g − fg') / g², in this order.",
        ),
    ),
    returns=("Φ", "Φ'"),
    judge=_judge_slope,
    hint="Φ2(s) = s² / (s² + γ²).",
)

check_finite_differences = Task(
    "finite_differences",
    "the vector of (f(z + h eᵢ) − f(z − h eᵢ)) / 2h",
    finite_differences,
    _smooth_functions,
    (
        Mistake(
            {"sided": "forward"},
            "these are one-sided differences, (f(z + h eᵢ) − f(z)) / h.",
            "Their error is of order h, that of central ones of order h²: the check would be too blunt to "
            "see a small mistake in a gradient.",
        ),
        Mistake(
            {"sided": "backward"},
            "these are one-sided differences, (f(z) − f(z − h eᵢ)) / h.",
            "Their error is of order h, that of central ones of order h².",
        ),
        Mistake(
            {"divisor": 1.0},
            "the difference is divided by h instead of 2h.",
            "From z − h eᵢ to z + h eᵢ it is 2h.",
        ),
        Mistake(
            {"sign": -1},
            "the sign is reversed.",
            "Where f grows with zᵢ the gradient is positive: f(z + h eᵢ) − f(z − h eᵢ).",
        ),
        Mistake(
            {"restore": False},
            "z is changed and not put back before the next component.",
            "Only one component moves at a time: copy z for each i, or undo the step.",
        ),
    ),
    returns=("the gradient",),
    hint="one component of z at a time; f is called twice for each.",
)

check_energy_and_gradient = Task(
    "energy_and_gradient",
    "E(z), a number, and its gradient, a vector like z",
    energy_and_gradient,
    _energy_cases,
    (
        Mistake(
            {"quarter": 1.0, "gradient_quarter": 1.0},
            "the factor ¼ is missing.",
            "There are four readings of the gradient at each pixel; their mean stands for the integral.",
        ),
        Mistake(
            {"gradient_quarter": 1.0},
            "the energy has its factor ¼, the gradient has not.",
            "The gradient is that of E, factors included. A line search compares both and would fail.",
        ),
        Mistake(
            {"sign": -1},
            "the gradient has the wrong sign.",
            "Dᵀ is minus the divergence already: the derivative of r = Dz − p by z is D, and its transpose "
            "takes Φ'(s) r/s back to the pixels. Descent would climb.",
        ),
        Mistake(
            {"divide": False},
            "the gradient has Φ'(s) r where Φ'(s) r/s belongs.",
            "The derivative of s = √(r_u² + r_v²) by r_u is r_u/s.",
        ),
        Mistake(
            {"at_zero": np.nan},
            "the gradient is NaN where a residual is exactly zero.",
            "Φ'(s)/s is 0/0 there. It stands before r = 0, so any finite value will do: "
            "divide by np.maximum(s, a tiny number).",
        ),
        Mistake(
            {"coupled": False},
            "Φ is applied to both components by themselves.",
            "Φ(|r_u|) + Φ(|r_v|) depends on the direction of the axes. Φ(√(r_u² + r_v²)) lets a jump "
            "count once, whichever way it runs.",
        ),
        Mistake(
            {"argument": "square"},
            "Φ is called with s², not with s.",
            "phi(s) squares its argument itself.",
        ),
        Mistake(
            {"swapped": True},
            "p and q are exchanged.",
            "Du belongs to p, Dv to q.",
        ),
    ),
    returns=("E", "the gradient"),
    judge=_judge_gradient,
    hint="for each pair: r_u = Du z − p, r_v = Dv z − q, s = √(r_u² + r_v²), E = ¼ Σ Φ(s).",
)  # fmt: skip
