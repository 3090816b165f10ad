"""How long a call takes, measured so that ratios mean something on a shared machine."""

import time

import numpy as np

from normint import inputs


def median_seconds(call, repeats=5):
    """Return the median time of a call, after one call that is not counted (it may compile).

    Parameters
    ----------
    call : callable
        Called without arguments.
    repeats : int

    Examples
    --------
    >>> median_seconds(lambda: None) < 1
    True
    """
    return interleaved_medians({"call": call}, repeats)["call"]


def interleaved_medians(calls, repeats=5):
    """Return the median time of each call, taking turns, so that slow moments of the machine hit all alike.

    Parameters
    ----------
    calls : dict
        From name to a callable without arguments.
    repeats : int

    Returns
    -------
    dict
        From name to seconds.
    """
    repeats = inputs.as_count("repeats", repeats)
    samples = {name: [] for name in calls}
    for turn in range(repeats + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if turn:
                samples[name].append(time.perf_counter() - start)
    return {name: float(np.median(times)) for name, times in samples.items()}
