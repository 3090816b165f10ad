"""Between normals, gradients and depths.

The components of a normal are along u (down), v (right) and z (towards the camera), like everything here.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normint.inputs import as_mask, unhidden
from normint.normals.camera import Orthographic

__all__ = ["depth_to_normals", "gradient_to_normals", "normals_to_gradient"]


def normals_to_gradient(
    normals: ArrayLike, mask: ArrayLike | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Turn normals into the gradient of the depth.

    Parameters
    ----------
    normals : array_like
        rows×columns×3, of any positive length, facing the camera (n_z > 0) inside the mask.
    mask : array_like, optional
        The domain Ω; by default the whole grid. Outside, anything is allowed.

    Returns
    -------
    p, q : ndarray of float64
        ∂z/∂u and ∂z/∂v; NaN outside the mask.

    Notes
    -----
    A surface (u, v, z(u, v)) under orthographic projection has the normal n ∝ (−p, −q, 1), so that
    p = −n_u / n_z and q = −n_v / n_z.

    Examples
    --------
    >>> p, q = normals_to_gradient([[[0.0, -0.6, 0.8]]])
    >>> q
    array([[0.75]])
    """
    return Orthographic().gradient(normals, mask)


def gradient_to_normals(p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
    """Turn the gradient of a depth into unit normals.

    Parameters
    ----------
    p, q : array_like
        ∂z/∂u and ∂z/∂v, of equal shape.

    Returns
    -------
    ndarray of float64
        One axis more than p, of length 3: (−p, −q, 1) / √(1 + p² + q²). NaN where p or q is.

    Examples
    --------
    >>> gradient_to_normals([[0.75]], [[0.0]])
    array([[[-0.6,  0. ,  0.8]]])
    """
    p, q = (unhidden(slope).astype(np.float64, copy=False) for slope in (p, q))
    if p.shape != q.shape:
        raise ValueError(f"q has shape {q.shape}; expected {p.shape}, the shape of p")
    length = np.hypot(np.hypot(p, q), 1.0)
    # 0 − p rather than −p: a flat surface has the normal (0, 0, 1), without negative zeros.
    return np.stack([0.0 - p, 0.0 - q, np.ones_like(p)], axis=-1) / length[..., np.newaxis]


def depth_to_normals(z: ArrayLike, mask: ArrayLike | None = None) -> NDArray[np.float64]:
    """Compute the unit normals of a depth map by central differences.

    Parameters
    ----------
    z : array_like
        The depth, towards the camera; NaN counts as outside the domain.
    mask : array_like, optional
        The domain Ω; by default wherever z is a number.

    Returns
    -------
    ndarray of float64
        rows×columns×3. NaN where the pixel or one of its four neighbours is outside the domain or the grid.

    Notes
    -----
    p ≈ ½(z(u+1, v) − z(u−1, v)) and q ≈ ½(z(u, v+1) − z(u, v−1)), exact for quadratic surfaces.

    Examples
    --------
    >>> u = np.arange(3.0)[:, np.newaxis]
    >>> depth_to_normals(0.75 * u + np.zeros(3))[1, 1]
    array([-0.6,  0. ,  0.8])
    """
    z = unhidden(z).astype(np.float64, copy=False)
    if z.ndim != 2:
        raise ValueError(f"z has {z.ndim} dimensions; expected 2 (rows and columns)")
    if mask is not None:
        z = np.where(as_mask(mask, z.shape), z, np.nan)
    z = np.pad(z, 1, constant_values=np.nan)
    centre = z[1:-1, 1:-1]
    p = 0.5 * (z[2:, 1:-1] - z[:-2, 1:-1])
    q = 0.5 * (z[1:-1, 2:] - z[1:-1, :-2])
    normals = gradient_to_normals(p, q)
    normals[np.isnan(p + q + centre)] = np.nan
    return normals
