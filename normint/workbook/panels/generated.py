"""Panels on surfaces that are given by formulas: peaks, the vase, the tent."""

from functools import lru_cache

import numpy as np

from normint import surfaces
from normint.integration import integrate_quietly
from normint.metrics import rmse
from normint.workbook.figures.depth_maps import weakest_edge
from normint.workbook.panels import pictures
from normint.workbook.panels.controls import Choice, Number
from normint.workbook.panels.panel import Panel
from normint.workbook.panels.surface_view import turnable
from normint.workbook.studies.noise_draws import RECTANGULAR, integrate_inside

METHODS = {
    "least squares": "quadratic",
    "total variation": "total_variation",
    "Φ1": "phi1",
    "Φ2": "phi2",
    "diffusion": "anisotropic_diffusion",
    "Mumford-Shah": "mumford_shah",
}
# From the names of controls to those of options: two methods call different things μ.
OPTIONS = {
    "quadratic": {},
    "total_variation": {},
    "phi1": {"beta": "beta"},
    "phi2": {"gamma": "gamma"},
    "anisotropic_diffusion": {"mu": "mu", "nu": "nu"},
    "mumford_shah": {"mu_shah": "mu", "epsilon": "epsilon"},
}
BORDERS = {
    "least squares on Ω": "quadratic",
    "cosine transform": "dct",
    "cosine transform, border dropped": "dropped",
    "Sylvester": "sylvester",
}
DOMAINS = {"the whole square": "square", "a disk": "disk", "a star": "star"}
STARTS = {"least squares": "least squares", "zero": "zero", "random": "random", "the truth": "truth"}
ITERATIONS = 40  # at most, on the vase
PRIOR_WEIGHTS = {"0": 0.0, "10⁻⁹": 1e-9, "10⁻⁶": 1e-6, "10⁻⁴": 1e-4, "10⁻³": 1e-3, "10⁻²": 1e-2, "0.1": 0.1}


def noise_control(value, high, step):
    """Return the control of σ, in per cent."""
    return Number("sigma", "noise σ (%)", value, 0.0, high, step, format=".1f")


def method_controls(method):
    """Return a menu of the methods, and the controls of what they have to choose."""

    def only(name):
        return {"when": {"method": (name,)}}

    return [
        Choice("method", "method", method, METHODS),
        Number("beta", "β", 0.5, 0.05, 5.0, 0.05, log=True, **only("phi1")),
        Number("gamma", "γ", 1.0, 0.1, 10.0, 0.05, log=True, **only("phi2")),
        Number("mu", "μ", 1.0, 0.01, 100.0, 0.1, log=True, **only("anisotropic_diffusion")),
        Number("nu", "ν", 1.0, 0.01, 100.0, 0.1, log=True, **only("anisotropic_diffusion")),
        Number("mu_shah", "μ", 45.0, 0.45, 450.0, 0.05, log=True, format=".3g", **only("mumford_shah")),
        Number("epsilon", "ε", 0.01, 0.001, 1.0, 0.1, log=True, **only("mumford_shah")),
    ]


def method_options(values):
    """Return the method and its options, for :func:`normint.integrate`."""
    chosen = OPTIONS[values["method"]]
    return {"method": values["method"]} | {option: values[name] for name, option in chosen.items()}


def peaks_panel(n=96, live=None):
    """Add noise to the slopes of peaks, and see what each way to treat the boundary makes of them.

    Parameters
    ----------
    n : int
        Rows and columns.
    live : bool, optional
        See :class:`normint.workbook.panels.Panel`.

    Returns
    -------
    Panel

    Examples
    --------
    >>> sorted(peaks_panel(32, live=False).state["errors"])
    ['dct', 'dropped', 'quadratic', 'sylvester']
    """
    truth = surfaces.peaks(n)

    def solve(values, check):
        mask = _cut_out(values["domain"], n)
        noisy = truth.with_noise(values["sigma"] / 100, np.random.default_rng(values["seed"]))
        depths = {}
        for name in BORDERS.values():
            check()
            depths[name] = _with_border(noisy, mask, name)
        errors = {name: rmse(depth, truth.depth, mask) for name, depth in depths.items()}
        state = {"depth": depths[values["border"]], "errors": errors, "border": values["border"]}
        return state | {"truth": truth.depth, "mask": mask}

    controls = [
        noise_control(10.0, 30.0, 0.5),
        Choice("border", "boundary", "quadratic", BORDERS),
        Choice("domain", "domain", "square", DOMAINS),
        Number("seed", "draw of the noise", 0, 0, 20, 1, format="d"),
    ]
    return Panel("peaks", controls, solve, _draw_peaks, _turn_peaks, live=live)


