"""Memory that is kept between solutions: asking the system for it anew costs as much as an iteration or two.

One workspace, of at most an eighth of the machine's memory, waits for the next solver; `clear` releases it.
"""

import math
import os

import numpy as np

_idle = []


def _an_eighth_of_memory():
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return 2**30


KEPT = _an_eighth_of_memory()  # bytes; a larger workspace is given back to the system when its solver is done


class Workspace:
    """Named arrays, each taken from the block of memory that had this name the last time.

    Use `take` and `give_back`: an idle workspace is handed to the next solver, whatever its size.

    Examples
    --------
    >>> workspace = Workspace()
    >>> first = workspace.zeros("x", (2, 3))
    >>> second = workspace.zeros("x", 4, np.int32)  # the same memory
    >>> np.shares_memory(first, second)
    True
    """

    def __init__(self):
        self._blocks = {}

    def empty(self, name, shape, dtype=float):
        """Return an array whose contents are arbitrary."""
        return self._array(name, shape, dtype)[0]

    def zeros(self, name, shape, dtype=float):
        """Return an array of zeros."""
        array, fresh = self._array(name, shape, dtype)
        if not fresh:  # the system hands out zeros
            array[...] = 0
        return array

    def other(self, name, shape, dtype=float):
        """Return an array that takes the name, but not the memory, of the one that has it."""
        self._blocks.pop(name, None)
        return self.empty(name, shape, dtype)

    @property
    def nbytes(self):
        """How much memory the workspace holds at most."""
        return sum(block.nbytes for block in self._blocks.values())

    def _array(self, name, shape, dtype):
        shape = (shape,) if np.isscalar(shape) else tuple(shape)
        size = math.prod(shape) * np.dtype(dtype).itemsize
        block = self._blocks.get(name)
        fresh = block is None or block.nbytes < size
        if fresh:
            self._blocks[name] = block = np.zeros(size, np.uint8)
        return block[:size].view(dtype).reshape(shape), fresh


def take():
    """Return an idle workspace, or a new one."""
    try:
        return _idle.pop()
    except IndexError:  # none is left; asking before would be a race between threads
        return Workspace()


def clear():
    """Give the idle workspace back to the system."""
    _idle.clear()


def give_back(workspace):
    """Keep a workspace for the next solver, if there is none yet and it is not too large."""
    if not _idle and workspace.nbytes <= KEPT:
        _idle.append(workspace)
