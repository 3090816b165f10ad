"""How a depth becomes something to integrate: as it is for a far camera, its logarithm for a near one.

A normal map and a gradient are related by the projection of the camera. Under perspective the logarithm of
the distance plays the part of the depth, and all methods work on it unchanged.
"""

from dataclasses import dataclass

import numpy as np

from normint import inputs
from normint.normals.lens import Lens, NearLens

__all__ = ["Orthographic", "Perspective", "camera_of_part", "camera_of_view", "projection"]


def projection(camera, depth=None):
    """Choose the projection that a camera describes.

    Parameters
    ----------
    camera : array_like, Lens or None
        The 3×3 matrix K of a perspective camera; a lens such as :class:`normint.normals.rays.Rays`, which is
        returned; None for an orthographic one.
    depth : {"z", "ray"}, optional
        How a near camera measures depths, see :class:`normint.normals.lens.NearLens`; by default along the
        axis ("z"), if the lens does not say otherwise.

    Returns
    -------
    Lens
        All have the same methods, so that what follows need not ask which it is.

    Examples
    --------
    >>> projection(None)
    Orthographic()
    >>> projection([[500, 0, 32], [0, 500, 24], [0, 0, 1]]).focal
    (500.0, 500.0)
    """
    if camera is None:
        lens = Orthographic()
    else:
        lens = camera if isinstance(camera, Lens) else Perspective.from_matrix(camera)
    return lens if depth is None else lens.measuring(depth)


def camera_of_view(degrees, shape, axis="horizontal"):
    """Return the matrix of a camera of which only the field of view is known.

    Parameters
    ----------
    degrees : float
        The angle between the rays to the outer edges of the first and of the last pixel.
    shape : (int, int)
        Rows and columns of the image.
    axis : {"horizontal", "vertical", "diagonal"}
        Along which the angle is: from left to right, from top to bottom, or between opposite corners.

    Returns
    -------
    ndarray
        3×3, as :func:`normint.integrate_normals` takes it: square pixels, and the axis through the middle.

    Examples
    --------
    >>> camera_of_view(90, (480, 640))
    array([[320. ,   0. , 319.5],
           [  0. , 320. , 239.5],
           [  0. ,   0. ,   1. ]])
    """
    angle, (rows, columns) = inputs.as_positive("degrees", degrees), shape
    sizes = {"horizontal": columns, "vertical": rows, "diagonal": float(np.hypot(rows, columns))}
    if angle >= 180:
        raise ValueError(f"degrees is {angle:g}; expected less than 180, or a map of rays (Rays)")
    if axis not in sizes:
        raise ValueError(f"axis is {axis!r}; expected one of {', '.join(sizes)}")
    focal = sizes[axis] / 2 / np.tan(np.radians(angle) / 2)
    return np.array([[focal, 0, (columns - 1) / 2], [0, focal, (rows - 1) / 2], [0, 0, 1]])


def camera_of_part(camera, top=0, left=0, step=1):
    """Return the camera of a part of an image: without its first rows and columns, and of those every k-th.

    Parameters
    ----------
    camera : array_like, NearLens or None
        The camera of the whole image, or None.
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
    if isinstance(camera, NearLens):
        return camera.part(top, left, step)
    shift = np.array([[1.0, 0, -left], [0, 1, -top], [0, 0, 1]])
    return np.diag([1 / step, 1 / step, 1]) @ shift @ np.asarray(camera, dtype=np.float64)


class _Flat(Lens):
    """What cameras with a flat image plane have in common: the one formula from normals to slopes.

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

    @staticmethod
    def _against(normals, x, y):
        """Return -n·r of each pixel, without the rays as an array."""
        return normals[..., 2] - normals[..., 0] * x - normals[..., 1] * y


@dataclass(frozen=True)
class Orthographic(_Flat):
    """A camera so far away that its rays are parallel: the depth itself is integrated."""

    far = True
    unit = 1.0  # times the potential: pixels
    focal = (1.0, 1.0)
    sign = -1.0  # a depth grows towards the camera

    def tilts(self, shape, rows=None, columns=None):
        """Return the directions x and y of the rays along u and v: straight on."""
        return 0.0, 0.0

    def measuring(self, depth):
        """Return the same camera: it measures a depth along its rays, which is along its axis."""
        if depth != "z":
            raise ValueError(f"depth is {depth!r} without a camera; expected a camera, or 'z'")
        return self

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
class Perspective(_Flat, NearLens):
    """A camera with a flat image plane at a finite distance.

    Parameters
    ----------
    focal : (float, float)
        Focal lengths along v (right) and u (down), in pixels.
    centre : (float, float)
        The principal point, column v and row u.
    measured : {"z", "ray"}
        How depths are measured, see :class:`normint.normals.lens.NearLens`.

    Notes
    -----
    The pixel (u, v) looks along the ray r = ((u - u₀)/f_u, (v - v₀)/f_v, -1), so that d is the z-depth. By
    the formula of `NearLens`,

        ∂ℓ/∂u = -(n_u/f_u) / (n·r),    ∂ℓ/∂v = -(n_v/f_v) / (n·r).
    """

    focal: tuple
    centre: tuple
    measured: str = "z"
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

    def part(self, top=0, left=0, step=1):
        """Return the camera of ``image[top::step, left::step]``."""
        (fv, fu), (v0, u0) = self.focal, self.centre
        return Perspective((fv / step, fu / step), ((v0 - left) / step, (u0 - top) / step), self.measured)

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

    def stretch(self, shape):
        """Return depth / d: 1, or the length of each ray."""
        return 1.0 if self.measured == "z" else np.linalg.norm(self.rays(shape), axis=-1)
