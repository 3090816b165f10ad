"""The minimum cut, against the maximum flow of scipy."""

import numpy as np
import pytest
from torture import graphs

from normint.methods.calibrated.minimum_cut import minimum_cut
from normint.surfaces import canadian_tent


@pytest.mark.parametrize("first", range(0, 2000, 250))
def test_the_same_side_as_scipy(first, tmp_path):
    for seed in range(first, first + 250):
        graphs.trial(seed, tmp_path)


def test_a_chain_of_parallel_arcs():
    # The node farthest from the drain is as many arcs away as there are nodes.
    count = 6
    chain = np.arange(count - 1)
    begin = np.concatenate([chain, chain + 1, chain])
    end = np.concatenate([chain + 1, chain, chain + 1])
    source, sink = np.zeros((2, count), int)
    source[0], sink[-1] = 5, 7
    found = minimum_cut(begin, end, np.full(begin.size, 4), source, sink)
    np.testing.assert_array_equal(found, np.zeros(count, bool))


@pytest.mark.parametrize("seed", range(3))
def test_calibrated_survives_a_noisy_tent(seed):
    from normint import integrate

    tent = canadian_tent(96, 24, 24).with_noise(0.05, np.random.default_rng(seed))
    depths = [integrate(tent.p, tent.q, method="calibrated").depth for _ in range(2)]
    np.testing.assert_array_equal(*depths)
