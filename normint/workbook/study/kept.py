"""Long studies whose numbers the repository keeps, in `data/studies`: a few runs are made again each time.

``NORMINT_KEEP=1 normint workbook --force --only 12`` makes all runs of a notebook's kept studies, and writes
their tables.
"""

import csv
import json
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from normint import paths
from normint.files.writing import write_atomically
from normint.inputs import as_count

__all__ = ["kept", "kept_each"]

AGREE = 0.01  # relative: on another machine a decision of a method may turn out otherwise
# What is not kept, since it is not the same each time, or is no result.
ASIDE = ("seconds", "seconds_in_all", "megabytes", "versions", "converged", "iterations", "energy")


def kept(study, name, live=3):
    """Return the table of a study, from the table of this name that the repository keeps.

    Some of its runs are made again, and must give the numbers that were kept. Runs that are not in the table,
    such as those of another seed, are made.

    Parameters
    ----------
    study : Study
        Without arrays.
    name : str
        Of the table, in `data/studies`.
    live : int
        How many runs to make again, evenly among those of the study; the first is one of them.

    Returns
    -------
    pandas.DataFrame
        As from :meth:`normint.workbook.study.Study.run`, without times.
    """
    from pandas import DataFrame

    live, known, keys = as_count("live", live), _read(name), [_key(one) for one in study.settings]
    old = [] if paths.keeping() else [place for place, key in enumerate(keys) if key in known]
    again = old[:: max(1, -(-len(old) // live))]
    made = [place for place in range(len(study)) if place in again or place not in old]
    found = _made(study, made, name)
    if paths.keeping():
        _write(name, known | {keys[place]: row for place, row in found.items()})
    for place in again:
        for column, value in known[keys[place]].items():
            if not np.isclose(found[place][column], value, rtol=AGREE, atol=1e-9):
                raise ValueError(
                    f"data/studies/{name}.csv has {column} = {value:g} for {study.settings[place]}, "
                    f"which is {found[place][column]:g} now; if that is meant, run the notebook with "
                    "NORMINT_KEEP=1"
                )
    numbers = found | {place: known[keys[place]] for place in old}
    return DataFrame([{**one, **numbers[place]} for place, one in enumerate(study.settings)])


def kept_each(studies, name, live=3):
    """Return the RMSE of several studies that one table holds, in a list for each.

    Parameters
    ----------
    studies : dict
        From any name to a Study.
    name, live
        As for `kept`.
    """
    joined = reduce(add, studies.values())
    errors = kept(joined, name, live)["rmse"]
    return {
        key: [errors[joined.settings.index(one)] for one in study.settings] for key, study in studies.items()
    }


def _made(study, places, name):
    """Make some runs, and return their numbers."""
    table = replace(study, settings=tuple(study.settings[place] for place in places)).run(label=name)
    aside = {*ASIDE, *(key for one in study.settings for key in one)}
    columns = [column for column in table if column not in aside]
    rows = zip(places, table[columns].to_dict("records"), strict=True)
    return {place: {column: float(value) for column, value in row.items()} for place, row in rows}


def _path(name):
    return paths.root() / "data" / "studies" / f"{name}.csv"


def _read(name):
    """Return from the key of each run to its numbers, by column; nothing, if there is no table."""
    if not _path(name).is_file():
        return {}
    with open(_path(name), newline="", encoding="utf-8") as file:
        names, *lines = csv.reader(file)
    middle = names.index("|")
    found = {}
    for line in lines:
        pairs = [(column, text) for column, text in zip(names, line, strict=True)]
        run = tuple(sorted(pair for pair in pairs[:middle] if pair[1]))
        found[run] = {column: float(text) for column, text in pairs[middle + 1 :] if text}
    return found


def _write(name, known):
    settings = list(dict.fromkeys(key for run in known for key, _ in run))
    columns = list(dict.fromkeys(column for row in known.values() for column in row))
    _path(name).parent.mkdir(exist_ok=True)
    with (
        write_atomically(_path(name)) as temporary,
        open(temporary, "w", newline="", encoding="utf-8") as file,
    ):
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow([*settings, "|", *columns])
        for run, row in known.items():
            numbers = (f"{row[column]:.10g}" if column in row else "" for column in columns)
            lines.writerow([*map(dict(run).get, settings), "|", *numbers])


def _key(settings):
    """Return what tells a run from the others, as the table has it."""
    return tuple(sorted((name, _text(value)) for name, value in settings.items() if value is not None))


def _text(value):
    if isinstance(value, (list, dict)):
        return json.dumps(value, sort_keys=True)
    return f"{value:.12g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
