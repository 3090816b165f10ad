"""Run the notebooks: all of them, in any state of the folder, as often as one likes.

The notebooks in `notebooks` are the source and are only read. A run puts executed copies into
``build/workbook`` and figures and results into `figures`; beside each copy, a small JSON file says from
what it was made, so that the next run does only what is left to do.
"""

import asyncio
import re
import sys
import time
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from normint import paths
from normint.files.writing import locked, sweep, write_whole
from normint.paths import digest, listing
from normint.workbook import results, statements
from normint.workbook.execution import execute
from normint.workbook.notebook_files import (
    chapters,
    parameters,
    read_notebook,
    settings,
    sources,
    update_notebook,
    write_notebook,
)
from normint.workbook.outcomes import Outcome, Outcomes
from normint.workbook.progress import Progress
from normint.workbook.variations import comparison, that_take, variant_name


def run(
    *,
    root=None,
    only=(),
    changes=None,
    data=None,
    out=None,
    force=False,
    update=False,
    timeout=600.0,
    jobs=2,
    progress=None,
    prepare=None,
):
    """Execute the notebooks that need it.

    Parameters
    ----------
    root : path-like, optional
        The folder with `notebooks`, `figures`, and `build`; by default the repository.
    only : sequence of str
        Beginnings of the names to run, such as "02"; all if empty.
    changes : dict, optional
        From the parameters of notebooks to other values than their defaults, such as ``{"quick": True}``.
        Notebooks that have none of them are left out. It is a variation: it writes to ``build/quick``, say,
        leaves the published figures alone, and compares its numbers with theirs.
    data : path-like, optional
        The folder of the real data, given to the notebooks as ``$NORMINT_DATA``.
    out : path-like, optional
        Write the executed notebooks here and the figures into its subfolder `figures`.
    force : bool
        Also execute what did not change.
    update : bool
        Write the outputs back into the committed notebooks.
    timeout : float
        Seconds for each notebook.
    jobs : int
        How many at a time. Notebooks with ``{"normint": {"alone": true}}`` in their metadata measure
        time and always run alone. Those with ``{"last": true}`` read what the others wrote: they run at the
        end, and whenever another one ran.
    progress : Progress, optional
        What is told on the way; nothing by default.
    prepare : callable, optional
        Called once before several notebooks run at a time: to compile what each would compile for itself.

    Returns
    -------
    list of Outcome
        One for each notebook, in their order.
    """
    _check(timeout, jobs, data)
    root, changes = Path(root or paths.root()).resolve(), changes or {}
    variant = variant_name(changes)
    published = not variant and out is None
    real = data or paths.named_data()
    if update and (real or not published):
        raise ValueError("update needs a run with default parameters, without real data and without out")
    folder = Path(out or root / "build" / (variant or "workbook")).resolve()
    figures = root / "figures" if published else folder / "figures"

    notebooks = {path.stem: read_notebook(path) for path in select(root / "notebooks", only)}
    notebooks = that_take(notebooks, changes)
    for file in (results, statements):
        file.read(figures)  # a damaged file is said now, not by every notebook
    common = [
        changes, listing(paths.PACKAGE, "*.py"), versions(), listing(root / "data"),
        listing(real) if real else [], paths.wanted_data() or "",
    ]  # fmt: skip
    fingerprints = {name: digest([sources(notebook), common]) for name, notebook in notebooks.items()}
    environment = paths.kernel_environment(figures, variant, real)

    for place in (folder, figures):
        place.mkdir(parents=True, exist_ok=True)
    progress = progress or Progress(quiet=True)
    try:
        with locked(folder, wait=False):
            kept = Outcomes(folder, figures, fingerprints)
            session = _Run(root / "notebooks", notebooks, changes, environment, timeout, kept, progress)
            outcomes = session.run(jobs, force, prepare)
    except BlockingIOError:
        raise ValueError(f"another run is writing to {folder}") from None
    finally:
        progress.close()

    if variant:
        compared = comparison(results.read(root / "figures"), results.read(figures))
        write_whole(folder / "comparison.md", (compared + "\n").encode())
    if update:
        _update(root / "notebooks", folder, outcomes)
    readme = root / "README.md"
    complete = published and not only and all(outcome.ok for outcome in outcomes)
    if complete and readme.exists():
        # Imported here, so that a run begins at once: it brings all methods with it.
        from normint.workbook.overview import update_readme

        update_readme(readme, results.read(figures))
    return outcomes


def select(folder, only=()):
    """Return the paths of the notebooks in `folder` whose names begin with one of `only`."""
    paths = chapters(folder)
    if not paths:
        raise ValueError(f"there are no notebooks in {folder}")
    for prefix in only:
        if not any(path.stem.startswith(prefix) for path in paths):
            names = ", ".join(path.stem for path in paths)
            raise ValueError(f"only: no notebook begins with {prefix!r}; there are {names}")
    return [path for path in paths if not only or path.stem.startswith(tuple(only))]


