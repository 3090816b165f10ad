"""There is one list of methods, and what speaks of methods agrees with it."""

import re

import pytest

from normint import paths
from normint.integration import METHODS
from normint.workbook.cases import CASES
from normint.workbook.figures import charts
from normint.workbook.studies import open_problem, table1


def test_the_readme_names_all_methods_and_their_main_options():
    text = (paths.root() / "README.md").read_text(encoding="utf-8")
    table = text[text.index("| method | what it is |") :].partition("\n\n")[0]
    rows = [line.split("|") for line in table.splitlines()[2:]]
    named = {name: row[2] for row in rows for name in re.findall(r'`"(\w+)"`', row[1])}
    assert set(named) == set(METHODS)
    for name, method in METHODS.items():
        if method.option:
            assert re.search(rf"`{method.option}[`=]", named[name]), f"{name} without {method.option}"


def test_the_results_tell_methods_apart():
    assert len(set(CASES.values())) == len(METHODS)


@pytest.mark.parametrize("names", [charts.MARKERS, table1.RECOMMENDED], ids=["markers", "Table 1"])
def test_every_method_has_its_mark_and_its_row(names):
    assert set(names) == set(METHODS)


@pytest.mark.parametrize("names", [charts.LINES, table1.PAPER, open_problem.SWEEPS])
def test_the_other_lists_hold_some_of_the_methods(names):
    assert set(names) < set(METHODS)


def test_tables_vary_the_main_option_only():
    for name, (values, _) in open_problem.SWEEPS.items():
        assert bool(values) == bool(METHODS[name].option)
    for name, options in table1.RECOMMENDED.items():
        assert METHODS[name].option is None or METHODS[name].option in options
