"""Random masks of any kind, weights, λ and slopes of any size: the solver against an exact solution."""

import numpy as np
import scipy.ndimage
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg

from normint.solver import by_size
from normint.solver.system import System

LARGEST = 60, 150  # rows or columns, most often and now and then
# The largest error of a piece's depth, beside the largest depth in it, that a tolerance may leave.
ALLOWED = {1e-4: 1e-2, 1e-8: 1e-5}


def trial(seed, folder):
    """Solve one random system and compare every piece with its exact solution."""
    problem = draw(seed)
    worst, text = check(problem)
    assert worst <= 1, f"{text}: {worst:.1f} times the error allowed"


def shrunk(seed, folder):
    """Return a small mask that still fails, with everything needed to build the system."""
    problem = draw(seed)
    for smaller in _smaller_masks(problem["mask"]):
        candidate = problem | {"mask": smaller(problem["mask"])}
        if candidate["mask"].any() and check(candidate)[0] > 1:
            problem = candidate
    rows = ["".join(".#"[int(inside)] for inside in row) for row in problem["mask"]]
    return f"problem = draw({seed}); its mask can be reduced to\n" + "\n".join(rows)


def draw(seed):
    """Draw a system: its mask, weights, λ, prior and slopes, and how it is to be solved."""
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, LARGEST[rng.random() < 0.1] + 1, 2))
    mask = random_mask(rng, shape)
    p, q = rng.standard_normal((2, *shape))
    if rng.random() < 0.5:  # pieces whose slopes differ by decades
        sizes = 10.0 ** rng.uniform(-9, 9, scipy.ndimage.label(mask)[1] + 1)
        factors = sizes[scipy.ndimage.label(mask)[0]]
        p, q = p * factors, q * factors
    weights = diagonal = prior = None
    small = int(rng.choice([0, by_size.SMALL]))  # pixels of a piece that are few enough to be eliminated
    if small == 0:  # multigrid alone: it is never given many pieces of a few pixels
        label, _ = scipy.ndimage.label(mask)
        mask = label == 1 + np.argmax(np.bincount(label[mask])[1:])
    if rng.random() < 0.5:
        # Multigrid is for weights that differ along curves, less for those that differ from edge to edge.
        weights = 10.0 ** rng.uniform(-rng.choice([1, 4, 8 if small else 4]), 0, (2, *shape))
        weights[rng.random(weights.shape) < rng.choice([0.0, 0.1])] = 0.0
    if rng.random() < 0.5:
        share = rng.choice([0.01, 0.3, 1.0])
        diagonal = np.where(rng.random(shape) < share, 10.0 ** rng.uniform(-9, 9), 0.0)
        prior = rng.standard_normal(shape)
    return {
        "mask": mask, "p": p, "q": q, "weights": weights, "diagonal": diagonal, "prior": prior,
        "tolerance": float(rng.choice(list(ALLOWED))), "small": small,
    }  # fmt: skip


