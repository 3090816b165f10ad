"""What all checks of the course share: try a function on small cases, and say what is wrong with it and why.

A task knows its right answer as a function with options. Each option, set otherwise, makes one of the
mistakes that people make. If a student's function gives on every case what a mistake gives, that is very
likely the mistake, and the check says so. If it gives what two mistakes give together, the check says both.
"""

import copy
import textwrap
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy.sparse

WIDTH = 100  # of printed lines


@dataclass(frozen=True)
class Mistake:
    """A mistake that is known: the options that make it, what it is, and why it is one."""

    options: dict
    what: str
    why: str


@dataclass(frozen=True)
class Task:
    """A function that students write, and how to judge it.

    Attributes
    ----------
    name : str
        Of the function in the notebook.
    asks : str
        What it should return, in a few words.
    right : callable
        The right function, with an option for every mistake.
    cases : callable
        Returns a dict from description to the arguments of one case.
    mistakes : tuple of Mistake
    returns : tuple of str
        Names of the results, where there are several.
    judge : callable, optional
        Called as ``judge(arguments, answers, expected)`` with a case that came out wrong, where no imitated
        mistake fits: returns what and why, or None.
    hint : str
        What to look at when the mistake is none of the known ones.
    tolerance : float
        Up to which answers agree, relative and absolute.

    Examples
    --------
    >>> def area(width, height, *, double=False):
    ...     return (2 if double else 1) * width * height
    >>> doubled = Mistake({"double": True}, "twice the area", "A triangle would be half of this.")
    >>> check = Task("area", "the area of a rectangle", area, lambda: {"2×3": (2, 3)}, (doubled,))
    >>> check(lambda width, height: width * height)
    ✓ area: right in all cases (1).
    True
    >>> check(lambda width, height: 2 * width * height)
    ✗ area: twice the area
      Why: A triangle would be half of this.
    False
    >>> check(lambda width, height: width + height)
    ✗ area: on 2×3, the result is 5, expected 6
    False
    """

    name: str
    asks: str
    right: Callable
    cases: Callable
    mistakes: tuple = ()
    returns: tuple = ("the result",)
    judge: Callable | None = None
    hint: str = ""
    tolerance: float = 1e-7

    def __call__(self, function):
        """Try the function on all cases, print a diagnosis, and return whether it is right."""
        right, lines = self._diagnose(function)
        mark = "✓" if right else "✗"
        print(textwrap.fill(f"{mark} {self.name}: {lines[0]}", WIDTH, subsequent_indent="  "))
        for line in lines[1:]:
            print(textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="  "))
        return right

    def _diagnose(self, function):
        """Return whether the function is right, and what to say about it."""
        if not callable(function):
            return False, [f"this is a {type(function).__name__}, not a function; give the function itself."]
        cases = self.cases()
        answers = {}
        for case, arguments in cases.items():
            try:
                answers[case] = self._call(function, arguments)
            except NotImplementedError:
                return False, [f"nothing here yet: it should return {self.asks}."]
            except _UnusableAnswer as error:
                return False, [f"on {case}, {error}."]
            except Exception as error:  # whatever a student's code does wrong is for the student to read
                return False, [f"on {case}, your code stops{_line(error)}: {_in_one_line(error)}"]
        return self.verdict(cases, answers)

    def verdict(self, cases, answers):
        """Return whether the answers are right, and what to say about them."""
        expected = {case: self._call(self.right, arguments) for case, arguments in cases.items()}
        if self._agree(answers, expected):
            return True, [f"right in all cases ({len(cases)})."]
        return False, self._explain(cases, answers, expected)

    def _explain(self, cases, answers, expected):
        found = self._recognise(cases, answers)
        if found:
            lines = [found[0].what, f"Why: {found[0].why}"]
            for mistake in found[1:]:
                lines += [f"And a second thing: {mistake.what}", f"Why: {mistake.why}"]
            return lines
        case = next(case for case in cases if not self._agree({case: answers[case]}, expected))
        if self.judge is not None:
            verdict = self.judge(copy.deepcopy(cases[case]), answers[case], expected[case])
            if verdict is not None:
                return [verdict[0], f"Why: {verdict[1]}"]
        difference = self._difference(answers[case], expected[case])
        return [f"on {case}, {difference}", *([f"Hint: {self.hint}"] if self.hint else [])]

    def _recognise(self, cases, answers):
        """Return the one mistake that explains all answers, or two that do together."""
        for count in (1, 2):
            for together in combinations(self.mistakes, count):
                options = {key: value for mistake in together for key, value in mistake.options.items()}
                if len(options) < sum(len(mistake.options) for mistake in together):
                    continue  # they contradict each other
                if all(self._matches(answers[case], cases[case], options) for case in cases):
                    return together
        return ()

    def _matches(self, answer, arguments, options):
        try:
            wrong = self._call(lambda *given: self.right(*given, **options), arguments)
        except (RuntimeError, ValueError):  # together, two mistakes may make a system that has no solution
            return False
        return self._agree({"": answer}, {"": wrong})

    def _call(self, function, arguments):
        """Return the results as a tuple of arrays; arguments are copied, so that nothing is changed."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = function(*copy.deepcopy(arguments))
        if len(self.returns) == 1:
            result = (result,)
        if result is None or (isinstance(result, tuple) and any(part is None for part in result)):
            raise _UnusableAnswer("it returns None: is a return missing?")
        if not isinstance(result, tuple | list) or len(result) != len(self.returns):
            raise _UnusableAnswer(f"it should return {len(self.returns)} things: {', '.join(self.returns)}")
        return tuple(_as_array(part, name) for part, name in zip(result, self.returns, strict=True))

    def _agree(self, answers, expected):
        return all(
            one.shape == other.shape
            and np.allclose(one, other, rtol=self.tolerance, atol=self.tolerance, equal_nan=True)
            for case in answers
            for one, other in zip(answers[case], expected[case], strict=True)
        )

    def _difference(self, answer, expected):
        """Say where an answer differs first."""
        for name, one, other in zip(self.returns, answer, expected, strict=True):
            if one.shape != other.shape:
                return f"{name} has the shape {one.shape}, expected {other.shape}"
            if not np.isfinite(one).all():
                return f"{name} has values that are not finite: is there a division by zero?"
            wrong = ~np.isclose(one, other, rtol=self.tolerance, atol=self.tolerance)
            if wrong.any():
                place = tuple(int(k) for k in np.argwhere(wrong)[0])
                where = f"[{', '.join(map(str, place))}]" if place else ""
                return f"{name}{where} is {one[place]:.6g}, expected {other[place]:.6g}"
        raise AssertionError("there is no difference")


def ready(*checks):
    """Tell whether all checks of an exercise came out right, and if not, which tasks are left.

    Parameters
    ----------
    *checks : bool
        What the checks of tasks 1, 2, … returned.

    Examples
    --------
    >>> ready(True, False, True)
    This experiment needs task 2 first.
    False
    """
    left = [str(number) for number, right in enumerate(checks, start=1) if not right]
    if left:
        tasks = f"task {left[0]}" if len(left) == 1 else f"tasks {', '.join(left[:-1])} and {left[-1]}"
        print(f"This experiment needs {tasks} first.")
    return not left


class _UnusableAnswer(Exception):
    """What a function returned cannot be compared with anything."""


def _as_array(part, name):
    if scipy.sparse.issparse(part):
        part = part.toarray()
    try:
        if np.iscomplexobj(part):
            raise TypeError
        return np.asarray(part, dtype=float)
    except (TypeError, ValueError):
        raise _UnusableAnswer(f"{name} is a {type(part).__name__} and not made of real numbers") from None


def _line(error):
    """Say in which line of a notebook's cell it happened, if in one."""
    cells = [
        step
        for step in traceback.extract_tb(error.__traceback__)
        if "ipykernel" in step.filename or step.filename.startswith(("<cell", "<ipython"))
    ]
    return f" in line {cells[-1].lineno} of its cell" if cells else ""


def _in_one_line(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:160]
