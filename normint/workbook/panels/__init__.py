"""Panels to play with: change a number, draw a mask, turn the surface.

Each function returns a panel that shows itself at the end of a notebook cell. Where nobody watches, in
headless runs, it shows its first state as a picture and a surface that can be turned, and does nothing more.
"""

import importlib

# Where each panel lives. Modules are imported when first used: widgets and figures take long to import.
PANELS = {
    "mask_panel": "masks",
    "peaks_panel": "generated",
    "vase_panel": "generated",
    "start_panel": "generated",
    "lights_panel": "photographs",
    "control_points_panel": "photographs",
    "Panel": "panel",
}

__all__ = list(PANELS)


def __getattr__(name):
    """Import a panel when it is first asked for."""
    if name in PANELS:
        return getattr(importlib.import_module(f"normint.workbook.panels.{PANELS[name]}"), name)
    raise AttributeError(f"module 'normint.workbook.panels' has no attribute {name!r}")
