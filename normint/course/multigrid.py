"""Exercise 9: two levels of multigrid, by a smoother, blocks of 2×2 pixels and a Galerkin matrix."""

import numpy as np
import scipy.sparse

from normint.course.checking import Mistake, Task, draws
from normint.course.discretisation import HOLE
from normint.domain import Domain


def smooth(A, e, r, sweeps, *, damping=0.8, divide=True, start=True, residual="new", more=0, how="Jacobi"):
    """Return e after some sweeps towards A e = r."""
    e = e if start else np.zeros_like(e)
    diagonal = A.diagonal() if divide else 1.0
    first = r - A @ e
    for _ in range(sweeps + more):
        if how == "Gauss-Seidel":
            e = e.copy()
            for i in range(e.size):
                e[i] += damping * (r - A @ e)[i] / A.diagonal()[i]
        else:
            e = e + damping * (first if residual == "old" else r - A @ e) / diagonal
    return e


def prolongation(mask, *, order="columns", value=1.0, sides=(2, 2), empty=False, transposed=False, by=None):
    """Return the matrix that gives every pixel the value of its block."""
    columns, rows = np.nonzero(mask.T)
    down, across = rows // sides[0], columns // sides[1]
    if by == "number":
        block = np.arange(rows.size) // 4
    elif order == "rows":
        block = down * mask.shape[1] + across
    else:
        block = across * (-(-mask.shape[0] // sides[0])) + down
    if not empty:
        _, block = np.unique(block, return_inverse=True)
    P = scipy.sparse.csr_array((np.full(rows.size, value), (np.arange(rows.size), block)))
    return P.T if transposed else P


def coarse_matrix(A, P, stiffness, *, divide="right", share=1.0, smoothed=True):
    """Return the matrix of the blocks."""
    coarse = share * (P.T @ A @ P)
    if not smoothed:
        coarse = scipy.sparse.diags_array(coarse.diagonal())
    return coarse / {"right": stiffness, "not": 1.0, "wrong": 1 / stiffness}[divide]


def cycle(A, P, solve, r, *, before=2, after=2, left=True, keep=True, sign=1, restart=False, share=1.0):
    """Return e, about A⁻¹r: sweeps, a correction by blocks, sweeps."""
    e = smooth(A, np.zeros_like(r), r, before)
    correction = sign * (P @ solve(share * (P.T @ (r - A @ e if left else r))))
    e = e + correction if keep else correction
    return smooth(A, np.zeros_like(r) if restart else e, r, after)


def _fine(seed):
    rng = draws(10, seed)
    omega = Domain(HOLE)
    return (
        rng,
        omega,
        omega.laplacian() + scipy.sparse.diags_array(np.where(np.arange(omega.size) % 4, 0, 0.3)),
    )


def _smooth_cases(seed=None):
    rng, omega, A = _fine(seed)
    e, r = rng.normal(size=(2, omega.size))
    return {"a mask with a hole, two sweeps": (A, e, r, 2), "three sweeps": (A, 2 * e, r, 3)}


def _masks(seed=None):
    disk = np.hypot(*(np.indices((7, 7)) - 3)) < 3.2
    corner = np.ones((4, 5) if seed is None else draws(12, seed).integers(5, 9, size=2), dtype=bool)
    corner[:2, :2] = False
    if seed is not None:
        disk[tuple(draws(13, seed).integers(2, 5, size=2))] = False
    return {"a disk of 7×7 pixels": (disk,), "a rectangle without a corner": (corner,)}


def _blocks(mask, rng):
    """Return a matrix like a prolongation, but of blocks by chance: that of task 2 is not told."""
    pixels = np.arange(mask.sum())
    _, block = np.unique(rng.integers(pixels.size // 3, size=pixels.size), return_inverse=True)
    return scipy.sparse.csr_array((np.ones(pixels.size), (pixels, block)))


def _coarse_cases(seed=None):
    rng, cases = draws(14, seed), {}
    for name, (mask,) in _masks(seed).items():
        cases[name] = (Domain(mask).laplacian(), _blocks(mask, rng), 1.8)
    return cases


def _cycle_cases(seed=None):
    rng, cases = draws(11, seed), {}
    for name, (mask,) in _masks(seed).items():
        A, P = Domain(mask).laplacian(), _blocks(mask, rng)
        # A cycle takes any solver: this one is too simple to be right, and easy to follow by hand.
        cases[name] = (A, P, lambda right: 0.4 * right, A @ rng.normal(size=A.shape[0]))
    return cases


check_smoother = Task(
    "smooth",
    "e after the given number of sweeps",
    smooth,
    _smooth_cases,
    (
        Mistake(
            {"damping": 1.0},
            "the sweeps are not damped by 0.8.",
            "Undamped, an error like a chessboard changes its sign in each sweep and never goes away: the "
            "roughest error of all, which the sweeps are there for.",
        ),
        Mistake(
            {"damping": -0.8},
            "the sweeps go the wrong way.",
            "r − A e is what is missing of r. Add it to e; subtracted, the error grows.",
        ),
        Mistake(
            {"divide": False},
            "the residual is not divided by the diagonal of A.",
            "Pixel i has the equation A_ii e_i + … = r_i. It has to move by the residual over A_ii; "
            "without that the sweeps diverge, since A has eigenvalues up to 8.",
        ),
        Mistake(
            {"residual": "old"},
            "all sweeps use the residual of the first.",
            "After a sweep e is another, and so is r − A e: compute it inside the loop.",
        ),
        Mistake(
            {"start": False},
            "the e that was given is not used.",
            "The second call has to go on from what the blocks corrected, and not begin anew.",
        ),
        Mistake({"more": -1}, "there is one sweep too few.", "range(sweeps) makes that many."),
        Mistake(
            {"how": "Gauss-Seidel"},
            "pixels already use what other pixels became in the same sweep.",
            "That is the Gauss-Seidel method, a good smoother too. But its sweeps depend on the order of the "
            "pixels, so the cycle is not symmetric, and conjugate gradients rely on that. "
            "Compute all of r − A e first.",
        ),
    ),
    returns=("e",),
    hint="in each sweep: e + 0.8 (r − A e) / diag(A).",
)

check_prolongation = Task(
    "prolongation",
    "the sparse matrix P, pixels×blocks",
    prolongation,
    _masks,
    (
        Mistake(
            {"order": "rows"},
            "the blocks are numbered along the rows.",
            "Two levels would work all the same. But pixels go down the columns, and blocks are the pixels "
            "of the next level: number them alike.",
        ),
        Mistake(
            {"empty": True},
            "blocks without a pixel have a column.",
            "A column of zeros in P makes a row of zeros in PᵀAP, which cannot be solved. np.unique with "
            "return_inverse=True numbers only the blocks that occur.",
        ),
        Mistake(
            {"value": 0.25},
            "the entries are ¼.",
            "P gives each pixel the value of its block, all of it. ¼ would be the mean, on the way down.",
        ),
        Mistake({"transposed": True}, "P is transposed.", "It takes blocks to pixels: a row for each pixel."),
        Mistake(
            {"sides": (2, 1)},
            "the blocks are one column wide.",
            "Divide rows and columns by 2. Halved along u only, an error that is smooth along v stays as "
            "expensive as before.",
        ),
        Mistake(
            {"by": "number"},
            "a block is made of four pixels with consecutive numbers.",
            "Numbers run down a column, and at its foot jump to the head of the next: such blocks are long, "
            "or torn apart. Neighbours in both directions belong together.",
        ),
    ),
    returns=("P",),
    hint="columns, rows = np.nonzero(mask.T); the block of a pixel is (rows // 2, columns // 2).",
)

check_coarse_matrix = Task(
    "coarse_matrix",
    "PᵀAP / stiffness, blocks×blocks",
    coarse_matrix,
    _coarse_cases,
    (
        Mistake(
            {"divide": "not"},
            "PᵀAP is not divided by the stiffness.",
            "Blocks that move as a whole break at their edges and nowhere else. A smooth error costs them "
            "nearly twice what it costs the pixels, so each correction would be only half of what it should.",
        ),
        Mistake(
            {"divide": "wrong"},
            "PᵀAP is multiplied by the stiffness.",
            "It is too stiff already, by almost two.",
        ),
        Mistake(
            {"share": 0.25},
            "the residuals of a block are averaged, and should be added.",
            "The energy of a block is the sum over its pixels: that is Pᵀ, without ¼. "
            "With ¼, all corrections are four times too large.",
        ),
        Mistake(
            {"smoothed": False},
            "only the diagonal is left.",
            "Then blocks know nothing of each other, and one sweep of blocks is all that they are.",
        ),
    ),
    returns=("the coarse matrix",),
    hint="P.T @ A @ P / stiffness.",
)

check_cycle = Task(
    "cycle",
    "e, about the solution of A e = r",
    cycle,
    _cycle_cases,
    (
        Mistake(
            {"before": 0},
            "there are no sweeps before the correction.",
            "The blocks then see the rough part of the residual as well, which they cannot describe.",
        ),
        Mistake(
            {"after": 0},
            "there are no sweeps after the correction.",
            "P e is made of blocks: it brings steps at their edges. The cycle is not symmetric either, which "
            "conjugate gradients rely on.",
        ),
        Mistake(
            {"left": False},
            "the blocks are given r, and not what is left of it.",
            "The sweeps have done a part already. The rest is r − A e; with r it is done twice.",
        ),
        Mistake(
            {"keep": False},
            "the correction replaces e.",
            "It corrects what the sweeps left over: add it, e + P solve(…).",
        ),
        Mistake(
            {"sign": -1},
            "the correction has the wrong sign.",
            "A c = r − A e gives A (e + c) = r: plus.",
        ),
        Mistake(
            {"restart": True},
            "the last sweeps begin at zero.",
            "Then nothing of the correction is left. Give e to smooth as its start.",
        ),
        Mistake(
            {"share": 0.25},
            "the residuals of a block are averaged.",
            "PᵀAP adds up equations, so the right-hand side has to add up too: Pᵀ, without ¼.",
        ),
    ),
    returns=("e",),
    hint="smooth from zero, e + P solve(Pᵀ(r − A e)), smooth again from there.",
)
