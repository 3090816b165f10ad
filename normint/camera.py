"""How a depth becomes something to integrate: as it is for a far camera, its logarithm for a near one.

A normal map and a gradient are related by the projection of the camera. Under perspective the logarithm of
the distance plays the part of the depth, and all methods work on it unchanged.
"""

from dataclasses import dataclass

import numpy as np

from normint import inputs
from normint.normals import _as_normals, normals_to_gradient

__all__ = ["Orthographic", "Perspective", "projection"]


def projection(camera):
    """Choose the projection that a camera matrix describes.

    Parameters
    ----------
    camera : array_like or None
        The 3×3 matrix K of a perspective camera; None for an orthographic one.

    Returns
    -------
    Orthographic or Perspective
        Both have the same methods, so that what follows need not ask which it is.

    Examples
    --------
    >>> projection(None)
    Orthographic()
    >>> projection([[500, 0, 32], [0, 500, 24], [0, 0, 1]]).focal
    (500.0, 500.0)
    """
    return Orthographic() if camera is None else Perspective.from_matrix(camera)


@dataclass(frozen=True)
class Orthographic:
    """A camera so far away that its rays are parallel: the depth itself is integrated."""

    def facing(self, normals):
        """Return the cosine of the angle between each normal and the direction to the camera."""
        normals = _as_normals("normals", normals)
        return normals[..., 2] / np.linalg.norm(normals, axis=2)

    def gradient(self, normals, mask=None):
        """Turn normals into the gradient of the depth, see :func:`normint.normals_to_gradient`."""
        return normals_to_gradient(normals, mask)

    def potential(self, depth):
        """Return what is integrated: the depth."""
        return np.asarray(depth, dtype=np.float64)

    def depth(self, potential):
        """Return the depth that belongs to what was integrated."""
        return np.asarray(potential, dtype=np.float64)


@dataclass(frozen=True)
class Perspective:
    """A camera at a finite distance d: ℓ = log d is integrated.

    Parameters
    ----------
    focal : (float, float)
        Focal lengths along v (right) and u (down), in pixels.
    centre : (float, float)
        The principal point, column v and row u.

    Notes
    -----
    The pixel (u, v) looks along the ray r = ((u - u₀)/f_u, (v - v₀)/f_v, -1), in the axes u, v and z of the
    normals (z towards the camera), and sees the point d·r. The surface's tangents ∂(d r)/∂u and ∂(d r)/∂v are
    orthogonal to the normal n. With ℓ = log d that means (∂ℓ/∂u) n·r + n_u/f_u = 0 and the same for v:

        ∂ℓ/∂u = -(n_u/f_u) / (n·r),    ∂ℓ/∂v = -(n_v/f_v) / (n·r).

    The constant of ℓ, which no normal tells, is a factor of d: the size of the scene.
    """

    focal: tuple
    centre: tuple

    @classmethod
    def from_matrix(cls, camera):
        """Read the focal lengths and the centre from K = [[f_v, 0, v₀], [0, f_u, u₀], [0, 0, 1]]."""
        camera = np.asarray(camera)
        if camera.shape != (3, 3) or camera.dtype.kind not in "iuf":
            raise ValueError(f"camera is {camera.shape} {camera.dtype}; expected a 3×3 matrix of numbers")
        camera = camera.astype(np.float64)
        (fv, skew, v0), (zero, fu, u0), last = camera
        if not (np.isfinite(camera).all() and fv > 0 and fu > 0):
            raise ValueError(f"camera has focal lengths {fv} and {fu}; expected finite numbers > 0")
        if skew or zero or last.tolist() != [0, 0, 1]:
            raise ValueError(f"camera is {camera.tolist()}; expected [[f_v, 0, v₀], [0, f_u, u₀], [0, 0, 1]]")
        return cls((float(fv), float(fu)), (float(v0), float(u0)))

    def rays(self, shape):
        """Return the rays r of all pixels, rows×columns×3, in the axes u, v, z; multiply by d to get points.

        Examples
        --------
        >>> Perspective((100.0, 100.0), (1.0, 0.0)).rays((1, 2))[0]
        array([[ 0.  , -0.01, -1.  ],
               [ 0.  ,  0.  , -1.  ]])
        """
        u, v = np.indices(shape, dtype=np.float64)
        (fv, fu), (v0, u0) = self.focal, self.centre
        return np.stack([(u - u0) / fu, (v - v0) / fv, np.full(shape, -1.0)], axis=-1)

    def facing(self, normals):
        """Return the cosine of the angle between each normal and the direction to the camera.

        Where it is small the surface is seen at a grazing angle, and its slope is hardly known.
        """
        normals = _as_normals("normals", normals)
        rays = self.rays(normals.shape[:2])
        lengths = np.linalg.norm(normals, axis=2) * np.linalg.norm(rays, axis=2)
        return -np.einsum("ijk,ijk->ij", normals, rays) / lengths

    def gradient(self, normals, mask=None):
        """Turn normals into the gradient of the logarithm of the distance.

        Parameters
        ----------
        normals : array_like
            rows×columns×3 along u, v and z, of any positive length, turned to the camera inside the mask.
        mask : array_like, optional
            The domain Ω; by default the whole grid. Outside, anything is allowed.

        Returns
        -------
        p, q : ndarray of float64
            ∂ℓ/∂u and ∂ℓ/∂v; NaN outside the mask.

        Examples
        --------
        A wall at a right angle to the axis is at the same z-distance everywhere:

        >>> p, q = Perspective((50.0, 50.0), (0.5, 0.5)).gradient(np.full((2, 2, 3), [0.0, 0.0, 1.0]))
        >>> np.abs(p).max(), np.abs(q).max()
        (np.float64(0.0), np.float64(0.0))
        """
        normals = _as_normals("normals", normals)
        mask = inputs.as_mask(mask, normals.shape[:2])
        facing = -np.einsum("ijk,ijk->ij", normals, self.rays(mask.shape))  # -n·r, the length of r included
        wrong = np.count_nonzero(mask & ~(np.isfinite(normals.sum(axis=2)) & (facing > 0)))
        if wrong:
            raise ValueError(
                f"normals: {wrong} of the mask's pixels are NaN, infinite or facing away from the camera; "
                "expected finite normals turned towards it (n·r < 0)"
            )
        p, q = np.full((2, *mask.shape), np.nan)
        (fv, fu), (n_u, n_v, _) = self.focal, np.moveaxis(normals, 2, 0)
        np.divide(n_u / fu, facing, out=p, where=mask)
        np.divide(n_v / fv, facing, out=q, where=mask)
        return p, q

    def potential(self, depth):
        """Return what is integrated: ℓ = log d; NaN where the distance is."""
        depth = np.asarray(depth, dtype=np.float64)
        if (depth <= 0).any():
            raise ValueError("depth is zero or negative somewhere; expected distances > 0, or NaN")
        return np.log(depth)

    def depth(self, potential):
        """Return the distance d = exp ℓ."""
        return np.exp(np.asarray(potential, dtype=np.float64))
