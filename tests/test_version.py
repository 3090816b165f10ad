"""The version stands in one place, and whatever else names it agrees."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from normint import __version__, cli

ROOT = Path(__file__).parents[1]


def test_pyproject_takes_it_from_the_package():
    found = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert found["project"]["dynamic"] == ["version"] and "version" not in found["project"]
    assert found["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "normint.__version__"}


def test_the_newest_entry_of_the_change_log_is_this_version():
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert versions[0] == __version__
    numbers = [tuple(map(int, version.split("."))) for version in versions]
    assert numbers == sorted(numbers, reverse=True)


def test_a_citation_names_it():
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == __version__


def test_the_command_prints_it(capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"normint {__version__}\n"
