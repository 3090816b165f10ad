"""What becomes of the table of a study: means over draws, files, and how long the rest will take."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from normint.extras import check_extra
from normint.files.writing import write_atomically

# What a run returns besides its metrics.
MEASURED = (
    "energy", "iterations", "converged", "seconds", "seconds_in_all", "megabytes", "versions", "metrics",
)  # fmt: skip


def varied(table, metrics):
    """Return the names of the settings that are not the same in all rows, the seed not counted."""
    settings = [name for name in table if name not in (*MEASURED, *metrics, "seed")]
    return [name for name in settings if table[name].map(repr).nunique() > 1]


def over_draws(table, metrics):
    """Return means and deviations over seeds, a row for each combination of the settings that vary."""
    names = varied(table, metrics)
    columns = {}
    for name in (*metrics, "seconds"):
        columns[name] = (name, "mean")
        if "seed" in table and table["seed"].nunique() > 1 and name != "seconds":
            columns[f"± {name}"] = (name, lambda values: values.std(ddof=0))
    columns["runs"] = (metrics[0], "size")
    groups = table.groupby(names, sort=False, dropna=False) if names else table.groupby(lambda _: "all")
    return groups.agg(**columns).reset_index(drop=not names)


def write_table(table, path):
    """Write all rows, as CSV or as Parquet: the ending of the name decides."""
    check_ending(path)
    with write_atomically(path) as temporary:
        if Path(path).suffix == ".parquet":
            table.to_parquet(temporary, index=False)
        else:
            table.to_csv(temporary, index=False)


def check_ending(path):
    """Raise an error if a table cannot be written to a file of this name."""
    if Path(path).suffix == ".parquet":
        check_extra("parquet", str(path), "pyarrow")
    if Path(path).suffix not in (".csv", ".parquet"):
        raise ValueError(f"out is {path}; expected a name that ends in .csv or .parquet")


def seconds_left(study, folder=None):
    """Estimate how long the missing runs of a study will take one after the other.

    Runs of the same method tell, in proportion to the pixels. Where there is none yet, one is made, and kept.
    """
    missing = study.missing(folder)
    if not missing:
        return 0.0
    known = {name: [] for name in {one.get("method") for one in missing}}
    done = [one for one in study.settings if one not in missing]
    for one in done + missing:
        method = one.get("method")
        if method in known and (one in done or not known[method]):
            (row,) = replace(study, settings=(one,)).run(folder=folder).itertuples()
            known[method].append(row.seconds_in_all / one.get("n", 1) ** 2)
    left = study.missing(folder)
    return float(sum(np.mean(known[one.get("method")]) * one.get("n", 1) ** 2 for one in left))
