"""A prior depth beside the gradient (Section 2.4): how to read it, how much to trust it, and where not to."""

from normint.priors import depth_sensor
from normint.priors.holding import Held, hold
from normint.priors.outliers import distrust_outliers
from normint.priors.weights import Choice, choose_weight, merge, misfit_and_influence, prior_noise

__all__ = [
    "Choice",
    "Held",
    "choose_weight",
    "depth_sensor",
    "distrust_outliers",
    "hold",
    "merge",
    "misfit_and_influence",
    "prior_noise",
]
