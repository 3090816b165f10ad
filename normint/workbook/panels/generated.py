"""Panels on surfaces that are given by formulas: peaks, the vase, the tent."""

from functools import lru_cache
from inspect import signature

import numpy as np

from normint import surfaces
from normint.integration import METHODS, integrate_quietly
from normint.metrics import rmse
from normint.workbook.figures.depth_maps import weakest_edge
from normint.workbook.panels import pictures
from normint.workbook.panels.controls import chosen_method, menu, method_controls, noise_slider, slider
from normint.workbook.panels.panel import Panel
from normint.workbook.studies.photographs import integrate_inside

BORDERS = {
    "least squares on Ω": "quadratic",
    "cosine transform": "dct",
    "cosine, border dropped": "dropped",
    "Sylvester": "sylvester",
}
DOMAINS = {"the whole square": "square", "a disk": "disk", "a star": "star"}
STARTS = {"least squares": "least squares", "zero": "zero", "random": "random", "the truth": "truth"}
PRIOR_WEIGHTS = {"0": 0.0, "10⁻⁹": 1e-9, "10⁻⁶": 1e-6, "10⁻⁴": 1e-4, "10⁻³": 1e-3, "10⁻²": 1e-2, "0.1": 0.1}


def jump_panel(n=60):
    """Let the depth jump on a line of pixels, and see that its slopes do not know.

    Parameters
    ----------
    n : int
        Pixels.

    Returns
    -------
    Panel

    Examples
    --------
    >>> panel = jump_panel()
    >>> before = panel.state["slopes"]
    >>> panel.controls["height"].value = 0.0
    >>> bool((panel.state["slopes"] == before).all())
    True
    """
    v = np.arange(n)
    smooth, noise = 2 * np.sin(v / 9), np.random.default_rng(0).standard_normal(n)

    def solve(check, height, sigma, known):
        truth = smooth + height * (v >= n // 2)
        slopes = 2 / 9 * np.cos(v / 9) + sigma / 100 * noise
        # On a line least squares can be written down: the slopes add up, and what is left over at a second
        # known end is shared out evenly.
        steps = (slopes[:-1] + slopes[1:]) / 2
        depth = truth[0] + np.concatenate([[0], np.cumsum(steps)])
        if known == "ends":
            depth += (truth[-1] - depth[-1]) * v / (n - 1)
        off = np.sqrt(np.mean((depth - truth) ** 2))
        lines = {"truth": truth, "found": depth, "slopes": slopes}
        return lines | {"depth": None, "summary": f"RMSE {off:.2f} pixels"}

    controls = {
        "height": slider("height of the jump", 4.0, 0.0, 10.0, 0.25, digits=2),
        "sigma": noise_slider(2.0, 20.0, 0.5),
        "known": menu("known depths", "first", {"the first pixel": "first", "both ends": "ends"}),
    }
    return Panel("jump", controls, solve, _draw_jump)


def peaks_panel(n=96):
    """Add noise to the slopes of peaks, and see what each way to treat the boundary makes of them.

    Parameters
    ----------
    n : int
        Rows and columns.

    Returns
    -------
    Panel

    Examples
    --------
    >>> sorted(peaks_panel(32).state["errors"])
    ['dct', 'dropped', 'quadratic', 'sylvester']
    """
    truth = surfaces.peaks(n)

    def solve(check, sigma, border, domain, seed):
        mask = _cut_out(domain, n)
        noisy = truth.with_noise(sigma / 100, np.random.default_rng(seed))
        depths = {}
        for name in BORDERS.values():
            check()
            depths[name] = _with_border(noisy, mask, name)
        errors = {name: rmse(depth, truth.depth, mask) for name, depth in depths.items()}
        state = {"depth": depths[border], "errors": errors, "border": border, "mask": mask}
        return state | {"truth": truth.depth, "summary": f"RMSE {errors[border]:.3f} depth units"}

    controls = {
        "sigma": noise_slider(10.0, 30.0, 0.5),
        "border": menu("boundary", "quadratic", BORDERS),
        "domain": menu("domain", "square", DOMAINS),
        "seed": slider("noise draw", 0, 0, 20, 1),
    }
    return Panel("peaks", controls, solve, _draw_peaks, height=0.5)


def vase_panel(n=96):
    """Reconstruct the vase and its background with every method and its parameters.

    Parameters
    ----------
    n : int
        Rows and columns.

    Returns
    -------
    Panel

    Examples
    --------
    >>> panel = vase_panel(32)
    >>> panel.controls["method"].value = "phi1"
    >>> panel.state["result"].weights is not None
    True
    """
    vase = surfaces.vase(n)

    def solve(check, sigma, weight, **values):
        noisy = vase.with_noise(sigma / 100, np.random.default_rng(0))
        held = {"prior": np.zeros((n, n)), "prior_weight": weight} if weight else {}
        return _solved(vase.depth, noisy, check, values, **held)

    controls = method_controls("mumford_shah") | {
        "sigma": noise_slider(1.0, 10.0, 0.25),
        "weight": menu("λ", 0.0, PRIOR_WEIGHTS),
    }
    return Panel("vase", controls, solve, _draw_vase)


def start_panel(n=64):
    """Start an iteration on the tent from different depths, and see whether it arrives at the same one.

    Parameters
    ----------
    n : int
        Rows and columns.

    Returns
    -------
    Panel

    Examples
    --------
    >>> start_panel(48).state["start"].shape
    (48, 48)
    """
    half = round(50 * n / 192)
    tent = surfaces.canadian_tent(n, half, half)

    def solve(check, sigma, start, **values):
        noisy = tent.with_noise(sigma / 100, np.random.default_rng(0))
        begin = _start(start, noisy, tent.depth)
        needed = "initial" in signature(METHODS[values["method"]].function).parameters
        options = {"initial": begin} if needed else {}
        return _solved(tent.depth, noisy, check, values, **options) | {"start": begin, "needed": needed}

    controls = {"start": menu("start from", "zero", STARTS)}
    controls |= method_controls("phi1") | {"sigma": noise_slider(1.0, 10.0, 0.25)}
    return Panel("start", controls, solve, _draw_start)


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
    options = {"tolerance": 1e-8} if name == "quadratic" else {}
    return integrate_inside(noisy.p, noisy.q, mask, name, **options)


def _start(name, noisy, truth):
    if name == "zero":
        return np.zeros(truth.shape)
    if name == "random":
        return truth.std() * np.random.default_rng(0).standard_normal(truth.shape)
    return truth if name == "truth" else integrate_quietly(noisy.p, noisy.q, tolerance=1e-8).depth


def _solved(truth, noisy, check, values, **options):
    result = integrate_quietly(noisy.p, noisy.q, callback=check, **chosen_method(values), **options)
    times = f"{result.iterations} iteration{'s' * (result.iterations != 1)}"
    summary = f"RMSE {rmse(result.depth, truth):.2f} pixels, {times}"
    return {"result": result, "depth": result.depth, "truth": truth, "summary": summary}


def _draw_jump(state):
    figure, (depths, slopes) = pictures.line_canvas()
    title = "the depth, and what least squares makes of the slopes"
    pictures.curve(depths, state["found"], title, "", "z (pixels)", state["truth"])
    pictures.curve(slopes, state["slopes"], "the slopes that are given", "v (pixels)", "∂z/∂v")
    return figure


def _draw_peaks(state):
    figure, (surface, error, bars, cut) = pictures.canvas()
    depth, truth = state["depth"], state["truth"]
    name = next(label for label, value in BORDERS.items() if value == state["border"])
    steepness = 0.25 * len(truth) / 14  # peaks has depth units of its own, 14 of them over the image
    pictures.lit(surface, depth, name, steepness)
    pictures.error(error, depth, truth, f"RMSE {state['errors'][state['border']]:.3f}", "units")
    errors = {label: state["errors"][value] for label, value in BORDERS.items()}
    pictures.bars(bars, errors, name, "all four on this noise", "RMSE (depth units of peaks)")
    row = len(truth) // 2
    result, given = (depth - np.nanmean(depth - truth))[row], np.where(state["mask"], truth, np.nan)[row]
    pictures.curve(cut, result, f"cut along row {row}", "v (pixels)", "z (units)", given)
    return figure


def _draw_vase(state):
    figure, (surface, error, where, energy) = pictures.canvas()
    _draw_result(state, surface, error, energy)
    weights = state["result"].weights
    marked = np.zeros(state["truth"].shape, bool) if weights is None else weakest_edge(weights) < 0.1
    pictures.marks(where, state["depth"], marked, f"discontinuities: {marked.sum()} pixels")
    return figure


def _draw_start(state):
    figure, (begin, error, surface, energy) = pictures.canvas()
    _draw_result(state, surface, error, energy)
    off = f"RMSE {rmse(state['start'], state['truth']):.1f} pixels"
    title = f"the start: {off}" if state["needed"] else "the start, which this method does not need"
    pictures.lit(begin, state["start"], title)
    return figure


def _draw_result(state, surface, error, energy):
    result = state["result"]
    pictures.lit(surface, result.depth, "the surface, lit")
    off = rmse(result.depth, state["truth"])
    pictures.error(error, result.depth, state["truth"], f"RMSE {off:.2f} pixels", "pixels")
    pictures.curve(energy, result.energies, f"energy: {result.energies[-1]:.4g}", "iteration", "energy")
