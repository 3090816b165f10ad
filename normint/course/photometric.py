"""Exercise 7: photometric stereo, from images under known lights to normals, albedo and slopes."""

import numpy as np

from normint.course.checking import Mistake, Task, draws


def normals_and_albedo(
    images, lights, *, how="least squares", normalised=False, unit="pixel", albedo="length"
):
    """Return the normals, 3×pixels, and the albedo of each pixel."""
    if normalised:
        lights = lights / np.linalg.norm(lights, axis=1, keepdims=True)
    m = lights.T @ images if how == "multiplied" else np.linalg.lstsq(lights, images, rcond=None)[0]
    length = np.linalg.norm(m, axis=0)
    if unit == "all":
        return m / np.linalg.norm(m), np.linalg.norm(m)
    paint = {"length": length, "z": m[2], "square": length**2, "sum": m.sum(axis=0)}[albedo]
    return m / (length if unit == "pixel" else 1.0), paint


def without_shadows(images, lights, shadow, *, keep="lit", few="all"):
    """Return normals and albedo, of each pixel from its own lights."""
    lit = images >= shadow
    if keep == "zeros":
        return normals_and_albedo(np.where(lit, images, 0.0), lights)
    if keep == "dark":
        lit = ~lit
    if keep == "images":
        lit = np.broadcast_to(lit.all(axis=1, keepdims=True), lit.shape)
    if keep == "all":
        lit = np.ones_like(lit)
    normals, albedo = np.empty((3, images.shape[1])), np.empty(images.shape[1])
    for j, used in enumerate(lit.T):
        enough = used.sum() >= 3
        if not enough and few in ("NaN", "zero"):
            normals[:, j] = albedo[j] = np.nan if few == "NaN" else 0.0
            continue
        used = np.ones_like(used) if not enough and few == "all" else used
        n, rho = normals_and_albedo(images[used, j : j + 1], lights[used])
        normals[:, j], albedo[j] = n[:, 0], rho[0]
    return normals, albedo


def slopes(normals, *, sign=-1, swapped=False, divisor="z"):
    """Return p and q."""
    n_u, n_v, n_z = normals[[1, 0, 2]] if swapped else normals
    if divisor == "inverted":
        return sign * n_z / n_u, sign * n_z / n_v
    divide = {"z": n_z, "none": 1.0, "plane": np.hypot(n_u, n_v)}[divisor]
    return sign * n_u / divide, sign * n_v / divide


def noise_gain(lights, *, inverse=True, root=True, mean=False, what="trace"):
    """Return by how much noise in the images is larger in m."""
    if what == "condition":
        return np.linalg.cond(lights)
    squared = lights.T @ lights
    squared = np.linalg.inv(squared) if inverse else squared
    found = {"trace": np.trace(squared), "largest": np.linalg.norm(squared, 2), "determinant": None}[what]
    found = np.linalg.det(squared) if found is None else found
    found = found / 3 if mean else found
    return np.sqrt(found) if root else found


def _judge_gain(arguments, answers, expected):
    (gain,), (right,) = answers, expected
    if gain.shape != right.shape or (np.isfinite(gain) and gain < 1e3 * right):
        return None
    return (
        "a singular matrix was inverted.",
        f"L Lᵀ has a row for each of the {len(arguments[0])} lights, but only the rank 3. LᵀL is 3×3.",
    )


def _lights(count, rng):
    """Draw lights around the camera, of different strengths."""
    angle = 2 * np.pi * (np.arange(count) + 0.2) / count
    lights = np.stack([0.7 * np.cos(angle), 0.6 * np.sin(angle), np.ones(count)], axis=1)
    return lights * rng.uniform(0.5, 1.5, (count, 1))


def _surface(count, pixels, number, seed):
    rng = draws(number, seed)
    m = np.stack([*rng.uniform(-0.3, 0.3, (2, pixels)), rng.uniform(0.5, 1.2, pixels)])
    lights = _lights(count, rng)
    return lights @ m + 0.01 * rng.normal(size=(count, pixels)), lights


