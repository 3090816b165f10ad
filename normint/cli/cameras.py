"""The camera of `normint integrate`: a file, a field of view, or a map of rays."""

from normint.cli.parsing import UsageError
from normint.normals.lens import DEPTHS

VIEWS = ("horizontal", "vertical", "diagonal")


def check_camera(arguments):
    """Refuse flags that contradict each other."""
    from normint.normals.maps import directions

    given = [name for name in ("camera", "fov", "rays") if getattr(arguments, name) is not None]
    if len(given) > 1:
        raise UsageError(f"--{given[0]} and --{given[1]} both say what the camera is; expected one of them")
    if arguments.fov is not None and not 0 < arguments.fov < 180:
        raise UsageError(f"--fov is {arguments.fov:g}; expected degrees between 0 and 180, or --rays")
    for flag, of, words in (("fov_axis", "fov", VIEWS), ("rays_axes", "rays", None), ("depth", None, DEPTHS)):
        value, name = getattr(arguments, flag), "--" + flag.replace("_", "-")
        if value is None:
            continue
        if of is not None and getattr(arguments, of) is None:
            raise UsageError(f"{name} is given without --{of}; expected both, or neither")
        if words is not None and value not in words:
            raise UsageError(f"{name} is {value!r}; expected {' or '.join(words)}")
    if arguments.rays_axes is not None:
        try:
            directions(arguments.rays_axes)
        except ValueError as error:
            raise UsageError(f"--rays-{error}") from None


def camera_file(arguments):
    """Return which file the matrix is to be read from: none, if there is another camera."""
    return arguments.camera if arguments.fov is None and arguments.rays is None else "none"


def camera_of(arguments, stored):
    """Return the camera that was asked for, and what the report says about it."""
    from normint.files.cameras import read_rays
    from normint.normals.camera import camera_of_view

    shape = stored.normals.shape[:2]
    if arguments.rays is not None:
        camera = read_rays(arguments.rays, shape, arguments.rays_axes or "opencv")
        return camera, {"camera": None, "rays": str(arguments.rays)}
    camera = stored.camera
    if arguments.fov is not None:
        camera = camera_of_view(arguments.fov, shape, arguments.fov_axis or VIEWS[0])
    return camera, {"camera": None if camera is None else camera.tolist(), "rays": None}
