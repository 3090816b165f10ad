"""Measure how soon the interactive panels answer: every control of every panel, as in a notebook.

A change counts from the moment a control has a new value until the new picture and the new surface are in the
widgets; what the browser needs to draw them is not included. What is judged is the time of the processor, on
one thread, since others on the machine say nothing about a panel; the time of the clock stands beside it.
"""

import time

import numpy as np

from benchmarks import judge
from normint.workbook import panels as interactive
from normint.workbook.panels.controls import Choice, Pixels
from normint.workbook.panels.masks import DRAWN, LABELS, shape_pixels

LIMIT = 0.5  # seconds


def measure(quick):
    """Yield the rows of panels.csv, its header first, and print each as soon as it is measured."""
    yield "panel", "changes", "median", "worst", "median (clock)", "worst (clock)", "unit", "limit", "met"
    print(
        "Seconds from a change of a control to the new picture and surface, in brackets those of the clock.\n"
        f"\n{'panel':22s}{'changes':>7s}{'median':>15s}{'worst':>15s}  required, met   the slowest change",
        flush=True,
    )
    for name in (name for name in interactive.__all__ if name != "Panel"):
        seconds, clock, slowest = panel_times(name, 2 if quick else 3)
        (middle, worst), (middle_clock, worst_clock) = ((np.median(t), max(t)) for t in (seconds, clock))
        bound, met = judge(worst, LIMIT)
        numbers = f"{middle:7.2f} ({middle_clock:.2f}) {worst:7.2f} ({worst_clock:.2f})"
        print(f"{name:22s}{len(seconds):7d} {numbers}  {bound} {met:4s}  {slowest}", flush=True)
        values = (f"{value:.2f}" for value in (middle, worst, middle_clock, worst_clock))
        yield name, len(seconds), *values, "s", bound, met


def panel_times(name, places):
    """Return the seconds of the processor and of the clock of every change, and which was the slowest."""
    panel = getattr(interactive, name)(live=True)
    panel.widget  # noqa: B018
    first = dict(panel.values)
    for method in methods(panel):  # compile
        answer(panel, method)
    seconds, clock, what = [], [], []
    for before, changes in groups(panel, places):
        answer(panel, first | before)
        for change in changes:
            start = time.process_time(), time.perf_counter()
            answer(panel, change)
            seconds.append(time.process_time() - start[0])
            clock.append(time.perf_counter() - start[1])
            what.append(before | change)
    return seconds, clock, _told(what[int(np.argmax(seconds))])


def answer(panel, change):
    """Change controls, and wait for the answer."""
    panel.set(**change)
    panel.wait()
    if panel.error:
        raise RuntimeError(f"{panel.title} with {change}: {panel.error}")


def groups(panel, places):
    """Yield what to set first and what to change then: each control, for each method that it belongs to."""
    for control in panel.controls.values():
        for before in [{}] if control.name == "method" else methods(panel):
            if control.applies(panel.values | before):
                yield before, [{control.name: value} for value in values_of(control, places)]


def methods(panel):
    """Return a choice of each method, or of nothing in a panel that has only one."""
    menu = panel.controls.get("method")
    return [{"method": value} for value in menu.options.values()] if menu else [{}]


def values_of(control, places):
    """Return all values of a menu, and as many of a slider as there are places."""
    if isinstance(control, Pixels):
        return [shape_pixels(name) for name in LABELS if name != DRAWN]
    if isinstance(control, Choice):
        return [value for value in control.options.values() if value != DRAWN]
    values = (np.geomspace if control.log else np.linspace)(control.low, control.high, places)
    values = values.clip(control.low, control.high)  # the ends of a logarithmic slider may be rounded
    return [type(control.value)(value) for value in values]


def _told(values):
    words = {name: f"{value:.3g}" if isinstance(value, float) else value for name, value in values.items()}
    return ", ".join(f"{name} {'drawn' if name == 'pixels' else word}" for name, word in words.items())
