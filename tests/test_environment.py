"""The conda environment asks for what pyproject.toml asks for."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
REQUIREMENT = re.compile(r"([A-Za-z0-9_.-]+)>=([0-9.]+)")
# Where conda calls a library differently.
CONDA_NAMES = {"opencv-python-headless": "py-opencv", "playwright": "playwright-python"}


def conda_requirements():
    """Read the lines "- name>=version" of environment.yml."""
    lines = (ROOT / "environment.yml").read_text(encoding="utf-8").splitlines()
    matches = (re.fullmatch(rf"\s*- {REQUIREMENT.pattern}", line) for line in lines)
    return dict(match.groups() for match in matches if match)


def test_same_names_and_lower_bounds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = (
        project["dependencies"] + extras["workbook"] + extras["dev"] + ["python" + project["requires-python"]]
    )
    matches = {requirement: REQUIREMENT.fullmatch(requirement) for requirement in wanted}
    assert all(matches.values()), "every dependency has one lower bound and nothing else"
    named = dict(match.groups() for match in matches.values())
    assert conda_requirements() == {CONDA_NAMES.get(name, name): bound for name, bound in named.items()}


def test_every_line_is_compared():
    # A line in another form ("numpy", "numpy=2") would escape the comparison above.
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    items = re.findall(r"^\s*- (.*)$", text.split("dependencies:")[1], flags=re.MULTILINE)
    assert [item for item in items if not REQUIREMENT.fullmatch(item)] == ["pip", "pip:", "--editable ."]


def test_it_is_a_file_for_conda():
    found = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert found["name"] == "normint"
    # Of the channels with licence terms of their own, none.
    assert found["channels"] == ["conda-forge", "nodefaults"]
    *names, last = found["dependencies"]
    *from_pip, package = last["pip"]
    assert set(conda_requirements()) == {re.split("[>=]", name)[0] for name in names + from_pip} - {"pip"}
    assert package == "--editable ."
