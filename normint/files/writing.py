"""Files that are either the old ones or the new ones, never half of each."""

import os
import re
import secrets
import shutil
import stat
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # no advisory locks on this system: one run at a time is then up to the user
    fcntl = None

_RUN = secrets.token_hex(4)  # in containers, a later process often has the number of one that was killed
_HIDDEN = re.compile(
    r"\.(?P<stem>.*)\.(?P<kind>tmp|new|old)-(?P<mark>(?P<pid>\d+)-(?P<run>[0-9a-f]{8})[0-9a-f]{8})"
    r"(?P<suffix>\.[^.]*)?",
    flags=re.DOTALL,
)


@contextmanager
def write_atomically(path):
    """Yield a temporary path beside `path` and rename it to `path` at the end.

    Readers see the old file or the complete new one. If the block raises, `path` is untouched and
    the temporary file is removed; a killed process leaves at most the temporary file, which
    `sweep` removes.

    Parameters
    ----------
    path : path-like
        The file to write: a plain file, or nothing yet. Its folder is made if it does not exist.

    Yields
    ------
    temporary : Path
        A hidden path in the same folder with the same suffix, so that writers which choose a
        format by the suffix still do.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with write_atomically(folder / "depth.txt") as temporary:
    ...     _ = temporary.write_text("1.5")
    >>> [file.name for file in folder.iterdir()]
    ['depth.txt']
    """
    path = Path(os.path.abspath(path))
    check_plain(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _hidden(path, "tmp", _new_mark())
    _reserve(temporary)
    try:
        yield temporary
        check_plain(path)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path, data):
    """Write the bytes of one file, all or none: see :func:`write_atomically`."""
    with write_atomically(path) as temporary:
        temporary.write_bytes(data)


def write_together(files, *, check=None):
    """Write the files of a folder that belong together: all are new, or all are as they were.

    Parameters
    ----------
    files : dict
        From the paths, all in one folder, to functions that return the bytes of the file. The last file is
        the sign that the set is complete.
    check : callable, optional
        Called without arguments after all has been written and before anything is replaced. It raises if a
        file may not be replaced.

    Notes
    -----
    If the folder does not exist, it is made under a temporary name and renamed, so that it is there with all
    its files or not at all. If it exists, new files are first written under temporary names. Then the last
    one gets a name that says so, the old files are moved aside, the last one first, and the new ones are
    renamed, the last one last. What fails on the way is undone. So if the process is killed, the folder has
    all old files, or all new ones, or the last one is missing; `sweep` then goes on where it stopped. This is
    about processes, not about machines that lose their power.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "out"
    >>> write_together({folder / "a": lambda: b"1", folder / "b": lambda: b"2"})
    >>> sorted(file.name for file in folder.iterdir())
    ['a', 'b']
    """
    files = {Path(os.path.abspath(path)): content for path, content in files.items()}
    folder = next(iter(files)).parent
    outermost = first_missing(folder)
    if outermost is not None:
        with write_folder(outermost) as draft:
            inside = draft / folder.relative_to(outermost)
            inside.mkdir(parents=True, exist_ok=True)
            for path, content in files.items():
                _write(inside / path.name, content, path)
            if check is not None:
                check()
        return
    with _drafts(files) as mark:
        for path, content in files.items():
            _write(_hidden(path, "tmp", mark), content, path)
        with locked(folder):
            if check is not None:
                check()
            check_plain(*files)
            _rename_all(_steps(files, mark))


