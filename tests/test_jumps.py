"""Edges that jump are found with the falls of their nearer side, and odds are fitted to them."""

import numpy as np
import pytest

from normint.surfaces.sculptures import sculpture
from normint.workbook.studies import jumps
from normint.workbook.studies.jumps import Edges, Odds

KNOWN = Odds(0.1, 1.6, 2e-3)


def drawn(count, seed=0):
    """Draw edges whose jumps have the odds KNOWN."""
    rng = np.random.default_rng(seed)
    angle, falls = np.radians(90 * rng.random(count) ** 2), np.sinh(rng.normal(0, 1.2, (2, count)))
    down, up = KNOWN(angle, falls)
    at = rng.random(count) * (1 + down + up)
    return Edges(angle, falls, np.where(at < down, -1, np.where(at < down + up, 1, 0)))


def ball(n=41, radius=12.0):
    """Return slopes and depth of a ball that floats before level ground."""
    u, v = np.mgrid[:n, :n] - (n - 1) / 2
    inside = np.hypot(u, v) < radius - 0.3
    height = np.sqrt(np.where(inside, radius**2 - u**2 - v**2, 1.0))
    p, q = (np.where(inside, -x / height, 0.0) for x in (u, v))
    return p, q, np.where(inside, 20 + height, 0.0)


def test_known_odds_are_fitted():
    fitted = jumps.fit_odds(drawn(200_000))
    assert fitted.a == pytest.approx(KNOWN.a, rel=0.05)
    assert fitted.m == pytest.approx(KNOWN.m, abs=0.05)
    assert fitted.b == pytest.approx(KNOWN.b, rel=0.15)


def test_no_other_odds_are_likelier():
    found = drawn(20_000)
    fitted = jumps.fit_odds(found)

    def loss(odds):
        o = odds(found.angle, found.falls)
        chosen = np.choose(found.jump + 1, [o[0], np.ones_like(found.angle), o[1]])
        return -np.mean(np.log(chosen / (1 + o.sum(axis=0))))

    assert loss(fitted) == pytest.approx(fitted.loss, rel=1e-12)
    for factor in (0.97, 1.03):
        for other in (
            Odds(fitted.a * factor, fitted.m, fitted.b),
            Odds(fitted.a, fitted.m * factor, fitted.b),
            Odds(fitted.a, fitted.m, fitted.b * factor),
        ):
            assert loss(other) > fitted.loss


def test_without_jumps_nothing_is_fitted():
    none = np.zeros(3, dtype=int)
    with pytest.raises(ValueError, match="found has no jumps"):
        jumps.fit_odds(Edges(np.ones(3), np.ones((2, 3)), none))


def test_frequencies_are_those_of_the_odds():
    table = jumps.frequencies(drawn(200_000), angles=[39, 41], falls=[0.9, 1.1])
    odds = KNOWN(np.radians(table.angle[0]), table.fall[0])
    assert 39 < table.angle[0] < 41 and 0.9 < table.fall[0] < 1.1
    assert table.share[0, 0] == pytest.approx(odds / (1 + odds), abs=3 / np.sqrt(table.count[0, 0]))


def test_every_edge_is_counted_for_each_sign_but_the_other_one_of_a_jump():
    found = drawn(1000)
    table = jumps.frequencies(found)
    assert table.jumps.sum() == np.count_nonzero(found.jump)
    assert table.count.sum() == 2 * found.jump.size - table.jumps.sum()


def test_a_step_between_two_planes_is_found_and_a_crease_is_not():
    u, v = np.mgrid[:6, :8].astype(float)
    crease, step = np.abs(v - 3.5), np.where(v > 3, 0.5 * v + 5, 0.5 * v)
    mask = np.ones(u.shape, dtype=bool)
    assert not jumps.edges(0 * u, np.where(v > 3, 1.0, -1.0), mask, crease).jump.any()
    for sign in (1, -1):
        found = jumps.edges(0 * u, np.full(u.shape, sign * 0.5), mask, sign * step)
        right = found.jump[-6 * 7 :].reshape(6, 7)
        assert (right[:, 3] == sign).all() and np.count_nonzero(found.jump) == 6
        np.testing.assert_allclose(found.angle, 0, atol=1e-12)


def test_the_angle_is_that_between_the_normals():
    p, q = np.array([[0.0], [1.0]]), np.array([[0.0], [0.0]])
    (angle,) = jumps.edges(p, q, p == p, np.zeros((2, 1))).angle
    assert np.degrees(angle) == pytest.approx(45)


def test_edges_outside_the_mask_or_without_truth_are_left_out():
    flat, mask = np.zeros((2, 3)), np.array([[True, True, True], [True, True, False]])
    depth = np.array([[0.0, 0.0, np.nan], [0.0, 0.0, 0.0]])
    assert jumps.edges(flat, flat, mask, depth).angle.size == 4


@pytest.mark.parametrize("away", [False, True])
def test_at_the_outline_of_a_ball_the_ball_falls_and_the_ground_is_level(away):
    p, q, z = ball()
    sign = -1 if away else 1
    found = jumps.edges(sign * p, sign * q, p == p, sign * z, away=away)
    jumping = found.jump != 0
    fall, other = np.where(found.jump < 0, found.falls, found.falls[::-1])[:, jumping]
    assert jumping.sum() > 80
    assert (fall >= 0).all() and np.median(fall) > 1
    # From the ground's side it would be the ground that ends, which is level.
    np.testing.assert_allclose(other, 0, atol=1e-12)


def test_only_sculptures_with_little_noise_are_learnt_from():
    kept = [s for s in map(lambda seed: sculpture(seed, 24), range(0, 20, 2)) if s.sigma <= 0.005]
    kept = [jumps.sculpture_edges(s) for s in kept if s.bits != 8]
    found = jumps.learning_edges(range(0, 20, 2), 24)
    assert 0 < len(kept) < 10
    assert found.angle.size == sum(one.angle.size for one in kept)
    assert found.falls.shape == (2, found.jump.size)
