"""Variational methods for normal integration: from a gradient field, or normals, to a depth map."""

import importlib

from normint import metrics, surfaces
from normint.integration import Integration, integrate
from normint.normals import depth_to_normals, gradient_to_normals, normals_to_gradient

__version__ = "0.1.0"

__all__ = [
    "Integration",
    "depth_to_normals",
    "gradient_to_normals",
    "integrate",
    "metrics",
    "normals_to_gradient",
    "surfaces",
]


def __getattr__(name):
    """Import the modules that need scipy, numba or matplotlib when they are first asked for."""
    if name in ("domain", "euler_lagrange", "figures", "poisson", "results", "workbook"):
        return importlib.import_module(f"normint.{name}")
    raise AttributeError(f"module 'normint' has no attribute {name!r}")
