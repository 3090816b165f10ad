"""The workbook's pictures: functions that take results and return a `Figure`.

None of them changes a global style or shows anything; `save` writes the PNG and the PDF.
"""

from normint.figures.charts import (
    convergence,
    curves,
    domain,
    fitted_slope,
    jump_illustration,
    noise_and_time,
    prior_weight_bias,
)
from normint.figures.depth_maps import discontinuities, error_maps, profiles, surfaces
from normint.figures.saving import save
from normint.figures.tables import table

__all__ = [
    "convergence",
    "curves",
    "discontinuities",
    "domain",
    "error_maps",
    "fitted_slope",
    "jump_illustration",
    "noise_and_time",
    "prior_weight_bias",
    "profiles",
    "save",
    "surfaces",
    "table",
]
