"""What the iterative methods share: their arguments, their start, when they stop, and their result."""

import time

import numpy as np

from normint import inputs
from normint.integration import Integration
from normint.integrators import quadrants
from normint.integrators.quadratic import quadratic

SCHEMES = ("fast", "paper")


class Problem:
    """The checked arguments of an iterative method.

    Attributes
    ----------
    p, q, mask, prior, weight
        As :mod:`normint.inputs` returns them.
    data : tuple
        p, q and what :func:`normint.integrators.quadrants.neighbours` tells about the mask.
    z : ndarray
        The depth to start from, zero outside the mask.
    scheme : str
    tolerance : float
    max_iterations : int
    """

    def __init__(self, p, q, mask, prior, prior_weight, initial, scheme, tolerance, max_iterations, callback):
        self.start = time.perf_counter()
        self.p, self.q, self.mask = inputs.as_gradient(p, q, mask)
        self.prior, self.weight = inputs.as_prior(prior, prior_weight, self.mask)
        if scheme not in SCHEMES:
            raise ValueError(f"scheme is {scheme!r}; expected one of {', '.join(SCHEMES)}")
        self.scheme, self.callback = scheme, callback
        self.tolerance = 0.0 if tolerance == 0 else inputs.as_positive("tolerance", tolerance)
        self.max_iterations = inputs.as_count("max_iterations", max_iterations)
        if initial is not None:
            initial = inputs.as_field("initial", initial, self.mask)
        else:
            held = {} if self.prior is None else {"prior": self.prior, "prior_weight": self.weight}
            initial = quadratic(self.p, self.q, self.mask, **held, tolerance=1e-8).depth
        self.z = np.where(self.mask, initial, 0.0)
        self.data = self.p, self.q, *quadrants.neighbours(self.mask)

    def prior_energy(self, z):
        """Compute Σ λ (z - z⁰)²."""
        return 0.0 if self.prior is None else float(np.sum(self.weight * (z - self.prior) ** 2))

    def run(self, step, energy, model, settled=None):
        """Repeat ``z, energy = step(z)`` until the energy stands still or the iterations are used up.

        Parameters
        ----------
        step : callable
            Returns the next depth, zero outside the mask, and its energy.
        energy : float
            That of the start.
        model : object
            Its ``look(z)`` and then ``weights()`` give the weights of the edges that the method ended with.
        settled : callable, optional
            Tells whether the method may stop, given whether the energy stands still; by default when it does.

        Returns
        -------
        Integration
        """
        z, energies, converged = self.z, [energy], False
        for iteration in range(1, self.max_iterations + 1):
            z, energy = step(z)
            energies.append(energy)
            if self.callback is not None:
                self.callback(iteration, energy)
            still = self.tolerance and abs(energies[-2] - energy) <= self.tolerance * abs(energy)
            if still if settled is None else settled(still):
                converged = True
                break
        model.look(z)
        depth = np.where(self.mask, z, np.nan)
        _center(depth, self.mask, self.weight)
        return Integration(
            depth=depth,
            energies=np.array(energies),
            iterations=iteration,
            converged=converged,
            seconds=time.perf_counter() - self.start,
            weights=model.weights(),
        )


def _center(depth, mask, weight):
    """Give each connected component that no prior holds zero mean."""
    from normint.poisson import Constants

    Constants(mask, weight).remove(depth)
