"""Numbers in text files: a camera's matrix, and control points. Errors name the file, line and column."""

import re

import numpy as np

from normint.files.reading import check_room, read_regular

__all__ = ["read_matrix", "read_points"]

# What people call the columns of a table of points. x is a column and y a row, of any program.
NAMES = {
    "row": ("row", "rows", "y", "u"),
    "column": ("column", "columns", "col", "x", "v"),
    "depth": ("depth", "z", "distance"),
    "weight": ("weight", "confidence", "lambda"),
}
MOST = 1_000_000  # points


def read_matrix(path):
    """Read the numbers of a matrix, as they stand in the lines of a text file.

    Parameters
    ----------
    path : path-like
        Numbers with spaces, commas or brackets between them; # begins a comment.

    Returns
    -------
    ndarray of float64
        One row for each line, if all lines have as many numbers; else all in one row.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "K.txt"
    >>> _ = file.write_text("[[500, 0, 320],\\n [0, x, 240],\\n [0, 0, 1]]")
    >>> read_matrix(file)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: ...K.txt, line 2, column 2: 'x' is not a number
    """
    lines = []
    for line, text in _lines(path):
        words = [word for word in re.split(r"[\s,;\[\]()]+", text) if word]
        lines.append([_number(path, line, k + 1, word) for k, word in enumerate(words)])
    lines = [line for line in lines if line]
    if not lines:
        raise ValueError(f"{path} is empty; expected a matrix")
    if len({len(line) for line in lines}) > 1:
        lines = [sum(lines, [])]
    return np.array(lines, dtype=np.float64)


def read_points(path, shape):
    """Read control points: where depths are known.

    Parameters
    ----------
    path : path-like
        A table as text, with commas, semicolons, tabs or spaces between its columns: row, column, depth
        and, if there is one, weight; or in any order below a line of names (`NAMES`). Rows and columns
        count from 0, at the centre of the upper left pixel, and may be fractions. With semicolons, a comma
        may be the decimal point. # begins a comment.
    shape : (int, int)
        Rows and columns of the image.

    Returns
    -------
    points : ndarray of float64
        n×4: row, column, depth and weight, which is 1 where it is not given.
    names : list of str
        The names of the file's columns, or what was taken for them.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "points.csv"
    >>> _ = file.write_text("x,y,z\\n10,3.5,1500\\n")
    >>> read_points(file, (4, 12))
    (array([[3.5e+00, 1.0e+01, 1.5e+03, 1.0e+00]]), ['x', 'y', 'z'])
    """
    lines = [(line, _words(text)) for line, text in _lines(path)]
    if len(lines) > MOST:
        raise ValueError(f"{path} has {len(lines)} lines; expected at most {MOST}, or a depth map")
    names = ["row", "column", "depth", "weight"][: len(lines[0][1]) if lines else 3]
    if lines and any(re.match("[a-z]", word.lower()) and word.lower() != "nan" for word in lines[0][1]):
        (line, names), *lines = lines
        places = _places(path, line, names)
    else:
        places = dict(zip(names, range(4), strict=False))
    if not lines:
        raise ValueError(f"{path} has no points; expected lines such as 120,80,1500: row, column, depth")
    points = np.ones((len(lines), 4))
    for k, (line, words) in enumerate(lines):
        if len(words) != len(names) or len(words) < 3:
            expected = ", ".join(names) if len(names) > 2 else "row, column, depth"
            raise ValueError(f"{path}, line {line} has {len(words)} columns; expected {expected}")
        for name, place in places.items():
            points[k, list(NAMES).index(name)] = _number(path, line, place + 1, words[place])
        _check_point(path, line, places, points[k], shape)
    return points, names


def _check_point(path, line, places, point, shape):
    """Refuse a point beside the image, or with a weight below 0."""
    for k, (name, size) in enumerate(zip(("row", "column"), shape, strict=True)):
        if not -0.5 <= point[k] <= size - 0.5:
            raise ValueError(
                f"{path}, line {line}, column {places[name] + 1}: {name} {point[k]:g} is outside the image; "
                f"expected a number from 0 to {size - 1}"
            )
    if point[3] < 0:
        raise ValueError(
            f"{path}, line {line}, column {places['weight'] + 1}: weight {point[3]:g}; expected a number ≥ 0"
        )


def _places(path, line, names):
    """Return which column of a table is which, by their names."""
    places = {}
    for place, name in enumerate(names):
        meant = next((one for one, known in NAMES.items() if name.lower() in known), None)
        if meant is None or meant in places:
            why = "is not known" if meant is None else f"is a second {meant}"
            known = ", ".join(f"{one} ({', '.join(other[1:])})" for one, other in NAMES.items())
            raise ValueError(f"{path}, line {line}, column {place + 1}: {name!r} {why}; expected {known}")
        places[meant] = place
    for name in ("row", "column", "depth"):
        if name not in places:
            raise ValueError(f"{path}, line {line} has no column {name}; expected one of {NAMES[name]}")
    return places


def _words(text):
    """Split a line of a table at its semicolons, or else at its commas, or else at tabs and spaces."""
    if ";" in text:
        words = [word.replace(",", ".") for word in text.split(";")]
    else:
        words = text.split("," if "," in text else None)
    return [word.strip().strip("\"'") for word in words]


def _lines(path):
    """Return the lines of a text file that are not empty, with their numbers."""
    data = read_regular(path)
    check_room(path, 20 * len(data))  # each number is a text of its own before it is one
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file; expected a table of numbers") from None
    lines = [(k + 1, line.partition("#")[0].strip()) for k, line in enumerate(lines)]
    return [(k, line) for k, line in lines if line]


def _number(path, line, column, word):
    try:
        value = float(word)
    except ValueError:
        value = None
    if value is None or not np.isfinite(value):
        what = "is not a number" if value is None else "is not finite"
        raise ValueError(f"{path}, line {line}, column {column}: {word[:40]!r} {what}")
    return value
