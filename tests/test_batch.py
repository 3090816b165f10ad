"""Many normal maps in one run: all are tried, failures are told, and what is done is not done again."""

import json
import os
import shutil

import cv2
import numpy as np
import pytest
from relief_files import XYZ, as_colours, assert_refused, contents, make, run_beside, write

from normint.files.collections import find_maps


@pytest.fixture
def maps(tmp_path, monkeypatch):
    """Make a folder of three maps, one of which is damaged."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "maps"
    folder.mkdir()
    for name in ("f2.png", "f10.png"):
        write(folder / name, as_colours(XYZ, np.uint8))
    (folder / "f3.png").write_text("no image")
    return folder


def results(text):
    """Return the results in the last column of the table."""
    return [line.split("  ")[-1].strip() for line in text.splitlines()[1:-1]]


class TestFolder:
    def test_failures_are_told_and_the_rest_is_done(self, maps, capsys):
        assert run_beside("maps") == 1
        told = capsys.readouterr()
        assert results(told.out) == ["done", "failed", "done"]  # f2, f3, f10
        assert told.out.splitlines()[-1] == "3 maps: 2 done, 1 failed"
        assert told.err.count("\n") == 1 and "f3.png is not an image" in told.err
        assert {"f2.glb", "f10.glb", "f2_report.json"} < set(os.listdir(maps))

    def test_it_goes_on_where_it_was(self, maps, capsys):
        assert run_beside("maps") == 1
        before = contents(maps)
        write(maps / "f3.png", as_colours(XYZ, np.uint8))
        capsys.readouterr()
        assert run_beside("maps") == 0
        assert results(capsys.readouterr().out) == ["skipped", "done", "skipped"]
        assert contents(maps).items() >= (before | {"f3.png": contents(maps)["f3.png"]}).items()
        assert run_beside("maps", "--force") == 0
        assert results(capsys.readouterr().out) == ["done"] * 3

    def test_what_was_made_otherwise_or_of_another_map_is_not_taken_for_done(self, maps, capsys):
        (maps / "f3.png").unlink()
        assert run_beside("maps", "--quiet") == 0
        assert run_beside("maps", "--method", "phi1") == 1
        assert "f2_depth.npy exists; use --force" in capsys.readouterr().err
        os.utime(maps / "f2.png")
        os.utime(maps / "f2_report.json", (1, 1))
        assert run_beside("maps") == 1
        assert results(capsys.readouterr().out) == ["failed", "skipped"]

    def test_masks_and_cameras_of_the_folder(self, maps):
        (maps / "f3.png").unlink()
        mask = np.zeros(XYZ.shape[:2], np.uint8)
        mask[:, 5:] = 255
        write(maps / "mask.png", mask)
        write(maps / "f2_mask.png", 255 - mask)
        (maps / "K.txt").write_text("900 0 11.5\n0 900 9.5\n0 0 1")
        assert run_beside("maps", "--quiet") == 0
        first, second = np.load(maps / "f2_depth.npy"), np.load(maps / "f10_depth.npy")
        assert np.isfinite(first[:, :5]).all() and np.isnan(first[:, 5:]).all()
        assert np.isnan(second[:, :5]).all() and (second[:, 5:] > 0).all()

    def test_folders_of_one_map_each(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        os.mkdir("objects")
        for name in ("cat", "pot"):
            make(tmp_path / "objects" / name)
        assert run_beside("objects", "--out", "out") == 0
        assert sorted(os.listdir("out")) == ["cat", "pot"]
        assert sorted(os.listdir("out/cat")) == ["depth.npy", "report.json"]

    def test_an_empty_one(self, tmp_path, capsys):
        (tmp_path / "empty").mkdir()
        assert_refused(capsys, run_beside(tmp_path / "empty"), "normal_map.png is missing", "no other normal")


class TestPaths:
    def test_several(self, maps, capsys):
        assert run_beside("maps/f2.png", "maps/f10.png", "maps/none.png", "--out", "out", "--preview") == 1
        assert results(capsys.readouterr().out) == ["done", "done", "failed"]
        assert sorted(os.listdir("out")) == ["f10", "f2"]
        assert sorted(os.listdir("out/f2")) == ["depth.npy", "preview.png", "report.json"]

    def test_twins_are_refused_before_the_work(self, maps, tmp_path, capsys):
        shutil.copytree(maps, "others")
        before = contents(tmp_path)
        code = run_beside("maps/f2.png", "others/f2.png", "--out", "out")
        assert_refused(capsys, code, "maps/f2.png and others/f2.png would both be written", expected=2)
        assert contents(tmp_path) == before

    def test_json(self, maps, capsys):
        assert run_beside("maps", "--json") == 1
        told = json.loads(capsys.readouterr().out)
        assert [one["result"] for one in told] == ["done", "failed", "done"]
        assert told[0]["pixels"] == XYZ.shape[0] * XYZ.shape[1] and "not an image" in told[1]["error"]

    def test_not_converged_is_3(self, maps, capsys):
        line = "--method", "phi1", "--option", "max_iterations=2"
        assert run_beside("maps/f2.png", "maps/f10.png", *line) == 3
        told = capsys.readouterr()
        assert results(told.out) == ["not converged"] * 2
        assert told.err.count("not converged after 2") == 1 and "f2.png and 1 more" in told.err

    def test_a_bar_in_a_terminal_only(self, maps, monkeypatch, capsys):
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        monkeypatch.delenv("CI", raising=False)
        assert run_beside("maps/f2.png", "maps/f10.png") == 0
        assert "/2 [" in capsys.readouterr().err
        monkeypatch.setenv("CI", "true")
        assert run_beside("maps/f2.png", "maps/f10.png", "--force") == 0
        assert capsys.readouterr().err == ""

    def test_interrupted_leaves_what_is_done(self, maps, monkeypatch, capsys):
        from normint.cli import outputs

        def stop(files, *_, **__):
            if "f10" in files["report"].name:
                raise KeyboardInterrupt
            return write_all(files, *_, **__)

        write_all = outputs.write
        monkeypatch.setattr(outputs, "write", stop)
        assert run_beside("maps/f2.png", "maps/f10.png") == 130
        monkeypatch.setattr(outputs, "write", write_all)
        capsys.readouterr()
        assert run_beside("maps/f2.png", "maps/f10.png") == 0
        assert results(capsys.readouterr().out) == ["skipped", "done"]


class TestVideo:
    @pytest.fixture
    def clip(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        frames = [as_colours(np.roll(XYZ, k, axis=1), np.uint8) for k in range(3)]
        writer = cv2.VideoWriter("clip.avi", cv2.VideoWriter_fourcc(*"FFV1"), 5, XYZ.shape[1::-1])
        for frame in frames:
            writer.write(frame[..., ::-1])
        writer.release()
        if not os.path.exists("clip.avi"):
            pytest.skip("this OpenCV writes no video without loss")
        return frames

    def test_each_frame(self, clip, capsys):
        assert run_beside("clip.avi") == 0
        assert results(capsys.readouterr().out) == ["done"] * 3
        told = json.loads(open("clip_00002_report.json").read())
        assert told["settings"]["normals"] == "clip.avi, frame 2"
        write_again = [write(path, frame) for path, frame in zip(_names(3), clip, strict=True)]
        assert run_beside(*write_again, "--out", "again", "--quiet") == 0
        for k in range(3):
            frame, file = np.load(f"clip_{k:05}_depth.npy"), np.load(f"again/{k}/depth.npy")
            np.testing.assert_allclose(frame, file, atol=0.05)
        assert run_beside("clip.avi") == 0
        assert results(capsys.readouterr().out) == ["skipped"] * 3

    def test_frames_in_any_order(self, clip):
        frames = find_maps("clip.avi")
        for k in (2, 0, 1):
            with frames[k].file() as path:
                assert np.abs(cv2.imread(str(path))[..., ::-1].astype(int) - clip[k]).max() <= 3

    def test_what_is_no_video(self, tmp_path, capsys):
        (tmp_path / "clip.mp4").write_text("no video")
        assert_refused(capsys, run_beside(tmp_path / "clip.mp4"), "clip.mp4 cannot be read as a video")


def _names(count):
    from pathlib import Path

    return [Path(f"{k}.png") for k in range(count)]
