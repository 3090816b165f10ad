"""What every method returns.

A result can draw and save itself: its methods call the rooms above this one, which they import when called.
"""

from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from normint.extras import extra


@dataclass(frozen=True)
class Integration:
    """A depth map and how it was obtained.

    Attributes
    ----------
    depth : ndarray
        The depth, rows×cols, NaN outside the mask.
    energies : ndarray
        The method's energy after each iteration (only the last one for methods that solve one system).
    iterations : int
    converged : bool
        Whether the tolerance was reached. Where it was not, :func:`normint.integrate` warns.
    seconds : float
        How long the call took.
    weights : (ndarray, ndarray) or None
        Weights of the edges downwards and to the right that the method ended with, where it has any.
    confidence : (ndarray, ndarray) or None
        For each edge the probability that the method is right about it: that the surface jumps there if its
        weight is 0, and does not if it is 1. Only "calibrated" tells.
    noise : ndarray or None
        The standard deviation of the step from one pixel to the next, seen straight on, as noise in the data
        makes it; NaN outside the mask. Only "calibrated" tells.
    notes : tuple of str
        What was decided about a normal map: its axes, and why, and what was left out.
    camera : Lens or None
        The near camera that the depth is a distance from, for pictures and meshes; None where the depth is z
        towards a viewer far away. :func:`normint.integrate_normals` knows it.

    Notes
    -----
    A notebook shows a result as a picture: the surface in light, and its depth in colours.

    Examples
    --------
    >>> import normint
    >>> vase = normint.surfaces.vase(32)
    >>> result = normint.integrate(vase.p, vase.q, vase.mask)
    >>> len(result.to_mesh().vertices) == int(vase.mask.sum())
    True
    """

    depth: NDArray[np.float64] = field(repr=False)
    energies: NDArray[np.float64] = field(repr=False)
    iterations: int
    converged: bool
    seconds: float
    weights: tuple[NDArray[np.float64], NDArray[np.float64]] | None = field(default=None, repr=False)
    confidence: tuple[NDArray[np.float64], NDArray[np.float64]] | None = field(default=None, repr=False)
    noise: NDArray[np.float64] | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    camera: Any = field(default=None, repr=False)

    def picture(self) -> NDArray[np.uint8]:
        """Draw the surface in light, and its depth in colours: rows×columns×3, red, green and blue."""
        from normint.files.preview import preview

        return preview(self.depth, camera=self.camera)

    def plot(self, **options: Any) -> Any:
        """Draw the surface in space.

        Parameters
        ----------
        **options
            Of :func:`normint.workbook.figures.surfaces`, such as ``view=(30, -60)``.

        Returns
        -------
        matplotlib.figure.Figure
        """
        with extra("workbook", "Integration.plot()"):
            from normint.workbook.figures import surfaces
        # A distance grows away from the viewer, a height towards it: up is always nearer.
        if self.camera is None:
            return surfaces({"": self.depth}, **options)
        return surfaces({"": -self.depth}, **({"unit": "(relative)"} | options))

    def to_mesh(self, **options: Any) -> Any:
        """Turn the surface into a triangle mesh, cut where it jumps.

        Parameters
        ----------
        **options
            Of :func:`normint.files.meshes.mesh`.

        Returns
        -------
        trimesh.Trimesh
        """
        from normint.files.meshes import mesh

        return mesh(self.depth, **({"camera": self.camera, "weights": self.weights} | options))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the result to a file, whole or not at all; the name says as what.

        Parameters
        ----------
        path : path-like
            ``.npy``: the depth. ``.ply``, ``.obj``, ``.stl`` or ``.glb``: the mesh. ``.png``: the picture.
        """
        from normint.files.results import save

        save(path, self)

    def _repr_png_(self) -> bytes:
        from normint.files.images import encode_image

        return bytes(encode_image(self.picture(), ".png"))
