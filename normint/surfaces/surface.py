"""What a generated surface is: a depth map with its exact gradient."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from normint.domain import NEIGHBOURS
from normint.metrics import unexplained_steps


@dataclass(frozen=True, eq=False)
class Surface:
    """A depth map with its exact gradient.

    Attributes
    ----------
    depth : ndarray
        z, towards the camera, in pixels unless the surface says otherwise.
    p, q : ndarray
        ∂z/∂u (down) and ∂z/∂v (right), per pixel.
    mask : ndarray of bool
        The object. The other images are finite on the whole grid.
    name : str
    parts : ndarray of int, optional
        Which body each pixel shows, for surfaces made of several; −1 where there is none.
    """

    depth: NDArray[np.float64]
    p: NDArray[np.float64]
    q: NDArray[np.float64]
    mask: NDArray[np.bool_]
    name: str = ""
    parts: NDArray[np.integer] | None = None

    def with_noise(self, sigma: float, rng: np.random.Generator) -> "Surface":
        """Add noise to the gradient, as all of the paper's experiments on known surfaces do.

        Parameters
        ----------
        sigma : float
            The noise level σ, a fraction of the largest gradient: 0.1 is the paper's "σ = 10 %".
        rng : numpy.random.Generator
            Where the noise comes from. All of p is drawn first, then all of q.

        Returns
        -------
        Surface
            The same depth and mask, with noisy p and q.

        Notes
        -----
        Independent draws of N(0, (σ·max‖g‖)²) are added to p and q on the whole grid, max‖g‖ being the
        largest of √(p² + q²) over the whole grid. Call it on an exact surface: noise would raise the maximum.

        Examples
        --------
        >>> from normint.surfaces import peaks
        >>> surface = peaks(64)
        >>> noisy = surface.with_noise(0.1, np.random.default_rng(0))
        >>> level = np.std(noisy.p - surface.p) / np.hypot(surface.p, surface.q).max()
        >>> round(float(level), 2)
        0.1
        """
        if not 0 <= sigma < np.inf:
            raise ValueError(f"sigma is {sigma!r}; expected a finite number ≥ 0")
        if not isinstance(rng, np.random.Generator):
            raise ValueError(f"rng is a {type(rng).__name__}; expected a numpy.random.Generator")
        scale = sigma * np.hypot(self.p, self.q).max()
        p = self.p + scale * rng.standard_normal(self.p.shape)
        q = self.q + scale * rng.standard_normal(self.q.shape)
        return replace(self, p=p, q=q)

    def occlusions(self, least: float = 1.0) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Find the edges between neighbouring pixels across which one body hides another, or the background.

        Parameters
        ----------
        least : float, optional
            How far, in the unit of the depth, the step must lie beyond what the slopes on both sides allow.
            Where bodies only touch, the depth is continuous: that is a crease, not an occlusion.

        Returns
        -------
        down, right : ndarray of bool
            Whether the edge from each pixel to the next one downwards, and to the right, is such a place.

        Examples
        --------
        >>> from normint.surfaces import vase
        >>> down, right = vase(64).occlusions()
        >>> bool(down.any()), bool(right[:, -1].any())
        (True, False)
        """
        parts = self.mask.astype(int) if self.parts is None else self.parts
        edges = []
        steps = unexplained_steps(self.depth, self.p, self.q)
        for beyond, (here, there) in zip(steps, NEIGHBOURS, strict=True):
            hidden = np.zeros(self.mask.shape, dtype=bool)
            other = (parts[here] != parts[there]) & (parts[here] >= 0) & (parts[there] >= 0)
            hidden[here] = (beyond > least) & other
            edges.append(hidden)
        return edges[0], edges[1]
