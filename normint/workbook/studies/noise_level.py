"""At which level of noise do printed errors come out? The level is taken as unknown (Figure 12)."""

import numpy as np

from normint.workbook.study import Study
from normint.workbook.study.kept import kept_each

__all__ = ["matching", "scan"]

ROUNDING = 0.005  # of a number that is printed with two decimals


def scan(surface, sigmas, seeds, cases, **options):
    """Integrate at several levels of noise; most of the runs are kept, see :func:`kept_each`.

    Parameters
    ----------
    surface : str
    sigmas : sequence of float
        See :meth:`normint.surfaces.Surface.with_noise`; without noise there is one draw.
    seeds : sequence of int
    cases : dict
        From case to the options that are its own.
    **options
        Those of all cases.

    Returns
    -------
    dict
        From sigma to a dict from case to the errors of the draws.
    """
    studies = {
        (sigma, case): Study.over(surface=surface, sigma=sigma, seed=seeds, **options, **own)
        for sigma in sigmas
        for case, own in cases.items()
    }
    errors = kept_each(studies, "noise_levels")
    return {sigma: {case: np.array(errors[sigma, case]) for case in cases} for sigma in sigmas}


def matching(found, printed):
    """Return the levels at which every printed error lies between the least and the largest of the draws.

    Parameters
    ----------
    found : dict
        As `scan` gives it.
    printed : dict
        From case to an error, rounded to two decimals.

    Examples
    --------
    >>> found = {0.0: {"a": [1.00]}, 0.1: {"a": [1.02, 1.09]}, 0.2: {"a": [1.2, 1.3]}}
    >>> matching(found, {"a": 1.05})
    [0.1]
    >>> matching(found, {"a": 1.02})
    [0.1]
    """
    return [
        sigma
        for sigma, cases in found.items()
        if all(min(cases[case]) - ROUNDING <= value <= max(cases[case]) + ROUNDING
               for case, value in printed.items())
    ]  # fmt: skip
