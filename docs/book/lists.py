"""Lists that are made, never typed: a line `<!-- book: gallery -->` of a page becomes the gallery."""

import csv
import re
from pathlib import Path

import cv2

from book import assets, descriptions, reference
from normint import paths
from normint.workbook import results
from normint.workbook.notebook_files import chapters, read_notebook, source

PLACE = re.compile(r"^<!-- book: (\w+)(?: ([\w.]+))? -->$", flags=re.MULTILINE)
WIDTH = 480  # of a small picture, in pixels


def add_to(app):
    """Fill in the lists when a page is read, which every build does anew."""
    app.connect("builder-inited", _make_small_pictures)
    app.connect("env-get-outdated", _with_places)
    app.connect("source-read", _fill_in)


def _with_places(app, env, *changes):
    """Return the pages with lists."""
    pages = {name: Path(env.doc2path(name)) for name in env.found_docs}
    return [
        name
        for name, path in pages.items()
        if path.suffix == ".md" and PLACE.search(path.read_text(encoding="utf-8"))
    ]


def _fill_in(app, docname, content):
    if not docname.startswith("notebooks/"):
        content[0] = PLACE.sub(lambda place: LISTS[place[1]](*filter(None, [place[2]])), content[0])


def gallery():
    """Return all published figures by the notebooks that make them, with their descriptions."""
    there = {path.stem for path in assets.figures()}
    parts = []
    for path in chapters(paths.root() / "notebooks"):
        cells = read_notebook(path)["cells"]
        found = [
            (name, cell["id"])
            for cell in cells
            if cell["cell_type"] == "code"
            for name in descriptions.saved_in(source(cell))
            if name in there
        ]
        if found:
            title = source(cells[0]).splitlines()[0].removeprefix("# ")
            parts += [f"## {title}", ":::::{container} gallery"]
            parts += [_entry(name, path.stem, cell) for name, cell in found]
            parts += [":::::"]
    return "\n\n".join(parts)


def _entry(name, notebook, cell):
    said = descriptions.all_of_them().get(name, "")
    lines = [
        f"::::{{figure}} thumbnails/{name}.webp",
        f":alt: {said}",
        f":target: figures/{name}.png",
        ":loading: lazy",
        "",
        f'{said} <a href="notebooks/{notebook}.html#{cell}">{name}</a>',
        "::::",
    ]
    return "\n".join(lines)


def _make_small_pictures(app):
    folder = Path(app.srcdir, "thumbnails")
    folder.mkdir(exist_ok=True)
    for path in assets.figures():
        small = folder / f"{path.stem}.webp"
        if not small.exists() or small.stat().st_mtime < path.stat().st_mtime:
            picture = cv2.imread(str(path))
            height = round(picture.shape[0] * WIDTH / picture.shape[1])
            picture = cv2.resize(picture, (WIDTH, height), interpolation=cv2.INTER_AREA)
            cv2.imwrite(str(small), picture, [cv2.IMWRITE_WEBP_QUALITY, 85])


def exercises():
    """Return a link to each exercise."""
    found = sorted((paths.root() / "notebooks" / "exercises").glob("[0-9]*.ipynb"))
    return "\n".join(f"- [](notebooks/exercises/{path.name})" for path in found)


def printed():
    """Return the numbers that the paper prints, beside ours."""
    return results.table(results.read(paths.root() / "figures"))


def measured():
    """Return everything else that was measured."""
    rows = [row for row in results.read(paths.root() / "figures") if not row["paper"]]
    lines = ["| figure | case | metric | ours | data | note |", "| --- " * 6 + "|"]
    for row in rows:
        ours = f"{row['ours']} ± {row['spread']}" if row["spread"] else row["ours"]
        cells = [row["figure"], row["case"], row["metric"], ours, row["data"], row["note"]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def large():
    """Return what maps of many pixels take, as measured."""
    with open(paths.root() / "benchmarks" / "large.csv", newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *rows))


LISTS = {
    "exercises": exercises,
    "gallery": gallery,
    "large": large,
    "printed": printed,
    "measured": measured,
    "methods": reference.methods,
    "room": reference.room,
    "class": reference.one_class,
    "command": reference.command,
}
