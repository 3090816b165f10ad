"""The checks of the course in `notebooks/exercises`, and what its exercises start from.

Each ``check_…`` takes a student's function, tries it on small cases, prints what is wrong and why, and
returns whether it is right. The page for teachers, `notebooks/exercises/README.md`, lists the mistakes they
know.
"""

from normint.course.assembly import check_solution, check_system
from normint.course.checking import Mistake, Task, ready
from normint.course.diffusion import check_fixed_point, check_weighted_system, check_weights
from normint.course.discretisation import check_forward_differences, check_functional, check_numbering
from normint.course.estimators import (
    check_energy_and_gradient,
    check_finite_differences,
    check_phi1,
    check_phi2,
)
from normint.course.given import by_package, factorised, least_squares, pairs, readings, solve
from normint.course.multigrid import check_coarse_matrix, check_cycle, check_prolongation, check_smoother
from normint.course.mumford_shah import check_alternation, check_energy, check_indicator
from normint.course.mumford_shah import check_depth_system as check_indicated_system
from normint.course.open_problem import (
    check_edge_weights,
    check_method,
    check_score,
    contest,
    errors,
)
from normint.course.photometric import check_noise_gain, check_normals, check_shadows, check_slopes
from normint.course.priors import check_constraint, check_merge, check_noise_weight, check_prior_image
from normint.course.total_variation import check_depth_system, check_shrinkage, check_update

# The tasks of each exercise, in their order.
EXERCISES = {
    1: (check_numbering, check_forward_differences, check_functional),
    2: (check_system, check_solution),
    3: (check_shrinkage, check_update, check_depth_system),
    4: (check_phi1, check_phi2, check_finite_differences, check_energy_and_gradient),
    5: (check_weights, check_weighted_system, check_fixed_point),
    6: (check_indicator, check_indicated_system, check_energy, check_alternation),
    7: (check_normals, check_shadows, check_slopes, check_noise_gain),
    8: (check_prior_image, check_merge, check_noise_weight, check_constraint),
    9: (check_smoother, check_prolongation, check_coarse_matrix, check_cycle),
    10: (check_score, check_edge_weights, check_method),
}

__all__ = [
    "EXERCISES",
    "Mistake",
    "Task",
    "by_package",
    "check_alternation",
    "check_coarse_matrix",
    "check_constraint",
    "check_cycle",
    "check_depth_system",
    "check_edge_weights",
    "check_energy",
    "check_energy_and_gradient",
    "check_finite_differences",
    "check_fixed_point",
    "check_forward_differences",
    "check_functional",
    "check_indicated_system",
    "check_indicator",
    "check_merge",
    "check_method",
    "check_noise_gain",
    "check_noise_weight",
    "check_normals",
    "check_numbering",
    "check_phi1",
    "check_phi2",
    "check_prior_image",
    "check_prolongation",
    "check_score",
    "check_shadows",
    "check_shrinkage",
    "check_slopes",
    "check_smoother",
    "check_solution",
    "check_system",
    "check_update",
    "check_weighted_system",
    "check_weights",
    "contest",
    "errors",
    "factorised",
    "least_squares",
    "pairs",
    "readings",
    "ready",
    "solve",
]
