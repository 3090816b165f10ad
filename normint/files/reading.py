"""Read files that may be anything: gone, huge, a folder, a pipe nobody writes to; and ask for the memory."""

import hashlib
import os
import stat
from pathlib import Path

try:
    import resource
except ImportError:  # a system without limits of this kind
    resource = None

__all__ = ["available", "check_room", "content", "read_regular"]


def read_regular(path, most=None):
    """Return the bytes of a plain file, or raise one error that names it. Never wait for a pipe or a device.

    Parameters
    ----------
    path : path-like
    most : int, optional
        A file of more bytes is refused; by default one that does not fit into the memory.

    Examples
    --------
    >>> read_regular(os.devnull)
    Traceback (most recent call last):
    ...
    ValueError: /dev/null cannot be read: it is a pipe or a device; expected a plain file
    """
    try:
        with _open(path) as file:
            size = os.fstat(file.fileno()).st_size
            check_room(path, size)
            if most is not None and size > most:
                raise ValueError(f"{path} has {size} bytes; expected at most {most}")
            return file.read()
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} is missing") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from error


def content(path):
    """Return a digest of what is in the file `path`, or None where there is no file to read.

    Examples
    --------
    >>> content("nowhere") is None
    True
    """
    try:
        with _open(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return None


def _open(path):
    """Open a plain file. Another kind is opened too, since only then it is known, but not waited for."""
    flag = getattr(os, "O_NONBLOCK", 0)
    try:
        file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | flag))
    except IsADirectoryError:
        raise OSError("it is a folder; expected a plain file") from None
    except ValueError as error:  # a name that no file can have
        raise ValueError(f"{path} cannot be read: {error}") from error
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("it is a pipe or a device; expected a plain file")
    return file


def check_room(what, needed):
    """Refuse what does not fit into the memory that is left.

    Parameters
    ----------
    what : str
        The file, and how large it is: the beginning of the message.
    needed : int
        Bytes.

    Examples
    --------
    >>> check_room("stars.npy", 1000)
    >>> check_room("stars.npy of 10^9 × 10^9 numbers", 8e18)
    Traceback (most recent call last):
    ...
    ValueError: stars.npy of 10^9 × 10^9 numbers needs 8000000000.0 GB of memory; there are only ...
    """
    there = available()
    if needed > there:
        raise ValueError(f"{what} needs {_readable(needed)} of memory; there are only {_readable(there)}")


def available():
    """Return how many bytes of memory this process may still take, as far as the system tells."""
    return min(_of_the_machine(), _of_the_process(), _of_the_group())


def _of_the_machine():
    lines = _read("/proc/meminfo").splitlines()
    free = sum(int(line.split()[1]) for line in lines if line.startswith(("MemAvailable:", "SwapFree:")))
    if free:
        return 1024 * free
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return float("inf")


def _of_the_process():
    limit = resource.getrlimit(resource.RLIMIT_AS)[0] if resource else -1
    if limit < 0:  # there is none
        return float("inf")
    pages = int((_read("/proc/self/statm") or "0").split()[0])
    return max(0, limit - pages * os.sysconf("SC_PAGE_SIZE"))


def _of_the_group():
    """Return what the group of processes, such as a container, may still take."""
    names = [line[3:] for line in _read("/proc/self/cgroup").splitlines() if line.startswith("0::")]
    folder = Path("/sys/fs/cgroup", *(name.strip("/") for name in names))
    limit, taken = _read(folder / "memory.max").strip(), _read(folder / "memory.current").strip()
    if not (limit.isdigit() and taken.isdigit()):
        return float("inf")
    stat = dict(line.split() for line in _read(folder / "memory.stat").splitlines())
    return max(0, int(limit) - int(taken) + int(stat.get("inactive_file", 0)))  # files can be read again


def _read(path):
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


def _readable(size):
    return f"{size / 1e6:.3g} MB" if size < 1e9 else f"{size / 1e9:.1f} GB"
