"""A workbook of tiny notebooks, and what only pretends to execute them."""

import os
from pathlib import Path
from unittest import mock

from normint.files.writing import write_whole
from normint.workbook import results
from normint.workbook.notebook_files import MADE, read_notebook, write_notebook

# What tests must not inherit from whoever runs them.
SETTINGS = ("NORMINT_DATA", "NORMINT_FIGURES", "NORMINT_VARIANT", "NORMINT_RUN", "NORMINT_DATASET")


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
    """Make a figure and a number at once, in the place of `normint.workbook.execution.execute`.

    The class attributes keep which notebooks were executed, with what environments, since they were cleared.
    """

    executed, environments, data = [], [], "generated"

    @classmethod
    async def execute(cls, source, *, parameters, environment, timeout, on_cell):
        """Return the notebook with what it would say that it made, and fail where it would fail."""
        cls.executed.append(source.stem)
        cls.environments.append(environment)
        figures = Path(environment["NORMINT_FIGURES"])
        notebook = read_notebook(source)
        try:
            with mock.patch.dict(os.environ, NORMINT_FIGURES=str(figures)):
                made = cls.make(source.stem, figures)
        except OSError as error:
            return notebook, "failed", str(error)
        outputs = [{"output_type": "display_data", "data": {MADE: thing}, "metadata": {}} for thing in made]
        notebook["cells"][1]["outputs"] = outputs
        return notebook, "done", ""

    @classmethod
    def make(cls, name, figures):
        """Make a figure and a number, and return what a notebook would tell of them."""
        figure = figures / f"{name}.png"
        write_whole(figure, name.encode())
        results.record("fig03", name, "RMSE", 0.5)
        row = {"data": "generated", "key": ["fig03", name, "RMSE", "generated"]}
        return [{"data": cls.data, "path": str(figure)}, row]
