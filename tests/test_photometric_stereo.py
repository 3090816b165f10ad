"""Photometric stereo: exact where Lambert's law holds, least squares elsewhere, one image at a time."""

import tracemalloc

import numpy as np
import pytest

from normint.normals.convert import gradient_to_normals
from normint.normals.photometric_stereo import photometric_stereo
from normint.surfaces import vase

RNG = np.random.default_rng(0)
# A ring of 8 lights, 30° from the viewing direction, and one at the camera.
ANGLES = np.linspace(0, 2 * np.pi, 8, endpoint=False)
LIGHTS = np.vstack([np.c_[0.5 * np.cos(ANGLES), 0.5 * np.sin(ANGLES), np.full(8, np.sqrt(0.75))], [0, 0, 1]])
# Slopes below 1/√2 in all: no light of the ring leaves the surface in the dark.
NORMALS = gradient_to_normals(*RNG.uniform(-0.5, 0.5, (2, 6, 7)))
GREY = RNG.uniform(0.2, 1, (6, 7))
COLOUR = RNG.uniform(0.2, 1, (6, 7, 3))
STRENGTHS = RNG.uniform(0.5, 2, len(LIGHTS))
COLOURED_STRENGTHS = RNG.uniform(0.5, 2, (len(LIGHTS), 3))


def render(albedo=GREY, intensities=None, lights=LIGHTS, normals=NORMALS):
    """Apply Lambert's law, without shadows."""
    shading = np.moveaxis(normals @ lights.T, 2, 0)
    assert shading.min() > 0
    strengths = np.ones(len(lights)) if intensities is None else intensities
    if albedo.ndim == 2:
        return shading * albedo * strengths[:, np.newaxis, np.newaxis]
    strengths = np.broadcast_to(strengths.reshape(len(lights), -1), (len(lights), 3))
    return shading[..., np.newaxis] * albedo * strengths[:, np.newaxis, np.newaxis]


def assert_same(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


class TestExactRecovery:
    @pytest.mark.parametrize("intensities", [None, STRENGTHS], ids=["equal", "different"])
    def test_grey(self, intensities):
        found = photometric_stereo(render(GREY, intensities), LIGHTS, intensities=intensities)
        assert_same(found, (NORMALS, GREY))

    @pytest.mark.parametrize("intensities", [None, STRENGTHS, COLOURED_STRENGTHS])
    def test_colour(self, intensities):
        found = photometric_stereo(render(COLOUR, intensities), LIGHTS, intensities=intensities)
        assert_same(found, (NORMALS, COLOUR))

    def test_lengths_of_lights_are_intensities(self):
        lights = STRENGTHS[:, np.newaxis] * LIGHTS
        assert_same(photometric_stereo(render(lights=lights), lights), (NORMALS, GREY))
        assert_same(
            photometric_stereo(render(intensities=STRENGTHS), lights),
            photometric_stereo(render(), LIGHTS),
        )

    def test_three_lights_are_enough(self):
        lights = LIGHTS[[0, 3, 6]]
        assert_same(photometric_stereo(render(lights=lights), lights), (NORMALS, GREY))

    def test_whole_numbers(self):
        images = np.rint(60000 * render())
        assert_same(photometric_stereo(images.astype(np.uint16), LIGHTS), photometric_stereo(images, LIGHTS))


class TestInvariance:
    noisy = render(COLOUR) + 0.05 * np.random.default_rng(1).standard_normal((len(LIGHTS), 6, 7, 3))
    normals, albedo = photometric_stereo(noisy, LIGHTS, intensities=COLOURED_STRENGTHS)

    def test_brightness_scales_the_albedo_only(self):
        found = photometric_stereo(1000 * self.noisy, LIGHTS, intensities=COLOURED_STRENGTHS)
        assert_same(found, (self.normals, 1000 * self.albedo))

    def test_the_order_of_the_lights_does_not_matter(self):
        order = np.random.default_rng(2).permutation(len(LIGHTS))
        found = photometric_stereo(
            self.noisy[order], LIGHTS[order], intensities=COLOURED_STRENGTHS[order], shadow=0.1
        )
        same = photometric_stereo(self.noisy, LIGHTS, intensities=COLOURED_STRENGTHS, shadow=0.1)
        assert_same(found, same)

    def test_turned_lights_turn_the_normals(self):
        turn, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))
        found = photometric_stereo(self.noisy, LIGHTS @ turn.T, intensities=COLOURED_STRENGTHS)
        assert_same(found, (self.normals @ turn.T, self.albedo))

    def test_colours_give_the_normals_of_their_mean(self):
        grey = (self.noisy / COLOURED_STRENGTHS[:, np.newaxis, np.newaxis]).mean(axis=3)
        normals, albedo = photometric_stereo(grey, LIGHTS)
        assert_same((normals, albedo), (self.normals, self.albedo.mean(axis=2)))

    def test_arguments_are_left_alone(self):
        images, lights = self.noisy.copy(), LIGHTS.copy()
        photometric_stereo(images, lights, intensities=COLOURED_STRENGTHS, shadow=0.3, saturation=0.9)
        np.testing.assert_array_equal(images, self.noisy)
        np.testing.assert_array_equal(lights, LIGHTS)


