"""Both ways to discretise the problem lead to the same equations."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given

from normint.domain import Domain
from normint.workbook.studies import euler_lagrange


@given(hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6)).filter(np.any))
def test_equals_the_discrete_functional_on_any_mask(mask):
    domain = Domain(mask)
    L, Du, Dv = domain.laplacian().toarray(), domain.Du.toarray(), domain.Dv.toarray()
    order = domain.to_image(np.arange(domain.size), outside=-1).astype(int)
    for pixel in np.argwhere(mask):
        i = order[tuple(pixel)]
        z, p, q = euler_lagrange.row(domain, tuple(pixel))
        np.testing.assert_array_equal(z, L[i])
        np.testing.assert_array_equal(p, Du[i])
        np.testing.assert_array_equal(q, Dv[i])


def test_outside_is_an_error():
    with pytest.raises(ValueError, match="pixel"):
        euler_lagrange.row(Domain([[1, 0]]), (0, 1))
