from . import course as course
from . import datasets as datasets
from . import domain as domain
from . import metrics as metrics
from . import priors as priors
from . import solver as solver
from . import surfaces as surfaces
from . import workbook as workbook
from .integration import integrate as integrate
from .methods.result import Integration as Integration
from .normals.convert import depth_to_normals as depth_to_normals
from .normals.convert import gradient_to_normals as gradient_to_normals
from .normals.convert import normals_to_gradient as normals_to_gradient
from .normals.flattening import flatten as flatten
from .normals.integrate_normals import integrate_normals as integrate_normals
from .normals.photometric_stereo import photometric_stereo as photometric_stereo
from .solver.threads import set_threads as set_threads
from .tiles.integrate_tiles import integrate_tiles as integrate_tiles

__version__: str
