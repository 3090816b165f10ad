"""A table of lights is read in the one way that makes a surface of the images."""

import numpy as np
import pytest

from normint.curl import relative_curl
from normint.normals.light_order import readings
from normint.surfaces import bust, peaks
from normint.surfaces.rendering import photograph

# Three lights at different heights and angles, so that no two readings give nearly the same lights.
LIGHTS = np.array([[0.10, 0.35, 1.0], [-0.30, 0.05, 1.0], [0.05, -0.20, 1.0]])
STATUE = bust(96)
IMAGES = photograph(STATUE, LIGHTS, mask=STATUE.mask)


class TestRelativeCurl:
    def test_is_small_for_the_gradient_of_a_surface_and_large_for_noise(self):
        surface, rng = peaks(64), np.random.default_rng(0)
        assert relative_curl(surface.p, surface.q) < 0.01
        noise = relative_curl(rng.standard_normal((64, 64)), rng.standard_normal((64, 64)))
        # For independent normal a and b, E|a - b| / E(|a| + |b|) = 1/√2.
        assert noise == pytest.approx(np.sqrt(0.5), abs=0.02)

    def test_does_not_depend_on_scale_sign_or_transposition(self):
        surface = peaks(32).with_noise(0.1, np.random.default_rng(0))
        p, q = surface.p, surface.q
        curl = relative_curl(p, q)
        assert relative_curl(7 * p, 7 * q) == pytest.approx(curl, rel=1e-12)
        assert relative_curl(-p, -q) == pytest.approx(curl, rel=1e-12)
        assert relative_curl(q.T, p.T) == pytest.approx(curl, rel=1e-12)

    def test_ignores_what_is_outside_the_mask(self):
        surface, mask = peaks(32), np.zeros((32, 32), dtype=bool)
        mask[4:20, 6:28] = True
        p, q = (np.where(mask, slope, np.nan) for slope in (surface.p, surface.q))
        inside = relative_curl(surface.p[4:20, 6:28], surface.q[4:20, 6:28])
        assert relative_curl(p, q, mask) == pytest.approx(inside, rel=1e-12)

    def test_a_flat_field_has_none(self):
        assert relative_curl(np.zeros((4, 4)), np.zeros((4, 4))) == 0.0

    def test_a_thin_mask_is_refused(self):
        with pytest.raises(ValueError, match="mask has no four pixels in a square"):
            relative_curl(np.zeros((1, 5)), np.zeros((1, 5)))


def scrambled(order, swapped, first, second):
    """Return a table that must be read with the given order and axes to give LIGHTS."""
    table = np.empty((3, 3))
    columns = LIGHTS[:, [1, 0, 2]] if swapped else LIGHTS
    table[list(order)] = columns * np.array([first, second, 1])
    return table


@pytest.mark.parametrize(
    ("order", "swapped", "first", "second", "axes"),
    [
        ((0, 1, 2), False, 1, 1, "+u+v"),
        ((1, 0, 2), False, 1, 1, "+u+v"),
        ((2, 0, 1), True, 1, 1, "+v+u"),
        ((1, 2, 0), False, -1, 1, "-u+v"),
        ((0, 2, 1), True, -1, -1, "-v-u"),
    ],
)
def test_any_scrambling_is_undone(order, swapped, first, second, axes):
    best = readings(IMAGES, scrambled(order, swapped, first, second), STATUE.mask)[0]
    np.testing.assert_allclose(best.lights, LIGHTS)
    assert (best.order, best.axes) == (order, axes)


def test_all_readings_come_in_pairs_of_equal_curl_the_bulging_one_first():
    found = readings(IMAGES, LIGHTS, STATUE.mask)
    assert len(found) == 48 and len({(r.order, r.axes) for r in found}) == 48
    finite = [r for r in found if np.isfinite(r.curl)]
    curls = [r.curl for r in finite]
    assert np.all(np.diff(curls) > -1e-9)
    first, second = finite[:2]
    assert first.curl == pytest.approx(second.curl, rel=1e-6)
    np.testing.assert_allclose(first.lights[:, :2], -second.lights[:, :2])
    assert first.outwards > 0 > second.outwards


def test_more_than_three_lights_are_refused():
    with pytest.raises(ValueError, match="table has shape"):
        readings(IMAGES, np.ones((4, 3)), STATUE.mask)
