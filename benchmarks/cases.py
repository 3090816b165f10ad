"""What is measured, and on what.

The solver: eight masks, weights with weak curves, a gradient with noise. The methods for piecewise smooth
surfaces: the vase, of any size.
"""

from functools import partial

import numpy as np
from scipy.ndimage import gaussian_filter

import normint

# The methods for piecewise smooth surfaces, with their parameters.
PIECEWISE = {
    "total_variation": {},
    "phi1": {"beta": 0.5},
    "phi2": {"gamma": 1.0},
    "anisotropic_diffusion": {"mu": 0.2, "nu": 10.0},
    "mumford_shah": {"mu": 45.0, "epsilon": 0.01},
}
ITERATIONS = 20  # of each method where cost is measured against size


def gradient(n):
    """Return p, q of a smooth surface with noise; the noise fills every scale that a solver must handle."""
    rng = np.random.default_rng(0)
    u, v = np.mgrid[:n, :n] * (6 / n)
    p, q = np.cos(u + 2 * v), np.sin(u * v)
    return p + 0.1 * rng.standard_normal((n, n)), q + 0.1 * rng.standard_normal((n, n))


def mask(n, name):
    """Return one of the domains in an n×n image."""
    u = np.linspace(-1, 1, n)
    radius = np.hypot(u[:, None], u)
    return MASKS[name](radius)


def _angle(radius):
    u = np.linspace(-1, 1, len(radius))
    return np.arctan2(u[:, None], u)


def _star(radius):
    return radius < 0.55 + 0.4 * np.cos(9 * _angle(radius))


def _blobs(radius):
    blobs = smooth_noise(len(radius), seed=0)
    return blobs > np.quantile(blobs, 0.4)


def _moth_eaten(radius):
    return (radius < 1) & (np.random.default_rng(3).random(radius.shape) >= 0.01)


def _spiral(radius, turns=20, width=12 / 512):
    """Return the band around an Archimedean spiral: of 1024 pixels, it is 12 wide and as much apart."""
    arm = (turns * radius - _angle(radius) / (2 * np.pi)) % 1.0  # 0 on the spiral, and on the next turn
    return (arm < turns * width) & (radius < 1)


def thin_masks(n):
    """Return a comb, and a path one pixel wide that winds through an n×n image: blocks only halve them."""
    comb, path = np.zeros((2, n, n), bool)
    comb[0], comb[:, ::2] = True, True
    path[::2], path[1::4, -1], path[3::4, 0] = True, True, True
    return {"comb": comb, "path": path}


def smooth_noise(n, seed):
    """Return random hills and hollows, about 64 across the image."""
    return gaussian_filter(np.random.default_rng(seed).standard_normal((n, n)), n / 64, mode="wrap")


def _with_slits(mask, count=16, seed=1):
    """Cut one-pixel slits at random places; every fourth goes all the way, so that pieces come apart."""
    mask, n = mask.copy(), len(mask)
    rng = np.random.default_rng(seed)
    for k in range(count):
        start, stop = np.sort(rng.random(2)) if k % 4 else (0, 1)
        where, extent = int(n * rng.uniform(1 / 8, 7 / 8)), slice(int(n * start), int(n * stop))
        mask[(extent, where) if k % 2 else (where, extent)] = False
    return mask


MASKS = {  # from the distances to the middle
    "rectangle": lambda radius: np.ones_like(radius, bool),
    "disk": lambda radius: radius < 1,
    "annulus": lambda radius: (0.5 < radius) & (radius < 1),
    "star": _star,
    "blobs": _blobs,
    "slits": lambda radius: _with_slits(radius < 1),
    "spiral": _spiral,
    "moth-eaten": _moth_eaten,
}


def weak_curves(n, weight=1e-6):
    """Return weights, ``weight`` across random closed curves and one elsewhere."""
    hills = smooth_noise(n, seed=2)
    inside = np.digitize(hills, np.quantile(hills, (0.25, 0.75)))
    down, right = np.ones((2, n, n))
    down[:-1][inside[1:] != inside[:-1]] = weight
    right[:, :-1][inside[:, 1:] != inside[:, :-1]] = weight
    return down, right


def fixed_iterations(n, method):
    """Return a call that runs the fast scheme of a method on the n×n vase for ITERATIONS iterations."""
    surface = noisy_vase(n, seed=0)
    options = {**PIECEWISE[method], "tolerance": 0, "max_iterations": ITERATIONS}
    return partial(normint.integrate, surface.p, surface.q, method=method, **options)


def noisy_vase(n, seed):
    """Return the vase with noise of 1 % in its gradient, on n×n pixels."""
    return normint.surfaces.vase(n).with_noise(0.01, np.random.default_rng(seed))
