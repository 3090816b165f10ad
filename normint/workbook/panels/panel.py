"""A panel: controls, what is computed from their values, and the pictures of it."""

import asyncio
import gc
import io
import threading
import time
from dataclasses import dataclass

from normint import paths
from normint.workbook.figures.interactive_3d import PLOTLY, as_base64, as_json, display_both
from normint.workbook.panels.latest import Latest, Superseded

PATIENCE = 0.2  # seconds after which a panel says that it is working
MANY = 50_000  # objects; one answer makes and leaves 8 000


@dataclass(frozen=True)
class Shown:
    """What a panel shows for one set of values: the state, its picture, and a surface to turn, if any."""

    state: dict
    png: bytes
    surface: object = None


class Panel:
    """Controls, and pictures that follow them.

    Parameters
    ----------
    title : str
    controls : sequence of Control
    compute : callable
        ``compute(values, check)`` returns the state, a dict, for the values of the controls by name. Long
        work calls ``check()``, which stops it when the values have changed; ``check`` fits as the `callback`
        of an integrator.
    draw : callable
        ``draw(state)`` returns a matplotlib `Figure`.
    surface : callable, optional
        ``surface(state)`` returns a plotly `Figure`, always with the same traces.
    follow : callable, optional
        ``follow(name, values)`` returns changes of other controls that a change of one entails.
    live : bool, optional
        Whether there are widgets to work with. By default if a notebook server or an editor started this
        kernel: in headless runs the panel shows its first state, and that is all.

    Attributes
    ----------
    values : dict
        What the controls have.
    state : dict
        What was computed last.
    error : str
        Why the last values have no state, in one line; empty if they have.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from normint.workbook.panels.controls import Number
    >>> panel = Panel("doubling", [Number("x", "x", 1.0, 0.0, 5.0)],
    ...               lambda values, check: {"y": 2 * values["x"]}, lambda state: Figure(figsize=(1, 1)))
    >>> panel.state["y"]
    2.0
    >>> panel.set(x=4.0)
    >>> panel.state["y"]
    8.0
    """

    def __init__(self, title, controls, compute, draw, surface=None, *, follow=None, live=None):
        self.title, self.controls = title, {control.name: control for control in controls}
        self._compute, self._draw, self._surface = compute, draw, surface
        self._follow = follow or (lambda name, values: {})
        self.live = is_watched() if live is None else live
        self.values = {control.name: control.value for control in controls}
        self.error, self._shown, self._view = "", None, None
        self._latest = Latest(self._work, self._deliver)
        self._since = None  # when the oldest change was made that has no answer yet
        self._loop = None
        self._accept(self._attempt(dict(self.values)))

    @property
    def state(self):
        """What was computed last, None if nothing ever was."""
        return self._shown.state if self._shown else None

    @property
    def png(self):
        """The picture of the state."""
        return self._shown.png if self._shown else None

    def set(self, **changes):
        """Change controls. A live panel answers in the background; see `wait`. Others answer at once."""
        for name, value in changes.items():
            if name not in self.controls:
                raise ValueError(f"{name} is not a control; expected one of {', '.join(self.controls)}")
            self.values[name] = self.controls[name].check(value)
            self.values.update(self._follow(name, self.values))
        if self._view:
            self._view.follow(self.values)
        if not self.live:
            self._accept(self._attempt(dict(self.values)))
            return
        self._loop = _running_loop() or self._loop
        self._since = self._since or time.perf_counter()
        self._latest.submit(dict(self.values))
        self._later(PATIENCE, self._say_working)

    def wait(self, timeout=None):
        """Wait until the last change is answered, and tell whether it is."""
        return self._latest.wait(timeout)

    def _work(self, values, check):
        state = self._compute(values, check)
        check()
        png = as_png(self._draw(state))
        check()
        return Shown(state, png, self._surface(state) if self._surface else None)

    def _attempt(self, values):
        try:
            return self._work(values, lambda *_: None)
        except Superseded:
            raise
        except Exception as error:
            return error

    def _deliver(self, number, answer):
        def accept():
            if self._latest.is_newest(number):
                self._accept(answer)

        # Widgets belong to the thread of the kernel's loop.
        if self._loop:
            self._loop.call_soon_threadsafe(accept)
        else:
            accept()
        collect_now()

    def _accept(self, answer):
        seconds = time.perf_counter() - self._since if self._since else None
        self._since = None
        if isinstance(answer, Exception):
            # The last picture stays, but is not taken for an answer.
            self.error = _one_line(answer)
        else:
            self.error, self._shown = "", answer
        if self._view:
            self._view.show(None if self.error else self._shown, self.error, seconds)

    def _later(self, seconds, action):
        if self._loop:
            self._loop.call_later(seconds, action)
        elif self._view:
            timer = threading.Timer(seconds, action)
            timer.daemon = True
            timer.start()

    def _say_working(self):
        if self._view and self._since and time.perf_counter() - self._since > 0.9 * PATIENCE:
            self._view.say_working()

    def __repr__(self):
        chosen = ", ".join(
            f"{control.label} {_short(control, self.values[name])}"
            for name, control in self.controls.items()
            if control.applies(self.values) and _short(control, self.values[name])
        )
        return f"{self.title}: {chosen}" + (f" ({self.error})" if self.error else "")

    def _ipython_display_(self):
        """Show widgets where there are any, else the state as it is now: its picture, then its surface."""
        from IPython.display import display

        if not self.live and self._shown and self._shown.surface is not None:
            display_both(self._shown.png, self._shown.surface, repr(self))
        else:
            display(self._bundle(), raw=True)

    def _bundle(self):
        data = self.widget._repr_mimebundle_() if self.live else {}
        data["text/plain"] = repr(self)
        if self._shown:  # for those who open the notebook later, without a kernel
            data["image/png"] = as_base64(self._shown.png)
            if self._shown.surface is not None:
                data[PLOTLY] = as_json(self._shown.surface)
        return data

    @property
    def widget(self):
        """The panel as one widget, made when it is first asked for."""
        if self._view is None:
            from normint.workbook.panels.view import View

            self._loop = _running_loop()
            self._view = View(self)
            self._view.show(self._shown, self.error, None)
            collect_now()
        return self._view.box


def is_watched():
    """Tell whether somebody may use widgets: whether a notebook server or an editor started this kernel."""
    import sys

    if "ipykernel" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    # Servers name the session of a kernel, Visual Studio Code the file; papermill and nbval do neither.
    return paths.in_jupyter() or "__vsc_ipynb_file__" in getattr(shell, "user_ns", {})


def collect_now():
    """Collect garbage between two answers, which takes 0.01 s, rather than amid one of them.

    Left to itself, the collector walks through all modules at every tenth answer or so, for 0.3 s. What stays
    alive in large numbers, such as they, is therefore set aside.
    """
    gc.collect()
    if len(gc.get_objects()) > MANY:
        gc.freeze()


def as_png(figure):
    """Return a figure as the bytes of a PNG, which are the same for the same picture."""
    memory = io.BytesIO()
    figure.savefig(memory, format="png", metadata={"Software": None}, pil_kwargs={"compress_level": 1})
    return memory.getvalue()


def _running_loop():
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _one_line(error):
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else ""
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}"


def _short(control, value):
    options = getattr(control, "options", None)
    if options is not None:
        return next(label for label, option in options.items() if option == value)
    return f"{value:g}" if isinstance(value, int | float) else ""
