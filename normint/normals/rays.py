"""Any camera that looks from one point: a fisheye, a panorama, a distorted lens, by the ray of each pixel."""

import numpy as np

from normint import inputs
from normint.normals.lens import NearLens
from normint.normals.maps import directions, turned

__all__ = ["Rays"]

ROUGH = 0.05  # of a step between neighbours: more, in third differences, are rounded or noisy rays
MIRRORED = 0.5  # part of the pixels


class Rays(NearLens):
    """A camera known by the direction in which each pixel looks: its d is the distance along the ray.

    Parameters
    ----------
    rays : array_like
        rows×columns×3, of any length. Zero or NaN where the camera sees nothing, such as outside the circle
        of a fisheye: there is no surface either.
    axes : str
        Where the components point, as for :func:`normint.integrate_normals`. It is by default "opencv": x to
        the right and y down in the image, z forward, out of the camera, as K⁻¹(x, y, 1) gives them. The
        normals may have other axes, but of the same camera: what points right for the ones points right for
        the others.
    measured : {"ray", "z"}
        How depths are measured, see :class:`normint.normals.lens.NearLens`: by default as a distance from
        the camera. Along the axis is for rays that look forward only.

    Notes
    -----
    The rays r are made unit vectors. Their derivatives are central differences, and at the edge of what is
    seen differences to one side, both exact to second order: the panorama of a box, 256 pixels wide, comes
    out right to a few parts in a thousand. The step between neighbouring rays may differ over the image. A
    panorama is not joined at its left and right edges: the last column and the first are no neighbours.

    A map of rays with less than about twelve bits after the point is too rough for differences. It is
    refused, and so are rays that run through the image as in a mirror.

    Examples
    --------
    A quarter of a panorama, from the middle of a round room with a radius of 3:

    >>> angle = np.radians(np.arange(-44.5, 45.0))
    >>> rays = np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=-1)[np.newaxis]
    >>> from normint import integrate_normals
    >>> walls = integrate_normals(-rays, camera=Rays(rays), axes="opencv", distance=3.0, check_axes=False)
    >>> float(np.ptp(walls.depth).round(6)), float(walls.depth.mean().round(6))
    (0.0, 3.0)
    """

    def __init__(self, rays, axes="opencv", measured="ray"):
        rays, words = inputs.as_normals("rays", rays), directions(axes)
        length = np.sqrt(np.einsum("...k,...k", rays, rays))[..., np.newaxis]
        with np.errstate(invalid="ignore", divide="ignore"):
            self.directions = turned(
                np.where(np.isfinite(length) & (length > 0), rays / length, np.nan), words
            )
        if not self.sees().any():
            raise ValueError("rays are NaN or zero everywhere; expected a direction somewhere")
        self.measured = measured
        self._down, self._right = (_derivative(self.directions, axis) for axis in (0, 1))
        self.unit = self._pixels_per_radian()
        self._refuse_rough()
        self._refuse_mirrored(axes)
        if measured != "ray":
            self.measured = self.measuring(measured).measured

    def __repr__(self):
        rows, columns = self.directions.shape[:2]
        return f"Rays({rows}×{columns} pixels, {self.unit:.0f} per radian)"

    def check(self, shape):
        """Refuse an image of another shape."""
        if tuple(shape) != self.directions.shape[:2]:
            raise ValueError(
                f"rays has {self.directions.shape[:2]} pixels; expected {tuple(shape)}, the image's"
            )

    def sees(self, rows=None, columns=None):
        """Tell which pixels have a ray."""
        return np.isfinite(self._part(self.directions, rows, columns)[..., 0])

    def part(self, top=0, left=0, step=1):
        """Return the rays of ``image[top::step, left::step]``."""
        return Rays(self.directions[top::step, left::step], "uvz", self.measured)

    def rays(self, shape):
        """Return the unit rays of all pixels along u, v and z."""
        self.check(shape)
        return self.directions

    def facing(self, normals, rows=None, columns=None):
        """Return the cosine of the angle between each normal and the direction to the camera.

        Parameters
        ----------
        normals : ndarray of float64
            Along u, v and z.
        rows, columns : ndarray, optional
            The pixels that they belong to, as a column and a row; by default those of a whole image.
        """
        against = -_dot(normals, self._part(self.directions, rows, columns))
        return against / np.sqrt(_dot(normals, normals))

    def slopes(self, normals, rows=None, columns=None):
        """Return p and q of normals as for `facing`, unchecked: infinite or NaN where there are none."""
        against, down, right = self._told(normals, rows, columns)
        return _dot(normals, down) / against, _dot(normals, right) / against

    def variance(self, normals, rows=None, columns=None):
        """Return the variance of p plus that of q for independent noise of variance 1 in each component.

        Notes
        -----
        The derivative of p = -(n·∂r/∂u)/(n·r) by n is the vector -(∂r/∂u + p r)/(n·r).
        """
        against, *steps = self._told(normals, rows, columns)
        r, total = self._part(self.directions, rows, columns), 0.0
        for step in steps:
            tangent = step + (_dot(normals, step) / against)[..., np.newaxis] * r
            total = total + _dot(tangent, tangent) / against**2
        return total

    def turned_against(self, p, q):
        """Return a = -n·r of the unit normals with these slopes, as `slopes` returns them for a whole image.

        Notes
        -----
        The tangents are ∂r/∂u + p r and ∂r/∂v + q r. Their product, made a unit vector, is the normal.
        """
        r = self.directions
        tangents = self._down + p[..., np.newaxis] * r, self._right + q[..., np.newaxis] * r
        normals = -np.cross(*tangents)
        length = np.linalg.norm(normals, axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(length > 0, np.abs(_dot(normals, r)) / length, 1.0)  # a pole has no tangents

    def stretch(self, shape):
        """Return depth / d: 1, or the part of each ray along the axis."""
        self.check(shape)
        if self.measured == "ray":
            return 1.0
        forward = -self.directions[..., 2]
        return np.where(forward > 0, forward, np.nan)

    def refuse_sideways(self, mask):
        """Refuse to measure along the axis what is not in front of the camera."""
        if self.measured == "z" and (wrong := np.count_nonzero(mask & ~(self.directions[..., 2] < 0))):
            raise ValueError(
                f"depth is 'z', but {wrong} rays inside the mask look sideways or back, where nothing has a "
                "depth along the axis; expected depth='ray'"
            )

    def _told(self, normals, rows, columns):
        """Return -n·r, and the derivatives of the rays."""
        r, down, right = (
            self._part(one, rows, columns) for one in (self.directions, self._down, self._right)
        )
        return -_dot(normals, r), down, right

    @staticmethod
    def _part(field, rows, columns):
        """Return a field at the pixels of some rows, a column, and columns, a row."""
        if rows is None and columns is None:
            return field
        u, v = np.ogrid[: field.shape[0], : field.shape[1]]
        return field[u if rows is None else rows, v if columns is None else columns]

    def _pixels_per_radian(self):
        """Return the inverse of the middle step between neighbours; 1 where there are none."""
        steps = np.concatenate([np.linalg.norm(one, axis=-1).ravel() for one in (self._down, self._right)])
        steps = steps[steps > 0]
        return float(1 / np.median(steps)) if steps.size else 1.0

    def _refuse_rough(self):
        """Refuse rays whose steps are not smooth: differences of them would be noise.

        The third difference of a circle in steps of an angle h, of whatever radius, is h² of the first.
        """
        largest = max(np.nanquantile(np.linalg.norm(one, axis=-1), 0.95) for one in (self._down, self._right))
        for axis in (0, 1):
            if self.directions.shape[axis] < 4:
                continue
            steps = np.diff(self.directions, axis=axis)
            h, third = (np.linalg.norm(one, axis=-1) for one in (steps, np.diff(steps, n=2, axis=axis)))
            h, third = np.nanmedian(h), np.nanmedian(third)
            if third > (ROUGH + largest**2) * h:
                raise ValueError(
                    f"rays are rough: their steps from pixel to pixel ({h:.2g} on the unit sphere) vary by "
                    f"{third / h:.0%}; expected a smooth map, stored with 32 bits and not as colours"
                )

    def _refuse_mirrored(self, axes):
        """Refuse rays that turn around the image the wrong way: r·(∂r/∂u × ∂r/∂v) is negative in all cameras.

        And rays that run up where the image runs down: the words of axes are about the image.
        """
        turn = _dot(self.directions, np.cross(self._down, self._right))
        there = np.isfinite(turn) & (turn != 0)
        wrong = np.count_nonzero(turn[there] > 0)
        advice = "give the rays' axes, such as 'xyz' (x right, y up, z backward: rays look along −z)"
        if wrong > MIRRORED * np.count_nonzero(there):
            raise ValueError(f"rays run through the image as in a mirror with the axes {axes!r}; {advice}")
        if wrong:
            raise ValueError(
                f"rays fold back at {wrong} of {turn.size} pixels; expected a map without folds or seams"
            )
        down = self._down[..., 0]
        if np.nansum(down) < -0.5 * np.nansum(np.abs(down)):
            raise ValueError(f"rays run up where the image runs down with the axes {axes!r}; {advice}")


def _dot(a, b):
    return np.einsum("...k,...k", a, b)


def _derivative(rays, axis):
    """Return the derivative of the rays along an axis of the image, NaN where there is no ray.

    It is the mean of the steps to both neighbours. Where only one is there, its step and half the change to
    the step after it, if there is one; 0 where there is none.
    """
    rays = np.moveaxis(rays, axis, 0)
    nothing = np.full_like(rays[:1], np.nan)
    steps = np.concatenate([nothing, nothing, np.diff(rays, axis=0), nothing, nothing])
    before2, before, after, after2 = (steps[k : k + len(rays)] for k in range(4))
    ahead = np.where(np.isfinite(after2), 1.5 * after - 0.5 * after2, after)
    back = np.where(np.isfinite(before2), 1.5 * before - 0.5 * before2, before)
    both = np.isfinite(before) & np.isfinite(after)
    one_side = np.where(np.isfinite(after), ahead, np.where(np.isfinite(before), back, 0.0))
    slope = np.where(both, 0.5 * (before + after), one_side)
    return np.moveaxis(np.where(np.isfinite(rays), slope, np.nan), 0, axis)
