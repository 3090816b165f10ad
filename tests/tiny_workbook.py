"""A workbook of tiny notebooks, and a process that only pretends to execute them."""

import os
import threading
from pathlib import Path
from unittest import mock

from normint.files.writing import write_atomically
from normint.workbook import results
from normint.workbook.notebook_files import write_notebook

# What tests must not inherit from whoever runs them.
SETTINGS = ("NORMINT_DATA", "NORMINT_FIGURES", "NORMINT_VARIANT", "NORMINT_RUN_LOG", "NORMINT_DATASET")

ONE_AT_A_TIME = threading.Lock()  # all share one environment


def code_cell(source, number, tags=()):
    """Return a code cell that was not executed."""
    metadata = {"tags": list(tags)} if tags else {}
    cell = {"cell_type": "code", "id": f"c{number}", "metadata": metadata, "source": source.strip()}
    return {**cell, "execution_count": None, "outputs": []}


def make(root, name, *sources, **settings):
    """Write a notebook: a title, the parameters, and a cell for each source."""
    title = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# Title"}
    parameters = code_cell("seed = 0\nquick = False\ndataset = 'auto'", 1, ["parameters"])
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [title, parameters, *(code_cell(source, number + 2) for number, source in enumerate(sources))]
    metadata = {"kernelspec": kernel} | ({"normint": settings} if settings else {})
    path = root / "notebooks" / f"{name}.ipynb"
    write_notebook({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, path)
    return path


class Pretend:
    """Make a figure, a number and an executed copy at once, in the place of a `NotebookProcess`.

    The class attributes keep which notebooks were executed, with what environments, since they were cleared.
    """

    executed, environments, data = [], [], "generated"

    def __init__(self, source, target, *, parameters, timeout, environment):
        self.executed.append(source.stem)
        self.environments.append(environment)
        self.figures = Path(environment["NORMINT_FIGURES"])
        self.target, self.source = target, source

    def wait(self, on_cell):
        """Write what a notebook would write, and fail where it would fail."""
        try:
            return {"status": "done", "message": "", "outputs": self._outputs()}
        except OSError as error:
            return {"status": "failed", "message": str(error), "outputs": []}

    def stop(self):
        """Be stopped, which it is at once."""

    def _outputs(self):
        name = self.source.stem
        figure = self.figures / f"{name}.png"
        for path, content in ((figure, name.encode()), (self.target, self.source.read_bytes())):
            with write_atomically(path) as temporary:
                temporary.write_bytes(content)
        with ONE_AT_A_TIME, mock.patch.dict(os.environ, NORMINT_FIGURES=str(self.figures)):
            recorded = ("fig03", name, "RMSE")
            results.record(*recorded, 0.5)
            (row,) = (r for r in results.read() if (r["figure"], r["case"], r["metric"]) == recorded)
        return [{"kind": "figure", "path": str(figure), "data": self.data}, {"kind": "number", **row}]
