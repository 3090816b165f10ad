"""Formulas in pages that need no network: MathJax draws TeX between dollar signs, from one file."""

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from normint.extras import extra

NAME = "tex-svg-full.js"  # with its letters in it: no browser has to be allowed to load fonts
# Neither a menu nor speech: they would be loaded from elsewhere.
SETTINGS = {"options": {"enableMenu": False}, "svg": {"fontCache": "global"}}


def mathjax():
    """Return the path of the script that draws formulas."""
    with extra("docs", "drawing formulas"):
        try:
            found = files("sphinx-mathjax-offline") or []
        except PackageNotFoundError as error:
            raise ModuleNotFoundError(name="sphinx-mathjax-offline") from error
    (script,) = [file for file in found if file.match(f"mathjax/{NAME}")]
    return Path(str(script.locate()))
