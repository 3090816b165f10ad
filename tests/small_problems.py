"""Tiny domains and problems for the tests of the iterative methods, and plain ways to compute with them."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
import scipy.ndimage
import scipy.optimize
from hypothesis import strategies as st

from normint.methods import pairs
from normint.methods.iteration import Problem

METHODS = ["total_variation", "phi1", "phi2", "anisotropic_diffusion", "mumford_shah"]


seeds = st.integers(0, 2**32 - 1)


def masks(side):
    """Return the strategy for masks of up to so many rows and columns, with a pixel at least."""
    return hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, max_side=side)).filter(np.any)


def named_masks():
    thread = np.zeros((8, 10), bool)  # a square with a thread, and a piece apart
    thread[:4, :4] = thread[2, 4:] = thread[2:, 9] = thread[6:, 0] = True
    hole = np.ones((6, 9), bool)
    hole[2:4, 3:5] = False
    scattered = np.random.default_rng(1).random((8, 8)) < 0.7
    return {
        "rectangle": np.ones((5, 6), bool), "row": np.ones((1, 9), bool), "thread": thread, "hole": hole,
        "scattered": scattered,
    }  # fmt: skip


MASKS = named_masks()

each_method = pytest.mark.parametrize("method", METHODS)
each_scheme = pytest.mark.parametrize("scheme", ["fast", "paper"])
each_mask = pytest.mark.parametrize("mask", [MASKS[name] for name in ("row", "thread", "scattered")])
held_or_not = pytest.mark.parametrize("held", [False, True], ids=["free", "held"])


def on_masks(*names):
    """Run a test on some of the masks only."""
    return pytest.mark.parametrize("mask", [MASKS[name] for name in names], ids=names)


def random_fields(mask, seed=0):
    """Return p, q and a depth that is zero outside the mask."""
    p, q, z = np.random.default_rng(seed).standard_normal((3, *mask.shape))
    return p, q, np.where(mask, z, 0.0)


def prior_of(mask, held, seed=0):
    """Return the options for a prior that holds about a third of the pixels, or none."""
    if not held:
        return {}
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.0, 0.0, 0.3], mask.shape)
    weight[np.unravel_index(mask.argmax(), mask.shape)] = 0.3
    return {"prior": rng.standard_normal(mask.shape), "prior_weight": weight}


def problem_of(
    p, q, mask, *, prior=None, prior_weight=0.0, initial=None, scheme="fast", tolerance=0, max_iterations=100
):
    """Return the problem that an integrator would make of its arguments."""
    return Problem(p, q, mask, prior, prior_weight, initial, scheme, tolerance, max_iterations, None)


def edges_of(mask):
    """Tell where a pixel has an edge downwards and to the right."""
    down, right = np.zeros_like(mask), np.zeros_like(mask)
    down[:-1], right[:, :-1] = mask[:-1] & mask[1:], mask[:, :-1] & mask[:, 1:]
    return np.stack([down, right])


def pieces(mask):
    """Return a mask of each connected component."""
    labels, count = scipy.ndimage.label(mask)
    return [labels == k + 1 for k in range(count)]


def centred(depth, mask):
    """Give each connected component zero mean."""
    depth = depth.copy()
    for piece in pieces(mask):
        depth[piece] -= depth[piece].mean()
    return depth


def observations(mask):
    """List (weight, pixel, pair along u, pair along v) of every observation of the energies.

    A pair is the two pixels (i, j) whose difference z_j - z_i it is, or None where there is no neighbour.
    """
    rows, cols = mask.shape

    def along(i, j, di, dj):
        after, before = (i + di, j + dj), (i - di, j - dj)
        found = [((i, j), after)] if after[0] < rows and after[1] < cols and mask[after] else []
        return found + ([(before, (i, j))] if min(before) >= 0 and mask[before] else [])

    observations = []
    for i, j in np.argwhere(mask):
        along_u, along_v = along(i, j, 1, 0), along(i, j, 0, 1)
        if along_u or along_v:
            weight = 0.25 if along_u and along_v else 0.5
            observations += [(weight, (i, j), a, b) for a in along_u or [None] for b in along_v or [None]]
    return observations


def terms_of_edges(mask, weights, fluxes):
    """List (one pixel, the next, weight, flux) of every edge."""
    terms = []
    for inside, weight, flux, step in zip(edges_of(mask), weights, fluxes, [(1, 0), (0, 1)], strict=True):
        for i, j in np.argwhere(inside):
            terms.append(((i, j), (i + step[0], j + step[1]), weight[i, j], flux[i, j]))
    return terms


def sum_of_squares(terms, z):
    """Compute Σ w (z_j - z_i - f)²."""
    return sum(weight * (z[two] - z[one] - flux) ** 2 for one, two, weight, flux in terms)


def dense_least_squares(mask, terms, prior=None, prior_weight=None):
    """Minimise Σ w (z_j - z_i - f)² + Σ λ (z - z⁰)², with minimal norm; zero outside the mask."""
    number = np.full(mask.shape, -1)
    number[mask] = np.arange(mask.sum())
    matrix, values = np.zeros((len(terms), mask.sum())), np.zeros(len(terms))
    for row, (one, two, weight, flux) in enumerate(terms):
        matrix[row, number[one]], matrix[row, number[two]] = -np.sqrt(weight), np.sqrt(weight)
        values[row] = np.sqrt(weight) * flux
    if prior is not None:
        root = np.sqrt(prior_weight[mask])
        matrix, values = np.vstack([matrix, np.diag(root)]), np.concatenate([values, root * prior[mask]])
    z = np.zeros(mask.shape)
    z[mask] = np.linalg.lstsq(matrix, values, rcond=1e-14)[0]
    return z


def numerical_slope(function, z, mask, h=1e-5):
    """Return the gradient of a function of z by central differences."""
    slope = np.zeros_like(z)
    for pixel in np.argwhere(mask):
        step = np.zeros_like(z)
        step[tuple(pixel)] = h
        slope[tuple(pixel)] = (function(z + step) - function(z - step)) / (2 * h)
    return slope


def value_and_slope(problem, kind, parameter, z):
    """Return an energy of the quadrants and its gradient, prior included."""
    slope = np.empty_like(z)
    value = pairs.gradient(z, *problem.data, kind, parameter, slope)
    if problem.prior is not None:
        slope += 2 * problem.weight * (z - problem.prior)
    return value + problem.prior_energy(z), slope


def quasi_newton(function, start):
    """Minimise a function, which returns its gradient too, by the L-BFGS-B of scipy."""
    settings = {"maxiter": 3000, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-9}
    found = scipy.optimize.minimize(function, start.ravel(), jac=True, method="L-BFGS-B", options=settings)
    return found.x.reshape(start.shape)
