"""Small data sets in the layouts of the real ones, written without the package's own writers."""

from pathlib import Path

import cv2
import numpy as np
import scipy.io

RNG = np.random.default_rng(0)
MASK = np.zeros((10, 12), bool)
MASK[3:7, 4:11] = True
IMAGES = RNG.integers(0, 65536, (5, 10, 12, 3)).astype(np.uint16)
LIGHTS = RNG.uniform(0.1, 1, (5, 3)).round(4)
STRENGTHS = RNG.uniform(1, 3, (5, 3)).round(4)
NORMALS = np.where(MASK[..., np.newaxis], RNG.standard_normal((10, 12, 3)), 0)
DEPTH = RNG.uniform(1400, 1600, (10, 12))
CAMERA = np.array([[3772.0, 0, 6.2], [0, 3759.0, 4.9], [0, 0, 1]])


def write_png(path, image):
    """Write an image, red first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    assert cv2.imwrite(str(path), image[..., ::-1] if image.ndim == 3 else image)


def write_cat(data, name="cat", mask="mask.png"):
    """Write five photographs in DiLiGenT's layout; along x (right), y (up) and z."""
    folder = Path(data) / "DiLiGenT" / "pmsData" / f"{name}PNG"
    names = [f"{k:03d}.png" for k in range(1, 6)]
    for name, image in zip(names, IMAGES, strict=True):
        write_png(folder / name, image)
    (folder / "filenames.txt").write_text("\r\n".join(names) + "\r\n")
    np.savetxt(folder / "light_directions.txt", LIGHTS, fmt="%.4f")
    np.savetxt(folder / "light_intensities.txt", STRENGTHS, fmt="%.4f")
    write_png(folder / mask, np.where(MASK, 255, 0).astype(np.uint8))
    scipy.io.savemat(folder / "Normal_gt.mat", {"Normal_gt": NORMALS}, do_compression=True)
    return folder


def beethoven_arrays():
    """Return the variables of the Matlab file."""
    rng = np.random.default_rng(1)
    return {
        "I": rng.integers(0, 256, (256, 256, 3)).astype(np.uint8),
        "mask": (rng.random((256, 256)) < 0.5).astype(np.uint8),
        "S": rng.standard_normal((3, 3)),
    }


def write_beethoven(data):
    """Write the Matlab file."""
    path = Path(data) / "beethoven" / "Beethoven.mat"
    path.parent.mkdir(parents=True)
    scipy.io.savemat(path, beethoven_arrays())
    return path


def write_peppers(data, shape=(512, 512, 3)):
    """Write an image of random colours."""
    path = Path(data) / "peppers" / "peppers.tiff"
    write_png(path, np.random.default_rng(2).integers(0, 256, shape).astype(np.uint8))
    return path


def write_normal_map(data):
    """Write a normal map with all that may be beside it."""
    folder = Path(data) / "bini" / "cat"
    write_png(folder / "normal_map.png", IMAGES[0])
    write_png(folder / "mask.png", np.where(MASK, 255, 0).astype(np.uint8))
    np.savetxt(folder / "K.txt", CAMERA)
    np.savez_compressed(folder / "depth_gt.npz", depth_gt=DEPTH)
    return folder


WRITERS = {
    "cat": write_cat,
    "beethoven": write_beethoven,
    "peppers": write_peppers,
    "depth_and_normals": write_normal_map,
}