def vase_panel(n=96, live=None):
    """Reconstruct the vase and its background with every method and its parameters.

    So that it answers at once, no method does more than 40 iterations; few choices of parameters need more.

    Parameters
    ----------
    n, live
        As for :func:`peaks_panel`.

    Returns
    -------
    Panel

    Examples
    --------
    >>> panel = vase_panel(32, live=False)
    >>> panel.set(method="phi1", beta=0.3)
    >>> panel.state["result"].weights is not None
    True
    """
    vase = surfaces.vase(n)

    def solve(values, check):
        noisy = vase.with_noise(values["sigma"] / 100, np.random.default_rng(0))
        held = {"prior": np.zeros((n, n)), "prior_weight": values["weight"]} if values["weight"] else {}
        options = method_options(values)
        if values["method"] != "anisotropic_diffusion":  # which has a lower limit of its own
            options["max_iterations"] = ITERATIONS
        result = integrate_quietly(noisy.p, noisy.q, callback=check, **options, **held)
        return {"result": result, "depth": result.depth, "truth": vase.depth}

    controls = [
        *method_controls("mumford_shah"),
        noise_control(1.0, 10.0, 0.25),
        Choice("weight", "λ", 0.0, PRIOR_WEIGHTS, slider=True),
    ]
    return Panel("vase", controls, solve, _draw_vase, _turn_surface, live=live)


def start_panel(n=64, live=None):
    """Start an iteration on the tent from different depths, and see whether it arrives at the same one.

    Parameters
    ----------
    n, live
        As for :func:`peaks_panel`.

    Returns
    -------
    Panel

    Examples
    --------
    >>> panel = start_panel(48, live=False)
    >>> panel.state["start"].shape
    (48, 48)
    """
    half = round(50 * n / 192)
    tent = surfaces.canadian_tent(n, half, half)

    def solve(values, check):
        noisy = tent.with_noise(values["sigma"] / 100, np.random.default_rng(0))
        start = _start(values["start"], noisy, tent.depth)
        options = method_options(values)
        result = integrate_quietly(noisy.p, noisy.q, initial=start, callback=check, **options)
        return {"result": result, "depth": result.depth, "truth": tent.depth, "start": start}

    controls = [
        Choice("start", "start from", "zero", STARTS),
        *method_controls("phi1"),
        noise_control(1.0, 10.0, 0.25),
    ]
    return Panel("start", controls, solve, _draw_start, _turn_surface, live=live)


@lru_cache
def _cut_out(name, n):
    u, v = (index - (n - 1) / 2 for index in np.ogrid[:n, :n])
    if name == "square":
        return np.ones((n, n), dtype=bool)
    radius = np.hypot(u, v) / (n / 2)
    reach = 0.95 if name == "disk" else 0.62 + 0.33 * np.cos(5 * (np.arctan2(u, v) + np.pi / 2))
    return radius < reach


def _with_border(noisy, mask, name):
    if name == "dropped":
        return integrate_inside(noisy.p, noisy.q, mask, "dct", border="dropped")
    options = {} if name in RECTANGULAR else {"tolerance": 1e-8}
    return integrate_inside(noisy.p, noisy.q, mask, name, **options)


def _start(name, noisy, truth):
    if name == "zero":
        return np.zeros(truth.shape)
    if name == "random":
        return truth.std() * np.random.default_rng(0).standard_normal(truth.shape)
    return truth if name == "truth" else integrate_quietly(noisy.p, noisy.q, tolerance=1e-8).depth


def _difference(depth, truth):
    difference = depth - truth
    return difference - np.nanmean(difference)


def _draw_peaks(state):
    figure, (surface, error, bars, cut) = pictures.canvas()
    depth, truth = state["depth"], state["truth"]
    name = next(label for label, value in BORDERS.items() if value == state["border"])
    steepness = 0.25 * len(truth) / 14  # peaks has depth units of its own, 14 of them over the image
    pictures.lit(surface, depth, name, steepness)
    pictures.error(error, _difference(depth, truth), f"RMSE {state['errors'][state['border']]:.3f}", "units")
    names = {label: state["errors"][value] for label, value in BORDERS.items()}
    pictures.bars(bars, names, name, "all four on this noise", "RMSE (depth units of peaks)")
    row = len(truth) // 2
    shown = np.where(state["mask"], truth, np.nan)
    shifted = depth - np.nanmean(depth - truth)
    pictures.cut(cut, {"truth": shown, "result": shifted}, row, f"cut along row {row}", "units")
    return figure


def _draw_vase(state):
    figure, (surface, error, where, energy) = pictures.canvas()
    _draw_result(state, surface, error, energy)
    weights = state["result"].weights
    if weights is None:
        pictures.message(where, "discontinuities", "least squares has none")
    else:
        marked = weakest_edge(weights) < 0.1
        pictures.marks(where, state["depth"], marked, f"discontinuities: {marked.sum()} pixels")
    return figure


def _draw_start(state):
    figure, (begin, error, surface, energy) = pictures.canvas()
    _draw_result(state, surface, error, energy)
    off = rmse(state["start"], state["truth"])
    pictures.lit(begin, state["start"], f"the start: RMSE {off:.1f} pixels")
    return figure


def _draw_result(state, surface, error, energy):
    result = state["result"]
    off = rmse(result.depth, state["truth"])
    pictures.lit(surface, result.depth, "the surface, lit")
    pictures.error(error, _difference(result.depth, state["truth"]), f"RMSE {off:.2f} pixels", "pixels")
    times = "iteration" if result.iterations == 1 else "iterations"
    reached = f"energy: {result.energies[-1]:.4g}, {result.iterations} {times}"
    pictures.energy(energy, result.energies, reached)


def _turn_surface(state):
    return turnable(state["depth"], "turn it with the mouse")


def _turn_peaks(state):
    return turnable(state["depth"], "turn it with the mouse", aspect=0.5)
