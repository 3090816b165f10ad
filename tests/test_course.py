"""The course: solutions are right, skeletons are not yet, and checks name the mistakes that people make."""

import ast
import re

import numpy as np
import pytest
from course_notebooks import FOLDER, NAMES, cells, namespace_of, solution

from normint import course
from normint.course.teaching.minutes import estimates, table
from normint.metrics import rmse
from normint.workbook.notebook_files import source, tags

TASKS = [task for tasks in course.EXERCISES.values() for task in tasks]


def printed(cell):
    return "".join("".join(output.get("text", "")) for output in cell["outputs"])


def test_every_exercise_has_its_checks_and_its_solution():
    assert [int(name[:2]) for name in NAMES] == list(course.EXERCISES) == list(range(1, len(NAMES) + 1))
    assert NAMES == sorted(path.stem for path in (FOLDER / "solutions").glob("*.ipynb"))


@pytest.mark.parametrize("name", NAMES)
def test_skeleton_and_solution_differ_in_their_task_cells_only(name):
    for one, other in zip(cells(name), solution(name), strict=True):
        assert (one["id"], one["metadata"]) == (other["id"], other["metadata"])
        assert (source(one) != source(other)) == ("task" in tags(one))
        if "task" in tags(one):  # the signature and the docstring are the same
            head, rest = source(one).split("    raise NotImplementedError")
            assert source(other).startswith(head) and rest.count("\n") == 0


@pytest.mark.parametrize("name", NAMES)
def test_committed_outputs_show_the_verdicts_and_no_error(name):
    for notebook, mark in ((cells(name), "✗"), (solution(name), "✓")):
        code = [cell for cell in notebook if cell["cell_type"] == "code"]
        assert all(printed(cell).startswith(mark) for cell in code if "check" in tags(cell))
        assert not any(output["output_type"] == "error" for cell in code for output in cell["outputs"])
        pictures = sum("image/png" in output.get("data", {}) for cell in code for output in cell["outputs"])
        assert (pictures > 0) == (mark == "✓")


@pytest.mark.parametrize("name", NAMES)
def test_solutions_use_numpy_and_scipy_rather_than_the_solvers_of_the_package(name):
    tree = ast.parse("\n".join(source(cell) for cell in solution(name) if "task" in tags(cell)))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not used & {"normint", "course"}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_known_mistake_is_wrong_and_is_told_from_the_others(task, capsys):
    for mistake in task.mistakes:
        assert not task(lambda *given, options=mistake.options: task.right(*given, **options))
        said = " ".join(capsys.readouterr().out.split())
        assert f"✗ {task.name}: {mistake.what} Why: {mistake.why}" == said


INDICATE = "        w = [indicator(D, g, exists, z, mu, epsilon) for D, g, exists in readings]\n"
SOLVE = "        z = solve(*depth_system(readings, w, mu))\n"
W_FIRST = "    for _ in range(iterations):\n" + INDICATE + SOLVE
Z_FIRST = "    w = [np.ones_like(z)] * 4\n    for _ in range(iterations):\n" + SOLVE + INDICATE

