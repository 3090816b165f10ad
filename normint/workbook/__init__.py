"""What only the notebooks need: studies, figures, panels, the table of results, and the runner."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["figures", "panels", "results", "studies"])
