"""What a panel lets one change: a description of each control, and the widget made of it."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Control:
    """What all controls have.

    Attributes
    ----------
    name : str
        The key of its value.
    label : str
        What is written before it.
    value : object
        What it has at first.
    when : dict
        From the name of another control to the values of it for which this one is shown; always if empty.
    """

    name: str
    label: str
    value: object
    when: dict = field(default_factory=dict, kw_only=True)

    def applies(self, values):
        """Tell whether the control has a meaning, given the values of all."""
        return all(values[name] in wanted for name, wanted in self.when.items())

    def check(self, value):
        """Return the value, or raise a `ValueError` that says what is expected."""
        return value

    def common(self):
        """Return what every widget gets."""
        return {
            "description": self.label,
            "style": {"description_width": "initial"},
            "layout": {"width": "290px"},
        }


@dataclass(frozen=True)
class Number(Control):
    """A number on a slider from `low` to `high`; with `log`, each step multiplies it."""

    low: float
    high: float
    step: float = 0.1
    log: bool = False
    format: str = ".2g"

    def check(self, value):
        """Return the number, or raise a `ValueError` if it is not on the slider."""
        if not self.low <= value <= self.high:
            expected = f"a number from {self.low:g} to {self.high:g}"
            raise ValueError(f"{self.name} is {value!r}; expected {expected}")
        return value

    def widget(self):
        """Make a slider."""
        import ipywidgets

        if self.log:
            ends = {"min": np.log10(self.low), "max": np.log10(self.high), "step": self.step, "base": 10.0}
            slider = ipywidgets.FloatLogSlider
        else:
            ends = {"min": self.low, "max": self.high, "step": self.step}
            slider = ipywidgets.IntSlider if isinstance(self.value, int) else ipywidgets.FloatSlider
        return slider(value=self.value, readout_format=self.format, **ends, **self.common())


@dataclass(frozen=True)
class Choice(Control):
    """One of several values; `options` leads from what is shown to the value."""

    options: dict
    slider: bool = False

    def check(self, value):
        """Return the value, or raise a `ValueError` if it is none of the options."""
        if value not in self.options.values():
            expected = ", ".join(repr(option) for option in self.options.values())
            raise ValueError(f"{self.name} is {value!r}; expected one of {expected}")
        return value

    def widget(self):
        """Make a menu, or a slider with one place for each option."""
        import ipywidgets

        kind = ipywidgets.SelectionSlider if self.slider else ipywidgets.Dropdown
        return kind(value=self.value, options=list(self.options.items()), **self.common())


@dataclass(frozen=True)
class Pixels(Control):
    """A small mask to draw on: its value is a tuple of rows, each a tuple of 0 and 1."""

    def check(self, value):
        """Return the mask as a tuple of tuples, or raise a `ValueError` if its shape is another."""
        mask = np.asarray(value)
        expected = np.shape(self.value)
        if mask.shape != expected:
            raise ValueError(f"{self.name} has shape {mask.shape}; expected {expected}")
        return tuple(tuple(int(pixel) for pixel in row) for row in mask.astype(bool))

    def widget(self):
        """Make a grid on which to draw."""
        from normint.workbook.panels.pixel_grid import PixelGrid

        return PixelGrid(value=[list(row) for row in self.value])
