"""The one linear problem underneath every method: a weighted 5-point system on a masked grid."""

import threading
from typing import NamedTuple

import numpy as np

from normint import inputs
from normint.domain import NEIGHBOURS, bounding_box
from normint.solver import references
from normint.solver.by_size import BySize
from normint.solver.elimination import SMALL
from normint.solver.pieces import Pieces
from normint.solver.rectangle import Rectangle, is_quick

SOLVERS = {
    "multigrid": BySize,
    "pyamg": references.Pyamg,
    "cg": references.ConjugateGradients,
    "jacobi": references.Jacobi,
    "direct": references.Direct,
}
NEARLY_ALL = 0.8  # of an image: to cut so much out of it costs more than to work on the rest, too
TOO_LARGE = 1e30  # times the largest weight of its piece: a larger λ holds no better
TOO_SMALL = 1e-12  # parts of the largest weight of its piece: rounding hides what such a weight asks for


class Solution(NamedTuple):
    """A solved system."""

    depth: np.ndarray  # NaN outside the mask
    iterations: int
    residual: float  # ‖b - A z‖ / ‖b‖ of the piece where it is largest
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
    solver : {"multigrid", "pyamg", "cg", "jacobi", "direct"}
        Our multigrid, elimination where a piece is small, and cosine transforms on a full rectangle with
        weights of one and one λ; conjugate gradients preconditioned by the
        Ruge-Stüben multigrid of pyamg, the library reference; conjugate gradients alone, or preconditioned by
        the diagonal; or a sparse factorisation.
    raise_weak : bool
        What to do with a weight that is positive but below 1e-12 of the largest in its connected piece: the
        numbers of a computer are too short to tell what it asks for. By default it is refused. For methods
        that solve one system after the other it may be raised instead; its flux is then moved, so that at
        the depth that a solution starts from it pulls as it did.

    Examples
    --------
    >>> flux = np.array([[1.0, 2.0, 0.0]])
    >>> System(np.ones((1, 3), bool)).solve(flux, flux).depth.round(6)
    array([[-1.333333, -0.333333,  1.666667]])
    """

    def __init__(self, mask, weights=None, diagonal=None, *, solver="multigrid", raise_weak=False):
        mask = inputs.as_mask(mask, np.shape(mask))
        if solver not in SOLVERS:
            raise ValueError(f"solver is {solver!r}; expected one of {', '.join(SOLVERS)}")
        if weights is not None:
            weights = _as_weights(weights, mask)
        if diagonal is not None:
            diagonal = np.where(mask, _at_least_zero("diagonal", diagonal, mask), 0.0)
            diagonal = diagonal if diagonal.any() else None
        self.shape, self.box = mask.shape, bounding_box(mask)
        if mask[self.box].size > NEARLY_ALL * mask.size:
            self.box = slice(None), slice(None)
        self.mask, self._given = self._crop(mask), None if diagonal is None else self._crop(diagonal)
        self._kind, self._raise_weak, self._solver = SOLVERS[solver], raise_weak, None
        weights = None if weights is None else tuple(self._crop(w) for w in weights)
        self._set(weights, Pieces(self.mask, weights, self._given))
        self._lock = threading.Lock()  # the solver's memory serves one solution at a time

    def _set(self, weights, pieces):
        """Set up the solver for some weights, or give them to the one that is there."""
        self._pieces, diagonal, self._weighted = pieces, self._given, weights is not None
        weights, self._shares = _within_range(weights, pieces, self._raise_weak)
        self._origin = None if diagonal is None else _Origin(self.mask, weights, diagonal, pieces)
        if diagonal is not None:  # what is too small to bend anything still decides the constant, at the end
            largest = pieces.largest[pieces.labels]
            diagonal = np.where(diagonal < TOO_SMALL * largest, 0.0, diagonal)
            diagonal = np.minimum(diagonal, TOO_LARGE * np.where(largest > 0, largest, np.inf))
            diagonal = diagonal if diagonal.any() else None
        if self._kind is BySize and self.mask.size > SMALL and is_quick(self.mask, weights, diagonal):
            self._solver = Rectangle(diagonal)
        elif self._solver is None:
            options = {"exact": not self._raise_weak} if self._kind is BySize else {}
            self._solver = self._kind(self.mask, weights, diagonal, pieces, **options)
        else:
            self._solver.reweight(weights, diagonal, pieces)

    def reweight(self, weights):
        """Replace the weights of the edges, and keep the solver's coarse levels.

        They then belong to the weights before. A solution needs more iterations for that, but most of the
        set-up is saved: worth it where weights change little from one system to the next. Where other edges
        than before have no weight, where there were no weights before, and with another solver than
        multigrid, all is set up anew.

        Parameters
        ----------
        weights : (array_like, array_like)
            As for the system.

        Examples
        --------
        >>> weights, flux = np.ones((2, 1, 3)), np.array([[1.0, 2.0, 0.0]])
        >>> system = System(np.ones((1, 3), bool), weights)
        >>> system.reweight(2 * weights)
        >>> system.solve(flux, flux).depth.round(6)
        array([[-1.333333, -0.333333,  1.666667]])
        """
        mask = self.mask if self.shape == self.mask.shape else np.zeros(self.shape, bool)
        mask[self.box] = self.mask
        weights = tuple(self._crop(w) for w in _as_weights(weights, mask))
        pieces = self._pieces.reweighted(self.mask, weights)
        if pieces is None or not self._weighted or not hasattr(self._solver, "reweight"):
            self._solver, pieces = None, Pieces(self.mask, weights, self._given)
        self._set(weights, pieces)

    def solve(
        self, flux_down, flux_right, prior=None, *, slopes=False,
        initial=None, tolerance=1e-4, max_iterations=100, callback=None, correction=False,
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
            Bound on the relative residual ‖b - A z‖ / ‖b‖ of every connected piece, with depths measured from
            the prior so that large λ do not hide what is left; see the Notes for the error this means. With
            weights or λ, the last step must also have changed no depth by more than three tolerances, in
            parts of the largest. Pieces of up to 2000 pixels are solved exactly, whatever the tolerance.
        max_iterations : int
            After so many iterations the depth is returned as it is, with ``converged`` false.
        callback : callable, optional
            Called as ``callback(iteration, relative_residual)``.
        correction : bool
            Whether what is sought is a small change of a depth that nearly solves the system. Then b is its
            residual, small although fluxes and priors are not, and the tolerance is relative to that.

        Returns
        -------
        Solution
            Its depth has zero mean in each connected component of Ω where λ is zero everywhere.

        Notes
        -----
        Measured against a solution to 1e-11, on peaks with 1 % and 10 % of noise and masks from a rectangle
        to a disk cut by slits, 256² and 1024²: a tolerance of 1e-4 leaves a depth error (RMSE) of 3e-7 to
        4e-5 times the depth's standard deviation, about 1 % of what the noise itself causes or less.
        Each further factor of 10 reduces it by about 10. With pure noise, and weights of 1e-3 to 1e-8 along
        closed curves, it is 1e-6 to 2e-4. Weights that differ at random from edge to edge, by four decades,
        leave up to 1e-2 of the largest depth where two parts hardly hang together.
        """
        images = {"flux_down": flux_down, "flux_right": flux_right, "prior": prior, "initial": initial}
        for name, image in images.items():
            if image is not None and np.shape(image) != self.shape:
                raise ValueError(f"{name} has shape {np.shape(image)}; expected the mask's {self.shape}")
        flux_down, flux_right, prior, initial = (
            None if image is None else self._crop(image) for image in images.values()
        )
        if self._shares is not None:
            flux_down, flux_right = _held_back(flux_down, flux_right, slopes, initial, self._shares)
            slopes = False
        origin = None
        if self._origin is not None:
            if prior is None:
                raise ValueError("prior is missing although diagonal is positive; expected an image")
            if not correction:
                origin = self._origin.of(prior)
                if self._origin.held.any():  # else it is flat in each piece
                    flux_down, flux_right = _relative(flux_down, flux_right, slopes, origin)
                    slopes = False
                prior = np.where(self._origin.diagonal > 0, prior - origin, 0.0)
                initial = None if initial is None else initial - origin
        with self._lock:
            depth, iterations, residual = self._solver.solve(
                flux_down, flux_right, slopes, prior, initial, tolerance, max_iterations, callback
            )
        self._pieces.settle(depth, prior)
        if origin is not None:
            depth += origin
        if depth.shape != self.shape:
            inside, depth = depth, np.full(self.shape, np.nan)
            depth[self.box] = inside
        return Solution(depth, iterations, float(residual), bool(residual <= tolerance))

    def _crop(self, image):
        return np.ascontiguousarray(image[self.box])


