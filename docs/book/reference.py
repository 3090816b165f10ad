"""The reference, from the table of methods and from the public names of the rooms."""

import importlib
import inspect
import textwrap

from normint.cli import parser
from normint.cli.methods import sections_of
from normint.integration import METHODS

WIDTH = 92  # letters that a page has room for in a line of code


def methods():
    """Return a section for each method: how to call it, when to use it, and what its docstring says."""
    table = ["| method | when to use it |", "| --- | --- |"]
    parts = []
    for name, method in METHODS.items():
        use = " ".join(sections_of(method.function).get("When to use it", "").split())
        function = method.function
        table.append(f"| [`{name}`](#{function.__module__}.{function.__name__}) | {_plain(use)} |")
        parts += [
            f"## {name}",
            f'`integrate(p, q, mask, method="{name}")`: {method.label}.',
            _entry(function),
        ]
    return "\n\n".join(["\n".join(table), *parts])


def room(name):
    """Return all public functions and classes of a module."""
    module = importlib.import_module(name)
    names = [one for one in module.__all__ if not one.startswith("_")]
    found = [(one, getattr(module, one)) for one in names]
    return "\n\n".join(_entry(thing, f"{name}.{one}") for one, thing in found if _documented(thing))


def one_class(path):
    """Return a class that stands in no list of public names."""
    module, _, name = path.rpartition(".")
    return _entry(getattr(importlib.import_module(module), name))


def command():
    """Return the help of every subcommand."""
    commands = next(action.choices for action in parser()._actions if action.metavar == "command")
    return "\n\n".join(
        f"## normint {name}\n\n```none\n{_wrapped(one.format_help().rstrip())}\n```"
        for name, one in commands.items()
    )


def _wrapped(text):
    """Break the lines of paragraphs that are wider than a page anew."""
    parts = text.split("\n\n")
    wide = [max(map(len, part.splitlines()), default=0) > WIDTH for part in parts]
    return "\n\n".join(
        textwrap.fill(part, WIDTH) if wrap else part for part, wrap in zip(parts, wide, strict=True)
    )


def _documented(thing):
    return inspect.isfunction(thing) or inspect.isclass(thing)


def _entry(thing, path=None):
    path = path or f"{thing.__module__}.{thing.__name__}"
    if inspect.isclass(thing):
        lines = [f".. autoclass:: {path}", "   :members:"]
    else:
        lines = [f".. autofunction:: {path}"]
    return "\n".join(["```{eval-rst}", *lines, "```"])


def _plain(text):
    return text.replace("``", "`").replace("|", "\\|")
