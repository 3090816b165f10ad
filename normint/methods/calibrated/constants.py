"""The constants of the calibrated method: what it knows about normal maps before it sees one.

Each is a statistic of data or a unit. What only limits the search, or guards the arithmetic, stands where it
is used.
"""

from typing import NamedTuple

__all__ = ["CONSTANTS", "Constants"]


class Constants(NamedTuple):
    """What the calibrated method takes for granted, in the order of its stages."""

    # The least noise of an edge that is seen straight on: what rounding to 8 bits leaves. A component is off
    # by 2/255/√12 = 0.0023, the mean of two pixels by 0.7 to 1 times that.
    rounding: float = 0.002
    # The side in pixels of the square around each pixel over which the noise is measured: enough pixels for a
    # median, few enough to follow it.
    window: int = 31
    # The side in pixels of the larger squares around which errors that neighbours share add up.
    loop: int = 8
    # How often an edge is a jump: bend·θ²·(F + √(1 + F²))^fall + least, see `edges`. Fitted by
    # `normint.workbook.studies.jumps` to the sculptures to learn from.
    bend: float = 0.07
    fall: float = 1.8
    least: float = 5e-6
    # The share of contours that must look like those of a rounded body for any to be taken for one: on the
    # vase all do, on relief few.
    square_root: float = 0.95
    # Pixels by which the surface must jump beyond what the slopes at both ends explain: less is no jump.
    jump: float = 0.5
    # Pixels of the largest image that does not start with what its half leads to: 64×64 pixels still show
    # most things, and there are few places to search.
    whole: int = 2**12
    # Pixels of the largest image that starts with least squares too, and has more than one round of moves. In
    # a larger one its half has decided most.
    large: int = 2**16
    # The factor from one temperature to the next.
    cooling: float = 1.5


CONSTANTS = Constants()
