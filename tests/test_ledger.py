"""The ledger: it misses no statement, and says what the files say."""

import re

import pytest

from normint import paths
from normint.workbook import ledger, statements
from normint.workbook.notebook_files import chapters, read_notebook

HEADER = "number,verdict,evidence,data,notebook,cell\n"
RESULTS = "figure,case,metric,paper,ours,spread,data,verdict,note\n"
TABLE = """| method | Fast | Robust | Free boundary | Discontinuities | Any domain | No parameter | Local minima | Staircasing |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| quadratic | +++ 1 × DCT | + 1.00 × LS | + 0.03 % | − 1.00 × LS | + 0.11 px | + × 1.0 | No 0.0 px | No 0.00 % |
| Φ1 | − 900 × DCT | + 1.03 × LS | + 0.03 % | ++ (+++) 0.69 × LS | + 0.25 px | − × 1.8 | Yes 4.0 px | Yes 0.06 % |
| Φ2 | + (−) 90 × DCT | + 1.02 × LS | + 0.03 % | + (+++) 0.76 × LS | + 0.24 px | − × 1.7 | Yes 1.8 px | Yes 0.06 % |

In brackets: the paper's sign where ours differs.
"""  # noqa: E501


def by_key(found):
    return {
        (e.statement.figure, e.statement.case, e.statement.metric): e for e in found if e.statement.figure
    }


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "statements.csv").write_text(HEADER + "16,partly,a|b,generated,02_peaks,02-18-order\n")
    rows = [
        "fig04,mask,RMSE,0.11,0.1082,,generated,reproduced within 0.02,",
        "fig04,grid,RMSE,4.66,9,,generated,not reproduced: why,",
    ]
    rows += [
        "fig10,diffusion,MAE (deg),8.43,8.2,,real,reproduced within 0.25,",
        "fig10,diffusion,MAE (deg),8.43,11,,stand-in,not reproduced: stand-in data,",
    ]
    rows += ["fig10,least squares,MAE (deg),9.29,13,,stand-in,not reproduced: stand-in data,"]
    (tmp_path / "results.csv").write_text(RESULTS + "\n".join(rows) + "\n")
    (tmp_path / "table1.md").write_text(TABLE)
    return tmp_path


def test_verdicts_come_from_the_three_files(folder):
    found = ledger.entries(folder)
    assert len(found) == len(statements.statements())
    of = by_key(found)
    assert of["fig04", "mask", "RMSE"].verdict == "agrees"
    assert of["fig04", "grid", "RMSE"].verdict == "disagrees"
    assert of["fig10", "diffusion", "MAE (deg)"].verdict == "agrees"  # the real one
    assert of["fig10", "least squares", "MAE (deg)"].verdict == "not testable here"
    assert of["table1", "quadratic", "Fast"].verdict == "agrees"
    assert of["table1", "nonconvex", "Fast"].verdict == "partly"
    assert of["table1", "nonconvex", "Discontinuities"].verdict == "disagrees"
    assert of["table1", "mumford_shah", "Fast"].verdict == ""  # not in this table


def test_what_has_no_answer_is_counted(folder):
    found = ledger.entries(folder)
    last = ledger.count(found).splitlines()[-1]
    numbers = [int(text) for text in re.findall(r"\d+", last)]
    assert numbers[-1] == len(found) == sum(numbers[:-1]) and numbers[-2] > 100


def test_lines_link_to_cells_and_keep_the_table_whole(folder):
    lines = ledger.section(ledger.entries(folder), "3.1").splitlines()
    (line,) = [line for line in lines if line.startswith("| 16 |")]
    assert "a\\|b" in line and "[02](02_peaks.ipynb#cell-id=02-18-order)" in line


def test_the_published_ledger_is_complete_and_leads_to_cells_that_are_there():
    found = ledger.entries()
    assert [one.statement.number for one in found if not one.verdict] == []
    cells = {
        (path.stem, cell["id"])
        for path in chapters(paths.root() / "notebooks")
        for cell in read_notebook(path)["cells"]
    }
    assert {(one.notebook, one.cell) for one in found} <= cells
