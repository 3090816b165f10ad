"""Normals in the axes of the world, turned into those of the camera."""

import numpy as np

__all__ = ["rotation_of"]

ORTHOGONAL = 1e-3  # by how much the columns may miss the length 1 and right angles


def rotation_of(pose):
    """Return the 3×3 matrix R with n_camera = n_world R, for rows n, of a camera's pose.

    Parameters
    ----------
    pose : array_like
        4×4, 3×4 or 3×3, from the camera to the world: x_world = A x_camera + t, as Blender's
        ``matrix_world``, NeRF's ``transform_matrix`` and Mitsuba's ``to_world``. Only A, the left upper 3×3,
        matters, and not its scale; it may mirror. Of a matrix from the world to the camera, as the extrinsics
        of OpenCV and COLMAP, take the inverse.

    Examples
    --------
    A camera that looks down onto the world's x-y plane, turned by a quarter:

    >>> pose = [[0, -1, 0, 5], [1, 0, 0, 5], [0, 0, 1, 9], [0, 0, 0, 1]]
    >>> np.array([0.0, 1.0, 0.0]) @ rotation_of(pose)
    array([1., 0., 0.])
    """
    pose = np.asarray(pose)
    if pose.shape not in ((4, 4), (3, 4), (3, 3)) or pose.dtype.kind not in "iuf":
        raise ValueError(f"pose is {pose.shape} {pose.dtype}; expected a 4×4 or 3×3 matrix of numbers")
    turn = pose[:3, :3].astype(np.float64)
    scale = np.cbrt(abs(np.linalg.det(turn))) if np.isfinite(turn).all() else 0.0
    if not scale or np.abs(turn.T @ turn / scale**2 - np.eye(3)).max() > ORTHOGONAL:
        raise ValueError("pose is not a rotation; expected columns of one length, at right angles")
    return turn / scale
