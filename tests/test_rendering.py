"""Photographs follow Lambert's law, shadows fall where geometry puts them, and noise is as large as asked."""

import numpy as np
import pytest

from normint.normals.convert import gradient_to_normals
from normint.surfaces import Surface, canadian_tent, figurine, vase
from normint.surfaces.rendering import cast_shadow, photograph

DIRECTIONS = [(-0.5, 0.0, 1.0), (0.4, -0.9, 0.6), (0.7, 0.2, 0.1), (0.0, 0.0, 1.0)]
each_light = pytest.mark.parametrize("light", DIRECTIONS)
TWO = np.array([[0.0, 0.0, 1.0], [0.0, 0.6, 0.8]])
SCENES = (canadian_tent(40, 13, 12, 1.3), vase(48), figurine(60))
POST = np.where(np.arange(40) == 10, 10.0, 0.0) * np.ones((3, 1))  # in every row, ten high


def plane(p, q, shape=(12, 15)):
    u, v = np.indices(shape)
    return Surface(p * u + q * v, np.full(shape, p), np.full(shape, q), np.ones(shape, bool))


def sphere(n=61, radius=25.0):
    """Return half a sphere that hangs in the air."""
    u, v = np.indices((n, n)) - (n - 1) / 2
    inside = u**2 + v**2 < (radius - 1) ** 2
    depth = np.sqrt(np.where(inside, radius**2 - u**2 - v**2, 1.0))
    return Surface(depth, -u / depth, -v / depth, inside)


def assert_rounded(images, exact):
    """Check that whole numbers are nearest to exact ones."""
    np.testing.assert_allclose(images, exact, rtol=0, atol=0.5 + 1e-9)


class TestLambertsLaw:
    @each_light
    def test_ratio_of_two_planes(self, light):
        # One light on a plane and straight from the camera: the brighter of the two is at 90 % of 65 535.
        light = np.asarray(light) / np.linalg.norm(light)
        normal = gradient_to_normals(0.3, -0.2)
        expected = np.maximum(np.array([normal @ light, normal[2]]), 0)
        images = photograph(plane(0.3, -0.2), [light, [0, 0, 1]])
        assert (images == images[:, :1, :1]).all()
        assert_rounded(images[:, 0, 0], 0.9 * 65535 * expected / expected.max())

    def test_albedo_and_intensities_multiply(self):
        rng = np.random.default_rng(0)
        albedo, strengths = rng.uniform(0.2, 1, (12, 15, 3)), rng.uniform(0.5, 2, (2, 3))
        lights = np.array([[0.0, 0.6, 0.8], [0.6, 0.0, 0.8]])
        images = photograph(plane(0, 0), lights, albedo=albedo, intensities=strengths)
        expected = 0.8 * albedo * strengths[:, np.newaxis, np.newaxis]
        assert_rounded(images, 0.9 * 65535 * expected / expected.max())

    @pytest.mark.parametrize("albedo", [0.3, np.full((12, 15), 0.3), np.full((12, 15, 3), 0.3)])
    @pytest.mark.parametrize("strengths", [[2.0, 1.0], np.outer([2.0, 1.0], [1, 1, 1])])
    def test_colours_where_there_are_any(self, albedo, strengths):
        images = photograph(plane(0, 0), [[0, 0, 1], [0, 0, 1]], albedo=albedo, intensities=strengths)
        coloured = np.ndim(albedo) == 3 or np.ndim(strengths) == 2
        assert images.shape == ((2, 12, 15, 3) if coloured else (2, 12, 15))
        for image, part in zip(images, (1, 0.5), strict=True):
            assert_rounded(image, 0.9 * 65535 * part)

    def test_attached_shadow_is_exactly_zero(self):
        surface, light = sphere(), TWO[1, [0, 2, 1]]
        image = photograph(surface, [light], mask=surface.mask)[0]
        facing = gradient_to_normals(surface.p, surface.q) @ light
        away = surface.mask & (facing <= 0)
        assert away.sum() > 100 and not image[away].any()
        assert image[surface.mask & (facing > 1e-4)].all()

    def test_outside_the_mask_is_black_and_not_read(self):
        surface = sphere()
        fields = (surface.depth, surface.p, surface.q)
        broken = Surface(*(np.where(surface.mask, field, np.nan) for field in fields), surface.mask)
        albedo = np.where(surface.mask, 0.5, np.nan)
        images = photograph(broken, TWO, albedo=albedo, mask=surface.mask)
        assert not images[:, ~surface.mask].any()
        np.testing.assert_array_equal(images, photograph(surface, TWO, mask=surface.mask))


