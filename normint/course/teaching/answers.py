"""Take the answers out of the course: its sources without the right functions, and numbers in their place.

Of a module of the course students get all but the functions that compute answers: cases, explanations of
mistakes, hints. Where a task names its right function, it gets what that function returned on the cases
(`Recorded`). What is kept is what anything but a task's `right` needs.
"""

import ast
import importlib
from pathlib import Path

import numpy as np

from normint import course
from normint.course.checking import Task
from normint.course.recorded import Recorded

FOLDER = Path(course.__file__).parent
# Modules without answers; `given` has the one to `solve` of exercise 2, which later exercises begin with.
SHARED = ("__init__", "checking", "given", "recorded")
# The methods of the package that exercise 10 compares with.
PACKAGE = ("total_variation", "calibrated")


def public_sources():
    """Return the modules of the course as students may read them: from file name to text.

    Raises
    ------
    ValueError
        If a case or a judge needs a function that is an answer, which then could not be left out.
    """
    modules = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.py"))}
    parts = {name: _Module(name, text) for name, text in modules.items() if name not in SHARED}
    wanted = [(part.name, name) for part in parts.values() for name in part.used_outside_functions()]
    for name in SHARED:  # what all exercises import is meant to be seen
        shared = _Module(name, modules[name])
        wanted += [pair for node in shared.imports for pair in shared.pairs(node)]
    kept = set()
    while wanted:  # follow what is needed, from function to function and from module to module
        module, name = wanted.pop()
        if module in parts and (module, name) not in kept:
            kept.add((module, name))
            wanted += parts[module].needs(name)
    for part in parts.values():
        for answer in part.answers & {name for module, name in kept if module == part.name}:
            raise ValueError(f"{part.name}.{answer} is an answer, and a case or a judge needs it")
    public = {name: part.without_answers(kept) for name, part in parts.items()}
    return {f"{name}.py": public.get(name, text) for name, text in modules.items()}


def record(path):
    """Write what right functions, and each known mistake, return on the visible cases, as one `.npz`."""
    arrays, modules = {}, _modules()
    tasks = [task for tasks in course.EXERCISES.values() for task in tasks if type(task) is Task]
    for task in tasks:
        recorded = Recorded(modules[id(task)], task.name)
        for options in ({}, *(options for _, options in task.together())):
            for case, arguments in task.cases().items():
                try:
                    results = task.expected(case, arguments, options)
                except (RuntimeError, ValueError):  # together, two mistakes may lead to no answer
                    continue
                for number, result in enumerate(results):
                    arrays[recorded.key(case, options, number)] = result
    np.savez_compressed(path, **arrays, **_by_package())


def _by_package():
    """Return what methods of the package find on the scenes that exercise 10 shows, to a millionth."""
    shown = [*course.contest(seed=1), *(scene for scene in course.contest() if scene.kind == "contours")]
    return {
        Recorded("package", method).key(f"{scene.kind} {scene.variant}", {}, 0): np.float32(
            course.by_package(method, scene)
        )
        for method in PACKAGE
        for scene in shown
    }


def _modules():
    """Return the name of the module that each task is written in, by the task's identity."""
    found = {}
    for path in FOLDER.glob("*.py"):
        if path.stem not in SHARED:
            module = importlib.import_module(f"{course.__name__}.{path.stem}")
            found |= {id(part): module.__name__ for part in vars(module).values() if isinstance(part, Task)}
    return found


class _Module:
    """The source of a module, and which of its names need which."""

    def __init__(self, name, text):
        self.name, self.lines = name, text.encode().splitlines(keepends=True)  # ast counts bytes
        self.tree = ast.parse(text)
        self.functions = {
            node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }
        self.imports = [
            node
            for node in self.tree.body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{course.__name__}.")
        ]
        self.tasks = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Task"
        ]
        self.answers = {task.args[2].id for task in self.tasks if isinstance(task.args[2], ast.Name)}

    def used_outside_functions(self):
        """Return the names that the module itself uses, but not as the right function of a task."""
        rights = {id(task.args[2]) for task in self.tasks}
        rest = [node for node in self.tree.body if node not in self.functions.values()]
        return {
            node.id
            for part in rest
            for node in ast.walk(part)
            if isinstance(node, ast.Name) and id(node) not in rights
        }

    def needs(self, name):
        """Return what a name needs: pairs of a module and a name."""
        if name in self.functions:
            used = {node.id for node in ast.walk(self.functions[name]) if isinstance(node, ast.Name)}
            return [(self.name, other) for other in used - {name}]
        return [pair for node in self.imports for pair in self.pairs(node, name)]

    def pairs(self, node, name=None):
        """Return what an import takes from where, all of it or one name."""
        names = [alias.name for alias in node.names if name in (None, alias.asname or alias.name)]
        return [(node.module.rpartition(".")[2], one) for one in names]

    def without_answers(self, kept):
        """Return the text without functions and imports that nothing needs, and with recorded answers."""
        lines = list(self.lines)
        for task in self.tasks:
            right = task.args[2]
            assert right.lineno == right.end_lineno
            line = lines[right.lineno - 1]
            recorded = f'Recorded(__name__, "{task.args[0].value}")'.encode()
            lines[right.lineno - 1] = line[: right.col_offset] + recorded + line[right.end_col_offset :]
        for name, node in self.functions.items():
            if (self.name, name) not in kept:
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                _blank(lines, first, node.end_lineno)
        for node in self.imports:
            names = [alias for alias in node.names if (self.name, alias.asname or alias.name) in kept]
            _blank(lines, node.lineno, node.end_lineno)
            if names:
                lines[node.lineno - 1] = ast.unparse(ast.ImportFrom(node.module, names, 0)).encode() + b"\n"
        imports = [node for node in self.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        lines[imports[-1].end_lineno - 1] += b"from normint.course.recorded import Recorded\n"
        return b"".join(lines).decode()


def _blank(lines, first, last):
    """Empty the lines from first to last, and the empty ones after them."""
    lines[first - 1 : last] = [b""] * (last - first + 1)
    while last < len(lines) and not lines[last].strip():
        lines[last] = b""
        last += 1
