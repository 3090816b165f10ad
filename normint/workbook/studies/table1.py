"""The paper's Table 1 with a number behind every sign, and which numbers get which sign."""

import operator
from functools import reduce
from typing import NamedTuple

import numpy as np

from normint.workbook.cases import CASES
from normint.workbook.study import Study


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
RECTANGLES = ("dct", "sylvester")  # methods that take no mask
PAPER = {
    "quadratic": ("+++", "+", "+", "−", "+", "+", "No", "No"),
    "total_variation": ("+", "+", "+", "+", "+", "+", "No", "Yes"),
    "phi1": ("−", "+", "+", "+++", "+", "−", "Yes", "Yes"),
    "phi2": ("−", "+", "+", "+++", "+", "−", "Yes", "Yes"),
    "anisotropic_diffusion": ("−", "+", "+", "++", "+", "−−", "No", "No"),
    "mumford_shah": ("−", "+", "+", "+++", "+", "−−", "Yes", "Yes"),
}


def every_method(methods=tuple(RECOMMENDED), *, keep=(), **settings):
    """Return the study of all methods with their recommended parameters, on the same surface.

    Parameters
    ----------
    methods : sequence of str
    keep, **settings
        As for :meth:`normint.workbook.study.Study.over`; methods that take no mask get the whole image.
    """
    studies = (
        Study.over(
            **settings | ({"domain": "all"} if name in RECTANGLES and "domain" in settings else {}),
            method=name, **RECOMMENDED[name], keep=keep,
        )
        for name in methods
    )  # fmt: skip
    return reduce(operator.add, studies)


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
