"""The workbook's pictures: functions that take results and return a `Figure`.

None of them changes a global style or shows anything; `save` writes the PNG and the PDF.
"""

from normint.workbook.figures.charts import (
    convergence,
    curves,
    domain,
    error_against_noise,
    fitted_slope,
    jump_illustration,
    noise_and_time,
    prior_weight_bias,
)
from normint.workbook.figures.depth_maps import discontinuities, error_maps, profiles
from normint.workbook.figures.images import close_ups, only_kept, pictures
from normint.workbook.figures.legibility import faults
from normint.workbook.figures.lit_surfaces import surfaces
from normint.workbook.figures.photometric import light_readings, reconstructions
from normint.workbook.figures.priors import control_points, merging, trust_maps, weight_curves, weight_scale
from normint.workbook.figures.saving import save
from normint.workbook.figures.start import decision, from_map_to_mesh, problem
from normint.workbook.figures.tables import table

__all__ = [
    "close_ups",
    "control_points",
    "convergence",
    "curves",
    "decision",
    "discontinuities",
    "domain",
    "error_against_noise",
    "error_maps",
    "faults",
    "fitted_slope",
    "from_map_to_mesh",
    "jump_illustration",
    "light_readings",
    "merging",
    "noise_and_time",
    "only_kept",
    "pictures",
    "prior_weight_bias",
    "problem",
    "profiles",
    "reconstructions",
    "save",
    "surfaces",
    "table",
    "trust_maps",
    "weight_curves",
    "weight_scale",
]