class TestCastShadows:
    @pytest.mark.parametrize("elevation", [20, 45, 75])
    @pytest.mark.parametrize("transposed", [False, True])
    def test_a_wall_has_a_shadow_of_its_height_over_the_tangent(self, elevation, transposed):
        height, rise = 40.0, np.tan(np.radians(elevation))
        depth = np.where(np.arange(200) == 150, height, 0.0) * np.ones((5, 1))
        light = [0.0, np.cos(np.radians(elevation)), np.sin(np.radians(elevation))]
        if transposed:
            lines = cast_shadow(depth.T, [light[1], light[0], light[2]]).T
        else:
            lines = cast_shadow(depth, light)
        lengths = lines.sum(axis=1)
        # All lines, the first and the last included, in front of the wall without a gap.
        assert (lengths == lengths[0]).all() and lines[:, 150 - lengths[0] : 150].all()
        # Exactly: one pixel of depth is forgiven, and the last pixel whose ray hits is the last one dark.
        assert lengths[0] == np.ceil((height - 1) / rise - 1e-9) - 1
        assert height - 1 - rise - 1e-9 <= lengths[0] * rise < height

    def test_diagonal_light(self):
        # A post 10 high at (20, 20), lit along the diagonal at 45°: its shadow is on the diagonal.
        depth = np.zeros((30, 30))
        depth[20, 20] = 10.0
        dark = np.argwhere(cast_shadow(depth, [1.0, 1.0, np.sqrt(2)]))
        assert np.abs(dark[:, 0] - dark[:, 1]).max() <= 1 and (dark < 20).any(axis=1).all()

    @each_light
    def test_no_plane_and_no_lit_side_of_a_sphere_shades_itself(self, light):
        for slopes in ((0, -3), (-0.7, 0.9), (-10, 10)):
            if gradient_to_normals(*slopes) @ light > 0:
                assert not cast_shadow(plane(*slopes).depth, light).any()
        surface = sphere()
        lit = surface.mask & (gradient_to_normals(surface.p, surface.q) @ light > 0)
        assert not (cast_shadow(surface.depth, light, surface.mask) & lit).any()

    def test_a_light_at_the_camera_casts_no_shadow(self):
        assert not cast_shadow(canadian_tent(40, 10, 10, 3).depth, [0, 0, 1]).any()

    def test_what_is_outside_the_mask_casts_none(self):
        assert not cast_shadow(POST, [0.0, -1.0, 1.0], POST == 0).any()

    def test_a_shadow_falls_along_the_edge_of_the_mask(self):
        # One row only is inside: the rays run exactly in it, beside pixels that are outside.
        row = np.zeros((3, 40), bool)
        row[1] = True
        for light in ([0.0, -1.0, 1.0], [0.0, 1.0, 1.0]):
            np.testing.assert_array_equal(cast_shadow(POST, light, row)[1], cast_shadow(POST, light)[1])

    def test_one_row_and_one_column(self):
        assert cast_shadow(POST[:1], [0.0, -1.0, 1.0]).sum() == 8
        assert cast_shadow(POST[:1].T, [-1.0, 0.0, 1.0]).sum() == 8

    def test_the_length_of_the_light_does_not_matter(self):
        depth, light = figurine(60).depth, np.array([0.3, 0.8, 0.5])
        shadow = cast_shadow(depth, light)
        assert shadow.any()
        np.testing.assert_array_equal(cast_shadow(depth, 7.0 * light), shadow)


