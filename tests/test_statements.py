"""The statements of the paper: all of them are listed, and answers are kept as results are."""

import collections
import csv
import json
import subprocess
import sys
from unittest import mock

import pytest

from normint.workbook import results, statements
from normint.workbook.notebook_files import MADE
from normint.workbook.statements import VERDICTS, answer
from normint.workbook.studies import table1


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NORMINT_FIGURES", str(tmp_path))
    monkeypatch.delenv("NORMINT_RUN", raising=False)
    return tmp_path


def of_kind(kind):
    return [one for one in statements.statements().values() if one.kind == kind]


def test_every_statement_says_something_once():
    found = statements.statements()
    assert list(sorted(found)) == list(range(1, len(found) + 1))
    assert {one.kind for one in found.values()} == set(statements.KINDS)
    texts = collections.Counter(one.statement for one in found.values())
    assert texts.most_common(1)[0][1] == 1
    assert all(one.section and one.statement.endswith(".") for one in found.values())


def test_the_numbers_are_those_that_the_paper_prints():
    assert [(one.figure, one.case, one.metric) for one in of_kind("number")] == list(results.paper_values())


def test_the_signs_are_those_of_table_1():
    methods = dict.fromkeys("nonconvex" if name.startswith("phi") else name for name in table1.PAPER)
    expected = {("table1", method, column[0]) for method in methods for column in table1.COLUMNS}
    signs = of_kind("sign")
    assert {(one.figure, one.case, one.metric) for one in signs} == expected and len(signs) == 40


def test_an_answer_is_one_row_with_the_place_of_the_cell(folder):
    answer(38, "agrees", "eight\n rows")
    answer(38, "partly", "seven rows")
    answer(1, "not testable here", "no paper at hand")
    with open(folder / "statements.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == "number verdict evidence data notebook cell".split()
    assert [row[:4] for row in rows] == [
        ["1", "not testable here", "no paper at hand", "generated"],
        ["38", "partly", "seven rows", "generated"],
    ]
    assert tuple(rows[1][4:]) == statements.places().get(38, ("", ""))


def test_real_data_outlive_stand_ins():
    answer(83, "disagrees", "stand-in: 13.0", data="stand-in")
    answer(83, "agrees", "the Cat: 9.2", data="real")
    answer(83, "disagrees", "stand-in: 13.1", data="stand-in")
    (row,) = statements.read()
    assert (row["verdict"], row["data"]) == ("agrees", "real")


def test_rounding_leaves_a_row_as_it_is(folder):
    answer(16, "agrees", "order 1.98")
    answer(16, "agrees", "order 1.99")
    assert statements.read()[0]["evidence"] == "order 1.98"
    answer(16, "agrees", "order 1.91")
    assert statements.read()[0]["evidence"] == "order 1.91"


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("number", {"number": 0}),
        ("number", {"number": 10_000}),
        ("number", {"number": True}),
        ("number", {"number": "16"}),
        ("number", {"number": 108}),  # a printed number: its verdict is not for us to say
        ("verdict", {"verdict": "perhaps"}),
        ("verdict", {"verdict": None}),
        ("evidence", {"evidence": " "}),
        ("evidence must give a reason", {"verdict": "not testable here", "evidence": ""}),
        ("evidence", {"evidence": 1.98}),
        ("data", {"data": "made up"}),
    ],
)
def test_bad_input_names_the_argument(argument, call, folder):
    with pytest.raises(ValueError, match=argument):
        answer(**{"number": 16, "verdict": "agrees", "evidence": "order 1.98", **call})
    assert not (folder / "statements.csv").exists()


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("16,perhaps,1.98,generated,,", "in row 1, verdict must be one of agrees"),
        ("x,agrees,1.98,generated,,", "in row 1, number must be"),
        ("16,agrees,,generated,,", "row 1 has no evidence"),
        ("16,agrees,1.98,made up,,", "in row 1, data must be one of"),
    ],
)
def test_a_damaged_file_says_so(folder, row, why):
    (folder / "statements.csv").write_text(",".join(statements.COLUMNS) + f"\n{row}\n")
    with pytest.raises(ValueError, match=rf"statements.csv is damaged: {why}.*git checkout"):
        statements.read()


def test_many_processes_at_once_lose_no_answer():
    code = (
        "import sys; from normint.workbook.statements import answer\n"
        "for number in range(*map(int, sys.argv[1:])): answer(number, 'agrees', 'shown')"
    )
    ranges = (("1", "15"), ("15", "29"))
    processes = [subprocess.Popen([sys.executable, "-c", code, *ends]) for ends in ranges]
    assert [process.wait() for process in processes] == [0, 0]
    assert sorted(int(row["number"]) for row in statements.read()) == list(range(1, 29))


def test_the_run_hears_of_it(monkeypatch):
    shell = mock.Mock()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    monkeypatch.setenv("NORMINT_RUN", "1")
    answer(16, VERDICTS[0], "order 1.98", data="real")
    assert shell.display_pub.publish.call_args.kwargs["data"][MADE] == {"data": "real", "key": ("16",)}


def test_every_claim_is_answered_in_one_cell():
    answered = statements.places()  # which refuses what two cells answer
    assert sorted(answered) == sorted(one.number for one in of_kind("claim"))


def test_what_is_answered_twice_is_refused(tmp_path, monkeypatch):
    source = 'x = 1\nanswer(16, "agrees", "shown")'
    cell = {"cell_type": "code", "id": "one", "metadata": {}, "execution_count": None, "source": source}
    page = {"cells": [{**cell, "outputs": []}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "notebooks").mkdir()
    for name in ("01_one", "02_two"):
        (tmp_path / "notebooks" / f"{name}.ipynb").write_text(json.dumps(page))
    monkeypatch.setattr(statements.paths, "root", lambda: tmp_path)
    with pytest.raises(ValueError, match="statement 16 is answered twice"):
        statements.places()
