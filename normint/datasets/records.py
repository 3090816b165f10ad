"""What a data set is, once it is read: arrays, a name for titles, and whether it is the real one."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Photographs from one place under several lights.

    Attributes
    ----------
    images : ndarray of uint8 or uint16
        count×rows×columns, or count×rows×columns×3.
    lights : ndarray
        count×3: directions to the lights along u (down), v (right) and z (to the camera).
    intensities : ndarray or None
        count×3: how strong each light is in red, green and blue.
    mask : ndarray of bool
        The object.
    normals, depth : ndarray or None
        The truth, where it is known.
    name : str
        For titles; a stand-in says that it is one.
    data : {"real", "stand-in"}
    """

    images: np.ndarray
    lights: np.ndarray
    intensities: np.ndarray | None
    mask: np.ndarray
    normals: np.ndarray | None = None
    depth: np.ndarray | None = None
    name: str = ""
    data: str = "real"

    def grey(self) -> np.ndarray:
        """Return count×rows×columns real numbers: the mean of the channels, each divided by its light."""
        if self.images.ndim == 3:
            return self.images.astype(np.float64)
        strengths = np.ones((len(self.images), 3)) if self.intensities is None else self.intensities
        weights = 1 / (3 * strengths)
        return np.stack([image @ weight for image, weight in zip(self.images, weights, strict=True)])


@dataclass(frozen=True, eq=False)
class DepthAndNormals:
    """A normal map whose true depth is known.

    Attributes
    ----------
    normals : ndarray
        rows×columns×3 along u, v and z; NaN outside the mask.
    mask : ndarray of bool
    depth : ndarray
        With a camera, the distance from it along its axis; without one, z towards the viewer, in pixels.
        NaN outside the mask.
    camera : ndarray or None
        The matrix (f_x, 0, c_x; 0, f_y, c_y; 0, 0, 1) in pixels, or None for a camera far away.
    name, data
        As for :class:`ImageSet`.
    """

    normals: np.ndarray
    mask: np.ndarray
    depth: np.ndarray | None
    camera: np.ndarray | None
    name: str = ""
    data: str = "real"


@dataclass(frozen=True, eq=False)
class Picture:
    """An image in colour: rows×columns×3 of uint8, its name for titles, and whether it is "real"."""

    image: np.ndarray
    name: str
    data: str = "real"