# What a student changes in a right solution: exercise, text, its replacement, task, words of the diagnosis.
# Of each task one of the known mistakes, which are all tried above, and those that its judge tells.
MISTAKES = [
    ("01", "numbers.T[mask.T]", "numbers[mask]", 1, "along rows, not down the columns"),
    ("01", "[-ones, ones]", "[ones, -ones]", 2, "signs are reversed"),
    ("01", "0.5 * total", "total", 3, "factor ½ is missing"),
    ("02", "0.5 * sum(D.T @ p for D in along_u) + 0.5", "-0.5 * sum(D.T @ p for D in along_u) - 0.5", 1,
     "minus the divergence"),
    ("02", "return z - z.mean()", "return z", 2, "mean of z is not removed"),
    ("02", "[1:, 1:]", "[1:, 1:] + 1e-4 * scipy.sparse.eye_array(A.shape[0] - 1)", 2,
     "added to the diagonal"),
    ("03", "keepdims=True)", "keepdims=True) * 0 + np.abs(s)", 1, "anisotropic"),
    ("03", "shrink(s, 1 / alpha)", "shrink(s, 4 / alpha)", 2, "4/α is what the paper prints"),
    ("03", "(residual - dual)", "(residual + dual)", 3, "b is added where it should be subtracted"),
    ("04", "2 * s / (s**2 + beta**2)", "1 / (s**2 + beta**2)", 1, "inner derivative"),
    ("04", "2 * gamma**2 * s", "2 * s", 2, "γ² is missing"),
    ("04", "2 * gamma**2 * s", "3 * gamma**2 * s", 2, "Φ' is not its derivative"),
    ("04", "(f(z + step) - f(z - step)) / (2 * h)", "(f(z + step) - f(z)) / h", 3, "one-sided"),
    ("04", "0.25 * ", "1.0 * ", 4, "factor ¼ is missing"),
    ("04", "(weight * rv))", "(weight * ru))", 4, "not its gradient"),
    ("05", "p, q, mu, nu):\n", "p, q, nu, mu):\n", 1, "μ and ν are exchanged"),
    ("05", "weight**2", "weight", 2, "not squared"),
    ("05", "weights(Du @ z, Dv @ z", "weights(p, q", 3, "The data do not show a jump"),
    ("06", "1 / (4 * epsilon)) + epsilon * (D.T @ D)", "epsilon) + (D.T @ D) / (4 * epsilon)", 1,
     "ε and 1/(4ε) are exchanged"),
    ("06", "one**2", "one", 2, "w is not squared"),
    ("06", "(8 * epsilon)", "(4 * epsilon)", 3, "1/(4ε) stands where 1/(8ε) belongs"),
    ("06", "range(iterations)", "range(iterations - 1)", 4,
     "your code stops in line 6 of its cell: UnboundLocalError"),
    ("06", W_FIRST, Z_FIRST, 4, "z is updated before w"),
    ("07", "np.linalg.lstsq(lights, images, rcond=None)[0]", "lights.T @ images", 1, "is not solved"),
    ("07", "m, axis=0)", "m)", 1, "all pixels share one albedo"),
    ("07", "used.sum() < 3", "False", 2, "Two equations do not determine three unknowns"),
    ("07", "-n_u / n_z, -n_v / n_z", "n_u / n_z, n_v / n_z", 3, "hills become hollows"),
    ("07", "np.trace(np.linalg.inv(lights.T @ lights))", "np.trace(lights.T @ lights)", 4,
     "More light would then mean more error"),
    ("08", "lam / size**2", "lam", 1, "every pixel has the whole λ"),
    ("08", "np.nan_to_num(z0)", "z0", 1, "z⁰ is NaN where nothing is known"),
    ("08", "b + lam * z0", "b + z0", 2, "without its weight"),
    ("08", "sigma_g**2 / sigma_z**2", "sigma_g / sigma_z", 3, "compare variances"),
    ("08", "b[free] - rows[:, points] @ values", "b[free]", 4, "do not reach their neighbours"),
    ("08", "    return z", "    return z - z.mean()", 4, "the mean of z is removed"),
    ("09", "0.8 * ", "", 1, "an error like a chessboard"),
    ("09", "columns // 2 * mask.shape[0] + rows // 2", "rows // 2 * mask.shape[1] + columns // 2", 2,
     "numbered along the rows"),
    ("09", " / stiffness", "", 3, "is not divided by the stiffness"),
    ("09", "P.T @ (r - A @ e)", "P.T @ r", 4, "not what is left of it"),
    ("09", "smooth(A, e, r, 2)", "e", 4, "no sweeps after the correction"),
    ("10", "np.exp(np.mean(np.log(errors / reference)))", "np.mean(errors / reference)", 1,
     "each worse than the other"),
    ("10", ")) ** 2", "))", 2, "the weight of Cauchy"),
    ("10", "range(8)", "range(0)", 3, "this is least squares: the score is 1.00"),
    ("10", "edges(omega, p, q)", "edges(omega, q, p)", 3, "p and q are exchanged"),
    ("10", "to_image(z)", "to_image(-z)", 3, "the surface is upside down"),
    ("10", "to_image(z)", "to_image(z * np.nan)", 3, "not finite"),
    ("10", "return omega.to_image(z)", "return z", 3, "z has the shape (4096,), expected (64, 64)"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "old", "new", "task", "words"), MISTAKES)
