"""Mumford-Shah: least squares where the surface is smooth, and a price for every place where it is not."""

import numpy as np

from normint import inputs
from normint.compiling import FAST, njit
from normint.methods import pairs
from normint.methods.iteration import Problem
from normint.methods.pairs import DOWN, LEFT, RIGHT, UP
from normint.methods.reweighted import Descent

# The μ that the fast scheme begins with, times the one asked for. With small ones the surface bends towards
# its jumps before it is cut: the minima found are lower, and better.
SMOOTHER = np.minimum(0.5 * 1.1 ** np.arange(9), 1.0)
# How many of its systems are solved well, and by how many steps: where to cut is decided by these, and depths
# that have not followed the cuts before lead to wrong ones, from which there is no way down.
FIRST, WELL = 16, 6
KEPT = 2, 4  # systems that share the multigrid's coarse levels: of these, and of the others


def mumford_shah(
    p, q, mask=None, *, prior=None, prior_weight=0.0, mu=45.0, epsilon=0.01, scheme="fast",
    initial=None, tolerance=None, max_iterations=None, callback=None,
):  # fmt: skip
    """Integrate with the Ambrosio-Tortorelli form of the Mumford-Shah functional.

    Parameters
    ----------
    p, q, mask, prior, prior_weight
        As for :func:`normint.integrate`.
    mu : float
        Weight of the residuals against the length of the discontinuities: the smaller, the smoother.
    epsilon : float
        Width of the discontinuities. The paper calls it not critical; on the vase it decides the result.
    scheme : {"fast", "paper"}
        Multigrid and momentum, or plain conjugate gradients as in the paper; see the Notes.
    initial : array_like, optional
        Depth to start from, by default that of least squares.
    tolerance : float, optional
        Stop when the energy changes by less than this part; 1e-6 for the fast scheme, 0 for the paper's.
    max_iterations : int, optional
        100 for the fast scheme, 50 for the paper's.
    callback : callable, optional
        Called as ``callback(iteration, energy)``.

    Returns
    -------
    Integration
        Its weights are (w₊² + w₋²)/2 of each edge: 1 where the surface is smooth, near 0 where it jumps.

    When to use it
    --------------
    For surfaces that jump along few, long lines, when there is time to choose μ: on the vase it is the best
    of the paper's methods, and the one that depends most on its parameters.

    Notes
    -----
    Four indicators w ∈ ℝ^Ω, one for each difference (paper, Equation 51):

        E = Σ over the four of μ/2 Σ w² (∂z - g)² + ε/2 Σ (∂w)² + 1/8ε Σ (w - 1)²,  + Σ λ (z - z⁰)²,

    where (∂z - g)² is summed where the difference exists, and ∂w runs along the direction of that difference.
    Given z, each w solves (μ r² + 1/4ε) w - ε ∂²w = 1/4ε on the lines of Ω, tridiagonal systems. Given w, z
    solves a system of :mod:`normint.solver.system` with edge weights μ/2 (w₊² + w₋²). Both lower E, in turn.
    The first update is that of w: the paper names w ≡ 1 as the start, but then the first z is that of least
    squares whatever the initial one.

    *paper*: at most 100 iterations of conjugate gradients for z and for each w.

    *fast*: elimination for w; for z a step of conjugate gradients preconditioned by multigrid, with momentum,
    the first ones for smaller μ and by six steps. Two of these systems one after the other, and four of the
    others, share the multigrid's coarse levels. A depth with a larger E is not accepted. E has many minima:
    now and then the fast scheme ends a little above the paper's.

    Transposing or negating the data, adding a plane, or scaling them by c together with μ by 1/c², does the
    same to the depth. Flipping an image may lead to another minimum, as with :func:`phi1
    <normint.methods.nonconvex.phi1>`.

    Examples
    --------
    >>> p, q = np.full((3, 4), 2.0), np.full((3, 4), 1.0)
    >>> mumford_shah(p, q).depth.round(6)[0]
    array([-3.5, -2.5, -1.5, -0.5])
    """
    mu, epsilon = inputs.as_positive("mu", mu), inputs.as_positive("epsilon", epsilon)
    if tolerance is None:
        tolerance = 0.0 if scheme == "paper" else 1e-6
    if max_iterations is None:
        max_iterations = 50 if scheme == "paper" else 100
    problem = Problem(p, q, mask, prior, prior_weight, initial, scheme, tolerance, max_iterations, callback)
    model = _Alternation(problem, mu, epsilon)
    start = model.energy(problem.z)
    if scheme == "fast":
        descent = Descent(model, mu * SMOOTHER)
        return problem.run(descent.step, start, model, descent.settled)

    def step(z):
        model.set_system()
        z = model.minimise(z)
        return z, model.energy(z)

    return problem.run(step, start, model)


