"""What a run made again, but for rounding, stays as it is: another computer changes last digits only.

Timings are never the same twice. They are named here, and always written.
"""

import io
import re
from decimal import Decimal
from functools import reduce

from normint.files.reading import read_regular

__all__ = ["TIMED_FIGURES", "TIMED_METRICS", "same_picture", "same_row", "same_text"]

TIMED_FIGURES = ("fig03_noise_and_time", "fig13_schemes", "open_cost", "start_decision", "table1")
TIMED_METRICS = ("time / DCT",)
# Levels of 255. Neighbours in a colour map differ by the first, and any number of pixels may; few may differ
# more, where a line moved by a part of a pixel; none as much as one digit of a title differs from another.
FAINT, FEW, STRONG = 5, 0.005, 64
RELATIVE = {"ours": Decimal("1e-3"), "spread": Decimal("5e-2")}  # of four, and of two, digits


def same_row(old, new):
    """Tell whether two rows of results, dicts of texts, differ by rounding alone.

    Examples
    --------
    >>> old = {"metric": "RMSE", "ours": "12.2", "spread": "", "note": "two draws"}
    >>> same_row(old, {**old, "ours": "12.3"}), same_row(old, {**old, "ours": "12.4"})
    (True, False)
    >>> same_row(old, {**old, "note": "one draw"})
    False
    """
    if new["metric"] in TIMED_METRICS or any(old[k] != new[k] for k in new if k not in RELATIVE):
        return False
    return all(_same_number(old[k], new[k], share) for k, share in RELATIVE.items())


def same_text(old, new):
    """Tell whether two sentences differ by the rounding of their numbers alone.

    Examples
    --------
    >>> same_text("2.31 pixels", "2.32 pixels"), same_text("2.31 pixels", "2.41 pixels")
    (True, False)
    >>> same_text("2.31 pixels", "2.31 degrees")
    False
    """
    old, new = (re.split(r"(\d+(?:\.\d+)?)", text) for text in (old, new))
    if len(old) != len(new) or old[::2] != new[::2]:
        return False
    return all(map(_same_number, old[1::2], new[1::2], [RELATIVE["ours"]] * len(old)))


def _same_number(old, new, share):
    if old == new or not (old and new):
        return old == new
    old, new = Decimal(old), Decimal(new)
    last_digit = Decimal(1).scaleb(old.as_tuple().exponent)
    # One more in the last digit is rounding, but not in 0.1: there it is the whole number.
    slack = last_digit if last_digit <= abs(old) / 100 else 0
    return abs(new - old) <= max(share * abs(old), slack)


def same_picture(path, png):
    """Tell whether the picture in a file differs from another one, given as bytes, by rounding alone."""
    import numpy as np
    from PIL import Image

    try:
        before = read_regular(path)
        if before == png:
            return True
        pictures = [Image.open(io.BytesIO(data)) for data in (before, png)]
        old, new = (np.asarray(picture.convert("RGBA"), np.int16) for picture in pictures)
    except (OSError, SyntaxError):  # there is none yet, or a damaged one
        return False
    if old.shape != new.shape:
        return False
    change = reduce(np.maximum, np.moveaxis(np.abs(new - old), -1, 0))  # far quicker than along four
    return bool(change.max() <= STRONG and np.mean(change > FAINT) <= FEW)
