"""What all cameras have in common, so that what uses one need not ask which it is.

A lens turns normals into slopes (`slopes`), tells how they are turned (`facing`, `turned_against`) and how
noise of them shows (`variance`), and leads from a depth to what is integrated (`potential`) and back
(`depth`), and to points in space (`points`).
"""

import copy

import numpy as np

from normint import inputs

__all__ = ["DEPTHS", "Lens", "NearLens"]

DEPTHS = ("z", "ray")  # how far a point is: along the axis of the camera, or along the ray that sees it


class Lens:
    """A camera of any kind."""

    far: bool  # so far away that its rays are parallel
    unit: float  # times the slopes: pixels per pixel

    def check(self, shape):
        """Refuse an image of another shape than the camera has. Most cameras have none."""

    def sees(self, rows=None, columns=None):
        """Tell which pixels have a ray: all."""
        return True

    def refuse_sideways(self, mask):
        """Refuse pixels whose depth cannot be measured as asked. Most cameras have none."""

    def gradient(self, normals, mask=None):
        """Turn normals into the gradient of the depth or, for a near camera, of the log of the distance.

        Parameters
        ----------
        normals : array_like
            rows×columns×3 along u, v and z, of any positive length, turned to the camera inside the mask.
        mask : array_like, optional
            The domain Ω; by default the whole grid. Outside, anything is allowed.

        Returns
        -------
        p, q : ndarray of float64
            Along u and v; NaN outside the mask.

        Examples
        --------
        A wall at a right angle to the axis is at the same z-distance everywhere:

        >>> from normint.normals.camera import Perspective
        >>> p, q = Perspective((50.0, 50.0), (0.5, 0.5)).gradient(np.full((2, 2, 3), [0.0, 0.0, 1.0]))
        >>> np.abs(p).max(), np.abs(q).max()
        (np.float64(0.0), np.float64(0.0))
        """
        normals = inputs.as_normals("normals", normals)
        self.check(normals.shape[:2])
        mask = inputs.as_mask(mask, normals.shape[:2])
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # outside anything is allowed
            # A sum of three numbers is finite only if each is, and costs less than three tests.
            finite = np.isfinite(normals.sum(axis=2))
            self._refuse(mask, finite, self.facing(normals) > 0)
            p, q = self.slopes(normals)
        p[~mask] = q[~mask] = np.nan
        return p, q


class NearLens(Lens):
    """A camera at a finite distance d: ℓ = log d is integrated.

    Notes
    -----
    The pixel (u, v) sees the point d·r on its ray r(u, v), in the axes u, v and z of the normals (z towards
    the camera). A camera chooses how long its rays are: that is what its d means. The surface's tangents
    ∂(d r)/∂u and ∂(d r)/∂v are orthogonal to the normal n. With ℓ = log d that means
    (∂ℓ/∂u) n·r + n·∂r/∂u = 0 and the same for v:

        ∂ℓ/∂u = -(n·∂r/∂u) / (n·r),    ∂ℓ/∂v = -(n·∂r/∂v) / (n·r).

    The constant of ℓ, which no normal tells, is a factor of d: the size of the scene.

    A depth is measured along the axis of the camera ("z": what depth cameras and z-buffers give, the same
    for all of a wall at a right angle to the axis) or along the ray ("ray": the distance of the point from
    the camera, what laser scanners give). The first is -r_z d, the second |r| d.
    """

    far = False
    measured: str  # one of DEPTHS

    def measuring(self, depth):
        """Return the same camera with depths measured along its axis ("z") or along its rays ("ray").

        Examples
        --------
        >>> from normint.normals.camera import Perspective
        >>> Perspective((4.0, 4.0), (3.0, 0.0)).measuring("ray").depth(np.zeros((1, 1)))
        array([[1.25]])
        """
        if not isinstance(depth, str) or depth not in DEPTHS:
            raise ValueError(f"depth is {depth!r}; expected 'z' or 'ray'")
        same = copy.copy(self)
        object.__setattr__(same, "measured", depth)  # the camera, but not its copy, has been seen by others
        return same

    def points(self, depth):
        """Return the points d·r along u, v and z that the pixels show, rows×columns×3."""
        depth = np.asarray(depth, dtype=np.float64)
        return (depth / self.stretch(depth.shape))[..., np.newaxis] * self.rays(depth.shape)

    def potential(self, depth, name="depth"):
        """Return what is integrated: ℓ = log d; NaN where the distance is."""
        depth = np.asarray(depth, dtype=np.float64)
        if (depth <= 0).any():
            raise ValueError(f"{name} is zero or negative somewhere; expected distances > 0, or NaN")
        return np.log(depth / self.stretch(depth.shape))

    def depth(self, potential):
        """Return the depth that belongs to ℓ, which is d = exp ℓ where that is measured."""
        potential = np.asarray(potential, dtype=np.float64)
        return np.exp(potential) * self.stretch(potential.shape)

    def stretch(self, shape):
        """Return depth / d, of each pixel or of all; NaN where that is not positive."""
        raise NotImplementedError

    @staticmethod
    def _refuse(mask, finite, facing):
        if wrong := np.count_nonzero(mask & ~(finite & facing)):
            raise ValueError(
                f"normals: {wrong} of the mask's pixels are NaN, infinite or facing away from the camera; "
                "expected finite normals turned towards it (n·r < 0)"
            )
