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
    own, nu : float
        Its parameters. ``parameter`` says which energy's model is set: this one's, until it is changed.
    solver : str
        See :class:`normint.solver.system.System`.
    tolerance : float
    steps : int
        When to stop minimising the model: by default after one step of conjugate gradients.
    kept : int
        How many models one after the other share the solver's coarse levels. Of non-convex energies, models
        minimised a little less well may end in another minimum.
    alone : int
        How many models have coarse levels of their own before others share them.
    """

    def __init__(
        self, problem, kind, own, nu=1.0, solver="multigrid", tolerance=1e-10, steps=1, kept=1, alone=0
    ):
        self.problem, self.solver, self.tolerance, self.steps = problem, solver, tolerance, steps
        self.kind, self.own, self.nu, self.kept, self.alone = kind, own, nu, kept, alone
        self.parameter = own
        self.edges = np.empty((4, *problem.mask.shape))

    def energy(self, z):
        """Return the energy at z, prior included."""
        value = pairs.energy(z, *self.problem.data, self.kind, self.own, self.nu)
        return value + self.problem.prior_energy(z)

    def look(self, z):
        """Set the model at z, and return the energy there."""
        parameters = self.parameter, self.own, self.nu
        value = pairs.model(z, *self.problem.data, self.kind, *parameters, *self.edges)
        return value + self.problem.prior_energy(z)

    def weights(self):
        """Return the weights of the edges, downwards and to the right."""
        return self.edges[0].copy(), self.edges[1].copy()

    def minimise(self, z):
        """Return a depth where the model that was set at z is lower than at z.

        Conjugate gradients started at z lower a quadratic function with every step, so a few steps will do;
        and where the model lies above the energy, which it touches at z, the energy is lower too.
        """
        kept = 1 if self.alone > 0 else self.kept
        self.alone -= 1
        return self.problem.minimise(self.edges, z, self.solver, self.tolerance, self.steps, kept)


class Descent:
    """Reweighted least squares with momentum, by way of easier energies, that never raises the energy.

    Parameters
    ----------
    model : object
        Its ``look(z)`` sets a quadratic model and returns the energy that is to be lowered, from the start of
        its ``problem``; its ``minimise(z)`` returns a depth where the model is lower.
    parameters : sequence of float
        Values for ``model.parameter``, one for each iteration; the last one from then on.

    Notes
    -----
    A step goes to the minimiser x of the model at z, and further: to x + k/(k + 3) (x - x_last), as in
    Nesterov's method. Where the energy is higher there than at z, it ends at x, and momentum begins anew. At
    x the energy cannot be higher once the last parameter is reached. Before, it may be: then z stays.

    The look at a new depth tells its energy and sets the next model at once.
    """

    def __init__(self, model, parameters=()):
        self.model, self.parameters = model, iter(parameters)
        self.last, self.momentum = model.problem.z, 0
        self._proceed()
        self.energy = model.look(self.last)

    def _proceed(self):
        parameter = next(self.parameters, None)
        self.arrived = parameter is None
        if not self.arrived:
            self.model.parameter = parameter

    def step(self, z):
        """Return the next depth and its energy, or the last ones again."""
        self.ready = self.arrived  # standing still then means that there is no way down
        new = x = self.model.minimise(z)
        self._proceed()
        if self.momentum:
            new = x + self.momentum / (self.momentum + 3) * (x - self.last)
        energy = self._look(new)
        if self.momentum and not energy <= self.energy:
            new, self.momentum = x, 0
            energy = self._look(new)
        if not energy <= self.energy:
            self.momentum = 0
            self.model.look(z)
            return z, self.energy
        self.last, self.energy = x, energy
        self.momentum += 1
        return new, energy

    def _look(self, z):
        # Compiled code takes all numbers for finite, so what is not must not get there.
        return self.model.look(z) if np.abs(z).max() < HUGE else np.inf

    def settled(self, still):
        """Tell whether the method may stop, given whether its energy stands still."""
        return still and self.ready
