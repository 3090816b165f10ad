"""Pictures of photographs and of what comes out of them."""

import numpy as np
import pytest

from normint import surfaces
from normint.normals.light_order import readings
from normint.surfaces.rendering import photograph
from normint.workbook import figures

STATUE = surfaces.bust(48)
LIGHTS = np.array([[0.1, 0.3, 1.0], [-0.3, 0.0, 1.0], [0.1, -0.3, 1.0]])
IMAGES = photograph(STATUE, LIGHTS, mask=STATUE.mask, bits=8)
INPUTS = {f"image {k}": (IMAGES[k], LIGHTS[k]) for k in range(3)}


def arrow(axes):
    """Return start and end of the arrow of a panel, as (u, v)."""
    (note,) = axes.texts
    return np.array(note.xyann[::-1]), np.array(note.xy[::-1])


def test_arrows_come_from_the_light():
    depth = np.where(STATUE.mask, STATUE.depth, np.nan)
    figure = figures.reconstructions(INPUTS, {"truth": depth, "again": depth})
    for axes, light in zip(figure.axes[:3], LIGHTS, strict=True):
        start, end = arrow(axes)
        aside = (start - end) / np.linalg.norm(start - end)
        np.testing.assert_allclose(aside, light[:2] / np.linalg.norm(light[:2]), atol=1e-12)
        assert axes.get_ylim()[0] > axes.get_ylim()[1], "u points down"


def test_errors_have_one_scale_from_blue_to_red():
    depths = {"a": STATUE.depth, "b": STATUE.depth}
    errors = {"a: 0": np.zeros((48, 48)), "b: 60": np.full((48, 48), 60.0)}
    figure = figures.reconstructions(INPUTS, depths, errors, title="whole", letters=True)
    maps = [axes.images[0] for axes in figure.axes if axes.images][-2:]
    for picture in maps:
        assert picture.get_clim() == (0, 60)
    blue, red = (picture.to_rgba(picture.get_array())[0, 0] for picture in maps)
    assert blue[2] > blue[0] and red[0] > red[2]
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[0].startswith("(a)") and titles[4].startswith("(e)")


def test_surfaces_are_drawn_about_their_mean_on_one_scale():
    figure = figures.reconstructions(INPUTS, {"a": STATUE.depth, "raised": STATUE.depth + 50})
    first, second = (axes for axes in figure.axes if axes.name == "3d")
    z = STATUE.depth - STATUE.depth.mean()
    assert first.get_zlim() == second.get_zlim() == pytest.approx((z.min(), z.max()))


def test_the_best_reading_of_the_lights_stands_out():
    found = readings(IMAGES, LIGHTS, STATUE.mask)
    bars = figures.light_readings(found, IMAGES, STATUE.mask, shown=5).axes[0]
    assert [patch.get_width() for patch in bars.patches] == [reading.curl for reading in found[:5]]
    colours = [patch.get_facecolor() for patch in bars.patches]
    assert colours[0] not in colours[1:]


def test_error_against_noise_shows_mean_and_spread():
    samples = np.array([[1.0, 3.0], [3.0, 3.0]])  # seeds × noise levels
    figure = figures.error_against_noise((0.0, 0.1), {"quadratic": samples}, xlabel="σ", ylabel="error")
    (container,) = figure.axes[0].containers
    np.testing.assert_allclose(container[0].get_ydata(), [2.0, 3.0])
    (segments,) = container[2]
    lengths = [np.ptp(segment[:, 1]) for segment in segments.get_segments()]
    np.testing.assert_allclose(lengths, [2.0, 0.0])
