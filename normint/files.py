"""Files that are either the old ones or the new ones, never half of each."""

import hashlib
import json
import os
import re
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # no advisory locks on this system: one run at a time is then up to the user
    fcntl = None

_TEMPORARY = re.compile(r"^\..*\.tmp-(\d+)(\.[^.]*)?$")


@contextmanager
def write_atomically(path):
    """Yield a temporary path beside `path` and rename it to `path` at the end.

    Readers see the old file or the complete new one. If the block raises, `path` is untouched and
    the temporary file is removed; a killed process leaves at most the temporary file, which
    `sweep` removes.

    Parameters
    ----------
    path : path-like
        The file to write. Its folder is made if it does not exist.

    Yields
    ------
    temporary : Path
        A hidden path in the same folder with the same suffix, so that writers which choose a
        format by the suffix still do.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with write_atomically(folder / "depth.txt") as temporary:
    ...     _ = temporary.write_text("1.5")
    >>> [file.name for file in folder.iterdir()]
    ['depth.txt']
    """
    path = Path(os.path.realpath(path))  # write through a link instead of replacing the link
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.tmp-{os.getpid()}{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def sweep(folder):
    """Remove the temporary files that killed processes left in `folder`."""
    for file in Path(folder).glob(".*"):
        match = _TEMPORARY.match(file.name)
        if match and not _is_alive(int(match[1])):
            file.unlink(missing_ok=True)


@contextmanager
def locked(folder, *, wait=True):
    """Hold the lock of `folder`; the system frees it when the process ends, however it ends.

    Parameters
    ----------
    folder : path-like
        An existing folder. The lock is on the folder itself, so that no lock file is left in it.
    wait : bool
        Whether to wait for another holder, or to raise `BlockingIOError` at once.
    """
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(handle)


def listing(folder, pattern="*"):
    """Describe the files below `folder`, so that a change of any of them changes the description.

    Code and tables count by content; data, which may be large, by size and date.
    """
    entries = []
    for file in sorted(Path(folder).rglob(pattern)):
        if file.is_file():
            stat = file.stat()
            by_content = file.suffix in (".py", ".csv")
            what = hashlib.sha256(file.read_bytes()).hexdigest() if by_content else stat.st_mtime_ns
            entries.append([file.relative_to(folder).as_posix(), stat.st_size, what])
    return entries


def digest(what):
    """Return a short text that identifies `what`, anything that JSON can hold."""
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def _is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
