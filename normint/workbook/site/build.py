"""Build the site from the notebooks, the figures and the results."""

import hashlib
import json
import os
import shutil
from html import escape
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from normint import paths
from normint.files.writing import sweep, write_folder
from normint.workbook import results
from normint.workbook.notebook_files import read_notebook, source
from normint.workbook.progress import bar
from normint.workbook.site.pages import PLOTLY_SCRIPT, markdown_body, notebook_body, page, title_of

MANIFEST = "site.json"  # what was written, so that nothing else is ever removed


def build(out=None, *, root=None):
    """Turn the workbook into a folder of pages.

    Parameters
    ----------
    out : path-like, optional
        The folder, ``build/site`` by default. A site that is there is replaced as a whole when the new one is
        complete. A folder with any other file in it is refused, also if a page was changed since.
    root : path-like, optional
        The repository.

    Returns
    -------
    Path
        The index page.
    """
    root = Path(root or paths.root())
    out = Path(os.path.abspath(out or root / "build" / "site"))
    sweep(out.parent, out.name)
    check_replaceable(out)
    with write_folder(out, check=lambda: check_replaceable(out)) as draft:
        _write(draft, root)
        _save(draft / MANIFEST, json.dumps({"normint site": _digests(draft)}, indent=1) + "\n")
    return out / "index.html"


def check_replaceable(folder):
    """Refuse a folder in which anything is not as `build` wrote it."""
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or not folder.is_dir():
        raise ValueError(f"out is {folder}, which is not a folder; expected a new folder, or an old site")
    known = _manifest(folder)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() and not path.is_symlink():
            ours = any(file.startswith(f"{name}/") for file in known)
        else:
            ours = name == MANIFEST or (name in known and _digest(path) == known[name])
        if not (known and ours):
            raise ValueError(f"{path} is not as normint wrote it; move it away, or choose another folder")


def _manifest(folder):
    """Return the digests of the files that were written into a folder, by their names."""
    try:
        found = json.loads((folder / MANIFEST).read_bytes() if _is_plain(folder / MANIFEST) else b"")
        return dict(found["normint site"])
    except (ValueError, TypeError, LookupError, RecursionError):  # there is none, or another's
        return {}


def _digests(folder):
    return {
        path.relative_to(folder).as_posix(): _digest(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _digest(path):
    """Return a text that changes with the content of a plain file; None for a link, a pipe or a device."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if _is_plain(path) else None


def _is_plain(path):
    return path.is_file() and not path.is_symlink()


def _write(folder, root):
    notebooks = {path.stem: _read(path) for path in _sources(root)}
    exercises = {
        path.stem: _read(path)
        for path in sorted((root / "notebooks" / "exercises").glob("[0-9]*.ipynb"))  # never the solutions
    }
    targets = {f"{name}.ipynb": f"{name}.html" for name in notebooks}
    targets |= {f"{name}.ipynb": f"exercises/{name}.html" for name in exercises}
    figures = sorted(path for path in (root / "figures").glob("*.png") if "stand-in" not in path.name)
    targets |= {path.name: f"figures/{path.name}" for path in figures}

    (folder / "figures").mkdir(parents=True)
    for path in figures:
        shutil.copyfile(path, folder / "figures" / path.name)
    for name, notebook in bar(notebooks.items(), "pages"):
        _save(folder / f"{name}.html", _page(name, notebook, targets=targets))
    for name, notebook in exercises.items():
        _save(folder / "exercises" / f"{name}.html", _page(name, notebook, targets=targets, depth=1))
    index = _index(root, notebooks, exercises, figures)
    _save(folder / "index.html", page("normint", index, targets=targets))
    _save(folder / "style.css", _style())
    _copy_plotly(folder)


def _read(path):
    if not path.is_file():  # a pipe might never end
        raise ValueError(f"{path} is not a plain file; expected a notebook")
    return read_notebook(path)


def _page(name, notebook, **options):
    try:
        return page(title_of(notebook), notebook_body(notebook), **options)
    except Exception as error:  # whatever a damaged notebook makes the converters stumble over
        raise ValueError(f"{name}.ipynb cannot be shown ({type(error).__name__}: {error})") from error


def _sources(root):
    """Return the notebooks as last executed, or as committed where they were not."""
    for path in sorted((root / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        executed = root / "build" / "workbook" / path.name
        yield executed if executed.exists() else path


def _index(root, notebooks, exercises, figures):
    readme = (root / "README.md").read_text(encoding="utf-8")
    tagline = next((line.strip("*") for line in readme.splitlines() if line.startswith("**")), "")
    parts = [f"<h1>normint</h1><p class='tagline'>{escape(tagline)}</p>", "<h2>Notebooks</h2>"]
    parts.append(_list({f"{name}.html": notebook for name, notebook in notebooks.items()}))
    if exercises:
        parts.append("<h2>Exercises</h2>")
        parts.append(_list({f"exercises/{name}.html": notebook for name, notebook in exercises.items()}))
    parts.append("<h2>Figures</h2><div class='gallery'>")
    for path in figures:
        name = f"figures/{quote(path.name)}"
        label = escape(path.stem.replace("_", " "))
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
        paragraphs = "".join(map(source, notebook["cells"][:1])).split("\n\n")[1:]
        words = next((text for text in paragraphs if not text.startswith("*")), "")
        items.append(
            f"<li><a href='{quote(address)}'>{escape(title_of(notebook))}</a>{markdown_body(words)}</li>"
        )
    return f"<ul class='notebooks'>{''.join(items)}</ul>"


def _style():
    from pygments.formatters import HtmlFormatter

    ours = (files("normint.workbook.site") / "style.css").read_text(encoding="utf-8")
    return ours + HtmlFormatter(style="friendly").get_style_defs(".highlight") + "\n"


def _copy_plotly(folder):
    """Put plotly's own script beside the pages that draw 3D views with it."""
    if any("Plotly.newPlot" in path.read_text(encoding="utf-8") for path in folder.rglob("*.html")):
        from plotly.offline import get_plotlyjs

        _save(folder / PLOTLY_SCRIPT, get_plotlyjs())


def _save(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
