"""How a method without parameters compares with methods whose parameters the truth has chosen."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from normint.integration import METHODS, integrate_quietly
from normint.workbook.progress import bar

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
    depth : ndarray
        The depth that has this error.
    """

    method: str
    default: float
    best: float
    options: dict
    depth: np.ndarray = field(repr=False)

    @property
    def label(self):
        """The method's name and the options chosen."""
        letters = {"beta": "β", "gamma": "γ", "mu": "μ", "nu": "ν", "k": "k"}
        chosen = [f"{letters[name]} = {value:g}" for name, value in self.options.items()]
        return ", ".join([METHODS[self.method].label, *chosen])


def tune(p, q, error, mask=None, *, methods=tuple(SWEEPS)):
    """Try every value of each method's main parameter and keep the best, as only the truth can tell it.

    Parameters
    ----------
    p, q, mask
        As for :func:`normint.integrate`.
    error : callable
        From a depth to its error: this is the truth in hand.
    methods : sequence of str
        Among the keys of `SWEEPS`.

    Returns
    -------
    dict
        From method to :class:`Tuned`.

    Examples
    --------
    >>> from normint.metrics import rmse
    >>> from normint.surfaces import canadian_tent
    >>> tent = canadian_tent(48, 12, 12)
    >>> found = tune(tent.p, tent.q, lambda z: rmse(z, tent.depth), methods=["phi1"])["phi1"]
    >>> found.best <= found.default
    True
    """
    found = {}
    for method in bar(methods, "tuning"):
        if method not in SWEEPS:
            raise ValueError(f"methods contains {method!r}; expected some of {', '.join(SWEEPS)}")
        values, others = SWEEPS[method]
        tried = []
        for options in ({}, *({METHODS[method].option: value, **others} for value in values)):
            depth = integrate_quietly(p, q, mask, method=method, **options).depth
            tried.append((error(depth), options, depth))
        best = min(tried, key=lambda one: one[0])
        found[method] = Tuned(method, tried[0][0], *best)
    return found


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


def relative_errors(scene, methods):
    """Divide the error of each method with its defaults by that of least squares, on one Scene.

    Returns
    -------
    dict
        From method to the ratio: below 1 it is better than least squares.
    """

    def error(method):
        return scene.error(integrate_quietly(scene.p, scene.q, scene.mask, method=method).depth)

    base = error("quadratic")
    return {method: error(method) / base for method in methods}


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


def aligned_error(depth, truth, *, scaled):
    """Measure the mean absolute error of a depth after giving it what normals do not tell.

    Parameters
    ----------
    depth, truth : ndarray
        NaN where unknown.
    scaled : bool
        Whether that is the scale, as with a near camera, or a constant, as with a far one.

    Examples
    --------
    >>> aligned_error(np.array([1.0, 2.0, 4.0]), np.array([2.0, 4.0, 8.0]), scaled=True)
    0.0
    """
    same = depth * np.nanmedian(truth / depth) if scaled else depth + np.nanmedian(truth - depth)
    return float(np.nanmean(np.abs(same - truth)))


def growth(surface, sizes, *, sigma=0.01, seed=0, methods=("quadratic", "mumford_shah", "calibrated")):
    """Time methods on one surface at several sizes, with noise; short times are the least of three.

    Parameters
    ----------
    surface : callable
        From a size to a Surface.
    sizes : sequence of int

    Returns
    -------
    (list of int, dict)
        Pixels, and from method to seconds.
    """
    pixels, seconds = [], {method: [] for method in methods}
    for n in sizes:
        noisy = surface(n).with_noise(sigma, np.random.default_rng(seed))
        pixels.append(noisy.p.size)
        for method in methods:
            call = partial(integrate_quietly, noisy.p, noisy.q, method=method)
            taken = call().seconds
            if taken < 0.5:
                taken = min(taken, *(call().seconds for _ in range(2)))
            seconds[method].append(taken)
    return pixels, seconds
