"""Sums and medians over windows, against their definitions."""

import numpy as np
import pytest

from normint.methods.calibrated.windows import box_sum, local_median

SHAPES = (9, 14), (3, 20), (1, 1)


def window(image, i, j, before, after):
    """Return what lies around a pixel, as far as the image reaches."""
    rows, columns = (slice(max(k - before, 0), k + after + 1) for k in (i, j))
    return image[rows, columns]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("side", [1, 4, 5, 8])
def test_sums_are_those_of_what_lies_around(shape, side):
    image = np.random.default_rng(0).standard_normal(shape)
    for values in (image, image > 0):
        found = box_sum(values, side)
        for i, j in np.ndindex(shape):
            expected = window(values, i, j, side // 2, side - 1 - side // 2).sum()
            assert found[i, j] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("side", [3, 7])
def test_medians_have_as_many_values_below_as_above(shape, side):
    rng = np.random.default_rng(1)
    values, where = rng.integers(0, 8, shape).astype(float), rng.random(shape) < 0.8
    levels, fewest = np.arange(6) + 0.5, 3  # the values 6 and 7 lie beyond all levels
    found = local_median(values, where, side, levels, fewest)
    for i, j in np.ndindex(shape):
        around = window(values, i, j, side // 2, side // 2)[window(where, i, j, side // 2, side // 2)]
        if around.size < fewest:
            assert found[i, j] == -1
            continue
        below = np.array([(around <= level).mean() for level in levels])
        assert 0 <= found[i, j] <= 5
        if below[-1] < 0.5:
            assert found[i, j] == 5
        elif below[0] >= 0.5:
            assert found[i, j] == 0
        else:  # between two levels the share below grows in proportion
            assert np.interp(found[i, j], np.arange(6), below) == pytest.approx(0.5)
