"""A function, many settings, and the table that comes of them."""

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from normint import paths
from normint.workbook.progress import bar
from normint.workbook.study.measuring import measured
from normint.workbook.study.places import carry_out
from normint.workbook.study.store import Store, code_stamp


class FailedRuns(RuntimeError):
    """Some runs of a study failed. The others are done, and kept.

    Attributes
    ----------
    table : pandas.DataFrame
        The rows of those that did not fail.
    """

    def __init__(self, message, table):
        super().__init__(message)
        self.table = table


@dataclass(frozen=True)
class Study:
    """Settings to call a function with, one after the other or side by side.

    Attributes
    ----------
    function : callable
        Takes the settings by name. It returns a dict: numbers and texts, which make the row, and arrays. If
        it has an attribute ``settle``, that is called with each settings before any work, and returns them in
        their only form, or raises a ValueError that names the argument.
    settings : sequence of dict
        Plain values: numbers, texts, None, and lists and dicts of them. Equal ones count once.
    keep : sequence of str
        The arrays to keep, such as ``("depth",)``; the others are let go at once.
    depends : object
        What else the rows depend on, such as a listing of data: anything that JSON can hold.

    Examples
    --------
    >>> import tempfile
    >>> study = Study.over(surface="peaks", n=24, sigma=0.1, seed=[0, 1], method=["quadratic", "dct"])
    >>> table = study.run(folder=tempfile.mkdtemp())
    >>> table.groupby("method", sort=False)["rmse"].count()
    method
    quadratic    2
    dct          2
    Name: rmse, dtype: int64
    """

    function: Callable[..., dict]
    settings: tuple
    keep: tuple = ()
    depends: object = None
    _last: dict = field(default_factory=dict, init=False, repr=False, compare=False)  # how it was run last

    def __post_init__(self):
        settle = getattr(self.function, "settle", None) or partial(_bound, self.function)
        unique = {}
        for one in self.settings:
            one = settle(_plain(one))
            unique.setdefault(json.dumps(one, sort_keys=True), one)
        object.__setattr__(self, "settings", tuple(unique.values()))
        object.__setattr__(self, "keep", tuple(self.keep))

    @classmethod
    def over(cls, function=None, *, keep=(), depends=None, **settings):
        """Combine every value with every other: a list, tuple, range or array has several, all else one.

        Parameters
        ----------
        function, keep, depends
            As for the class; by default :func:`normint.workbook.study.integrated`.
        **settings
            The names in the order in which the table has them: the last one varies fastest.
        """
        from normint.workbook.study.experiment import integrated

        several = (list, tuple, range, np.ndarray)
        values = [value if isinstance(value, several) else [value] for value in settings.values()]
        grid = tuple(dict(zip(settings, one, strict=True)) for one in product(*values))
        return cls(function or integrated, grid, keep, depends)

    def __add__(self, other):
        """Return a study of the runs of both, which must have the same function."""
        if (self.function, self.keep, self.depends) != (other.function, other.keep, other.depends):
            raise ValueError("studies can be joined only if function, keep and depends are the same")
        return Study(self.function, self.settings + other.settings, self.keep, self.depends)

    def __len__(self):
        return len(self.settings)

    def missing(self, folder=None):
        """Return the settings that were not run yet, with this code."""
        store = Store(folder)
        return [one for one in self.settings if store.read(self._name(one), self.keep) is None]

    def run(self, *, workers=1, scheduler=None, fresh=False, folder=None, label=""):
        """Carry out what is missing.

        Parameters
        ----------
        workers, scheduler
            Where, see :func:`normint.workbook.study.places.carry_out`. The numbers are the same.
        fresh : bool
            Whether to run also what was run before: for times.
        folder : path-like, optional
            Where rows are kept; by default below ``build``.
        label : str
            Beside the bar that shows how far it is.

        Returns
        -------
        pandas.DataFrame
            One row for each of the settings, in their order: the settings, what the function returned, the
            seconds of the processor (``seconds_in_all``; ``seconds`` too, unless the function has its own),
            the largest memory of the process in megabytes, and versions.

        Raises
        ------
        FailedRuns
            At the end, if some failed.
        """
        store, rows, failed = Store(folder), {}, []
        self._last["folder"] = folder
        if not fresh:
            kept = [store.read(self._name(one), self.keep) for one in self.settings]
            rows = {number: one[0] for number, one in enumerate(kept) if one}
        missing = [number for number in range(len(self)) if number not in rows]
        call = partial(measured, self.function, self.keep, code_stamp())
        done = carry_out(
            call, [self.settings[number] for number in missing], workers=workers, scheduler=scheduler
        )
        for place, (row, arrays, problem) in bar(done, label, total=len(missing)):
            number = missing[place]
            if problem:
                failed.append((number, problem))
            else:
                store.write(self._name(self.settings[number]), row, arrays)
                rows[number] = row
        if missing:
            store.tidy()
        table = self._table(rows)
        if failed:
            number, problem = min(failed)
            which = ", ".join(f"{name}={value}" for name, value in self.settings[number].items())
            raise FailedRuns(f"{len(failed)} of {len(self)} runs failed; with {which}: {problem}", table)
        return table

    def arrays(self, number=0):
        """Return the arrays that a run kept, by name. The study must have been run, in whatever folder."""
        kept = Store(self._last.get("folder")).read(self._name(self.settings[number]), self.keep)
        if kept is None:
            raise ValueError(f"number is {number}, a run that is not done; call run first")
        return kept[1]

    def _table(self, rows):
        from pandas import DataFrame

        whole = [{**self.settings[number], **rows[number]} for number in sorted(rows)]
        return DataFrame([{name: _entry(value) for name, value in row.items()} for row in whole])

    def _name(self, settings):
        function = self.function
        where = f"{function.__module__}.{function.__qualname__}"
        return paths.digest([where, _own_code(function), settings, self.depends])[:32]


def _entry(value):
    """Return a value as a table can group by it, and write it: lists and dicts as text."""
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _own_code(function):
    """Return the source file of a function that is not part of the package, whose code has its stamp anyway.

    What that file imports is not looked at: name it by `depends` if it changes.
    """
    if function.__module__.split(".")[0] == "normint":
        return ""
    try:
        return Path(inspect.getsourcefile(function)).read_text(encoding="utf-8")
    except (OSError, TypeError):
        raise ValueError("function has no source file: write it into a module, not into a cell") from None


def _bound(function, settings):
    try:
        inspect.signature(function).bind(**settings)
    except TypeError as error:
        raise ValueError(f"settings do not fit {function.__qualname__}: {error}") from None
    return settings


def _plain(value):
    """Return settings as JSON has them, so that equal settings have equal names."""
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [_plain(one) for one in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise ValueError(f"settings hold a {type(value).__name__}; expected numbers, texts, None, lists, dicts")
