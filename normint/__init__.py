"""Variational methods for normal integration: from a gradient field, or normals, to a depth map.

The public names are listed in `__init__.pyi` and imported when first used, so that `import normint` takes no
time, and `normint --help` neither.
"""

import lazy_loader

__version__ = "0.3.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
