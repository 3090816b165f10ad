"""Panels to play with: change a number, draw a mask, turn the surface.

Each function returns a panel that shows itself at the end of a notebook cell. Where nobody watches, in
headless runs, it shows its first state as a picture and a surface that can be turned, and does nothing more.
"""

import lazy_loader

# Imported when first used: widgets and figures take long to import.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "masks": ["mask_panel"],
        "generated": ["jump_panel", "peaks_panel", "start_panel", "vase_panel"],
        "photographs": ["control_points_panel", "lights_panel"],
    },
)
