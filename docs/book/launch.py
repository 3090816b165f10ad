"""The buttons of a notebook's page that open it where it can be run."""

import re
from urllib.parse import quote

LAB = "http://localhost:8888/lab/tree"  # where `make lab` is, unless that place is taken
BINDER = "https://mybinder.org/v2"
COLAB = "https://colab.research.google.com/github"


def add_to(app):
    """Add buttons after those of the theme."""
    app.add_config_value("repository", "", "html")
    app.add_config_value("repository_branch", "main", "html")
    app.connect("html-page-context", _add_buttons, priority=900)


def addresses(name, repository="", branch="main"):
    """Return where a notebook can be run: a label, its address, and a hint for each place.

    Examples
    --------
    >>> [label for label, *_ in addresses("02_peaks.ipynb")]
    ['JupyterLab']
    >>> addresses("02_peaks.ipynb", "https://github.com/you/normint")[2][1]
    'https://colab.research.google.com/github/you/normint/blob/main/notebooks/02_peaks.ipynb'
    """
    found = [("JupyterLab", f"{LAB}/{quote(name)}", "Open in your own JupyterLab, after make lab")]
    path, repository = quote(f"notebooks/{name}"), repository.rstrip("/")
    if repository:
        github = re.fullmatch(r"https://github\.com/([^/]+/[^/]+)", repository)
        place = f"gh/{github[1]}" if github else f"git/{quote(repository, safe='')}"
        binder = f"{BINDER}/{place}/{branch}?urlpath=lab/tree/{path}"
        found.append(("Binder", binder, "Open in Binder, which needs a network and some minutes"))
        if github:
            colab = f"{COLAB}/{github[1]}/blob/{branch}/{path}"
            found.append(("Colab", colab, "Open in Colab, which needs a network"))
    return found


def _add_buttons(app, pagename, templatename, context, doctree):
    name = re.fullmatch(r"notebooks/(.+)", pagename)
    if not (name and doctree):
        return
    places = addresses(f"{name[1]}.ipynb", app.config.repository, app.config.repository_branch)
    buttons = [
        {"type": "link", "text": label, "url": address, "tooltip": hint, "icon": "fas fa-play"}
        for label, address, hint in places
    ]
    group = {"type": "group", "tooltip": "Run this notebook", "icon": "fas fa-rocket", "buttons": buttons}
    context["header_buttons"].insert(0, group | {"label": "launch-buttons"})
