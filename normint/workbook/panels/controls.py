"""The controls of the panels, those of the methods among them."""

from inspect import signature

import ipywidgets
import numpy as np

from normint.integration import METHODS

# The methods to choose from: those that work on any Ω, all of which report to a callback.
CHOICE = {name: row for name, row in METHODS.items() if "callback" in signature(row.function).parameters}
# Which of their options have a slider, from where to where.
RANGES = {
    "phi1": {"beta": (0.05, 5.0)},
    "phi2": {"gamma": (0.1, 10.0)},
    "anisotropic_diffusion": {"mu": (0.01, 100.0), "nu": (0.01, 100.0)},
    "mumford_shah": {"mu": (0.45, 450.0), "epsilon": (0.001, 1.0)},
    "bilateral": {"k": (0.2, 8.0)},
}
LETTERS = {"beta": "β", "gamma": "γ", "mu": "μ", "nu": "ν", "epsilon": "ε"}
LOOK = {"style": {"description_width": "initial"}, "layout": {"width": "220px"}}


def slider(label, value, low, high, step, digits=0):
    """Return a slider for a number; for a whole one, if the value is an `int`."""
    kind = ipywidgets.IntSlider if isinstance(value, int) else ipywidgets.FloatSlider
    readout = "d" if isinstance(value, int) else f".{digits}f"
    return kind(value, min=low, max=high, step=step, description=label, readout_format=readout, **LOOK)


def log_slider(label, value, low, high):
    """Return a slider each step of which multiplies the number."""
    ends = {"min": np.log10(low), "max": np.log10(high), "step": 0.05}
    return ipywidgets.FloatLogSlider(value, **ends, description=label, readout_format=".3g", **LOOK)


def noise_slider(value, high, step):
    """Return the slider of σ, in per cent."""
    return slider("noise σ (%)", value, 0.0, high, step, digits=2)


def menu(label, value, options):
    """Return a menu; `options` leads from what is shown to the value."""
    return ipywidgets.Dropdown(options=list(options.items()), value=value, description=label, **LOOK)


def method_controls(chosen, label="method"):
    """Return a menu of the methods, and a slider for each of their options, shown if it has a meaning."""
    methods = menu(label, chosen, {row.label: name for name, row in CHOICE.items()})
    sliders = {}
    for method, options in RANGES.items():
        parameters = signature(CHOICE[method].function).parameters
        for option, ends in options.items():
            first = parameters[option].default
            sliders[method, option] = log_slider(LETTERS.get(option, option), first, *ends)

    def show(_):
        for (method, _), control in sliders.items():
            control.layout.display = None if method == methods.value else "none"

    methods.observe(show, "value")
    show(None)
    return {"method": methods} | {f"{method}_{option}": s for (method, option), s in sliders.items()}


def chosen_method(values):
    """Return the method and its options, for :func:`normint.integrate`.

    Examples
    --------
    >>> chosen_method({"method": "phi1", "phi1_beta": 0.3, "phi2_gamma": 1.0})
    {'method': 'phi1', 'beta': 0.3}
    """
    method = values["method"]
    return {"method": method} | {option: values[f"{method}_{option}"] for option in RANGES.get(method, ())}
