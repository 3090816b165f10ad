"""Wrong axes are noticed, right ones never doubted."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import normint
from normint import gradient_to_normals, surfaces
from normint.axes import AXES, axes_warning, directions, guess_axes

CAT = Path(os.environ.get("NORMINT_DATA", "data")) / "bini" / "cat"
SURFACES = {
    "peaks": surfaces.peaks(96),
    "vase": surfaces.vase(128),
    "figurine": surfaces.figurine(128),
    "bust": surfaces.bust(128),
    "tent": surfaces.canadian_tent(96),
}
WRONG = {
    "vertical": lambda n: n * [-1, 1, 1],
    "horizontal": lambda n: n * [1, -1, 1],
    "swapped": lambda n: n[..., [1, 0, 2]],
    "turned": lambda n: n[..., [1, 0, 2]] * [-1, 1, 1],
    "away": lambda n: -n,
}
RIGHT = {
    "vertical": "up right toward",
    "horizontal": "down left toward",
    "swapped": "directx",
    "turned": "left down toward",
    "away": "up left away",
}


@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize("noise", [0, 0.01, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("whole", [False, True])
def test_right_axes_are_never_doubted(name, noise, whole):
    surface = SURFACES[name]
    for seed in range(3 if noise else 1):
        noisy = surface.with_noise(noise, np.random.default_rng(seed)) if noise else surface
        normals = gradient_to_normals(noisy.p, noisy.q)
        assert axes_warning(normals, None if whole else surface.mask, "uvz", None) is None


@pytest.mark.parametrize("name", ["vase", "figurine", "bust"])
@pytest.mark.parametrize("change", WRONG)
def test_wrong_axes_are_named(name, change):
    """The contour tells which of two readings without curl is raised, and so the right one."""
    surface = SURFACES[name]
    normals = WRONG[change](gradient_to_normals(surface.p, surface.q))
    sentence = axes_warning(normals, surface.mask, "uvz", None)
    advice = sentence.rpartition("axes=")[2].split("'")[1]
    # What is advised must undo what was changed, whatever it is called.
    assert directions(advice) == directions(RIGHT[change])


@pytest.mark.parametrize("change", ["vertical", "horizontal"])
def test_without_a_contour_the_vertical_component_is_suspected(change):
    surface = SURFACES["peaks"]
    normals = WRONG[change](gradient_to_normals(surface.p, surface.q))
    assert "'up right toward'" in axes_warning(normals, None, "uvz", None)


def test_all_readings_are_compared():
    surface = SURFACES["vase"]
    normals = gradient_to_normals(surface.p, surface.q)
    curls = guess_axes(normals, surface.mask)
    assert len(curls) == 8 and next(iter(curls)) == "uvz"
    assert list(curls.values())[0] < 0.1 and list(curls.values())[2] > 0.5


def test_integration_warns_unless_told_not_to():
    surface = SURFACES["vase"]
    normals = gradient_to_normals(-surface.p, surface.q)
    with pytest.warns(UserWarning, match="other axes"):
        normint.integrate_normals(normals, surface.mask)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        normint.integrate_normals(normals, surface.mask, check_axes=False)
        normint.integrate_normals(normals, surface.mask, axes="up right toward")


def test_tiny_masks_are_not_doubted():
    for shape in ((1, 1), (1, 5), (2, 2)):
        assert axes_warning(np.full((*shape, 3), [0.1, 0.2, 0.9]), None, "uvz", None) is None


def test_a_small_object_in_a_large_image_is_found():
    surface = SURFACES["vase"]
    normals, camera = np.zeros((3000, 3000, 3)), [[9000.0, 0, 1500.0], [0, 9000.0, 1500.0], [0, 0, 1]]
    normals[7:135, 11:139] = gradient_to_normals(-surface.p, surface.q) * surface.mask[..., np.newaxis]
    for lens in (None, camera):
        assert "'up right toward'" in axes_warning(normals, None, "uvz", lens)


def test_large_images_are_looked_at_in_parts():
    u, v = np.indices((900, 1000)) / 100
    p, q = np.cos(u) * np.cos(v), -np.sin(u) * np.sin(v)
    camera = [[5000.0, 0, 500.0], [0, 5000.0, 450.0], [0, 0, 1]]
    for lens in (None, camera):
        assert axes_warning(gradient_to_normals(p, q), None, "uvz", lens) is None
        assert axes_warning(gradient_to_normals(-p, q), None, "uvz", lens) is not None


@pytest.mark.skipif(not CAT.exists(), reason="the Cat's normal map is not there")
def test_the_cat_has_the_axes_that_its_reader_says():
    cat = normint.datasets.read_normal_map(CAT)
    rng = np.random.default_rng(0)
    for degrees in (0, 1, 3, 10, 20):
        normals = cat.normals + np.radians(degrees) * rng.standard_normal(cat.normals.shape)
        assert axes_warning(normals, cat.mask, "uvz", cat.camera) is None
    for axes in AXES:
        sentence = axes_warning(cat.normals, cat.mask, axes, cat.camera)
        assert sentence is None if axes == "uvz" else "axes='uvz'" in sentence
