"""What the start page says is what the results say."""

import re

import pytest

from normint import paths
from normint.integration import METHODS
from normint.workbook import overview, results
from normint.workbook.notebook_files import chapters

ROWS = results.read(paths.root() / "figures")


def changed(figure, case, metric, ours):
    """Return the published rows with one number replaced."""
    key = {"figure": figure, "case": case, "metric": metric}
    return [row | {"ours": ours} if key.items() <= row.items() else row for row in ROWS]


def test_findings_show_the_numbers_of_the_results():
    assert "to the digit: 2.38 and 2.19" in overview.findings()
    other = overview.findings(changed("fig12", "mu=0.2, noise nowhere", "RMSE", "7.654"))
    assert "to the digit: 2.38 and 7.65" in other
    assert not re.search(r"[{}]", other)


def test_what_the_findings_say_about_their_numbers_is_so():
    value = overview.Published(ROWS)
    assert value("fig03", "quadratic, sigma=10%", "RMSE") == value("fig03", "DCT, sigma=10%", "RMSE")
    for mu in ("0.02", "0.2", "2"):
        none, ten, one = (value("fig12", f"160x160, mu={mu}, nu={nu}", "RMSE") for nu in ("1e+06", "10", "1"))
        assert none < ten < one
    runs = ("beta=0.5, fast scheme", "beta=0.5", "beta=0.5, 4000 iPiano iterations")
    late, early, later = (value("fig08", run, "RMSE") for run in runs)
    assert late < early < later
    assert value("fig08", "beta=1", "RMSE") < value("fig08", "beta=1, fast scheme", "RMSE")
    assert value("fig12", "mu=2, last energy / that of least squares", "ratio") > 1
    epsilons = ("mu=45, fast scheme", "mu=45, epsilon=0.1, fast scheme")
    assert 1.5 * value("fig13", epsilons[0], "RMSE") < value("fig13", epsilons[1], "RMSE")
    assert value("fig13", "mu=100, fast scheme", "RMSE") < value("fig13", "mu=100", "RMSE")
    below, above = (value("fig14", f"slope {slope}, from zero", "RMSE") for slope in ("1.6", "1.7"))
    assert below < 1 and above > 10 * value("fig14", "slope 1.7, from least squares", "RMSE")
    near = value.bars("table1", "RMSE near jumps", {name: name for name in overview.PAPER})
    assert min(near, key=near.get) == "Mumford-Shah"
    assert value("table1", "calibrated", "RMSE near jumps") < near["Mumford-Shah"]


def test_the_readme_gets_what_it_has_markers_for(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("a\n<!-- findings:begin -->\nold\n<!-- findings:end -->\nb\n")
    rows = changed("fig12", "mu=0.2, noise nowhere", "RMSE", "7.654")
    for _ in range(2):
        overview.update_readme(readme, rows)
    before, text, after = re.split(r"<!-- findings:(?:begin|end) -->", readme.read_text())
    assert (before, text.strip(), after) == ("a\n", overview.findings(rows), "\nb\n")


def test_a_missing_number_is_named():
    rows = [row for row in ROWS if row["figure"] != "fig08"]
    with pytest.raises(ValueError, match=r"results.csv has no row fig08, beta=0.5, RMSE; run the workbook"):
        overview.findings(rows)


def test_real_data_comes_before_a_stand_in():
    rows = [{"figure": "fig10", "case": "diffusion", "metric": "MAE (deg)", "data": data, "ours": ours}
            for data, ours in (("real", "8"), ("stand-in", "11"))]  # fmt: skip
    for order in (rows, rows[::-1]):
        assert overview.Published(order)("fig10", "diffusion", "MAE (deg)") == 8


def test_every_question_leads_to_a_method_and_to_its_own_bar():
    questions = overview.decision()
    assert {item["method"] for item in questions} <= set(METHODS)
    for item in questions:
        assert item["ours"] in item["bars"]
        assert all(number >= 0 for number in item["bars"].values())
    assert {"quadratic", "calibrated"} <= {item["method"] for item in questions}
    # What is recommended for its error has the smallest one.
    for item in questions[:5]:
        assert min(item["bars"], key=item["bars"].get) == item["ours"]


def test_the_map_has_every_notebook():
    shown = overview.notebook_map()
    for path in chapters(paths.root() / "notebooks"):
        assert f"({path.name})" in shown
