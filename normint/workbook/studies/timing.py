"""How long a call takes, measured so that ratios mean something on a shared machine."""

import numpy as np

from normint import inputs
from normint.workbook.study.measuring import CLOCK


def median_seconds(call, repeats=5, first=True):
    """Return the median time of a call, after one call that is not counted (it may compile).

    Parameters
    ----------
    call : callable
        Called without arguments.
    repeats : int
    first : bool
        Whether that one is needed.

    Examples
    --------
    >>> median_seconds(lambda: None) < 1
    True
    """
    return interleaved_medians({"call": call}, repeats, first)["call"]


def interleaved_medians(calls, repeats=5, first=True, clock=CLOCK):
    """Return the median time of each call, taking turns, so that slow moments of the machine hit all alike.

    Parameters
    ----------
    calls : dict
        From name to a callable without arguments.
    repeats : int
    first : bool
        Whether one turn comes first that is not counted.
    clock : callable
        Returns seconds.

    Returns
    -------
    dict
        From name to seconds.
    """
    repeats = inputs.as_count("repeats", repeats)
    samples = {name: [] for name in calls}
    for turn in range(repeats + first):
        for name, call in calls.items():
            start = clock()
            call()
            if turn or not first:
                samples[name].append(clock() - start)
    return {name: float(np.median(times)) for name, times in samples.items()}
