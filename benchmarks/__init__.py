"""Measurements of speed and memory: ``make bench``."""

import os
from typing import NamedTuple

# Whatever is compared runs on one thread, so nothing may use more. Must be set before numpy loads. (Numba may
# start a second for the one row that asks for it; our kernels use as many as `normint.set_threads` says.)
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["NUMBA_NUM_THREADS"] = "2"


class Row(NamedTuple):
    """One line of the table."""

    what: str  # a name that stays the same from run to run, since the committed value is found by it
    value: float
    unit: str = ""  # empty for counts, which are not compared with the committed ones
    limit: float | None = None  # see `judge`


def judge(value, limit):
    """Say what is required and whether a value meets it; a negative limit means "at least", None nothing.

    >>> judge(6.1, -5)
    ('at least 5', 'yes')
    >>> judge(float("nan"), 1.5)
    ('at most 1.5', 'NO')
    """
    if limit is None:
        return "", ""
    met = value >= -limit if limit < 0 else value <= limit
    return f"at least {-limit}" if limit < 0 else f"at most {limit}", "yes" if met else "NO"