def random_mask(rng, shape):
    """Draw a mask: scattered pixels, blobs, islands, paths, rings, combs, or everything."""
    kind = rng.integers(7)
    rows, cols = np.indices(shape)
    if kind == 0:
        mask = rng.random(shape) < rng.uniform(0.05, 1)
    elif kind == 1:
        noise = scipy.ndimage.gaussian_filter(rng.standard_normal(shape), rng.uniform(0.5, 4))
        mask = noise > np.quantile(noise, rng.uniform(0.1, 0.9))
    elif kind == 2:
        side, gap = rng.integers(1, 8), rng.integers(1, 4)
        mask = (rows % (side + gap) < side) & (cols % (side + gap) < side)
    elif kind == 3:
        mask = np.zeros(shape, bool)
        place = np.array([rng.integers(n) for n in shape])
        for step in rng.integers(-1, 2, (rng.integers(1, 400), 2)):
            place[rng.integers(2)] += step[0]
            place %= shape
            mask[tuple(place)] = True
    elif kind == 4:
        mask = np.maximum(abs(rows - shape[0] // 2), abs(cols - shape[1] // 2)) % rng.integers(2, 5) == 0
    elif kind == 5:
        mask = (rows % 2 == 0) | (cols == rng.integers(shape[1])) & (rng.random(shape) < 0.9)
    else:
        mask = np.ones(shape, bool)
        mask[rng.random(shape) < rng.choice([0.0, 0.02])] = False
    mask[rng.integers(shape[0]), rng.integers(shape[1])] = True
    return mask


def check(problem):
    """Return the largest error of a piece in parts of what is allowed, and a description."""
    mask, tolerance = problem["mask"], problem["tolerance"]
    kept, by_size.SMALL = by_size.SMALL, problem["small"]
    try:
        built = System(mask, problem["weights"], problem["diagonal"])
        found = built.solve(problem["p"], problem["q"], problem["prior"], slopes=True, tolerance=tolerance)
    finally:
        by_size.SMALL = kept
    text = f"{mask.shape[0]}×{mask.shape[1]}, {mask.sum()} pixels, tolerance {tolerance}"
    text += "".join(f", {name}" for name in ("weights", "diagonal") if problem[name] is not None)
    text += "" if problem["small"] else ", by multigrid alone"
    if not found.converged:
        return np.inf, f"{text}: not converged, residual {found.residual:.2g}"
    names = "mask", "p", "q", "weights", "diagonal", "prior"
    exact, label = exact_solution(**{name: problem[name] for name in names})
    error = np.abs(found.depth[mask] - exact)
    count = label.max() + 1
    largest, size = np.zeros(count), np.zeros(count)
    np.maximum.at(largest, label, error)
    np.maximum.at(size, label, np.abs(exact))
    relative = np.divide(largest, size, out=np.zeros(count), where=largest > 1e-300)
    return float(relative.max() / ALLOWED[tolerance]), text


def exact_solution(mask, p, q, weights=None, diagonal=None, prior=None):
    """Return the solution at the pixels of the mask, row by row, and the piece of each.

    A sparse factorisation, whose solution is then improved with residuals of more digits.
    """
    n = np.count_nonzero(mask)
    number = np.full(mask.shape, -1)
    number[mask] = np.arange(n)
    ends, steps, edge_weights = [], [], []
    for axis, (here, there) in enumerate(((np.s_[:-1], np.s_[1:]), (np.s_[:, :-1], np.s_[:, 1:]))):
        w = np.ones(mask.shape)[here] if weights is None else weights[axis][here]
        inside = mask[here] & mask[there] & (w > 0)
        flux = (p, q)[axis]
        ends.append((number[here][inside], number[there][inside]))
        steps.append((flux[here][inside].astype(np.longdouble) + flux[there][inside]) / 2)
        edge_weights.append(w[inside])
    i, j = np.concatenate(ends, axis=1)
    w, f = np.concatenate(edge_weights), np.concatenate(steps)
    held = np.zeros(n) if diagonal is None else diagonal[mask]
    z0 = np.zeros(n) if prior is None else np.where(held > 0, prior[mask], 0.0)
    graph = scipy.sparse.coo_array((w, (i, j)), shape=(n, n)).tocsr()
    count, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    free = np.bincount(label, held, count) == 0
    first = np.unique(label, return_index=True)[1]
    pinned = np.zeros(n)
    pinned[first[free]] = 1.0
    joined = graph + graph.T
    matrix = scipy.sparse.diags_array(joined.sum(axis=0) + held + pinned) - joined
    factors = scipy.sparse.linalg.splu(scipy.sparse.csc_array(matrix))
    z = np.zeros(n, np.longdouble)
    for _ in range(8):
        flow = w * (f - (z[j] - z[i]))
        r = held * (z0 - z) - np.where(pinned > 0, z, 0)
        np.add.at(r, j, flow)
        np.subtract.at(r, i, flow)
        z += factors.solve(r.astype(float))
    total = np.zeros(count, np.longdouble)
    np.add.at(total, label, z)
    z -= np.where(free, total / np.bincount(label, minlength=count), 0)[label]
    return z.astype(float), label


def _smaller_masks(mask):
    """Yield ways to take rows, columns and pixels out of a mask."""
    for axis in (0, 1):
        for k in range(mask.shape[axis]):
            yield lambda m, axis=axis, k=k: m & (np.indices(m.shape)[axis] != k)
    for i, j in np.argwhere(mask)[:400]:
        yield lambda m, i=i, j=j: m & ~((np.indices(m.shape)[0] == i) & (np.indices(m.shape)[1] == j))
