"""One page of the site: a notebook or a Markdown text, with its links, formulas and 3D views made local."""

import json
import re
from html import escape

from normint.workbook.notebook_files import source
from normint.workbook.site.formulas import with_mathml

PICTURE = "image/png"
PLOTLY = "application/vnd.plotly.v1+json"
PLOTLY_SCRIPT = "plotly.min.js"


def notebook_body(notebook):
    """Return the cells of a notebook, as read by `read_notebook`, as HTML.

    3D views of plotly become a script that draws them with the site's own copy of plotly, beside the picture
    that belongs to them: in the same output, or in the one before.
    """
    import nbformat
    from nbconvert import HTMLExporter

    views = _Views()
    notebook = nbformat.reads(json.dumps(notebook), as_version=4)  # a copy, with its lines joined
    for cell in notebook.cells:
        if "outputs" in cell:
            cell.outputs = views.in_place(cell.outputs)
    body, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    return body


def markdown_body(text):
    """Return a Markdown text as HTML; HTML in it is shown as it is written, not obeyed."""
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    return MarkdownWithMath(renderer=IPythonRenderer(escape=True)).render(text)


def title_of(notebook):
    """Return the heading of a notebook."""
    match = re.search(r"^# (.+)$", "".join(map(source, notebook["cells"][:1])), flags=re.M)
    return match[1] if match else "untitled"


def page(title, body, *, targets, depth=0):
    """Return a whole page.

    Parameters
    ----------
    title : str
    body : str
        HTML.
    targets : dict
        From the file name that a link of the workbook ends with to the page that shows it, relative to the
        site's root. Links that lead to nothing on the site become plain text.
    depth : int
        How many folders below the root this page is.
    """
    from bs4 import BeautifulSoup

    up = "../" * depth
    soup = BeautifulSoup(body, "html.parser")
    with_mathml(soup)
    for image in soup.find_all("img"):
        if not image.get("alt") or image["alt"] == "No description has been provided for this image":
            image["alt"] = f"a figure of {title}"
    for anchor in soup.find_all("a", class_="anchor-link"):
        anchor.decompose()
    for link in soup.find_all("a", href=True):
        _make_local(link, targets, up)
    for wide in soup.find_all("table"):
        wide.wrap(soup.new_tag("div", attrs={"class": "wide"}))
    script = f'<script src="{up}{PLOTLY_SCRIPT}"></script>' if "Plotly.newPlot" in body else ""
    home = "" if title == "normint" else f'<nav><a href="{up}index.html">normint</a></nav>'
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="stylesheet" href="{up}style.css">
{script}
</head>
<body>
{home}
<main>
{soup}
</main>
</body>
</html>
"""


class _Views:
    """Numbers the 3D views of a page."""

    def __init__(self):
        self.count = 0

    def in_place(self, outputs):
        """Return the outputs of a cell with HTML in place of 3D views and their pictures."""
        done, before = [], {}
        for output in outputs:
            data = output.get("data", {})
            if PLOTLY in data:
                if PICTURE in before and PICTURE not in data:
                    done.pop()
                    data = before | data
                output["data"] = {"text/html": self.add(data[PLOTLY], data.get(PICTURE))}
            done.append(output)
            before = output.get("data", {})
        return done

    def add(self, figure, picture=None):
        self.count += 1
        name = f"view-{self.count}"
        # As wide as the page, whatever the notebook's own width was.
        layout = {k: v for k, v in figure.get("layout", {}).items() if k not in ("width", "height")}
        # Without any "<", a text in it can neither end the script nor begin a comment.
        data, layout = (json.dumps(part).replace("<", "\\u003c") for part in (figure.get("data", []), layout))
        view = (
            f'<div id="{name}" class="view"></div>'
            f'<script>Plotly.newPlot("{name}", {data}, {layout}, {{responsive: true}});</script>'
        )
        if picture is None:
            return view
        source = escape("data:image/png;base64," + picture.replace("\n", ""))
        return f'<div class="beside"><img src="{source}"><div>{view}</div></div>'


def _make_local(link, targets, up):
    """Point a link to a page of the site, or remove it and keep its text."""
    address = link["href"]
    if re.match(r"(https?:|mailto:|#)", address):
        return
    path, _, anchor = address.partition("#")
    target = targets.get(path.rsplit("/", 1)[-1]) or (path if path in targets.values() else None)
    if target:
        link["href"] = up + target + (f"#{anchor}" if anchor else "")
    else:
        link.unwrap()
