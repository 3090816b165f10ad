"""Commands whose output or errors cannot be printed: one line at most, and an exit code."""

import os
import shlex
import subprocess
import sys

import pytest
from relief_files import make

pytestmark = pytest.mark.slow  # each test starts processes
# One for each way to print: by the parser, by a command, and by one that has written files before.
COMMANDS = ["--version", "workbook --help", "results", "integrate relief --out normint-out --json"]


def shell(command, folder, stdout=subprocess.PIPE):
    """Run a line of a shell; devices are only ever opened by it, as the standard output of the command."""
    line = command.replace("normint", f"{shlex.quote(sys.executable)} -m normint", 1)
    streams = {"stdin": subprocess.DEVNULL, "stdout": stdout, "stderr": subprocess.PIPE}
    return subprocess.run(["bash", "-c", line], cwd=folder, text=True, timeout=300, **streams)


@pytest.fixture
def unread():
    """Return the end of a pipe that nobody reads from."""
    read, write = os.pipe()
    os.close(read)
    yield write
    os.close(write)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("where", "why"),
    [(">&-", "standard output is closed"), ("> /dev/full", "No space left on device"), ("", "Broken pipe")],
)
def test_output_that_cannot_be_printed(tmp_path, unread, command, where, why):
    make(tmp_path / "relief")
    done = shell(f"normint {command} {where}", tmp_path, stdout=unread)
    written = "; the files are written" if "relief" in command else ""
    assert done.stderr == f"normint: error: the output cannot be printed: {why}{written}\n"
    assert done.returncode == 1
    assert (tmp_path / "normint-out" / "depth.npy").exists() == ("relief" in command)


@pytest.mark.parametrize("where", ["2>&-", "2> /dev/full", ">&- 2>&-", "> /dev/full 2> /dev/full"])
def test_errors_that_cannot_be_printed(tmp_path, where):
    done = shell(f"normint integrate nowhere {where}", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_no_file_takes_the_place_of_a_closed_stream(tmp_path):
    make(tmp_path / "relief")
    done = shell("normint integrate relief --out normint-out --quiet --preview --png <&- >&- 2>&-", tmp_path)
    assert done.returncode == 0
    assert len(os.listdir(tmp_path / "normint-out")) == 4
