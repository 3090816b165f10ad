"""Variational methods for normal integration: from a gradient field, or normals, to a depth map."""

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
