"""Discontinuities go where they cost least: to the kink, to the shortest outline; the cut is minimal."""

import itertools

import numpy as np
import pytest
from small_problems import edges_of
from torture import graphs

from normint.methods.calibrated.cut_moves import fuse, refine, relocate
from normint.methods.calibrated.minimum_cut import minimum_cut

N = 48  # so that neither side of a discontinuity lies within reach as a whole
MASK = np.ones((N, N), bool)
EXISTS = edges_of(MASK)
ONES = np.ones(EXISTS.shape)
PRICE = np.ones((*EXISTS.shape, 2))  # one for each sign


def residual_of(z, step=0.0):
    r = np.zeros((2, *z.shape))
    r[0, :-1], r[1, :, :-1] = np.diff(z, axis=0), np.diff(z, axis=1)
    return r - step


def energy(z, price, step=0.0, spread=1.0, exists=EXISTS):
    r = residual_of(z, step)
    price = np.where(r > 0, price[..., 1], price[..., 0])
    x = r**2 / (price * spread)
    return np.sum(np.where(exists, price * x / (1 + x), 0.0))


def settled(z, price, step=0.0):
    """Move discontinuities until none gains anything."""
    for _ in range(10):
        before = z
        for upwards in (True, False):
            move = relocate(residual_of(z, step) * EXISTS, ONES, price, EXISTS, upwards)
            z = z if move is None else z + move
        if z is before:
            break
    return z


class TestRelocate:
    @pytest.mark.parametrize(("shift", "axis", "height"), [(-6, 0, 50.0), (2, 1, 50.0), (5, 0, -50.0)])
    def test_a_displaced_cut_goes_back_to_the_kink(self, shift, axis, height):
        # Cutting is cheap between two lines, where the slopes change.
        lines = np.indices((N, N))[axis]
        price = PRICE.copy()
        price[axis][lines == 23] = 0.5
        truth = height * (lines > 23)
        found = settled(height * (lines > 23 + shift), price)
        np.testing.assert_allclose(found - found[0, 0], truth, atol=1e-9)

    @pytest.mark.parametrize(("height", "line"), [(50.0, 27), (-50.0, 20)])
    def test_a_jump_up_goes_where_that_is_cheap_and_one_down_elsewhere(self, height, line):
        columns = np.indices((N, N))[1]
        price = PRICE.copy()
        price[1, :, 27, 1] = price[1, :, 20, 0] = 0.5
        found = settled(height * (columns > 23), price)
        np.testing.assert_allclose(found - found[0, 0], height * (columns > line), atol=1e-9)

    @pytest.mark.parametrize("upwards", [True, False])
    def test_what_gains_nothing_is_not_moved(self, upwards):
        straight = residual_of(50.0 * (np.indices((N, N))[1] > 23))
        smooth = residual_of(0.2 * np.random.default_rng(0).standard_normal((N, N))) * EXISTS
        price = PRICE.copy()
        price[1, :, 23] = 0.5
        for residual, at in ((straight, PRICE), (straight, price), (smooth, PRICE)):
            assert relocate(residual, ONES, at, EXISTS, upwards) is None

    def test_a_bulge_of_the_outline_goes(self):
        z = 50.0 * (np.indices((N, N))[1] > 23)
        bulged = z.copy()
        bulged[20:23, 19:24] = 50.0
        price = PRICE.copy()
        price[1, :, 23] = 0.9  # else any other straight line would do as well
        np.testing.assert_allclose(settled(bulged, price), z, atol=1e-9)

    @pytest.mark.parametrize("seed", range(4))
    def test_the_energy_never_rises(self, seed):
        rng = np.random.default_rng(seed)
        price = rng.uniform(0.3, 1.0, PRICE.shape)
        inside = np.indices((N, N))[1] > 23 + np.rint(3 * rng.standard_normal((N, 1)))
        z = np.where(inside, 30.0, 0.0) + 0.3 * rng.standard_normal((N, N))
        moved = 0
        for upwards in (True, False):
            move = relocate(residual_of(z) * EXISTS, ONES, price, EXISTS, upwards)
            if move is not None:
                moved += 1
                assert energy(z + move, price) < energy(z, price)
        assert moved


