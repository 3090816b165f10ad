"""`normint methods`: every method with its use and its options; unknown words get the nearest known one."""

import pytest

import normint
from normint import cli
from normint.cli.parsing import known_options
from normint.integration import METHODS


def told(capsys, *line):
    assert cli.main(["methods", *line]) == 0
    return capsys.readouterr().out


def test_one_line_each(capsys):
    lines = told(capsys).splitlines()
    assert [line.split()[0] for line in lines[: len(METHODS)]] == list(METHODS)
    assert all(len(line.split()) > 3 and len(line) < 160 for line in lines[: len(METHODS)])


@pytest.mark.parametrize("method", METHODS)
def test_options_and_defaults(method, capsys):
    text = told(capsys, method)
    for name, default in known_options(method).items():
        line = next(line for line in text.splitlines() if line.startswith(f"  {name} ("))
        assert ("not set" if default is None else f"default {default}") in line
        place = text.index(line) + len(line)
        assert text[place:].startswith("\n      "), f"{method}: {name} is not explained"
    assert ":func:" not in text and "``" not in text


@pytest.mark.parametrize("method", METHODS)
def test_when_to_use_it(method, capsys):
    assert "When to use it\n  " in told(capsys, method)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("methods mumfordshah", "did you mean 'mumford_shah'?"),
        ("methods x", "expected one of quadratic"),
        ("integrate x --method Calibrate", "did you mean 'calibrated'?"),
        ("integrate x --method phi1 --option bta=1", "did you mean 'beta'?"),
        ("integrate x --metod phi1", "did you mean '--method'? See normint integrate --help"),
        ("integrate x --previw", "did you mean '--preview'?"),
        ("integrate x --mesh pyl", "did you mean 'ply'?"),
        ("integrat x", "did you mean 'integrate'?"),
        ("workbook --quik", "did you mean '--quick'?"),
    ],
)
def test_the_nearest(line, words, capsys):
    assert cli.main(line.split()) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1


def test_the_nearest_in_python():
    with pytest.raises(ValueError, match="did you mean 'quadratic'"):
        normint.integrate([[0.0]], [[0.0]], method="quadratc")
    with pytest.raises(ValueError, match="did you mean 'max_iterations'"):
        normint.integrate([[0.0]], [[0.0]], max_iteration=3)
    with pytest.raises(ValueError, match="did you mean 'bilateral'"):
        normint.integrate_normals([[[0.0, 0.0, 1.0]]], method="Bilateral")
