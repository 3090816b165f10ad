"""Surfaces given by formulas, with their exact gradients: peaks, the vase and the tent."""

import numpy as np

from normint.inputs import as_count, as_positive
from normint.surfaces.surface import Surface


def peaks(n: int = 128) -> Surface:
    """Make Matlab's "peaks", the smooth surface of the paper's Figures 2 and 3.

    Parameters
    ----------
    n : int, optional
        The number of rows and of columns, at least 2.

    Returns
    -------
    Surface
        The mask is the whole grid. The depth keeps Matlab's values, between −6.6 and 8.1 for every n.

    Notes
    -----
    z = 3(1−x)² exp(−x²−(y+1)²) − 10(x/5 − x³ − y⁵) exp(−x²−y²) − ⅓ exp(−(x+1)²−y²) on [−3, 3]².
    As in Matlab, x runs along columns and y along rows, so that u = y and v = x up to the grid step
    h = 6/(n−1), and p = h·∂z/∂y, q = h·∂z/∂x.

    Examples
    --------
    >>> surface = peaks(49)
    >>> round(float(surface.depth[24, 24]), 4)
    0.981
    """
    n = as_count("n", n, minimum=2)
    step = 6.0 / (n - 1)
    x = np.linspace(-3.0, 3.0, n)
    y = x[:, np.newaxis]
    hill = 3 * (1 - x) ** 2 * np.exp(-(x**2) - (y + 1) ** 2)
    bell = 10 * np.exp(-(x**2) - y**2)
    ripple = x / 5 - x**3 - y**5
    dip = np.exp(-((x + 1) ** 2) - y**2) / 3
    hill_x = -6 * (1 - x) * np.exp(-(x**2) - (y + 1) ** 2) - 2 * x * hill
    dz_dy = -2 * (y + 1) * hill + (5 * y**4 + 2 * y * ripple) * bell + 2 * y * dip
    dz_dx = hill_x - (0.2 - 3 * x**2 - 2 * x * ripple) * bell + 2 * (x + 1) * dip
    depth = hill - ripple * bell - dip
    return Surface(depth, step * dz_dy, step * dz_dx, np.ones((n, n), dtype=bool), "peaks")


def vase(n: int = 320, steepest: float = 10.0) -> Surface:
    """Make the vase of the paper's Figures 4, 7, 8, 12 and 13, on flat ground.

    Parameters
    ----------
    n : int, optional
        The number of rows and of columns. Other sizes than the paper's 320 show the same vase, with equal
        slopes and as deep in proportion.
    steepest : float, optional
        What p and q are clipped to; 10 is the paper's. The slope at a given number of pixels from the
        contour grows like √n.

    Returns
    -------
    Surface
        The mask is the vase's silhouette, 25 410 pixels of the paper's.

    Notes
    -----
    At 320×320 pixels, with y = (288 − row)/256 and x = (column − 160)/256, the vase is a solid of
    revolution of radius f(y) = 0.15 − 0.1·y(6y+1)²(y−1)²(3y−2), cut at 0 < y ≤ 1. Inside the silhouette
    f² > x²,

    z = 256·√(f² − x²),   p = −f f′/√(f² − x²),   q = −x/√(f² − x²),

    and p and q are each clipped to [−10, 10], or to ±`steepest`, since they grow without bound at the
    contour. The formula generates the authors' own file to rounding.

    Examples
    --------
    >>> int(vase().mask.sum())
    25410
    """
    n, steepest = as_count("n", n), as_positive("steepest", steepest)
    scale = n / 320
    row, column = (index / scale for index in np.ogrid[:n, :n])
    y, x = (288 - row) / 256, (column - 160) / 256
    # f = 0.15 − 0.1·a·b² with the factors below, whose derivatives are 6y − 2 and 12y − 5.
    a, b = y * (3 * y - 2), (6 * y + 1) * (y - 1)
    f = 0.15 - 0.1 * a * b**2
    slope = -0.1 * ((6 * y - 2) * b**2 + 2 * a * b * (12 * y - 5))
    inside = (f**2 > x**2) & (row >= 32) & (row < 288)
    height = np.sqrt(np.where(inside, f**2 - x**2, 1.0))
    depth = np.where(inside, 256 * scale * height, 0.0)
    p = np.where(inside, np.clip(-f * slope / height, -steepest, steepest), 0.0)
    q = np.where(inside, np.clip(-x / height, -steepest, steepest), 0.0)
    return Surface(depth, p, q, inside, "vase")


def canadian_tent(
    n: int = 192, half_length: float = 50, half_width: float = 50, slope: float = 1.3
) -> Surface:
    """Make a ridge tent on flat ground, after the paper's Figures 9 and 14.

    The paper shows this surface but gives no formula. This one is a reconstruction: its numbers were fitted
    to Figure 9, whose first error comes out and whose second does not; it is not known to be the authors'
    surface.

    Parameters
    ----------
    n : int, optional
        The number of rows and of columns.
    half_length : float, optional
        Half of the ridge's length A, in pixels, along v.
    half_width : float, optional
        Half of the tent's width B, in pixels, along u.
    slope : float, optional
        The slope s of both roofs.

    Returns
    -------
    Surface
        The mask is the whole grid: ground, kinks and jumps included.

    Notes
    -----
    z = s(B − |Y|), p = −s·sign Y, q = 0 where |X| < A and |Y| < B, with X and Y the offsets of column and
    row from the grid's centre (n−1)/2; 0 elsewhere. The depth has kinks along the ridge and the eaves, and
    jumps at the two gable ends, which the gradient does not show.

    Examples
    --------
    >>> tent = canadian_tent()
    >>> float(tent.depth.max().round(2)), float(tent.p.max()), float(tent.q.max())
    (64.35, 1.3, 0.0)
    """
    n = as_count("n", n)
    offset = np.arange(n) - (n - 1) / 2
    X, Y = offset, offset[:, np.newaxis]
    tent = (np.abs(X) < half_length) & (np.abs(Y) < half_width)
    depth = np.where(tent, slope * (half_width - np.abs(Y)), 0.0)
    p = np.where(tent, -slope * np.sign(Y), 0.0)
    return Surface(depth, p, np.zeros((n, n)), np.ones((n, n), dtype=bool), "Canadian tent")
