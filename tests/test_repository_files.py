"""What the code host reads is well formed, and calls only what our own CI calls."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOW = ".github/workflows/ci.yml"
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
# A make target in a command or in a sentence; variables may stand between.
TARGET = re.compile(r"\bmake (?:[A-Z]+=\S+ )*([a-z-]+)")


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def job():
    return yaml.safe_load(text(WORKFLOW))["jobs"]["readme"]


def targets():
    return set(re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE))


def test_the_workflow_runs_the_commands_of_the_readme_and_of_our_ci():
    commands = [step["run"] for step in job()["steps"] if "run" in step]
    called = [TARGET.search(command)[1] for command in commands if command.startswith("make")]
    assert called == ["lint", "test", "workbook"]
    ours = re.findall(r"^(?:run|together) (.*)$", text(".ci/run"), flags=re.M)
    assert set(called) <= set(re.findall("[a-z-]+", " ".join(ours)))
    assert {f"make {name}" for name in ("test", "workbook")} <= set(text("README.md").splitlines())


def test_the_workflow_covers_systems_and_the_versions_that_the_package_allows():
    matrix = job()["strategy"]["matrix"]
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    project = tomllib.loads(text("pyproject.toml"))["project"]
    assert project["requires-python"] == f">={matrix['python'][0]}"
    minors = [int(version.split(".")[1]) for version in matrix["python"]]
    assert minors == list(range(minors[0], minors[-1] + 1))


def test_the_workflow_runs_weekly_and_keeps_figures():
    when = yaml.safe_load(text(WORKFLOW))[True]  # YAML takes "on" for a truth value
    assert len(when["schedule"][0]["cron"].split()) == 5
    uploads = [step["with"] for step in job()["steps"] if "upload-artifact" in step.get("uses", "")]
    assert [upload["path"] for upload in uploads] == ["figures"] and (ROOT / "figures").is_dir()


def test_commits_are_checked_as_by_make_lint():
    (repository,) = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        assert {"id", "name", "entry", "language"} <= set(hook)
        assert TARGET.fullmatch(hook["entry"])[1] in targets()


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_asks_something(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form["name"] and form["description"] and form["body"]
    for field in form["body"]:
        assert field["type"] in ("textarea", "input") and field["attributes"]["label"]
    names = [field["id"] for field in form["body"]]
    assert len(set(names)) == len(names)


def test_there_are_three_templates():
    assert [path.stem for path in TEMPLATES] == ["bug", "normal_map", "question"]


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "README.md", ".ci/run", WORKFLOW])
def test_every_make_target_that_is_named_exists(name):
    quoted = re.findall(r"`([^`\n]+)`|^\s*(?:- run: )?(make .*)$", text(name), re.MULTILINE)
    named = {match[1] for pair in quoted for match in TARGET.finditer(" ".join(pair))}
    assert named <= targets()


def test_every_path_that_contributing_names_exists():
    spans = re.findall(r"`([\w.]+/[\w./]*|[\w-]+\.(?:md|py|yaml|lock|cff))`", text("CONTRIBUTING.md"))
    shared = {"iteration.py", "quadratic.py"}  # beside the method that is being written
    for span in set(spans) - shared:
        assert (ROOT / span).exists(), span
    assert shared <= set(os.listdir(ROOT / "normint" / "methods"))


def test_the_rooms_of_contributing_are_those_that_lint_holds():
    contracts = tomllib.loads(text("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    held = re.findall(r"\w+", " ".join(contracts[0]["layers"]).replace("(__main__)", ""))
    picture = text("CONTRIBUTING.md").split("```")[3]
    drawn = [re.findall(r"[a-z]+", line) for line in picture.splitlines()[1:]]
    *rooms, lowest = [words for words in drawn if words and words[0] in held]
    assert [words[0] for words in rooms] == held[: len(rooms)]
    assert set(lowest) == set(held[len(rooms) :])


@pytest.mark.parametrize(("system", "programs"), [("Windows_NT", "Scripts"), ("", "bin")])
def test_make_finds_programs_where_the_system_puts_them(system, programs):
    kept = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "LOCK", "PYTHON")}
    asked = ["make", "-n", "-B", "lint", "lock"]
    done = subprocess.run(
        asked, cwd=ROOT, env=kept | {"OS": system}, capture_output=True, text=True, check=True
    )
    assert f".venv/{programs}/ruff check" in done.stdout
    assert f"build/lock/{programs}/python -m pip" in done.stdout
