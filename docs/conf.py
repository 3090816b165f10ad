"""Settings of the book. `make site` builds it: sphinx-build -W docs build/site."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import normint  # noqa: E402

project = "normint"
author = "the normint contributors"
version = release = normint.__version__

# Where the repository is. From it come the buttons that open a notebook in Binder and in Colab, which read
# notebooks from there; without it there are none: make site ARGS='-D repository=https://github.com/you/normint'
repository = ""

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinxcontrib.bibtex",
    "book",
]
exclude_patterns = ["**/.ipynb_checkpoints"]

# Notebooks are shown as committed: what they show is checked elsewhere.
nb_execution_mode = "off"
nb_render_markdown_format = "myst"
nb_ipywidgets_js = {}
nb_merge_streams = True
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_dmath_double_inline = True
myst_heading_anchors = 3

bibtex_bibfiles = ["references.bib"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "sphinx_book_theme"
html_title = "normint"
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_js_files = [("views.js", {"defer": "defer"})]
html_sourcelink_suffix = ""  # a notebook is downloaded as one
html_show_search_summary = False  # `book.search` has one that works from files
html_show_sphinx = html_show_copyright = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "use_fullscreen_button": False,
    "show_navbar_depth": 1,
    "navbar_persistent": [],  # there is a field for the search on the left
    "home_page_in_toc": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
