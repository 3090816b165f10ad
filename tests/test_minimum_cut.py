"""The minimum cut, against the maximum flow of scipy."""

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from normint.integrators.minimum_cut import minimum_cut


def by_scipy(begin, end, capacity, source, sink):
    """Return the nodes that the source still reaches beside a maximum flow."""
    count = source.size
    nodes = np.arange(count)
    rows = np.concatenate([begin, np.full(count, count), nodes])
    columns = np.concatenate([end, nodes, np.full(count, count + 1)])
    values = np.concatenate([capacity, source, sink]).astype(np.int32)
    graph = scipy.sparse.csr_matrix((values, (rows, columns)), shape=(count + 2, count + 2))
    graph.eliminate_zeros()
    left = graph - maximum_flow(graph, count, count + 1).flow
    left.data[left.data < 0] = 0
    left.eliminate_zeros()
    reached = np.zeros(count + 2, bool)
    reached[breadth_first_order(left, count, return_predecessors=False)] = True
    return reached[:count]


@pytest.mark.parametrize("seed", range(60))
def test_the_same_side_as_scipy(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 300))
    pairs = np.unique(rng.integers(0, count * count, int(rng.integers(1, 4 * count))))
    begin, end = pairs // count, pairs % count
    begin, end = begin[begin != end], end[begin != end]
    capacity, source, sink = (rng.integers(0, 50, size) for size in (begin.size, count, count))
    source, sink = np.where(rng.random(count) < 0.5, source, 0), np.where(rng.random(count) < 0.5, sink, 0)
    found = minimum_cut(begin, end, capacity, source, sink)
    np.testing.assert_array_equal(found, by_scipy(begin, end, capacity, source, sink))
