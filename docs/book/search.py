"""A line of context for what the search finds: browsers let no page from a file read another.

The texts of all pages come as a script instead, which only the page of the search loads.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

FORMULA = "…"  # one that is no letter: in a line of plain text nobody could read it


def add_to(app):
    """Let the page of the search load the texts, and write them when all pages are there."""
    app.connect("html-page-context", _load)
    app.connect("build-finished", _write)


def texts(doctree):
    """Return the prose and the code of each section, without those inside it, by its mark."""
    return {section["ids"][0]: _prose_and_code(section) for section in doctree.findall(nodes.section)}


def _prose_and_code(section):
    own = [child for child in section if not isinstance(child, nodes.section | nodes.title)]
    prose, code = [], []
    for node in (found for child in own for found in child.findall(_told)):
        (code if isinstance(node, nodes.literal_block) else prose).append(_words(node))
    return [re.sub(r"\s+", " ", " ".join(part)).strip() for part in (prose, code)]


def _told(node):
    return isinstance(node, nodes.paragraph | nodes.term | nodes.caption | nodes.literal_block)


def _words(node):
    if isinstance(node, nodes.math | nodes.math_block):
        return node.astext() if re.fullmatch(r"\w", node.astext()) else FORMULA
    if isinstance(node, addnodes.pending_xref) and node["refdomain"] == "cite":
        return "[…]"  # its number comes later
    return "".join(map(_words, node.children)) if node.children else node.astext()


def _load(app, pagename, templatename, context, doctree):
    if pagename == "search":
        for name in ("texts.js", "search.js"):
            app.add_js_file(name, loading_method="defer")


def _write(app, error):
    if not error and app.builder.format == "html":
        found = {name: texts(app.env.get_doctree(name)) for name in sorted(app.env.found_docs)}
        script = f"const TEXTS = {json.dumps(found, ensure_ascii=False)};\n"
        Path(app.outdir, "_static", "texts.js").write_text(script, encoding="utf-8")
