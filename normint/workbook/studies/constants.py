"""How much does a result depend on the constants of a method? Each is halved and doubled."""

import math
from functools import partial

import numpy as np

from normint.integration import integrate
from normint.metrics import rmse
from normint.workbook.progress import bar
from normint.workbook.studies.open_problem import geometric_mean


def varied(constants):
    """Halve and double each of a method's constants, one at a time.

    Parameters
    ----------
    constants : Constants

    Returns
    -------
    dict
        From (name, factor) to the constants with that one changed; the factor is ½ or 2. Whole numbers stay
        whole, and odd ones odd, as sides of windows must be. The ratio between successive temperatures must
        exceed 1: it is its logarithm that is halved and doubled. A share near 1 is what is missing to 1.

    Examples
    --------
    >>> from normint.methods.calibrated import CONSTANTS
    >>> varied(CONSTANTS)["jump", 2.0].jump / CONSTANTS.jump
    2.0
    """
    changed = {}
    for name, value in constants._asdict().items():
        for factor in (0.5, 2.0):
            if name == "cooling":
                new = value**factor
            elif name == "square_root":
                new = 1.0 - (1.0 - value) * factor
            elif isinstance(value, int):
                new = max(1, math.floor(value * factor))
                new += value % 2 == 1 and new % 2 == 0
            else:
                new = value * factor
            changed[name, factor] = constants._replace(**{name: new})
    return changed


def error_of_constants(p, q, error, mask=None, **prior):
    """Return the function from the calibrated method's constants to the error that they lead to.

    Parameters
    ----------
    p, q, mask, **prior
        As for :func:`normint.integrate`.
    error : callable
        From a depth to its error.
    """
    return lambda constants: error(
        integrate(p, q, mask, method="calibrated", constants=constants, **prior).depth
    )


def with_known_depths(surface, seed, *, sigma=0.01, points=12):
    """Return :func:`error_of_constants` for a noisy surface of which the depth of some pixels is known."""
    rng = np.random.default_rng(seed)
    noisy, prior = surface.with_noise(sigma, rng), np.full(surface.depth.shape, np.nan)
    known = rng.choice(prior.size, points, replace=False)
    prior.flat[known] = surface.depth.flat[known]
    error = partial(rmse, truth=surface.depth)
    return error_of_constants(noisy.p, noisy.q, error, prior=prior, prior_weight=10.0)


def sensitivity(cases, constants):
    """Measure how much each constant matters.

    Parameters
    ----------
    cases : dict
        From name to a list of functions from constants to an error, see :func:`error_of_constants`.
    constants : Constants
        Those of the calibrated method.

    Returns
    -------
    dict
        From case to a dict from (constant, factor) to the geometric mean of the errors with that constant
        changed, each divided by the error with the constants as they are.
    """
    changed, found = varied(constants), {}
    for name, problems in cases.items():
        base = [problem(constants) for problem in problems]
        found[name] = {
            key: geometric_mean([problem(new) / old for problem, old in zip(problems, base, strict=True)])
            for key, new in bar(list(changed.items()), name)
        }
    return found
