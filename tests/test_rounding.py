"""What differs by rounding alone is not written again; all else, and timings, are."""

import os

import numpy as np
import pytest
from PIL import Image

from normint import paths
from normint.workbook import figures, results
from normint.workbook.rounding import FAINT, FEW, STRONG, TIMED_FIGURES, TIMED_METRICS

GREY = np.full((40, 60, 3), 100, np.uint8)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NORMINT_FIGURES", str(tmp_path))
    return tmp_path


def picture():
    return figures.pictures({"grey": GREY})


def spoil(path, levels, share):
    """Change a share of the pixels of a file by a number of levels, and return the file's new contents."""
    pixels = np.array(Image.open(path))
    chosen = np.arange(pixels[..., 0].size).reshape(pixels.shape[:2]) < share * pixels[..., 0].size
    pixels[..., 1] = np.where(chosen, pixels[..., 1] ^ levels, pixels[..., 1])
    Image.fromarray(pixels).save(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("name", "levels", "share", "kept"),
    [
        ("fig16", 1, 1.0, True),
        ("fig16", STRONG, FEW / 2, True),
        ("fig16", 2 * FAINT, 2 * FEW, False),
        ("fig16", 2 * STRONG, 1e-9, False),  # one pixel
        (TIMED_FIGURES[0], 1, 1e-9, False),
    ],
)
def test_a_picture_is_kept_if_it_changed_faintly_and_shows_no_timings(folder, name, levels, share, kept):
    path = folder / f"{name}.png"
    figures.save(picture(), name)
    first = path.read_bytes()
    spoilt = spoil(path, levels, share)
    figures.save(picture(), name)
    assert path.read_bytes() == (spoilt if kept else first)


@pytest.mark.parametrize("old", [b"", b"\x89PNG cut off", b"\x89PNG\r\n\x1a\n" + bytes(99), None])
def test_a_damaged_picture_or_one_of_another_size_is_replaced(folder, old):
    path = folder / "fig16.png"
    if old is None:
        Image.fromarray(GREY).save(path)
    else:
        path.write_bytes(old)
    figures.save(picture(), "fig16")
    assert np.asarray(Image.open(path)).shape[0] > 40


def test_a_pipe_in_the_place_of_a_picture_is_left_alone(folder):
    os.mkfifo(folder / "fig16.png")  # nobody writes to it: reading it as a file would wait for ever
    with pytest.raises(ValueError, match="fig16.png cannot be read: it is a pipe"):
        figures.save(picture(), "fig16")


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ({"ours": 4.433}, {"ours": 4.434}, True),
        ({"ours": 4.433}, {"ours": 4.44}, False),
        ({"ours": 12.2}, {"ours": 12.3}, True),
        ({"ours": 0.1}, {"ours": 0.2}, False),
        ({"ours": 0}, {"ours": 0.1}, False),
        ({"spread": 0.02}, {"spread": 0.021}, True),
        ({"spread": 0.02}, {"spread": 0.03}, False),
        ({"spread": 0.02}, {"spread": None}, False),
        ({"note": "two draws"}, {"note": "three draws"}, False),
        ({"metric": TIMED_METRICS[0], "ours": 4.433}, {"metric": TIMED_METRICS[0], "ours": 4.434}, False),
    ],
)
def test_a_row_is_kept_if_only_its_last_digits_changed(old, new, kept):
    common = {"figure": "fig03", "case": "n=128", "metric": "RMSE", "ours": 1.0}
    results.record(**common | old)
    before = results.read()
    results.record(**common | new)
    assert (results.read() == before) == kept


def test_what_holds_timings_exists(monkeypatch):
    monkeypatch.delenv("NORMINT_FIGURES")
    assert all((paths.figures() / f"{name}.png").exists() for name in TIMED_FIGURES)
    assert set(TIMED_METRICS) <= {row["metric"] for row in results.read()}
