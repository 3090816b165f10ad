"""The two baselines for rectangles: the cosine transform and the Sylvester equation.

A mask that is not a full rectangle, and prior weights that vary, need the quadratic method.
"""

import time

import numpy as np
import scipy.linalg
import scipy.sparse

from normint import inputs
from normint.methods.periodic import periodic_depth, periodic_energy
from normint.methods.result import Integration
from normint.solver.rectangle import cosine_solution, minus_divergence


def dct(p, q, mask=None, *, prior=None, prior_weight=0.0, border="natural"):
    """Integrate on a rectangle by least squares, with cosine transforms; the mathematics is in `dct_depth`.

    Parameters
    ----------
    p, q, mask, prior, prior_weight
        As for :func:`normint.integrate`; the mask is a rectangle, λ the same everywhere.
    border : {"natural", "dropped"}
        "natural" is the quadratic method. "dropped" leaves out what the paper's comparison leaves out there.

    Returns
    -------
    Integration

    When to use it
    --------------
    On a full rectangle, for a smooth surface: it is the quadratic method, exactly, and faster for some sizes.

    Examples
    --------
    >>> dct(np.full((2, 2), 2.0), np.full((2, 2), 1.0)).depth.round(12)
    array([[-1.5, -0.5],
           [ 0.5,  1.5]])
    """
    from normint.methods.quadratic import energy

    def measure(z, p, q, prior, weight):
        everywhere = np.ones(z.shape, bool)
        if border == "periodic":
            total = periodic_energy(z, p, q)
            return total if prior is None else total + np.sum(weight * (z - prior) ** 2)
        return energy(z, p, q, everywhere, prior, weight)

    return _on_rectangle(dct_depth, measure, p, q, mask, prior, prior_weight, "dct", border=border)


def sylvester(p, q, mask=None, *, prior=None, prior_weight=0.0):
    """Integrate on a rectangle by Harker and O'Leary's equation; the mathematics is in `sylvester_depth`.

    Parameters
    ----------
    p, q, mask, prior, prior_weight
        As for :func:`normint.integrate`; the mask is a rectangle, λ the same everywhere.

    Returns
    -------
    Integration

    When to use it
    --------------
    To compare with the literature. Its central differences smooth the data, which helps with noise and rounds
    off what is sharp; its time grows faster than the number of pixels.

    Examples
    --------
    >>> sylvester(np.full((2, 2), 2.0), np.full((2, 2), 1.0)).depth.round(12)
    array([[-1.5, -0.5],
           [ 0.5,  1.5]])
    """

    def measure(z, p, q, prior, weight):
        Du, Dv = (central_difference_matrix(n) for n in z.shape)
        total = np.sum((Du @ z - p) ** 2) + np.sum((z @ Dv.T - q) ** 2)
        return total if prior is None else total + np.sum(weight * (z - prior) ** 2)

    return _on_rectangle(sylvester_depth, measure, p, q, mask, prior, prior_weight, "sylvester")


def _on_rectangle(solve, measure, p, q, mask, prior, prior_weight, method, **options):
    """Check the arguments, solve on the rectangle that the mask fills, and measure the energy."""
    start = time.perf_counter()
    p, q, mask = inputs.as_gradient(p, q, mask)
    prior, weight = inputs.as_prior(prior, prior_weight, mask)
    box = rectangle_of(mask, method)
    p, q = np.ascontiguousarray(p[box]), np.ascontiguousarray(q[box])
    if prior is not None:
        prior, weight = np.ascontiguousarray(prior[box]), np.ascontiguousarray(weight[box])
    depth = np.full(mask.shape, np.nan)
    depth[box] = z = solve(p, q, prior=prior, prior_weight=weight, **options)
    return Integration(
        depth=depth,
        energies=np.array([measure(z, p, q, prior, weight)]),
        iterations=1,
        converged=True,
        seconds=time.perf_counter() - start,
    )


