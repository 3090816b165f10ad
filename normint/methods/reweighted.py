"""Reweighted least squares: minimise the quadratic model of an energy, again and again."""

import numpy as np

from normint.methods import pairs

HUGE = 1e100  # no depth: its square would be beyond all numbers


class Reweighted:
    """The quadratic model of an energy of :mod:`normint.methods.pairs`, and its minimiser.

    Parameters
    ----------
    problem : Problem
    kind : int
        The energy, such as ``pairs.PHI_1``.
    parameter, nu : float
        Its parameters.
    solver : str
        See :class:`normint.solver.system.System`.
    tolerance : float
    steps : int
        When to stop minimising the model: by default after one step of conjugate gradients.
    kept : int
        How many models one after the other share the solver's coarse levels. Of non-convex energies, models
        minimised a little less well may end in another minimum.
    """

    def __init__(
        self, problem, kind, parameter, nu=1.0, solver="multigrid", tolerance=1e-10, steps=1, kept=1
    ):
        self.problem, self.solver, self.tolerance, self.steps = problem, solver, tolerance, steps
        self.kind, self.parameter, self.nu, self.kept = kind, parameter, nu, kept
        self.edges = np.empty((4, *problem.mask.shape))

    def energy(self, z):
        """Return the energy at z, prior included."""
        value = pairs.energy(z, *self.problem.data, self.kind, self.parameter, self.nu)
        return value + self.problem.prior_energy(z)

    def look(self, z):
        """Set the model at z, and return the energy there."""
        value = pairs.model(z, *self.problem.data, self.kind, self.parameter, self.nu, *self.edges)
        return value + self.problem.prior_energy(z)

    def weights(self):
        """Return the weights of the edges, downwards and to the right."""
        return self.edges[0].copy(), self.edges[1].copy()

    def minimise(self, z):
        """Return a depth where the model that was set at z is lower than at z.

        Conjugate gradients started at z lower a quadratic function with every step, so a few steps will do;
        and where the model lies above the energy, which it touches at z, the energy is lower too.
        """
        return self.problem.minimise(self.edges, z, self.solver, self.tolerance, self.steps, self.kept)


class Descent:
    """Reweighted least squares with momentum, by way of easier energies, that never raises the energy.

    Parameters
    ----------
    target : object
        Its ``energy(z)`` is what to lower, from the start of its ``problem``.
    model : object
        Its ``look(z)`` sets a quadratic model, its ``minimise(z)`` returns a depth where that is lower.
    parameters : sequence of float
        Values for ``model.parameter``, one for each iteration; the last one from then on.

    Notes
    -----
    A model is set not at z but ahead of it, at z + k/(k + 3) (z - z_last) as in Nesterov's method. A depth
    with a higher energy is not accepted: the next model is set at z itself, without momentum, where a step
    cannot fail once the last parameter is reached.
    """

    def __init__(self, target, model, parameters=()):
        self.target, self.model, self.parameters = target, model, iter(parameters)
        self.ready = True  # whether standing still means having arrived
        self.last, self.momentum = target.problem.z, 0
        self.energy = target.energy(self.last)

    def step(self, z):
        """Return the next depth and its energy, or the last ones again."""
        parameter = next(self.parameters, None)
        if parameter is not None:
            self.model.parameter = parameter
        ahead = z + self.momentum / (self.momentum + 3) * (z - self.last)
        self.model.look(ahead)
        new = self.model.minimise(ahead)
        # Compiled code takes all numbers for finite, so what is not must not get there.
        energy = self.target.energy(new) if np.abs(new).max() < HUGE else np.inf
        accepted = energy <= self.energy
        self.ready = parameter is None and (accepted or self.momentum == 0)
        self.last = z
        if not accepted:
            self.momentum = 0
            return z, self.energy
        self.momentum += 1
        self.energy = energy
        return new, energy

    def settled(self, still):
        """Tell whether the method may stop, given whether its energy stands still."""
        return still and self.ready