class _Alternation:
    """The indicators of the four differences, and the two updates."""

    def __init__(self, problem, mu, epsilon):
        self.problem, self.mu, self.epsilon = problem, mu, epsilon
        self.parameter = mu  # that of the system for the next depth
        self.squares = np.empty((4, *problem.mask.shape))  # μ (∂z - g)²
        self.w = np.ones((4, *problem.mask.shape))
        self.edges = np.empty((4, *problem.mask.shape))
        if problem.scheme == "paper":
            # It leaves open when conjugate gradients stop; its Figure 13 comes out with these.
            self.solver, self.tolerance, self.steps = "cg", 1e-4, 100
        else:
            self.solver, self.tolerance, self.steps = "multigrid", 1e-10, 1
        self.solved = 0

    def energy(self, z):
        """Set the indicators to their minimisers for z, and return the energy."""
        return self._update_indicators(z, self.mu)

    def look(self, z):
        """Set the indicators to their minimisers for z, and the system for the next depth; return the energy.

        The system is that of the parameter, the energy that of μ.
        """
        value = self._update_indicators(z, self.mu)
        if self.parameter != self.mu:
            self._update_indicators(z, self.parameter)
        self.set_system()
        return value

    def set_system(self):
        """Set the system for the next depth from the indicators as they are."""
        p, q, exists, _ = self.problem.data
        _edges(p, q, exists, self.parameter, self.w, *self.edges)

    def minimise(self, z):
        """Return the minimiser for the indicators at z, or with the fast scheme a depth on the way there."""
        steps, kept = self.steps, 1
        if self.problem.scheme == "fast":
            steps, kept = (max(WELL, steps), KEPT[0]) if self.solved < FIRST else (steps, KEPT[1])
        self.solved += 1
        return self.problem.minimise(self.edges, z, self.solver, self.tolerance, steps, kept)

    def weights(self):
        """Return (w₊² + w₋²)/2 of the edges."""
        return self.edges[0] / self.parameter, self.edges[1] / self.parameter

    def _update_indicators(self, z, mu):
        p, q, exists, _ = self.problem.data
        if self.problem.scheme == "paper":
            weighted_squares(z, p, q, exists, mu, self.squares)
            self._iterate_indicators()
            value = energy(self.squares, exists, self.epsilon, self.w)
        else:
            value = eliminate(z, p, q, exists, mu, self.epsilon, self.squares, self.w)
        return value + self.problem.prior_energy(z)

    def _iterate_indicators(self):
        """Lower the energy by conjugate gradients for each w, as the paper does."""
        mask, exists = self.problem.mask, self.problem.data[2]
        pull = 0.25 / self.epsilon
        for k in range(4):
            ends = (DOWN, UP) if k < RIGHT else (RIGHT, LEFT)
            along = exists[ends[0]].astype(float) + exists[ends[1]]
            diagonal = np.where(mask, self.squares[k] + pull + self.epsilon * along, 0.0)
            conjugate_gradients(
                mask, diagonal, self.epsilon, pull, k < RIGHT, self.tolerance, self.steps, self.w[k]
            )


@njit(**FAST)
def weighted_squares(z, p, q, exists, mu, squares):
    """Set μ (∂z - g)² of the four differences, zero where there is none."""
    r, padded = np.empty((4, z.shape[1])), np.zeros(z.shape[1] + 2)
    for i in range(z.shape[0]):
        _squares(i, z, p, q, exists, mu, padded, r, squares)


