"""What `normint integrate` makes of a depth: flat, a tile, in millimetres, a mesh, a solid, a height map."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from normint.cli.parsing import UsageError
from normint.extras import check_extra

INCH = 25.4  # mm
MANY = 2_000_000  # triangles of a mesh: files of some 50 MB


@dataclass
class Finish:
    """What is asked for, and what came of it."""

    cut: bool = True
    triangles: int | None = None
    base: float | str | None = None
    mm: float | None = None  # of a pixel
    texture: Any = None  # a path, then the picture
    near: str = "white"
    tile: bool = False
    shape: str | None = None  # of what to remove
    length: float | None = None
    points: Any = None
    integrated: Any = None  # the depth before it was flattened
    surface: Any = None
    told: dict = field(default_factory=dict)  # for the report

    @classmethod
    def of(cls, arguments):
        """Read the options; refuse what no file could make right. `--tile` chooses the method."""
        of_a_mesh = {"--mesh-cut": arguments.mesh_cut, "--triangles": arguments.triangles,
                     "--texture": arguments.texture, "--base": arguments.base}  # fmt: skip
        for name, value in of_a_mesh.items():
            if value is not None and not arguments.mesh:
                raise UsageError(f"{name} is about a mesh, and none is asked for; add --mesh glb, say")
        if arguments.tile:
            if arguments.method not in ("quadratic", "dct"):
                raise UsageError(f"--tile is by --method dct; {arguments.method} cannot make one")
            arguments.method, arguments.option = "dct", [*arguments.option, "border=periodic"]
        _check_height_maps(arguments.height_map)
        if arguments.triangles is not None and arguments.triangles < 4:
            raise UsageError(f"--triangles is {arguments.triangles}; expected a whole number of 4 or more")
        _check_libraries(arguments)
        base, (shape, length) = arguments.base, _shape(arguments)
        return cls(
            cut=arguments.mesh_cut == "jumps" or (arguments.mesh_cut is None and base is None),
            triangles=arguments.triangles,
            base=base if base in (None, "auto") else _positive("--base", base, "or auto"),
            mm=_millimetres(arguments),
            texture=arguments.texture,
            near=arguments.height_near,
            tile=arguments.tile,
            shape=shape,
            length=length,
            points=arguments.flatten_points,
        )

    def check(self, task):
        """Read what else is needed; refuse what does not fit the map and its camera, before any work."""
        from normint.files.images import read_image
        from normint.files.textures import as_texture

        near_camera = not task.seen.lens.far
        for name, given, advice in (
            (
                "--mm-per-pixel or --dpi",
                self.mm,
                "its depth has a unit of its own, by --option distance=NUMBER",
            ),
            ("--tile", self.tile or None, "a tile is seen from afar"),
            ("--flatten", self.shape or self.points, "heights over a plane are of a view from afar"),
        ):
            if near_camera and given is not None:
                raise ValueError(
                    f"{name} is given with a camera; {advice}; --camera none takes the map as flat"
                )
        if self.tile and (holes := np.count_nonzero(~task.seen.mask)):
            raise ValueError(
                f"--tile needs a normal at every pixel; {holes} have none, or are outside the mask"
            )
        if self.texture is not None:
            self.texture = as_texture(read_image(self.texture), task.seen.mask.shape)
        if self.points is not None:
            self.points = _read_points(self.points)

    def make_surface(self, task, result, suffixes):
        """Make the mesh, if files of it are asked for."""
        from normint.files.meshes import mesh

        if not suffixes:
            return
        weights = result.weights if self.cut else None
        wanted = {"triangles": self.triangles, "base": self.base, "mm_per_pixel": self.mm}
        made = mesh(result.depth, None, task.camera, weights=weights, texture=self.texture, **wanted)
        if not len(made.faces):
            raise ValueError("the mesh has no triangle; expected at least three pixels that form one")
        self.surface = made
        unit = "mm" if self.mm else ("pixels" if task.camera is None else "any")
        self.told["mesh"] = {
            "triangles": len(made.faces),
            "vertices": len(made.vertices),
            "size": made.extents.tolist(),
            "unit": unit,
            "unit of GLB": "m" if self.mm else unit,
            "cut": "jumps" if weights is not None else "never",
            "closed": bool(made.is_watertight) if self.base is not None else False,
        }
        if len(made.faces) > MANY and self.triangles is None:
            task.notes.append(
                f"the mesh has {len(made.faces)} triangles; --triangles 200000 makes a smaller file"
            )
        if self.triangles is not None and len(made.faces) > 1.05 * self.triangles:
            task.notes.append(
                f"the mesh has {len(made.faces)} triangles, not {self.triangles}: its outline needs them"
            )
        if self.texture is not None and not {"glb", "obj"} & {s.lower().removeprefix(".") for s in suffixes}:
            task.notes.append("--texture is not in these files; --mesh glb or --mesh obj can hold it")

    def lengths(self, pixels):
        """Return a length by its units."""
        return {"pixels": float(pixels)} | ({"mm": float(pixels * self.mm)} if self.mm else {})


def finished(task, result):
    """Return the result flattened, as asked for, and take notes for the report."""
    from normint.normals.flattening import flatten, flatten_by_points

    finish, made = task.finish, None
    finish.integrated = result.depth
    if finish.tile:
        finish.told["tile"] = _seam(task.seen, result.depth)
    together = task.prior is not None
    if finish.shape is not None:
        wanted = {"weights": result.weights, "together": together, "periodic": finish.tile}
        made = flatten(result.depth, finish.shape, length=finish.length, **wanted)
    elif finish.points is not None:
        made = flatten_by_points(result.depth, finish.points, together=together)
    if made is None:
        return result
    by = finish.shape or "points"
    finish.told["flattened"] = {
        "by": f"{by}:{finish.length:g}" if finish.length else by,
        "removed, peak to valley": finish.lengths(made.removed),
    }
    return dataclasses.replace(result, depth=made.depth)


def lines(summary):
    """Return what a person reads about it, from a report."""
    if flattened := summary.get("flattened"):
        removed = _as_text(flattened["removed, peak to valley"])
        yield f"flattened by {flattened['by']}: {removed} removed, peak to valley"
    if tile := summary.get("tile"):
        slopes = ", ".join(f"{value:.3g}" for value in tile["mean slopes removed"])
        yield f"tile: mean slopes {slopes} (down, right) removed"
    if maps := summary.get("height maps"):
        yield f"height maps: {maps['near']} is near, range {_as_text(maps['range'])}"
    asked = (summary["asked"].get(name) for name in ("triangles", "base", "mm_per_pixel", "dpi", "texture"))
    if any(value is not None for value in asked) and (mesh := summary.get("mesh")):
        size = " × ".join(f"{side:.4g}" for side in mesh["size"])
        closed = ", closed" if mesh["closed"] else ""
        unit = "" if mesh["unit"] == "any" else f" {mesh['unit']}"
        yield f"mesh: {mesh['triangles']} triangles, {size}{unit}{closed}"


def _as_text(lengths):
    return " = ".join(f"{value:.4g} {unit}" for unit, value in lengths.items())


def _seam(seen, depth):
    """Compare the seam of a tile with its inside."""
    from normint.methods.periodic import periodic_residuals

    means = [float(seen.p.mean()), float(seen.q.mean())]
    down, right = map(np.abs, periodic_residuals(depth, seen.p - means[0], seen.q - means[1]))
    return {
        "mean slopes removed": means,
        "residual of the seam": float(np.concatenate([down[-1], right[:, -1]]).mean()),
        "residual inside": float(np.concatenate([down[:-1].ravel(), right[:, :-1].ravel()]).mean()),
    }


def _shape(arguments):
    """Return the shape that is removed, and the length of the waves."""
    from normint.normals.flattening import SHAPES

    if arguments.flatten is None:
        return None, None
    if arguments.flatten_points is not None:
        raise UsageError("--flatten and --flatten-points are both given; expected one of them")
    shape, colon, length = arguments.flatten.partition(":")
    if shape not in SHAPES or (shape == "highpass") != bool(colon):
        raise UsageError(
            f"--flatten is {arguments.flatten!r}; expected plane, quadric, or highpass:64, say, to remove "
            "waves longer than so many pixels"
        )
    if arguments.tile and shape != "highpass":
        raise UsageError(f"--flatten {shape} would open the seam of the tile; expected highpass:64, say")
    return shape, _positive("--flatten highpass", length) if colon else None


def _check_height_maps(kinds):
    from normint.files.height_maps import HEIGHT_MAPS

    for kind in kinds:
        if kind.lower() not in HEIGHT_MAPS:
            raise UsageError(f"--height-map is {kind!r}; expected one of {', '.join(HEIGHT_MAPS)}")


def _check_libraries(arguments):
    """Say now, and not after the work, which library is missing."""
    try:
        if arguments.triangles is not None:
            check_extra("mesh", "--triangles", "fast_simplification")
        if arguments.texture is not None:
            check_extra("mesh", "--texture", "PIL")
        if "exr" in map(str.lower, arguments.height_map):
            check_extra("exr", "--height-map exr", "OpenEXR")
    except ImportError as error:
        raise ValueError(str(error)) from error


def _millimetres(arguments):
    if arguments.mm_per_pixel is not None and arguments.dpi is not None:
        raise UsageError("--mm-per-pixel and --dpi are both given; expected one of them")
    if arguments.dpi is not None:
        return INCH / _positive("--dpi", arguments.dpi)
    return None if arguments.mm_per_pixel is None else _positive("--mm-per-pixel", arguments.mm_per_pixel)


def _positive(name, value, also=""):
    try:
        if 0 < (number := float(value)) < np.inf:
            return number
    except ValueError:
        pass
    raise UsageError(f"{name} is {value}; expected a finite number > 0 {also}".rstrip())


def _read_points(text):
    """Return the pixels of "row,column row,column …", or of a file with a row and a column in each line."""
    from pathlib import Path

    from normint.files.reading import read_regular

    wanted = (
        "expected whole numbers, as in '10,20 10,300 400,150', or a CSV file with a row and a column a line"
    )
    source, words = "--flatten-points", text.split()
    if not all("," in word for word in words) or Path(text).suffix:
        source = text
        content = read_regular(text).decode("utf-8-sig", "replace")
        words = [",".join(line.replace(";", ",").replace(",", " ").split()) for line in content.splitlines()]
        words = [word for word in words if word]
        if words and any(letter.isalpha() for letter in words[0]):  # a line of names
            words = words[1:]
    try:
        return np.array([[int(part) for part in word.split(",")] for word in words]).reshape(-1, 2)
    except ValueError:
        raise ValueError(f"{source} cannot be read as pixels; {wanted}") from None
