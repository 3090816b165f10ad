"""Exercise 1: the numbering of pixels, a difference matrix and the functional, on any mask."""

import numpy as np

from normint.course.checking import Mistake, Task, draws
from normint.domain import Domain

THREE = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]], dtype=bool)  # Figure 1 of the paper
HOLE = np.array([[1, 1, 1, 0, 1], [1, 0, 1, 1, 1], [1, 1, 1, 0, 0], [0, 1, 0, 0, 1]], dtype=bool)
MASKS = {"the paper's 3×3 domain": THREE, "a mask with a hole": HOLE}


def numbers(mask, *, order="columns", first=0, outside=-1, whole=False):
    """Number the pixels of Ω."""
    result = np.full(mask.shape, outside)
    image, inside = (result.T, mask.T) if order == "columns" else (result, mask)
    every = np.arange(mask.size).reshape(inside.shape)[inside]
    image[inside] = first + (every if whole else np.arange(mask.sum()))
    return result


def forward_u(
    mask, *, order="columns", sign=1, border="left out", backward=False, along="u", transposed=False
):
    """Return the dense D_u^+."""
    number, size, rows = numbers(mask, order=order), int(mask.sum()), []
    D = np.zeros((size, size))
    step = (-1 if backward else 1) * np.array([1, 0] if along == "u" else [0, 1])
    for pixel in np.argwhere(mask):
        i, j = number[tuple(pixel)], _number_at(number, pixel + step)
        if border == "next number":
            j = i + 1 if i + 1 < size else -1
        elif j < 0 and border == "other neighbour":
            j, i = i, _number_at(number, pixel - step)
        if min(i, j) >= 0:
            rows.append(i)
            D[number[tuple(pixel)], [i, j]] = (1, -1) if backward else (-1, 1)
        elif border == "zero outside" and i >= 0:
            D[i, i] = 1 if backward else -1
    D = sign * (D[sorted(rows)] if border == "rows removed" else D)
    return D.T if transposed else D


def energy(
    mask, z, p, q, *, factor=0.5, swapped=False, missing=False, readings="both", power=2, outside=False
):
    """Compute the functional F_L2."""
    domain = Domain(np.ones_like(mask) if outside else mask)
    z, p, q = (domain.to_vector(image) for image in (z, p, q))
    p, q = (q, p) if swapped else (p, q)
    total = 0.0
    for D, g, there in (
        (domain.Du_plus, p, domain.omega_u_plus),
        (domain.Du_minus, p, domain.omega_u_minus),
        (domain.Dv_plus, q, domain.omega_v_plus),
        (domain.Dv_minus, q, domain.omega_v_minus),
    ):
        counted = missing | domain.to_vector(there)
        if readings == "both" or D is domain.Du_plus or D is domain.Dv_plus:
            total += np.sum(np.abs(D @ z - g)[counted] ** power)
    return factor * total


def _number_at(number, pixel):
    inside = (pixel >= 0).all() and (pixel < number.shape).all()
    return number[tuple(pixel)] if inside else -1


def masks(seed):
    """Return the masks that checks use, by name; with a seed, others that have holes and missing corners."""
    if seed is None:
        return MASKS
    rng = draws(0, seed)
    found = {}
    for name, shape in (("a mask you have not seen", (6, 5)), ("another one", (5, 7))):
        mask = rng.random(shape) < 0.7
        mask[0, :2] = mask[:2, 0] = mask[-1, -1] = True  # both kinds of neighbours, first and last pixel, ...
        mask[1, 1] = mask[-1, 0] = False  # ... a hole, and an end of the first column
        found[name] = mask
    return found


def connected(rng):
    """Return a mask of one piece, without a corner and one of the pixels inside."""
    mask = np.ones(rng.integers(4, 7, size=2), dtype=bool)
    mask[rng.choice([0, -1]), rng.choice([0, -1])] = False
    mask[tuple(rng.integers(1, np.array(mask.shape) - 1))] = False
    return mask


def _mask_cases(seed=None):
    return {name: (mask,) for name, mask in masks(seed).items()}


def _functional_cases(seed=None):
    rng = draws(1, seed)
    return {name: (mask, *rng.normal(size=(3, *mask.shape))) for name, mask in masks(seed).items()}


