"""Draw a mask, and watch least squares fill it."""

import numpy as np
from scipy.ndimage import gaussian_filter

from normint.domain import NEIGHBOURS, Domain
from normint.integration import integrate
from normint.workbook.panels import pictures
from normint.workbook.panels.controls import menu
from normint.workbook.panels.panel import Panel
from normint.workbook.panels.widgets import PixelGrid

SIDE = 16
FIELDS = {"a hill": "hill", "a saddle": "saddle", "a whirl, no gradient": "whirl"}


def mask_panel():
    """Draw or choose a mask, and see the quadratic solution on it.

    Where pieces are separate, each has zero mean: the gradient says nothing about their heights. On a whirl,
    which is the gradient of nothing, a cut from the border to the middle changes everything.

    Returns
    -------
    Panel

    Examples
    --------
    >>> panel = mask_panel()
    >>> panel.controls["shape"].value = "3×3 of the paper"
    >>> panel.state["summary"]
    '8 pixels in 1 piece'
    """
    masks = {name: mask.astype(int).tolist() for name, mask in shapes().items()} | {"drawn by hand": None}
    shape = menu("mask", "ring with a cut", {name: name for name in masks})
    pixels = PixelGrid(value=masks[shape.value])

    def choose(change):
        pixels.value = masks[change["new"]] or pixels.value

    def draw(change):
        if change["new"] != masks[shape.value]:
            shape.value = "drawn by hand"

    shape.observe(choose, "value")
    pixels.observe(draw, "value")
    controls = {"pixels": pixels, "shape": shape, "field": menu("slopes of", "whirl", FIELDS)}
    return Panel("mask", controls, _solve, _draw)


def shapes():
    """Return masks of :data:`SIDE` rows and columns by their names."""
    u, v = (index - (SIDE - 1) / 2 for index in np.ogrid[:SIDE, :SIDE])
    radius, angle = np.hypot(u, v), np.arctan2(u, v)
    ring = (radius < 7.6) & (radius > 3.2)
    paper = np.zeros((SIDE, SIDE), bool)
    paper[7:10, 7:10] = True
    paper[9, 9] = False
    return {
        "3×3 of the paper": paper,
        "disk": radius < 7.2,
        "star": radius < 5.0 + 3.0 * np.cos(5 * (angle + np.pi / 2)),
        "ring": ring,
        "ring with a cut": ring & ~((np.abs(u) < 1) & (v > 0)),
        "slits": (np.arange(SIDE) % 4 != 3) & np.ones((SIDE, 1), bool),
        "random blobs": gaussian_filter(np.random.default_rng(3).standard_normal((SIDE, SIDE)), 1.5) > 0,
        "everything": np.ones((SIDE, SIDE), bool),
    }


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


def edge_residual(depth, p, q):
    """Return how far the slopes of a depth are from those given: the largest among each pixel's edges."""
    worst = np.where(np.isfinite(depth), 0.0, np.nan)
    for g, (here, there) in zip((p, q), NEIGHBOURS, strict=True):
        off = np.nan_to_num(np.abs(depth[there] - depth[here] - (g[here] + g[there]) / 2))
        for end in (here, there):
            worst[end] = np.maximum(worst[end], off)
    return worst


def _solve(check, shape, field, pixels):
    mask = np.array(pixels, dtype=bool)
    if not mask.any():
        raise ValueError("the mask is empty: draw at least one pixel")
    p, q = given_gradient(field)
    depth = integrate(p, q, mask, tolerance=1e-8, callback=check).depth
    domain = Domain(mask)
    count, pieces = domain.size, domain.component_count
    summary = f"{count} pixel{'s' * (count > 1)} in {pieces} piece{'s' * (pieces > 1)}"
    state = {"domain": domain, "depth": depth, "residual": edge_residual(depth, p, q), "summary": summary}
    return state | {"mask": mask, "p": p, "q": q}


def _draw(state):
    figure, every = pictures.canvas()
    where, solution, slopes, residual = every
    mask, labels = state["mask"], state["domain"].components
    pictures.image(
        where, np.where(mask, labels % 8, np.nan), f"Ω: {state['summary']}", cmap="Set2", clim=(0, 8)
    )
    rows, cols = np.transpose(state["domain"].boundary)
    where.plot(cols, rows, ".", color=pictures.MARK, markersize=4)
    pictures.image(solution, state["depth"], "least squares", "z (pixels)", cmap="cividis")
    arrows = {"angles": "xy", "color": pictures.LINE, "width": 0.008}
    slopes.quiver(*np.nonzero(mask)[::-1], state["q"][mask], state["p"][mask], **arrows)
    slopes.set(aspect="equal", xticks=[], yticks=[])
    pictures.label(slopes, "the slopes given, on Ω", "v", "u")
    worst = {"cmap": "magma_r", "vmin": 0, "vmax": max(0.1, np.nanmax(state["residual"]))}
    pictures.image(residual, state["residual"], "what no depth can explain", "largest |∂z - g|", **worst)
    # Show Ω and its boundary, however small it is.
    side = max(np.ptp(rows), np.ptp(cols)) / 2 + 1
    u, v = (rows.min() + rows.max()) / 2, (cols.min() + cols.max()) / 2
    for axes in every:
        axes.set(xlim=(v - side, v + side), ylim=(u + side, u - side), xlabel="v", ylabel="u")
    where.set_xlabel("v; dots: ∂Ω, where nothing is known")
    return figure
