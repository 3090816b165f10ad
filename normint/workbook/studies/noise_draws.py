"""What the notebooks do again and again: a method on many noise draws, set beside the paper's numbers."""

from dataclasses import dataclass

import numpy as np

from normint.workbook.results import paper_values, record
from normint.workbook.study import Study


@dataclass(frozen=True)
class First:
    """The result for the first draw.

    Attributes
    ----------
    depth, energies : ndarray
    iterations : int
    """

    depth: np.ndarray
    energies: np.ndarray
    iterations: int


@dataclass(frozen=True)
class Runs:
    """A method on several noise draws.

    Attributes
    ----------
    first : First
    errors : ndarray
        RMSE of every draw.
    """

    first: First
    errors: np.ndarray

    @property
    def mean(self):
        """The mean error."""
        return float(np.mean(self.errors))

    @property
    def spread(self):
        """The standard deviation of the errors over draws."""
        return float(np.std(self.errors))


def over_seeds(surface, sigma, seeds, **options):
    """Integrate a surface's gradient with noise, once for every seed.

    Parameters
    ----------
    surface : str
        See :data:`normint.workbook.study.cases.CASES`.
    sigma : float
        Noise level, see :meth:`normint.surfaces.Surface.with_noise`. Without noise one draw is enough.
    seeds : sequence of int
    **options
        For :func:`normint.workbook.study.integrated`: those of the surface, and of the method.

    Returns
    -------
    Runs

    Examples
    --------
    >>> runs = over_seeds("peaks", 0.1, range(3), n=32, method="dct")
    >>> len(runs.errors), runs.spread < runs.mean
    (3, True)
    """
    study = Study.over(surface=surface, sigma=sigma, seed=seeds, **options, keep=("depth", "energies"))
    table = study.run(label=options.get("method", ""))
    return Runs(First(**study.arrays(), iterations=int(table["iterations"][0])), table["rmse"].to_numpy())


def titled_depths(figure, runs, labels=None):
    """Return the depths of the first draws by title, with our error and the paper's, for a figure.

    Parameters
    ----------
    figure : str
    runs : dict
        From case to :class:`Runs`.
    labels : dict, optional
        Replacements for parts of the cases' names, such as ``{"mu=": "μ = "}``.
    """
    paper, titles = paper_values(), {}
    for case, run in runs.items():
        label = case
        for old, new in (labels or {}).items():
            label = label.replace(old, new)
        printed = paper.get((figure, case, "RMSE"))  # none where a parameter was varied
        beside = "" if printed is None else f" (paper: {printed:.2f})"
        titles[f"{label}\nRMSE {run.errors[0]:.2f}{beside}"] = run.first.depth
    return titles


def report(figure, runs, *, tolerance, note="", reasons=None):
    """Print our errors beside the paper's and record them.

    Parameters
    ----------
    figure : str
        ``"fig08"``.
    runs : dict
        From case, as in `data/paper_values.csv`, to :class:`Runs`.
    tolerance : float
        How far our mean may be from the paper's single draw to count as reproduced.
    note : str
        Settings, for all cases.
    reasons : dict, optional
        From case to why it is not reproduced.
    """
    paper = paper_values()
    width = max(len(case) for case in runs)
    print(f"{'':{width}}   paper   this draw   all draws       verdict")
    for case, run in runs.items():
        count = len(run.errors)
        text = f"first draw {run.errors[0]:.2f}, mean of {count}; {note}" if count > 1 else note
        verdict = record(
            figure, case, "RMSE", run.mean, spread=run.spread if count > 1 else None,
            tolerance=tolerance, note=text, reason=(reasons or {}).get(case, ""),
        )  # fmt: skip
        every = f"{run.mean:.2f} ± {run.spread:.2f}" if count > 1 else "one draw"
        printed = paper.get((figure, case, "RMSE"), np.nan)
        print(
            f"{case:{width}}   {printed:5.2f}   {run.errors[0]:9.2f}   {every:11}     "
            f"{verdict.partition(':')[0]}"
        )
