"""How sure it is that an edge is a jump, or that it is none."""

import numpy as np

# Logistic regressions on the sculptures to learn from: of the edges called so sure, so many are right there.
# (`normint.workbook.studies.jumps.recalibration` tells by how much they would have to change.)
# A jump is the surer, the higher it is and the likelier it was; an edge that holds, the unlikelier.
OF_CUT, BY_HEIGHT = 3.5, 0.32
OF_HELD, BY_PRICE = -2.2, 0.62


def confidence(cut, beyond, price):
    """Return the probability that each edge is rightly called a jump, or rightly not.

    Parameters
    ----------
    cut : ndarray of bool
        Whether it is called a jump.
    beyond : ndarray
        By how many pixels the surface jumps there beyond what the slopes explain.
    price : ndarray
        C of the edge, see :func:`normint.methods.calibrated.edges.look`, for the sign of its residual.

    Examples
    --------
    A jump of 20 pixels at a contour, one of half a pixel on smooth ground, and smooth ground itself:

    >>> cut, beyond, price = np.array([True, True, False]), np.array([20.0, 0.6, 0]), np.array([4.0, 15, 15])
    >>> confidence(cut, beyond, price).round(2)
    array([0.97, 0.22, 1.  ])
    """
    height = np.log(2.0 * np.maximum(beyond, 0.5))
    log_odds = np.where(cut, OF_CUT + BY_HEIGHT * (height - price), OF_HELD + BY_PRICE * price)
    return 1.0 / (1.0 + np.exp(-log_odds))