@njit(**FAST)
def _squares(i, z, p, q, exists, mu, padded, r, squares):
    pairs.residuals(i, z, p[i], q[i], exists, padded, r)
    for k in range(4):
        _square(mu, r[k], squares[k, i])


@njit(**FAST)
def energy(squares, exists, epsilon, w):
    """Compute E(z, w) without the prior."""
    total, rows, cols = 0.0, w.shape[1], w.shape[2]
    for k in range(4):
        for i in range(rows):
            inside = exists[DOWN, i] | exists[UP, i] | exists[RIGHT, i] | exists[LEFT, i]
            total += _cost(squares[k, i], w[k, i], inside, 0.25 / epsilon)
            if k >= RIGHT:
                total += epsilon * _roughness(w[k, i, 1:], w[k, i, : cols - 1], exists[LEFT, i, 1:])
            elif i > 0:
                total += epsilon * _roughness(w[k, i], w[k, i - 1], exists[UP, i])
    return 0.5 * total


@njit(**FAST)
def _edges(p, q, exists, mu, w, down, right, flux_down, flux_right):
    """Set the weights and fluxes of the system for z."""
    rows, cols = p.shape
    weights, slopes, above = np.empty((4, cols)), np.empty((4, cols)), np.empty((2, cols))
    for i in range(rows):
        for k in range(4):
            _weigh(0.5 * mu, w[k, i], exists[k, i], weights[k])
            slopes[k] = p[i] if k < RIGHT else q[i]
        pairs.collect(i, weights, slopes, above, down, right, flux_down, flux_right)


@njit(**FAST)
def _square(factor, r, result):
    for j in range(result.size):
        result[j] = factor * r[j] * r[j]


@njit(**FAST)
def _weigh(factor, w, exists, result):
    for j in range(result.size):
        result[j] = factor * w[j] * w[j] if exists[j] else 0.0


@njit(**FAST)
def _cost(square, w, inside, pull):
    total = 0.0
    for j in range(w.size):
        total += w[j] * w[j] * square[j] + pull * (w[j] - 1.0) ** 2 if inside[j] else 0.0
    return total


@njit(**FAST)
def _roughness(w, other, exists):
    total = 0.0
    for j in range(w.size):
        total += (w[j] - other[j]) ** 2 if exists[j] else 0.0
    return total


@njit(**FAST)
def eliminate(z, p, q, exists, mu, epsilon, squares, w):
    """Set μ (∂z - g)² and w, its minimiser, by elimination along the lines of Ω; return E without the prior.

    Where an edge is missing a line ends, and the elimination starts anew by itself: its coefficient is zero.
    The equations of a line add up to Σ μ (∂z - g)² w = 1/4ε Σ (1 - w), and half of this is all that E is.
    """
    rows, cols = z.shape
    r, padded, scale = np.empty((4, cols)), np.zeros(cols + 2), np.empty(cols)
    upper, lines, total = np.zeros((2, rows, cols)), np.empty((2, cols)), 0.0
    for i in range(rows):
        _squares(i, z, p, q, exists, mu, padded, r, squares)
        last = max(i - 1, 0)
        for k in (DOWN, UP):  # all columns at a time
            edges = exists[UP, i], exists[DOWN, i]
            _forwards(squares[k, i], *edges, epsilon, scale, upper[k, last], w[k, last], upper[k, i], w[k, i])
        edges = exists[LEFT, i], exists[RIGHT, i]
        _lines(squares[RIGHT, i], squares[LEFT, i], *edges, epsilon, lines, w[RIGHT, i], w[LEFT, i])
        total += _dot(squares[RIGHT, i], w[RIGHT, i]) + _dot(squares[LEFT, i], w[LEFT, i])
    for i in range(rows - 1, -1, -1):
        for k in (DOWN, UP):
            if i < rows - 1:
                _backwards(upper[k, i], w[k, i + 1], w[k, i])
            total += _dot(squares[k, i], w[k, i])
    return 0.5 * total


@njit(**FAST)
def _forwards(square, before, after, epsilon, scale, last_upper, last_w, upper, w):
    pull = 0.25 / epsilon
    for j in range(w.size):
        a, b = (epsilon if before[j] else 0.0), (epsilon if after[j] else 0.0)
        scale[j] = 1.0 / (square[j] + pull + a + b - a * last_upper[j])
    for j in range(w.size):
        w[j] = (pull + (epsilon * last_w[j] if before[j] else 0.0)) * scale[j]
    for j in range(w.size):
        upper[j] = epsilon * scale[j] if after[j] else 0.0