def dct_depth(p, q, *, prior=None, prior_weight=0.0, border="natural"):
    """Integrate a gradient on a rectangle by solving the Neumann Poisson equation with cosine transforms.

    Parameters
    ----------
    p, q : ndarray of float64
        The gradient along u (down) and v (right).
    prior : ndarray, optional
        A prior depth z⁰.
    prior_weight : float, optional
        Its weight λ, the same for all pixels.
    border : {"natural", "dropped", "periodic"}, optional
        What the right-hand side keeps on the border, see the Notes.

    Returns
    -------
    ndarray of float64
        The depth, of zero mean if there is no prior.

    Notes
    -----
    The system is L z + λz = b + λz⁰, where −L is the 5-point Laplacian with free boundary, which the
    type-2 cosine transform diagonalises: its eigenvalues are 4 sin²(πi/2m) + 4 sin²(πj/2n).

    With the natural border, b = Du p + Dv q is the paper's own right-hand side: every edge between two
    pixels carries the mean flux ½(p_i + p_{i+1}) out of the first and into the second. This is the quadratic
    method, the same linear system.

    With the border dropped, the pixels of the four sides, corners excepted, keep the flux across the side
    and lose the divergence along it: on the top row b = −½(p_{1,v} + p_{2,v}), without the term
    ½(q_{1,v−1} − q_{1,v+1}). That neglects ∂q/∂v on horizontal sides and ∂p/∂u on vertical ones. This variant
    shows the paper's gap to the solver of Simchony et al. and the bias near the boundary that the paper
    describes; the natural one does not. As b no longer sums to zero, no exact solution exists, and the
    mean of b is left out.

    With a periodic border, for tiles, the last row and the first are neighbours, and so are the last column
    and the first: see :mod:`normint.methods.periodic`.

    Transposing, flipping or negating the data, scaling them or adding a plane does the same to the depth (but
    for a plane with a periodic border).

    References
    ----------
    T. Simchony, R. Chellappa, M. Shao, "Direct analytical methods for solving Poisson equations in computer
    vision problems", IEEE Transactions on Pattern Analysis and Machine Intelligence 12 (1990).

    Examples
    --------
    >>> p, q = np.full((2, 2), 2.0), np.full((2, 2), 1.0)
    >>> dct_depth(p, q).round(12)
    array([[-1.5, -0.5],
           [ 0.5,  1.5]])
    """
    weight = _uniform_weight(prior, prior_weight, "dct")
    if border == "periodic":
        return periodic_depth(p, q, prior, weight)
    b = minus_divergence(p, q, True)
    if border == "dropped":
        _drop_tangential_divergence(b, p, q)
    elif border != "natural":
        raise ValueError(f'border is {border!r}; expected "natural" or "dropped", or "periodic"')
    if weight:
        b += weight * prior
    return cosine_solution(b, weight)


def sylvester_depth(p, q, *, prior=None, prior_weight=0.0):
    """Integrate a gradient on a rectangle by Harker and O'Leary's Sylvester equation.

    Parameters
    ----------
    p, q : ndarray of float64
        The gradient along u (down) and v (right).
    prior : ndarray, optional
        A prior depth z⁰.
    prior_weight : float, optional
        Its weight λ, the same for all pixels.

    Returns
    -------
    ndarray of float64
        The depth, of zero mean if there is no prior.

    Notes
    -----
    With the depth as a matrix Z and central differences D_u, D_v (see `central_difference_matrix`), the
    minimiser of ‖D_u Z − P‖² + ‖Z D_vᵀ − Q‖² + λ‖Z − Z⁰‖² solves

    D_uᵀD_u Z + Z D_vᵀD_v + λZ = D_uᵀP + Q D_v + λZ⁰.

    The eigenvectors of D_uᵀD_u and D_vᵀD_v make it diagonal. Without a prior it is rank deficient by one:
    constants, the only null vectors of D_u and D_v, are free; they are set to zero mean.

    Transposing, flipping or negating the data, scaling them or adding a plane does the same to the depth.

    References
    ----------
    M. Harker, P. O'Leary, "Regularized reconstruction of a surface from its measured gradient field",
    Journal of Mathematical Imaging and Vision 51 (2015).

    Examples
    --------
    >>> p, q = np.full((2, 2), 2.0), np.full((2, 2), 1.0)
    >>> sylvester_depth(p, q).round(12)
    array([[-1.5, -0.5],
           [ 0.5,  1.5]])
    """
    weight = _uniform_weight(prior, prior_weight, "sylvester")
    rows, columns = p.shape
    Du, Dv = central_difference_matrix(rows), central_difference_matrix(columns)
    rhs = Du.T @ p
    rhs += q @ Dv
    if weight:
        rhs += weight * prior
    eigenvalues_u, U = scipy.linalg.eigh((Du.T @ Du).toarray())
    eigenvalues_v, V = (eigenvalues_u, U) if rows == columns else scipy.linalg.eigh((Dv.T @ Dv).toarray())
    z = U.T @ rhs @ V
    _divide_by_sum(z, eigenvalues_u, eigenvalues_v, weight)
    return U @ z @ V.T


