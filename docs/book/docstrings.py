"""Docstrings as numpydoc expects them."""

import re

from numpydoc.docscrape import NumpyDocString

TITLE = "When to use it"


def add_to(app):
    """Change docstrings before numpydoc reads them."""
    NumpyDocString.sections = {**NumpyDocString.sections, TITLE.title(): ""}  # else it warns of the section
    app.connect("autodoc-process-docstring", _prepare, priority=100)


def _prepare(app, what, name, thing, options, lines):
    lines[:] = map(_plain, with_use_first(lines))


def _plain(line):
    """Return a line, unless it is code, in which |x| is an absolute value and a first name begins no list."""
    if re.match(r"\s*(>>>|\.\.\.)", line):
        return line
    line = re.sub(r"^(\s*)(?=[A-Z]\. )", r"\1\\", line)
    return "``".join(part if i % 2 else part.replace("|", "\\|") for i, part in enumerate(line.split("``")))


def with_use_first(lines):
    """Return the lines of a docstring with its section on use, which numpydoc does not know, after its first.

    Examples
    --------
    >>> with_use_first(["Do it.", "", "When to use it", "--------------", "Always.", "", "Notes", "-----"])
    ['Do it.', '', '.. admonition:: When to use it', '', '   Always.', '', '', 'Notes', '-----']
    """
    if TITLE not in lines:
        return lines
    start = lines.index(TITLE)
    end = next((i - 1 for i in range(start + 2, len(lines)) if lines[i].startswith("---")), len(lines))
    use = [f"   {line}".rstrip() for line in lines[start + 2 : end]]
    rest = lines[:start] + lines[end:]
    return [rest[0], "", f".. admonition:: {TITLE}", "", *use, *rest[1:]]
