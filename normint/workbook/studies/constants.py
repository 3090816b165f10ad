"""How much does a result depend on the constants of a method? Each is halved and doubled."""

import math

from normint.workbook.studies.open_problem import geometric_mean
from normint.workbook.study import Study, integrated
from normint.workbook.study.kept import kept


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


def sensitivity(cases, constants, depends=None):
    """Measure how much each constant matters.

    Parameters
    ----------
    cases : dict
        From name to a list of what to integrate, in the settings of
        :func:`normint.workbook.study.integrated`.
    constants : Constants
        Those of the calibrated method.
    depends : object
        See :class:`normint.workbook.study.Study`.

    Returns
    -------
    dict
        From case to a dict from (constant, factor) to the geometric mean of the errors with that constant
        changed, each divided by the error with the constants as they are.
    """
    changed, found = varied(constants), {}
    as_dicts = [{}, *({name: getattr(new, name)} for (name, _), new in changed.items())]
    for case, problems in cases.items():
        settings = ({**one, "method": "calibrated", "constants": new} for new in as_dicts for one in problems)
        study = Study(integrated, tuple(settings), depends=depends)
        errors = kept(study, "constants", live=2)["rmse"].to_numpy()
        base, *others = errors.reshape(len(as_dicts), len(problems))
        found[case] = {key: geometric_mean(row / base) for key, row in zip(changed, others, strict=True)}
    return found
