"""The shell commands that a Markdown text prints, and a folder like a clone to run them in."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

FENCED = re.compile(r"^```(\S*)\n(.*?)^```$", flags=re.M | re.S)
# A program and what it is told, or a program by its path; Python has brackets, commas or an equals sign.
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(?:[a-z.~/][\w./-]* (?!= )[^(),]+|\.(?:venv/bin)?/\S+)")
SHELLS = ("", "sh", "bash", "shell", "console")
# What a `make` that runs the tests hands down to them.
INHERITED = ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "ARGS", "PYTHON", "LOCK")


def printed_commands(text):
    """Return the commands of the blocks for a shell and those quoted in sentences, each once.

    Examples
    --------
    >>> text = "Say `make tea`, with `sugar`, `x = 3` and `p, q = f(x)`:\\n"
    >>> text += "```\\nmake tea  # hot\\nA=~/b pour\\n```\\n"
    >>> printed_commands(text)
    ['make tea', 'A=~/b pour']
    """
    blocks = [block for language, block in FENCED.findall(text) if language in SHELLS]
    lines = [line.partition(" #")[0].strip() for block in blocks for line in block.splitlines()]
    quoted = re.findall(r"`([^`\n]+)`", FENCED.sub("", text))
    commands = [*lines, *(span for span in quoted if COMMAND.fullmatch(span))]
    return list(dict.fromkeys(filter(None, commands)))


class Clone:
    """A folder laid out like a clone of the repository, in which all may be written.

    Parameters
    ----------
    root : Path
        The repository.
    folder : Path
        Where to make the clone.
    notebooks : tuple of str
        Patterns of the notebooks to take along.
    """

    def __init__(self, root, folder, notebooks):
        self.folder = folder
        folder.mkdir()
        for name in ("Makefile", "README.md", "pyproject.toml", "environment.yml", "requirements.lock"):
            shutil.copy2(root / name, folder)
        for name in ("data", "benchmarks", "tests"):  # only read
            (folder / name).symlink_to(root / name)
        shutil.copytree(root / "figures", folder / "figures")
        for pattern in notebooks:
            for path in sorted((root / "notebooks").glob(pattern)):
                target = folder / path.relative_to(root)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, target)
        self._take_package(root)
        self._take_environment()

    def run(self, command, **environment):
        """Run a command in the clone, as it is printed, in a shell like that of a newcomer."""
        kept = {k: v for k, v in os.environ.items() if k not in INHERITED and not k.startswith("NORMINT_")}
        # The package of the clone comes before the one that is installed.
        kept |= {"PYTHONPATH": str(self.folder), **environment}
        return subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=kept, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=300,
        )  # fmt: skip

    def _take_package(self, root):
        """Copy the sources, which find their repository by where they are; share what was compiled."""
        source, target = root / "normint", self.folder / "normint"
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        for compiled in source.rglob("__pycache__"):
            (target / compiled.relative_to(source)).symlink_to(compiled)

    def _take_environment(self):
        """Link to what is installed; it counts as newer than pyproject.toml, so that nothing is installed."""
        (self.folder / ".venv").mkdir()
        for path in Path(sys.prefix).iterdir():
            if path.name not in (".ready", ".locked"):
                (self.folder / ".venv" / path.name).symlink_to(path)
        for stamp in (".ready", ".locked"):
            (self.folder / ".venv" / stamp).touch()
