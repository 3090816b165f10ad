"""A process that writes files together is killed: they are all old, all new, or seen to be unfinished.

The next run finishes them and leaves nothing behind.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from normint.files.writing import sweep, write_atomically, write_together

LAST = "report.json"
NAMES = ("depth.npy", "mesh", ".hidden.ply", "preview.old.png", "depth.png")
KINDS = ("files", "new folder", "one file")
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "open")


def trial(seed, folder):
    """Write one set over another one, and kill the process before one of its changes of the disk."""
    import numpy as np  # here, so that the processes to be killed start fast

    rng = np.random.default_rng(seed)
    kind = KINDS[rng.integers(len(KINDS))]
    old, new = ({name: f"{word} {name}" for name in NAMES if rng.random() < 0.6} for word in ("old", "new"))
    kills = sorted(rng.integers(0, 25, rng.integers(1, 4)).tolist(), reverse=True)
    try:
        killed_at(folder / "home", kind, old, new, kills)
    except AssertionError as error:
        raise AssertionError(f"{kind}, {old} -> {new}, killed at {kills}: {error}") from error


def killed_at(home, kind, old, new, kills):
    """Write `old`, then `new` in processes that are killed at these changes; check; return who survived.

    Parameters
    ----------
    home : Path
        A folder to make.
    kind : str
        One of `KINDS`.
    old, new : dict
        From names to texts. The file `LAST` is added to both.
    kills : list of int
        How many changes each process may do. The next one goes on with what is there.

    Returns
    -------
    bool
        Whether the last process came to its end.
    """
    old, new = {**old, LAST: "old"}, {**new, LAST: "new"}
    if kind == "one file":
        old, new = {LAST: "old"}, {LAST: "new"}
    out = home / "a" / "out"
    home.mkdir()
    if kind == "new folder":
        old = {}
    else:
        write("files", out, old)
        (home / "a" / "of others").touch()
        (out / "of others").touch()
    after = {**old, **new}
    for changes in kills:
        done = subprocess.run([sys.executable, __file__, str(changes), kind, out, json.dumps(new)])
        assert done.returncode in (0, -signal.SIGKILL), f"exit code {done.returncode}"
        seen = texts(out)
        if LAST in seen:
            assert seen in (old, after), f"mixed: {seen}"
        else:
            assert done.returncode or not old, f"lost: {seen}"
    again = texts(swept(out))
    assert again in (old, after), f"not repaired: {again}"
    write(kind, out, new)
    assert texts(out) == after, f"not written again: {texts(out)}"
    left = [name for _, folders, files in os.walk(home) for name in folders + files if "-" in name]
    assert not left, f"left behind: {left}"
    assert kind == "new folder" or (home / "a" / "of others").exists(), "another's file is gone"
    return done.returncode == 0


def write(kind, out, content):
    """Write a set of files as commands do."""
    swept(out)
    if kind == "one file":
        with write_atomically(out / LAST) as temporary:
            temporary.write_text(content[LAST])
    else:
        write_together({out / name: text.encode for name, text in content.items()})


def swept(out):
    """Clear away what was left in, beside and above a folder; return it."""
    for path in (out, out.parent):
        sweep(path.parent, path.name)
    sweep(out)
    return out


def texts(folder):
    """Return what is in the files of a folder that are not hidden, and not another's."""
    files = [path for path in folder.glob("*") if path.is_file() and ("-" not in path.name)]
    return {path.name: path.read_text() for path in files if path.name != "of others"}


def _kill_before(changes):
    """End this process, as if from outside, before it changes the disk once more."""
    left = [changes]

    def count(event, arguments):
        if event in CHANGES and (event != "open" or arguments[2] & os.O_CREAT):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)


if __name__ == "__main__":
    _kill_before(int(sys.argv[1]))
    write(sys.argv[2], Path(sys.argv[3]), json.loads(sys.argv[4]))