def test_a_mistake_in_a_solution_is_named(number, old, new, task, words, capsys):
    name = next(name for name in NAMES if name.startswith(number))
    assert any(old in source(cell) for cell in solution(name) if "task" in tags(cell))
    names = namespace_of(solution(name), old, new)
    assert names[f"right_{task}"] is False
    verdicts = " ".join(capsys.readouterr().out.split()).split("✗ ")[1:]
    asked = course.EXERCISES[int(number)][task - 1].name
    assert words in next(verdict for verdict in verdicts if verdict.startswith(f"{asked}:"))


# The experiments in which the method of an exercise has to win: the cell that ends it, its error over that of
# the other way, and what this is below.
WINS = {
    "03": ("ex03-tent-1", lambda names: tent_ratio(names["tents"], names["tent"], "total variation"), 0.5),
    "04": ("ex04-19", lambda names: tent_ratio(names["found"], names["tent"], "Φ1, β = 0.5"), 0.3),
    "05": ("ex05-14", lambda names: vase_ratio(names, "diffusion, μ = 0.2"), 0.75),
    "06": ("ex06-tent-1", lambda names: tent_ratio(names["tents"], names["tent"], "Mumford-Shah"), 0.2),
    "07": ("ex07-23", lambda names: ratio(names["shadows"], "without shadows", "all samples")[0], 0.1),
    "08": ("ex08-20", lambda names: ratio(names["merged"]["noise"], "asked", "slopes alone"), 0.9),
    "09": ("ex09-22", lambda names: ratio(names["factors"], (1.8, 128), (1.8, 16)), 1.1),
}


def ratio(errors, one, other):
    return np.divide(errors[one], errors[other])


def tent_ratio(depths, tent, method):
    return rmse(depths[method], tent.depth) / rmse(depths["least squares"], tent.depth)


def vase_ratio(names, method):
    return names["error"](names["depths"][method]) / names["error"](names["depths"]["least squares"])


@pytest.mark.slow
@pytest.mark.parametrize("number", WINS)
def test_the_method_of_an_exercise_wins_where_it_should(number):
    until, measured, below = WINS[number]
    name = next(name for name in NAMES if name.startswith(number))
    assert measured(namespace_of(solution(name), until=until)) < below


@pytest.mark.parametrize("name", NAMES)
def test_every_task_has_minutes_and_hints_that_open_one_after_the_other(name):
    notebook = cells(name)
    before = [source(notebook[number - 1]) for number, cell in enumerate(notebook) if "task" in tags(cell)]
    for hints in before:
        count = hints.count("<details>")
        assert [int(number) for number in re.findall(r"<summary>Hint (\d)</summary>", hints)] == [1, 2, 3][
            :count
        ]
        assert count >= 2 and hints.endswith("</details>" * count)  # each is inside the one before
    text = "\n".join(source(cell) for cell in notebook if cell["cell_type"] == "markdown")
    minutes = [int(number) for number in re.findall(r"^## Task \d: .+ · (\d+) minutes$", text, re.M)]
    whole = int(re.search(r"About (\d+) minutes", text)[1])
    assert len(minutes) == len(before) and sum(minutes) <= whole
    assert whole == estimates()[NAMES.index(name)].whole
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert f"| {whole} |" in next(line for line in page.splitlines() if f"({name}.ipynb)" in line)


def test_the_page_for_teachers_shows_how_minutes_are_counted():
    assert table() in (FOLDER / "README.md").read_text(encoding="utf-8")


def dirichlet(mask):
    """Return differences with a depth of zero outside."""
    number = course.check_numbering.right(mask)
    D = -np.eye(int(mask.sum()))
    for u, v in np.argwhere(mask[:-1] & mask[1:]):
        D[number[u, v], number[u + 1, v]] = 1
    return D


def without_a_mask(mask):
    """Return differences that take pixel i+1 for the lower neighbour of pixel i."""
    size = int(mask.sum())
    D = np.eye(size, k=1) - np.eye(size)
    D[-1] = 0
    return D


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (dirichlet, "a Dirichlet condition that nobody asked for"),
        (without_a_mask, "the head of the next column"),
        (lambda mask: dirichlet(mask)[dirichlet(mask).sum(axis=1) == 0], "not square"),
    ],
)
def test_what_happens_at_the_border_is_named(answer, words, capsys):
    assert not course.check_forward_differences(answer)
    assert words in " ".join(capsys.readouterr().out.split())


