"""Scripts and pictures that the pages need beside them, so that they need no network."""

import shutil
from pathlib import Path

from normint import paths
from normint.course.teaching import formulas

PLOTLY = "plotly.min.js"


def add_to(app):
    """Draw formulas with a local script, and copy what the pages load."""
    app.connect("config-inited", _use_local_mathjax)
    app.connect("build-finished", _copy)


def figures():
    """Return the published figures: of two made from the same data, the one from the real data."""
    return sorted(path for path in (paths.root() / "figures").glob("*.png") if "stand-in" not in path.name)


def _use_local_mathjax(app, config):
    config.mathjax_path = formulas.NAME
    config.mathjax3_config = formulas.SETTINGS


def _copy(app, error):
    if error or app.builder.format != "html":
        return
    from plotly.offline import get_plotlyjs

    static, shown = Path(app.outdir, "_static"), Path(app.outdir, "figures")
    shutil.copyfile(formulas.mathjax(), static / formulas.NAME)
    (static / PLOTLY).write_text(get_plotlyjs(), encoding="utf-8")
    shown.mkdir(exist_ok=True)
    for path in figures():
        shutil.copyfile(path, shown / path.name)
