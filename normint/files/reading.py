"""Reading files that should be ours, and may be anything: gone, huge, a folder, a pipe nobody writes to."""

import hashlib
import os
import stat
from pathlib import Path


def read_regular(path, most=2**28):
    """Return the bytes of the regular file `path`, and never wait for a pipe or a device.

    Parameters
    ----------
    path : path-like
    most : int
        A file of more bytes is refused.

    Raises
    ------
    OSError
        If it cannot be read, is no regular file, or is too large.

    Examples
    --------
    >>> read_regular(os.devnull)
    Traceback (most recent call last):
    OSError: /dev/null must be a regular file
    """
    with _open(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(f"{path} must have at most {most} bytes, got {size}")
        return file.read(most)


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
    except (OSError, ValueError):  # a name may hold what no file name may hold
        return None


def _open(path):
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(f"{Path(path)} must be a regular file")
    return file
