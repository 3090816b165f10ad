"""The conda environment and the lock file ask for what pyproject.toml asks for."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
REQUIREMENT = re.compile(r"([A-Za-z0-9_.-]+)>=([0-9.]+)")
# Where conda calls a library differently.
CONDA_NAMES = {"opencv-python-headless": "py-opencv", "playwright": "playwright-python"}


def wanted():
    """Return the lower bounds of pyproject.toml by name, all extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = sum(project["optional-dependencies"].values(), project["dependencies"])
    matches = [REQUIREMENT.fullmatch(text) for text in [*texts, "python" + project["requires-python"]]]
    assert all(matches), "every dependency has one lower bound and nothing else"
    return dict(match.groups() for match in matches)


def locked():
    """Read the lines "name==version" of requirements.lock."""
    _, *lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    # Nothing else: no place on this machine, no address, no option.
    matches = {line: re.fullmatch(r"([A-Za-z0-9_.-]+)==([0-9][0-9a-z.]*)", line) for line in lines}
    assert [line for line, match in matches.items() if not match] == []
    return {canonical(match[1]): match[2] for match in matches.values()}


def canonical(name):
    return re.sub("[-_.]+", "-", name).lower()


def as_numbers(version):
    return [int(part) for part in re.findall(r"\d+", version)]


def conda_requirements():
    """Read the lines "- name>=version" of environment.yml."""
    lines = (ROOT / "environment.yml").read_text(encoding="utf-8").splitlines()
    matches = (re.fullmatch(rf"\s*- {REQUIREMENT.pattern}", line) for line in lines)
    return dict(match.groups() for match in matches if match)


def test_same_names_and_lower_bounds():
    assert conda_requirements() == {CONDA_NAMES.get(name, name): bound for name, bound in wanted().items()}


def test_the_lock_holds_every_library_in_a_version_that_will_do():
    versions = locked()
    for name, bound in wanted().items():
        if name != "python":
            assert as_numbers(versions[canonical(name)]) >= as_numbers(bound), name
    assert {"llvmlite", "ipython", "nbclient", "pillow"} < set(versions)  # and what those need in turn
    assert "normint" not in versions


def test_the_two_environments_are_made_by_turns():
    def commands(target, *options):
        arguments = ["make", "-n", "-B", "PYTHON=python3", *options, target]
        kept = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "LOCK")}
        done = subprocess.run(arguments, cwd=ROOT, env=kept, capture_output=True, text=True, check=True)
        return done.stdout

    locked, newest = commands("lint", "LOCK=1"), commands("lint")
    assert "--constraint requirements.lock" in locked and "--upgrade" not in locked
    assert "--upgrade" in newest and "requirements.lock" not in newest
    assert "touch .venv/.locked" in locked and "touch .venv/.ready" in newest
    for text in (locked, newest):  # the stamp of the other goes
        assert "rm -f .venv/.ready .venv/.locked" in text


def test_all_extras_are_installed():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = re.search(r"--editable '\.\[(.*)\]'", (ROOT / "Makefile").read_text(encoding="utf-8"))[1]
    assert asked.split(",") == list(extras["optional-dependencies"])


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
