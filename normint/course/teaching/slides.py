"""Slides from a notebook, as one HTML file that needs no network, and as a PDF.

What a slide shows follows from the notebook, so that there is nothing to keep up to date: each heading begins
a slide, with the first sentences and the formulas below it; each figure is a slide, with the first sentence
that is written after it.
"""

import json
import re
import shutil
import subprocess
import tempfile
from html import escape
from pathlib import Path

from normint import paths
from normint.course.teaching import formulas
from normint.files.writing import write_atomically
from normint.workbook.notebook_files import read_notebook, source

SENTENCES, FORMULAS, ITEMS = 3, 2, 4  # on a slide
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<script>MathJax = {settings};</script>
<script>{mathjax}</script>
<style>
@page {{ size: 1280px 720px; margin: 0 }}
html {{ scroll-snap-type: y mandatory }}
body {{ margin: 0; font: 30px/1.4 "DejaVu Sans", Verdana, sans-serif; color: #222 }}
section {{ box-sizing: border-box; height: 100vh; padding: 1em 2em; overflow: hidden;
  scroll-snap-align: start; break-after: page;
  display: flex; flex-direction: column; justify-content: center }}
h1 {{ font-size: 1.7em }} h2 {{ font-size: 1.3em; margin: 0 0 0.6em; color: #1f5a8a }}
img {{ flex: 1; min-height: 0; max-width: 100%; object-fit: contain }}
.figure {{ justify-content: flex-start; font-size: 0.8em }} .figure h2 {{ font-size: 1.1em; margin: 0 }}
p, ul {{ margin: 0.5em 0 }} ul {{ font-size: 0.85em; padding-left: 1em }}
mjx-container[display] > svg {{ max-width: 100%; height: auto }}
code {{ font-size: 0.9em; background: #f2f2f2 }}
@media print {{ section {{ height: 720px }} }}
</style>
</head>
<body>
{slides}
<script>
addEventListener("keydown", event => {{
  const step = {{ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1}}[event.key];
  if (step) {{ event.preventDefault(); scrollBy(0, step * innerHeight); }}
}});
</script>
</body>
</html>
"""


def write_slides(numbers=(), out=None):
    """Write the slides of notebooks.

    Parameters
    ----------
    numbers : sequence of str
        The notebooks whose names begin so; all if there are none.
    out : path, optional
        A folder, `build/slides` of the repository if not given.

    Returns
    -------
    list of path
        An HTML and, where a browser is found that prints, a PDF for each notebook.
    """
    notebooks = sorted((paths.root() / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    chosen = [path for path in notebooks if not numbers or path.name.startswith(tuple(numbers))]
    if not chosen:
        raise ValueError(f"no notebook begins with {' or '.join(numbers)}")
    out = Path(out) if out else paths.root() / "build" / "slides"
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for path in chosen:
        page = out / f"{path.stem}.html"
        with write_atomically(page) as temporary:
            temporary.write_text(slides_of(read_notebook(path)), encoding="utf-8")
        written += [page, *_printed(page)]
    return written


def slides_of(notebook):
    """Return the slides of a notebook as HTML."""
    from bs4 import BeautifulSoup

    found, heading = [], _title_of(notebook)
    cells = notebook["cells"]
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        if cell["cell_type"] == "markdown":
            for level, title, text in _sections(source(cell)):
                heading = title or heading
                if title and (level == 1 or text):
                    body = _markdown_body("#" * level + f" {title}\n\n{text}")
                    found.append(f"<section>\n{body}</section>")
        for picture in _pictures(cell):
            caption = _markdown_body(_words_after(following))
            image = f'<img alt="{escape(heading)}" src="data:image/png;base64,{picture}">'
            title = _markdown_body(f"## {heading}")
            found.append(f'<section class="figure">\n{title}{image}{caption}</section>')
    soup = BeautifulSoup("\n".join(found), "html.parser")
    for link in [*soup.find_all("a", class_="anchor-link"), *soup.find_all("a")]:
        if link.parent is None or "anchor-link" in link.get("class", []):
            link.decompose()
        else:
            link.unwrap()
    settings = json.dumps(formulas.SETTINGS | {"tex": {"inlineMath": [["$", "$"]]}})
    script = formulas.mathjax().read_text(encoding="utf-8").replace("</script", "<\\/script")
    return PAGE.format(title=escape(_title_of(notebook)), settings=settings, mathjax=script, slides=soup)


def _sections(text):
    """Yield the level, the title and the words of each heading; level 0 and no title before the first."""
    parts = re.split(r"(?m)^(#{1,3}) (.+)$", text)
    yield 0, "", _short(parts[0])
    for marks, title, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        yield min(len(marks), 2), title, _short(body)


def _short(text):
    """Return the first sentences of a text, its first formulas and its first list, in their order.

    Examples
    --------
    >>> _short("One $a. b$ here. Two. Three. Four.\\n\\n$$x = 1.$$\\n\\n| a | table |\\n\\nFive.")
    'One $a. b$ here. Two. Three.\\n\\n$$x = 1.$$'
    """
    kept, sentences, formulas, items = [], SENTENCES, FORMULAS, ITEMS
    for block in re.split(r"\n\s*\n|(?s:(\$\$.+?\$\$))", re.sub(r"(?ms)^```.*?^```$", "", text)):
        block = (block or "").strip()
        if block.startswith("$$"):
            kept += [block] if formulas > 0 else []
            formulas -= 1
        elif points := re.findall(r"(?ms)^(?:[-*]|\d+\.) (.+?)(?=\n[-*] |\n\d+\. |\Z)", block):
            kept += ["\n".join(f"- {_sentences(point)[0]}" for point in points[:items])] if items else []
            items = 0
        elif block and not re.match(r"[|<!`]", block) and sentences > 0:
            some = _sentences(block)[:sentences]
            sentences -= len(some)
            kept.append(" ".join(some))
    if kept and kept[-1].endswith(":"):  # it announces what the slide does not show
        kept[-1] = " ".join(_sentences(kept[-1])[:-1])
    return "\n\n".join(kept).strip()


def _sentences(text):
    """Split a text into sentences; a point inside a formula ends none, nor does one of "et al."."""
    found = [""]
    for part in re.split(r"(?<=[.!?])(?<!et al\.)\s+", text):
        joined = f"{found[-1]} {part}".strip()
        inside = found[-1].count("$") % 2 or found[-1].count("**") % 2 or not found[-1]
        found = [*found[:-1], joined] if inside else [*found, part]
    return found


def _pictures(cell):
    for output in cell.get("outputs", []):
        if picture := output.get("data", {}).get("image/png"):
            yield "".join(picture).replace("\n", "")


def _words_after(cell):
    """Return the first sentence of a text that follows a figure, if one does."""
    if cell is None or cell["cell_type"] != "markdown" or source(cell).startswith("#"):
        return ""
    _, _, text = next(_sections(source(cell)))
    return "" if text.startswith("$$") else " ".join(_sentences(text)[:2])


def _printed(page):
    """Print a page as a PDF and return its path, in a list; an empty one where no browser is found."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return []
    pdf = page.with_suffix(".pdf")
    with write_atomically(pdf) as temporary, tempfile.TemporaryDirectory() as profile:
        options = ["--headless", "--disable-gpu", "--no-sandbox", "--no-pdf-header-footer"]
        options += [f"--user-data-dir={profile}", f"--print-to-pdf={temporary}", page.resolve().as_uri()]
        subprocess.run([browser, *options], check=True, capture_output=True, timeout=300)
    return [pdf]


def _markdown_body(text):
    """Return a Markdown text as HTML; HTML in it is shown as it is written, not obeyed."""
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    return MarkdownWithMath(renderer=IPythonRenderer(escape=True)).render(text)


def _title_of(notebook):
    """Return the heading of a notebook."""
    match = re.search(r"^# (.+)$", "".join(map(source, notebook["cells"][:1])), flags=re.M)
    return match[1] if match else "untitled"
