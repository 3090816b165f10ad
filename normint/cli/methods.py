"""`normint methods`: what each method is for, and its options, as its docstring says it."""

import inspect
import re
import textwrap

from normint.cli.parsing import UsageError, known_options
from normint.cli.printing import say

WIDTH = 96


def add_methods(commands):
    """Add the subcommand and its options."""
    parser = commands.add_parser("methods", help="list the methods, or tell one's options and its use")
    parser.add_argument("method", nargs="?", metavar="NAME", help="of the method to tell about")
    parser.set_defaults(command=methods)


def methods(arguments):
    """Print all methods, or one of them."""
    from normint.inputs import nearest
    from normint.integration import METHODS

    name = arguments.method
    if name is not None and name not in METHODS:
        raise UsageError(f"NAME is {name!r}; expected one of {', '.join(METHODS)}{nearest(name, METHODS)}")
    say("\n".join(_all(METHODS) if name is None else _one(name)))
    return 0


def _all(table):
    """Return one line for each method, the first sentence about its use, and where to read more."""
    lines = []
    for name, method in table.items():
        said = sections_of(method.function)
        text = " ".join(said.get("When to use it", said[""]).split())
        first, *_ = re.split(r"[.:]\s", text)
        lines.append(f"{name:22} {first.rstrip('.')}")
    return [*lines, "", "normint methods NAME tells when to use it, and its options."]


def _one(name):
    """Return what a method is, when to use it, and its options with their defaults."""
    from normint.integration import function_of
    from normint.normals.integrate_normals import integrate_normals

    said = sections_of(function_of(name))
    lines = [f"{name}: {said['']}"]
    if "When to use it" in said:
        lines += ["", "When to use it", *_wrapped(said["When to use it"])]
    told = options_in(sections_of(integrate_normals)["Parameters"])
    told |= options_in(said["Parameters"])
    lines += ["", "Options, each as --option NAME=VALUE"]
    for option, default in known_options(name).items():
        kind, text = told.get(option, ("", ""))
        choices = f"{kind.strip('{}')}; " if kind.startswith("{") else ""
        lines += [f"  {option} ({choices}{_default(default)})", *_wrapped(text, "      ")]
    return lines


def sections_of(function):
    """Return the sections of a docstring by their titles; "" is the first line.

    Examples
    --------
    >>> from normint.methods.quadratic import quadratic
    >>> list(sections_of(quadratic))[:3]
    ['', 'Parameters', 'Returns']
    """
    first, _, rest = inspect.getdoc(function).partition("\n")
    parts = re.split(r"^(\S.*)\n-{3,}\n", rest, flags=re.MULTILINE)
    return {"": first} | {
        title: text.strip("\n") for title, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def options_in(parameters):
    """Return the types and descriptions of the options in a section of parameters, by name.

    Examples
    --------
    >>> options_in("mu, nu : float\\n    How steep.\\nk : int")
    {'mu': ('float', 'How steep.'), 'nu': ('float', 'How steep.'), 'k': ('int', '')}
    """
    found = {}
    for names, text in re.findall(r"^(\S.*)((?:\n[ ].*|\n$)*)", parameters, flags=re.MULTILINE):
        names, _, kind = names.partition(" : ")
        found |= {name: (kind, textwrap.dedent(text).strip()) for name in names.split(", ")}
    return found


def _wrapped(text, indent="  "):
    """Return lines of a text for people: without the marks of a docstring."""
    text = re.sub(r":\w+:`~?(?:[^`<]*<)?([^`>]*)>?`", r"\1", text).replace("``", "").replace("`", "")
    return textwrap.wrap(" ".join(text.split()), WIDTH, initial_indent=indent, subsequent_indent=indent)


def _default(value):
    return "not set" if value is None else f"default {value}"
