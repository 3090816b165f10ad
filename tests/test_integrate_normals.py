"""Normals of any convention, any camera and any method lead to the surface that has them."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from near_shapes import SHAPE, K, plane, sphere

import normint
from normint import gradient_to_normals, integrate_normals
from normint.metrics import rmse
from normint.normals.camera import projection
from normint.normals.maps import AXES, NormalMap

METHODS = (
    "quadratic", "total_variation", "phi1", "phi2", "anisotropic_diffusion", "mumford_shah", "calibrated",
    "bilateral",
)  # fmt: skip
CAT = Path(os.environ.get("NORMINT_DATA", "data")) / "bini" / "cat"


def to_scale(depth, truth):
    """Return the depth with the truth's median: without a prior, its scale is free."""
    return depth * np.nanmedian(truth / depth)


@pytest.mark.parametrize("method", METHODS)
def test_a_sphere_before_a_near_camera_is_recovered_by_every_method(method):
    truth, normals, mask = sphere()
    depth = integrate_normals(normals, mask, K, method=method).depth
    assert np.isnan(depth[~mask]).all() and (depth[mask] > 0).all()
    error = (to_scale(depth, truth) - truth)[mask]
    assert np.abs(error).max() < 0.01 * np.ptp(truth[mask])


@pytest.mark.parametrize("method", ("dct", "sylvester", *METHODS))
def test_a_plane_before_a_near_camera_is_recovered_by_every_method(method):
    truth, normals = plane()
    depth = integrate_normals(normals, camera=K, axes="uvz", method=method, distance=250.0).depth
    np.testing.assert_allclose(to_scale(depth, truth), truth, rtol=2e-4)
    assert np.exp(np.log(depth).mean()) == pytest.approx(250.0)


@pytest.mark.parametrize("axes", [*AXES, "left up away", "up right toward"])
def test_every_axes_of_the_same_normals_give_the_same_depth(axes):
    truth, normals, mask = sphere()
    words = {"down": (0, 1), "up": (0, -1), "right": (1, 1), "left": (1, -1)}
    words |= {"toward": (2, 1), "away": (2, -1)}
    parts = [words[word] for word in AXES.get(axes, axes).split()]
    written = np.stack([sign * normals[..., k] for k, sign in parts], axis=-1)
    expected = integrate_normals(normals, mask, K).depth
    np.testing.assert_array_equal(integrate_normals(written, mask, K, axes=axes).depth, expected)


def test_without_a_camera_it_is_the_integration_of_the_slopes():
    surface = normint.surfaces.peaks(48)
    normals = 3 * gradient_to_normals(surface.p, surface.q)
    for options in ({}, {"method": "phi1", "beta": 0.3}, {"prior": surface.depth, "prior_weight": 0.1}):
        expected = normint.integrate(surface.p, surface.q, **options).depth
        np.testing.assert_allclose(integrate_normals(normals, **options).depth, expected, atol=1e-9)


def test_colours_are_normals():
    surface = normint.surfaces.vase(64)
    normals = gradient_to_normals(surface.p, surface.q)
    xyz = np.stack([normals[..., 1], -normals[..., 0], normals[..., 2]], axis=-1)
    expected = integrate_normals(normals, surface.mask).depth
    for kind, error in ((np.uint16, 0.01), (np.uint8, 1.5)):
        colours = np.rint((xyz + 1) / 2 * np.iinfo(kind).max).astype(kind)
        colours[~surface.mask] = 0
        depth = integrate_normals(colours, axes="xyz", background="black").depth  # which is outside
        assert (np.isnan(depth) == ~surface.mask).all()
        assert rmse(depth, expected, surface.mask) < error
    assert integrate_normals(normals.astype(np.float32), background="none").depth.dtype == np.float64


def test_blocks_of_rows_do_not_show():
    rng = np.random.default_rng(0)
    normals = rng.standard_normal((600, 3, 3)) + [0, 0, 8]
    camera = [[900.0, 0, 1.0], [0, 800.0, 250.0], [0, 0, 1]]
    for lens in (None, camera):
        unit = projection(lens).unit
        p, q = (unit * slope for slope in projection(lens).gradient(normals))
        depth = normint.integrate(p, q).depth
        expected = projection(lens).depth(depth / unit)
        np.testing.assert_allclose(
            integrate_normals(normals, camera=lens, axes="uvz").depth, expected, atol=1e-9
        )


@pytest.mark.parametrize("camera", [None, K])
def test_the_slopes_are_those_that_are_integrated(camera):
    _, normals, mask = sphere()
    if camera is None:  # seen from far away, with z towards the viewer
        normals = gradient_to_normals(*np.random.default_rng(0).normal(size=(2, *SHAPE)))
    seen = NormalMap.decoded(normals, mask, camera, least_cosine=0.65, steepest=2.0)
    p, q, kept = seen.p, seen.q, seen.mask
    assert kept.sum() < mask.sum() and not p[~kept].any() and not q[~kept].any()
    assert np.hypot(p, q).max() <= 2.0 * (1 + 1e-12)
    lens = projection(camera)
    expected = lens.depth(normint.integrate(p, q, kept).depth / lens.unit)
    options = {"axes": "uvz", "check_axes": False}
    found = integrate_normals(normals, mask, camera, least_cosine=0.65, steepest=2.0, **options)
    np.testing.assert_allclose(found.depth, expected, atol=1e-9)