def test_a_solver_that_takes_no_notice_of_the_singular_matrix_is_told(capsys):
    assert not course.check_solution(lambda A, b: np.full(b.size, np.inf))
    assert not course.check_solution(lambda A, b: 1e12 + b)
    assert capsys.readouterr().out.count("A is singular") == 2


def test_a_large_weight_is_told_from_a_constraint(capsys):
    def heavy(A, b, points, values):
        weight, z0 = np.zeros((2, b.size))
        weight[points], z0[points] = 1e4, values
        return course.check_merge.right(A, b, weight, z0)

    assert not course.check_constraint(heavy)
    assert "a large weight and not a constraint" in " ".join(capsys.readouterr().out.split())


def test_a_method_that_loses_is_told_where_and_what_to_try(capsys):
    def rough(p, q, mask):
        return course.check_method.right(p, q, mask) + 0.3 * np.random.default_rng(0).standard_normal(p.shape)

    assert not course.check_method(rough)
    said = " ".join(capsys.readouterr().out.split())
    assert "not better than least squares" in said and "worst on smooth" in said and "Hint:" in said


def test_hidden_scenes_are_others_and_no_method_spoils_them():
    def careless(p, q, mask):
        p[:] = q[:] = 0.0
        return p

    visible, hidden = course.contest(), course.contest(1)
    assert [one.kind for one in visible] == [one.kind for one in hidden]
    assert all(one.variant != other.variant for one, other in zip(visible, hidden, strict=True))
    assert (course.errors(careless, hidden) > 0).all()
    assert all(one.p.any() and one.q.any() for one in hidden)


def test_lights_multiplied_the_wrong_way_round_are_told(capsys):
    # What the inverse of a singular matrix is depends on the machine: nothing finite, or something enormous.
    assert not course.check_noise_gain(lambda lights: np.nan)
    assert not course.check_noise_gain(lambda lights: 1e8)
    assert capsys.readouterr().out.count("a singular matrix was inverted") == 2


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "not a function"),
        (lambda s, threshold: None, "is a return missing?"),
        (lambda s, threshold: "text", "is a str"),
        (lambda s, threshold: s * 1j, "not made of real numbers"),
        (lambda s, threshold: s[:3], "has the shape (3, 2), expected (5, 2)"),
        (lambda s, threshold: s * np.nan, "not finite"),
        (lambda s, threshold: 0.3 * s, "r[0, 0] is 0.9, expected 2.4"),
        (lambda s: s, "TypeError"),
        (lambda s, threshold: s[:, 5], "IndexError: index 5 is out of bounds"),
    ],
)
def test_whatever_a_function_does_is_said_in_a_line_and_never_raised(answer, words, capsys):
    assert course.check_shrinkage(answer) is False
    assert words in " ".join(capsys.readouterr().out.split())


def test_two_results_are_asked_for_by_name(capsys):
    assert not course.check_update(lambda Du, Dv, p, q, z, b, alpha: 5.0)
    assert "it should return 2 things: r, b" in capsys.readouterr().out


def test_two_mistakes_at_once_are_both_named(capsys):
    assert not course.check_system(lambda *given: course.check_system.right(*given, sign=-1, power=2.0))
    said = capsys.readouterr().out
    assert "wrong sign" in said and "And a second thing" in said and "holds λ²" in said


def test_a_function_that_changes_its_arguments_does_not_spoil_the_check():
    def careless(s, threshold):
        length = np.linalg.norm(s, axis=1, keepdims=True)
        s *= np.maximum(length - threshold, 0.0) / np.maximum(length, 1e-300)
        return s

    assert course.check_shrinkage(careless)


def test_the_page_for_teachers_names_every_exercise_and_its_tasks():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"({name}.ipynb)" in page and f"(solutions/{name}.ipynb)" in page
    for task in TASKS:
        assert f"`{task.name}`" in page
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", page):
        assert (FOLDER / link).exists(), link
