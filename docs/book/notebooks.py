"""The notebooks as pages: beside the other sources, and with what a page needs that a notebook has not."""

import json
import re
import shutil
from html import escape
from pathlib import Path

from sphinx.util import logging

from book import descriptions
from normint import paths
from normint.workbook.figures.interactive_3d import COVER, PLOTLY
from normint.workbook.notebook_files import chapters, source

PICTURES = {"image/png", "image/jpeg"}
CELL_LINK = re.compile(r"\[([^\]]*)\]\(([\w./-]+)\.ipynb#cell-id=([\w-]+)\)")
LOG = logging.getLogger(__name__)


def add_to(app):
    """Copy the notebooks before sources are listed, and prepare each when it is read."""
    app.connect("builder-inited", _mirror)
    app.connect("source-read", _prepare)


def _mirror(app):
    """Copy what changed, since Sphinx reads only below its own folder; solutions are not for readers."""
    root, copy = paths.root() / "notebooks", Path(app.srcdir, "notebooks")
    wanted = [path for folder in (root, root / "exercises") for path in chapters(folder)]
    names = {path.relative_to(root) for path in wanted}
    for path in copy.rglob("*.ipynb"):
        if path.relative_to(copy) not in names:
            path.unlink()
    for name in names:
        old, new = copy / name, root / name
        if not old.exists() or old.read_bytes() != new.read_bytes():
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(new, old)


def _prepare(app, docname, content):
    if docname.startswith("notebooks/"):
        notebook = json.loads(content[0])
        notebook["cells"] = [new for cell in notebook["cells"] for new in prepared(cell, docname)]
        content[0] = json.dumps(notebook)


def prepared(cell, docname):
    """Return a cell as a page shows it; one with code comes after a mark that links can lead to."""
    name, depth = cell["id"], docname.count("/")
    if cell["cell_type"] == "markdown":
        cell["source"] = _local(source(cell), depth)
        return [cell]
    tags = cell["metadata"].setdefault("tags", [])
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "text/markdown" in data:
            data["text/markdown"] = _local("".join(data["text/markdown"]), depth)
        if PLOTLY in data:
            data["text/html"] = _view(data.pop(PLOTLY))
            tags.append("beside")
        if PICTURES & data.keys():
            said = descriptions.of_output(source(cell), name, data)
            if not said:
                LOG.warning("%s, cell %s: its picture has no description in figures.toml", docname, name)
            cell["metadata"]["mystnb"] = {"image": {"alt": said}}
    mark = {"cell_type": "markdown", "id": f"mark-{name}", "metadata": {}}
    return [mark | {"source": f'<div class="cell-mark" id="{escape(name)}"></div>'}, cell]


def _local(text, depth):
    """Let links lead to cells of other pages, and to files that are one folder further away from a copy.

    Examples
    --------
    >>> _local("[02](02_peaks.ipynb#cell-id=02-18) [b](../data/b.csv) [c](../02_peaks.ipynb)", 1)
    '<a href="02_peaks.html#02-18">02</a> [b](path:../../data/b.csv) [c](../02_peaks.ipynb)'
    """
    text = CELL_LINK.sub(r'<a href="\2.html#\3">\1</a>', text)
    return re.sub(rf"\]\(({'../' * depth})(?=[a-z]+/)", r"](path:\1../", text)


def _view(figure):
    """Return a place for a 3D view and its data, which `views.js` draws when it is near the screen."""
    # As wide as the page, whatever the notebook's own width was; `views.js` does what the cover does there.
    unused = {"width", "height", *COVER}
    layout = {k: v for k, v in figure.get("layout", {}).items() if k not in unused}
    drawn = json.dumps({"data": figure.get("data", []), "layout": layout})
    # Without any "<", a text in it can neither end the script nor begin a comment.
    drawn = drawn.replace("<", "\\u003c")
    return (
        '<div class="view" role="img" aria-label="the same surface, to turn with the mouse or a finger">'
        f'<script type="application/json">{drawn}</script></div>'
    )
