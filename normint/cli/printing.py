"""What commands print: whole, or one line that says why not."""

import os
import sys

__all__ = ["CannotPrint", "complain", "keep_standard_streams", "one_line", "say"]


class CannotPrint(OSError):
    """Standard output is closed, or full, or nobody reads it any more."""


def one_line(text):
    r"""Return a text as one line that a terminal can show, whatever is in it.

    Examples
    --------
    >>> one_line("two\nlines and a \x1b[31mcolour")
    'two lines and a \\x1b[31mcolour'
    """
    text = " ".join(str(text).split("\n"))
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def say(text, end="\n"):
    """Print to standard output at once, in ASCII where it cannot show more, so that what fails fails here."""
    if sys.stdout is None:
        raise CannotPrint("the output cannot be printed: standard output is closed")
    try:
        _print(f"{text}{end}", sys.stdout)
    except OSError as error:
        _give_up(sys.stdout)
        raise CannotPrint(f"the output cannot be printed: {error.strerror}") from error


def complain(text):
    """Print one line to standard error, if that can be."""
    try:
        _print(f"normint: {one_line(text)}\n", sys.stderr)
    except OSError:
        _give_up(sys.stderr)


def keep_standard_streams():
    """Take the numbers of closed standard streams, so that no file gets one and is written to by accident."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the system gives the lowest number that is free
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")


def _print(text, stream):
    encoding = stream.encoding or "ascii"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def _give_up(stream):
    """Send what is left of a stream nowhere; else Python itself would try again at its end, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