class TestMinimum:
    def test_of_random_graphs_as_by_scipy(self, tmp_path):
        for seed in range(500):  # many more in tests/torture
            graphs.trial(seed, tmp_path)

    @pytest.mark.parametrize("seed", range(40))
    def test_opposite_arcs_may_be_given_together(self, seed):
        begin, end, capacity, source, sink = graphs.draw(seed)
        opposite = np.random.default_rng(seed).permutation(capacity)
        apart = np.append(begin, end), np.append(end, begin), np.append(capacity, opposite)
        expected = graphs.by_scipy(*apart, source, sink)
        found = minimum_cut(begin, end, capacity, source, sink, opposite)
        np.testing.assert_array_equal(found, expected)

    def test_of_a_chain_of_parallel_arcs(self):
        # The node farthest from the drain is as many arcs away as there are nodes.
        count = 6
        chain = np.arange(count - 1)
        begin = np.concatenate([chain, chain + 1, chain])
        end = np.concatenate([chain + 1, chain, chain + 1])
        source, sink = np.zeros((2, count), int)
        source[0], sink[-1] = 5, 7
        found = minimum_cut(begin, end, np.full(begin.size, 4), source, sink)
        np.testing.assert_array_equal(found, np.zeros(count, bool))

    @pytest.mark.parametrize("seed", range(4))
    def test_no_choice_of_pixels_is_better(self, seed):
        # All 2^12 ways to move pixels of a 3×4 image by an offset, tried one by one. The offset is so large
        # that what moves alone is cut off: then the cost of pairs has a minimum cut.
        rng = np.random.default_rng(seed)
        shape, offset = (3, 4), 1e4
        exists = edges_of(np.ones(shape, bool))
        price = rng.uniform(0.2, 1.0, (*exists.shape, 2))
        inside = rng.random(shape) < 0.5
        z = np.where(inside, -offset, 0.0)
        spread = np.ones(exists.shape)
        start = energy(z, price, exists=exists)
        best = min(
            energy(z + offset * np.reshape(choice, shape), price, exists=exists)
            for choice in itertools.product((0, 1), repeat=12)
        )
        move, gain = refine(residual_of(z) * exists, spread, price, exists, inside, offset)
        if move is None:
            assert best == pytest.approx(start, abs=0.02)
        else:
            # Capacities are rounded to a thousandth.
            assert energy(z + move, price, exists=exists) == pytest.approx(best, abs=0.02)
            assert gain == pytest.approx(start - best, abs=0.02)


class TestFuse:
    """Two depths, each right in one place, become one that is right in both."""

    left, right = MASK & (np.indices((N, N))[1] < 20), MASK & (np.indices((N, N))[1] >= 28)
    block = np.abs(np.indices((N, N)) - 23.5).max(axis=0) < 6

    @pytest.mark.parametrize("offset", [0.0, 1e-3])
    def test_takes_the_better_of_each_place(self, offset):
        first, second = np.zeros((2, N, N))
        first[4:12, 4:12], second[30:40, 30:44] = 20.0, -35.0
        move = fuse(residual_of(first), ONES, PRICE, EXISTS, second + offset - first)
        np.testing.assert_allclose(first + move, 0.0, atol=2 * offset)

    def test_nothing_to_gain(self):
        better, worse = np.zeros((N, N)), 20.0 * self.block
        assert fuse(residual_of(better), ONES, PRICE, EXISTS, worse - better) is None
        assert fuse(residual_of(better), ONES, PRICE, EXISTS, np.zeros((N, N))) is None

    @pytest.mark.parametrize("seed", range(4))
    def test_never_worse_than_either(self, seed):
        rng = np.random.default_rng(seed)
        first, second = rng.standard_normal((2, N, N)) + 30.0 * rng.integers(0, 2, (2, 8, 8)).repeat(
            6, axis=1).repeat(6, axis=2)  # fmt: skip
        price = rng.uniform(0.3, 1.0, PRICE.shape)
        if energy(second, price) < energy(first, price):
            first, second = second, first
        move = fuse(residual_of(first), ONES, price, EXISTS, second - first)
        assert move is not None and energy(first + move, price) < energy(first, price)
        chosen = (move == 0) | (move == second - first)
        assert chosen.all()

    def test_pieces_that_a_mask_separates(self):
        mask = MASK.copy()
        mask[:, 24] = False
        first = np.where(self.left, 20.0, 0.0)
        exists = edges_of(mask)
        move = fuse(residual_of(first) * exists, ONES, PRICE, exists, np.where(mask, -first, 0.0))
        assert energy(first + move, PRICE, exists=exists) == 0


class TestRefine:
    inside = (np.abs(np.indices((N, N))[0] - 23.5) < 12) & (np.abs(np.indices((N, N))[1] - 23.5) < 12)

    @pytest.mark.parametrize("change", [-2, 2])
    def test_the_outline_is_found_from_one_that_is_off(self, change):
        z = np.where(self.inside, 40.0, 0.0)
        near = np.abs(np.indices((N, N)) - 23.5).max(axis=0) < 12 + change
        move, gain = refine(residual_of(z), ONES, PRICE, EXISTS, near, -40.0)
        np.testing.assert_allclose(z + move, (z + move)[0, 0], atol=1e-9)
        assert gain == pytest.approx(energy(z, PRICE))

    def test_a_small_piece_of_a_large_image(self):
        z = np.zeros((3 * N, 4 * N))
        z[:10, -20:-5] = 40.0  # at the border
        ones, exists = np.ones((2, *z.shape)), edges_of(np.ones(z.shape, bool))
        price = np.ones((2, *z.shape, 2))
        near = np.zeros(z.shape, bool)
        near[:12, -21:-4] = True
        move, gain = refine(residual_of(z), ones, price, exists, near, -40.0)
        np.testing.assert_array_equal(z + move, 0.0)
        assert gain == pytest.approx(energy(z, price, exists=exists))

    def test_what_gains_nothing_is_not_moved(self):
        z = np.where(self.inside, 40.0, 0.0)
        move, gain = refine(residual_of(z), ONES, PRICE, EXISTS, self.inside, 100.0)
        if move is not None:  # then only by pixels that gain
            assert gain > 0
            assert energy(z + move, PRICE) == pytest.approx(energy(z, PRICE) - gain)