@pytest.mark.parametrize(
    ("shadow", "saturation"), [(None, None), (0.25, None), (None, 0.8), (0.25, 0.8)],
    ids=["all", "shadow", "saturation", "both"],
)  # fmt: skip
@pytest.mark.parametrize("channels", [1, 3], ids=["grey", "colour"])
def test_least_squares_pixel_by_pixel(channels, shadow, saturation):
    rng = np.random.default_rng(5)
    images = rng.uniform(0, 1, (len(LIGHTS), 4, 5, channels))
    strengths = rng.uniform(0.5, 2, (len(LIGHTS), channels))
    found = photometric_stereo(
        images if channels == 3 else images[..., 0], LIGHTS, intensities=strengths,
        shadow=shadow, saturation=saturation,
    )  # fmt: skip
    left_out = 0
    for i, j in np.ndindex(4, 5):
        samples = images[:, i, j]
        keep = np.ones(len(LIGHTS), bool)
        if shadow is not None:
            keep &= samples.mean(axis=1) >= shadow
        if saturation is not None:
            keep &= (samples < saturation).all(axis=1)
        if np.linalg.matrix_rank(LIGHTS[keep]) < 3:
            keep[:] = True
        left_out += np.count_nonzero(~keep)
        m = np.linalg.lstsq(LIGHTS[keep], samples[keep] / strengths[keep], rcond=None)[0].T
        normal = m.mean(axis=0) / np.linalg.norm(m.mean(axis=0))
        np.testing.assert_allclose(found[0][i, j], normal, rtol=0, atol=1e-10)
        np.testing.assert_allclose(np.atleast_1d(found[1][i, j]), m @ normal, rtol=0, atol=1e-10)
    assert bool(left_out) == (shadow is not None or saturation is not None)


class TestLeftOutSamples:
    # The vase has slopes up to 10, and so attached shadows; where three lights or more reach it the rest is
    # a question of leaving the others out.
    surface = vase(64)
    normals = gradient_to_normals(surface.p, surface.q)
    shading = np.moveaxis(normals @ LIGHTS.T, 2, 0)
    enough = surface.mask & (np.count_nonzero(shading > 0.02, axis=0) >= 4)

    def test_without_shadows_the_normals_are_exact(self):
        images = np.maximum(self.shading, 0)
        shaded = self.enough & (self.shading < 0).any(axis=0)
        assert shaded.sum() > 50
        found, albedo = photometric_stereo(images, LIGHTS, self.surface.mask, shadow=0.02)
        np.testing.assert_allclose(found[self.enough], self.normals[self.enough], rtol=0, atol=1e-10)
        np.testing.assert_allclose(albedo[self.enough], 1, rtol=0, atol=1e-10)
        with_shadows, _ = photometric_stereo(images, LIGHTS, self.surface.mask)
        assert np.abs(with_shadows[shaded] - self.normals[shaded]).max(axis=1).min() > 1e-3

    def test_without_saturation_the_normals_are_exact(self):
        images = np.minimum(render(COLOUR), 0.8)
        saturated = (images == 0.8).any(axis=3)
        some = saturated.any(axis=0) & (np.count_nonzero(~saturated, axis=0) >= 4)
        assert some.sum() > 3
        found, albedo = photometric_stereo(images, LIGHTS, saturation=0.8)
        np.testing.assert_allclose(found[some], NORMALS[some], rtol=0, atol=1e-10)
        np.testing.assert_allclose(albedo[some], COLOUR[some], rtol=0, atol=1e-10)

    @pytest.mark.parametrize("kept", [[], [0], [1, 4], [0, 4, 8]], ids=["none", "one", "two", "in one plane"])
    def test_with_fewer_than_three_lights_all_samples_count(self, kept):
        images = render()
        dark = np.ones(len(LIGHTS), bool)
        dark[kept] = False
        images[dark, 2, 3] *= 1e-3  # two magnitudes below all others
        whole = photometric_stereo(images, LIGHTS)
        found = photometric_stereo(images, LIGHTS, shadow=0.01)
        assert_same(found, whole)


