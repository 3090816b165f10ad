"""The exam: every number in its answers is what the package computes."""

import re

import numpy as np
from course_notebooks import FOLDER

from normint import course
from normint.domain import Domain

QUESTIONS = (FOLDER / "EXAM.md").read_text(encoding="utf-8")
ANSWERS = (FOLDER / "solutions" / "EXAM.md").read_text(encoding="utf-8")


def parts(text):
    """Return the numbered paragraphs, with the letters that each one has."""
    found = re.findall(r"(?m)^(\d+)\. (.*)$", text)
    return {int(number): (body, re.findall(r"\(([a-d])\)", body)) for number, body in found}


def test_every_question_has_an_answer_to_each_of_its_parts():
    questions, answers = parts(QUESTIONS), parts(ANSWERS)
    assert list(questions) == list(answers) == list(range(1, 11))
    for number, (_, letters) in questions.items():
        assert len(letters) >= 2 and answers[number][1] == letters


def test_three_pixels_by_hand():
    omega, q = Domain(np.ones((1, 3))), np.array([[1.0, 2.0, 3.0]])
    np.testing.assert_allclose(6 * course.least_squares(omega, 0 * q, q), [-11, -2, 13])
    assert "z = (−11/6, −1/3, 13/6)" in ANSWERS
    A, b = course.check_system.right(omega, 0 * q[0], q[0], np.zeros(3), np.zeros(3))
    assert A.toarray().tolist() == [[1, -1, 0], [-1, 2, -1], [0, -1, 1]] and b.tolist() == [-1.5, -1, 2.5]


def test_shrinkage_and_its_threshold():
    s = np.array([[3.0, 4.0]])
    gap, b = 0 * s, s
    r, _ = course.check_update.right(np.zeros((1, 1)), np.zeros((1, 1)), *gap.T, np.zeros(1), b, 2.0)
    np.testing.assert_allclose(np.linalg.norm(r), 5 - 1 / 2)


def test_where_estimators_turn_from_convex_to_concave():
    for phi, turn in ((course.check_phi1.right, 0.7), (course.check_phi2.right, 0.7 / np.sqrt(3))):
        slopes = phi(np.linspace(0.01, 2, 20001), 0.7)[1]
        assert abs(np.linspace(0.01, 2, 20001)[np.argmax(slopes)] - turn) < 1e-3


def test_numbers_of_the_wave_and_of_the_indicator():
    k = 2 * np.pi / 1000
    assert f"**{k**2 / (k**2 + 1e-6):.3f}**" in ANSWERS
    half = 1 / np.sqrt(4 * 0.01 * 45)
    assert f"**r = {half:.3f}**" in ANSWERS
    D, exists = Domain(np.ones((1, 1))).Du_plus, np.ones(1)
    np.testing.assert_allclose(
        course.check_indicator.right(D, np.array([-half]), exists, np.zeros(1), 45.0, 0.01), 0.5
    )
