"""Timing counts the right calls; how long they take is not ours to assert."""

import pytest

from normint.workbook.studies.timing import interleaved_medians, median_seconds


def test_calls_take_turns_after_one_that_is_not_counted():
    order = []
    medians = interleaved_medians({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, repeats=2)
    assert order == ["a", "b"] * 3
    assert set(medians) == {"a", "b"}


def test_what_is_compiled_already_needs_no_call_before():
    order, ticks = [], iter(range(100))
    seconds = interleaved_medians({"a": lambda: order.append("a")}, 3, first=False, clock=lambda: next(ticks))
    assert order == ["a"] * 3 and seconds == {"a": 1.0}


def test_repeats_must_be_a_count():
    with pytest.raises(ValueError, match="repeats"):
        median_seconds(lambda: None, 0)
