"""A panel: controls, what is computed from their values, and the pictures of it."""

import asyncio
import base64
import html
import json
import time
from concurrent.futures import ThreadPoolExecutor

import ipywidgets
from IPython import get_ipython
from IPython.display import display

from normint import paths
from normint.workbook.figures.interactive_3d import as_png, display_both, surface_3d
from normint.workbook.panels.widgets import TurnableSurface

# Pixels, for a window of 1280×800: the controls at the left; the pictures, and the surface below them.
LEFT, RIGHT, HEIGHT = 226, 616, 245
LONG = 0.5  # seconds: work that takes longer is given up when its controls have moved on


class Stale(Exception):
    """Raised in work that nobody waits for any more."""


class Panel:
    """Controls, and pictures that follow them.

    A change is answered in a thread, so that controls can be moved on. Changes that wait are dropped for
    newer ones. One that is worked on is finished and shown, so that pictures follow a slider while it is
    dragged; but if that takes long, it stops at its next ``check()``.

    Parameters
    ----------
    title : str
    controls : dict of str to ipywidgets.Widget
        Each with a ``value``. The names are those of the arguments of ``compute``.
    compute : callable
        ``compute(check, **values)`` returns the state, a dict with at least "depth", the surface to turn or
        None, and "summary", a line with the numbers that count. Long work calls ``check``, with any
        arguments, so that it can be the `callback` of an integrator.
    draw : callable
        ``draw(state)`` returns a matplotlib `Figure`.
    **view
        How the surface is drawn, see :func:`normint.workbook.figures.interactive_3d.surface_3d`.

    Attributes
    ----------
    state : dict
        What was computed last.
    error : str
        Why the newest values have no state, in one line; empty if they have one.
    live : bool
        Whether widgets are shown and changes answered in a thread; if not, they are answered at once.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> x = ipywidgets.FloatSlider(1.0)
    >>> panel = Panel("doubling", {"x": x}, lambda check, x: {"depth": np.eye(3), "summary": f"{2 * x:g}"},
    ...               lambda state: Figure(figsize=(1, 1)))
    >>> x.value = 4
    >>> panel
    doubling: 8
    """

    def __init__(self, title, controls, compute, draw, **view):
        self.title, self.controls = title, controls
        self._compute, self._draw, self._view = compute, draw, view
        self.state, self.error, self.png, self.surface = None, "", None, None
        self.live = is_watched()
        self._newest = 0  # the number of the newest change
        self._worker = ThreadPoolExecutor(1, "panel")  # it starts its thread when it first gets work
        self.status = ipywidgets.HTML(layout={"margin": "0"})
        self._picture = ipywidgets.Image(format="png", layout={"width": f"{RIGHT}px"})
        self._turnable = None  # the widget of the surface, where widgets are shown
        self._asked = self.values
        self._show(self._answer(lambda *_: None, self._asked))
        for control in controls.values():
            control.observe(self._changed, "value")

    @property
    def values(self):
        """What the controls have, numbers with nine digits."""
        # A logarithmic slider sends its value back, with the last digits changed, as soon as it is drawn.
        values = {name: control.value for name, control in self.controls.items()}
        return {name: float(f"{x:.9g}") if isinstance(x, float) else x for name, x in values.items()}

    def _changed(self, _):
        """Answer a change of a control: at once, or in the thread."""
        if self.values == self._asked:
            return
        self._asked = self.values
        self._newest += 1
        if self.live:
            self._say("working…", "#d55e00")
            asyncio.get_running_loop().create_task(self._answer_newest(self._newest))
        else:
            self._show(self._answer(lambda *_: None, self._asked))

    async def _answer_newest(self, number):
        """Let the thread answer, and show its answer here, where the widgets are, unless it is stale."""
        asked, begun = time.perf_counter(), None

        def check(*_):
            nonlocal begun
            now = time.perf_counter()
            if number != self._newest and (begun is None or now - begun > LONG):
                raise Stale
            begun = begun or now

        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(self._worker, self._answer, check, self._asked)
        if number == self._newest:
            self._show(answer, time.perf_counter() - asked)
        elif not isinstance(
            answer, Exception
        ):  # what is wrong with values that were passed over is no matter
            self._show(answer)
            self._say(self.state["summary"] + ", working…", "#d55e00")

    def _answer(self, check, values):
        """Return the state, its picture and its surface, or the exception that there was instead."""
        try:
            check()
            state = self._compute(check, **values)
            check()
            depth = state["depth"]
            surface = None if depth is None else surface_3d(depth, "turn it with the mouse", **self._view)
            return state, as_png(self._draw(state)), surface
        except Exception as error:
            return error

    def _show(self, answer, seconds=None):
        if isinstance(answer, Exception):
            # The last picture stays, but is not taken for an answer.
            self.error = _one_line(answer)
            self._say(self.error, "#b00020")
            return
        self.error, (self.state, self.png, self.surface) = "", answer
        self._picture.value = self.png
        self._say(self.state["summary"] + (f" ({seconds:.2f} s)" if seconds else ""), "inherit")
        if self._turnable:
            self._turnable.figure = _for_messages(self.surface)

    def _say(self, text, colour):
        self.status.value = f'<b class="normint-status" style="color:{colour}">{html.escape(text)}</b>'

    def widget(self):
        """Return the panel as one widget: controls at the left, pictures and surface at the right."""
        if self.surface and not self._turnable:
            self._turnable = TurnableSurface(figure=_for_messages(self.surface))
        left = [*self.controls.values(), self.status]
        right = [self._picture, self._turnable] if self._turnable else [self._picture]
        columns = (left, LEFT), (right, RIGHT)
        box = ipywidgets.HBox(
            [ipywidgets.VBox(parts, layout={"flex": f"0 0 {width}px"}) for parts, width in columns]
        )
        box.add_class("normint-panel")
        return box

    def __repr__(self):
        return f"{self.title}: {self.error or self.state['summary']}"

    def _ipython_display_(self):
        """Show widgets where somebody can use them, else the first state: its picture, then its surface."""
        if self.live:
            display(self.widget())
        elif self.surface:
            display_both(self.png, self.surface, repr(self))
        elif self.png:
            picture = base64.b64encode(self.png).decode("ascii")
            display({"image/png": picture, "text/plain": repr(self)}, raw=True)
        else:
            print(repr(self))


def is_watched():
    """Tell whether somebody may use widgets: whether a notebook server or an editor started this kernel.

    Servers name the session of a kernel, Visual Studio Code the notebook; papermill and nbval do neither.
    """
    shell = get_ipython()
    return shell is not None and (paths.in_jupyter() or "__vsc_ipynb_file__" in shell.user_ns)


def _for_messages(figure):
    """Return a figure, as large as there is room, as JSON: with arrays as text, since they may have NaN."""
    shown = json.loads(figure.to_json())
    shown["layout"] |= {"width": RIGHT, "height": HEIGHT}
    return shown


def _one_line(error):
    text = str(error).strip().partition("\n")[0]
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}"