class _Origin:
    """A depth near the prior, from which the solution is measured.

    A control point with λ = 10⁶ makes b so large that any residual looks small beside it. Measured from z⁰
    where λ outweighs the edges, and from the component's mean prior elsewhere, b is as large as the fluxes.
    """

    def __init__(self, mask, weights, diagonal, pieces):
        self.diagonal, self.labels = diagonal, pieces.labels
        down, right = np.ones((2, *mask.shape)) if weights is None else weights
        edges = np.zeros(mask.shape)
        for w, (here, there) in zip((down, right), NEIGHBOURS, strict=True):
            w = np.where(mask[here] & mask[there], w[here], 0.0)
            edges[here] += w
            edges[there] += w
        self.held = (diagonal > 0) & (diagonal >= edges)

    def of(self, prior):
        """Return the origin for a prior, which may be anything where λ is zero."""
        prior = np.where(self.diagonal > 0, prior, 0.0)
        labels = self.labels.ravel()
        weight = np.bincount(labels, self.diagonal.ravel())
        mean = np.bincount(labels, (self.diagonal * prior).ravel()) / np.where(weight > 0, weight, 1.0)
        return np.where(self.held, prior, mean[self.labels])


def _relative(flux_down, flux_right, slopes, origin):
    """Return the fluxes of the edges less the differences of the origin."""
    fluxes = []
    for flux, (here, there) in zip((flux_down, flux_right), NEIGHBOURS, strict=True):
        edge = np.zeros(flux.shape)
        edge[here] = 0.5 * (flux[here] + flux[there]) if slopes else flux[here]
        edge[here] -= origin[there] - origin[here]
        fluxes.append(edge)
    return fluxes


