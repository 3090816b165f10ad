"""Figures of colour images show the images they are given, and the errors they name."""

import numpy as np
import pytest

from normint.workbook import figures

RNG = np.random.default_rng(0)
IMAGE, OTHER = RNG.integers(0, 256, (2, 20, 30, 3), dtype=np.uint8)


def test_pictures_are_shown_unchanged_with_u_down():
    figure = figures.pictures({"one": IMAGE, "two": OTHER}, columns=3)
    assert [axes.get_title() for axes in figure.axes] == ["one", "two"]
    for axes, image in zip(figure.axes, (IMAGE, OTHER), strict=True):
        assert np.array_equal(axes.images[0].get_array(), image)
        low, high = axes.get_ylim()
        assert low > high


def test_unused_places_stay_empty():
    figure = figures.pictures({name: IMAGE for name in "abc"}, columns=2)
    assert [axes.get_visible() for axes in figure.axes] == [True, True, True, False]


def test_only_kept_pixels_have_colour():
    keep = RNG.random((20, 30)) < 0.5
    shown = figures.only_kept(IMAGE, keep)
    assert np.array_equal(shown[keep], IMAGE[keep]) and (shown[~keep] == 255).all()


def test_close_ups_show_the_window_and_its_error():
    window = np.s_[5:15, 8:20]
    figure = figures.close_ups({"reference": IMAGE, "copy": IMAGE, "other": OTHER}, window)
    upper, lower = figure.axes[:3], figure.axes[3:6]
    assert np.array_equal(upper[2].images[0].get_array(), OTHER[window])
    assert upper[2].get_xlim() == (7.5, 19.5) and upper[2].get_ylim() == (14.5, 4.5)
    assert not lower[1].images[0].get_array().any()
    error = np.abs(np.subtract(OTHER, IMAGE, dtype=float))[window].mean(axis=-1)
    assert np.asarray(lower[2].images[0].get_array()) == pytest.approx(error)
    assert lower[2].get_title().endswith(f"{error.mean():.1f}")
