"""Typeset the report. Typst does it: it comes as one wheel, needs no LaTeX, and knows mathematics."""

import json
import os
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path

from normint import paths
from normint.extras import extra
from normint.files.writing import write_atomically
from normint.workbook.report.content import PICTURES, content

TEMPLATE = "report.typ"


def build(out=None, *, folder=None):
    """Write the report.

    Parameters
    ----------
    out : path-like, optional
        The PDF, ``build/report.pdf`` by default.
    folder : path-like, optional
        Of the figures and results; by default the folder of figures.

    Returns
    -------
    Path
        The PDF.

    Raises
    ------
    ValueError
        If a number or a figure is missing; it names what lacks.
    """
    root = paths.root()  # first: no library helps where the results are not
    with extra("report", "the report"):
        import typst
        import yaml  # noqa: F401  (the content needs it)
    out = Path(os.path.abspath(out or root / "build" / "report.pdf"))
    if out.suffix != ".pdf":
        raise ValueError(f"out is {out}; expected a file that ends with .pdf")
    folder = Path(folder or paths.figures())
    said = content(folder)
    pictures = {name: folder / f"{name}.png" for name in PICTURES}
    missing = [path.name for path in pictures.values() if not path.is_file()]
    if missing:
        raise ValueError(f"{folder} has no {', '.join(missing)}; run the workbook to make them")
    with tempfile.TemporaryDirectory() as scratch, write_atomically(out) as temporary:
        work = Path(scratch)
        for path in pictures.values():
            shutil.copyfile(path, work / path.name)
        (work / "report.json").write_text(json.dumps(said, ensure_ascii=False), encoding="utf-8")
        template = files("normint.workbook.report").joinpath(TEMPLATE).read_text(encoding="utf-8")
        (work / TEMPLATE).write_text(template, encoding="utf-8")
        # The fonts of the wheel alone: the same pages on every machine.
        typst.compile(str(work / TEMPLATE), output=str(temporary), root=scratch, ignore_system_fonts=True)
    return out
