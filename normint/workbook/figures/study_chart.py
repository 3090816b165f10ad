"""The picture of a study: a metric against what varies."""

import numpy as np
from pandas.api.types import is_numeric_dtype

from normint.integration import METHODS
from normint.workbook.figures.canvas import PAGE, new_figure, printed

MOST = 8  # curves that can be told apart
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255", "#000000")
MARKERS = "os^DvPX*"


@printed
def study_chart(table, metric, names):
    """Draw a metric against the number that takes most values, a curve for each of the other settings.

    Parameters
    ----------
    table : pandas.DataFrame
        As :meth:`normint.workbook.study.Study.run` returns it.
    metric : str
        A column. Bars show the standard deviation over draws.
    names : sequence of str
        The settings that vary, see :func:`normint.workbook.study.tables.varied`.

    Returns
    -------
    Figure
        At most eight curves: the first.
    """
    numbers = [name for name in names if is_numeric_dtype(table[name]) and table[name].dtype != bool]
    along = max(numbers, key=lambda name: table[name].nunique(), default=None)
    others = [name for name in names if name != along]
    figure = new_figure(PAGE, 3.4)
    axes = figure.add_subplot()
    groups = list(table.groupby(others, sort=False, dropna=False)) if others else [((), table)]
    for place, (values, rows) in enumerate(groups[:MOST]):
        values = values if isinstance(values, tuple) else (values,)
        pairs = zip(others, values, strict=True)
        label = ", ".join(_named(name, value) for name, value in pairs if value == value)  # NaN: it has none
        style = {"color": COLOURS[place], "label": label}
        marks = {**style, "marker": MARKERS[place], "capsize": 2, "markersize": 4}
        if along is None:
            axes.errorbar([place], rows[metric].mean(), rows[metric].std(ddof=0), linestyle="", **marks)
        elif rows[along].isna().all():  # it does not depend on that
            axes.axhline(rows[metric].mean(), linestyle="--", **style)
        else:
            found = rows.groupby(along)[metric].agg(["mean", lambda one: one.std(ddof=0)])
            axes.errorbar(found.index, *found.to_numpy().T, **marks)
    if along is None:
        axes.set_xticks([])
    elif _is_logarithmic(table[along].unique()):
        axes.set_xscale("log")
    axes.set(xlabel=along or "", ylabel="RMSE (pixels)" if metric == "rmse" else metric)
    axes.grid(alpha=0.3)
    if others:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    left_out = f" (the first {MOST} of {len(groups)} curves)" if len(groups) > MOST else ""
    axes.set_title(f"{len(table)} runs{left_out}")
    return figure


def _named(name, value):
    if name == "method":
        return METHODS[value].label
    return str(value) if name == "surface" else f"{name} {value}"


def _is_logarithmic(values):
    """Tell whether values are spaced more evenly on a logarithmic axis."""
    values = np.sort(np.asarray(values, float))
    values = values[np.isfinite(values)]
    if len(values) < 3 or values[0] <= 0:
        return False
    unevenness = [np.ptp(np.diff(one)) / np.ptp(one) for one in (np.log(values), values)]
    return unevenness[0] < unevenness[1]