def report(outcomes):
    """Return the table at the end of a run: notebook, status, time, figures made, numbers reproduced."""
    lines = [("notebook", "status", "time", "figures", "reproduced"), *(o.summary() for o in outcomes)]
    widths = [max(len(line[i]) for line in lines) for i in range(5)]
    aligned = ("{:<{}}", "{:<{}}", "{:>{}}", "{:>{}}", "{:>{}}")
    return "\n".join(
        "  ".join(style.format(*cell) for style, *cell in zip(aligned, line, widths, strict=True))
        for line in lines
    )


@dataclass
class _Run:
    """One run: what is executed, in which order, and what is kept of it."""

    source: Path
    notebooks: dict
    changes: dict
    environment: dict
    timeout: float
    kept: Outcomes
    progress: Progress

    def run(self, jobs, force, prepare=None):
        """Execute what is not there yet: those that may share the machine, then the others, then the last.

        Those that take longest begin first, so that the last ones end together.
        """
        for place in (self.kept.folder, self.kept.figures):
            sweep(place)
        before = [] if force else [self.kept.made_before(name) for name in self.notebooks]
        outcomes = {outcome.name: outcome for outcome in before if outcome}
        kinds = {name: settings(notebook) for name, notebook in self.notebooks.items()}
        last = [name for name in kinds if kinds[name].get("last")]
        if any(name not in outcomes for name in kinds if name not in last):
            outcomes = {name: outcome for name, outcome in outcomes.items() if name not in last}
        todo = sorted((name for name in kinds if name not in outcomes), key=self._length, reverse=True)
        last = [name for name in todo if name in last]
        alone = [name for name in todo if kinds[name].get("alone") and name not in last]
        together = [name for name in todo if name not in (*alone, *last)]
        self.progress.begin(sum(len(self.notebooks[name]["cells"]) for name in todo))
        for outcome in outcomes.values():
            self.progress.finish(outcome)
        if prepare and min(jobs, len(todo)) > 1:
            prepare()
        if todo:
            done = asyncio.run(self._execute_all((together, jobs), (alone, 1), (last, 1)))
            outcomes |= {outcome.name: outcome for outcome in done}
        return [outcomes[name] for name in self.notebooks]

    def _length(self, name):
        """Return what sorts by time: those that never ran, by size, are longer than those that did."""
        seconds, size = self.kept.seconds(name), (self.source / f"{name}.ipynb").stat().st_size
        return (1, size) if seconds is None else (0, seconds)

    async def _execute_all(self, *groups):
        """Execute one group of notebooks after the other, each with so many at a time."""
        outcomes = []
        for names, jobs in groups:
            free = asyncio.Semaphore(jobs)
            outcomes += await asyncio.gather(*(self._execute(name, free) for name in names))
        return outcomes

    async def _execute(self, name, free):
        async with free:
            self.progress.start(name)
            self.kept.forget(name)
            begun, known = time.perf_counter(), parameters(self.notebooks[name])
            executed, status, message = await execute(
                self.source / f"{name}.ipynb",
                parameters={k: v for k, v in self.changes.items() if k in known},
                environment=self.environment,
                timeout=self.timeout,
                on_cell=self.progress.cell,
            )
            outcome = Outcome(name, status, round(time.perf_counter() - begun, 1), message)
            self._write(executed, outcome.find(executed, self.kept.figures))
            self.progress.finish(outcome)
            return outcome

    def _write(self, executed, outcome):
        """Write the executed notebook; one that failed goes beside the others, with its traceback."""
        sweep(self.kept.figures)
        target = self.kept.executed(outcome.name)
        failed = target.with_suffix(".failed.ipynb")
        try:
            write_notebook(executed, target if outcome.ok else failed)
            if outcome.ok:
                failed.unlink(missing_ok=True)
        except OSError as error:
            said = f"its executed copy cannot be written: {error}"
            outcome.status, outcome.message = "failed", outcome.message or said
        if outcome.ok:
            self.kept.keep(outcome)


def versions():
    """Return the versions of Python and of all that a notebook may compute or draw with."""
    try:
        wanted = metadata.requires("normint") or []
    except metadata.PackageNotFoundError:  # it is not installed, only found
        wanted = []
    names = {re.match(r"[\w.-]+", text)[0] for text in wanted if 'extra == "dev"' not in text}
    return {"python": sys.version} | {name: _version(name) for name in names}


def _version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _check(timeout, jobs, data):
    if not timeout > 0:
        raise ValueError(f"timeout must be a positive number of seconds, got {timeout}")
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    if data is not None and not Path(data).is_dir():
        raise ValueError(f"data must be an existing folder, got {data}")
    if find_spec("papermill") is None:
        raise ValueError("notebooks need the packages of the extra 'workbook', which are not installed")


def _update(notebooks, folder, outcomes):
    for outcome in outcomes:
        if outcome.real:
            raise ValueError(f"update: {outcome.name} found real data; committed outputs are made without it")
    for outcome in outcomes:
        if outcome.ok:
            update_notebook(notebooks / f"{outcome.name}.ipynb", folder / f"{outcome.name}.ipynb")
