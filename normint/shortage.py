"""How much memory there is, and what to say of something that needs more."""

import os
from pathlib import Path

from normint import paths

try:
    import resource
except ImportError:  # a system without limits of this kind
    resource = None  # type: ignore[assignment]

__all__ = ["available", "shortage"]


def shortage(what: str, needed: float) -> str | None:
    """Say that something does not fit into the memory that is left; None if it does.

    Parameters
    ----------
    what : str
        What it is, and how large: the beginning of the message.
    needed : float
        Bytes.

    Examples
    --------
    >>> shortage("stars.npy", 1000)
    >>> shortage("stars.npy of 10^9 × 10^9 numbers", 8e18)
    'stars.npy of 10^9 × 10^9 numbers needs 8000000000.0 GB of memory; there are only ...'
    """
    there = available()
    if needed <= there:
        return None
    return f"{what} needs {_readable(needed)} of memory; there are only {_readable(there)}"


def available() -> float:
    """Return how many bytes of memory this process may still take, as far as the system tells."""
    asked = paths.memory()
    return min(
        _of_the_machine(), _of_the_process(), _of_the_group(), float("inf") if asked is None else asked
    )


def _of_the_machine() -> float:
    lines = _read("/proc/meminfo").splitlines()
    free = sum(int(line.split()[1]) for line in lines if line.startswith(("MemAvailable:", "SwapFree:")))
    if free:
        return 1024 * free
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return float("inf")


def _of_the_process() -> float:
    limit = resource.getrlimit(resource.RLIMIT_AS)[0] if resource else -1
    if limit < 0:  # there is none
        return float("inf")
    pages = int((_read("/proc/self/statm") or "0").split()[0])
    return max(0, limit - pages * os.sysconf("SC_PAGE_SIZE"))


def _of_the_group() -> float:
    """Return what the group of processes, such as a container, may still take."""
    names = [line[3:] for line in _read("/proc/self/cgroup").splitlines() if line.startswith("0::")]
    folder = Path("/sys/fs/cgroup", *(name.strip("/") for name in names))
    limit, taken = _read(folder / "memory.max").strip(), _read(folder / "memory.current").strip()
    if not (limit.isdigit() and taken.isdigit()):
        return float("inf")
    stat = dict(line.split() for line in _read(folder / "memory.stat").splitlines())
    return max(0, int(limit) - int(taken) + int(stat.get("inactive_file", 0)))  # files can be read again


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


def _readable(size: float) -> str:
    return f"{size / 1e6:.3g} MB" if size < 1e9 else f"{size / 1e9:.1f} GB"