def test_a_prior_gives_the_scale_of_the_piece_it_touches_and_only_of_that():
    truth, normals = plane()
    mask = np.ones(SHAPE, bool)
    mask[:, 40] = False  # two pieces
    prior = np.full(SHAPE, np.nan)
    prior[10, 10] = truth[10, 10]
    options = {"axes": "uvz", "prior": prior, "prior_weight": 10.0, "distance": 7.0}
    depth = integrate_normals(normals, mask, K, **options).depth
    np.testing.assert_allclose(depth[:, :40], truth[:, :40], rtol=2e-4)
    right = depth[:, 41:]
    assert np.exp(np.log(right).mean()) == pytest.approx(7.0)
    np.testing.assert_allclose(to_scale(right, truth[:, 41:]), truth[:, 41:], rtol=2e-4)


def test_a_start_is_a_depth():
    truth, normals, mask = sphere()
    options = {"method": "phi1", "max_iterations": 1}
    # From the truth, one iteration stays there: as a logarithm it would be far off.
    depth = integrate_normals(normals, mask, K, initial=truth, **options).depth
    assert np.nanmax(np.abs(to_scale(depth, truth) - truth)[mask]) < 0.01 * np.ptp(truth[mask])


def test_a_few_normals_that_face_away_or_are_missing_are_left_out_and_counted():
    _, normals, mask = sphere()
    broken = normals.copy()
    broken[40, 40:43] = [0.0, 1.0, -0.5]
    broken[40, 45:47] = np.nan
    said = f"left out 5 of {mask.sum()} pixels: 3 facing away from the camera and 2 without a normal"
    with pytest.warns(RuntimeWarning, match=said) as caught:
        result = integrate_normals(broken, mask, K)
    assert len(caught) == 1 and said in result.notes
    assert np.isnan(result.depth[40, [40, 41, 42, 45, 46]]).all()
    assert np.isnan(result.depth).sum() == (~mask).sum() + 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # on purpose, they are not counted
        integrate_normals(broken, mask & np.isfinite(broken).all(axis=2), K, least_cosine=0.05)


def test_many_normals_that_face_away_are_refused_with_a_reason():
    _, normals, mask = sphere()
    with pytest.raises(ValueError, match="most of them, so check the axes"):
        integrate_normals(-normals, mask, K, axes="uvz")
    part = np.where(np.cumsum(mask).reshape(SHAPE + (1,)) < 0.07 * mask.sum(), -normals, normals)
    with pytest.raises(ValueError, match="check the axes .*pose=.*least_cosine=0.01"):
        integrate_normals(part, mask, K, axes="uvz")
    with pytest.raises(ValueError, match="7 % of them face away .*any axes in common use; give the pose="):
        integrate_normals(part, mask, K)
    integrate_normals(part, mask, K, axes="uvz", least_cosine=0.01)
    few = np.where(np.cumsum(mask).reshape(SHAPE + (1,)) < 0.3 * mask.sum(), normals, 0)
    with pytest.raises(ValueError, match="expected a mask that belongs to the normal map"):
        integrate_normals(few, mask, K)


def test_grazing_normals_do_not_rule_the_surface():
    """On a sphere with noise, seen up to its contour: a limit on the slopes makes the error much smaller."""
    u, v = np.indices((220, 220)) - 109.5
    mask = np.hypot(u, v) < 100
    z = np.sqrt(np.where(mask, 100**2 - u**2 - v**2, 0))
    noise = np.radians(1) * np.random.default_rng(0).standard_normal((220, 220, 3))
    normals = np.stack([u, v, z], axis=-1) / 100 + noise
    options = {"axes": "uvz", "least_cosine": 1e-6, "check_axes": False}
    limited, free = (integrate_normals(normals, mask, steepest=s, **options).depth for s in (200, None))
    assert rmse(limited, z) < 0.6 * rmse(free, z)
    # The limit is a length: it does not turn a slope.
    p, q = 300.0, 400.0
    steep = gradient_to_normals(np.full((1, 2), p), np.full((1, 2), q))
    assert np.ptp(integrate_normals(steep, axes="uvz", steepest=50).depth) == pytest.approx(40)


def test_a_method_that_asks_for_them_gets_the_cosines_of_the_near_camera():
    _, normals, mask = sphere(least=0.2)
    facing = -(normals * projection(K).rays(mask.shape)).sum(-1)
    expected = integrate_normals(normals, mask, K, method="bilateral", facing=facing).depth
    found = integrate_normals(normals, mask, K, method="bilateral").depth
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    p, q = projection(K).gradient(normals, mask)
    far = normint.integrate(270 * p, 270 * q, mask, method="bilateral").depth  # f = 270
    assert np.abs(far / 270 - np.log(expected))[mask].max() > 1e-6  # it matters


