"""Write data in the layouts of the real data sets: what the reader expects, and the same number of bits."""

from pathlib import Path

import numpy as np

from normint.files.images import write_image


def write_diligent(folder, images, lights, intensities, mask, normals):
    """Write photographs in DiLiGenT's layout.

    Parameters
    ----------
    folder : path-like
    images : ndarray of uint16
        count×rows×columns×3.
    lights, intensities : ndarray
        count×3; lights along u, v and z.
    mask : ndarray of bool
    normals : ndarray
        rows×columns×3 along u, v and z.
    """
    from scipy.io import savemat

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"{k:03d}.png" for k in range(1, len(images) + 1)]
    for name, image in zip(names, images, strict=True):
        write_image(folder / name, image)
    (folder / "filenames.txt").write_text("\n".join(names) + "\n", encoding="ascii")
    np.savetxt(folder / "light_directions.txt", to_xyz(lights), fmt="%.4f")
    np.savetxt(folder / "light_intensities.txt", intensities, fmt="%.4f")
    write_image(folder / "mask.png", np.where(mask, 255, 0).astype(np.uint8))
    savemat(folder / "Normal_gt.mat", {"Normal_gt": np.where(mask[..., np.newaxis], to_xyz(normals), 0)})


def write_beethoven(path, images, lights, mask):
    """Write three 8-bit images, count×rows×columns, as the variables `I`, `mask` and `S` of a Matlab file."""
    from scipy.io import savemat

    Path(path).parent.mkdir(parents=True, exist_ok=True)
    savemat(path, {"I": np.moveaxis(images, 0, 2), "mask": mask.astype(np.uint8), "S": np.asarray(lights)})


def write_normal_map(folder, normals, mask, depth=None, camera=None):
    """Write normals, along u, v and z, as 16-bit colours, with the mask and what else is given."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    colours = np.rint((to_xyz(normals) + 1) / 2 * 65535)
    write_image(folder / "normal_map.png", np.where(mask[..., np.newaxis], colours, 0).astype(np.uint16))
    write_image(folder / "mask.png", np.where(mask, 255, 0).astype(np.uint8))
    if depth is not None:
        # In such files it grows away from the camera; without a camera, ours grows towards the viewer.
        np.savez_compressed(folder / "depth_gt.npz", depth_gt=depth if camera is not None else -depth)
    if camera is not None:
        np.savetxt(folder / "K.txt", camera)


def to_xyz(vectors):
    """Turn vectors along u (down), v (right) and z into vectors along x (right), y (up) and z.

    Examples
    --------
    >>> to_xyz([1.0, 2.0, 3.0])
    array([ 2., -1.,  3.])
    """
    u, v, z = np.moveaxis(np.asarray(vectors, dtype=np.float64), -1, 0)
    return np.stack([v, -u, z], axis=-1)
