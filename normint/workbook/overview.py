"""What the workbook found, at a glance: read from the results that its notebooks wrote."""

import re

from normint import paths
from normint.workbook import results
from normint.workbook.cases import CASES
from normint.workbook.notebook_files import read_notebook, source
from normint.workbook.studies import table1

__all__ = ["Published", "decision", "findings", "notebook_map", "told"]

PAPER = [CASES[name] for name in table1.PAPER]
LATER = [CASES[name] for name in ("bilateral", "calibrated")]


# What the paper does not say: a sentence, and where its numbers stand in the results.
FINDINGS = [
    ("""On a rectangle, least squares and the DCT are **the same linear system**: RMSE {ls:.4f} and {dct:.4f}
        on peaks. The paper's gap appears against a DCT that drops part of the border: {dropped:.4f}.""",
     {"ls": ("fig03", "quadratic, sigma=10%", "RMSE"), "dct": ("fig03", "DCT, sigma=10%", "RMSE"),
      "dropped": ("fig03", "DCT, border dropped, sigma=10%", "RMSE")}),
    ("""**λ = 10⁻⁶ is not harmless**: at 2048×2048 pixels it takes away {lost:.0%} of the slowest mode.""",
     {"lost": ("fig03", "slowest mode lost, n=2048", "share")}),
    ("""**Figure 12's best values are those without noise**, or with next to none. Without any they come out
        to the digit: {low:.2f} and {middle:.2f}; with the 1 % of its caption we have {noisy_low:.2f} and
        {noisy_middle:.2f}.""",
     {"low": ("fig12", "mu=0.02, noise nowhere", "RMSE"),
      "middle": ("fig12", "mu=0.2, noise nowhere", "RMSE"),
      "noisy_low": ("fig12", "mu=0.02", "RMSE"), "noisy_middle": ("fig12", "mu=0.2", "RMSE")}),
    ("""**Figure 8 shows unfinished runs**: β = 0.5 gives {early:.2f} after 1000 iterations, and {late:.2f} at
        a lower energy.""",
     {"early": ("fig08", "beta=0.5", "RMSE"), "late": ("fig08", "beta=0.5, fast scheme", "RMSE")}),
    ("""**Anisotropic diffusion depends on its start**: by {spread:.1f} pixels on the tent.""",
     {"spread": ("fig14", "starts, diffusion, μ = 0.2", "RMSE spread")}),
    ("""On the Cat, methods that the paper left out of Figure 11 beat least squares ({ls:.1f}°) too: Φ1
        {phi:.1f}°, Mumford-Shah {shah:.1f}°, total variation {tv:.1f}°. Diffusion has {diffusion:.1f}°.""",
     {"ls": ("fig11", "quadratic, sigma=5%", "MAE (deg)"), "phi": ("fig11", "Φ1, sigma=5%", "MAE (deg)"),
      "shah": ("fig11", "Mumford-Shah, sigma=5%", "MAE (deg)"),
      "tv": ("fig11", "total variation, sigma=5%", "MAE (deg)"),
      "diffusion": ("fig11", "diffusion, sigma=5%", "MAE (deg)")}),
    ("""**Figure 16 keeps a quarter of the information**, not a tenth: {kept:.0%}, with slopes and positions.
        Least squares restores it better than Mumford-Shah: {ls:.1f} against {shah:.1f} dB.""",
     {"kept": ("fig16", "kept, colours, slopes and positions", "part of the image"),
      "ls": ("fig16", "quadratic", "PSNR"), "shah": ("fig16", "Mumford-Shah", "PSNR")}),
]  # fmt: skip


class Published:
    """The numbers in `figures/results.csv`, real ones before those of stand-ins."""

    def __init__(self, rows=None):
        rows = results.read(paths.root() / "figures") if rows is None else rows
        preferred = sorted(rows, key=lambda row: row["data"] != "stand-in")
        self._rows = {(row["figure"], row["case"], row["metric"]): row for row in preferred}

    def __call__(self, figure, case, metric, column="ours"):
        """Return a number, by default ours; those of the paper and spreads over draws are other columns."""
        key = figure, case, metric
        if key not in self._rows or not self._rows[key][column]:
            what = "row" if column == "ours" else f"{column} in the row"
            raise ValueError(
                f"figures/results.csv has no {what} {', '.join(key)}; run the workbook to make it"
            )
        return float(self._rows[key][column])

    def bars(self, figure, metric, cases):
        """Return numbers by label."""
        return {label: self(figure, case, metric) for label, case in cases.items()}


