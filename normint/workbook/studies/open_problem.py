"""How a method without parameters compares with methods whose parameters the truth has chosen."""

from dataclasses import dataclass, field, replace

import numpy as np

from normint.integration import METHODS, integrate_quietly
from normint.normals.integrate_normals import integrate_normals
from normint.surfaces.sculptures import sculpture
from normint.workbook.studies.jumps import Calls
from normint.workbook.study import Study, integrated
from normint.workbook.study.kept import kept, kept_each

# From the method to the values of its main option to try besides the default, and what else it is given: the
# diffusion of the paper's Figure 12 has ν = 10.
SWEEPS = {
    "phi1": ((0.1, 0.25, 1.0), {}),
    "phi2": ((0.25, 0.5, 2.0), {}),
    "total_variation": ((), {}),
    "anisotropic_diffusion": ((0.1, 0.2, 0.5), {"nu": 10.0}),
    "mumford_shah": ((10.0, 20.0, 70.0), {}),
    "bilateral": ((0.5,), {}),
}


@dataclass(frozen=True)
class Tuned:
    """A method with its defaults, and with the parameter that the truth has chosen.

    Attributes
    ----------
    method : str
    default : float
        The error with the method's defaults.
    best : float
        The least error over the values tried, the defaults among them.
    options : dict
        The options that gave it; empty for the defaults.
    case : dict
        What was integrated.
    """

    method: str
    default: float
    best: float
    options: dict
    case: dict = field(repr=False)

    @property
    def depth(self):
        """The depth that has the least error."""
        study = Study(integrated, ({**self.case, "method": self.method, **self.options},), ("depth",))
        study.run()
        return study.arrays()["depth"]

    @property
    def label(self):
        """The method's name and the options chosen."""
        letters = {"beta": "β", "gamma": "γ", "mu": "μ", "nu": "ν", "k": "k"}
        chosen = [f"{letters[name]} = {value:g}" for name, value in self.options.items()]
        return ", ".join([METHODS[self.method].label, *chosen])


def tune(case, *, methods=tuple(SWEEPS)):
    """Try every value of each method's main parameter and keep the best, as only the truth can tell it.

    Parameters
    ----------
    case : dict
        What to integrate, in the settings of :func:`normint.workbook.study.integrated`.
    methods : sequence of str
        Among the keys of `SWEEPS`.

    Returns
    -------
    dict
        From method to :class:`Tuned`.

    Examples
    --------
    >>> found = tune({"surface": "canadian_tent", "n": 48}, methods=["phi1"])["phi1"]
    >>> print(found.best <= found.default)
    True
    """
    for method in methods:
        if method not in SWEEPS:
            raise ValueError(f"methods contains {method!r}; expected some of {', '.join(SWEEPS)}")
    studies = {
        method: Study(integrated, tuple({**case, "method": method, **options} for options in _tried(method)))
        for method in methods
    }
    found = {}
    for method, errors in kept_each(studies, "tuning", live=2).items():
        best = int(np.argmin(errors))
        found[method] = Tuned(method, errors[0], errors[best], _tried(method)[best], case)
    return found


def _tried(method):
    """Return the options of a method to try, its defaults first."""
    values, others = SWEEPS[method]
    return [{}, *({METHODS[method].option: value, **others} for value in values)]


def regrets(tuned, **others):
    """Divide the error of each method with its defaults by the least error that tuning any method gave.

    Parameters
    ----------
    tuned : dict
        As :func:`tune` returns it.
    **others : float
        Errors of methods that were not tuned.

    Returns
    -------
    dict
        From method to its regret: what not knowing the truth costs. Below 1, tuning would not have helped.

    Examples
    --------
    >>> regrets({"phi1": Tuned("phi1", 3.0, 1.5, {"beta": 0.1}, None)}, calibrated=0.75)
    {'phi1': 2.0, 'calibrated': 0.5}
    """
    best = min(one.best for one in tuned.values())
    defaults = {method: one.default for method, one in tuned.items()} | others
    return {method: error / best for method, error in defaults.items()}


