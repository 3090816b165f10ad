"""`normint integrate`: from the files of a normal map to the files of a depth map."""

import copy
import re
import sys
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from normint import paths
from normint.cli import parsing
from normint.cli.cameras import camera_file, camera_of, check_camera
from normint.cli.parsing import UsageError
from normint.cli.printing import CannotPrint, complain, say
from normint.cli.priors import check_prior, compare_with_prior, hold_task, read_prior, settings_of_prior
from normint.cli.tiles import check_tiles, in_tiles
from normint.normals.lens import NearLens
from normint.normals.maps import NormalMap

MESHES = ("ply", "obj", "stl", "glb")
HEIGHT_MAPS = ("png8", "png16", "tiff", "tiff32", "exr")
# Bytes that meshes take for each pixel of the rectangle around the mask, as measured, and slopes.
MEMORY_OF_MESH, MEMORY_OF_OBJ, MEMORY_OF_SLOPES = 700, 1300, 20

DESCRIPTION = "Integrate a normal map into a depth map."
EPILOG = """
PATH is a folder with normal_map.png and, if there are any, mask.png and K.txt, or the file of a normal map:
PNG, TIFF, JPEG or WebP of 8 or 16 bits; TIFF, EXR, HDR, NPY, NPZ or MAT of real numbers. Without a mask, what
is transparent, black, grey, white or zero is outside. --axes auto takes the axes that the normals support,
says which, and asks where they do not tell. With a camera the depth is the distance along its axis (z), as
depth cameras measure it, or along each ray (--depth ray), as laser scanners do. Normals do not tell the size
of a scene: without a prior or points the mean is 1, with them the depth is in their units. Without a camera
it is in pixels, towards the viewer.

Without --out, map.png becomes map_depth.npy, map.glb, map_preview.png and map_report.json beside it. With it,
DIR gets depth.npy, report.json, and what the options ask for.

Several maps (paths, a folder of maps, the frames of a video) make a table. What fails is told, and the rest
done; what was made before, in the same way, is skipped. With --out each has a folder of its own in DIR.

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
    add(
        "path", nargs="+", metavar="PATH", help="folder, or normal map; several, a folder of maps, or a video"
    )
    add("--mask", metavar="FILE", help="where to integrate: the bright part of an image, or NPY, NPZ, MAT")
    add("--camera", metavar="FILE", help="3x3 matrix K of a perspective camera, as text; or 'none'")
    # The normal map as it comes: where its components point, and what is background.
    add("--axes", default="auto", metavar="NAME",
        help="where components point: opengl, directx, ... (%(default)s); a wrong one lists all")  # fmt: skip
    add("--background", default="auto", metavar="COLOUR",
        help="to leave out: white, black, grey, flat (128,128,255), R,G,B, none (%(default)s)")  # fmt: skip
    add("--pose", metavar="FILE",
        help="of normals in the world's axes: 4x4 or 3x3, from camera to world, text or NPY")  # fmt: skip
    add("--world-to-camera", metavar="FILE", help="the same, from world to camera")
    add("--variable", metavar="NAME", help="array of an NPZ, MAT or EXR file that has several")
    add("--method", default="quadratic", metavar="NAME", help="how (%(default)s), see below")
    add("--option", action="append", default=[], metavar="NAME=VALUE",
        help="of the method, such as mu=45 or max_iterations=200 (repeatable)")  # fmt: skip
    add("--tiles", type=int, metavar="SIDE",
        help="in tiles of so many pixels, such as 2048: takes less memory (quadratic)")  # fmt: skip
    # The camera, see cameras.py.
    add("--fov", type=float, metavar="DEGREES", help="field of view of a perspective camera without K")
    add("--fov-axis", metavar="AXIS", help="that it is along: horizontal (default), vertical or diagonal")
    add("--rays", metavar="FILE", help="direction in which each pixel looks: any camera (fisheye, panorama)")
    add("--rays-axes", metavar="NAME", help="their axes, as for --axes (opencv: x right, y down, z forward)")
    add("--depth", metavar="KIND", help="with a camera, depths read and written are along its axis (z, the "
        "default) or along its rays (ray, the default with --rays)")  # fmt: skip
    # What else is known about the depth, see priors.py.
    add("--prior", metavar="FILE", help="depth to stay close to, NaN where unknown (0 in images); "
        "as large as the map, or coarser")  # fmt: skip
    add("--prior-scale", type=float, metavar="NUMBER", help="what 1 in it stands for: 0.001 for mm in metres")
    add("--prior-weight", type=float, metavar="NUMBER", help="how close; chosen from the data if not given")
    add("--prior-confidence", metavar="FILE", help="0 to 1 (black to white), by which that is multiplied")
    add("--points", metavar="FILE", help="known depths as a table: row,column,depth or with a line of names")
    add("--points-weight", type=float, metavar="NUMBER", help="how close; 100, as if exact, if not given")
    add("--out", metavar="DIR", help="where to write depth.npy and report.json, instead of beside the map")
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
    camera: NearLens | None
    prior: dict  # what `hold` takes
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
    except MemoryError as error:
        what = f"{' '.join(arguments.path)} is too large for the memory" + (
            f": {error}" if str(error) else ""
        )
    except (ValueError, OSError, ArithmeticError) as error:
        what = error
    complain(f"error: {what}")
    return 1


def _integrate(arguments):
    """Integrate the one map, or all the maps, that the paths stand for."""
    from normint.cli.batch import run_all
    from normint.cli.finishing import Finish
    from normint.files.collections import find_maps

    if arguments.out is None:  # a picture first
        arguments.mesh, arguments.preview = arguments.mesh or ["glb"], True
    Finish.of(copy.copy(arguments))
    _check_usage(arguments)
    given = arguments.path
    found = [map for path in given for map in find_maps(path)]
    if [str(map) for map in found] != [str(Path(path)) for path in given] or len(given) > 1:
        return run_all(arguments, found, _integrate_one)
    arguments = copy.copy(arguments)
    arguments.path, arguments.beside = given[0], found[0].beside
    start = time.perf_counter()
    summary, code = _integrate_one(arguments)
    _tell(arguments, summary, time.perf_counter() - start)
    return code


def _integrate_one(arguments):
    """Read, integrate and write one map; return its report and the exit code."""
    from normint.cli.finishing import Finish, finished
    from normint.cli.outputs import asked, check_free, clear, planned, report, write
    from normint.integration import iterations_are_asked_for

    wanted, arguments = asked(arguments), copy.copy(arguments)
    finish = Finish.of(arguments)
    options = _check_usage(arguments)
    files = planned(arguments)
    folder = files["report"].parent
    completed = clear(folder)
    check_free(files, force=arguments.force)
    start = time.perf_counter()
    task = _read(arguments, options)
    task.finish = finish
    finish.check(task)
    reading = time.perf_counter() - start
    if completed:
        task.notes.append(f"a killed run left {folder} incomplete; its files were completed first")
    result = finished(task, _solve(arguments, task))
    finish.make_surface(task, result, arguments.mesh)
    summary = report(task, result, files, reading, wanted)
    write(files, task, result, summary, force=arguments.force)
    return summary, 0 if result.converged or iterations_are_asked_for(task.options) else 3


def _check_usage(arguments):
    """Refuse what no file could make right, and return the options of the method."""
    from normint.inputs import nearest
    from normint.integration import METHODS
    from normint.normals.backgrounds import as_background
    from normint.normals.maps import directions
    from normint.normals.taking import is_auto

    if arguments.method not in METHODS:
        meant = nearest(arguments.method, METHODS)
        raise UsageError(f"--method is {arguments.method!r}; expected one of {', '.join(METHODS)}{meant}")
    try:
        if not is_auto(arguments.axes):
            directions(arguments.axes)
        as_background(arguments.background)
    except ValueError as error:
        raise UsageError(f"--{error}") from None
    if arguments.pose is not None and arguments.world_to_camera is not None:
        raise UsageError("--pose and --world-to-camera are both given; expected one of them")
    for value in arguments.mesh:
        if value.lower().removeprefix(".") not in MESHES:
            raise UsageError(
                f"--mesh is {value!r}; expected one of {', '.join(MESHES)}{nearest(value, MESHES)}"
            )
    check_camera(arguments)
    check_prior(arguments)
    options = parsing.parse_options(arguments.method, arguments.option)
    check_tiles(arguments, options)
    return options


def _read(arguments, options):
    """Read all files; refuse those that do not fit together."""
    from normint.files.normal_maps import read_depth, read_stored
    from normint.files.reading import check_room

    named = {name: getattr(arguments, name) for name in ("mask", "variable")}
    stored = read_stored(arguments.path, camera=camera_file(arguments), **named)
    shape = stored.normals.shape[:2]
    camera, of_the_camera = camera_of(arguments, stored)
    prior, notes = read_prior(arguments, shape)
    settings = {
        "normals": getattr(arguments, "label", None) or str(stored.paths["normals"]),
        "mask": None if stored.mask is None else str(stored.paths["mask"]),
        **of_the_camera,
        "axes": None,  # known when the map is decoded
        "method": arguments.method,
        "options": dict(options),
        **({} if arguments.tiles is None else {"tiles": arguments.tiles}),
        **settings_of_prior(arguments),
    }
    if isinstance(options.get("initial"), str):
        options["initial"] = read_depth(options["initial"], shape)
    check_room(f"{arguments.path} of {shape[0]} × {shape[1]} pixels", MEMORY_OF_SLOPES * shape[0] * shape[1])
    of_the_map = {name: options.pop(name) for name in ("least_cosine", "steepest") if name in options}
    seen, because, more = _take(arguments, stored, camera, of_the_map)
    settings |= {"axes": seen.axes, "axes why": because, "background": arguments.background}
    return Task(seen, None if seen.lens.far else seen.lens, prior, options, settings, notes + more)


def _take(arguments, stored, camera, limits):
    """Find axes and background, and say so in the words of the command line."""
    from normint.files.normal_maps import read_pose
    from normint.normals.taking import take

    pose, inverse = arguments.pose, arguments.world_to_camera
    pose = read_pose(inverse or pose, inverse=bool(inverse)) if inverse or pose else None
    given = {"axes": arguments.axes, "background": arguments.background, "pose": pose}
    try:
        seen, because, notes = take(
            stored.normals, stored.mask, camera, depth=arguments.depth, **given, **limits
        )
        seen.refuse_missing()
    except ValueError as error:
        raise ValueError(_as_on_the_command_line(f"{stored.paths['normals']}: {error}")) from error
    left_out = [seen.left_out()] if seen.left_out() else []
    return seen, because, [_as_on_the_command_line(note) for note in left_out + notes]


def _solve(arguments, task):
    """Integrate; what goes wrong because of flipped axes is said together with the axes that would do."""
    from normint.domain import bounding_box
    from normint.files.reading import check_room
    from normint.integration import iterations_are_asked_for, memory_of
    from normint.normals.axes import axes_warning
    from normint.normals.integrate_normals import integrate_map

    seen = task.seen
    rows, columns = seen.domain[bounding_box(seen.domain)].shape
    in_words = arguments.triangles is None and any("obj" in suffix.lower() for suffix in arguments.mesh)
    of_mesh = (MEMORY_OF_OBJ if in_words else MEMORY_OF_MESH) if arguments.mesh else 0
    needed = of_mesh * rows * columns
    if arguments.tiles is None:
        needed += memory_of(arguments.method, rows * columns, prior=bool(task.prior))
    what = f"{arguments.path} of {rows} × {columns} pixels, integrated by {arguments.method},"
    check_room(what, needed)
    because = task.settings["axes why"]
    flipped = axes_warning(seen) if because is None else None
    task.settings["axes why"] = _why(seen, because, flipped)
    try:
        seen.refuse_away()
        held = hold_task(task)
        prior = {} if held is None else {"prior": held.prior, "prior_weight": held.weight}
        with _progress(arguments, task.options) as callback:
            how = {"integrate": in_tiles(arguments.tiles)} if arguments.tiles else callback
            result = integrate_map(seen, arguments.method, **prior, **task.options, **how)
    except ValueError as error:
        text = f"{error}; {flipped}" if flipped else error
        raise ValueError(_as_on_the_command_line(text)) from error
    if not np.isfinite(result.depth[seen.mask]).all():
        raise ValueError("the depth came out as NaN or infinite; expected options that are less extreme")
    compare_with_prior(task, held, result.depth)
    if flipped:
        task.notes.append(_as_on_the_command_line(flipped))
    if not (result.converged or iterations_are_asked_for(task.options)):
        task.notes.append(
            f"not converged after {result.iterations} iterations; --option max_iterations=N allows more"
        )
    return result


def _why(seen, because, flipped):
    """Say which axes were taken, and why: the data chose them, do not contradict them, or do."""
    words = ", ".join(seen.words).replace("toward", "toward the camera")
    agree = "the normals look as if they had others" if flipped else "as given, and the normals agree"
    return f"{words}; {because or agree}"


def _as_on_the_command_line(text):
    """Turn advice about arguments into advice about options.

    Examples
    --------
    >>> _as_on_the_command_line("try axes='opencv' or least_cosine=0.05, or give the pose= of the camera")
    "try --axes 'opencv' or --option least_cosine=0.05, or give the --pose of the camera"
    """
    text = re.sub(r"\b(axes|background|pose|mask)=(?=')", r"--\1 ", str(text))
    text = re.sub(r"\b(axes|background|pose|mask)=", r"--\1", text)
    return re.sub(r"\b(\w+)=(?=[\d.])", r"--option \1=", text)


@contextmanager
def _progress(arguments, options):
    """Yield a callback that draws a bar in a terminal, as far as the method says where it is."""
    if not (parsing.takes_callback(arguments.method) and getattr(arguments, "bar", True)):
        yield {}
        return
    from tqdm import tqdm

    from normint import compiling

    total = options.get("max_iterations", parsing.known_options(arguments.method).get("max_iterations"))
    hidden = arguments.quiet or not sys.stderr.isatty() or paths.in_ci()
    with tqdm(total=total, desc=arguments.method, file=sys.stderr, leave=False, disable=hidden) as bar:
        before = compiling.compiled()

        def show(iteration, value):
            nonlocal before
            if compiling.compiled() > before:  # that time tells nothing about the next iterations
                before = compiling.compiled()
                bar.unpause()
            bar.update(iteration - bar.n)

        yield {"callback": show}


def _tell(arguments, summary, seconds):
    """Print what came of it, in so many seconds."""
    from normint.cli.finishing import lines as finishing_lines
    from normint.cli.outputs import as_text
    from normint.cli.telling import five_lines

    if not arguments.quiet:
        for note in summary["warnings"]:
            complain(f"warning: {note}")
    try:
        if arguments.json:
            say(as_text(summary))
        elif not arguments.quiet:
            say("\n".join([*five_lines(summary, seconds), *finishing_lines(summary)]))
    except CannotPrint as error:
        raise CannotPrint(f"{error}; the files are written") from error
