"""What the workbook found, at a glance: read from the results that its notebooks wrote."""

import re
from pathlib import Path

from normint import paths
from normint.workbook import results
from normint.workbook.cases import CASES
from normint.workbook.notebook_files import chapters, read_notebook, source
from normint.workbook.studies import table1

__all__ = ["Published", "decision", "findings", "notebook_map", "told", "update_readme"]

PAPER = [CASES[name] for name in table1.PAPER]
LATER = [CASES[name] for name in ("bilateral", "calibrated")]


# What the paper does not say: a sentence, and where its numbers stand in the results.
FINDINGS = [
    ("""**The printed matrix D_v** of the 3×3 example has one wrong entry, in its last row.""", {}),
    ("""On a rectangle, least squares and the DCT are **the same linear system**: RMSE {ls:.4f} and {dct:.4f}
        on peaks. The paper's gap appears against a DCT that drops part of the border: {dropped:.4f}.""",
     {"ls": ("fig03", "quadratic, sigma=10%", "RMSE"), "dct": ("fig03", "DCT, sigma=10%", "RMSE"),
      "dropped": ("fig03", "DCT, border dropped, sigma=10%", "RMSE")}),
    ("""**λ = 10⁻⁶ is not harmless**: at 2048×2048 pixels it takes away {lost:.0%} of the slowest mode.
        Without a prior we use λ = 0, and fix the constant of each piece afterwards.""",
     {"lost": ("fig03", "slowest mode lost, n=2048", "share")}),
    ("""**Figure 12's best values are those without noise**, or with next to none. Without any they come out
        to the digit: {low:.2f} and {middle:.2f}; with the 1 % of its caption we have {noisy_low:.2f} and
        {noisy_middle:.2f}.""",
     {"low": ("fig12", "mu=0.02, noise nowhere", "RMSE"),
      "middle": ("fig12", "mu=0.2, noise nowhere", "RMSE"),
      "noisy_low": ("fig12", "mu=0.02", "RMSE"), "noisy_middle": ("fig12", "mu=0.2", "RMSE")}),
    ("""**Figure 8 shows unfinished runs**: β = 0.5 gives RMSE {early:.2f} after 1000 iterations, {later:.2f}
        after 4000, and {late:.2f} by a scheme that reaches a lower energy. With β = 1 the lower energy is no
        better: {wide:.2f} and {wide_late:.2f}.""",
     {"early": ("fig08", "beta=0.5", "RMSE"), "later": ("fig08", "beta=0.5, 4000 iPiano iterations", "RMSE"),
      "late": ("fig08", "beta=0.5, fast scheme", "RMSE"), "wide": ("fig08", "beta=1", "RMSE"),
      "wide_late": ("fig08", "beta=1, fast scheme", "RMSE")}),
    ("""**ν makes diffusion worse on the vase**, for each μ that we tried: with μ = 0.2, at half the size,
        RMSE {one:.2f} with ν = 1, {ten:.2f} with the paper's ν = 10, and {none:.2f} without it.""",
     {"one": ("fig12", "160x160, mu=0.2, nu=1", "RMSE"), "ten": ("fig12", "160x160, mu=0.2, nu=10", "RMSE"),
      "none": ("fig12", "160x160, mu=0.2, nu=1e+06", "RMSE")}),
    ("""**Diffusion may end above the energy that it began with**: with μ = 2 at {ratio:.2f} times that of
        least squares. And it depends on its start: by {spread:.1f} pixels on the tent.""",
     {"ratio": ("fig12", "mu=2, last energy / that of least squares", "ratio"),
      "spread": ("fig14", "starts, diffusion, μ = 0.2", "RMSE spread")}),
    ("""**Figure 13 needs ε = 0.01**, not the 0.1 of the text: with μ = 45, RMSE {narrow:.2f} and {wide:.2f}.
        Its third value is that of an inner iteration cut short: μ = 100 gives {cut:.2f}, and solved further
        {solved:.2f}.""",
     {"narrow": ("fig13", "mu=45, fast scheme", "RMSE"),
      "wide": ("fig13", "mu=45, epsilon=0.1, fast scheme", "RMSE"), "cut": ("fig13", "mu=100", "RMSE"),
      "solved": ("fig13", "mu=100, fast scheme", "RMSE")}),
    ("""**Mumford-Shah depends on its start where slopes are steep**: from zero, the paper's scheme has RMSE
        {below:.2f} on a tent of slope 1.6, and {above:.2f} at slope 1.7; from least squares {good:.2f}.""",
     {"below": ("fig14", "slope 1.6, from zero", "RMSE"), "above": ("fig14", "slope 1.7, from zero", "RMSE"),
      "good": ("fig14", "slope 1.7, from least squares", "RMSE")}),
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
    ("""**Jumps can be found without a parameter to tune**: beside the outline of the vase, `calibrated` has
        RMSE {ours:.2f} pixels, Mumford-Shah, the best of the paper's methods there, {shah:.2f}.""",
     {"ours": ("table1", "calibrated", "RMSE near jumps"),
      "shah": ("table1", "Mumford-Shah", "RMSE near jumps")}),
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
    for path in chapters(paths.root() / "notebooks"):
        first = source(read_notebook(path)["cells"][0])
        title = re.search(r"^# (.+)$", first, flags=re.M)[1]
        shown = re.search(r"^\*(.+?)\.?\*$", first, flags=re.M)
        lines.append(f"| [{title}]({path.name}) | {shown[1] if shown else ''} |")
    return "\n".join(lines)


def update_readme(path, rows=None):
    """Write the table of results and the findings into `path`, where its markers are.

    Parameters
    ----------
    path : path
    rows : list of dict, optional
        As for :func:`decision`.
    """
    rows = results.read(paths.root() / "figures") if rows is None else rows
    text = Path(path).read_text(encoding="utf-8")
    for name, part in (("results", results.table), ("findings", findings)):
        if results.BEGIN.format(name) in text:
            results.write_between(path, name, part(rows))
