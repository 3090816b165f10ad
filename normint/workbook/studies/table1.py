"""The numbers behind the signs of the paper's Table 1: what a method does at jumps, borders, smooth parts."""

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


# The columns of Table 1: heading, the measured number, how it is written, the largest number for each sign.
COLUMNS = (
    ("Fast", "time", "{:.3g} s/Mpx", ((0.0, ""),)),  # judged relative to DCT, see `Table.sign`
    ("Robust", "noise", "{:.2f} × LS", ((1.25, "+"), (np.inf, "-"))),
    ("Free boundary", "border", "{:.2f} %", ((1.0, "+"), (np.inf, "-"))),
    ("Discontinuities", "jumps", "{:.1f} px", ((0.5, "+++"), (0.7, "++"), (0.9, "+"), (np.inf, "-"))),
    ("Any domain", "domain", "{:.2f} px", ((0.5, "+"), (np.inf, "-"))),
    ("No parameter", "parameter", "× {:.1f}", ((1.05, "+"), (2.0, "-"), (np.inf, "--"))),
    ("Local minima", "starts", "{:.1f} px", ((0.1, "No"), (np.inf, "Yes"))),
    ("Staircasing", "steps", "{:.2f} %", ((0.05, "No"), (np.inf, "Yes"))),
)
TIMES_DCT = ((10.0, "+++"), (1000.0, "+"), (np.inf, "-"))
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
    "quadratic": ("+++", "+", "+", "-", "+", "+", "No", "No"),
    "total_variation": ("+", "+", "+", "+", "+", "+", "No", "Yes"),
    "phi1": ("-", "+", "+", "+++", "+", "-", "Yes", "Yes"),
    "phi2": ("-", "+", "+", "+++", "+", "-", "Yes", "Yes"),
    "anisotropic_diffusion": ("-", "+", "+", "++", "+", "--", "No", "No"),
    "mumford_shah": ("-", "+", "+", "+++", "+", "--", "Yes", "Yes"),
}


class Table:
    """Table 1 of the paper with a number behind every sign.

    Parameters
    ----------
    measured : dict
        From method to the numbers that `COLUMNS` names, NaN where there is none; "dct" and "quadratic" are
        what time and the error near jumps are relative to.
    """

    caption = "In brackets: the paper's sign where ours differs. The last two came after the paper."

    def __init__(self, measured):
        self.measured = measured

    def sign(self, method, column):
        """Return our sign, from the number and the limits of its column; "?" without a number."""
        key, limits = column[1], column[3]
        value = self.measured[method][key]
        if np.isnan(value):
            return "?"
        if key == "time":
            value, limits = value / self.measured["dct"]["time"], TIMES_DCT
        elif key == "jumps":
            value /= self.measured["quadratic"]["jumps"]
        return next(sign for limit, sign in limits if value <= limit)

    def cells(self):
        """Return the rows, with the method's name first, and the headings."""
        rows = []
        for method in self.measured:
            cells = [self._cell(method, k) for k in range(len(COLUMNS))]
            rows.append([CASES[method], *("\n".join(cell) for cell in cells)])
        return rows, ["", *(column[0] for column in COLUMNS)]

    def colours(self):
        """Return the background of every cell: orange where our sign and the paper's differ."""
        return [
            ["white", *("#fbe3cf" if self._differs(method, k) else "white" for k in range(len(COLUMNS)))]
            for method in self.measured
        ]

    def text(self, without=()):
        """Return the table in Markdown, without the columns named."""
        kept = [k for k, column in enumerate(COLUMNS) if column[0] not in without]
        rows = [["method", *(COLUMNS[k][0] for k in kept)], ["---"] * (len(kept) + 1)]
        rows += [
            [CASES[method], *(" ".join(self._cell(method, k)) for k in kept)] for method in self.measured
        ]
        return "\n".join("| " + " | ".join(row) + " |" for row in rows)

    def disagreements(self, without=()):
        """Return a line for every sign that differs from the paper's."""
        return [
            f"{column[0]}: {CASES[method]} is {self.sign(method, column)}, the paper says {PAPER[method][k]} "
            f"({column[2].format(self.measured[method][column[1]])})"
            for k, column in enumerate(COLUMNS)
            for method in self.measured
            if column[0] not in without and self._differs(method, k)
        ]

    def _differs(self, method, k):
        return method in PAPER and self.sign(method, COLUMNS[k]) != PAPER[method][k]

    def _cell(self, method, k):
        paper = f" ({PAPER[method][k]})" if self._differs(method, k) else ""
        value = self.measured[method][COLUMNS[k][1]]
        number = "not measured" if np.isnan(value) else COLUMNS[k][2].format(value)
        return self.sign(method, COLUMNS[k]) + paper, number
