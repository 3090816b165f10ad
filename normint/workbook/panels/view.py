"""The widgets of a panel: controls, picture, surface, and a line that says what is going on."""

import html
import math

import numpy as np


class View:
    """Widgets that show a panel and hand its changes on.

    Parameters
    ----------
    panel : Panel
    """

    def __init__(self, panel):
        import ipywidgets

        self.panel, self._setting = panel, False
        self.widgets = {name: control.widget() for name, control in panel.controls.items()}
        for name, widget in self.widgets.items():
            widget.observe(lambda change, name=name: self._changed(name, change["new"]), "value")
        self.status = ipywidgets.HTML()
        self.picture = ipywidgets.Image(format="png", layout={"width": "600px", "object_fit": "contain"})
        self.surface = None
        self.pictures = ipywidgets.HBox([self.picture], layout={"flex_flow": "row wrap"})
        drawn = [w for w in self.widgets.values() if not hasattr(w, "description")]
        usual = [w for w in self.widgets.values() if hasattr(w, "description")]
        controls = ipywidgets.HBox(usual, layout={"flex_flow": "row wrap", "grid_gap": "0 12px"})
        beside = [ipywidgets.VBox([controls, self.status])] if drawn else [controls]
        above = ipywidgets.HBox([*drawn, *beside], layout={"grid_gap": "16px"})
        self.box = ipywidgets.VBox([above, *([] if drawn else [self.status]), self.pictures])
        self.box.add_class("normint-panel")
        self.follow(panel.values)

    def follow(self, values):
        """Set the widgets to the values, and show those that have a meaning."""
        self._setting = True
        try:
            for name, widget in self.widgets.items():
                value = values[name]
                value = [list(row) for row in value] if isinstance(value, tuple) else value
                if widget.value != value:
                    widget.value = value
                display = None if self.panel.controls[name].applies(values) else "none"
                if widget.layout.display != display:
                    widget.layout.display = display
        finally:
            self._setting = False

    def show(self, shown, error, seconds):
        """Show a state, or why there is none."""
        if shown is not None:
            self.picture.value = shown.png
            self._turn_to(shown.surface)
        if error:
            self._say(error, "#b00020")
        else:
            self._say("" if seconds is None else f"answered in {seconds:.2f} s", "#666666")

    def say_working(self):
        """Say that an answer takes its time."""
        self._say("working…", "#d55e00")

    def _say(self, text, colour):
        style = f'class="normint-status" style="color:{colour}"'
        self.status.value = f"<span {style}>{html.escape(text) or '&nbsp;'}</span>"

    def _changed(self, name, value):
        old = self.panel.values[name]
        # A logarithmic slider in the browser sends its value back, rounded, as soon as it is drawn.
        rounded = isinstance(value, float) and math.isclose(value, old, rel_tol=1e-9)
        if self._setting or rounded:
            return
        try:
            self.panel.set(**{name: value})
        except ValueError as error:
            self._say(str(error), "#b00020")

    def _turn_to(self, figure):
        if figure is None:
            return
        if self.surface is None:
            self.surface = _figure_widget(figure)
            if self.surface is not None:
                self.pictures.children = (self.picture, self.surface)
            return
        with self.surface.batch_update():
            for old, new in zip(self.surface.data, figure.data, strict=True):
                old.update(_for_messages(new))
            scene = figure.layout.scene
            self.surface.layout.title.text = figure.layout.title.text
            for name in ("xaxis", "yaxis", "zaxis"):
                self.surface.layout.scene[name].range = scene[name].range
            self.surface.layout.scene.aspectratio = scene.aspectratio


def _figure_widget(figure):
    """Return a plotly figure as a widget, or None where plotly cannot make one."""
    import plotly.graph_objects as go

    try:
        widget = go.FigureWidget([_for_messages(trace) for trace in figure.data], figure.layout)
    except ImportError:  # anywidget is not there
        return None
    widget.layout.width = 430
    return widget


def _for_messages(trace):
    """Return a trace without NaN, which messages to the browser cannot have: there, None means a gap."""
    data = trace.to_plotly_json()
    depth = np.asarray(trace.z)
    data["z"] = np.where(np.isfinite(depth), depth.astype(float).round(4), None).tolist()
    return data
