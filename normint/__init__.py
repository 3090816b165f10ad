"""Variational methods for normal integration: from a gradient field, or normals, to a depth map."""

import importlib

from normint import metrics, surfaces
from normint.integration import Integration, integrate
from normint.normals.convert import depth_to_normals, gradient_to_normals, normals_to_gradient
from normint.normals.integrate_normals import integrate_normals
from normint.normals.photometric_stereo import photometric_stereo

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
LATER = ("course", "datasets", "domain", "priors", "solver", "workbook")


def __getattr__(name):
    """Import a module of `LATER` when it is first asked for."""
    if name in LATER:
        return importlib.import_module(f"normint.{name}")
    raise AttributeError(f"module 'normint' has no attribute {name!r}")
