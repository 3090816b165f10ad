"""At which level of noise do printed errors come out? The level is taken as unknown (Figure 12)."""

from normint.workbook.studies.noise_draws import over_seeds

__all__ = ["matching", "scan"]

ROUNDING = 0.005  # of a number that is printed with two decimals


def scan(surface, sigmas, seeds, cases, **options):
    """Integrate at several levels of noise.

    Parameters
    ----------
    surface : str
    sigmas : sequence of float
        See :func:`normint.workbook.studies.noise_draws.over_seeds`; without noise there is one draw.
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

    def errors(sigma, own):
        return over_seeds(surface, sigma, seeds, **options, **own).errors

    return {sigma: {case: errors(sigma, own) for case, own in cases.items()} for sigma in sigmas}


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