check_numbering = Task(
    "number_pixels",
    "an integer image with the numbers 0, 1, 2, … down the columns of Ω, and −1 outside",
    numbers,
    _mask_cases,
    (
        Mistake(
            {"order": "rows"},
            "the pixels are numbered along rows, not down the columns.",
            "The paper stacks columns (z11, z21, z31, z12, …), and NumPy's order is the other one: "
            "work on the transposes mask.T and numbers.T.",
        ),
        Mistake(
            {"first": 1},
            "the numbers start at 1.",
            "The paper counts from 1, but these numbers will index arrays, which Python counts from 0.",
        ),
        Mistake(
            {"outside": 0},
            "pixels outside Ω have the number 0.",
            "0 is the number of the first pixel of Ω: outside could not be told from it. Use −1.",
        ),
        Mistake(
            {"whole": True},
            "pixels outside Ω were counted as well.",
            "z has |Ω| entries and no more: numbers must run without gaps, or matrices get empty columns.",
        ),
    ),
    hint="count the pixels where mask is True, down the first column, then down the second.",
)

check_forward_differences = Task(
    "forward_differences_u",
    "the sparse |Ω|×|Ω| matrix D_u^+ (a scipy.sparse array)",
    forward_u,
    _mask_cases,
    (
        Mistake(
            {"border": "zero outside"},
            "rows of pixels without a lower neighbour have a −1, where all should be 0.",
            "A difference exists only if both its pixels are in Ω. This row claims that z is 0 outside: "
            "a Dirichlet condition that nobody asked for, and that bends the surface at its border.",
        ),
        Mistake(
            {"border": "next number"},
            "each row has a 1 at position i+1, even where pixel i+1 is not the lower neighbour of pixel i.",
            "At the foot of a column, number i+1 is the head of the next column (or lies beyond a hole). "
            "The row must be zero where (u+1, v) is not in Ω.",
        ),
        Mistake(
            {"border": "rows removed"},
            "rows of pixels without a lower neighbour are left out, so that the matrix is not square.",
            "Row i belongs to pixel i, in all four matrices: only then can they be added and applied to p. "
            "Such rows stay, and are zero.",
        ),
        Mistake(
            {"border": "other neighbour"},
            "where the lower neighbour is missing, the difference to the upper one stands in its row.",
            "That is what np.gradient does. Here the backward difference has a matrix of its own, D_u^-, "
            "and would count twice.",
        ),
        Mistake(
            {"sign": -1},
            "all signs are reversed.",
            "∂_u^+ z = z(u+1, v) − z(u, v): the pixel itself has −1, its lower neighbour +1. "
            "With the signs reversed, hills become hollows.",
        ),
        Mistake(
            {"backward": True},
            "this is D_u^-, the backward difference.",
            "The forward difference at (u, v) looks down to (u+1, v); yours looks up to (u−1, v).",
        ),
        Mistake(
            {"along": "v"},
            "these are differences to the right-hand neighbour, along v.",
            "u points down: it is the row, the first index. (u+1, v) is the pixel below.",
        ),
        Mistake(
            {"order": "rows"},
            "the differences are right, but pixels are numbered along rows.",
            "The paper stacks columns. A matrix in one order and a vector in the other give nonsense.",
        ),
        Mistake(
            {"transposed": True},
            "this is the transpose of D_u^+.",
            "Row i holds the difference at pixel i. Were rows and columns exchanged when filling it?",
        ),
    ),
    returns=("D",),
    hint="row i has −1 in column i and 1 in the column of the lower neighbour, if that is in Ω.",
)

check_functional = Task(
    "functional",
    "F_L2(z), a number",
    energy,
    _functional_cases,
    (
        Mistake(
            {"missing": True},
            "pixels without a neighbour add their p² or q².",
            "‖D z − p‖² counts p² in every row of D that is zero; the paper subtracts these again where it "
            "writes F_L2 with matrices. They do not move the minimum, but F_L2 sums over Ω_u^+ only.",
        ),
        Mistake(
            {"factor": 1.0},
            "the factor ½ is missing.",
            "p is read twice, forwards and backwards. Without ½ the sum is twice the integral it stands for, "
            "and a prior would weigh half as much as it should.",
        ),
        Mistake(
            {"readings": "forward"},
            "only the forward differences are counted.",
            "Each p is observed twice where it has two neighbours. Forward alone is accurate to first order, "
            "and a pixel whose only neighbour lies above would have no say.",
        ),
        Mistake(
            {"swapped": True},
            "p and q are exchanged.",
            "p is the slope along u (down, the first index) and belongs to D_u; q to D_v.",
        ),
        Mistake(
            {"outside": True},
            "differences to pixels outside Ω are counted.",
            "What is stored outside the mask is no data; it may be anything, NaN included.",
        ),
        Mistake(
            {"power": 1},
            "the residuals are not squared.",
            "This is the sum of their absolute values: anisotropic total variation, another method.",
        ),
    ),
    hint="sum over the rows of each D that are not zero, and over no others.",
)
