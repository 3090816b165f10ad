"""Commands whose output or errors cannot be printed: one line at most, and an exit code."""

import os
import shlex
import subprocess
import sys

import pytest
from relief_files import make

pytestmark = pytest.mark.slow  # each test starts processes
WAYS = [(">&-", "standard output is closed"), ("> /dev/full", "No space left on device"), ("", "Broken pipe")]


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


@pytest.mark.parametrize(
    ("command", "where", "why"),
    [  # printed by the parser, and by a command
        *(("--version", *way) for way in WAYS),
        ("workbook --help", *WAYS[1]),
        ("results", *WAYS[2]),
    ],
)
def test_output_that_cannot_be_printed(tmp_path, unread, command, where, why):
    done = shell(f"normint {command} {where}", tmp_path, stdout=unread)
    assert done.stderr == f"normint: error: the output cannot be printed: {why}\n"
    assert done.returncode == 1


def test_that_files_are_written_is_said(tmp_path, unread):
    make(tmp_path / "relief")
    done = shell("normint integrate relief --out normint-out --json", tmp_path, stdout=unread)
    told = "the output cannot be printed: Broken pipe; the files are written"
    assert (done.returncode, done.stderr) == (1, f"normint: error: {told}\n")
    assert (tmp_path / "normint-out" / "depth.npy").exists()


@pytest.mark.parametrize("where", ["2>&-", "2> /dev/full", ">&- 2>&-", "> /dev/full 2> /dev/full"])
def test_errors_that_cannot_be_printed(tmp_path, where):
    (tmp_path / "results.csv").write_text("damaged")
    done = shell(f"NORMINT_FIGURES=. normint results {where}", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_no_file_takes_the_place_of_a_closed_stream(tmp_path):
    make(tmp_path / "relief")
    done = shell("normint integrate relief --out normint-out --quiet --preview --png <&- >&- 2>&-", tmp_path)
    assert done.returncode == 0
    assert len(os.listdir(tmp_path / "normint-out")) == 4
