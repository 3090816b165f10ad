"""Normals, gradients and depths, back and forth."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normint.normals.convert import depth_to_normals, gradient_to_normals, normals_to_gradient

shapes = hnp.array_shapes(min_dims=2, max_dims=2, max_side=5)
slopes = st.floats(-1e6, 1e6)
gradients = shapes.flatmap(lambda shape: st.tuples(*[hnp.arrays(float, shape, elements=slopes)] * 2))


@given(gradients)
def test_gradient_to_normals_and_back(gradient):
    p, q = gradient
    back = normals_to_gradient(gradient_to_normals(p, q))
    np.testing.assert_allclose(back, (p, q), rtol=1e-12, atol=1e-12)


@given(gradients)
def test_normals_have_length_one_and_face_the_camera(gradient):
    normals = gradient_to_normals(*gradient)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=2), 1, rtol=1e-12)
    assert (normals[..., 2] > 0).all()


@given(gradients, st.floats(1e-3, 1e3))
def test_length_does_not_matter(gradient, length):
    scaled = length * gradient_to_normals(*gradient)
    np.testing.assert_allclose(normals_to_gradient(scaled), gradient, rtol=1e-12, atol=1e-12)


@given(gradients)
def test_normals_are_perpendicular_to_both_tangents(gradient):
    p, q = gradient
    n_u, n_v, n_z = np.moveaxis(gradient_to_normals(p, q), 2, 0)
    # The tangents along u and v are (1, 0, p) and (0, 1, q).
    np.testing.assert_allclose(n_u + p * n_z, 0, atol=1e-12)
    np.testing.assert_allclose(n_v + q * n_z, 0, atol=1e-12)


def test_signs():
    # A surface that rises downwards (p > 0) is seen from above: its normal points up, against u.
    normal = gradient_to_normals([[1.0]], [[0.0]])[0, 0]
    assert normal[0] < 0 < normal[2]


def test_nan_gradient_has_nan_normal():
    normals = gradient_to_normals([[np.nan, 0.0]], [[1.0, 0.0]])
    assert np.isnan(normals[0, 0]).all()
    np.testing.assert_array_equal(normals[0, 1], [0, 0, 1])


class TestMask:
    normals = np.array(
        [[[0.0, 0.0, 1.0], [np.nan] * 3, [0.0, 1.0, 0.0]], [[0.6, 0.0, 0.8], [0, 0, 2], [0, 0, -1]]]
    )
    mask = np.array([[1, 0, 0], [1, 1, 0]], dtype=bool)

    def test_outside_anything_is_allowed(self):
        p, q = normals_to_gradient(self.normals, self.mask)
        np.testing.assert_allclose(p, [[0, np.nan, np.nan], [-0.75, 0, np.nan]])
        np.testing.assert_array_equal(np.isnan(q), ~self.mask)

    def test_nan_inside(self):
        with pytest.raises(ValueError, match="normals: 1 pixel is NaN or infinite"):
            normals_to_gradient(self.normals)

    def test_facing_away_inside(self):
        mask = np.array([[1, 0, 1], [1, 1, 1]], dtype=bool)
        with pytest.raises(ValueError, match=r"normals: 2 pixels are facing away from the camera"):
            normals_to_gradient(self.normals, mask)

    def test_empty_mask(self):
        with pytest.raises(ValueError, match="mask is empty"):
            normals_to_gradient(self.normals, np.zeros((2, 3)))


@pytest.mark.parametrize(
    "normals", [np.ones((2, 3)), np.ones((2, 2, 4)), np.ones((2, 2, 3), complex), "normal"]
)
def test_bad_normals(normals):
    with pytest.raises(ValueError, match="normals has"):
        normals_to_gradient(normals)


def test_bad_gradient():
    with pytest.raises(ValueError, match=r"q has shape \(1, 2\); expected \(2, 1\)"):
        gradient_to_normals(np.ones((2, 1)), np.ones((1, 2)))


@given(st.tuples(*[st.floats(-2, 2)] * 5))
def test_depth_of_a_quadratic_surface(coefficients):
    a, b, c, d, e = coefficients
    u, v = np.mgrid[-2.0:3, -3.0:4]
    normals = depth_to_normals(a * u + b * v + c * u**2 + d * u * v + e * v**2)
    expected = gradient_to_normals(a + 2 * c * u + d * v, b + d * u + 2 * e * v)
    np.testing.assert_allclose(normals[1:-1, 1:-1], expected[1:-1, 1:-1], atol=1e-12)


def test_depth_border_is_missing():
    normals = depth_to_normals(np.zeros((4, 5)))
    known = ~np.isnan(normals).any(axis=2)
    np.testing.assert_array_equal(known, np.pad(np.ones((2, 3), bool), 1))


@pytest.mark.parametrize("by_mask", [True, False])
def test_depth_hole_takes_its_neighbours_with_it(by_mask):
    mask = np.ones((5, 5), dtype=bool)
    mask[2, 2] = False
    z = np.zeros((5, 5))
    normals = depth_to_normals(z, mask) if by_mask else depth_to_normals(np.where(mask, z, np.nan))
    known = ~np.isnan(normals).any(axis=2)
    np.testing.assert_array_equal(np.argwhere(known), [[1, 1], [1, 3], [3, 1], [3, 3]])
    np.testing.assert_array_equal(np.isnan(normals).any(axis=2), np.isnan(normals).all(axis=2))


@pytest.mark.parametrize(
    ("z", "mask", "message"), [(np.ones(3), None, "z has 1 dim"), (np.ones((2, 2)), [[1]], "mask")]
)
def test_bad_depth(z, mask, message):
    with pytest.raises(ValueError, match=message):
        depth_to_normals(z, mask)
