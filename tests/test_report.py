"""The replication report: it says what the results say, and names what they lack."""

import csv
import sys

import pytest

from normint import cli, paths
from normint.workbook import overview, results, statements
from normint.workbook.cases import CASES
from normint.workbook.report import build
from normint.workbook.report import content as contents
from normint.workbook.report.experiments import EXPERIMENTS, OPEN
from normint.workbook.studies.table1 import COLUMNS

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


def rewrite(folder, change):
    """Pass the rows of results.csv through a function that returns them changed, or None to leave one out."""
    rows = [row for row in map(change, results.read(folder)) if row]
    write(folder / "results.csv", results.COLUMNS, rows)


def write(path, columns, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with made-up results, as small as the report can be made from."""
    monkeypatch.setenv("NORMINT_FIGURES", str(tmp_path))
    keys = [key[:3] for *_, keys in (*EXPERIMENTS, *overview.FINDINGS, OPEN) for key in keys.values()]
    printed = {key: f"{value:.2f}" for key, value in results.paper_values().items()}
    other = {"ours": "7.25", "spread": "0.25", "data": "generated", "verdict": "not reproduced: made up"}
    names = ("figure", "case", "metric")
    rows = [dict(zip(names, key, strict=True)) | other | {"paper": printed.get(key, "")}
            for key in dict.fromkeys([*printed, *keys])]  # fmt: skip
    write(tmp_path / "results.csv", results.COLUMNS, rows)
    claims = [number for number, one in statements.statements().items() if one.kind == "claim"]
    answers = [{"number": number, "verdict": "disagrees" if number == 16 else "agrees", "data": "generated",
                "evidence": f"made up for {number}"} for number in claims]  # fmt: skip
    write(tmp_path / "statements.csv", statements.COLUMNS, answers)
    headings = ["method", *(heading for heading, *_ in COLUMNS)]
    lines = [headings, ["---"] * len(headings)]
    lines += [[label, *["+ (-) 1.5"] * (len(headings) - 1)] for label in CASES.values()]
    (tmp_path / "table1.md").write_text("".join(f"| {' | '.join(line)} |\n" for line in lines))
    for name in contents.PICTURES:
        (tmp_path / f"{name}.png").write_bytes(PIXEL)
    return tmp_path


def test_it_is_a_pdf_that_changes_with_a_number_and_with_nothing_else(folder, tmp_path):
    first, again, other = (tmp_path / f"{name}.pdf" for name in ("first", "again", "other"))
    assert build(first) == first and first.read_bytes().startswith(b"%PDF")
    build(again)
    assert again.read_bytes() == first.read_bytes()
    rewrite(folder, lambda row: row | {"ours": "7.125"} if row["case"] == "from zero, L=8" else row)
    build(other)
    assert other.read_bytes() != first.read_bytes()


def test_every_number_of_an_experiment_is_read(folder):
    rows = results.read(folder)
    for *_, text, keys in (*EXPERIMENTS, OPEN):
        before = overview.told(text, keys, overview.Published(rows))
        for figure, case, metric, *rest in keys.values():
            key, column = {"figure": figure, "case": case, "metric": metric}, rest[0] if rest else "ours"
            changed = [row | {column: "54.3"} if key.items() <= row.items() else row for row in rows]
            after = overview.told(text, keys, overview.Published(changed))
            assert after != before and "54" in after


def test_a_missing_number_is_named(folder):
    rewrite(folder, lambda row: row if row["case"] != "from zero, L=8" else None)
    with pytest.raises(ValueError, match="results.csv has no row fig09, from zero, L=8, RMSE"):
        build(folder / "report.pdf")
    assert not (folder / "report.pdf").exists()


def test_a_missing_spread_is_named(folder):
    rewrite(folder, lambda row: row | {"spread": ""} if row["case"] == "sigma=1%" else row)
    with pytest.raises(ValueError, match="no spread in the row fig07, sigma=1%, RMSE"):
        contents.content()


def test_missing_answers_and_figures_are_named(folder):
    (folder / "open_vase.png").unlink()
    with pytest.raises(ValueError, match=r"has no open_vase.png; run the workbook"):
        build(folder / "report.pdf")
    text = (folder / "statements.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith(("16,", "17,"))]
    (folder / "statements.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no verdict on the statements 16, 17; run the workbook"):
        build(folder / "report.pdf")


def test_tables_hold_every_printed_number_and_every_claim_that_disagrees(folder):
    said = contents.content()
    head, *rows = said["numbers"]
    assert [row[3] for row in rows] == [f"{value:.2f}" for value in results.paper_values().values()]
    assert [row[0] for row in said["disagreements"]] == ["16"]
    assert said["disagreements"][0][3] == "made up for 16"
    assert said["counts"][-1][-1] == str(len(statements.statements()))
    assert len(said["table1"]) == 1 + len(CASES)


def test_the_abstract_counts_verdicts(folder):
    claims = sum(one.kind == "claim" for one in statements.statements().values())
    said = contents.content()["abstract"]
    assert f"{claims - 1} hold, 0 hold in part, and 1 do not" in said
    first = next(iter(results.paper_values()))
    near = {"ours": str(results.paper_values()[first]), "verdict": "reproduced within 0.1"}
    before = int(said.split(" come out within")[0].split()[-1])
    rewrite(folder, lambda row: row | near if (row["figure"], row["case"]) == first[:2] else row)
    after = int(contents.content()["abstract"].split(" come out within")[0].split()[-1])
    assert after == before + 1


def test_versions_are_those_of_the_lock(tmp_path):
    lock = (paths.root() / "requirements.lock").read_text(encoding="utf-8")
    found = contents.versions()
    assert f"numpy=={found['numpy']}" in lock.splitlines()
    assert found["Python"].startswith("3.")
    (tmp_path / "requirements.lock").write_text("# Written by make lock on Python 3.11.7, for make LOCK=1.\n")
    with pytest.raises(ValueError, match="requirements.lock has no numpy, scipy"):
        contents.versions(tmp_path)


def test_the_command_prints_where_it_is(folder, capsys):
    out = folder / "pages.pdf"
    assert cli.main(["report", "--out", str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out) and out.exists()
    assert cli.main(["report", "--out", str(folder / "pages.txt")]) == 2
    assert "expected a file that ends with .pdf" in capsys.readouterr().err


@pytest.mark.parametrize("library", ["typst", "yaml"])
def test_a_missing_library_is_named_with_its_extra(folder, library, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, library, None)
    assert cli.main(["report", "--out", str(folder / "pages.pdf")]) == 1
    told = f"the report needs {library}, which is not installed; pip install 'normint[report]'"
    assert capsys.readouterr().err == f"normint: error: {told}\n"
