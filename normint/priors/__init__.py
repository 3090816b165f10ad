"""A prior depth beside the gradient (Section 2.4): how to read it, how much to trust it, and where not to."""

from normint.priors import depth_sensor
from normint.priors.outliers import distrust_outliers
from normint.priors.weights import Choice, choose_weight, merge, misfit_and_influence, prior_noise

__all__ = [
    "Choice",
    "choose_weight",
    "depth_sensor",
    "distrust_outliers",
    "merge",
    "misfit_and_influence",
    "prior_noise",
]
