"""One picture of a depth map: its shape in light, its depth in colours. Drawn with OpenCV and NumPy alone."""

import cv2
import numpy as np

from normint.domain import bounding_box
from normint.normals.shading import shading

__all__ = ["preview"]

HEIGHT, WIDEST, LEAST = 540, 1620, 240  # pixels of a panel
MARGIN, TITLE, BAR, LABELS = 24, 44, 20, 116  # pixels around the panels, above them, and of the colour bar
FONT, SIZE, INK = cv2.FONT_HERSHEY_SIMPLEX, 0.6, (40, 40, 40)
SHARE = 0.5  # per cent of the pixels at either end that may lie beyond the colours


def preview(depth, *, camera=None, title=""):
    """Draw a depth map as the camera sees it, lit from the upper left, and beside it its depth in colours.

    Parameters
    ----------
    depth : ndarray
        NaN where there is none.
    camera : array_like, optional
        The 3×3 matrix of a perspective camera; the depth is then the distance.
    title : str
        How the depth was found.

    Returns
    -------
    ndarray of uint8
        rows×columns×3. Nearer is brighter.

    Examples
    --------
    >>> preview(np.arange(12.0).reshape(3, 4), title="a plane").shape
    (632, 1672, 3)
    """
    depth = depth[bounding_box(np.isfinite(depth), margin=1)]
    # A few pixels at a jump should not use up the colours.
    low, high = np.nanpercentile(depth, (SHARE, 100 - SHARE))
    there = np.isfinite(depth)
    bright = np.where(there, 255 * shading(depth, camera), 0).astype(np.uint8)
    lit = _panel(cv2.cvtColor(bright, cv2.COLOR_GRAY2RGB), there)
    coloured = _panel(_colours(depth, low, high, reverse=camera is not None), there)
    rows, columns = lit.shape[:2]
    left = MARGIN + columns + 2 * MARGIN
    picture = np.full((rows + TITLE + 2 * MARGIN, left + columns + MARGIN + BAR + LABELS, 3), 255, np.uint8)
    below = slice(TITLE + MARGIN, TITLE + MARGIN + rows)
    picture[below, MARGIN : MARGIN + columns] = lit
    picture[below, left : left + columns] = coloured
    _write(picture, f"{title}: lit surface".removeprefix(": "), MARGIN)
    _write(picture, "depth", left)
    unit = "depth z, to the camera (pixels)" if camera is None else "distance d (relative)"
    _draw_bar(picture[below, left + columns + MARGIN :], low, high, unit, reverse=camera is not None)
    return picture


def _panel(colours, there):
    """Return colours as an image of the size of a panel, white where there is no depth."""
    colours[~there] = 255
    rows, columns = there.shape
    scale = min(HEIGHT / rows, WIDEST / columns)
    size = max(1, round(scale * columns)), max(1, round(scale * rows))
    image = cv2.resize(colours, size, interpolation=cv2.INTER_NEAREST if scale > 1 else cv2.INTER_AREA)
    around = [divmod(max(0, LEAST - side), 2) for side in image.shape[:2]]
    return np.pad(image, [(half, half + odd) for half, odd in around] + [(0, 0)], constant_values=255)


def _colours(values, low, high, *, reverse):
    """Return red, green and blue of values: bright is high, or low in reverse."""
    parts = np.nan_to_num((values - low) / ((high - low) or 1.0))
    grey = np.rint(255 * np.clip(1 - parts if reverse else parts, 0, 1)).astype(np.uint8)
    return cv2.cvtColor(cv2.applyColorMap(grey, cv2.COLORMAP_CIVIDIS), cv2.COLOR_BGR2RGB)


def _write(picture, text, left):
    """Write a title above a panel, in ASCII: the font has no more."""
    text = text.encode("ascii", "replace").decode()
    cv2.putText(picture, text, (left, MARGIN + 24), FONT, SIZE * 1.15, INK, 1, cv2.LINE_AA)


def _draw_bar(picture, low, high, unit, *, reverse):
    """Draw the colour bar at the left of a part of the picture, with a few numbers and what they mean."""
    rows, span = len(picture), high - low
    values = np.linspace(high, low, rows)[:, np.newaxis]
    picture[:, :BAR] = _colours(values, low, high, reverse=reverse)
    for value in _ticks(low, high):
        row = round((high - value) / (span or 1.0) * (rows - 1))
        cv2.line(picture, (BAR, row), (BAR + 5, row), INK, 1)
        place = BAR + 10, int(np.clip(row + 6, 12, rows - 1))
        cv2.putText(picture, f"{value:g}", place, FONT, 0.8 * SIZE, INK, 1, cv2.LINE_AA)
    (width, height), base = cv2.getTextSize(unit, FONT, 0.9 * SIZE, 1)
    if width > rows:
        return
    text = np.full((height + base + 2, width, 3), 255, np.uint8)
    cv2.putText(text, unit, (0, height), FONT, 0.9 * SIZE, INK, 1, cv2.LINE_AA)
    text, top = np.rot90(text), (rows - width) // 2
    picture[top : top + width, -len(text[0]) - 6 : -6] = text


def _ticks(low, high):
    """Return about five round numbers between two others.

    Examples
    --------
    >>> _ticks(-31.2, 23.9)
    [-30.0, -20.0, -10.0, 0.0, 10.0, 20.0]
    >>> _ticks(3.0, 3.0)
    [3.0]
    """
    span = high - low
    if not span > 1e-9 * max(abs(low), abs(high)):
        return [float(low)]
    power = 10.0 ** np.floor(np.log10(span / 4))
    step = next(power * k for k in (1, 2, 5, 10) if span / (power * k) < 6)
    found = step * np.arange(np.ceil(low / step), np.floor(high / step) + 1)
    return [float(f"{value:.6g}") + 0.0 for value in found]
