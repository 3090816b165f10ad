"""What long work shows on the way."""

import sys
from threading import current_thread, main_thread

from normint import paths


class Progress:
    """What a run of notebooks tells: one line for each, and in a terminal a bar over all their cells.

    Parameters
    ----------
    quiet : bool
        Tell nothing.
    """

    def __init__(self, quiet=False):
        from tqdm import tqdm

        hidden = quiet or paths.in_ci() or not sys.stderr.isatty()
        self._bar = tqdm(unit="cell", file=sys.stderr, leave=False, dynamic_ncols=True, disable=hidden)
        self._quiet, self._running = quiet, []

    def begin(self, total):
        """Hear how many cells there are to execute."""
        self._bar.reset(total)

    def start(self, name):
        """Hear that a notebook starts."""
        self._running.append(name)
        self._bar.set_description(", ".join(self._running))

    def cell(self):
        """Hear that a cell begins."""
        self._bar.update()

    def finish(self, outcome):
        """Hear what became of a notebook, one that was skipped as well."""
        if outcome.name in self._running:
            self._running.remove(outcome.name)
            self._bar.set_description(", ".join(self._running))
        if not self._quiet:
            self._bar.write(describe(outcome), file=sys.stderr)

    def close(self):
        """Remove the bar."""
        self._bar.close()


def bar(items, label, total=None):
    """Show a bar while going through items in a terminal or in JupyterLab, and nothing in headless runs.

    Examples
    --------
    >>> list(bar([1, 2], "seeds"))
    [1, 2]
    """
    from tqdm.auto import tqdm

    from normint import compiling

    # A kernel has a session name only when a Jupyter server started it.
    watched = sys.stderr.isatty() or paths.in_jupyter()
    aside = current_thread() is not main_thread()  # work behind an interactive panel has its own sign
    shown = tqdm(items, desc=label, total=total, leave=False, disable=not watched or aside or paths.in_ci())
    before = compiling.compiled()
    for item in shown:
        yield item
        if compiling.compiled() > before:  # that time tells nothing about the next items
            before = compiling.compiled()
            shown.unpause()


def describe(outcome):
    """Return one line about an outcome.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> describe(SimpleNamespace(name="02_peaks", status="done", seconds=1.5, message=""))
    '02_peaks: done, 1.5 s'
    """
    if outcome.status == "skipped":
        return f"{outcome.name}: skipped, nothing changed"
    line = f"{outcome.name}: {outcome.status}, {outcome.seconds:.1f} s"
    return f"{line}: {outcome.message}" if outcome.message else line
