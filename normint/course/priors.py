"""Exercise 8: a coarse depth as a prior, its weight, and heights that are known at a few points."""

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from normint.course import given
from normint.course.checking import Mistake, Task, draws
from normint.domain import Domain


def prior_image(coarse, size, lam, *, order="blocks", share=2, unknown="no weight", flipped=False):
    """Return z⁰ and λ of each pixel, as images."""
    if order == "tiles":
        z0 = np.tile(coarse, (size, size))
    elif order == "centres":
        z0 = np.full([size * count for count in coarse.shape], np.nan)
        z0[size // 2 :: size, size // 2 :: size] = coarse
    else:
        z0 = np.repeat(np.repeat(coarse, size, axis=0), size, axis=1)
    weight = np.full(z0.shape, lam / size**share)
    if unknown != "weight":
        weight[np.isnan(z0)] = 0.0
    return (z0 if unknown == "NaN" else np.nan_to_num(z0)), weight


def merge(A, b, lam, z0, *, power=1.0, in_A=True, in_b=True, mean="kept", prior=True):
    """Return the z with (A + diag λ) z = b + λ z⁰."""
    weight = lam**power
    left = A + scipy.sparse.diags_array(weight if in_A else np.full(b.size, 1e-9))
    right = b + (weight if in_b else 1.0) * z0 if prior else b
    z = scipy.sparse.linalg.spsolve(left.tocsc(), right)
    return z - z.mean() if mean == "removed" else z


def noise_weight(sigma_g, sigma_z, *, upside_down=False, power=2.0, share=False):
    """Return the λ that noise asks for."""
    one, other = (sigma_z, sigma_g) if upside_down else (sigma_g, sigma_z)
    return one**power / (other**power + (one**power if share else 0.0))


def constrain(A, b, points, values, *, known="moved", mean="kept"):
    """Return the z that has the given values, and satisfies the other equations."""
    if known in ("overwritten", "shifted"):
        z = given.solve(A, b)
        if known == "shifted":
            return z + np.mean(values - z[points])
    else:
        A = scipy.sparse.csr_array(A)
        free = np.setdiff1d(np.arange(b.size), points)
        sign = {"moved": -1.0, "added": 1.0, "forgotten": 0.0}[known]
        rest = b[free] + sign * (A[free][:, points] @ values)
        z = np.empty(b.size)
        z[free] = scipy.sparse.linalg.spsolve(A[free][:, free].tocsc(), rest)
    z[points] = values
    return z - z.mean() if mean == "removed" else z


def _coarse_cases(seed=None):
    coarse = np.array([[1.0, 4.0, 2.0], [3.0, -1.0, 5.0]])
    coarse += 0.0 if seed is None else draws(8, seed).uniform(-0.4, 0.4, size=coarse.shape)
    holes = np.where(coarse > 4.5, np.nan, coarse)
    return {
        "2×3 blocks of 2×2 pixels": (coarse, 2, 0.5),
        "blocks of 3×3, one of them unknown": (holes, 3, 2.0),
    }


def _equations(seed):
    rng = draws(9, seed)
    mask = np.ones((4, 5), dtype=bool)
    mask[0, 0] = mask[2, 3] = False
    omega = Domain(mask)
    b = omega.Du @ rng.normal(size=omega.size) + omega.Dv @ rng.normal(size=omega.size)
    return rng, omega.laplacian(), b


def _merge_cases(seed=None):
    rng, A, b = _equations(seed)
    some = np.where(np.arange(b.size) % 3 == 0, 0.4, 0.0)
    return {
        "4×5 pixels with a hole": (A, b, rng.uniform(0.2, 3.0, b.size), 5 + rng.normal(size=b.size)),
        "a prior for every third pixel": (A, b, some, 5 + rng.normal(size=b.size)),
    }


def _noise_cases(seed=None):
    pairs = np.array([[0.1, 0.5], [3.0, 2.0]])
    pairs *= 1.0 if seed is None else draws(8, seed).uniform(0.7, 1.3, size=pairs.shape)
    return {f"σ_g = {one:.2g}, σ_z = {two:.2g}": (one, two) for one, two in pairs.tolist()}


def _constraint_cases(seed=None):
    _, A, b = _equations(seed)
    return {
        "4×5 pixels with a hole, three points": (A, b, np.array([2, 9, 15]), np.array([4.0, 1.0, 6.0])),
        "one point": (A, b, np.array([7]), np.array([3.0])),
    }


def _judge_constraint(arguments, answers, expected):
    _, _, points, values = arguments
    (z,), (right,) = answers, expected
    if z.shape != right.shape or not np.isfinite(z).all():
        return None
    gap = np.abs(z[points] - values).max()
    if 0 < gap < 0.05 * np.abs(values).max():
        return (
            f"the points are missed, by up to {gap:.0e}.",
            "That is a large weight and not a constraint. The gap falls like 1/λ, but the system becomes the "
            "worse conditioned the larger λ is. Take the known pixels out of the unknowns.",
        )
    return None


check_prior_image = Task(
    "prior_image",
    "z⁰ and λ of each pixel, two images",
    prior_image,
    _coarse_cases,
    (
        Mistake(
            {"order": "tiles"},
            "the whole coarse map is repeated beside itself.",
            "np.tile lays copies of the map side by side. np.repeat repeats every value, and does so along "
            "one axis: use it twice.",
        ),
        Mistake(
            {"order": "centres"},
            "only one pixel of each block has the value.",
            "A sensor with few pixels measures the mean of a block. A value at one pixel alone pulls a peak "
            "out of the surface there.",
        ),
        Mistake(
            {"share": 0},
            "every pixel has the whole λ.",
            "One measurement would count size² times. Shared out over its block it counts once.",
        ),
        Mistake(
            {"share": 1},
            "λ is divided by size, and should be by size².",
            "A block has size × size pixels.",
        ),
        Mistake(
            {"unknown": "NaN"},
            "z⁰ is NaN where nothing is known.",
            "The weight is zero there, but 0 · NaN is NaN and spoils the right-hand side. Any number will "
            "do.",
        ),
        Mistake(
            {"unknown": "weight"},
            "unknown blocks have a weight.",
            "Then z⁰ = 0 counts as if it had been measured. What is not known weighs nothing.",
        ),
    ),
    returns=("z⁰", "λ"),
    hint="np.repeat twice, λ/size², and zero in both where the block is NaN.",
)

check_merge = Task(
    "merge",
    "the z with (A + diag λ) z = b + λ z⁰",
    merge,
    _merge_cases,
    (
        Mistake(
            {"mean": "removed"},
            "the mean of z is removed.",
            "Without a prior nobody knew the constant. The prior knows it: leave it in.",
        ),
        Mistake(
            {"in_b": False},
            "z⁰ is added to b without its weight.",
            "The derivative of λ(z − z⁰)² is 2λ(z − z⁰): λ stands on both sides.",
        ),
        Mistake(
            {"in_A": False},
            "A does not have λ on its diagonal.",
            "Then λ z⁰ acts like more slope, and nothing holds the surface at z⁰.",
        ),
        Mistake(
            {"power": 2.0},
            "λ is squared.",
            "Λ holds √λ, and ‖Λ(z − z⁰)‖² = Σ λ (z − z⁰)².",
        ),
        Mistake(
            {"power": 0.5},
            "√λ stands where λ belongs.",
            "Λ holds √λ, but the derivative has Λ² = diag(λ).",
        ),
        Mistake(
            {"prior": False},
            "z⁰ is not used.",
            "The matrix draws the surface to a prior, and the right-hand side says that it is zero.",
        ),
    ),
    returns=("z",),
    hint="scipy.sparse.diags_array(lam) is what A gains; b gains lam * z0.",
)

check_noise_weight = Task(
    "noise_weight",
    "λ, a number",
    noise_weight,
    _noise_cases,
    (
        Mistake(
            {"upside_down": True},
            "the fraction stands on its head.",
            "λ weighs the prior. The noisier the prior, the less it should: σ_z belongs below.",
        ),
        Mistake(
            {"power": 1.0},
            "the deviations are not squared.",
            "A squared error of a Gaussian is weighed with 1/(2σ²): compare variances.",
        ),
        Mistake(
            {"share": True},
            "this is a share between 0 and 1.",
            "σ_g²/(σ_g² + σ_z²) averages two measurements of one thing. Here λ is the ratio of two factors "
            "in a sum, and may be larger than 1.",
        ),
        Mistake(
            {"power": 1.0, "upside_down": True},
            "the fraction stands on its head, and is not squared.",
            "Write down the likelihood: Σ residual²/(2σ_g²) + Σ (z − z⁰)²/(2σ_z²), and multiply it by 2σ_g².",
        ),
    ),
    returns=("λ",),
    hint="multiply the negative log-likelihood by 2σ_g² and compare.",
)

check_constraint = Task(
    "constrain",
    "the z that has the given values at the points, and satisfies all other equations",
    constrain,
    _constraint_cases,
    (
        Mistake(
            {"known": "forgotten"},
            "the known heights do not reach their neighbours.",
            "The equation of a free pixel also has the terms A[free, points] @ values. They are numbers now: "
            "move them to the right-hand side. Without them the neighbours are drawn to zero.",
        ),
        Mistake(
            {"known": "added"},
            "the known terms are moved to the other side without changing sign.",
            "A_ff z_f + A_fp z_p = b_f, so A_ff z_f = b_f − A_fp z_p.",
        ),
        Mistake(
            {"known": "overwritten"},
            "the surface is solved without the points, and they are written into it afterwards.",
            "They stick out like needles. The others have to follow: their equations contain these heights.",
        ),
        Mistake(
            {"known": "shifted"},
            "the surface is only shifted to the points.",
            "One constant can meet one point. With more of them, the surface has to bend.",
        ),
        Mistake(
            {"mean": "removed"},
            "the mean of z is removed.",
            "The points say how high the surface is. Leave it there.",
        ),
    ),
    returns=("z",),
    judge=_judge_constraint,
    hint="free = np.setdiff1d(np.arange(b.size), points); solve A[free][:, free] for them.",
)  # fmt: skip
