"""Pieces of a surface, and moves of them: rooms and doors, known offsets, what a prior holds."""

import numpy as np
import pytest
import scipy.ndimage
from small_problems import each_mask, edges_of

from normint.methods.calibrated.piece_moves import GROWTH, LEAST_GAIN, moves
from normint.methods.calibrated.piece_tree import join, left_by, milestones
from normint.methods.calibrated.pieces import FORBIDDEN, doubtful_pixels, pieces


def divide(mask, wall, passable=None):
    """Divide a mask with doubtful pixels; all edges are equally doubtful, and passable by default."""
    edges = edges_of(mask) if passable is None else passable
    return pieces(mask, wall, edges, np.where(edges, 1.0, FORBIDDEN))


def rooms(door, size=19):
    """Return a mask, and the walls of two rooms in it with a door in the middle between them."""
    mask = np.ones((size + 2, 2 * size + 3), bool)
    wall = np.zeros_like(mask)
    wall[[0, -1]] = wall[:, [0, size + 1, -1]] = True
    first = 1 + (size - door) // 2
    wall[first : first + door, size + 1] = False
    return mask, wall


class TestPieces:
    @pytest.mark.parametrize("door", [0, 1, 5])
    def test_rooms_with_a_narrow_door_are_two(self, door):
        mask, wall = rooms(door)
        labels, count = divide(mask, wall)
        assert count == 2
        left, right = labels[1:-1, 1 : 20 - door // 2], labels[1:-1, 21 + door // 2 : -1]
        assert (left == left[0, 0]).all() and (right == right[0, 0]).all() and left[0, 0] != right[0, 0]

    @pytest.mark.parametrize("door", [15, 19])
    def test_rooms_with_a_wide_door_are_one(self, door):
        assert divide(*rooms(door))[1] == 1

    def test_a_room_inside_another(self):
        mask = np.ones((31, 31), bool)
        wall = np.zeros_like(mask)
        wall[10:21, 10] = wall[10:21, 20] = wall[10, 10:21] = wall[20, 10:21] = True
        labels, count = divide(mask, wall)
        assert count == 2
        assert labels[15, 15] != labels[0, 0] == labels[30, 15]
        assert np.isin(labels[wall], (labels[15, 15], labels[0, 0])).all()

    @each_mask
    @pytest.mark.parametrize("doubtful", [False, True])
    def test_every_pixel_has_one_and_none_reaches_over_a_gap(self, mask, doubtful):
        labels, count = divide(mask, np.full(mask.shape, doubtful))
        np.testing.assert_array_equal(labels < 0, ~mask)
        assert set(labels[mask]) == set(range(count))
        components = scipy.ndimage.label(mask)[0]
        for label in range(count):
            assert len(set(components[labels == label])) == 1

    def test_nothing_passes_a_forbidden_edge(self):
        mask = np.ones((12, 12), bool)
        edges = edges_of(mask)
        edges[1, :, 5] = False
        labels, count = divide(mask, np.zeros_like(mask), edges)
        assert count == 2 and (labels[:, :6] == labels[0, 0]).all() and (labels[:, 6:] == labels[0, 6]).all()

    def test_doubtful_pixels_join_what_is_least_doubtful(self):
        mask = np.ones((9, 21), bool)
        wall = np.zeros_like(mask)
        wall[:, 9:12] = True
        edges = edges_of(mask)
        doubt = np.where(edges, 1.0, FORBIDDEN)
        doubt[1, :, 8] = 5.0  # so the three columns belong to the right
        labels, count = pieces(mask, wall, edges, doubt)
        assert count == 2 and (labels[:, :9] == labels[0, 0]).all() and (labels[:, 9:] == labels[0, -1]).all()

    def test_numbers_follow_the_first_pixels(self):
        labels, count = divide(*rooms(3))
        numbers, first = np.unique(labels, return_index=True)
        assert numbers.tolist() == list(range(count)) and (np.diff(first) > 0).all()


class TestDoubt:
    def test_pixels_beside_a_cut_edge(self):
        mask = np.ones((9, 9), bool)
        cut = np.zeros((2, 9, 9), bool)
        cut[0, 3, 4] = cut[1, 6, 2] = True
        found = doubtful_pixels(np.zeros((2, 9, 9)), edges_of(mask), cut)
        assert np.argwhere(found).tolist() == [[3, 4], [4, 4], [6, 2], [6, 3]]

    def test_noise_is_not_but_many_of_one_sign_are(self):
        exists = edges_of(np.ones((60, 60), bool))
        residual = np.random.default_rng(0).standard_normal(exists.shape)
        none = np.zeros_like(exists)
        assert doubtful_pixels(residual, exists, none).mean() < 1e-3
        residual[0, :, 28:33] += 2.0  # each within the noise
        found = doubtful_pixels(residual, exists, none)
        assert found[5:-5, 30].mean() > 0.9 and not found[:, :24].any() and not found[:, 37:].any()


class TestMoves:
    """Flat pieces at wrong heights: the residuals across their outlines are what the heights differ by."""

    labels = np.repeat(np.repeat(np.arange(6, dtype=np.int32).reshape(2, 3), 12, axis=0), 10, axis=1)

    def found(self, heights, hold=0.0, price=(1.0, 1.0)):
        """Return the offsets and their number, for pieces that a prior holds at the given heights."""
        z, exists = heights[self.labels], edges_of(self.labels >= 0)
        # In the precision of the method, or its kernels would be compiled once more.
        r, ones = np.zeros(exists.shape), np.ones(exists.shape, np.float32)
        prices = np.broadcast_to(np.float32(price), (*exists.shape, 2))
        r[0, :-1], r[1, :, :-1] = np.diff(z, axis=0), np.diff(z, axis=1)
        hold = hold * np.bincount(self.labels.ravel())
        return moves(self.labels, 6, r, ones, prices, exists, hold, np.zeros(6))[:2]

    def test_pieces_that_agree_stay(self):
        offsets, moved = self.found(np.zeros(6))
        assert moved == 0 and not offsets.any()

    @pytest.mark.parametrize("heights", [[0, 40, 0, 0, 0, 0], [0, 0, 0, 40, 0, 0], [50, 50, 0, 0, 0, 0]])
    def test_what_is_off_comes_back(self, heights):
        offsets, moved = self.found(np.array(heights, float))
        assert moved >= 1
        np.testing.assert_allclose(np.ptp(heights + offsets), 0.0, atol=1e-3)

    @pytest.mark.parametrize("seed", range(3))
    def test_all_find_together(self, seed):
        heights = 100 * np.random.default_rng(seed).standard_normal(6)
        offsets, _ = self.found(heights)
        assert np.ptp(heights + offsets) < 0.5  # within the noise, where small changes do the rest

    def test_a_gain_too_small_is_not_taken(self):
        heights = np.array([40.0, 0, 0, 0, 0, 0])  # 22 edges on its outline, which fall from it
        for height, cheap in ((heights, (0.0, 9.0)), (-heights, (9.0, 0.0))):
            for gain, moved in ((LEAST_GAIN - 0.2, 0), (LEAST_GAIN + 0.2, 1)):
                price = [gain / 22 if c == 0 else c for c in cheap]
                assert self.found(height, price=price)[1] == moved

    def test_the_outline_against_what_holds_it(self):
        # All are held at heights that do not agree: a strong hold wins, a weak one does not.
        heights = np.array([40.0, 0, 0, 0, 0, 0])
        assert self.found(heights, hold=1.0)[1] == 0
        offsets, _ = self.found(heights, hold=1e-6)
        np.testing.assert_allclose(np.ptp(heights + offsets), 0.0, atol=0.1)


class TestMilestones:
    """Of the nodes of a tree, those that differ are looked at: enough of them, and not too many."""

    @staticmethod
    def tree(count, partner, seed=0):
        """Join pieces of random bulk one after the other: the last node with the next piece, or any two."""
        rng = np.random.default_rng(seed)
        left, right = np.full((2, 2 * count - 1), -1)
        bulk = np.concatenate([rng.integers(1, 50, count).astype(float), np.zeros(count - 1)])
        free = list(range(count))
        for n in range(count, 2 * count - 1):
            left[n] = free.pop(rng.integers(len(free)) if partner == "any" else -1)
            right[n] = free.pop(rng.integers(len(free)))
            bulk[n] = bulk[left[n]] + bulk[right[n]]
            free.append(n)
        return left, right, bulk

    @pytest.mark.parametrize("partner", ["last", "any"])
    def test_what_is_left_out_lies_between_two_that_are_much_the_same(self, partner):
        left, right, bulk = self.tree(400, partner)
        chosen = milestones(left, right, bulk, GROWTH)
        assert chosen[left < 0].all() and chosen[-1] and (partner == "any" or not chosen.all())
        larger = np.where(bulk[left] >= bulk[right], left, right)
        above = np.full(bulk.size, -1)
        above[larger[left >= 0]] = np.flatnonzero(left >= 0)
        for n in np.flatnonzero(~chosen):
            up, down = n, n
            while not chosen[up]:
                up = above[up]
                assert up >= 0
            while not chosen[down]:
                down = larger[down]
            assert bulk[up] <= GROWTH * bulk[down]

    def test_looking_at_a_chain_is_not_quadratic(self):
        shares = []
        for count in (1000, 8000):
            left, right, bulk = self.tree(count, "last")
            shares.append(bulk[milestones(left, right, bulk, GROWTH)].sum() / bulk[-1])
        assert shares[1] < 1.1 * shares[0] + 1 < 50  # the shares of all nodes are 500 and 4000


class TestTree:
    """Pieces of a grid, joined by how much of their boundaries agrees."""

    count = 60

    def edges(self, seed):
        """Return random edges between pieces, each with an equal chance to agree or not."""
        rng = np.random.default_rng(seed)
        a, b = rng.integers(0, self.count, (2, 5 * self.count)).astype(np.int32)
        a, b = a[a != b], b[a != b]
        price = rng.uniform(1.0, 5.0, (a.size, 2)).astype(np.float32)
        r = 10.0 * rng.integers(0, 2, a.size) * rng.standard_normal(a.size)
        return a, b, r, np.ones(a.size, np.float32), price

    @staticmethod
    def members(first, length, leaves):
        return [set(leaves[f : f + n]) for f, n in zip(first, length, strict=True)]

    @pytest.mark.parametrize("seed", range(4))
    def test_those_are_joined_first_that_agree_most(self, seed):
        a, b, r, v, price = self.edges(seed)
        left, right, *runs = join(a, b, r, v, price, self.count)
        members = self.members(*runs)
        c = np.where(r > 0, price[:, 1], price[:, 0]).astype(float)
        good = c**2 * v / (c * v + r**2)
        clusters = [{k} for k in range(self.count)]
        for n in range(self.count, len(members)):
            number = np.empty(self.count, int)  # of the cluster of each piece
            for k, inside in enumerate(clusters):
                number[list(inside)] = k
            between = np.maximum(number[a], number[b]), np.minimum(number[a], number[b])
            total, common = np.zeros((2, len(clusters), len(clusters)))
            np.add.at(total, between, good)
            np.add.at(common, between, 1.0)
            np.fill_diagonal(total, -1.0)  # a cluster is not joined to itself
            x, y = np.unravel_index(np.argmax(total / (common + 4.0)), total.shape)
            joined = clusters[x] | clusters[y]
            assert joined == members[n] == members[left[n]] | members[right[n]]
            clusters = [one for k, one in enumerate(clusters) if k not in (x, y)] + [joined]
            if n == self.count + 12:
                break

    @pytest.mark.parametrize("seed", range(4))
    def test_which_nodes_some_edges_leave(self, seed):
        a, b, r, v, price = self.edges(seed)
        left, right, first, length, leaves = join(a, b, r, v, price, self.count)
        kind = np.random.default_rng(seed).random(a.size) < 0.02
        found = left_by(kind, a, b, np.argsort(leaves), left, right, first, length)
        expected = [
            any((i in inside) != (j in inside) for i, j in zip(a[kind], b[kind], strict=True))
            for inside in self.members(first, length, leaves)
        ]
        np.testing.assert_array_equal(found, expected)
        assert found.any() and not found.all()
