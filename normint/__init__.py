"""Variational methods for normal integration: from a gradient field, or normals, to a depth map."""

import importlib

from normint import metrics, surfaces
from normint.integration import Integration, integrate
from normint.normal_integration import integrate_normals
from normint.normals import depth_to_normals, gradient_to_normals, normals_to_gradient
from normint.photometric_stereo import photometric_stereo

__version__ = "0.1.0"

__all__ = [
    "Integration",
    "depth_to_normals",
    "gradient_to_normals",
    "integrate",
    "integrate_normals",
    "metrics",
    "normals_to_gradient",
    "photometric_stereo",
    "surfaces",
]


# Modules that need scipy, numba or matplotlib, which take long to import.
LATER = (
    "course", "datasets", "domain", "euler_lagrange", "figures", "interactive", "poisson", "priors",
    "rendering", "results", "workbook",
)  # fmt: skip


def __getattr__(name):
    """Import a module of `LATER` when it is first asked for."""
    if name in LATER:
        return importlib.import_module(f"normint.{name}")
    raise AttributeError(f"module 'normint' has no attribute {name!r}")
