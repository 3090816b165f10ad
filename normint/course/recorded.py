"""Answers as numbers: what students have in the place of the functions that compute them."""

import hashlib
import json
from functools import cache
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("answers.npz")


class Recorded:
    """What the right function of a task returned on the cases of its check, and what each mistake did.

    Parameters
    ----------
    module, task : str
        Where the task is, and its name.
    """

    def __init__(self, module, task):
        self.name = f"{module}.{task}"

    def answer(self, case, options):
        """Return the results on one case as a tuple of arrays, or raise as the function did.

        Raises
        ------
        ValueError
            Where nothing is recorded: on that case, mistakes with these options lead to no answer.
        """
        found, number = [], 0
        while (key := self.key(case, options, number)) in _answers():
            found.append(_answers()[key])
            number += 1
        if not found:
            raise ValueError(f"no answer is recorded of {self.name} on {case}")
        return tuple(found)

    def key(self, case, options, number):
        """Return under which name a result is kept."""
        text = json.dumps([self.name, case, dict(options), number], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]


@cache
def _answers():
    return np.load(FILE, allow_pickle=False)
