"""The domain against the matrices printed in the paper, and against what must hold on any mask."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normint.domain import Domain
from normint.workbook.results import paper_matrices

# Section 3.4: all of the 3×3 grid but its lower right corner, pixels numbered down the columns.
EXAMPLE = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]], dtype=bool)

# The operator along a line of seven pixels, printed at the end of Section 3.5 as "DuᵀDu".
SEVEN = [
    [1, -1, 0, 0, 0, 0, 0],
    [-1, 2, -1, 0, 0, 0, 0],
    [0, -1, 2, -1, 0, 0, 0],
    [0, 0, -1, 2, -1, 0, 0],
    [0, 0, 0, -1, 2, -1, 0],
    [0, 0, 0, 0, -1, 2, -1],
    [0, 0, 0, 0, 0, -1, 1],
]

masks = hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, max_side=7)).filter(np.any)
MATRICES = [
    ("Du_plus", "omega_u_plus", (1, 0)),
    ("Du_minus", "omega_u_minus", (-1, 0)),
    ("Dv_plus", "omega_v_plus", (0, 1)),
    ("Dv_minus", "omega_v_minus", (0, -1)),
]


class TestPrintedExample:
    domain = Domain(EXAMPLE)

    @pytest.mark.parametrize("name", ["Du_plus", "L", "Du"])
    def test_matrices(self, name):
        matrix = self.domain.laplacian() if name == "L" else getattr(self.domain, name)
        np.testing.assert_array_equal(matrix.toarray(), paper_matrices()[name])

    def test_dv_but_for_a_misprint(self):
        # The paper prints ½[0 0 0 0 1 0 1 1] as the last row. Its 1 in column 7 is a misprint: pixel (2,3)
        # would take q from (1,3), its neighbour along u; along v it has only (2,2), which is column 5.
        printed = np.array(paper_matrices()["Dv"])
        assert printed[7, 6] == 0.5
        printed[7, 6] = 0.0
        np.testing.assert_array_equal(self.domain.Dv.toarray(), printed)

    @pytest.mark.parametrize(
        ("name", "printed"),
        [
            ("omega_u_plus", [(1, 1), (2, 1), (1, 2), (2, 2), (1, 3)]),
            ("omega_u_minus", [(2, 1), (3, 1), (2, 2), (3, 2), (2, 3)]),
            ("omega_v_plus", [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2)]),
            ("omega_v_minus", [(1, 2), (2, 2), (3, 2), (1, 3), (2, 3)]),
        ],
    )
    def test_sets(self, name, printed):
        expected = np.zeros((3, 3), dtype=bool)
        expected[tuple(np.transpose(printed) - 1)] = True
        np.testing.assert_array_equal(getattr(self.domain, name), expected)

    def test_boundary(self):
        # The paper's (1,0) and (0,1), whose data pixel (1,1) asks for, are (0,−1) and (−1,0) here.
        around = [
            (-1, 0),
            (-1, 1),
            (-1, 2),
            (0, -1),
            (0, 3),
            (1, -1),
            (1, 3),
            (2, -1),
            (2, 2),
            (3, 0),
            (3, 1),
        ]
        assert self.domain.boundary == around


def test_seven_pixels():
    line = Domain(np.ones((7, 1)))
    second_order = 0.5 * (line.Du_plus.T @ line.Du_plus + line.Du_minus.T @ line.Du_minus)
    np.testing.assert_array_equal(second_order.toarray(), SEVEN)
    np.testing.assert_array_equal(line.laplacian().toarray(), SEVEN)
    # The paper calls this DuᵀDu. With Du as it is defined that product is another matrix, which skips the
    # direct neighbours just as central differences do.
    np.testing.assert_array_equal(4 * (line.Du.T @ line.Du).toarray()[3], [0, -1, 0, 2, 0, -1, 0])


def test_the_matrix_of_a_rectangle_is_not_toeplitz():
    # The paper says it is; only in the interior: corners and sides have fewer neighbours on the diagonal.
    matrix = Domain(np.ones((3, 4))).laplacian().toarray()
    assert set(np.diag(matrix)) == {2.0, 3.0, 4.0}


@given(masks, st.tuples(*[st.integers(-9, 9)] * 3))
def test_differences_of_a_plane_are_its_slopes(mask, plane):
    domain = Domain(mask)
    constant, slope_u, slope_v = plane
    row, column = np.indices(mask.shape)
    z = domain.to_vector(constant + slope_u * row + slope_v * column)
    for name, omega, (along_u, _) in MATRICES:
        slope = slope_u if along_u else slope_v
        observed = domain.to_image(getattr(domain, name) @ z, outside=0)
        np.testing.assert_array_equal(observed, slope * getattr(domain, omega))


@given(masks)
def test_rows_are_empty_where_a_neighbour_is_missing(mask):
    domain = Domain(mask)
    for name, omega, _ in MATRICES:
        entries = domain.to_image(np.diff(getattr(domain, name).indptr))
        np.testing.assert_array_equal(entries[mask], 2 * getattr(domain, omega)[mask])


@given(masks)
def test_laplacian_is_that_of_the_graph(mask):
    domain = Domain(mask)
    pixels = np.argwhere(mask.T)  # columnwise
    neighbours = np.abs(pixels[:, np.newaxis] - pixels).sum(axis=2) == 1
    expected = np.diag(neighbours.sum(axis=1)) - neighbours.astype(int)
    matrix = domain.laplacian()
    np.testing.assert_array_equal(matrix.toarray(), expected)
    np.testing.assert_array_equal(matrix.sum(axis=1), 0)


@given(masks)
def test_null_vectors_count_the_components(mask):
    domain = Domain(mask)
    rank = np.linalg.matrix_rank(domain.laplacian().toarray())
    assert domain.size - rank == domain.component_count
    np.testing.assert_array_equal(domain.components > 0, mask)
    assert domain.components.max() == domain.component_count
    for label in range(1, domain.component_count + 1):
        constant = domain.to_vector(domain.components == label).astype(float)
        np.testing.assert_array_equal(domain.laplacian() @ constant, 0)


@given(masks)
def test_no_flux_appears_from_nowhere(mask):
    # What leaves one pixel enters another. The misprinted Dv would break this.
    domain = Domain(mask)
    np.testing.assert_array_equal(domain.Du.sum(axis=0), 0)
    np.testing.assert_array_equal(domain.Dv.sum(axis=0), 0)


@given(masks)
def test_right_hand_side_is_the_gradient_of_the_energy(mask):
    # b = −∇F(0) for the fidelity F of Section 3.1, summed pixel by pixel.
    domain = Domain(mask)
    field = np.random.default_rng(0).standard_normal(mask.shape)
    b = np.zeros(mask.shape)
    for row, column in np.argwhere(mask):
        for omega, step in ((domain.omega_u_plus, 1), (domain.omega_u_minus, -1)):
            if omega[row, column]:
                b[row, column] -= step * field[row, column] / 2
                b[row + step, column] += step * field[row, column] / 2
    np.testing.assert_allclose(domain.Du @ domain.to_vector(field), domain.to_vector(b), atol=1e-15)


@given(masks)
def test_transposing_the_mask_swaps_u_and_v(mask):
    domain, transposed = Domain(mask), Domain(mask.T)
    order = transposed.to_vector(domain.to_image(np.arange(domain.size)).T).astype(int)
    for along_u, along_v in (("Du_plus", "Dv_plus"), ("Du_minus", "Dv_minus"), ("Du", "Dv")):
        expected = getattr(domain, along_u).toarray()[np.ix_(order, order)]
        np.testing.assert_array_equal(getattr(transposed, along_v).toarray(), expected)


@given(masks)
def test_boundary_points_are_outside_and_touch_the_domain(mask):
    boundary = Domain(mask).boundary
    inside = {tuple(pixel) for pixel in np.argwhere(mask).tolist()}
    around = {(r + a, c + b) for r, c in inside for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))}
    assert set(boundary) == around - inside
    assert len(boundary) == len(set(boundary))


@given(masks)
def test_vector_and_image_are_inverse(mask):
    domain = Domain(mask)
    vector = np.arange(float(domain.size))
    image = domain.to_image(vector)
    np.testing.assert_array_equal(domain.to_vector(image), vector)
    np.testing.assert_array_equal(np.isnan(image), ~mask)


def test_diagonal_neighbours_are_not_connected():
    assert Domain(np.eye(3)).component_count == 3


@pytest.mark.parametrize("mask", [None, np.zeros((2, 2)), np.ones(3), 5 * np.ones((2, 2))])
def test_bad_masks(mask):
    with pytest.raises(ValueError, match="mask"):
        Domain(mask)


def test_bad_shapes():
    domain = Domain(EXAMPLE)
    with pytest.raises(ValueError, match=r"image has shape \(2, 3\)"):
        domain.to_vector(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"vector has shape \(9,\)"):
        domain.to_image(np.ones(9))
