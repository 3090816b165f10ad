"""How a depth becomes something to integrate: as it is for a far camera, its logarithm for a near one.

A normal map and a gradient are related by the projection of the camera. Under perspective the logarithm of
the distance plays the part of the depth, and all methods work on it unchanged.
"""

from dataclasses import dataclass

import numpy as np

from normint import inputs

__all__ = ["Orthographic", "Perspective", "camera_of_part", "projection"]


def projection(camera):
    """Choose the projection that a camera matrix describes.

    Parameters
    ----------
    camera : array_like, Orthographic, Perspective or None
        The 3×3 matrix K of a perspective camera, or what this function returns; None for an orthographic one.

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
    if isinstance(camera, _Lens):
        return camera
    return Orthographic() if camera is None else Perspective.from_matrix(camera)


def camera_of_part(camera, top=0, left=0, step=1):
    """Return the camera of a part of an image: without its first rows and columns, and of those every k-th.

    Parameters
    ----------
    camera : array_like or None
        The matrix of the whole image's camera, or None.
    top, left, step : int
        The part is ``image[top::step, left::step]``.

    Examples
    --------
    >>> camera_of_part([[500, 0, 32], [0, 500, 24], [0, 0, 1]], top=4, left=2, step=2)
    array([[250.,   0.,  15.],
           [  0., 250.,  10.],
           [  0.,   0.,   1.]])
    """
    if camera is None:
        return None
    shift = np.array([[1.0, 0, -left], [0, 1, -top], [0, 0, 1]])
    return np.diag([1 / step, 1 / step, 1]) @ shift @ np.asarray(camera, dtype=np.float64)


class _Lens:
    """What both cameras have in common: the one formula from normals to slopes.

    Notes
    -----
    With the ray (x, y, -1) of a pixel along u, v and z, a = n_z - n_u x - n_v y is how far a normal n is
    turned against it. The slopes are ±(n_u/f_u)/a and ±(n_v/f_v)/a: + for the logarithm of a distance, which
    grows away from the camera, - for a depth z towards it. Far away x = y = 0 and f_u = f_v = 1.
    """

    def facing(self, normals, rows=None, columns=None):
        """Return the cosine of the angle between each normal and the direction to the camera.

        Where it is small the surface is seen at a grazing angle, and its slope is hardly known.

        Parameters
        ----------
        normals : ndarray of float64
            Along u, v and z.
        rows, columns : ndarray, optional
            The pixels that they belong to, as a column and a row; by default those of a whole image.
        """
        x, y = self.tilts(normals.shape, rows, columns)
        length = np.sqrt(np.einsum("...k,...k", normals, normals))
        return self._against(normals, x, y) / (length * np.sqrt(x**2 + y**2 + 1))

    def slopes(self, normals, rows=None, columns=None):
        """Return p and q of normals as for `facing`, unchecked: infinite or NaN where there are none."""
        against = self._against(normals, *self.tilts(normals.shape, rows, columns))
        (fv, fu), against = self.focal, self.sign * against
        return normals[..., 0] / fu / against, normals[..., 1] / fv / against

    def turned_against(self, p, q):
        """Return a = -n·r of the unit normals with these slopes, as `slopes` returns them for a whole image.

        Notes
        -----
        With s = ±f_u p and t = ±f_v q, a normal is n = a (s, t, 1 + s x + t y), and its length is 1.

        Examples
        --------
        >>> Orthographic().turned_against(np.array([[0.75]]), np.array([[0.0]]))
        array([[0.8]])
        """
        x, y = self.tilts(p.shape)
        (fv, fu), sign = self.focal, self.sign
        s, t = sign * fu * p, sign * fv * q
        return 1 / np.hypot(np.hypot(s, t), 1 + s * x + t * y)

    def variance(self, normals, rows=None, columns=None):
        """Return the variance of p plus that of q for independent noise of variance 1 in each component."""
        x, y = self.tilts(normals.shape, rows, columns)
        (fv, fu), against, total = self.focal, self._against(normals, x, y), 0.0
        for k, (along, focal) in enumerate(((x, fu), (y, fv))):
            slope = normals[..., k] / against
            total = total + (1 + 2 * along * slope + (1 + x**2 + y**2) * slope**2) / (focal * against) ** 2
        return total

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

        >>> p, q = Perspective((50.0, 50.0), (0.5, 0.5)).gradient(np.full((2, 2, 3), [0.0, 0.0, 1.0]))
        >>> np.abs(p).max(), np.abs(q).max()
        (np.float64(0.0), np.float64(0.0))
        """
        normals = inputs.as_normals("normals", normals)
        mask = inputs.as_mask(mask, normals.shape[:2])
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # outside anything is allowed
            # A sum of three numbers is finite only if each is, and costs less than three tests.
            finite = np.isfinite(normals.sum(axis=2))
            self._refuse(mask, finite, self._against(normals, *self.tilts(normals.shape)) > 0)
            p, q = self.slopes(normals)
        p[~mask] = q[~mask] = np.nan
        return p, q

    @staticmethod
    def _against(normals, x, y):
        """Return -n·r of each pixel, without the rays as an array."""
        return normals[..., 2] - normals[..., 0] * x - normals[..., 1] * y