@each_light
@pytest.mark.parametrize("surface", SCENES, ids=lambda surface: surface.name)
class TestFlips:
    @pytest.mark.parametrize("masked", [True, False], ids=["masked", "whole"])
    def test_flips_and_photographs_commute(self, surface, light, masked):
        image = photograph(surface, [light], mask=surface.mask if masked else None)[0]
        for axis in (0, 1):
            signs = np.where(np.arange(3) == axis, -1.0, 1.0)
            fields = surface.depth, signs[0] * surface.p, signs[1] * surface.q, surface.mask
            other = Surface(*(np.flip(field, axis) for field in fields))
            seen = photograph(other, [signs * light], mask=other.mask if masked else None)[0]
            np.testing.assert_array_equal(np.flip(seen, axis), image)

    def test_transposes_and_shadows_commute(self, surface, light):
        shadow = cast_shadow(surface.depth.T, [light[1], light[0], light[2]], surface.mask.T)
        np.testing.assert_array_equal(shadow.T, cast_shadow(surface.depth, light, surface.mask))


class TestCamera:
    surface = plane(0, 0, (150, 200))

    @pytest.mark.parametrize(("bits", "dtype", "largest"), [(8, np.uint8, 255), (16, np.uint16, 65535)])
    @pytest.mark.parametrize("exposure", [0.25, 1.0, 2.0])
    def test_bits_and_exposure_up_to_saturation(self, bits, dtype, largest, exposure):
        images = photograph(self.surface, TWO, bits=bits, exposure=exposure)
        assert images.dtype == dtype
        assert_rounded(images[:, 0, 0], np.minimum(exposure * np.array([1, 0.8]), 1) * largest)

    @pytest.mark.parametrize("noise", [0.01, 0.05])
    def test_noise_level(self, noise):
        # Two equal photographs, far from black and white: the noise is the difference to the mean.
        options = {"noise": noise, "rng": np.random.default_rng(0), "exposure": 0.5}
        images = photograph(self.surface, [[0, 0, 1]] * 2, **options).astype(float)
        level = noise * 0.5 * 65535
        for image in images:
            assert image.mean() == pytest.approx(0.5 * 65535, abs=4 * level / np.sqrt(image.size))
            assert image.std() == pytest.approx(level, rel=4 / np.sqrt(2 * image.size))
        assert abs(np.corrcoef(images[0].ravel(), images[1].ravel())[0, 1]) < 4 / np.sqrt(images[0].size)

    def test_noise_depends_on_the_generator_only(self):
        generators = [np.random.default_rng(seed) for seed in (1, 1, 2)]
        one, same, other = (photograph(self.surface, [[0, 0, 1]], noise=0.01, rng=rng) for rng in generators)
        np.testing.assert_array_equal(one, same)
        assert (one != other).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lights": [[0, 0, 1], [0.1, 0, -1]]}, r"lights has \[0.1, 0.0, -1.0\]; expected .* z > 0"),
        ({"lights": [0, 0, 1]}, r"lights has shape \(3,\)"),
        ({"lights": [[0, np.nan, 1]]}, "lights has .* finite"),
        ({"albedo": np.ones((15, 12))}, r"albedo has shape \(15, 12\)"),
        ({"albedo": np.nan}, "albedo has values that are negative, NaN or infinite"),
        ({"intensities": [1, 1]}, r"intensities has shape \(2,\)"),
        ({"intensities": [np.inf]}, "intensities has values that are"),
        ({"mask": np.ones((15, 12))}, "mask has shape"),
        ({"noise": 0.1}, "rng is a NoneType; expected a numpy.random.Generator"),
        ({"noise": -0.1, "rng": np.random.default_rng(0)}, "noise is -0.1"),
        ({"bits": 12}, "bits is 12; expected 8 or 16"),
        ({"exposure": 0}, "exposure is 0"),
        ({"albedo": 0.0}, "lights leave the surface black"),
    ],
)
def test_bad_arguments_of_a_photograph(options, message):
    options = {"lights": [[0, 0, 1]], **options}
    with pytest.raises(ValueError, match=message):
        photograph(plane(0.1, 0.2), options.pop("lights"), **options)


@pytest.mark.parametrize(
    ("depth", "light", "message"),
    [
        (np.zeros((3, 3)), [0, 1, -0.1], "light has"),
        (np.zeros((3, 3)), [0, 1], "light has"),
        (np.zeros((3, 3)), [np.nan, 0, 1], "light has"),
        ([[0.0, np.nan]], [0, 1, 1], r"depth is NaN or infinite at 1 pixel .* first at \(0, 1\)"),
    ],
)
def test_bad_arguments_of_a_shadow(depth, light, message):
    with pytest.raises(ValueError, match=message):
        cast_shadow(depth, light)
