"""Rows that were computed, on disk: one file a run, named after everything that it depends on."""

import json
import shutil
import sys
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from normint import __version__, paths
from normint.files.writing import sweep, write_atomically

KEPT = 4  # folders, each of one state of the code: those before can only be read again if the code goes back
LIBRARIES = ("numpy", "scipy", "numba", "llvmlite")
# What no run can depend on: pictures, panels, and the rooms above.
ASIDE = ("cli", "course", "workbook/figures", "workbook/panels", "workbook/report")


class Store:
    """The rows of one state of the code.

    Parameters
    ----------
    folder : path-like, optional
        Where rows are kept, whatever the state; by default that of :func:`normint.paths.studies`.
    """

    def __init__(self, folder=None):
        self.folder = Path(folder or paths.studies()) / code_stamp()[:16]

    def read(self, name, keep=()):
        """Return the row of a run and the arrays to keep; None where one is missing, or damaged."""
        with suppress(OSError, ValueError, KeyError, TypeError, BadZipFile):
            kept = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
            row = kept["row"]
            if not keep:
                return row, {}
            with np.load(self.folder / f"{name}.npz") as arrays:
                return row, {array: arrays[array] for array in keep}
        return None

    def write(self, name, row, arrays):
        """Keep a run: all of it or nothing, whenever the process is killed."""
        if arrays:
            with write_atomically(self.folder / f"{name}.npz") as temporary:
                np.savez(temporary, **arrays)
        with write_atomically(self.folder / f"{name}.json") as temporary:  # last: it says that all is there
            temporary.write_text(json.dumps({"row": row}), encoding="utf-8")

    def tidy(self):
        """Remove what killed processes left half written, and rows of older states of the code."""
        with suppress(OSError):
            sweep(self.folder)
            states = sorted(self.folder.parent.iterdir(), key=lambda path: path.stat().st_mtime_ns)
            for state in [state for state in states if state != self.folder][: -KEPT + 1]:
                shutil.rmtree(state, ignore_errors=True)


@cache
def code_stamp():
    """Return what changes with the code of the package that a run may use, or with the libraries."""
    files = [entry for entry in paths.listing(paths.PACKAGE, "*.py") if not entry[0].startswith(ASIDE)]
    return paths.digest([files, versions()])


@cache
def versions():
    """Return in one line what numbers may depend on."""
    libraries = [f"{name} {metadata.version(name)}" for name in LIBRARIES]
    return ", ".join([f"normint {__version__}", f"Python {sys.version.split()[0]}", *libraries])