def _image_cases(seed=None):
    return {
        "three lights and six pixels": _surface(3, 6, 1, seed),
        "five lights of other strengths and four pixels": _surface(5, 4, 2, seed),
    }


def _shadow_cases(seed=None):
    some, lights = _surface(6, 5, 3, seed)
    some[4, 1] = some[5, 1] = some[5, 3] = 0.02
    many, others = _surface(6, 4, 4, seed)
    many[2:, 2] = (0.0, 0.03, 0.01, 0.0)
    many[1, 0] = 0.0
    return {
        "six lights and five pixels": (some, lights, 0.1),
        "six lights, and a pixel that only two of them reach": (many, others, 0.1),
    }


def _normal_cases(seed=None):
    normals = np.array([[0.0, 0.6, -0.2, 0.3], [0.0, 0.0, 0.4, -0.5], [1.0, 0.8, 0.0, 0.0]])
    normals *= 1.0 if seed is None else draws(6, seed).uniform(0.6, 1.2, size=normals.shape)
    normals[2] = np.sqrt(1 - (normals[:2] ** 2).sum(axis=0))
    return {"four normals": (normals[:, 1:],), "one that looks at the camera": (normals[:, :2],)}


def _light_cases(seed=None):
    rng = draws(5, seed)
    return {"three lights": (_lights(3, rng),), "seven lights": (_lights(7, rng),)}


check_normals = Task(
    "normals_and_albedo",
    "the unit normals, 3×pixels, and the albedo of each pixel",
    normals_and_albedo,
    _image_cases,
    (
        Mistake(
            {"how": "multiplied"},
            "the images are multiplied by Lᵀ, and the system is not solved.",
            "Lᵀ I is only the right-hand side of (LᵀL) m = Lᵀ I. Unless the lights are at right angles to "
            "each other, LᵀL mixes the three components, and every normal leans.",
        ),
        Mistake(
            {"unit": "none"},
            "the normals do not have the length 1: the albedo is still in them.",
            "m = ρ n. A normal is a direction; divide m by its length, which is ρ.",
        ),
        Mistake(
            {"unit": "all"},
            "all pixels share one albedo.",
            "np.linalg.norm(m) without an axis is the length of the whole array. Each pixel has its own ρ: "
            "take the norm along the three components, axis=0.",
        ),
        Mistake(
            {"albedo": "z"},
            "the albedo is the third component of m.",
            "That is ρ n_z, what a light at the camera would show: it darkens towards the contour. "
            "ρ is the length of m.",
        ),
        Mistake(
            {"albedo": "square"},
            "the albedo is ‖m‖², and should be ‖m‖.",
            "‖ρ n‖ = ρ since ‖n‖ = 1. Is the root missing?",
        ),
        Mistake(
            {"albedo": "sum"},
            "the albedo is the sum of the components of m.",
            "It changes as the surface turns, and albedo is paint: it must not. ρ = ‖m‖.",
        ),
        Mistake(
            {"normalised": True},
            "the lights were given the length 1 first.",
            "The length of a row of L is the strength of that light. Without it a strong light counts as a "
            "surface that faces it.",
        ),
    ),
    returns=("the normals", "the albedo"),
    hint="m = np.linalg.lstsq(lights, images, rcond=None)[0] for all pixels at once; ρ = ‖m‖, n = m/ρ.",
)

