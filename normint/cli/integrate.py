"""`normint integrate`: from the files of a normal map to the files of a depth map."""

import re
import sys
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from normint import paths
from normint.cli import parsing
from normint.cli.parsing import UsageError
from normint.cli.printing import CannotPrint, complain, one_line, say
from normint.normals.maps import NormalMap

MESHES = ("ply", "obj", "stl", "glb")
HEIGHT_MAPS = ("png8", "png16", "tiff", "tiff32", "exr")
# Bytes that the methods take for each pixel of the rectangle around the mask, as measured, and a mesh of it.
MEMORY = {"quadratic": 130, "dct": 40, "sylvester": 65, "calibrated": 480}
MEMORY_OF_OTHERS, MEMORY_OF_MESH, MEMORY_OF_OBJ, MEMORY_OF_SLOPES = 250, 700, 1300, 20

DESCRIPTION = "Integrate a normal map into a depth map."
EPILOG = """
PATH is a folder with normal_map.png and, if there are any, mask.png and K.txt, or the file of a normal map:
PNG or TIFF of 8 or 16 bits; TIFF, EXR, NPY, NPZ or MAT of real numbers. Without a mask, black, grey and zero
are outside. With a camera the depth is the distance along its axis, up to a factor; without one it is in
pixels, towards the camera.

report.json is written last: where it is, all files are. If a run is killed between, the next one completes
them. --force replaces plain files that report.json lists, nothing else.

Exit codes: 0 done, 1 it could not be done, 2 wrong usage, 3 written, but the method did not converge (but 0
with scheme=paper or tolerance=0, which ask for iterations), 130 interrupted. Nothing is half written.
"""


