"""All that notebook 09 uses, in one import: who opens it wants to see a surface, not a list of names."""

import subprocess
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import normint
from normint.datasets import depth_and_normals, read_normal_map
from normint.datasets.writing import write_normal_map
from normint.domain import bounding_box
from normint.files.images import read_image
from normint.files.meshes import mesh, write_mesh
from normint.files.normal_maps import read_stored
from normint.integration import METHODS
from normint.metrics import rmse
from normint.normals.axes import AXES, guess_axes
from normint.normals.camera import Perspective
from normint.workbook import figures
from normint.workbook.figures.interactive_3d import WithPicture, surface_3d
from normint.workbook.published import published
from normint.workbook.results import record
from normint.workbook.study.metrics import aligned_error

__all__ = [
    "AXES", "METHODS", "Path", "Perspective", "WithPicture", "aligned_error", "bounding_box",
    "depth_and_normals", "example", "figures", "guess_axes", "mesh", "normint", "np", "published",
    "read_image", "read_normal_map", "read_stored", "record", "replace", "rmse", "subprocess", "surface_3d",
    "sys", "warnings", "write_mesh",
]  # fmt: skip


def example(surface):
    """Write the normal map of a surface, as people have them, into a new folder, and return the folder."""
    folder = Path(tempfile.mkdtemp()) / "example"
    write_normal_map(folder, normint.gradient_to_normals(surface.p, surface.q), surface.mask)
    return folder
