"""Notebook files: reading them, and keeping their committed form free of chance.

A notebook is the plain JSON of its file: the library of the format takes longer to import than most
runs, in which nothing changed, take altogether.
"""

import ast
import base64
import copy
import io
import json
from contextlib import suppress
from pathlib import Path

from normint.files.reading import read_regular
from normint.files.writing import write_atomically

# Metadata that tells of one run, and so would change with every run.
_OF_A_RUN = ("papermill", "execution", "ExecuteTime", "widgets")
_WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
_PICTURE = "image/png"
# Where an executed notebook says what it made: see `normint.workbook.results.tell_run`.
MADE = "application/vnd.normint.made+json"


def chapters(folder):
    """Return the paths of the notebooks of a folder in the order of the story: 00, 01, … and then A."""
    return sorted(Path(folder).glob("[0-9A-Z]*_*.ipynb"))


def read_notebook(path):
    """Read a notebook of format 4 as a dict, or raise a `ValueError` that names the file."""
    try:
        notebook = json.loads(read_regular(path))
        _check_shape(notebook)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a readable notebook ({type(error).__name__}: {error})") from error
    for number, cell in enumerate(notebook["cells"]):
        cell.setdefault("id", f"cell-{number:02d}")  # as unique as the random ids of editors, and it stays
    notebook["nbformat_minor"] = max(5, notebook["nbformat_minor"])  # the first with ids
    return notebook


def _check_shape(notebook):
    """Raise a `ValueError` unless what the functions below rely on is there."""
    top = {"nbformat": int, "nbformat_minor": int, "metadata": dict, "cells": list}
    _check_fields("the notebook", notebook, top)
    if notebook["nbformat"] != 4:
        raise ValueError(f"it must be of format 4, got {notebook['nbformat']}")
    _check_fields("its metadata", notebook["metadata"].get("normint", {}), {})
    for number, cell in enumerate(notebook["cells"], start=1):
        name = f"cell {number}"
        _check_fields(name, cell, {"cell_type": str, "source": (str, list), "metadata": dict})
        tags, lines = cell["metadata"].get("tags", []), cell["source"]
        if not isinstance(tags, list) or not all(isinstance(text, str) for text in [*tags, *lines]):
            raise ValueError(f"the source and tags of {name} must be text")
        if cell["cell_type"] == "code":
            _check_fields(name, cell, {"execution_count": (int, type(None)), "outputs": list})
            for output in cell["outputs"]:
                _check_fields(f"an output of {name}", output, {"output_type": str})


def _check_fields(name, part, fields):
    if not isinstance(part, dict):
        raise ValueError(f"{name} must be an object, got {type(part).__name__}")
    for field, kind in fields.items():
        if not isinstance(part.get(field, ...), kind):
            raise ValueError(f"{name} has no {field}, or one of the wrong type")


def write_notebook(notebook, path):
    """Write a notebook as Jupyter does, so that `path` is never half written."""
    with write_atomically(path) as temporary:
        text = json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False)
        temporary.write_text(text + "\n", encoding="utf-8")


def source(cell):
    """Return the text of a cell, which the format allows to be a list of lines."""
    return "".join(cell["source"])


def tags(cell):
    """Return the tags of a cell."""
    return cell["metadata"].get("tags", [])


def settings(notebook):
    """Return what a notebook says about itself to this package."""
    return notebook["metadata"].get("normint", {})


def sources(notebook):
    """Return what decides the outputs of a notebook: its cells and settings, not its outputs."""
    return [settings(notebook), [[cell["cell_type"], source(cell), tags(cell)] for cell in notebook["cells"]]]


def parameters(notebook):
    """Return what can be varied from outside, with defaults: the assignments of the cell tagged so."""
    found = {}
    for cell in notebook["cells"]:
        if "parameters" in tags(cell):
            for line in _parsed(source(cell)):
                if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
                    with suppress(ValueError):  # what is computed is no default
                        found[line.targets[0].id] = ast.literal_eval(line.value)
    return found


def _parsed(text):
    try:
        return ast.parse(text).body
    except SyntaxError:  # running it will say so
        return []


def made(executed):
    """Return what an executed notebook says that it made, in the order of its cells."""
    outputs = (output for cell in executed["cells"] for output in cell.get("outputs", []))
    return [output["data"][MADE] for output in outputs if MADE in output.get("data", {})]


def normalised(committed, executed):
    """Return the committed notebook with the outputs of its executed copy, without traces of the run.

    Two runs that compute the same give the same file: cells, ids, and metadata are those of the
    committed notebook; timings, widget states, and injected parameters are left out. Pictures have at
    most 256 colours, so that the notebook is small enough for the pages that show it.
    """
    notebook = copy.deepcopy(committed)
    cells = [cell for cell in executed["cells"] if "injected-parameters" not in tags(cell)]
    if [source(cell) for cell in cells] != [source(cell) for cell in notebook["cells"]]:
        raise ValueError("the executed notebook was made from other cells")
    for part in (notebook, *notebook["cells"]):
        for name in _OF_A_RUN:
            part["metadata"].pop(name, None)
    for cell, done in zip(notebook["cells"], cells, strict=True):
        if cell["cell_type"] == "code":
            cell["execution_count"] = done["execution_count"]
            cell["outputs"] = _stable_outputs(done["outputs"])
    return notebook


def update_notebook(path, executed):
    """Write the outputs of the executed copy into the committed notebook `path`."""
    try:
        notebook = normalised(read_notebook(path), read_notebook(executed))
    except ValueError as error:
        raise ValueError(f"{Path(path).name} is not updated: {error}") from error
    write_notebook(notebook, path)


def _stable_outputs(outputs):
    stable = []
    for output in copy.deepcopy(outputs):
        if MADE in output.get("data", {}):
            continue  # it is for the run alone
        if "data" in output:
            output["data"].pop(_WIDGET_VIEW, None)  # it has a random id; the text beside it stays
            if _PICTURE in output["data"]:
                output["data"][_PICTURE] = _smaller(output["data"][_PICTURE])
        if output["output_type"] == "stream":
            # How a text is cut into messages depends on timing: join what belongs together.
            output["text"] = "".join(output["text"])
            if stable and stable[-1].get("name") == output["name"]:
                output["text"] = "".join(stable.pop()["text"]) + output["text"]
            output["text"] = output["text"].splitlines(keepends=True)
        stable.append(output)
    return stable


def _smaller(picture):
    """Return a PNG, as base64 in a text or a list of lines, with a palette, if that has fewer bytes."""
    from PIL import Image

    data = base64.b64decode("".join(picture))
    with Image.open(io.BytesIO(data)) as image:
        few = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    packed = io.BytesIO()
    few.save(packed, "png", optimize=True)
    return base64.b64encode(min(data, packed.getvalue(), key=len)).decode("ascii")
