"""What Gaussian noise of normals becomes in slopes: the statistics behind the paper's diffusion tensor."""

from dataclasses import dataclass

import numpy as np

from normint.inputs import as_count, as_positive

__all__ = ["Draws", "draw"]


@dataclass(frozen=True)
class Draws:
    """Noisy observations of one normal.

    Attributes
    ----------
    slopes : ndarray
        p of each: -n₁/n₃.
    transformed : ndarray
        The Geary-Hinkley transform t₁ of each.
    rewritten : ndarray
        What the paper makes of t₁: (∂z - p) / (σ √(1+p²) √(‖∇z‖²+1)).
    backwards : float
        The share of normals that point away from the camera.
    """

    slopes: np.ndarray
    transformed: np.ndarray
    rewritten: np.ndarray
    backwards: float


def draw(angle, sigma, count, rng):
    """Add Gaussian noise to a normal that is tilted along u.

    Parameters
    ----------
    angle : float
        Between the normal and the viewing direction, in degrees.
    sigma : float
        Standard deviation of the noise of each component.
    count : int
    rng : numpy.random.Generator

    Examples
    --------
    >>> found = draw(45, 0.05, 10_000, np.random.default_rng(0))
    >>> bool(np.allclose(found.transformed, found.rewritten)), found.backwards
    (True, 0.0)
    """
    sigma, count = as_positive("sigma", sigma), as_count("count", count)
    tilt = np.radians(angle)
    n1, n3 = -np.sin(tilt), np.cos(tilt)
    m1, m3 = (n + sigma * rng.standard_normal(count) for n in (n1, n3))
    p, steepness = -m1 / m3, np.tan(tilt)
    transformed = (n3 * m1 / m3 - n1) / np.sqrt(sigma**2 * ((m1 / m3) ** 2 + 1))
    rewritten = (steepness - p) / (sigma * np.sqrt(1 + p**2) * np.sqrt(steepness**2 + 1))
    return Draws(p, transformed, rewritten, float(np.mean(m3 < 0)))
