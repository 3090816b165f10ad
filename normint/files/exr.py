"""EXR files: one array for each three channels that belong together, and for each other channel."""

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

import numpy as np

from normint.extras import extra
from normint.files.images import hushed
from normint.files.reading import check_room, read_regular

__all__ = ["encode_exr", "layers", "read_exr"]

MAGIC = b"\x76\x2f\x31\x01"
TRIPLES = ("RGB", "XYZ", "rgb", "xyz")

_one_at_a_time = Lock()  # stdout is the same for all threads


def read_exr(path, *, alpha=False):
    """Read the arrays of an EXR file, with the library OpenEXR.

    Parameters
    ----------
    path : path-like
    alpha : bool
        As for :func:`layers`.

    Returns
    -------
    dict of ndarray
        As from :func:`layers`. In a file of several parts, names begin with that of the part.

    Notes
    -----
    OpenCV, which reads some EXR files, would take the first colours it finds, in a rendering those of the
    picture and not the normals beside it, without a word. So it is not asked.
    """
    if read_regular(path, first=len(MAGIC)) != MAGIC:
        raise ValueError(f"{path} is not an EXR file")
    try:
        import OpenEXR
    except ImportError:
        raise ValueError(
            f"{path} cannot be read: no reader for EXR files is installed; pip install 'normint[exr]'"
        ) from None
    try:
        with hushed, OpenEXR.File(str(path), header_only=True) as file:
            needed = sum(_bytes_of_part(part.header) for part in file.parts)
    except Exception as error:  # damaged files fail in many ways
        raise ValueError(f"{path} is not an EXR file that can be read: it is damaged") from error
    check_room(path, needed)
    try:
        # Channels of different types, such as a short transparency, are only read apart. Of pixels that it
        # cannot read the library says so on stdout, and goes on.
        with _one_at_a_time, hushed, redirect_stdout(StringIO()) as said:
            with OpenEXR.File(str(path), separate_channels=True) as file:
                parts = {
                    part.name(): {name: np.asarray(channel.pixels) for name, channel in part.channels.items()}
                    for part in file.parts
                }
        if "Exception raised" in said.getvalue():
            raise ValueError(said.getvalue())
    except Exception as error:
        raise ValueError(f"{path} is not an EXR file that can be read: it is damaged") from error
    if len(parts) == 1:
        return layers(next(iter(parts.values())), alpha=alpha)
    named = {f"{part}.{name}": image for part, found in parts.items() for name, image in found.items()}
    return layers(named, alpha=alpha)


def encode_exr(image):
    """Return the bytes of an EXR file with one channel of real numbers of 32 bits, Y."""
    with extra("exr", "writing EXR files"):
        import OpenEXR

    with TemporaryDirectory() as folder:  # the library writes to paths only
        path = Path(folder, "image.exr")
        header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
        with OpenEXR.File(header, {"Y": np.ascontiguousarray(image, np.float32)}) as file:
            file.write(str(path))
        return path.read_bytes()


def _bytes_of_part(header):
    """Return how many bytes the channels of a part take, and the arrays that they are put together to."""
    (left, top), (right, bottom) = header["dataWindow"]
    pixels = (int(right) - int(left) + 1) * (int(bottom) - int(top) + 1)
    return 2 * 4 * pixels * len(header["channels"])


def layers(channels, *, alpha=False):
    """Put the channels together that belong together.

    Parameters
    ----------
    channels : dict of ndarray
        rows×columns each. Names are letters, after a layer's name and a dot if they are in a layer.
    alpha : bool
        Whether the transparency of a layer becomes the fourth of its channels.

    Returns
    -------
    dict of ndarray
        rows×columns×3 of the channels R, G, B or X, Y, Z of each layer, in this order, and rows×columns of
        each other channel. Transparency is left out unless it is alone.

    Examples
    --------
    >>> grey = np.zeros((2, 4))
    >>> found = layers({"A": grey, "B": grey, "G": grey, "R": grey, "depth.Z": grey})
    >>> {name: array.shape for name, array in found.items()}
    {'RGB': (2, 4, 3), 'depth.Z': (2, 4)}
    """
    left, found = dict(channels), {}
    for prefix in dict.fromkeys(name[: name.rfind(".") + 1] for name in channels):
        for letters in TRIPLES:
            names = [prefix + letter for letter in letters]
            if all(name in left for name in names) and len({left[name].shape for name in names}) == 1:
                image = [left.pop(name) for name in names]
                cover = left.get(f"{prefix}A")
                image += [cover] if alpha and cover is not None and cover.shape == image[0].shape else []
                found[prefix + letters] = np.stack(image, axis=-1)
    rest = {name: image for name, image in left.items() if name.rpartition(".")[2] not in ("A", "a")}
    return found | rest or left