@pytest.mark.skipif(not CAT.exists(), reason="the Cat's normal map is not there")
def test_the_cat_is_a_third_of_a_millimetre_from_its_true_depth():
    """Its 25 most grazing pixels decide: they hold the jump from a paw to what is 35 mm behind it."""
    cat = normint.datasets.read_normal_map(CAT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # its axes are right
        depth = integrate_normals(cat.normals, cat.mask, cat.camera, tolerance=1e-8).depth
    error = np.abs(to_scale(depth, cat.depth) - cat.depth)[cat.mask]
    assert len(error) == 44319 and error.mean() <= 0.34


@pytest.mark.parametrize(
    "options, message",
    [
        ({"axes": "zyx"}, "axes is 'zyx'; expected auto, one of uvz, xyz, .*opengl"),
        ({"axes": "up down toward"}, "axes is 'up down toward'"),
        ({"axes": 3}, "axes is 3"),
        ({"method": "cubic"}, "method is 'cubic'"),
        ({"nonsense": 1}, "nonsense is not an option"),
        ({"mask": np.ones((2, 2))}, "mask has shape"),
        ({"camera": np.eye(2)}, "camera is"),
        ({"distance": 3.0}, "distance is given without a camera"),
        ({"camera": K, "distance": -1}, "distance is -1"),
        ({"least_cosine": 1.5}, "least_cosine is 1.5"),
        ({"least_cosine": 0.99}, "nothing is left"),
        ({"steepest": 0}, "steepest is 0"),
        ({"prior": np.ones((2, 2)), "prior_weight": 1.0}, "prior has shape"),
        ({"camera": K, "prior": np.full(SHAPE, -2.0), "prior_weight": 1.0}, "prior is zero or negative"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    normals = np.full((*SHAPE, 3), [0.3, 0.3, 0.9])
    with pytest.raises(ValueError, match=message):
        integrate_normals(normals, **{"axes": "uvz"} | options)


@pytest.mark.parametrize(
    "normals, message",
    [
        (np.zeros((4, 4)), "normals has shape"),
        (np.zeros((4, 4, 3)), "NaN or zero everywhere"),
        (np.full((4, 4, 3), "a"), "normals has type"),
    ],
)
def test_bad_normals_are_refused(normals, message):
    with pytest.raises(ValueError, match=message):
        integrate_normals(normals)
    if normals.dtype == float and normals.ndim == 3:
        with pytest.raises(ValueError, match="16 of the mask's 16 pixels are NaN, infinite, zero or of"):
            integrate_normals(normals, np.ones((4, 4)))


class TestMaskedArrays:
    surface = normint.surfaces.vase(64)
    mask = np.hypot(*(np.indices((64, 64)) - 32)) < 30

    def hidden(self, array):
        """Hide what is outside the mask, of normals one component only, over what must not be read."""
        hide = np.zeros(array.shape, bool)
        hide[(~self.mask, 0) if array.ndim == 3 else ~self.mask] = True
        return np.ma.MaskedArray(np.where(hide, np.array(77, array.dtype), array), hide)

    @pytest.mark.parametrize("bits", [None, 8, 16])
    def test_hide_normals(self, bits):
        normals = gradient_to_normals(self.surface.p, self.surface.q)
        if bits:
            normals = np.round((normals + 1) / 2 * (2**bits - 1)).astype(f"uint{bits}")
        expected = integrate_normals(normals, self.mask, check_axes=False).depth
        found = integrate_normals(self.hidden(normals), check_axes=False).depth
        np.testing.assert_array_equal(found, expected)

    def test_hide_a_prior(self):
        normals, prior = gradient_to_normals(self.surface.p, self.surface.q), self.surface.depth
        known = np.where(self.mask, prior, np.nan)
        options = {"prior_weight": 1.0, "background": "none"}
        expected = integrate_normals(normals, prior=known, **options).depth
        found = integrate_normals(normals, prior=self.hidden(prior), **options).depth
        np.testing.assert_array_equal(found, expected)

    def test_hide_depths_from_metrics_and_normals(self):
        noise = np.random.default_rng(0).standard_normal((64, 64))
        found = rmse(self.hidden(noise), np.zeros((64, 64)))
        assert found == rmse(noise, np.zeros((64, 64)), self.mask)
        np.testing.assert_array_equal(
            normint.depth_to_normals(self.hidden(noise)), normint.depth_to_normals(noise, self.mask)
        )

    def test_are_refused_as_images(self):
        images = self.hidden(self.surface.depth), *np.ones((2, 64, 64))
        with pytest.raises(ValueError, match="images: number 0 is a masked array; expected plain ones"):
            normint.photometric_stereo(images, np.eye(3))