def decision(rows=None):
    """Return the questions that lead to a method, each with what we measured.

    Parameters
    ----------
    rows : list of dict, optional
        Results as :func:`normint.workbook.results.read` gives them; by default the published ones.

    Returns
    -------
    list of dict
        ``question``, ``method``, ``bars`` (from label to number), ``ours`` (the label of its own bar) and
        ``measure`` (what the numbers are).
    """
    value = Published(rows)
    every = {name: name for name in PAPER}
    tuned = {"Φ1": "Φ1, β = 0.5", "Φ2": "Φ2, γ = 1", "diffusion": "diffusion, μ = 0.2",
             "Mumford-Shah": "Mumford-Shah, μ = 20"}  # fmt: skip
    on_cat = {name: f"{name}, sigma=5%" for name in PAPER if name != "Φ2"}
    off = value.bars("table1", "RMSE factor over a decade", {name: name for name in (*tuned, "bilateral")})
    sturdy = min(("Φ1", "Φ2"), key=off.get)  # the two are close, and which is ahead may change
    questions = [
        ("Smooth, a full rectangle,\nand speed above all?", "dct", "DCT",
         "time in units of the DCT's, 1024×1024 pixels",
         {"DCT": 1.0} | value.bars("fig03", "time / DCT", {
             "quadratic": "quadratic, n=1024", "Sylvester": "Sylvester, n=1024"})),
        ("Smooth, or cut out by a mask\nalong its jumps?", "quadratic", "on the mask",
         "RMSE of least squares on the vase (pixels)",
         value.bars("fig04", "RMSE", {"on the mask": "mask", "on the whole grid": "grid"})),
        ("From photographs,\nand nothing to tune?", "anisotropic_diffusion", "diffusion",
         "mean angular error on the Cat (degrees)", value.bars("fig11", "MAE (deg)", on_cat)),
        ("It jumps, but seconds count\nmore than accuracy?", {"Φ1": "phi1", "Φ2": "phi2"}[sturdy], sturdy,
         "worst over best error when the parameter is off by √10", off),
        ("It jumps, or may jump:\npiecewise smooth?", "calibrated", "calibrated",
         "RMSE beside the vase's outline (pixels)",
         value.bars("table1", "RMSE near jumps", every | {name: name for name in LATER})),
        ("Outliers rather than jumps,\nand no surprises?", "total_variation", "total variation",
         "how much the error depends on the start (pixels)",
         value.bars("fig14", "RMSE spread", {
             name: f"starts, {case}" for name, case in (every | tuned).items()})),
    ]  # fmt: skip
    names = ("question", "method", "ours", "measure", "bars")
    return [dict(zip(names, question, strict=True)) for question in questions]


def findings(rows=None):
    """Return what the paper does not say, as a Markdown list with our numbers.

    Parameters
    ----------
    rows : list of dict, optional
        As for :func:`decision`.
    """
    value = Published(rows)
    return "\n".join("- " + told(text, keys, value) for text, keys in FINDINGS)


def told(text, keys, value):
    """Put numbers into a text.

    Parameters
    ----------
    text : str
        With names in braces.
    keys : dict
        From each name to where its number stands in the results.
    value : Published
    """
    return " ".join(text.split()).format(**{name: value(*key) for name, key in keys.items()})


def notebook_map():
    """Return a Markdown table of the notebooks: their titles, as links, and what of the paper they show."""
    lines = ["| notebook | of the paper |", "| --- | --- |"]
    for path in sorted((paths.root() / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        first = source(read_notebook(path)["cells"][0])
        title = re.search(r"^# (.+)$", first, flags=re.M)[1]
        shown = re.search(r"^\*(.+?)\.?\*$", first, flags=re.M)
        lines.append(f"| [{title}]({path.name}) | {shown[1] if shown else ''} |")
    return "\n".join(lines)