def add_integrate(commands):
    """Add the subcommand and its options."""
    from argparse import RawDescriptionHelpFormatter

    parser = commands.add_parser(
        "integrate", help="integrate a normal map: a depth map, a mesh, a picture", description=DESCRIPTION,
        epilog=_epilog, formatter_class=RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("path", metavar="PATH", help="folder, or normal map")
    add("--mask", metavar="FILE", help="where to integrate: the bright part of an image, or NPY, NPZ, MAT")
    add("--camera", metavar="FILE", help="3x3 matrix K of a perspective camera, as text; or 'none'")
    add("--axes", default="xyz", metavar="NAME",
        help="directions of the components (%(default)s); a wrong name lists them")  # fmt: skip
    add("--variable", metavar="NAME", help="array of an NPZ, MAT or EXR file that has several")
    add("--method", default="quadratic", metavar="NAME", help="how (%(default)s), see below")
    add("--option", action="append", default=[], metavar="NAME=VALUE",
        help="of the method, such as mu=45 or max_iterations=200 (repeatable)")  # fmt: skip
    add("--prior", metavar="FILE", help="depth to stay close to, NaN where unknown (0 in images)")
    add("--prior-weight", type=float, metavar="NUMBER", help="how close")
    add("--out", default="normint-out", metavar="DIR",
        help="where to write depth.npy and report.json (%(default)s)")  # fmt: skip
    add("--png", action="store_true", help="also depth.png, 16 bits; report.json has the scale")
    add("--tiff", action="store_true", help="also depth.tiff, 16 bits")
    add("--mesh", action="append", default=[], metavar="FORMAT",
        help=f"also a mesh, cut where the method found jumps: {', '.join(MESHES)} (repeatable)")  # fmt: skip
    # Surfaces worth keeping: see finishing.py.
    add("--mesh-cut", choices=("jumps", "never"),
        help="open the mesh at jumps that the method found, or never (jumps; never for a solid)")  # fmt: skip
    add("--triangles", type=int, metavar="NUMBER", help="of the mesh, about; few where it is flat (all)")
    add("--texture", metavar="FILE", help="photograph or albedo of the same view for the mesh: glb, obj")
    add("--mm-per-pixel", type=float, metavar="NUMBER", help="makes meshes in mm (glb in m, its unit)")
    add("--dpi", type=float, metavar="NUMBER", help="the same, by pixels per inch")
    add(
        "--base",
        metavar="HEIGHT",
        help="close the mesh to a solid with a floor so far (mm, pixels) behind it",
    )
    add("--solid", dest="base", action="store_const", const="auto", help="the same, 5%% of the longer side")
    add("--height-map", action="append", default=[], metavar="KIND",
        help=f"also a height map, white is near: {', '.join(HEIGHT_MAPS)} (repeatable)")  # fmt: skip
    add("--height-near", choices=("white", "black"), default="white", help="what near is (%(default)s)")
    add("--tile", action="store_true", help="a texture that repeats: opposite sides meet (method dct)")
    add("--flatten", metavar="SHAPE", help="remove the slow bend: plane, quadric or highpass:PIXELS")
    add("--flatten-points", metavar="POINTS",
        help="remove the plane through pixels: 'row,column row,column row,column', or a CSV")  # fmt: skip
    add("--preview", action="store_true", help="also preview.png, the surface lit and its depth in colours")
    add("--force", action="store_true", help="replace files of an earlier run, as report.json lists them")
    add("--json", action="store_true", help="print the report, and nothing else")
    add("--quiet", action="store_true", help="print errors only")
    parser.set_defaults(command=integrate)


def _epilog():
    from normint.integration import METHODS

    def line(name, method):
        option = f", with --option {method.option}=NUMBER" if method.option else ""
        return f"  {name:22} {method.label}{option}"

    methods = "\n".join(line(*item) for item in METHODS.items())
    return f"{EPILOG}\nmethods:\n{methods}\n"


@dataclass
class Task:
    """What the files and options of one command line amount to."""

    seen: NormalMap
    camera: np.ndarray | None
    prior: np.ndarray | None
    options: dict
    settings: dict  # as they go into the report
    notes: list = field(default_factory=list)  # what the user should know
    finish: Any = None  # a Finish: what to make of the depth


def integrate(arguments):
    """Integrate, and return the exit code."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # what matters of it is seen in the result
            return _integrate(arguments)
    except MemoryError:
        what = f"{arguments.path} is too large for the memory"
    except (ValueError, OSError, ArithmeticError) as error:
        what = error
    complain(f"error: {what}")
    return 1


def _integrate(arguments):
    from normint.cli.finishing import Finish, finished
    from normint.cli.outputs import check_free, clear, planned, report, write
    from normint.integration import iterations_are_asked_for

    finish = Finish.of(arguments)
    options = _check_usage(arguments)
    files = planned(arguments)
    completed = clear(arguments.out)
    check_free(files, force=arguments.force)
    start = time.perf_counter()
    task = _read(arguments, options)
    task.finish = finish
    finish.check(task)
    reading = time.perf_counter() - start
    if completed:
        task.notes.append(f"a killed run left {arguments.out} incomplete; its files were completed first")
    result = finished(task, _solve(arguments, task))
    finish.make_surface(task, result, arguments.mesh)
    summary = report(task, result, files, reading)
    write(files, task, result, summary, force=arguments.force)
    _tell(arguments, summary)
    return 0 if result.converged or iterations_are_asked_for(task.options) else 3


def _check_usage(arguments):
    """Refuse what no file could make right, and return the options of the method."""
    from normint.integration import METHODS
    from normint.normals.maps import directions

    if arguments.method not in METHODS:
        raise UsageError(f"--method is {arguments.method!r}; expected one of {', '.join(METHODS)}")
    try:
        directions(arguments.axes)
    except ValueError as error:
        raise UsageError(f"--{error}") from None
    for value in arguments.mesh:
        if value.lower().removeprefix(".") not in MESHES:
            raise UsageError(f"--mesh is {value!r}; expected one of {', '.join(MESHES)}")
    weight = arguments.prior_weight
    if (arguments.prior is None) != (weight is None):
        raise UsageError("--prior and --prior-weight go together; one of them is missing")
    if weight is not None and not 0 < weight < np.inf:
        raise UsageError(f"--prior-weight is {weight}; expected a finite number > 0")
    return parsing.parse_options(arguments.method, arguments.option)


def _read(arguments, options):
    """Read all files; refuse those that do not fit together."""
    from normint.files.normal_maps import read_depth, read_stored
    from normint.files.reading import check_room

    named = {name: getattr(arguments, name) for name in ("mask", "camera", "variable")}
    stored = read_stored(arguments.path, **named)
    shape = stored.normals.shape[:2]
    prior = None if arguments.prior is None else read_depth(arguments.prior, shape)
    settings = {
        "normals": str(stored.paths["normals"]),
        "mask": None if stored.mask is None else str(stored.paths["mask"]),
        "camera": None if stored.camera is None else stored.camera.tolist(),
        "axes": arguments.axes,
        "method": arguments.method,
        "options": dict(options),
        "prior": arguments.prior,
        "prior_weight": arguments.prior_weight,
    }
    if isinstance(options.get("initial"), str):
        options["initial"] = read_depth(options["initial"], shape)
    check_room(f"{arguments.path} of {shape[0]} × {shape[1]} pixels", MEMORY_OF_SLOPES * shape[0] * shape[1])
    of_the_map = {name: options.pop(name) for name in ("least_cosine", "steepest") if name in options}
    seen = NormalMap.decoded(stored.normals, stored.mask, stored.camera, axes=arguments.axes, **of_the_map)
    stored.check(seen.domain)
    task = Task(seen, stored.camera, prior, options, settings)
    if seen.missing:
        task.notes.append(f"{seen.missing} pixels of the mask have no normal and were left out")
    return task


def _solve(arguments, task):
    """Integrate; what goes wrong because of flipped axes is said together with the axes that would do."""
    from normint.domain import bounding_box
    from normint.files.reading import check_room
    from normint.integration import iterations_are_asked_for
    from normint.normals.axes import axes_warning
    from normint.normals.integrate_normals import integrate_map

    seen = task.seen
    rows, columns = seen.domain[bounding_box(seen.domain)].shape
    in_words = arguments.triangles is None and any("obj" in suffix.lower() for suffix in arguments.mesh)
    of_mesh = (MEMORY_OF_OBJ if in_words else MEMORY_OF_MESH) if arguments.mesh else 0
    each = MEMORY.get(arguments.method, MEMORY_OF_OTHERS) + of_mesh
    what = f"{arguments.path} of {rows} × {columns} pixels, integrated by {arguments.method},"
    check_room(what, each * rows * columns)
    flipped = axes_warning(seen)
    prior = {} if task.prior is None else {"prior": task.prior, "prior_weight": arguments.prior_weight}
    try:
        seen.refuse_away()
        with _progress(arguments, task.options) as callback:
            result = integrate_map(seen, arguments.method, **prior, **task.options, **callback)
    except ValueError as error:
        text = f"{error}; {flipped}" if flipped else error
        raise ValueError(_as_on_the_command_line(text)) from error
    if not np.isfinite(result.depth[seen.mask]).all():
        raise ValueError("the depth came out as NaN or infinite; expected options that are less extreme")
    if flipped:
        task.notes.append(_as_on_the_command_line(flipped))
    if not (result.converged or iterations_are_asked_for(task.options)):
        task.notes.append(
            f"not converged after {result.iterations} iterations; --option max_iterations=N allows more"
        )
    return result


def _as_on_the_command_line(text):
    """Turn advice about arguments into advice about options.

    Examples
    --------
    >>> _as_on_the_command_line("try axes='opencv' or least_cosine=0.05")
    "try --axes 'opencv' or --option least_cosine=0.05"
    """
    text = re.sub(r"\baxes=('[^']*')", r"--axes \1", str(text))
    return re.sub(r"\b(\w+)=(?=[\d.])", r"--option \1=", text)


@contextmanager
def _progress(arguments, options):
    """Yield a callback that draws a bar in a terminal, as far as the method says where it is."""
    if not parsing.takes_callback(arguments.method):
        yield {}
        return
    from tqdm import tqdm

    total = options.get("max_iterations", parsing.known_options(arguments.method).get("max_iterations"))
    hidden = arguments.quiet or not sys.stderr.isatty() or paths.in_ci()
    with tqdm(total=total, desc=arguments.method, file=sys.stderr, leave=False, disable=hidden) as bar:
        yield {"callback": lambda iteration, value: bar.update(iteration - bar.n)}


def _tell(arguments, summary):
    """Print what came of it."""
    from normint.cli.finishing import lines as finishing_lines
    from normint.cli.outputs import as_text

    if not arguments.quiet:
        for note in summary["warnings"]:
            complain(f"warning: {note}")
    seconds, method = summary["seconds"]["integration"], summary["settings"]["method"]
    lines = [f"{method}: {summary['pixels']} pixels, {summary['iterations']} iterations, {seconds:.2g} s"]
    lines += finishing_lines(summary)
    lines += [one_line(f"wrote {file}") for file in summary["files"]]
    try:
        if arguments.json:
            say(as_text(summary))
        elif not arguments.quiet:
            say("\n".join(lines))
    except CannotPrint as error:
        raise CannotPrint(f"{error}; the files are written") from error
