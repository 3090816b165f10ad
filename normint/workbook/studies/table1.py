"""The numbers behind the signs of the paper's Table 1: what a method does at jumps, borders, smooth parts."""

from typing import NamedTuple

import numpy as np

from normint.inputs import as_positive
from normint.workbook.cases import CASES


def unexplained(surface):
    """Return how far each true difference of depth is from what the gradient says, downwards and right.

    Parameters
    ----------
    surface : Surface

    Returns
    -------
    (ndarray, ndarray)
        |z_j - z_i - ½(g_i + g_j)| of the edges that start at each pixel, zero in the last row and column.
    """
    down, right = np.zeros((2, *surface.depth.shape))
    down[:-1] = np.diff(surface.depth, axis=0) - 0.5 * (surface.p[1:] + surface.p[:-1])
    right[:, :-1] = np.diff(surface.depth, axis=1) - 0.5 * (surface.q[:, 1:] + surface.q[:, :-1])
    return np.abs(down), np.abs(right)


def near_jumps(surface, *, least=3.0, distance=2):
    """Mark the pixels within a distance of true jumps.

    Parameters
    ----------
    surface : Surface
        With its exact gradient.
    least : float
        A jump is a difference of depth that the gradient misses by more than so many pixels.
    distance : int
        In pixels, along rows and columns.

    Examples
    --------
    >>> from normint.surfaces import canadian_tent
    >>> int(near_jumps(canadian_tent()).any(axis=0).sum())  # two gable ends, three pixels to each side
    12
    """
    as_positive("least", least)
    return _grow(_ends(*(edges > least for edges in unexplained(surface))), distance)


def error_near_jumps(depth, surface):
    """Measure the RMSE within two pixels of true jumps, after removing the mean difference everywhere."""
    error = depth - surface.depth
    return float(np.sqrt(np.mean((error - error.mean())[near_jumps(surface)] ** 2)))


def border_bias(depth, surface, *, width=2):
    """Measure the RMSE in a frame along the image border, in per cent of the depth's standard deviation."""
    error = depth - surface.depth
    error = error - error.mean()
    frame = np.ones(error.shape, bool)
    frame[width:-width, width:-width] = False
    return float(100 * np.sqrt(np.mean(error[frame] ** 2)) / surface.depth.std())


def staircasing(depth, surface, noise, *, factor=4.0):
    """Measure the share of edges on smooth parts across which the depth makes a step that is not there.

    Parameters
    ----------
    depth : ndarray
    surface : Surface
        The truth, with its exact gradient.
    noise : float
        Standard deviation of the noise of a slope.
    factor : float
        A step is an error of a depth difference that exceeds those two pixels before and after it, along the
        same line, by more than ``factor`` times the noise: bending is no step.

    Returns
    -------
    float
        Between 0 and 1. Smooth parts are more than three pixels away from where a true difference of depth
        is not the mean of the slopes at its ends to a tenth of a pixel: jumps, kinks, strong curvature.
    """
    rough = _grow(_ends(*(edges > 0.1 for edges in unexplained(surface))), 3)
    error = depth - surface.depth
    steps, total = 0, 0
    for along, barred in ((error, rough), (error.T, rough.T)):
        jump = np.abs(np.diff(along, axis=0))
        alone = jump[2:-2] - np.maximum(jump[:-4], jump[4:])
        smooth = ~(barred[2:-3] | barred[3:-2])
        steps += np.count_nonzero(alone[smooth] > factor * noise)
        total += np.count_nonzero(smooth)
    return float(steps / total)


def _ends(down, right):
    """Mark the pixels at both ends of the edges."""
    marks = down | right
    marks[1:] |= down[:-1]
    marks[:, 1:] |= right[:, :-1]
    return marks


def _grow(marks, distance):
    from scipy.ndimage import binary_dilation

    return binary_dilation(marks, iterations=distance) if distance else marks


class Column(NamedTuple):
    """A column of Table 1.

    Attributes
    ----------
    heading : str
        As in the paper, in words.
    key : str
        Of the measured number.
    form : str
        How the number is written.
    measure : str
        What the number is.
    limits : tuple of (float, str)
        The largest number for each sign, in rising order.
    """

    heading: str
    key: str
    form: str
    measure: str
    limits: tuple

    def sign(self, value):
        """Return the sign of a number; "?" without one."""
        return "?" if np.isnan(value) else next(sign for limit, sign in self.limits if value <= limit)

    def written(self, value):
        """Return a number as it stands in the table."""
        return "not measured" if np.isnan(value) else self.form.format(value)

    def legend(self):
        """Return what the number is, and which numbers get which sign."""
        *limits, (_, last) = self.limits
        return (
            f"{self.heading}: {self.measure}; {', '.join(f'{s} up to {x:g}' for x, s in limits)}, else {last}"
        )


