"""Read files that may be anything: gone, huge, a folder, a pipe nobody writes to; and ask for the memory."""

import hashlib
import os
import stat

from normint.shortage import shortage

__all__ = ["check_room", "content", "open_regular", "read_regular"]


def read_regular(path, most=None, *, first=None):
    """Return the bytes of a plain file, or raise one error that names it. Never wait for a pipe or a device.

    Parameters
    ----------
    path : path-like
    most : int, optional
        A file of more bytes is refused; by default one that does not fit into the memory.
    first : int, optional
        Read only so many bytes, of a file of any size.

    Examples
    --------
    >>> read_regular(os.devnull)
    Traceback (most recent call last):
    ...
    ValueError: /dev/null cannot be read: it is a pipe or a device; expected a plain file
    """
    try:
        with open_regular(path) as file:
            if first is not None:
                return file.read(first)
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
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return None


def open_regular(path):
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
    if short := shortage(what, needed):
        raise ValueError(short)
