"""Measure how soon the interactive panels answer: every control of every panel, as in a notebook.

A change counts from the moment a control has a new value until the new picture and the new surface are in the
widgets; what the browser needs to draw them is not included. What is judged is the time of the processor, on
one thread, since others on the machine say nothing about a panel; the time of the clock stands beside it.
"""

import time

import numpy as np

from benchmarks import judge
from normint.workbook import panels

LIMIT = 0.5  # seconds


def measure(quick):
    """Yield the rows of panels.csv, its header first, and print each as soon as it is measured."""
    yield "panel", "changes", "median", "worst", "median (clock)", "worst (clock)", "unit", "limit", "met"
    print(
        "Seconds from a change of a control to the new picture and surface, in brackets those of the clock.\n"
        f"\n{'panel':22s}{'changes':>7s}{'median':>15s}{'worst':>15s}  required, met   the slowest change",
        flush=True,
    )
    makers = (
        panels.mask_panel, panels.peaks_panel, panels.vase_panel, panels.start_panel, panels.lights_panel,
        panels.control_points_panel,
    )  # fmt: skip
    for maker in makers:
        seconds, clock, slowest = panel_times(maker(), 2 if quick else 3)
        (middle, worst), (middle_clock, worst_clock) = ((np.median(t), max(t)) for t in (seconds, clock))
        bound, met = judge(worst, LIMIT)
        numbers = f"{middle:7.2f} ({middle_clock:.2f}) {worst:7.2f} ({worst_clock:.2f})"
        print(f"{maker.__name__:22s}{len(seconds):7d} {numbers}  {bound} {met:4s}  {slowest}", flush=True)
        values = (f"{value:.2f}" for value in (middle, worst, middle_clock, worst_clock))
        yield maker.__name__, len(seconds), *values, "s", bound, met


def panel_times(panel, places):
    """Return the seconds of the processor and of the clock of every change, and which was the slowest."""
    panel.widget()
    menu = panel.controls.get("method")
    methods = [value for _, value in menu.options] if menu else [None]
    seconds, clock, what = [], [], []
    for method in methods:
        if menu:
            menu.value = method  # compile
        for name, control in panel.controls.items():
            if control is menu or control.layout.display == "none" or name == "pixels":
                continue
            first = control.value
            for value in (*values_of(control, places), first):
                start = time.process_time(), time.perf_counter()
                control.value = value
                seconds.append(time.process_time() - start[0])
                clock.append(time.perf_counter() - start[1])
                what.append(f"{method or panel.title}, {name} {value}")
                if panel.error:
                    raise RuntimeError(f"{panel.title}, {what[-1]}: {panel.error}")
    return seconds, clock, what[int(np.argmax(seconds))]


def values_of(control, places):
    """Return all values of a menu, and as many of a slider as there are places."""
    if hasattr(control, "options"):
        return [value for _, value in control.options]
    values = np.linspace(control.min, control.max, places)
    return [
        type(control.value)(value) for value in (control.base**values if hasattr(control, "base") else values)
    ]
