"""Images as bytes: control points in a format of our own, and JPEG and JPEG 2000 to compare with."""

import lzma
import struct

import numpy as np

from normint.compiling import njit
from normint.inputs import as_count, as_mask
from normint.workbook.studies.control_points import as_image
from normint.workbook.studies.restoration import psnr

HEADER = struct.Struct("<4sHHBI")  # name, rows, columns, step, bytes of the positions
NAME = b"NCP1"
# Raw streams: the container's header and checksum would count against small files.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 0, "lp": 0, "pb": 0}]
CODECS = {"JPEG": ".jpg", "JPEG 4:2:0": ".jpg", "JPEG 2000": ".jp2"}


def encode(image, keep, step=8):
    """Write control points as bytes: where they are, and their colours, rounded.

    Parameters
    ----------
    image : ndarray of uint8
        rows×cols×3.
    keep : array_like of bool
        The control points.
    step : int
        Colours are rounded to multiples of this, from 1 to 64.

    Returns
    -------
    bytes

    Notes
    -----
    Positions are one bit a pixel. Colours are green, red - green and blue - green, each as its difference
    from the neighbour on the left, or else above, or else from the control point before. Both are compressed
    without loss by LZMA.

    Examples
    --------
    >>> image = np.full((4, 4, 3), 80, np.uint8)
    >>> colours, keep = decode(encode(image, np.eye(4)))
    >>> int(keep.sum()), colours[0, 0].tolist(), colours[0, 1].tolist()
    (4, [80, 80, 80], [0, 0, 0])
    """
    image = as_image("image", image)
    keep = as_mask(keep, image.shape[:2])
    if not 1 <= as_count("step", step) <= 64:
        raise ValueError(f"step is {step}; expected a whole number from 1 to 64")
    # In bytes: what leaves the range 0 to 255 wraps around, and comes back in decoding.
    red, green, blue = np.rint(image[keep] / step).astype(np.uint8).T
    values = np.stack([green, red - green, blue - green])
    values[:, 1:] -= values[:, _earlier(keep)[1:]]
    positions = _pack(np.packbits(keep).tobytes())
    return HEADER.pack(NAME, *keep.shape, step, len(positions)) + positions + _pack(values.tobytes())


def decode(data):
    """Read what :func:`encode` wrote.

    Returns
    -------
    colours : ndarray of uint8
        rows×cols×3, zero where nothing was kept.
    keep : ndarray of bool
    """
    if len(data) < HEADER.size or data[:4] != NAME:
        raise ValueError("data does not begin as control points do; expected what encode returns")
    _, rows, cols, step, length = HEADER.unpack_from(data)
    positions = data[HEADER.size : HEADER.size + length]
    try:
        bits = np.frombuffer(_unpack(positions), np.uint8)
        keep = np.unpackbits(bits, count=rows * cols).reshape(rows, cols).astype(bool)
        values = np.frombuffer(_unpack(data[HEADER.size + length :]), np.uint8)
        values = values.reshape(3, np.count_nonzero(keep)).copy()
    except (lzma.LZMAError, EOFError, ValueError):
        raise ValueError("data is damaged or cut short; expected what encode returns") from None
    _add_earlier(values, _earlier(keep))
    green, red, blue = values[0], values[0] + values[1], values[0] + values[2]
    colours = np.zeros((rows, cols, 3), np.uint8)
    colours[keep] = np.minimum(255, step * np.stack([red, green, blue], axis=1).astype(int))
    return colours, keep


def available(codec):
    """Tell whether "JPEG", "JPEG 4:2:0" or "JPEG 2000" can be written here."""
    import cv2

    return cv2.haveImageWriter("x" + _suffix(codec))


def compress(image, codec, setting):
    """Write and read an image with a codec of OpenCV.

    Parameters
    ----------
    image : ndarray of uint8
        rows×cols×3, red, green, blue.
    codec : {"JPEG", "JPEG 4:2:0", "JPEG 2000"}
        The first with full colour resolution, the second, as is usual, with half of it.
    setting : int
        JPEG: the quality, 0 to 100. JPEG 2000: the size, in thousandths of the uncompressed one.

    Returns
    -------
    decoded : ndarray of uint8
    size : int
        Bytes of the file.
    """
    import cv2

    jpeg = [cv2.IMWRITE_JPEG_QUALITY, setting, cv2.IMWRITE_JPEG_OPTIMIZE, 1, cv2.IMWRITE_JPEG_SAMPLING_FACTOR]
    options = {
        "JPEG": [*jpeg, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444],
        "JPEG 4:2:0": [*jpeg, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420],
        "JPEG 2000": [cv2.IMWRITE_JPEG2000_COMPRESSION_X1000, setting],
    }
    suffix = _suffix(codec)
    if not available(codec):
        raise ValueError(f"codec is {codec!r}; this OpenCV was built without it")
    _, data = cv2.imencode(suffix, np.ascontiguousarray(image[..., ::-1]), options[codec])
    return cv2.imdecode(data, cv2.IMREAD_COLOR)[..., ::-1], data.size


def compress_to(image, codec, size):
    """Write and read an image with the best setting of a codec whose file is not larger than a size.

    Parameters
    ----------
    image, codec
        As for :func:`compress`.
    size : int
        Bytes.

    Returns
    -------
    decoded, size
        As for :func:`compress`; None, None if even the coarsest setting needs more bytes.
    """
    # JPEG 2000 hits its sizes nearly: there is no need to try, slowly, much larger ones.
    high = 100 if _suffix(codec) == ".jpg" else min(1000, 10 + 1200 * size // image.size)
    low, best = 0, (None, None)
    while low <= high:  # files grow with the setting
        middle = (low + high) // 2
        decoded, needed = compress(image, codec, middle)
        if needed <= size:
            best, low = (decoded, needed), middle + 1
        else:
            high = middle - 1
    return best


def rate_curve(image, codec, settings):
    """Measure size and quality of a codec.

    Parameters
    ----------
    image, codec
        As for :func:`compress`.
    settings : sequence of int

    Returns
    -------
    sizes, psnrs : list
        Bytes, and dB.
    """
    runs = [compress(image, codec, setting) for setting in settings]
    return [size for _, size in runs], [psnr(image, decoded) for decoded, _ in runs]


def _suffix(codec):
    if codec not in CODECS:
        raise ValueError(f"codec is {codec!r}; expected one of {', '.join(CODECS)}")
    return CODECS[codec]


def _earlier(keep):
    """For each control point, row after row, give the number of the earlier one that predicts its colour."""
    numbers = np.where(keep, np.cumsum(keep).reshape(keep.shape) - 1, -1)
    left, above = np.full(keep.shape, -1), np.full(keep.shape, -1)
    left[:, 1:], above[1:] = numbers[:, :-1], numbers[:-1]
    before = numbers - 1
    return np.where(left >= 0, left, np.where(above >= 0, above, before))[keep]


@njit()
def _add_earlier(values, earlier):
    for k in range(1, earlier.size):
        for channel in range(3):
            values[channel, k] += values[channel, earlier[k]]


def _pack(data):
    return lzma.compress(data, format=lzma.FORMAT_RAW, filters=FILTERS)


def _unpack(data):
    return lzma.decompress(data, format=lzma.FORMAT_RAW, filters=FILTERS)
