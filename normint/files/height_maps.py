"""Height maps: a depth map as pictures that displacement, bump mapping and milling take."""

import numpy as np

from normint.files.exr import encode_exr
from normint.files.images import encode_image

__all__ = ["HEIGHT_MAPS", "encode_height_map", "heights"]

# From kinds to names of files and types of numbers.
HEIGHT_MAPS = {
    "png8": ("height8.png", np.uint8),
    "png16": ("height16.png", np.uint16),
    "tiff": ("height16.tiff", np.uint16),
    "tiff32": ("height32.tiff", np.float32),
    "exr": ("height32.exr", np.float32),
}


def heights(depth, *, far=True, near="white"):
    """Return heights from 0 on; where there is no depth, the height is that of the farthest point.

    Parameters
    ----------
    depth : ndarray
        NaN where there is none.
    far : bool
        Whether the depth grows towards the camera, which is far away. With a near one it is a distance.
    near : {"white", "black"}
        Whether the nearest point is the highest or, the other way round, 0.

    Examples
    --------
    >>> heights(np.array([[1.0, 3.0, np.nan]]))
    array([[0., 2., 0.]])
    >>> heights(np.array([[1.0, 3.0, np.nan]]), near="black")
    array([[2., 0., 2.]])
    """
    if near not in ("white", "black"):
        raise ValueError(f"near is {near!r}; expected 'white' or 'black'")
    up = depth if far else -depth
    up = np.where(np.isfinite(up), up, np.nanmin(up))
    return up - up.min() if near == "white" else up.max() - up


def encode_height_map(heights, kind, unit=1.0):
    """Return the bytes of a height map.

    Parameters
    ----------
    heights : ndarray
        From 0 on, in pixels.
    kind : str
        One of `HEIGHT_MAPS`. Whole numbers go from black for 0 to white for the greatest. Real numbers are
        the heights themselves.
    unit : float
        Times the real numbers, such as millimetres in a pixel.
    """
    name, dtype = HEIGHT_MAPS[kind]
    if dtype is not np.float32:
        image = np.rint(heights * (np.iinfo(dtype).max / (heights.max() or 1.0))).astype(dtype)
    else:
        image = (unit * heights).astype(np.float32)
    if name.endswith(".exr"):
        return encode_exr(image)
    return encode_image(image, name[name.rindex(".") :])