def _held_back(flux_down, flux_right, slopes, start, shares):
    """Return fluxes for weights that were raised: w' (Δz - f') = w (Δz - f) at the start.

    A quadratic function of the same slope that bends more is still an upper bound, where it was one.
    """
    start = np.zeros(flux_down.shape) if start is None else start
    fluxes = _relative(flux_down, flux_right, slopes, start)
    for flux, share, (here, there) in zip(fluxes, shares, NEIGHBOURS, strict=True):
        flux *= share
        flux[here] += start[there] - start[here]
    return fluxes


def _within_range(weights, pieces, raise_weak):
    """Refuse or raise weights that are too small; return weights, and the shares of those as they were."""
    if weights is None or pieces.smallest >= TOO_SMALL * pieces.largest.max():
        return weights, None
    least = (TOO_SMALL * pieces.largest)[pieces.labels]
    weak = [_edges_inside(pieces.labels > 0)[k] & (w > 0) & (w < least) for k, w in enumerate(weights)]
    if not np.any(weak):  # they belong to other pieces
        return weights, None
    if not raise_weak:
        raise ValueError(
            f"weights: {np.count_nonzero(weak)} are positive but below {TOO_SMALL:g} of the largest in their "
            "connected piece, too little to count; expected them to be larger, or 0"
        )
    raised = tuple(np.where(where, least, w) for where, w in zip(weak, weights, strict=True))
    shares = [np.ones(least.shape) for _ in weights]
    for share, where, w in zip(shares, weak, weights, strict=True):
        share[where] = w[where] / least[where]
    return raised, shares


def _as_weights(weights, mask):
    """Check the weights of the edges, which may be anything where an edge leaves the mask."""
    if len(weights) != 2:
        raise ValueError(f"weights has {len(weights)} images; expected two, downwards and to the right")
    names = "weights downwards", "weights to the right"
    return [_at_least_zero(*three) for three in zip(names, weights, _edges_inside(mask), strict=True)]


def _edges_inside(mask):
    """Tell where an edge downwards, and one to the right, joins two pixels of the mask."""
    inside = np.zeros((2, *mask.shape), bool)
    for k, (here, there) in enumerate(NEIGHBOURS):
        np.logical_and(mask[here], mask[there], out=inside[k][here])
    return inside


def _at_least_zero(name, values, mask):
    values = inputs.as_field(name, values, mask, largest=1e100)
    # Most often all are, whatever the mask, which is much quicker to see.
    if not values.min() >= 0 and values.min(where=mask, initial=0.0) < 0:
        raise ValueError(f"{name}: negative inside the mask; expected numbers ≥ 0")
    return values