def central_difference_matrix(n):
    """Build the three-point differentiation matrix that Harker and O'Leary advocate.

    Parameters
    ----------
    n : int
        The number of pixels of the line.

    Returns
    -------
    scipy.sparse.csr_array
        n×n: central differences ½(z_{i+1} − z_{i−1}) inside, the second-order one-sided differences
        ½(−3z_1 + 4z_2 − z_3) and ½(z_{n−2} − 4z_{n−1} + 3z_n) at the ends. Two pixels have only the
        first-order difference, a single one has none.

    Examples
    --------
    >>> 2 * central_difference_matrix(4).toarray()
    array([[-3.,  4., -1.,  0.],
           [-1.,  0.,  1.,  0.],
           [ 0., -1.,  0.,  1.],
           [ 0.,  1., -4.,  3.]])
    """
    if n < 3:
        return scipy.sparse.csr_array(np.array([[-1.0, 1.0], [-1.0, 1.0]]) if n == 2 else np.zeros((n, n)))
    D = scipy.sparse.diags_array([-0.5, 0.5], offsets=[-1, 1], shape=(n, n)).tolil()
    D[0, :3] = np.array([-1.5, 2.0, -0.5])
    D[n - 1, n - 3 :] = np.array([0.5, -2.0, 1.5])
    return D.tocsr()


def rectangle_of(mask, method="dct"):
    """Find the rectangle that a mask fills.

    Parameters
    ----------
    mask : ndarray of bool
        The domain Ω, not empty.
    method : str, optional
        The method that needs a rectangle, for the error message.

    Returns
    -------
    tuple of slice
        The rows and columns of the rectangle.

    Examples
    --------
    >>> mask = np.zeros((4, 5), dtype=bool)
    >>> mask[1:3, 2:] = True
    >>> rectangle_of(mask)
    (slice(1, 3, None), slice(2, 5, None))
    """
    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    rectangle = slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)
    if not mask[rectangle].all():
        raise ValueError(
            f'mask is not a full rectangle; method="{method}" expects one. Use method="quadratic" instead'
        )
    return rectangle


def _uniform_weight(prior, prior_weight, method):
    """Return λ as a number, 0 without a prior; weights that vary cannot be diagonalised."""
    if prior is None:
        return 0.0
    weight = np.ravel(prior_weight)
    if (weight != weight[0]).any():
        raise ValueError(
            "prior_weight varies between pixels (it is 0 where prior is NaN); "
            f'method="{method}" expects one number. Use method="quadratic" instead'
        )
    return float(weight[0])


def _drop_tangential_divergence(b, p, q):
    """Leave only the flux across each side, in place, on the sides without their corners."""
    for image, field in ((b, p), (b.T, q.T)):
        if len(field) > 1:  # a single row has no flux across to be left
            image[0, 1:-1] = -0.5 * (field[0, 1:-1] + field[1, 1:-1])
            image[-1, 1:-1] = 0.5 * (field[-2, 1:-1] + field[-1, 1:-1])


def _divide_by_sum(coefficients, eigenvalues_u, eigenvalues_v, weight):
    """Divide by the sums of eigenvalues and weight, in place; without a weight the constant mode is 0."""
    total = np.add.outer(eigenvalues_u + weight, eigenvalues_v)
    if not weight:
        coefficients[0, 0], total[0, 0] = 0.0, 1.0
    coefficients /= total
