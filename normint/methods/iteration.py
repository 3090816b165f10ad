"""What the iterative methods share: their arguments, their start, when they stop, and their result."""

import time

import numpy as np

from normint import inputs
from normint.methods import pairs
from normint.methods.quadratic import quadratic
from normint.methods.result import Integration
from normint.solver.pieces import Pieces
from normint.solver.system import System

SCHEMES = ("fast", "paper")


class Problem:
    """The checked arguments of an iterative method.

    Attributes
    ----------
    p, q, mask, prior, weight
        As :mod:`normint.inputs` returns them.
    data : tuple
        p, q and what :func:`normint.methods.pairs.neighbours` tells about the mask.
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
        self.data = self.p, self.q, *pairs.neighbours(self.mask)
        self._system, self._uses = None, 0

    def prior_energy(self, z):
        """Compute Σ λ (z - z⁰)²."""
        return 0.0 if self.prior is None else float(np.sum(self.weight * (z - self.prior) ** 2))

    def rounding(self, weight=1.0):
        """Return what rounding leaves of a sum of squared residuals: to go on below is of no use."""
        return 1e-24 * np.where(self.mask, weight * (self.p**2 + self.q**2), 0.0).sum()

    def minimise(self, edges, z, solver, tolerance, steps, kept=1):
        """Return the minimiser of a quadratic model, or a depth on the way there from z.

        Parameters
        ----------
        edges : ndarray
            Of shape 4×rows×cols: weights and fluxes of the edges, each downwards and to the right.
        z : ndarray
            The depth to start from.
        solver, tolerance, steps
            See :class:`normint.solver.system.System` and its ``solve``; steps are its iterations.
        kept : int
            How many systems one after the other share the solver's coarse levels.
        """
        if self._uses % kept == 0:
            self._system = System(self.mask, edges[:2], self.weight, solver=solver, raise_weak=True)
        else:
            self._system.reweight(edges[:2])
        self._uses += 1
        solution = self._system.solve(
            *edges[2:], self.prior, initial=z, tolerance=tolerance, max_iterations=steps
        )
        return np.where(self.mask, solution.depth, 0.0)

    def run(self, step, energy, model, settled=None, descends=True, least=-np.inf):
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
        descends : bool
            Whether the method is there to lower its energy. Then a depth whose energy is above that of the
            start, or is no number, is never returned, but the start itself, as not converged.
        least : float
            An energy that counts as standing still.

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
            change = abs(energies[-2] - energy)
            still = energy <= least or (self.tolerance and change <= self.tolerance * abs(energy))
            if still if settled is None else settled(still):
                converged = True
                break
        if descends and not energy <= energies[0]:
            z, converged = self.z, False
            energies.append(energies[0])
        model.look(z)
        depth = np.where(self.mask, z, np.nan)
        Pieces(self.mask, diagonal=self.weight).settle(depth, self.prior)
        # The constant of each piece matters to λ alone: the last energy is that of the depth as it is given.
        # The one that costs least cannot raise it; what seems to is rounding.
        energies[-1] += min(self.prior_energy(np.where(self.mask, depth, 0.0)) - self.prior_energy(z), 0.0)
        return Integration(
            depth=depth,
            energies=np.array(energies),
            iterations=iteration,
            converged=converged,
            seconds=time.perf_counter() - self.start,
            weights=model.weights(),
        )