def geometric_mean(ratios):
    """Average ratios so that twice and half cancel.

    Examples
    --------
    >>> round(geometric_mean([0.5, 2.0]), 6)
    1.0
    """
    ratios = np.asarray(ratios, dtype=np.float64)
    if ratios.size == 0 or not (ratios > 0).all():
        raise ValueError(f"ratios must be positive and at least one, got {ratios}")
    return float(np.exp(np.mean(np.log(ratios))))


def relative_errors(scenes, methods, **settings):
    """Divide the error of each method with its defaults by that of least squares, on each scene.

    Parameters
    ----------
    scenes : sequence of (str, int)
        Kinds and variants, see :func:`normint.surfaces.scenes.scene`.
    methods : sequence of str
    **settings
        Others of the scenes, such as ``n``.

    Returns
    -------
    dict
        From (kind, variant) to a dict from method to the ratio: below 1 it is better than least squares.
    """
    every = dict.fromkeys(["quadratic", *methods])
    cases = ({"surface": "scene", "kind": kind, "variant": variant, **settings} for kind, variant in scenes)
    study = Study(integrated, tuple({**case, "method": method} for case in cases for method in every))
    table = kept(study, "scenes", live=7)
    errors = table.set_index(["kind", "variant", "method"])["rmse"]
    return {
        one: {method: float(errors[*one, method] / errors[*one, "quadratic"]) for method in methods}
        for one in scenes
    }


def judged(*, number, n):
    """Integrate a sculpture by three methods, and look at the edges that calibrated cuts; a run of a study.

    Returns
    -------
    dict
        The error of each method, in pixels, and the arrays of :class:`normint.workbook.studies.jumps.Calls`.
    """
    figure = sculpture(number, n)
    camera, how = (figure.normals, figure.mask, figure.camera), {"axes": "uvz", "check_axes": False}
    runs = {m: integrate_normals(*camera, method=m, **how) for m in ("quadratic", "bilateral", "calibrated")}
    seen = figure.slopes()
    truth = seen.lens.unit * seen.lens.potential(figure.depth)
    calls = Calls.of(runs["calibrated"], seen.p, seen.q, seen.mask, truth)
    return {method: figure.error(run.depth) for method, run in runs.items()} | vars(calls)


def energy_near(depth, p, q, mask=None, *, weight=0.01):
    """Return the energy that the calibrated method gives to a surface near a given one.

    Parameters
    ----------
    depth : ndarray
        The depth to judge, usually the truth.
    p, q, mask
        As for :func:`normint.integrate`.
    weight : float
        How strongly the result is held to that depth: enough that no piece moves, too little to forbid the
        small waves by which every surface follows the noise.

    Returns
    -------
    float
        If it exceeds the energy of the result by more than holding costs (a few tens where there is noise),
        more search would not have helped: the method prefers another surface.

    Examples
    --------
    >>> from normint.surfaces import canadian_tent
    >>> tent = canadian_tent(64, 16, 16)
    >>> energy_near(tent.depth, tent.p, tent.q) < energy_near(0 * tent.depth, tent.p, tent.q)
    True
    """
    held = integrate_quietly(p, q, mask, method="calibrated", prior=depth, prior_weight=weight)
    return float(held.energies[-1])


def growth(surface, sizes, *, sigma=0.01, seed=0, methods=("quadratic", "mumford_shah", "calibrated")):
    """Time methods on one surface at several sizes, with noise; short times are the least of three.

    Parameters
    ----------
    surface : str
        See :data:`normint.workbook.study.cases.CASES`.
    sizes : sequence of int

    Returns
    -------
    (list of int, dict)
        Pixels, and from method to seconds.
    """
    study = Study.over(surface=surface, n=sizes, sigma=sigma, seed=seed, method=methods)
    times = study.run(fresh=True, label="times")["seconds"]
    short = np.flatnonzero(times < 0.5)
    again = replace(study, settings=tuple(study.settings[place] for place in short))
    for _ in range(2 if len(short) else 0):
        times[short] = np.minimum(times[short], again.run(fresh=True)["seconds"].to_numpy())
    by_size = times.to_numpy().reshape(len(sizes), len(methods))
    return [n**2 for n in sizes], dict(zip(methods, by_size.T.tolist(), strict=True))
