"""Tiles: surfaces that go on at the opposite side of a rectangle, integrated by Fourier transforms.

It is ``method="dct"`` with ``border="periodic"``. The last row is followed by the first, and the last column
by the first: each line has one more edge than in the quadratic method, of the same kind. A periodic surface
has no mean slope; those of p and q have no effect, and are lost.
"""

import numpy as np
import scipy.fft

__all__ = ["periodic_depth", "periodic_energy", "periodic_residuals"]


def periodic_depth(p, q, prior=None, weight=0.0):
    """Integrate the gradient of a tile.

    Parameters
    ----------
    p, q : ndarray of float64
        The gradient along u (down) and v (right), on a full rectangle.
    prior : ndarray, optional
        A prior depth z⁰.
    weight : float, optional
        Its weight λ, the same for all pixels.

    Returns
    -------
    ndarray of float64
        The depth, of zero mean if there is no prior.

    Notes
    -----
    The system is L z + λz = b + λz⁰. Each edge carries the mean flux ½(p_i + p_{i+1}), so that
    b_i = ½(p_{i−1} − p_{i+1}) + the same for q. The Fourier transform diagonalises L, the 5-point Laplacian
    of the torus: its eigenvalues are 4 sin²(πi/m) + 4 sin²(πj/n).

    Examples
    --------
    >>> wave = np.array([[0.0, 1.0, 0.0, -1.0]])
    >>> periodic_depth(np.zeros((1, 4)), wave).round(12)
    array([[-0.5,  0. ,  0.5,  0. ]])
    """
    b = sum(0.5 * (np.roll(s, 1, axis) - np.roll(s, -1, axis)) for axis, s in enumerate((p, q)))
    if weight:
        b = b + weight * prior
    (rows, columns), z = b.shape, scipy.fft.rfft2(b, workers=1)
    frequencies = np.arange(rows) / rows, np.arange(z.shape[1]) / columns
    total = np.add.outer(*(4 * np.sin(np.pi * f) ** 2 for f in frequencies)) + weight
    if not weight:
        z[0, 0], total[0, 0] = 0.0, 1.0
    return scipy.fft.irfft2(z / total, s=b.shape, workers=1)


def periodic_residuals(z, p, q):
    """Return z_j − z_i − ½(s_i + s_j) for the edges downwards and to the right of each pixel of a tile.

    s is the slope along the edge. The last of each line are those of the seam.
    """
    steps = ((np.roll(z, -1, axis) - z, 0.5 * (s + np.roll(s, -1, axis))) for axis, s in enumerate((p, q)))
    return tuple(step - slope for step, slope in steps)


def periodic_energy(z, p, q):
    """Return the quadratic method's energy of a tile.

    Of each edge it has ½(d − s_i)² + ½(d − s_j)² = (d − ½(s_i + s_j))² + ¼(s_i − s_j)², with d = z_j − z_i.
    """
    left = sum(np.sum(residual**2) for residual in periodic_residuals(z, p, q))
    return float(left + 0.25 * sum(np.sum((np.roll(s, -1, axis) - s) ** 2) for axis, s in enumerate((p, q))))