class TestMissing:
    def test_outside_the_mask(self):
        mask = np.random.default_rng(6).random((6, 7)) < 0.5
        images = np.where(mask[..., np.newaxis], render(COLOUR), np.nan)
        normals, albedo = photometric_stereo(images, LIGHTS, mask)
        for image, truth in ((normals, NORMALS), (albedo, COLOUR)):
            assert np.isnan(image[~mask]).all()
            np.testing.assert_allclose(image[mask], truth[mask], rtol=1e-12)

    @pytest.mark.parametrize("albedo", [GREY, COLOUR], ids=["grey", "colour"])
    @pytest.mark.parametrize("shadow", [None, 0.01])
    def test_black_pixels_have_an_albedo_but_no_normal(self, albedo, shadow):
        images = render(albedo)
        images[:, 1, 2] = 0
        normals, found = photometric_stereo(images, LIGHTS, shadow=shadow)
        assert np.isnan(normals[1, 2]).all()
        assert np.isnan(normals).sum() == 3
        assert (found[1, 2] == 0).all()


class Lazy:
    """Images that are made when asked for."""

    def __init__(self, count, make):
        self.count, self.make, self.asked = count, make, []

    def __len__(self):
        return self.count

    def __getitem__(self, k):
        if not 0 <= k < self.count:
            raise IndexError(k)
        self.asked.append(k)
        return self.make(k)


class TestOneImageAtATime:
    def test_a_sequence_that_loads_on_demand(self):
        images = render(COLOUR)
        lazy = Lazy(len(images), images.__getitem__)
        assert_same(photometric_stereo(lazy, LIGHTS), photometric_stereo(images, LIGHTS))
        # The first one is needed for its shape before all are.
        assert lazy.asked == [0, *range(len(images))]

    @pytest.mark.parametrize("shadow", [None, 1000.0], ids=["all", "shadow"])
    def test_memory_does_not_grow_with_the_number_of_images(self, shadow):
        shape = (200, 200, 3)
        one = 8 * np.prod(shape)  # bytes of one image of real numbers

        def make(k):
            return np.random.default_rng(k).integers(0, 65536, shape, dtype=np.uint16)

        peaks = []
        for count in (24, 48):
            angles = np.arange(count)
            lights = np.c_[0.5 * np.cos(angles), 0.5 * np.sin(angles), np.ones(count)]
            tracemalloc.start()
            photometric_stereo(Lazy(count, make), lights, shadow=shadow)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert peaks[1] == pytest.approx(peaks[0], rel=0.02)
        assert max(peaks) < 24 * one


IMAGES = render()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"lights": LIGHTS[:5]}, r"lights has shape \(5, 3\); expected \(9, 3\), one row per image"),
        ({"lights": LIGHTS[:, :2]}, r"lights has shape \(9, 2\)"),
        ({"lights": np.where(LIGHTS == 1, np.nan, LIGHTS)}, "lights has values that are NaN or infinite"),
        ({"lights": LIGHTS * [1, 1, 0]}, "lights has rank 2; expected three directions that are not in one"),
        ({"lights": np.zeros((9, 3))}, "lights has rank 0"),
        ({"lights": LIGHTS * 1j}, "lights has type complex"),
        ({"lights": [[1, 0, 0], [1, 0]]}, "lights is not an array"),
        ({"intensities": np.ones(8)}, r"intensities has shape \(8,\); expected \(9,\) or"),
        ({"intensities": np.ones((9, 3))}, r"intensities has shape \(9, 3\)"),
        ({"intensities": np.zeros(9)}, "intensities must be finite and positive"),
        ({"intensities": np.full(9, np.nan)}, "intensities must be finite and positive"),
        ({"intensities": ["bright"] * 9}, "intensities has type"),
        ({"images": []}, "images must be a sequence of images"),
        ({"images": None}, "images must be a sequence of images"),
        ({"images": np.ones((9, 6, 7, 2))}, r"images: the first has shape \(6, 7, 2\)"),
        ({"images": [*IMAGES[:8], IMAGES[8].T]}, r"images: number 8 has shape \(7, 6\); expected \(6, 7\)"),
        ({"images": [*IMAGES[:8], render(COLOUR)[8]]}, r"images: number 8 has shape \(6, 7, 3\)"),
        ({"images": IMAGES * 1j}, "images: number 0 has type complex"),
        ({"images": [*IMAGES[:4], IMAGES[4] * np.nan, *IMAGES[5:]]}, "images: number 4 is NaN or infinite"),
        ({"shadow": 0}, "shadow is 0; expected a finite number > 0"),
        ({"saturation": "dark"}, "saturation is 'dark'; expected a finite number > 0"),
        ({"mask": np.ones((7, 6))}, r"mask has shape \(7, 6\)"),
    ],
)
def test_errors(wrong, message):
    with pytest.raises(ValueError, match=message):
        photometric_stereo(**{"images": IMAGES, "lights": LIGHTS} | wrong)
