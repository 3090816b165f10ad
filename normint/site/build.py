"""Build the site from the notebooks, the figures and the results."""

import shutil
import tempfile
from html import escape
from importlib.resources import files
from pathlib import Path

from normint import results
from normint.notebook_files import read_notebook, source
from normint.progress import bar
from normint.site.pages import PLOTLY_SCRIPT, markdown_body, notebook_body, page, title_of


def build(out=None, *, root=None):
    """Turn the workbook into a folder of pages.

    Parameters
    ----------
    out : path-like, optional
        The folder, ``build/site`` by default. It is replaced as a whole when the new one is complete.
    root : path-like, optional
        The repository.

    Returns
    -------
    Path
        The index page.
    """
    root = Path(root or results.ROOT)
    out = Path(out or root / "build" / "site").resolve()
    if out.exists() and not (out / "index.html").exists() and any(out.iterdir()):
        raise ValueError(f"out is {out}, which holds something else than a site; expected a new folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".site-") as scratch:
        draft = Path(scratch) / "site"
        _write(draft, root)
        if out.exists():
            out.rename(Path(scratch) / "old")
        draft.rename(out)
    return out / "index.html"


def _write(folder, root):
    notebooks = {path.stem: read_notebook(path) for path in _sources(root)}
    exercises = sorted((root / "notebooks" / "exercises").glob("[0-9]*.ipynb"))
    targets = {f"{name}.ipynb": f"{name}.html" for name in notebooks}
    targets |= {path.name: f"exercises/{path.stem}.html" for path in exercises}
    figures = sorted(path for path in (root / "figures").glob("*.png") if "stand-in" not in path.name)
    targets |= {path.name: f"figures/{path.name}" for path in figures}

    (folder / "figures").mkdir(parents=True)
    for path in figures:
        shutil.copyfile(path, folder / "figures" / path.name)
    for name, notebook in bar(notebooks.items(), "pages"):
        _save(folder / f"{name}.html", page(title_of(notebook), notebook_body(notebook), targets=targets))
    for path in exercises:  # never the solutions
        notebook = read_notebook(path)
        text = page(title_of(notebook), notebook_body(notebook), targets=targets, depth=1)
        _save(folder / "exercises" / f"{path.stem}.html", text)
    index = _index(root, notebooks, {path.stem: read_notebook(path) for path in exercises}, figures)
    _save(folder / "index.html", page("normint", index, targets=targets))
    _save(folder / "style.css", _style())
    _copy_plotly(folder)


def _sources(root):
    """Return the notebooks as last executed, or as committed where they were not."""
    for path in sorted((root / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        executed = root / "build" / "workbook" / path.name
        yield executed if executed.exists() else path


def _index(root, notebooks, exercises, figures):
    readme = (root / "README.md").read_text(encoding="utf-8")
    tagline = next(line.strip("*") for line in readme.splitlines() if line.startswith("**"))
    parts = [f"<h1>normint</h1><p class='tagline'>{escape(tagline)}</p>", "<h2>Notebooks</h2>"]
    parts.append(_list({f"{name}.html": notebook for name, notebook in notebooks.items()}))
    if exercises:
        parts.append("<h2>Exercises</h2>")
        parts.append(_list({f"exercises/{name}.html": notebook for name, notebook in exercises.items()}))
    parts.append("<h2>Figures</h2><div class='gallery'>")
    for path in figures:
        name = f"figures/{path.name}"
        label = path.stem.replace("_", " ")
        parts.append(
            f"<a href='{name}'><img src='{name}' alt='{label}' loading='lazy'><span>{label}</span></a>"
        )
    parts.append("</div><h2>Results</h2><p>Every number that the paper prints, beside ours.</p>")
    parts.append(markdown_body(results.table(results.read(root / "figures"))))
    return "\n".join(parts)


def _list(notebooks):
    """Return a list of links to notebooks with their first paragraph."""
    items = []
    for address, notebook in notebooks.items():
        paragraphs = source(notebook["cells"][0]).split("\n\n")[1:]
        words = next((text for text in paragraphs if not text.startswith("*")), "")
        items.append(f"<li><a href='{address}'>{escape(title_of(notebook))}</a>{markdown_body(words)}</li>")
    return f"<ul class='notebooks'>{''.join(items)}</ul>"


def _style():
    from pygments.formatters import HtmlFormatter

    ours = (files("normint") / "site" / "style.css").read_text(encoding="utf-8")
    return ours + HtmlFormatter(style="friendly").get_style_defs(".highlight") + "\n"


def _copy_plotly(folder):
    """Put plotly's own script beside the pages that draw 3D views with it."""
    if any("Plotly.newPlot" in path.read_text(encoding="utf-8") for path in folder.rglob("*.html")):
        from plotly.offline import get_plotlyjs

        _save(folder / PLOTLY_SCRIPT, get_plotlyjs())


def _save(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