@dataclass(frozen=True)
class Orthographic(_Lens):
    """A camera so far away that its rays are parallel: the depth itself is integrated."""

    far = True
    unit = 1.0  # times the potential: pixels
    focal = (1.0, 1.0)
    sign = -1.0  # a depth grows towards the camera

    def tilts(self, shape, rows=None, columns=None):
        """Return the directions x and y of the rays along u and v: straight on."""
        return 0.0, 0.0

    def points(self, depth):
        """Return the points (u, v, z) that the pixels show, rows×columns×3."""
        depth = np.asarray(depth, dtype=np.float64)
        return np.stack([*np.indices(depth.shape, dtype=np.float64), depth], axis=-1)

    def potential(self, depth, name="depth"):
        """Return what is integrated: the depth."""
        return np.asarray(depth, dtype=np.float64)

    def depth(self, potential):
        """Return the depth that belongs to what was integrated."""
        return np.asarray(potential, dtype=np.float64)

    @staticmethod
    def _refuse(mask, finite, facing):
        expected = "inside the mask"
        for right, what, wanted in (
            (finite, "NaN or infinite", f"finite normals {expected}"),
            (facing, "facing away from the camera (n_z ≤ 0)", f"n_z > 0 {expected}"),
        ):
            if count := np.count_nonzero(mask & ~right):
                verb = "pixel is" if count == 1 else "pixels are"
                raise ValueError(f"normals: {count} {verb} {what}; expected {wanted}")


@dataclass(frozen=True)
class Perspective(_Lens):
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
    far = False
    sign = 1.0  # a distance grows away from the camera

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

    @property
    def unit(self):
        """The mean focal length f: f·ℓ has slopes in pixels per pixel, like a depth in pixels."""
        return 0.5 * sum(self.focal)

    def rays(self, shape):
        """Return the rays r of all pixels, rows×columns×3, in the axes u, v, z; multiply by d to get points.

        Examples
        --------
        >>> Perspective((100.0, 100.0), (1.0, 0.0)).rays((1, 2))[0]
        array([[ 0.  , -0.01, -1.  ],
               [ 0.  ,  0.  , -1.  ]])
        """
        x, y = self.tilts(shape)
        return np.stack(np.broadcast_arrays(x, y, np.full(shape, -1.0)), axis=-1)

    def tilts(self, shape, rows=None, columns=None):
        """Return the directions x and y of the rays along u and v, as a column and a row."""
        u, v = np.ogrid[: shape[0], : shape[1]]
        (fv, fu), (v0, u0) = self.focal, self.centre
        return ((u if rows is None else rows) - u0) / fu, ((v if columns is None else columns) - v0) / fv

    def points(self, depth):
        """Return the points d·r along u, v and z that the pixels show, rows×columns×3."""
        depth = np.asarray(depth, dtype=np.float64)
        return depth[..., np.newaxis] * self.rays(depth.shape)

    def potential(self, depth, name="depth"):
        """Return what is integrated: ℓ = log d; NaN where the distance is."""
        depth = np.asarray(depth, dtype=np.float64)
        if (depth <= 0).any():
            raise ValueError(f"{name} is zero or negative somewhere; expected distances > 0, or NaN")
        return np.log(depth)

    def depth(self, potential):
        """Return the distance d = exp ℓ."""
        return np.exp(np.asarray(potential, dtype=np.float64))

    @staticmethod
    def _refuse(mask, finite, facing):
        if wrong := np.count_nonzero(mask & ~(finite & facing)):
            raise ValueError(
                f"normals: {wrong} of the mask's pixels are NaN, infinite or facing away from the camera; "
                "expected finite normals turned towards it (n·r < 0)"
            )
