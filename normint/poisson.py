"""The one linear problem underneath every method: a weighted 5-point system on a masked grid."""

from typing import NamedTuple

import numpy as np
from numba import njit

from normint import inputs
from normint.checkerboard import FAST

SOLVERS = ("multigrid", "pyamg", "direct")


class Solution(NamedTuple):
    """A solved system."""

    depth: np.ndarray  # NaN outside the mask
    iterations: int
    residual: float  # ‖b - A z‖ / ‖b‖
    converged: bool


class System:
    """The normal equations of Σ_e w_e (z_j - z_i - f_e)² + Σ_i λ_i (z_i - z⁰_i)².

    The edges e = (i, j) join each pixel of the mask to its neighbours below and to the right. Build the
    system once for given weights, then solve it for as many fluxes f and priors z⁰ as needed.

    Parameters
    ----------
    mask : array_like of bool
        The domain Ω.
    weights : (array_like, array_like), optional
        w ≥ 0 of the edges from each pixel downwards and to the right, two images of the mask's shape; their
        values at edges that leave Ω are not used. Ones by default.
    diagonal : array_like, optional
        λ ≥ 0 of each pixel; zero by default.
    solver : {"multigrid", "pyamg", "direct"}
        Our multigrid; conjugate gradients preconditioned by the Ruge-Stüben multigrid of pyamg, the library
        reference; or a sparse factorisation.

    Examples
    --------
    >>> flux = np.array([[1.0, 2.0, 0.0]])
    >>> System(np.ones((1, 3), bool)).solve(flux, flux).depth.round(6)
    array([[-1.333333, -0.333333,  1.666667]])
    """

    def __init__(self, mask, weights=None, diagonal=None, *, solver="multigrid"):
        mask = inputs.as_mask(mask, np.shape(mask))
        if weights is not None:
            names = "weights downwards", "weights to the right"
            weights = [_as_weights(name, w, mask) for name, w in zip(names, weights, strict=True)]
        if diagonal is not None:
            diagonal = _as_weights("diagonal", np.where(mask, diagonal, 0.0), mask)
        self.shape = mask.shape
        self.box = _bounding_box(mask)
        self.mask = self._crop(mask)
        weights = None if weights is None else tuple(self._crop(w) for w in weights)
        diagonal = None if diagonal is None else self._crop(diagonal)
        self._constants = _Constants(self.mask, diagonal)
        self._solver = _solver_class(solver)(self.mask, weights, diagonal)

    def solve(
        self, flux_down, flux_right, prior=None, *, slopes=False,
        initial=None, tolerance=1e-4, max_iterations=100, callback=None,
    ):  # fmt: skip
        """Find the depth whose differences along the edges come closest to the fluxes.

        Parameters
        ----------
        flux_down, flux_right : ndarray
            f of the edges from each pixel downwards and to the right, images of the mask's shape; their
            values at edges that leave Ω are not used.
        slopes : bool
            Whether the fluxes are slopes at the pixels instead; an edge then takes the mean of its two ends.
        prior : ndarray, optional
            z⁰, needed where the diagonal is positive.
        initial : ndarray, optional
            Depth to start from; zero by default. A good one saves iterations.
        tolerance : float
            Bound on the relative residual ‖b - A z‖ / ‖b‖; see the Notes for what it leaves.
        max_iterations : int
            After so many iterations the depth is returned as it is, with ``converged`` false.
        callback : callable, optional
            Called as ``callback(iteration, relative_residual)``.

        Returns
        -------
        Solution
            Its depth has zero mean in each connected component of Ω where λ is zero everywhere.

        Notes
        -----
        @@TOLERANCE@@
        """
        flux_down, flux_right = self._crop(flux_down), self._crop(flux_right)
        prior, initial = (None if a is None else self._crop(a) for a in (prior, initial))
        depth, iterations, residual = self._solver.solve(
            flux_down, flux_right, slopes, prior, initial, tolerance, max_iterations, callback
        )
        self._constants.remove(depth)
        if depth.shape != self.shape:
            inside, depth = depth, np.full(self.shape, np.nan)
            depth[self.box] = inside
        return Solution(depth, iterations, float(residual), bool(residual <= tolerance))

    def _crop(self, image):
        return np.ascontiguousarray(image[self.box])


class _Constants:
    """The additive constant of each connected component that no λ holds."""

    def __init__(self, mask, diagonal):
        self.mask = mask
        self.labels = None
        if diagonal is None and mask.all():
            return
        import scipy.ndimage

        self.labels, count = scipy.ndimage.label(mask)
        self.free = np.ones(count + 1, bool)
        if diagonal is not None:
            self.free[np.unique(self.labels[diagonal > 0])] = False
        self.free[0] = False

    def remove(self, depth):
        """Give each free component zero mean, in place."""
        if self.labels is None:
            depth -= depth.mean()
        elif self.free.any():
            _remove_means(self.labels, self.free, depth)


@njit(**FAST)
def _remove_means(labels, free, depth):
    count, total = np.zeros(free.size), np.zeros(free.size)
    rows, cols = labels.shape
    for i in range(rows):
        for j in range(cols):
            if free[labels[i, j]]:
                count[labels[i, j]] += 1
                total[labels[i, j]] += depth[i, j]
    for i in range(rows):
        for j in range(cols):
            if free[labels[i, j]]:
                depth[i, j] -= total[labels[i, j]] / count[labels[i, j]]


def _solver_class(name):
    if name == "multigrid":
        from normint.multigrid import Multigrid

        return Multigrid
    from normint import reference_solvers

    if name not in SOLVERS:
        raise ValueError(f"solver is {name!r}; expected one of {', '.join(SOLVERS)}")
    return getattr(reference_solvers, name.capitalize())


def _as_weights(name, weights, mask):
    """Check weights, which may be anything outside the mask."""
    weights = inputs.as_field(name, weights, mask)
    if weights.min(where=mask, initial=0.0) < 0:
        raise ValueError(f"{name}: negative inside the mask; expected numbers ≥ 0")
    return weights


def _bounding_box(mask):
    """Return the slices of the smallest rectangle that holds the mask."""
    rows, cols = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    return slice(rows[0], rows[-1] + 1), slice(cols[0], cols[-1] + 1)