check_shadows = Task(
    "without_shadows",
    "the unit normals and the albedo, of each pixel from the lights that reach it",
    without_shadows,
    _shadow_cases,
    (
        Mistake(
            {"keep": "all"},
            "no sample is left out.",
            "In a shadow I = 0 says nothing about n·l, but least squares believes it, and turns the normal "
            "towards a right angle with that light.",
        ),
        Mistake(
            {"keep": "zeros"},
            "dark samples are set to zero, but their lights still count.",
            "A zero is a measurement: it says n·l = 0. To leave a sample out, its row of L has to go as "
            "well.",
        ),
        Mistake(
            {"keep": "dark"},
            "the bright samples are left out, and the dark ones are kept.",
            "A sample counts where it is at least as bright as the threshold.",
        ),
        Mistake(
            {"keep": "images"},
            "an image with one shadow is left out for all pixels.",
            "Every pixel has its own shadows: choose the rows of L for each of them.",
        ),
        Mistake(
            {"few": "least norm"},
            "pixels with fewer than three lights are solved all the same.",
            "Two equations do not determine three unknowns. lstsq then takes the shortest m, which lies in "
            "the plane of the two lights, whatever the surface. Use all samples there.",
        ),
        Mistake(
            {"few": "NaN"},
            "pixels with fewer than three lights are NaN.",
            "It is honest, but integration needs a slope everywhere. Here all samples are used there.",
        ),
        Mistake(
            {"few": "zero"},
            "pixels with fewer than three lights are zero.",
            "Zero is no normal, and n_u/n_z becomes 0/0. Here all samples are used there.",
        ),
    ),
    returns=("the normals", "the albedo"),
    hint="lit = images >= shadow; then pixel by pixel normals_and_albedo(images[used, j], lights[used]).",
)

check_slopes = Task(
    "slopes",
    "p and q, the slopes of the surface",
    slopes,
    _normal_cases,
    (
        Mistake(
            {"sign": 1},
            "the sign is reversed.",
            "n is at right angles to the tangent (1, 0, p): n_u + p n_z = 0. Where the surface rises "
            "downwards, its normal leans upwards. With this sign hills become hollows.",
        ),
        Mistake(
            {"swapped": True},
            "p and q are exchanged.",
            "The first component of n is along u, so it makes p.",
        ),
        Mistake(
            {"divisor": "none"},
            "n_u and n_v are not divided by n_z.",
            "They are sines, and slopes are tangents: on a steep surface −n_u never exceeds 1, p does.",
        ),
        Mistake(
            {"divisor": "inverted"},
            "the fraction stands on its head.",
            "From n_u + p n_z = 0 follows p = −n_u / n_z. Where the surface faces the camera, p must be 0.",
        ),
        Mistake(
            {"divisor": "plane"},
            "n_u and n_v are divided by √(n_u² + n_v²).",
            "That keeps the direction of the slope and loses how steep it is. Divide by n_z.",
        ),
    ),
    returns=("p", "q"),
    hint="n is proportional to (−p, −q, 1).",
)

check_noise_gain = Task(
    "noise_gain",
    "√trace((LᵀL)⁻¹), a number",
    noise_gain,
    _light_cases,
    (
        Mistake(
            {"root": False},
            "the root is missing.",
            "The trace is the sum of three variances. A deviation, in the unit of the images, is its root.",
        ),
        Mistake(
            {"inverse": False},
            "LᵀL is not inverted.",
            "More light would then mean more error. m = (LᵀL)⁻¹Lᵀ I has the covariance σ²(LᵀL)⁻¹.",
        ),
        Mistake(
            {"mean": True},
            "the trace is divided by 3.",
            "That is the mean over the components of m; the length of its error adds up all three.",
        ),
        Mistake(
            {"what": "condition"},
            "this is the condition number of L.",
            "It compares the worst direction with the best, so it says how unevenly errors are spread, and "
            "not how large they are: ten times as many lights have the same condition, and less noise.",
        ),
        Mistake(
            {"what": "largest"},
            "only the worst direction counts.",
            "The norm of (LᵀL)⁻¹ is the largest of three variances; the trace adds all three.",
        ),
        Mistake(
            {"what": "determinant"},
            "the determinant stands where the trace belongs.",
            "The determinant multiplies the three variances, and has the unit of a sixth power; the mean "
            "squared length of the error is their sum.",
        ),
    ),
    returns=("the gain",),
    judge=_judge_gain,
    hint="np.trace(np.linalg.inv(lights.T @ lights)), and its root.",
)
