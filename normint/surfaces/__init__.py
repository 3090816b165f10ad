"""Surfaces with known depth and gradient: what a reconstruction can be measured against."""

from normint.surfaces.formulas import canadian_tent, peaks, vase
from normint.surfaces.statues import bust, figurine
from normint.surfaces.surface import Surface

__all__ = ["Surface", "bust", "canadian_tent", "figurine", "peaks", "vase"]
