"""Command lines: errors as exceptions, and the options of a method typed as its signature has them."""

import argparse
import inspect
import re

from normint.cli.printing import say
from normint.inputs import nearest

# Arguments that have ways of their own into the call.
NOT_OPTIONS = (
    "axes", "background", "pose", "method", "prior", "prior_weight", "check_axes", "depth", "callback",
    "observe", "constants",
)  # fmt: skip


class UsageError(Exception):
    """A command line that cannot be understood."""


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError` instead of printing the usage and leaving the process.

    Its epilog may be a function, which is called only when help is asked for.
    """

    def format_help(self):
        """Return the help, with what the epilog says now."""
        if callable(self.epilog):
            self.epilog = self.epilog()
        return super().format_help()

    def parse_known_args(self, args=None, namespace=None):
        """Refuse what is not known here, where the known flags are, and name the nearest."""
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            flags = [word for word in rest if word.startswith("-")]
            meant = nearest(flags[0].partition("=")[0], self._option_string_actions) if flags else ""
            self.error(f"unrecognized arguments: {' '.join(rest)}{meant}")
        return found, rest

    def error(self, message):
        """Say what is wrong, with the nearest command if it is that, and where to read more."""
        if wrong := re.match(r"argument command: invalid choice: '(.*?)' \(", message):
            choices = next(action.choices for action in self._actions if action.metavar == "command")
            message = f"{wrong[1]!r} is no command; expected one of {', '.join(choices)}"
            message += nearest(wrong[1], choices)
        more = f"see {self.prog} --help"
        raise UsageError(f"{message} {more.capitalize()}" if message.endswith("?") else f"{message}; {more}")

    def _print_message(self, message, file=None):
        """Print help and version, which argparse itself would do without a look at what came of it."""
        say(message, end="")


def known_options(method):
    """Return the options of a method, and those that all have in common, with their defaults.

    Examples
    --------
    >>> options = known_options("mumford_shah")
    >>> options["mu"], options["steepest"], "prior" in options
    (45.0, 200.0, False)
    """
    from normint.integration import function_of
    from normint.normals.integrate_normals import integrate_normals

    return {
        name: parameter.default
        for function in (function_of(method), integrate_normals)
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in NOT_OPTIONS
    }


def takes_callback(method):
    """Tell whether a method says how far it is."""
    from normint.integration import function_of

    return "callback" in inspect.signature(function_of(method)).parameters


def parse_options(method, texts):
    """Turn texts like "mu=45" into the options of a method.

    Parameters
    ----------
    method : str
    texts : list of str

    Returns
    -------
    dict
        Each value has the type of the method's default. Where that is None, a number if it looks like one.

    Examples
    --------
    >>> parse_options("mumford_shah", ["mu=45", "scheme=paper", "max_iterations=10"])
    {'mu': 45.0, 'scheme': 'paper', 'max_iterations': 10}
    >>> parse_options("dct", ["mu=1"])
    Traceback (most recent call last):
    ...
    normint.cli.parsing.UsageError: mu is not an option of method dct; it has border, distance, ...
    """
    known, options = known_options(method), {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise UsageError(f"--option is {text!r}; expected name=value")
        if name not in known:
            meant = nearest(name, known)
            raise UsageError(f"{name} is not an option of method {method}; it has {', '.join(known)}{meant}")
        if name in options:
            raise UsageError(f"option {name} is given twice; expected it once")
        options[name] = _typed(name, value.strip(), known[name])
    return options


def _typed(name, value, default):
    """Turn a text into a value of the default's type."""
    if value.lower() == "none" and not isinstance(default, str):
        return None
    if isinstance(default, bool):
        if value.lower() not in ("true", "false"):
            raise UsageError(f"option {name} is {value!r}; expected true or false")
        return value.lower() == "true"
    if isinstance(default, (int, float)):
        kind, words = (int, "a whole number") if isinstance(default, int) else (float, "a number")
        try:
            return kind(value)
        except ValueError:
            raise UsageError(f"option {name} is {value!r}; expected {words}") from None
    if default is None:
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                pass
    return value
