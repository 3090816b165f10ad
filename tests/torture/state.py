"""Damage what a run of the workbook left: the next one makes it again, and never skips what is not as made.

A damaged results file is an error in one line that names it; without it, the next run makes it again.
"""

import copy
import json
import os
import shutil
import string
from unittest import mock

import numpy as np

from normint.files.reading import content, read_regular
from normint.workbook import run as workbook
from tests.tiny_workbook import Pretend, make

NAMES = ("01_one", "02_two")
WRONG = (None, True, 0, -1.5, float("nan"), 10**30, "", "done", "\0", [], [None], {}, {"kind": "number"})


def trial(seed, folder):
    """Run a tiny workbook, damage one to three of its files, and run it again."""
    for name in NAMES:
        make(folder, name, "1 + 1")
    before = _run(folder)
    assert [outcome.status for outcome in before] == ["done", "done"], _told(seed, [], before)
    made = _made(folder, before)
    damages = list(_damages(folder, np.random.default_rng(seed)))
    try:
        after = _run(folder)
    except (ValueError, OSError) as error:
        # The only file that is not simply made again: it may hold what no notebook here makes.
        results = folder / "figures" / "results.csv"
        assert str(results) in str(error) and "\n" not in str(error), _told(seed, damages, error)
        assert any("results.csv" in damage for damage in damages), _told(seed, damages, error)
        _remove(results)
        after = _run(folder)
    for outcome in after:
        # Nothing but a plain file is ever replaced; what is in its place is named in one line.
        kinds = "a folder", "a pipe", "a link"
        put = [damage.split(":")[0] for damage in damages if any(kind in damage for kind in kinds)]
        named = "\n" not in outcome.message and any(path in outcome.message for path in put)
        assert outcome.ok or (outcome.status == "failed" and named), _told(seed, damages, outcome)
    now = _made(folder, after)
    for outcome in after:
        if outcome.ok:
            assert now[outcome.name] == made[outcome.name], _told(seed, damages, outcome)


def _run(folder):
    hidden = {name: "" for name in ("NORMINT_DATA", "NORMINT_DATASET")}
    with mock.patch.object(workbook, "execute", Pretend.execute), mock.patch.dict(os.environ, hidden):
        return workbook.run(root=folder, jobs=1)


def _made(folder, outcomes):
    """Return, for each notebook, all that its run should leave."""
    made = {}
    for outcome in outcomes:
        files = [folder / "build" / "workbook" / f"{outcome.name}.ipynb", *outcome.figures]
        made[outcome.name] = outcome.rows, [content(path) for path in files if outcome.ok]
    return made


def _told(seed, damages, what):
    return f"seed {seed}: after {damages or 'nothing'}: {type(what).__name__}: {what}"


def _damages(folder, rng):
    """Damage one to three files; yield what was done to each."""
    states = [folder / "build" / "workbook" / f"{name}.json" for name in NAMES]
    others = [folder / "build" / "workbook" / f"{name}.ipynb" for name in NAMES]
    others += [folder / "figures" / name for name in ("01_one.png", "02_two.png", "results.csv")]
    for path in rng.permutation(2 * states + others)[: rng.integers(1, 4)]:
        ways = {".json": [_bytes, _place, _fields, _fields], ".csv": [_bytes, _place, _text]}
        ways = ways.get(path.suffix, [_bytes, _place])
        how = ways[rng.integers(len(ways))](path, rng)
        yield f"{path.relative_to(folder)}: {how}"


def _bytes(path, rng):
    """Change the bytes of a file."""
    old = _content(path)
    cut = int(rng.integers(len(old) + 1))
    ways = {
        "emptied": b"",
        "cut off": old[:cut],
        "a byte changed": old[:cut] + bytes([int(rng.integers(256))]) + old[cut + 1 :],
        "random": rng.bytes(int(rng.integers(1, 300))),
        "twice": old * 2,
        "nested": b"[" * 100_000,
        "spaces added": old + b" \n",
    }
    how = list(ways)[rng.integers(len(ways))]
    _remove(path)
    path.write_bytes(ways[how])
    return how


def _place(path, rng):
    """Put something else in the place of a file."""
    old = _content(path)
    _remove(path)
    aside = path.with_name(f"aside of {path.name}")
    _remove(aside)
    ways = {
        "removed": lambda: None,
        "a folder": path.mkdir,
        "a pipe": lambda: os.mkfifo(path),
        "a link to nothing": lambda: path.symlink_to(aside),
        "a link to a pipe": lambda: (os.mkfifo(aside), path.symlink_to(aside)),
        "a link to the same": lambda: (aside.write_bytes(old), path.symlink_to(aside)),
        "huge": lambda: (path.touch(), os.truncate(path, 2**40)),
    }
    # Only a state and the results have a largest size; others would be read to their end.
    how = list(ways)[rng.integers(len(ways) - (path.suffix not in (".json", ".csv")))]
    ways[how]()
    return how


def _fields(path, rng):
    """Change a field of a stamp, at any depth."""
    try:
        state = json.loads(_content(path))
    except (ValueError, RecursionError):
        state = None
    if not isinstance(state, dict) or not state:
        return _bytes(path, rng)
    place, keys = state, []
    while isinstance(place, dict | list) and place and (not keys or rng.random() < 0.6):
        parent = place
        names = list(place) if isinstance(place, dict) else range(len(place))
        keys.append(names[rng.integers(len(names))])
        place = place[keys[-1]]
    if rng.random() < 0.3:
        del parent[keys[-1]]
        what = "removed"
    else:
        parent[keys[-1]] = copy.deepcopy(WRONG[rng.integers(len(WRONG))])
        what = f"= {parent[keys[-1]]!r}"
    path.write_text(json.dumps(state))
    return f"{keys} {what}"


def _text(path, rng):
    """Change a character of a text, or add a line of a merge to it."""
    lines = _content(path).decode(errors="replace").splitlines()
    line = int(rng.integers(len(lines) + 1))
    if rng.random() < 0.5 and lines:
        line = min(line, len(lines) - 1)
        at = int(rng.integers(len(lines[line]) + 1))
        new = str(rng.choice(list(string.printable)))
        lines[line] = lines[line][:at] + new + lines[line][at + 1 :]
        how = f"line {line + 1}: {lines[line]!r}"
    else:
        mark = str(rng.choice(["<<<<<<< HEAD", "=======", ">>>>>>> main", "a,b", ","]))
        lines.insert(line, mark)
        how = f"line {line + 1}: {mark!r} added"
    _remove(path)
    path.write_text("\n".join(lines) + "\n")
    return how


def _content(path):
    """Return what is in a file, which may have been damaged before."""
    try:
        return read_regular(path, 10**6)
    except (OSError, ValueError):
        return b""


def _remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
