"""Compare rules that choose the weight λ of a prior with the best λ, which only the truth shows."""

from dataclasses import dataclass

import numpy as np

from normint.metrics import absolute_error
from normint.priors.weights import Choice, choose_weight, merge, misfit_and_influence

__all__ = ["Study", "study_weights"]


@dataclass(frozen=True, eq=False)
class Study:
    """The error for many λ, and what each rule makes of the data.

    Attributes
    ----------
    weights, errors : ndarray
        λ, and the error of the merged depth for each.
    marks : dict
        From a rule's name to its (λ, error).
    choice : Choice
        Of the first rule, the one of :func:`normint.priors.choose_weight`.
    depth : ndarray
        The depth merged with that choice.
    """

    weights: np.ndarray
    errors: np.ndarray
    marks: dict
    choice: Choice
    depth: np.ndarray

    def ratio(self, rule):
        """Return the error of a rule relative to the smallest one seen, its own included."""
        smallest = min([self.errors.min(), *(error for _, error in self.marks.values())])
        return float(self.marks[rule][1] / smallest)


def study_weights(p, q, prior, truth, mask=None, *, weights, rng, size=1, to_depth=np.asarray):
    """Merge with many λ, and with those that four rules choose without the truth.

    Parameters
    ----------
    p, q, prior, mask, rng, size
        As for :func:`normint.priors.choose_weight`.
    truth : array_like
        The true depth, finite in the mask.
    weights : sequence of float
        λ to try, in rising order.
    to_depth : callable
        Turns what was integrated into a depth comparable with the truth; see :mod:`normint.normals.camera`.

    Returns
    -------
    Study
        Its rules are "our rule", "noise of the slopes only" (σ_g²/σ_z²), "cross-validation" (generalised) and
        "discrepancy" (the smallest λ whose misfit is at most σ_z²).

    Examples
    --------
    >>> from normint.surfaces import peaks
    >>> rng = np.random.default_rng(0)
    >>> surface = peaks(48)
    >>> noisy = surface.with_noise(0.2, rng)
    >>> prior = surface.depth + 0.5 * rng.standard_normal((48, 48))
    >>> weights = 10.0 ** np.arange(-4, 3)
    >>> study = study_weights(noisy.p, noisy.q, prior, surface.depth, weights=weights, rng=rng)
    >>> study.ratio("our rule") < 1.1
    True
    """
    weights = np.asarray(weights, dtype=np.float64)
    choice = choose_weight(p, q, prior, mask, rng=rng, size=size)
    misfit, influence = misfit_and_influence(p, q, prior, mask, weights=weights, rng=rng, size=size)
    fits = np.flatnonzero(misfit <= choice.prior_noise**2)
    chosen = {
        "our rule": choice.weight,
        "noise of the slopes only": choice.noise_weight,
        "cross-validation": weights[np.argmin(misfit / (1 - influence) ** 2)],
        "discrepancy": weights[fits[0] if fits.size else -1],
    }

    def merged(weight):
        return to_depth(merge(p, q, prior, mask, weight=weight, size=size))

    marks = {rule: (float(w), absolute_error(merged(w), truth, mask)) for rule, w in chosen.items()}
    errors = np.array([absolute_error(merged(weight), truth, mask) for weight in weights])
    return Study(weights, errors, marks, choice, merged(choice.weight))
