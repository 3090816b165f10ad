"""What only the notebooks need: studies, figures, panels, the table of results, and the runner."""

import lazy_loader

from normint.extras import extra

_get, __dir__, __all__ = lazy_loader.attach(__name__, ["figures", "panels", "results", "studies"])


def __getattr__(name):
    with extra("workbook", f"normint.workbook.{name}"):
        return _get(name)