@njit(**FAST)
def _backwards(upper, next_w, w):
    for j in range(w.size):
        w[j] += upper[j] * next_w[j]


@njit(**FAST)
def _dot(one, other):
    total = 0.0
    for j in range(one.size):
        total += one[j] * other[j]
    return total


@njit(**FAST)
def _lines(square, other_square, before, after, epsilon, upper, w, other_w):
    """Solve two systems along the same line at once: each waits for its own division."""
    pull, c, d, x, y = 0.25 / epsilon, 0.0, 0.0, 0.0, 0.0
    for j in range(w.size):
        a, b = (epsilon if before[j] else 0.0), (epsilon if after[j] else 0.0)
        scale = 1.0 / (square[j] + pull + a + b - a * c)
        other_scale = 1.0 / (other_square[j] + pull + a + b - a * d)
        x, y = (pull + a * x) * scale, (pull + a * y) * other_scale
        c, d = b * scale, b * other_scale
        w[j], other_w[j], upper[0, j], upper[1, j] = x, y, c, d
    for j in range(w.size - 2, -1, -1):
        x, y = w[j] + upper[0, j] * x, other_w[j] + upper[1, j] * y
        w[j], other_w[j] = x, y


@njit(**FAST)
def conjugate_gradients(mask, diagonal, epsilon, pull, along_u, tolerance, steps, w):
    """Improve w for the systems of all lines of Ω at once; outside Ω it becomes 1."""
    rows, cols = mask.shape
    r, d = np.zeros((rows, cols)), np.zeros((rows + 2, cols + 2))  # d in a frame of zeros
    for i in range(rows):
        for j in range(cols):
            r[i, j] = pull if mask[i, j] else 0.0
            d[i + 1, j + 1] = w[i, j] if mask[i, j] else 0.0
    enough = tolerance * pull * np.sqrt(np.sum(mask))
    w[:] = 0.0
    square = _advance(mask, diagonal, epsilon, along_u, 1.0, d, r, w)  # from zero to w as it was
    beta, iteration = 0.0, 0
    while iteration < steps and np.sqrt(square) > enough:
        curvature = _turn(diagonal, epsilon, along_u, beta, r, d)
        new = _advance(mask, diagonal, epsilon, along_u, square / curvature, d, r, w)
        beta, square = new / square, new
        iteration += 1
    for i in range(rows):
        for j in range(cols):
            w[i, j] = w[i, j] if mask[i, j] else 1.0


@njit(**FAST)
def _turn(diagonal, epsilon, along_u, beta, r, d):
    """Set the next direction d, and return its product with the matrix and itself."""
    rows, cols = r.shape
    total = 0.0
    for i in range(rows):
        here = d[i + 1, 1 : cols + 1]
        before = d[i, 1 : cols + 1] if along_u else d[i + 1, :cols]
        for j in range(cols):
            here[j] = r[i, j] + beta * here[j]
        for j in range(cols):
            total += here[j] * (diagonal[i, j] * here[j] - 2.0 * epsilon * before[j])
    return total


@njit(**FAST)
def _advance(mask, diagonal, epsilon, along_u, alpha, d, r, w):
    """Make a step along d; return the new squared residual.

    The product of the matrix and d is computed here and not kept: that is quicker than to read it again.
    """
    rows, cols = r.shape
    total = 0.0
    for i in range(rows):
        here = d[i + 1, 1 : cols + 1]
        before = d[i, 1 : cols + 1] if along_u else d[i + 1, :cols]
        after = d[i + 2, 1 : cols + 1] if along_u else d[i + 1, 2:]
        for j in range(cols):
            product = diagonal[i, j] * here[j] - epsilon * (before[j] + after[j])
            r[i, j] -= alpha * product if mask[i, j] else 0.0
        for j in range(cols):
            w[i, j] += alpha * here[j]
        for j in range(cols):
            total += r[i, j] * r[i, j]
    return total
