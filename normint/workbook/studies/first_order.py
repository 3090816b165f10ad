"""Total variation by algorithms that solve no system: primal-dual and FISTA; and its generalisation, TGV."""

import numpy as np

from normint.inputs import as_count, as_gradient, as_positive

__all__ = ["fista", "generalised_variation", "primal_dual"]


def primal_dual(p, q, *, iterations=500, callback=None, step=10.0):
    """Minimise the isotropic total variation of ∇z - g by the algorithm of Chambolle and Pock.

    Parameters
    ----------
    p, q : array_like
        On a full rectangle.
    iterations : int
    callback : callable, optional
        Called as ``callback(iteration, energy)``, with the energy of :func:`normint.integrate`.
    step : float
        That of the depth; that of the dual variables is as large as convergence allows.

    Notes
    -----
    E(z) = max of ⟨Kz - g, y⟩ over ‖y‖ ≤ ¼, where K stacks the gradients of the four kinds ∇^{UV}. In turn, y
    goes uphill and is projected, z goes downhill, and the next y sees z extrapolated.
    """
    p, q, _ = as_gradient(p, q)
    step = as_positive("step", step)
    z = ahead = np.zeros(p.shape)
    y = np.zeros((4, 2, *p.shape))
    for k in range(as_count("iterations", iterations)):
        y += _residuals(ahead, p, q) / (32 * step)
        y /= np.maximum(4 * np.hypot(y[:, 0], y[:, 1])[:, np.newaxis], 1)
        before, z = z, z - step * _adjoint(y)
        ahead = 2 * z - before
        if callback:
            callback(k + 1, _energy(z, p, q))
    return z


def fista(p, q, *, iterations=500, delta=0.05, callback=None):
    """Minimise total variation, made differentiable by √(s² + δ²), by the accelerated gradient method.

    Parameters are as for `primal_dual`. FISTA needs a gradient that does not jump, hence δ.
    """
    p, q, _ = as_gradient(p, q)
    delta = as_positive("delta", delta)
    z = ahead = np.zeros(p.shape)
    momentum = 1.0
    for k in range(as_count("iterations", iterations)):
        r = _residuals(ahead, p, q)
        r *= 0.25 / np.sqrt(r[:, 0] ** 2 + r[:, 1] ** 2 + delta**2)[:, np.newaxis]
        before, z = z, ahead - delta / 8 * _adjoint(r)
        following = 0.5 + np.sqrt(0.25 + momentum**2)
        ahead, momentum = z + (momentum - 1) / following * (z - before), following
        if callback:
            callback(k + 1, _energy(z, p, q))
    return z


def generalised_variation(p, q, *, weight=2.0, iterations=2000, step=10.0):
    """Integrate by the second-order total generalised variation of ∇z - g.

    Parameters
    ----------
    p, q : array_like
        On a full rectangle.
    weight : float
        Of the second order against the first; infinite for total variation itself.
    iterations : int
    step : float
        As for `primal_dual`.

    Returns
    -------
    ndarray

    Notes
    -----
    min over z and w of Σ ‖∇z - g - w‖ + weight Σ ‖∇w‖, with forward differences, by the algorithm of
    Chambolle and Pock. A residual that changes slowly costs little, where total variation would make a
    step of it. A constant w costs nothing, so that a tilt of the surface is free: the one is taken whose w
    has zero mean.
    """
    p, q, _ = as_gradient(p, q)
    g = np.stack([p, q])
    inside = np.ones((2, *p.shape))
    inside[0, -1], inside[1, :, -1] = 0, 0
    z, w = np.zeros(p.shape), np.zeros((2, *p.shape))
    z_ahead, w_ahead, y, s = z, w, np.zeros_like(w), np.zeros((2, *w.shape))
    bounded = weight != np.inf and as_positive("weight", weight) > 0
    ascent = 1 / (13 * step)  # ‖(∇, -1; 0, ∇)‖² is at most 12.2
    for _ in range(as_count("iterations", iterations)):
        y += ascent * inside * (_forward(z_ahead) - g - w_ahead)
        y /= np.maximum(np.hypot(*y), 1)
        before, z = z, z - step * _backward(y)
        z_ahead = 2 * z - before
        if bounded:
            s += ascent * np.stack([_forward(part) for part in w_ahead])
            s /= np.maximum(np.sqrt((s**2).sum(axis=(0, 1))) / weight, 1)
            before, w = w, w - step * (np.stack([_backward(part) for part in s]) - inside * y)
            w_ahead = 2 * w - before
    u, v = np.indices(z.shape)
    tilt = w.mean(axis=(1, 2))
    return z - tilt[0] * u - tilt[1] * v


def _forward(z):
    """Return the forward differences, zero in the last row or column."""
    d = np.zeros((2, *z.shape))
    d[0, :-1], d[1, :, :-1] = np.diff(z, axis=0), np.diff(z, axis=1)
    return d


def _backward(y):
    """Apply the adjoint of `_forward`."""
    result = np.zeros(y.shape[1:])
    result[:-1] -= y[0, :-1]
    result[1:] += y[0, :-1]
    result[:, :-1] -= y[1, :, :-1]
    result[:, 1:] += y[1, :, :-1]
    return result


def _residuals(z, p, q):
    """Return ∇^{UV}z - g of the four kinds, both parts zero where one does not exist."""
    down, right = _forward(z)
    u = [down - p, np.roll(down, 1, axis=0) - p]
    v = [right - q, np.roll(right, 1, axis=1) - q]
    r = np.stack([np.stack([one, other]) for one in u for other in v])
    return r * _there(z.shape)


def _adjoint(y):
    """Apply the adjoint of z ↦ ∇^{UV}z."""
    y = y * _there(y.shape[2:])
    down = y[0, 0] + y[1, 0] + np.roll(y[2, 0] + y[3, 0], -1, axis=0)
    right = y[0, 1] + y[2, 1] + np.roll(y[1, 1] + y[3, 1], -1, axis=1)
    return _backward(np.stack([down, right]))


def _there(shape):
    """Return 1 where both differences of a pair exist, 0 elsewhere: down or up, each with right or left."""
    u, v = np.ones((2, 2, *shape))
    u[0, -1], u[1, 0], v[0, :, -1], v[1, :, 0] = 0, 0, 0, 0
    return np.stack([one * other for one in u for other in v])[:, np.newaxis]


def _energy(z, p, q):
    r = _residuals(z, p, q)
    return 0.25 * float(np.hypot(r[:, 0], r[:, 1]).sum())
