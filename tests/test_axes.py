"""Wrong axes are noticed, right ones never doubted."""

import os
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from axes_shapes import (
    CHANGES,
    SHAPES,
    both_over,
    changed,
    doubt,
    draw,
    named,
    noisy,
    right_or_hollow,
    stored,
)

import normint
from normint import gradient_to_normals, surfaces
from normint.normals.axes import AXES, SURE, compare_axes, guess_axes
from normint.normals.maps import NormalMap, directions

CAT = Path(os.environ.get("NORMINT_DATA", "data")) / "bini" / "cat"
SURFACES = {
    "peaks": surfaces.peaks(96),
    "vase": surfaces.vase(128),
    "figurine": surfaces.figurine(128),
    "bust": surfaces.bust(128),
    "tent": surfaces.canadian_tent(96),
}
TURNS = ("vertical", "horizontal", "swapped", "turned", "away")


def wrong(normals, change):
    """Return a normal map with other axes, and the words that undo it."""
    return (-normals, "up left away") if change == "away" else (changed(normals, change), CHANGES[change][2])


@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize("noise", [0, 0.02, 0.1, 0.3])
@pytest.mark.parametrize("whole", [False, True])
def test_right_axes_are_never_doubted(name, noise, whole):
    surface = SURFACES[name]
    for seed in range(3 if noise else 1):
        noisy = surface.with_noise(noise, np.random.default_rng(seed)) if noise else surface
        normals = gradient_to_normals(noisy.p, noisy.q)
        assert doubt(normals, None if whole else surface.mask, "uvz", None) is None


@pytest.mark.parametrize("name", ["vase", "figurine", "bust"])
@pytest.mark.parametrize("change", TURNS)
def test_wrong_axes_are_named(name, change):
    """The contour tells which of two readings without curl is raised, and so the right one."""
    surface = SURFACES[name]
    normals, right = wrong(gradient_to_normals(surface.p, surface.q), change)
    sentence = doubt(normals, surface.mask, "uvz", None)
    advice = sentence.rpartition("axes=")[2].split("'")[1]
    # What is advised must undo what was changed, whatever it is called.
    assert directions(advice) == directions(right)


@pytest.mark.parametrize("change", ["vertical", "horizontal"])
def test_without_a_contour_the_vertical_component_is_suspected(change):
    surface = SURFACES["peaks"]
    normals, _ = wrong(gradient_to_normals(surface.p, surface.q), change)
    assert "'up right toward'" in doubt(normals, None, "uvz", None)


def test_all_readings_are_compared():
    surface = SURFACES["vase"]
    normals = gradient_to_normals(surface.p, surface.q)
    curls = guess_axes(normals, surface.mask)
    assert len(curls) == 8 and next(iter(curls)) == "uvz"
    values = list(curls.values())
    assert values[0] < 0.05 and min(values[2:]) > 10 * values[0] and max(values) > 0.5


def test_integration_warns_unless_told_not_to():
    surface = SURFACES["vase"]
    normals = gradient_to_normals(-surface.p, surface.q)
    with pytest.warns(UserWarning, match="other axes"):
        normint.integrate_normals(normals, surface.mask, axes="uvz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        normint.integrate_normals(normals, surface.mask, axes="uvz", check_axes=False)
        normint.integrate_normals(normals, surface.mask, axes="up right toward")


def test_tiny_masks_are_not_doubted():
    for shape in ((1, 1), (1, 5), (2, 2)):
        assert doubt(np.full((*shape, 3), [0.1, 0.2, 0.9]), None, "uvz", None) is None


def test_a_small_object_in_a_large_image_is_found():
    surface = SURFACES["vase"]
    normals, camera = np.zeros((1200, 1200, 3)), [[3600.0, 0, 600.0], [0, 3600.0, 600.0], [0, 0, 1]]
    normals[7:135, 11:139] = gradient_to_normals(-surface.p, surface.q) * surface.mask[..., np.newaxis]
    for lens in (None, camera):
        assert "'up right toward'" in doubt(normals, None, "uvz", lens)


def test_large_images_are_looked_at_in_parts():
    u, v = np.indices((900, 1000)) / 100
    p, q = np.cos(u) * np.cos(v), -np.sin(u) * np.sin(v)
    camera = [[5000.0, 0, 500.0], [0, 5000.0, 450.0], [0, 0, 1]]
    for lens in (None, camera):
        assert doubt(gradient_to_normals(p, q), None, "uvz", lens) is None
        assert doubt(gradient_to_normals(-p, q), None, "uvz", lens) is not None


def grid(rows, columns):
    return np.indices((rows, columns)) - np.array([rows, columns])[:, np.newaxis, np.newaxis] / 2 + 0.5


def fitting_several():
    """Return maps that fit several axes but for noise, rounding or how they are sampled."""
    rng, (u, v) = np.random.default_rng(0), grid(64, 64)
    camera = [[90.0, 0, 32], [0, 90.0, 32], [0, 0, 1]]
    paraboloid, saddle = gradient_to_normals(-u / 30, -v / 30), gradient_to_normals(u / 20, -v / 20)
    fine_u, fine_v = grid(1300, 1300)
    radius = np.hypot(fine_u, fine_v)
    slope = np.cos(1.7 * radius) / radius
    return {
        "paraboloid": (paraboloid, None),
        "saddle": (saddle, None),
        "noisy paraboloid": (noisy(paraboloid[:24, :24], 1, rng), None),
        "noisy paraboloid, camera": (noisy(paraboloid, 1, rng), camera),
        "noisy saddle": (noisy(saddle, 1, rng), None),
        "saddle of 8 bits": (stored(saddle, "8 bits"), None),
        "flat saddle of 8 bits": (stored(gradient_to_normals(v / 3000 + 0.1, u / 3000), "8 bits"), camera),
        "fine ripples in a large image": (gradient_to_normals(slope * fine_u, slope * fine_v), None),
        "noisy waves, camera": (noisy(gradient_to_normals(np.cos(2 * u), np.cos(v / 3)), 3, rng), camera),
        "plane": (np.full((64, 64, 3), [0.3, 0.4, 0.8]), None),
        "noise": (noisy(np.full((64, 64, 3), [0.0, 0.0, 1.0]), 30, rng), camera),
    }


def test_shapes_that_fit_several_axes_are_not_doubted():
    for name, (normals, camera) in fitting_several().items():
        turned = normals.swapaxes(0, 1)[..., [1, 0, 2]]
        for seen in (normals, turned):
            assert doubt(seen, None, "uvz", camera) is None, name


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(6))
def test_right_axes_of_a_family_of_shapes_are_not_doubted(shape, seed):
    rng = np.random.default_rng([7, seed])
    normals, mask, camera, words = draw(rng, shape)
    for change, (_, _, right) in CHANGES.items():
        assert doubt(changed(normals, change), mask, right, camera) is None, words


