"""Timing counts the right calls; how long they take is not ours to assert."""

import pytest

from normint.workbook.studies.timing import interleaved_medians, median_seconds


def test_calls_take_turns_after_one_that_is_not_counted():
    order = []
    medians = interleaved_medians({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, repeats=2)
    assert order == ["a", "b"] * 3
    assert set(medians) == {"a", "b"}


def test_repeats_must_be_a_count():
    with pytest.raises(ValueError, match="repeats"):
        median_seconds(lambda: None, 0)
