"""Memory is reused, never shared by two that use it, and never returned to a caller."""

import numpy as np
import pytest

import normint
from normint.solver import memory as workspace
from normint.solver.system import System


@pytest.fixture(autouse=True)
def none_idle(monkeypatch):
    monkeypatch.setattr(workspace, "_idle", [])


def test_zeros_are_zero_the_second_time_too():
    memory = workspace.Workspace()
    memory.zeros("x", 5)[:] = 7.0
    assert (memory.zeros("x", 5) == 0).all()
    assert (memory.zeros("x", (2, 2), np.int32) == 0).all()
    assert (memory.zeros("x", 50) == 0).all()


def test_another_array_of_the_same_name_has_other_memory():
    memory = workspace.Workspace()
    x = memory.empty("x", 3)
    x[:] = 1, 2, 3
    memory.other("x", 3)[:] = 0
    assert x.tolist() == [1, 2, 3]


def test_an_idle_workspace_is_taken_again_unless_it_is_too_large(monkeypatch):
    memory = workspace.take()
    memory.zeros("x", 100)
    workspace.give_back(memory)
    assert workspace.take() is memory
    monkeypatch.setattr(workspace, "KEPT", 10)
    workspace.give_back(memory)
    assert workspace.take() is not memory


def test_two_systems_at_once_do_not_disturb_each_other():
    rng = np.random.default_rng(0)
    fields = rng.standard_normal((2, 2, 20, 30))
    masks = rng.random((2, 20, 30)) < 0.9
    alone = [System(m).solve(*f, slopes=True).depth for m, f in zip(masks, fields, strict=True)]
    first, second = System(masks[0]), System(masks[1])
    np.testing.assert_array_equal(second.solve(*fields[1], slopes=True).depth, alone[1])
    np.testing.assert_array_equal(first.solve(*fields[0], slopes=True).depth, alone[0])


def test_results_stay_as_they_are_when_the_memory_is_used_again():
    rng = np.random.default_rng(0)
    p, q = rng.standard_normal((2, 40, 40))
    depth = normint.integrate(p, q).depth
    kept = depth.copy()
    normint.integrate(-3 * p, q)
    np.testing.assert_array_equal(depth, kept)


@pytest.mark.parametrize("sizes", [(50, 20, 50), (20, 50, 20)])
def test_sizes_may_change_between_calls(sizes):
    rng = np.random.default_rng(0)
    for n in sizes:
        p, q = rng.standard_normal((2, n, n))
        workspace.clear()
        expected = normint.integrate(p, q).depth
        normint.integrate(q, p)
        np.testing.assert_array_equal(normint.integrate(p, q).depth, expected)
