"""Where the components of a normal point: the names that people use, and where each is written down.

Three words say where the first, second and third component point, as the camera sees it: down or up, right
or left, toward the camera or away from it.
"""

__all__ = ["AUTO", "AXES", "CONVENTIONS", "DIRECTIONS", "OPPOSITE", "directions", "name_of", "twin"]

# The directions, seen by the camera, of the first, second and third component.
AXES = {
    "uvz": "down right toward",  # this package
    "xyz": "right up toward",  # OpenGL; DiLiGenT, most normal maps in image files
    "directx": "right down toward",  # normal maps of games: the green channel turned over
    "opencv": "right down away",  # the coordinates of OpenCV's cameras
}
# Other names, in the order in which they are listed, and why they mean what they mean.
CONVENTIONS = {
    **AXES,
    "opengl": "right up toward",  # "Y+" (Adobe, Substance 3D Bake: OpenGL and DirectX normal format)
    "blender": "right up toward",  # bakes +X +Y +Z, and its cameras look along -z (docs.nerf.studio)
    "unity": "right up toward",  # takes OpenGL's; the importer's flipGreenChannel is for others
    "unreal": "right down toward",  # takes DirectX's; Flip Green Channel is for others
    "substance": "right down toward",  # Painter's default; a project may be set to OpenGL
    "diligent": "right up toward",  # Normal_gt of the data set, as the contours confirm
    "bini": "right up toward",  # the folders of bilateral normal integration, as the contours confirm
    "marigold": "right up toward",  # the guide of diffusers: x right, y up, z at the viewer
    # Its README: right, down, front, but of normals that point into the surface: (0, 0, 1) faces the camera.
    "dsine": "left up toward",
    "stablenormal": "left up toward",  # its authors: oriented as in DSINE (Stable-X/StableNormal #18)
    "omnidata": "right down toward",  # its authors: x right, y down, z to me (EPFL-VILAB/omnidata #13)
    # Uncertain: not written down. Its authors say that 255 - colour gives the usual colours (YvanYin/Metric3D
    # #70), which are DSINE's, and users find y and z reversed against OpenGL: both mean right, down, away.
    "metric3d": "right down away",
    "colmap": "right down away",  # its authors: x right, y down, z to the scene (colmap/colmap #220)
    # Its authors: x left, y up, z to the scene (mitsuba-renderer/mitsuba2 #271). Its AOV sh_normal is in the
    # world's axes, and needs the sensor's to_world as a pose.
    "mitsuba": "left up away",
    "pytorch3d": "left up away",  # pytorch3d.org, Cameras: +X left, +Y up, +Z out from the image plane
    "direct3d": "right up away",  # left-handed view space, and Unity's transforms: z forward
}
# The readings that `auto` chooses from: those above, each once, the commonest first.
AUTO = tuple(dict.fromkeys(CONVENTIONS[name] for name in (
    "xyz", "directx", "uvz", "opencv", "dsine", "mitsuba", "direct3d",
)))  # fmt: skip
# From a direction to its axis among u, v, z and its sign.
DIRECTIONS = {
    "down": (0, 1), "up": (0, -1), "right": (1, 1), "left": (1, -1), "toward": (2, 1), "away": (2, -1),
}  # fmt: skip
OPPOSITE = {"down": "up", "up": "down", "right": "left", "left": "right", "toward": "away", "away": "toward"}


def directions(axes):
    """Return the words of axes given by name or by words, in any case.

    Parameters
    ----------
    axes : str
        A name of `CONVENTIONS`, or three words: down or up, right or left, toward (the camera) or away, each
        pair once and in the order of the components.

    Examples
    --------
    >>> directions("OpenGL")
    ('right', 'up', 'toward')
    >>> directions("yes")
    Traceback (most recent call last):
    ...
    ValueError: axes is 'yes'; expected auto, one of uvz, xyz, ..., or three words such as 'right up toward'
    """
    text = axes.strip().lower() if isinstance(axes, str) else ""
    words = tuple(CONVENTIONS.get(text, text).split())
    axis_of = [DIRECTIONS[word][0] for word in words if word in DIRECTIONS]
    if len(words) != 3 or sorted(axis_of) != [0, 1, 2]:
        names = ", ".join(CONVENTIONS)
        raise ValueError(
            f"axes is {axes!r}; expected auto, one of {names}, or three words such as 'right up toward'"
        )
    return words


def name_of(words):
    """Return the first name of axes, or their words if they have none.

    Examples
    --------
    >>> name_of(("right", "up", "toward")), name_of(("up", "right", "away"))
    ('xyz', 'up right away')
    """
    text = " ".join(words)
    return next((name for name, known in CONVENTIONS.items() if known == text), text)


def twin(words):
    """Return the axes with both components along the image turned over: hollow where the others are raised.

    Examples
    --------
    >>> twin(("right", "down", "away"))
    ('left', 'up', 'away')
    """
    return tuple(word if DIRECTIONS[word][0] == 2 else OPPOSITE[word] for word in words)
