"""A process that may compute and nothing else, for code that nobody has read.

On Linux, where the kernel lets a user make namespaces (`unshare` of util-linux), the process has no network,
sees no file of the folders that are hidden from it, can write to no file system but a small one of its own,
and takes all processes that it started with it when it ends. Elsewhere on Linux, and on macOS, Python's
sockets refuse to connect, which a program that calls the system by itself can avoid, and files are those of
the user: grade only people you know, or in a container. Everywhere the kernel limits time, the size of files
and, but for macOS, memory. On Windows there are no such limits, and nothing is run.
"""

import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

MEGABYTE = 2**20
SENT = 32 * MEGABYTE  # at most, by one process
# Read-only is all that can be; the folders named are empty, and the first of them can be written to.
SCRIPT = """
for place in $(cut -d ' ' -f 5 /proc/self/mountinfo); do mount -o remount,bind,ro "$place" 2>/dev/null; done
count=$1; shift
mount -t tmpfs -o size=64m none "$1" || exit 99; shift
while [ $count -gt 1 ]; do mount -t tmpfs -o ro none "$1" || exit 99; shift; count=$((count - 1)); done
exec "$@"
"""
UNSHARE = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child"]


@dataclass(frozen=True)
class Limits:
    """What a process may use.

    Attributes
    ----------
    seconds : float
        For all it does, by the clock and by its processor.
    memory : float
        Address space, in megabytes; numpy and scipy alone need some 600.
    """

    seconds: float = 60.0
    memory: float = 2048.0


@cache
def isolated():
    """Tell whether the kernel takes network, files and processes away."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(_apart([folder]) + ["true"], capture_output=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0


def run(script, text, *, limits, hidden=()):
    """Run a Python script with a text as its input.

    Parameters
    ----------
    script : path
    text : str
    limits : Limits
    hidden : sequence of path
        Folders that the process sees empty, where the kernel allows it.

    Returns
    -------
    output : str
        What the process wrote, until it ended.
    end : str
        How it ended, empty if well.
    """
    if resource is None:
        raise OSError("submissions cannot be limited on Windows; grade them on Linux, or in WSL")
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile() as output:
        apart = _apart([scratch, *(str(folder) for folder in hidden if Path(folder).is_dir())])
        process = subprocess.Popen(
            [*(apart if isolated() else []), sys.executable, "-I", "-B", str(script)],
            stdin=subprocess.PIPE, stdout=output, stderr=subprocess.DEVNULL, cwd=scratch,
            env=_environment(scratch), start_new_session=True, preexec_fn=lambda: _limit(limits),
        )  # fmt: skip
        try:
            process.communicate(text.encode(), timeout=limits.seconds)
            end = _how_it_ended(process.returncode)
        except subprocess.TimeoutExpired:
            end = f"it did not end within {limits.seconds:g} s"
        finally:
            _end_all(process)
        output.seek(0)
        return output.read(SENT).decode(errors="replace"), end


def _apart(folders):
    return [*UNSHARE, "sh", "-c", SCRIPT, "sh", str(len(folders)), *folders]


def _environment(scratch):
    """Return the few variables that a process needs: nothing of the teacher's."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    return {"PATH": os.defpath, "HOME": scratch, "TMPDIR": scratch, "MPLBACKEND": "agg", **threads}


def _limit(limits):
    """Limit the process that is about to begin."""
    seconds = int(limits.seconds) + 1
    for name, value in (
        ("RLIMIT_CPU", seconds),
        ("RLIMIT_AS", int(limits.memory * MEGABYTE)),
        ("RLIMIT_FSIZE", SENT),
        ("RLIMIT_NOFILE", 128),
        ("RLIMIT_CORE", 0),
    ):
        try:
            resource.setrlimit(getattr(resource, name), (value, value))
        except (ValueError, OSError):
            if name != "RLIMIT_AS" or sys.platform != "darwin":  # which knows it and does not keep it
                raise


def _how_it_ended(code):
    if code < 0 or code > 128:  # of the process, or as a shell reports it
        number = -code if code < 0 else code - 128
        return f"it was stopped by the signal {signal.Signals(number).name}"
    return f"it ended by itself, with the code {code}" if code else ""


def _end_all(process):
    """End a process and what it started in its session; in namespaces also all else that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
