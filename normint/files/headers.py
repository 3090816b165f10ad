"""How large an image is, from the first bytes of its file: known before any memory is taken for it."""

import struct

__all__ = ["PNG", "image_size"]

PNG = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 4, 4: 4, 6: 4}  # of a PNG by its type of colour, as they are decoded
_WIDTH, _LENGTH, _BITS, _SAMPLES = 256, 257, 258, 277  # tags of a TIFF
_VALUES = {1: "B", 3: "H", 4: "I", 16: "Q"}  # types of their values


def image_size(data):
    """Return rows, columns and bytes a pixel of a PNG or TIFF file; None if it is another, or damaged.

    Examples
    --------
    >>> header = struct.pack(">I4sIIBBBBB", 13, b"IHDR", 640, 480, 16, 2, 0, 0, 0)
    >>> image_size(PNG + header)
    (480, 640, 6)
    >>> image_size(b"GIF89a")
    """
    try:
        if data.startswith(PNG):
            columns, rows, bits, colours = struct.unpack_from(">IIBB", data, 16)
            return rows, columns, _CHANNELS.get(colours, 4) * (2 if bits == 16 else 1)
        if data[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
            tags = _tiff_tags(data)
            return tags[_LENGTH], tags[_WIDTH], tags.get(_SAMPLES, 1) * -(-tags.get(_BITS, 1) // 8)
    except (struct.error, KeyError):
        pass
    return None


def _tiff_tags(data):
    """Return the first value of each tag of a TIFF's first image that holds whole numbers."""
    order = "<" if data[:2] == b"II" else ">"
    big = 43 in (data[2], data[3])  # the form for files above 4 GB, with wider numbers
    place, count, entry, inline = ("Q", "Q", "HHQ", 8) if big else ("I", "H", "HHI", 4)
    (start,) = struct.unpack_from(order + place, data, 8 if big else 4)
    (number,) = struct.unpack_from(order + count, data, start)
    head, tags = struct.calcsize(order + entry), {}
    for k in range(min(number, 200)):
        at = start + struct.calcsize(order + count) + k * (head + inline)
        tag, kind, values = struct.unpack_from(order + entry, data, at)
        if kind in _VALUES:
            size = struct.calcsize(_VALUES[kind])
            where = at + head
            if values * size > inline:  # they stand elsewhere
                (where,) = struct.unpack_from(order + place, data, where)
            tags[tag] = struct.unpack_from(order + _VALUES[kind], data, where)[0]
    return tags