@pytest.mark.parametrize("shape", SHAPES)
def test_wrong_axes_of_a_family_of_shapes_are_told_and_not_misnamed(shape):
    """Some shapes fit wrong axes as well, or noise hides them: most do not."""
    told = []
    for seed, change in product(range(6), CHANGES):
        normals, mask, camera, words = draw(np.random.default_rng([8, seed]), shape)
        sentence = doubt(changed(normals, change), mask, "uvz", camera)
        assert sentence is None or set(named(sentence)) & set(right_or_hollow(change)), f"{words}: {sentence}"
        told.append(sentence is not None)
    assert np.mean(told) > (0.3 if shape == "quadric" else 0.6)  # half of the quadrics are symmetric


@pytest.mark.parametrize("seed", range(5))
def test_waves_sampled_twice_a_period_fit_their_own_axes_best(seed):
    """However fine they are: a law for slopes at points, of which differences are a crude derivative."""
    rng, (u, v) = np.random.default_rng(seed), grid(64, 64)
    p, q = np.zeros((2, 64, 64))
    for a, b in rng.uniform(-3.1, 3.1, (6, 2)):
        slope = rng.uniform(0, 0.3) * np.cos(a * u + b * v + rng.uniform(0, 2 * np.pi))
        p, q = p + a * slope, q + b * slope
    best, _, *others = compare_axes(NormalMap.decoded(gradient_to_normals(p, q)))[0]
    assert directions("uvz") == best.words and all(one.worse > SURE for one in others)


def test_a_small_bump_in_a_plane_is_enough():
    u, v = grid(96, 96)
    push = np.exp(-(u**2 + v**2) / 32) / 2
    normals = gradient_to_normals(push * u + 0.1, push * v)
    assert doubt(normals, None, "uvz", None) is None
    for change in CHANGES:
        assert set(named(doubt(changed(normals, change), None, "uvz", None))) & set(right_or_hollow(change))


def test_what_cannot_be_told_is_a_tie():
    u, v = grid(48, 48)
    sums = {
        one.words[:2]: one.worse
        for one in compare_axes(NormalMap.decoded(gradient_to_normals(np.cos(u / 5), np.sin(v / 4))))[0]
    }
    assert sums["up", "right"] == 0 and sums["right", "down"] > SURE and sums["left", "down"] > SURE
    saddle = {
        one.words[:2]: one.worse
        for one in compare_axes(NormalMap.decoded(gradient_to_normals(v / 20, u / 20)))[0]
    }
    assert saddle["right", "down"] == saddle["left", "down"] == 0 and saddle["up", "right"] > SURE


def test_all_axes_that_fit_as_well_are_named():
    """A paraboloid of revolution fits all axes but those turned by a quarter, and these are given here."""
    u, v = grid(48, 48)
    sentence = doubt(changed(gradient_to_normals(u / 30, v / 30), "turned"), None, "uvz", None)
    advised = {frozenset((one, both_over(one))) for one in named(sentence)}
    assert len(named(sentence)) == 3 and len(advised) == 3
    assert frozenset((("down", "right", "toward"), ("up", "left", "toward"))) not in advised


def test_a_near_camera_tells_hollow_from_raised():
    """With a distant one, turning both components over makes a hollow surface, and no curl."""
    u, v = grid(64, 64)
    p, q = np.cos(u / 6) * np.cos(v / 9) - 0.5, -np.sin(u / 6) * np.sin(v / 9) * 6 / 9 + 0.7
    focal = 60.0
    normals = np.stack([-p, -q, 1 - (p * u + q * v) / focal], axis=-1)
    camera = [[focal, 0, 31.5], [0, focal, 31.5], [0, 0, 1]]
    assert doubt(normals, None, "uvz", camera) is None
    assert named(doubt(normals * [-1, -1, 1], None, "uvz", camera))[0] == ("up", "left", "toward")
    assert doubt(gradient_to_normals(-p, -q), None, "uvz", None) is None


@pytest.mark.skipif(not CAT.exists(), reason="the Cat's normal map is not there")
def test_the_cat_has_the_axes_that_its_reader_says():
    cat = normint.datasets.read_normal_map(CAT)
    rng = np.random.default_rng(0)
    for degrees in (0, 1, 3, 10, 20):
        normals = cat.normals + np.radians(degrees) * rng.standard_normal(cat.normals.shape)
        assert doubt(normals, cat.mask, "uvz", cat.camera) is None
    for axes in AXES:
        sentence = doubt(cat.normals, cat.mask, axes, cat.camera)
        assert sentence is None if axes == "uvz" else "axes='uvz'" in sentence
