"""Several files that appear together or not at all."""

import os
import shutil
from contextlib import ExitStack
from pathlib import Path

from normint.files import write_atomically


def check_free(paths, *, force=False):
    """Refuse to go on if a file cannot be written: it exists, or its folder is none or not ours.

    Parameters
    ----------
    paths : list of path-like
    force : bool
        Whether files may be replaced.
    """
    for path in map(Path, paths):
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder; expected a file, or nothing yet")
        if os.path.lexists(path) and not force:
            raise FileExistsError(f"{path} exists; use --force to replace it")
        folder = next(parent for parent in path.absolute().parents if os.path.lexists(parent))
        if not folder.is_dir():
            raise NotADirectoryError(f"{folder} is a file; expected a folder to write {path.name} into")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(f"{folder} cannot be written to; expected a folder of yours")


def write_together(files, *, force=False):
    """Write several files; if anything goes wrong, all are as they were.

    Parameters
    ----------
    files : dict
        From path to a function that writes the file at the path it is given: a temporary one in the same
        folder with the same suffix.
    force : bool
        Whether files may be replaced.

    Notes
    -----
    First all temporary files are written, which is what may fail; then all are renamed. Until that is done,
    the old files are kept under second names.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "out"
    >>> write_together({folder / "a": lambda path: path.write_text("1"), folder / "b": Path.touch})
    >>> sorted(file.name for file in folder.iterdir())
    ['a', 'b']
    """
    files = {Path(os.path.realpath(path)): write for path, write in files.items()}
    made = _missing_folders(files)
    kept = {}
    try:
        with ExitStack() as renamed_at_the_end:
            for path, write in files.items():
                _write(path, write, renamed_at_the_end)
            check_free(files, force=force)  # once more, after the time that the work took
            for path in files:
                kept[path] = _keep(path)
    except BaseException:
        for path, old in kept.items():
            if old is None:
                path.unlink(missing_ok=True)
            else:
                os.replace(old, path)
        for folder in made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        raise
    finally:
        for old in filter(None, kept.values()):
            old.unlink(missing_ok=True)


def _write(path, write, renamed_at_the_end):
    try:
        write(renamed_at_the_end.enter_context(write_atomically(path)))
    except OSError as error:
        why = error.strerror or error
        raise OSError(f"{path} cannot be written: {why}; nothing was changed") from error


def _keep(path):
    """Give the old file a second name, so that it can come back; None if there is none."""
    if not path.exists():
        return None
    old = path.with_name(f".{path.stem}.old-{os.getpid()}{path.suffix}")
    try:
        os.link(path, old)
    except OSError:  # a file system without links
        shutil.copy2(path, old)
    return old


def _missing_folders(files):
    """Return the folders that have to be made, the innermost first."""
    parents = {parent for path in files for parent in path.parents if not parent.exists()}
    return sorted(parents, key=lambda folder: len(folder.parts), reverse=True)
