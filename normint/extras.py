"""Libraries that only a part of the package needs: the extras of pyproject.toml."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec


@contextmanager
def extra(name: str, what: str) -> Iterator[None]:
    """Import libraries of an extra, or say what needs them and how to install them.

    Parameters
    ----------
    name : str
        The extra.
    what : str
        What needs it, as the user knows it.

    Raises
    ------
    ImportError
        If a library is missing.

    Examples
    --------
    >>> with extra("workbook", 'solver="pyamg"'):
    ...     import no_such_library
    Traceback (most recent call last):
    ...
    ImportError: solver="pyamg" needs no_such_library, which is not installed; pip install 'normint[workbook]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing, *_ = str(error.name).split(".")
        if missing == "normint":
            raise
        message = f"{what} needs {missing}, which is not installed; pip install 'normint[{name}]'"
        raise ImportError(message, name=missing) from None


def check_extra(name: str, what: str, library: str) -> None:
    """Raise as :func:`extra` does if a library is missing, without loading it.

    Examples
    --------
    >>> check_extra("mesh", "--triangles", "no_such_library")
    Traceback (most recent call last):
    ...
    ImportError: --triangles needs no_such_library, which is not installed; pip install 'normint[mesh]'
    """
    with extra(name, what):
        if find_spec(library) is None:
            raise ModuleNotFoundError(name=library)
