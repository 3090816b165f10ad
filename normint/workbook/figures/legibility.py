"""What a reader of the printed page would stumble over."""

from itertools import combinations

import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.image import imsave
from matplotlib.path import Path

from normint.workbook.figures.canvas import PAGE, SMALL

SLACK = 0.75  # points by which boxes of letters may overlap: they are a little larger than their ink


def faults(figure):
    """Return what is hard to read in a figure, one sentence each.

    No ink may touch the border, no text may be small or lie on other text, every colour bar needs a label.
    A figure wider than a page is printed smaller, and so is its text.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure = Figure(figsize=(3, 2))
    >>> _ = figure.text(0.5, 0.5, "tiny", fontsize=5)
    >>> faults(figure)
    ["'tiny' has 5.0 points"]
    """
    return Seen(figure).faults()


class Seen(RendererAgg):
    """Draws a figure, and keeps each line of text that comes to the paper: the words, points and a box."""

    def __init__(self, figure):
        super().__init__(*figure.bbox.size, figure.dpi)
        self.figure, self.texts = figure, []
        figure.draw(self)

    def faults(self):
        """Return what is hard to read, see :func:`faults`."""
        figure = self.figure
        scale = min(1.0, PAGE / figure.get_figwidth())
        found = [f"ink touches the {side} border" for side in self.touched()]
        for text, size, _ in self.texts:
            if size * scale < SMALL - 1e-6:
                found.append(f"{text!r} has {size * scale:.1f} points")
        for (first, _, one), (second, _, other) in combinations(self.texts, 2):
            if one.intersects_path(other, filled=True):
                found.append(f"{first!r} lies on {second!r}")
        for axes in figure.axes:
            if hasattr(axes, "_colorbar") and not (axes.get_xlabel() or axes.get_ylabel()):
                found.append("a colour bar has no label")
        return found

    def write_png(self, file, metadata):
        """Write what was drawn, as ``figure.savefig`` would after drawing it once more."""
        imsave(file, self.buffer_rgba(), format="png", origin="upper", dpi=self.dpi, metadata=metadata)

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        """Draw a line of text, and keep it."""
        width, height, below = self.get_text_width_height_descent(s, prop, ismath)
        inside = SLACK * self.dpi / 72 / 2
        left, right, low, high = inside, width - inside, inside - below, height - below - inside
        turn = np.radians(angle)
        turned = [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
        corners = np.array([[left, low], [right, low], [right, high], [left, high]]) @ turned
        box = Path(corners + [x, self.height - y], closed=False)
        if s.strip():
            self.texts.append((s, prop.get_size_in_points(), box))
        super().draw_text(gc, x, y, s, prop, angle, ismath, mtext)

    def touched(self):
        """Return the sides of the figure that have another colour than its corner."""
        picture = np.asarray(self.buffer_rgba())
        sides = {"upper": picture[0], "lower": picture[-1], "left": picture[:, 0], "right": picture[:, -1]}
        return [name for name, side in sides.items() if (side != picture[0, 0]).any()]
