"""Writing files: whole or not at all, together or not at all, and over nothing but plain files."""

import os
import subprocess
import sys

import pytest
from torture import kills

from normint.files import writing as files
from normint.files.writing import sweep, write_atomically, write_folder, write_together


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def dead():
    """Return the mark of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return f"{process.pid}-{16 * 'a'}"


class TestOneFile:
    def test_a_write_that_fails_leaves_the_old_file(self, tmp_path):
        path = tmp_path / "depth.csv"
        path.write_text("old")
        with pytest.raises(ZeroDivisionError), write_atomically(path) as temporary:
            temporary.write_text("half")
            raise ZeroDivisionError
        assert names(tmp_path) == ["depth.csv"] and path.read_text() == "old"

    def test_temporary_names_cannot_be_guessed(self, tmp_path):
        with write_atomically(tmp_path / "a") as one, write_atomically(tmp_path / "a") as other:
            assert one != other and one.exists() and other.exists()

    def test_a_link_that_waits_at_the_temporary_name_is_not_followed(self, tmp_path, monkeypatch):
        mark = f"1-{16 * '0'}"
        monkeypatch.setattr(files, "_new_mark", lambda: mark)
        (tmp_path / "precious").write_text("mine")
        (tmp_path / f".a.tmp-{mark}").symlink_to(tmp_path / "precious")
        with pytest.raises(FileExistsError), write_atomically(tmp_path / "a") as temporary:
            temporary.write_text("new")
        with pytest.raises(OSError, match="a cannot be written: File exists"):
            write_together({tmp_path / "a": lambda: b"new"})
        assert (tmp_path / "precious").read_text() == "mine"

    @pytest.mark.parametrize("late", [False, True], ids=["before", "during"])
    @pytest.mark.parametrize("kind", ["a pipe", "a link", "a folder"])
    def test_only_plain_files_are_replaced(self, tmp_path, kind, late):
        path, aside = tmp_path / "file", tmp_path / "aside"
        aside.write_text("precious")
        make = {"a pipe": os.mkfifo, "a link": lambda p: p.symlink_to(aside), "a folder": os.mkdir}[kind]
        if not late:
            make(path)
        with pytest.raises(FileExistsError, match=f"file is {kind}; expected a plain file"):
            with write_atomically(path) as temporary:
                temporary.write_text("new")
                make(path)
        assert aside.read_text() == "precious" and names(tmp_path) == ["aside", "file"]
        assert not path.is_file() or path.is_symlink()


class TestSweep:
    def test_removes_what_dead_processes_left_and_nothing_else(self, tmp_path, dead):
        (tmp_path / f".fig01.tmp-{dead}.png").touch()
        (tmp_path / f".fig01.old-{dead}.png").touch()
        (tmp_path / f".site.tmp-{dead}" / "below").mkdir(parents=True)
        kept = [".fig01.png", f"fig01.tmp-{dead}.png", f".fig01.tmp-{dead[:-1]}.png", f".a.tmp-1-{16 * 'b'}"]
        for name in kept:
            (tmp_path / name).touch()
        with write_atomically(tmp_path / "fig02.png") as temporary:
            assert sweep(tmp_path) == []
            assert names(tmp_path) == sorted([*kept, temporary.name])

    def test_a_process_of_the_same_number_is_not_the_same(self, tmp_path):
        (tmp_path / f".fig01.tmp-{os.getpid()}-{16 * 'f'}.png").touch()
        sweep(tmp_path)
        assert names(tmp_path) == []

    def test_of_one_name_only(self, tmp_path, dead):
        for name in ("mine", "yours"):
            (tmp_path / f".{name}.tmp-{dead}").mkdir()
        sweep(tmp_path, "mine")
        assert names(tmp_path) == [f".yours.tmp-{dead}"]

    def test_links_are_removed_not_followed(self, tmp_path, dead):
        (tmp_path / "precious").mkdir()
        (tmp_path / "precious" / "file").touch()
        (tmp_path / f".a.old-{dead}").symlink_to(tmp_path / "precious")
        sweep(tmp_path)
        assert names(tmp_path) == ["precious"] and names(tmp_path / "precious") == ["file"]

    def test_what_appeared_since_is_not_replaced(self, tmp_path, dead):
        for kind in ("tmp", "old"):
            (tmp_path / f".depth.{kind}-{dead}.npy").touch()
        (tmp_path / f".report.new-{dead}.json").touch()
        (tmp_path / "depth.npy").write_text("mine")
        with pytest.raises(FileExistsError, match="depth.npy is in the way of a killed run"):
            sweep(tmp_path)
        assert (tmp_path / "depth.npy").read_text() == "mine"


class TestTogether:
    def test_a_folder_that_appears_during_the_work_is_kept(self, tmp_path):
        def content():
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "mine").touch()
            return b""

        with pytest.raises(FileExistsError, match="out has come to exist during the work"):
            write_together({tmp_path / "out" / "a": content})
        assert names(tmp_path) == ["out"] and names(tmp_path / "out") == ["mine"]

    def test_a_folder_with_something_in_it_is_not_replaced(self, tmp_path):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "mine").touch()
        with pytest.raises(FileExistsError), write_folder(tmp_path / "out"):
            pass
        assert names(tmp_path) == ["out"] and names(tmp_path / "out") == ["mine"]

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", kills.KINDS)
    def test_killed_before_any_change_of_the_disk(self, tmp_path, kind):
        old, new = {"a": "1", "b.x": "1"}, {"b.x": "2", "c": "2"}
        for changes in range(40):
            if kills.killed_at(tmp_path / str(changes), kind, old, new, [changes]):
                break
        assert 3 <= changes < 39  # it was killed some times, and came through in the end

    @pytest.mark.slow
    def test_killed_and_killed_again_while_the_next_run_repairs(self, tmp_path):
        for first in (7, 9, 11):
            for second in (0, 2, 4, 6):
                home = tmp_path / f"{first} {second}"
                kills.killed_at(home, "files", {"a": "1", "b": "1"}, {"a": "2", "c": "2"}, [first, second])

    def test_renames_that_cannot_be_undone_are_finished_by_the_next_run(self, tmp_path, monkeypatch):
        write_together({tmp_path / name: b"1".strip for name in "ab"})
        rename, count = os.rename, []

        def fail(*pair):
            count.append(pair)
            if len(count) > 4:
                raise OSError("the disk is gone")
            rename(*pair)

        monkeypatch.setattr(files.os, "rename", fail)
        with pytest.raises(OSError, match="the disk is gone"):
            write_together({tmp_path / name: b"2".strip for name in "ab"})
        monkeypatch.undo()
        monkeypatch.setattr(files, "_RUN", 8 * "0")  # as another process
        assert sweep(tmp_path) == [tmp_path / "b"]
        assert names(tmp_path) == ["a", "b"] and (tmp_path / "a").read_text() == "2"