COLUMNS = (
    Column("Fast", "time", "{:.0f} × DCT", "time / time of the DCT",
           ((4.0, "+++"), (40.0, "++"), (400.0, "+"), (np.inf, "−"))),
    Column("Robust", "noise", "{:.2f} × LS", "error with noise / that of least squares",
           ((1.25, "+"), (np.inf, "−"))),
    Column("Free boundary", "border", "{:.2f} %", "error at the border, in % of the depth's deviation",
           ((1.0, "+"), (np.inf, "−"))),
    Column("Discontinuities", "jumps", "{:.2f} × LS", "error beside jumps / that of least squares",
           ((0.5, "+++"), (0.7, "++"), (0.9, "+"), (np.inf, "−"))),
    Column("Any domain", "domain", "{:.2f} px", "error on a silhouette, in pixels",
           ((0.5, "+"), (np.inf, "−"))),
    Column("No parameter", "parameter", "× {:.1f}", "largest / least error over a decade of the parameter",
           ((1.05, "+"), (2.0, "−"), (np.inf, "−−"))),
    Column("Local minima", "starts", "{:.1f} px", "how far errors from four starts lie apart, in pixels",
           ((0.1, "No"), (np.inf, "Yes"))),
    Column("Staircasing", "steps", "{:.2f} %", "edges with a false step, in %, by our scheme or the paper's",
           ((0.05, "No"), (np.inf, "Yes"))),
)  # fmt: skip
# The rows, with the parameters that the paper, or the method's authors, recommend.
RECOMMENDED = {
    "dct": {},
    "sylvester": {},
    "quadratic": {},
    "total_variation": {},
    "phi1": {"beta": 0.5},
    "phi2": {"gamma": 1.0},
    "anisotropic_diffusion": {"mu": 0.2, "nu": 10.0},
    "mumford_shah": {"mu": 45.0},
    "bilateral": {"k": 2.0},
    "calibrated": {},
}
PAPER = {
    "quadratic": ("+++", "+", "+", "−", "+", "+", "No", "No"),
    "total_variation": ("+", "+", "+", "+", "+", "+", "No", "Yes"),
    "phi1": ("−", "+", "+", "+++", "+", "−", "Yes", "Yes"),
    "phi2": ("−", "+", "+", "+++", "+", "−", "Yes", "Yes"),
    "anisotropic_diffusion": ("−", "+", "+", "++", "+", "−−", "No", "No"),
    "mumford_shah": ("−", "+", "+", "+++", "+", "−−", "Yes", "Yes"),
}


class Table:
    """Table 1 of the paper with a number behind every sign.

    Parameters
    ----------
    measured : dict
        From method to the numbers that `COLUMNS` names, NaN where there is none.
    """

    note = "In brackets: the paper's sign where ours differs. The last two methods came after the paper."

    def __init__(self, measured):
        self.measured = measured

    @property
    def caption(self):
        """What stands below the table: what the numbers are, and which sign they get."""
        return "\n".join([self.note, *(column.legend() for column in COLUMNS)])

    def sign(self, method, column):
        """Return our sign, from the number and the limits of its column; "?" without a number."""
        return column.sign(self.measured[method][column.key])

    def cells(self):
        """Return the rows, with the method's name first, and the headings."""
        rows = []
        for method in self.measured:
            cells = [self._cell(method, k) for k in range(len(COLUMNS))]
            rows.append([CASES[method], *("\n".join(cell) for cell in cells)])
        return rows, ["", *(column.heading for column in COLUMNS)]

    def colours(self):
        """Return the background of every cell: orange where our sign and the paper's differ."""
        return [
            ["white", *("#fbe3cf" if self._differs(method, k) else "white" for k in range(len(COLUMNS)))]
            for method in self.measured
        ]

    def text(self):
        """Return the table in Markdown, with the limits of the signs below."""
        rows = [["method", *(column.heading for column in COLUMNS)], ["---"] * (len(COLUMNS) + 1)]
        rows += [
            [CASES[method], *(" ".join(self._cell(method, k)) for k in range(len(COLUMNS)))]
            for method in self.measured
        ]
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join([*lines, "", self.note, "", *(f"- {column.legend()}" for column in COLUMNS)])

    def disagreements(self, without=()):
        """Return a line for every sign that differs from the paper's, but those of the columns named."""
        return [
            f"{column.heading}: {CASES[method]} is {self.sign(method, column)}, the paper says "
            f"{PAPER[method][k]} ({column.written(self.measured[method][column.key])})"
            for k, column in enumerate(COLUMNS)
            for method in self.measured
            if column.heading not in without and self._differs(method, k)
        ]

    def _differs(self, method, k):
        return method in PAPER and self.sign(method, COLUMNS[k]) != PAPER[method][k]

    def _cell(self, method, k):
        paper = f" ({PAPER[method][k]})" if self._differs(method, k) else ""
        column = COLUMNS[k]
        return self.sign(method, column) + paper, column.written(self.measured[method][column.key])
