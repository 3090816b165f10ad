"""Grading: hidden cases judge as the visible ones do, and no submission can fool or stop it."""

import numpy as np
import pytest

from normint import course

TASKS = [task for tasks in course.EXERCISES.values() for task in tasks]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_hidden_cases_have_other_numbers_and_find_every_known_mistake(task):
    def results(cases, options):
        return {case: task.expected(case, arguments, options) for case, arguments in cases.items()}

    for seed in (1, 2**40):
        cases = task.cases(seed)
        right = results(cases, {})
        assert task.verdict(cases, right)[0]
        for seen in results(task.cases(), {}).values():
            for other in right.values():
                assert not all(np.array_equal(one, two) for one, two in zip(seen, other, strict=True))
        for mistake in task.mistakes:
            verdict, (what, *_) = task.verdict(cases, results(cases, mistake.options))
            assert not verdict and what == mistake.what