@contextmanager
def write_folder(path):
    """Yield a temporary folder beside `path` that takes its place at the end, or is removed.

    A folder with something in it is not replaced. A killed process leaves the new folder, or none.
    """
    path = Path(os.path.abspath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with _drafts([path]) as mark:
        temporary = _hidden(path, "tmp", mark)
        temporary.mkdir()
        yield temporary
        _rename_where_nothing_is(temporary, path)


@contextmanager
def _drafts(paths):
    """Yield a mark for the hidden names of new files; at the end, whatever it is, clear the names away."""
    mark = _new_mark()
    try:
        yield mark
    finally:
        if not any(os.path.lexists(_hidden(path, "new", mark)) for path in paths):  # else `sweep` needs them
            _remove(_hidden(path, "tmp", mark) for path in paths)
    _remove(_hidden(path, "old", mark) for path in paths)


def check_plain(*paths):
    """Refuse to replace anything but plain files: a folder, a device, a pipe, or what a link leads to."""
    for path in paths:
        try:
            mode = os.lstat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            continue
        if not stat.S_ISREG(mode):
            kinds = {stat.S_ISDIR: "a folder", stat.S_ISLNK: "a link", stat.S_ISFIFO: "a pipe"}
            kind = next((name for test, name in kinds.items() if test(mode)), "a device")
            raise FileExistsError(f"{path} is {kind}; expected a plain file, or nothing yet")


def first_missing(folder):
    """Return the outermost folder that has to be made so that `folder` exists, or None.

    Examples
    --------
    >>> first_missing("/nowhere/at/all").name, first_missing("/")
    ('nowhere', None)
    """
    folder = Path(os.path.abspath(folder))
    return next((f for f in (*reversed(folder.parents), folder) if not os.path.lexists(f)), None)


def sweep(folder, only=None):
    """Remove what killed processes left in `folder`, and finish what they were about to finish.

    Parameters
    ----------
    folder : path-like
    only : str, optional
        Look only for what belongs to the file or folder of this name.

    Returns
    -------
    list of Path
        The files and folders of unfinished sets that are now complete.
    """
    sets, finished = {}, []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _HIDDEN.fullmatch(entry.name)
            name = match and match["stem"] + (match["suffix"] or "")
            if match and only in (None, name) and not _is_alive(match):
                sets.setdefault(match["mark"], {})[match["kind"], Path(folder, name)] = Path(entry.path)
    for mark, found in sets.items():
        last = [path for kind, path in found if kind == "new"]
        if last:
            finished += _finish([*(path for kind, path in found if kind == "tmp"), *last], mark)
        _remove(path for (kind, _), path in found.items())
    return finished


def _finish(paths, mark):
    """Rename what a killed process had written and not yet renamed."""
    for path in paths:
        if os.path.lexists(path) and os.path.lexists(_hidden(path, "old", mark)):
            raise FileExistsError(f"{path} is in the way of a killed run's {_hidden(path, 'tmp', mark).name}")
    with locked(paths[0].parent):
        _rename_all(_steps(paths, mark)[1:])
    _remove(_hidden(path, "old", mark) for path in paths)
    return paths


def _steps(paths, mark):
    """Return pairs of names: what to rename, in this order, so that new files take the place of old ones."""
    *others, last = paths
    return [
        (_hidden(last, "tmp", mark), _hidden(last, "new", mark)),  # from here on, all are written
        *((path, _hidden(path, "old", mark)) for path in (last, *others) if os.path.lexists(path)),
        *((_hidden(path, "tmp", mark), path) for path in others),
        (_hidden(last, "new", mark), last),
    ]


def _rename_all(steps):
    """Rename one after the other; if one cannot be, or the user interrupts, go all the way back."""
    begun = []
    try:
        for source, target in steps:
            begun.append((source, target))
            os.rename(source, target)
    except BaseException:
        for source, target in reversed(begun):
            if not os.path.lexists(source):  # the last one may have been done or not
                os.rename(target, source)
        raise


def _rename_where_nothing_is(folder, path):
    try:
        os.rename(folder, path)  # the system itself refuses to rename a folder onto something
    except OSError as error:
        if os.path.lexists(path):
            raise FileExistsError(f"{path} has come to exist during the work; nothing was changed") from error
        raise


def _write(temporary, content, path):
    try:
        data = content()
        _reserve(temporary)
        temporary.write_bytes(data)
    except OSError as error:
        why = error.strerror or error
        raise OSError(f"{path} cannot be written: {why}; nothing was changed") from error


def _new_mark():
    return f"{os.getpid()}-{_RUN}{secrets.token_hex(4)}"


def _hidden(path, kind, mark):
    """Return a name for another state of a file, from which `sweep` finds the file's own."""
    return path.with_name(f".{path.stem}.{kind}-{mark}{path.suffix}")


def _reserve(path):
    """Make an empty file where there is nothing, not even a link."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))


def _remove(paths):
    """Remove files and folders, as far as they are there; a link alone, not what it leads to."""
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _is_alive(match):
    """Tell whether the process that made a hidden name still runs."""
    pid = int(match["pid"])
    if pid == os.getpid():
        return match["run"] == _RUN
    try:
        os.kill(pid, 0)
        # One that has ended keeps its number until its parent looks, which in a container nobody may do.
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is somebody else's, or the system has no such files
        return True


@contextmanager
def locked(folder, *, wait=True):
    """Hold the lock of `folder`; the system frees it when the process ends, however it ends.

    Parameters
    ----------
    folder : path-like
        An existing folder. The lock is on the folder itself, so that no lock file is left in it.
    wait : bool
        Whether to wait for another holder, or to raise `BlockingIOError` at once.
    """
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(handle)
