"""Stand-ins for data that is absent: statues, photographed, written and read as the real data is.

They have what the real data cannot have, a true depth, and show the same effects.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from normint.datasets.reading import read_beethoven, read_diligent, read_normal_map
from normint.datasets.records import Picture
from normint.datasets.writing import write_beethoven, write_diligent, write_normal_map
from normint.extras import extra
from normint.normals.convert import gradient_to_normals
from normint.surfaces import bust, figurine
from normint.surfaces.rendering import photograph


def cat():
    """Photograph the figurine under 96 lights, in 16 bits, and read it from DiLiGenT's layout."""
    rng = np.random.default_rng(0)
    statue = figurine()
    # Lamps in 8 rows and 12 columns on a plane before the figurine, each with a colour of its own.
    down, right = np.meshgrid(np.linspace(-0.55, 0.55, 8), np.linspace(-0.8, 0.8, 12), indexing="ij")
    lights = np.stack([down.ravel(), right.ravel(), np.ones(96)], axis=1)
    lights /= np.linalg.norm(lights, axis=1, keepdims=True)
    intensities = np.array([1.5, 1.9, 2.6]) * rng.uniform(0.8, 1.2, size=(96, 1))
    images = photograph(
        statue, lights, albedo=_fur(statue), intensities=intensities, mask=statue.mask,
        noise=0.002, rng=rng, exposure=0.5,
    )  # fmt: skip
    normals = gradient_to_normals(statue.p, statue.q)
    with tempfile.TemporaryDirectory() as folder:
        write_diligent(folder, images, lights, intensities, statue.mask, normals)
        found = read_diligent(folder)
    depth = np.where(statue.mask, statue.depth, np.nan)
    return replace(found, depth=depth, name="figurine, a stand-in for the Cat", data="stand-in")


def beethoven():
    """Photograph the bust before a dark wall under three lights, in 8 bits, and read it from a Matlab file.

    As in the real file, the rows of the lights are not in the order of the images.
    """
    rng = np.random.default_rng(0)
    statue = bust()
    lights = np.array([[0.09, 0.28, 1.0], [-0.22, 0.02, 1.0], [0.10, -0.27, 1.0]])  # right, above, left
    albedo = np.where(statue.mask, 1.0, 0.004)  # of the wall, one level of 255 and the noise are left
    images = photograph(statue, lights, albedo=albedo, noise=0.002, rng=rng, bits=8, exposure=0.98)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "Beethoven.mat"
        write_beethoven(path, images, lights[[1, 0, 2]], statue.mask)
        found = read_beethoven(path)
    return replace(found, depth=statue.depth, name="bust, a stand-in for Beethoven", data="stand-in")


def depth_and_normals():
    """Write and read the figurine's true normals and depth."""
    statue = figurine()
    normals = gradient_to_normals(statue.p, statue.q)
    with tempfile.TemporaryDirectory() as folder:
        write_normal_map(folder, normals, statue.mask, statue.depth)
        found = read_normal_map(folder)
    return replace(found, name="figurine, a stand-in for the Cat", data="stand-in")


def peppers():
    """Take a photograph that comes with scikit-image and is in the public domain: NASA's Eileen Collins."""
    with extra("workbook", "the stand-in for Peppers"):
        from skimage.data import astronaut

    return Picture(astronaut(), "astronaut, a stand-in for Peppers", "stand-in")


def _fur(statue):
    """Return colours: ginger with stripes that follow the height, and a white chest."""
    rows, columns = statue.mask.shape
    u, v = np.ogrid[:rows, :columns]
    stripes = 0.5 + 0.5 * np.tanh(3 * np.sin(u / rows * 60 + 3 * np.sin(v / rows * 12)))
    chest = np.exp(-(((u / rows - 0.6) / 0.2) ** 2) - ((v / rows - 0.43) / 0.09) ** 2)
    shade = 0.55 + 0.25 * stripes
    ginger = shade[..., np.newaxis] * np.array([1.0, 0.75, 0.5])
    return ginger + chest[..., np.newaxis] * (0.95 - ginger)
