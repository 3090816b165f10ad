"""What long work shows on the way."""

import sys
from contextlib import contextmanager
from threading import RLock, current_thread, main_thread

from normint import paths


class Silence:
    """What a run tells on the way, to nobody."""

    def begin(self, total):
        """Hear how many cells there are to execute."""

    def start(self, name):
        """Hear that a notebook starts."""

    def cell(self):
        """Hear that a cell begins."""

    def finish(self, outcome):
        """Hear what became of a notebook."""


class Lines(Silence):
    """Write one line for each finished notebook: for logs."""

    def finish(self, outcome):
        """Write what became of a notebook."""
        self.write(describe(outcome))

    def write(self, line):
        """Write a line."""
        print(line, file=sys.stderr, flush=True)

    def close(self):
        """Leave nothing open."""


class Bar(Lines):
    """Show a bar over all cells, with the names of the running notebooks: for terminals."""

    def __init__(self):
        self._bar, self._running, self._lock = None, [], RLock()

    def begin(self, total):
        """Draw the bar for `total` cells."""
        from tqdm import tqdm

        if total:
            self._bar = tqdm(total=total, unit="cell", file=sys.stderr, leave=False, dynamic_ncols=True)

    def start(self, name):
        """Add a notebook to those running."""
        with self._lock:
            self._running.append(name)
            self._bar.set_description(", ".join(self._running))

    def cell(self):
        """Move on by one cell."""
        with self._lock:
            self._bar.update()

    def finish(self, outcome):
        """Remove a notebook from those running and write what became of it."""
        with self._lock:
            if outcome.name in self._running:
                self._running.remove(outcome.name)
                self._bar.set_description(", ".join(self._running))
            super().finish(outcome)

    def write(self, line):
        """Write a line above the bar."""
        if self._bar is None:
            super().write(line)
        else:
            self._bar.write(line, file=sys.stderr)

    def close(self):
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


@contextmanager
def progress():
    """Yield a bar in a terminal, and plain lines elsewhere and in continuous integration."""
    shown = Bar() if sys.stderr.isatty() and not paths.in_ci() else Lines()
    try:
        yield shown
    finally:
        shown.close()


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
