"""Draw a mask, and watch least squares fill it."""

import numpy as np
from scipy.ndimage import gaussian_filter

from normint.workbook.panels import pictures
from normint.workbook.panels.controls import Choice, Pixels
from normint.workbook.panels.panel import Panel
from normint.workbook.panels.surface_view import turnable

SIDE = 16
DRAWN = "drawn"
FIELDS = {"a hill": "hill", "a saddle": "saddle", "a whirl, which is no gradient": "whirl"}


def mask_panel(live=None):
    """Draw or choose a mask, and see the quadratic solution on it.

    Where pieces are separate, each has zero mean: the gradient says nothing about their heights. On a whirl,
    which is the gradient of nothing, a cut from the border to the middle changes everything.

    Parameters
    ----------
    live : bool, optional
        See :class:`normint.workbook.panels.Panel`.

    Returns
    -------
    Panel

    Examples
    --------
    >>> panel = mask_panel(live=False)
    >>> panel.set(shape="paper", field="hill")
    >>> panel.state["pixels"], panel.state["pieces"]
    (8, 1)
    """
    shapes = {label: name for name, label in LABELS.items()}
    controls = [
        Choice("shape", "mask", "cut ring", shapes),
        Choice("field", "slopes of", "whirl", FIELDS),
        Pixels("pixels", "mask", shape_pixels("cut ring")),
    ]
    return Panel("mask", controls, _solve, _draw, _turn, follow=_follow, live=live)


LABELS = {
    "paper": "3×3 of the paper",
    "disk": "disk",
    "star": "star",
    "ring": "ring",
    "cut ring": "ring with a cut",
    "slits": "slits",
    "blobs": "random blobs",
    "everything": "everything",
    DRAWN: "drawn by hand",
}


def shape_pixels(name):
    """Return a mask of :data:`SIDE` rows and columns by its name, as rows of 0 and 1."""
    u, v = (index - (SIDE - 1) / 2 for index in np.ogrid[:SIDE, :SIDE])
    radius, angle = np.hypot(u, v), np.arctan2(u, v)
    ring = (radius < 7.6) & (radius > 3.2)
    masks = {
        "disk": radius < 7.2,
        "star": radius < 5.0 + 3.0 * np.cos(5 * (angle + np.pi / 2)),
        "ring": ring,
        "cut ring": ring & ~((np.abs(u) < 1) & (v > 0)),
        "slits": (np.arange(SIDE) % 4 != 3) & np.ones((SIDE, 1), bool),
        "blobs": gaussian_filter(np.random.default_rng(3).standard_normal((SIDE, SIDE)), 1.5) > 0,
        "everything": np.ones((SIDE, SIDE), bool),
    }
    mask = masks.get(name, np.zeros((SIDE, SIDE), bool))
    if name == "paper":
        middle = SIDE // 2
        mask[middle - 1 : middle + 2, middle - 1 : middle + 2] = True
        mask[middle + 1, middle + 1] = False
    return tuple(tuple(int(pixel) for pixel in row) for row in mask)


def given_gradient(name):
    """Return p and q of a field by its name."""
    u, v = np.meshgrid(*2 * [np.arange(SIDE) - (SIDE - 1) / 2], indexing="ij")
    if name == "hill":
        z = 6 * np.exp(-(u**2 + v**2) / 32)
        return -u / 16 * z, -v / 16 * z
    if name == "saddle":
        return u / 8, -v / 8  # of (u² - v²)/16
    squares = u**2 + v**2
    return 3 * v / squares, -3 * u / squares


def _follow(name, values):
    if name == "shape" and values["shape"] != DRAWN:
        return {"pixels": shape_pixels(values["shape"])}
    return {"shape": DRAWN} if name == "pixels" else {}


def _solve(values, check):
    from normint.domain import Domain
    from normint.integration import integrate

    mask = np.array(values["pixels"], dtype=bool)
    if not mask.any():
        raise ValueError("the mask is empty: draw at least one pixel")
    p, q = given_gradient(values["field"])
    result = integrate(p, q, mask, tolerance=1e-8, callback=check)
    domain = Domain(mask)
    state = {"mask": mask, "depth": result.depth, "p": p, "q": q, "pixels": domain.size}
    state |= {"pieces": domain.component_count, "labels": domain.components, "boundary": domain.boundary}
    return state | {"residual": edge_residual(result.depth, p, q)}


def edge_residual(depth, p, q):
    """Return how far the slopes of a depth are from those given: the largest among each pixel's edges."""
    worst = np.where(np.isfinite(depth), 0.0, np.nan)
    for g, here, there in ((p, np.s_[:-1], np.s_[1:]), (q, np.s_[:, :-1], np.s_[:, 1:])):
        off = np.abs(depth[there] - depth[here] - (g[here] + g[there]) / 2)
        off = np.nan_to_num(off)
        worst[here] = np.maximum(worst[here], off)
        worst[there] = np.maximum(worst[there], off)
    return np.where(np.isfinite(depth), worst, np.nan)


def _draw(state):
    figure, (where, solution, slopes, residual) = pictures.canvas()
    pixels, pieces = state["pixels"], state["pieces"]
    text = f"Ω: {pixels} pixel{'s' * (pixels > 1)} in {pieces} piece{'s' * (pieces > 1)}"
    pictures.photograph(where, np.where(state["mask"], state["labels"] % 8, np.nan), text)
    where.images[0].set(cmap="Set2", clim=(0, 8))
    rows, cols = np.transpose(state["boundary"])
    where.plot(cols, rows, ".", color=pictures.MARK, markersize=4)
    where.set(facecolor="0.95")
    pictures.height(solution, state["depth"], "least squares", "pixels")
    _arrows(slopes, state)
    pictures.residuals(residual, state["residual"], "what no depth can explain")
    _zoom((where, solution, slopes, residual), rows, cols)
    return figure


def _zoom(all_axes, rows, cols):
    """Show Ω and its boundary, however small it is."""
    side = max(np.ptp(rows), np.ptp(cols)) / 2 + 1
    u, v = (rows.min() + rows.max()) / 2, (cols.min() + cols.max()) / 2
    for axes in all_axes:
        axes.set(xlim=(v - side, v + side), ylim=(u + side, u - side))
        axes.set(xticks=[], yticks=[])
        axes.set_xlabel("v", fontsize=8)
        axes.set_ylabel("u", fontsize=8)
    all_axes[0].set_xlabel("v; dots: ∂Ω, where nothing is known", fontsize=8)


def _arrows(axes, state):
    mask = state["mask"]
    rows, cols = np.nonzero(mask)
    axes.quiver(cols, rows, state["q"][mask], state["p"][mask], angles="xy", color="#0072b2", width=0.008)
    axes.set(aspect="equal")
    axes.set_title("the slopes given, on Ω", fontsize=10)


def _turn(state):
    return turnable(state["depth"], "the solution, each piece with zero mean")
