"""Random graphs with parallel and opposite arcs: the minimum cut against the maximum flow of scipy."""

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from normint.methods.calibrated.minimum_cut import minimum_cut


def trial(seed, folder):
    """Compare the smallest set of nodes on the source's side."""
    graph = draw(seed)
    found, expected = minimum_cut(*graph), by_scipy(*graph)
    assert (found == expected).all(), f"source's side {np.flatnonzero(found)}, not {np.flatnonzero(expected)}"


def shrunk(seed, folder):
    """Return a graph from which no arc can be taken without making the cut right."""
    begin, end, capacity, source, sink = draw(seed)
    keep = np.ones(begin.size, bool)
    for arc in range(begin.size):
        keep[arc] = False
        graph = begin[keep], end[keep], capacity[keep], source, sink
        keep[arc] = (minimum_cut(*graph) == by_scipy(*graph)).all()
    arcs = list(zip(begin[keep].tolist(), end[keep].tolist(), capacity[keep].tolist(), strict=True))
    return f"arcs (begin, end, capacity) {arcs}\nsource {source.tolist()}\nsink {sink.tolist()}"


def draw(seed):
    """Draw a graph: begin and end of its arcs, their capacities, those from the source and to the sink."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 12 if rng.random() < 0.8 else 300))
    arcs = int(rng.integers(1, 4 * count))
    if rng.random() < 0.3:  # a chain, in which distances are as long as they can be
        begin = rng.permutation(count)
        begin, end = begin[:-1], begin[1:]
        begin, end = np.concatenate([begin, end]), np.concatenate([end, begin])
    else:
        begin, end = rng.integers(0, count, (2, arcs))
        begin, end = begin[begin != end], end[begin != end]
    twice = rng.random(begin.size) < rng.choice([0.0, 0.5])
    begin, end = np.concatenate([begin, begin[twice]]), np.concatenate([end, end[twice]])
    highest = int(rng.choice([1, 3, 50]))
    capacity = rng.integers(0, highest + 1, begin.size)
    share = rng.choice([0.1, 0.5])
    ends = np.where(rng.random((2, count)) < share, rng.integers(0, highest + 1, (2, count)), 0)
    return begin, end, capacity, *ends


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
