"""Photometric stereo: the normals of a surface from photographs under known lights."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normint.inputs import as_mask, as_positive, as_real

__all__ = ["photometric_stereo"]

NEARLY_IN_A_PLANE = 1e-7  # of the trace cubed: a smaller determinant means that three lights are too few
TOGETHER = 4  # images summed up at a time: more save passes over the sums, and take more memory


def photometric_stereo(
    images: Sequence[ArrayLike], lights: ArrayLike, mask: ArrayLike | None = None, *,
    intensities: ArrayLike | None = None, shadow: float | None = None, saturation: float | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
    """Compute normals and albedo from photographs taken from one place under several lights.

    Parameters
    ----------
    images : sequence of array_like
        At least three images, rows×columns or rows×columns×3, of whole or real numbers proportional to the
        light received. They are read one by one: a sequence that loads files on demand is welcome.
    lights : array_like
        count×3: the directions to the lights, in the axes wanted for the normals: here along u (down),
        v (right) and z (towards the camera). Their lengths count as intensities.
    mask : array_like, optional
        Where to compute; by default everywhere.
    intensities : array_like, optional
        The strength of each light: count numbers, or count×3 for images in colour. 1 by default.
    shadow : float, optional
        Leave out samples whose mean over the channels is below this, in the unit of the images.
    saturation : float, optional
        Leave out samples with a channel at this value or above.

    Returns
    -------
    normals : ndarray of float64
        rows×columns×3, of length 1; NaN outside the mask and where the surface is black.
    albedo : ndarray of float64
        rows×columns, or rows×columns×3 for images in colour; NaN outside the mask.

    Notes
    -----
    With Lambert's law I_k = e_k ρ n·l_k, the vector m = ρn minimises Σ_k (I_k/e_k − m·l_k)², so that
    (Σ l_k l_kᵀ) m = Σ l_k I_k/e_k; then ρ = ‖m‖ and n = m/ρ. Images in colour give one m for each channel;
    their mean, which is the m of the mean image, gives the normal, and the albedo of channel c is m_c·n.

    Without samples left out, the matrix is the same at all pixels. With them, each pixel has its own; where
    fewer than three independent lights remain, all samples are used after all.

    References
    ----------
    R. J. Woodham, Photometric method for determining surface orientation from multiple images, Optical
    Engineering 19(1), 1980.

    Examples
    --------
    >>> from normint.normals.convert import gradient_to_normals
    >>> true = gradient_to_normals([[0.5]], [[-0.2]])
    >>> lights = np.array([[0.0, 0.0, 1.0], [0.6, 0.0, 0.8], [0.0, 0.6, 0.8]])
    >>> normals, albedo = photometric_stereo([0.7 * (true @ light) for light in lights], lights)
    >>> bool(np.allclose(normals, true)), float(albedo[0, 0].round(6))
    (True, 0.7)
    """
    lights, strengths, shape, channels = _check(images, lights, intensities)
    mask = as_mask(mask, shape)
    shadow = None if shadow is None else as_positive("shadow", shadow)
    saturation = None if saturation is None else as_positive("saturation", saturation)

    pixels = np.count_nonzero(mask)
    sums = np.zeros((3, pixels, channels))  # Σ l_k I_k/e_k
    dropped = _Dropped(lights, sums.shape)
    samples = np.empty((min(TOGETHER, len(lights)), pixels, channels))
    for begin in range(0, len(lights), TOGETHER):
        group = range(begin, min(begin + TOGETHER, len(lights)))
        for k, sample in zip(group, samples, strict=False):
            image = _pixels(images[k], k, mask, channels)
            np.divide(image, strengths[k], out=sample)
            dropped.add(k, sample, _left_out(image, shadow, saturation))
        sums += np.tensordot(lights[group].T, samples[: len(group)], axes=1)

    m = np.tensordot(np.linalg.inv(lights.T @ lights), sums, axes=1)
    dropped.solve(sums, m)
    return _normals_and_albedo(np.moveaxis(m, 0, -1), mask, colour=channels > 1)


class _Dropped:
    """The sums over samples that were left out, which are few, to take off those over all of them."""

    def __init__(self, lights, shape):
        self.lights, self.shape, self.matrix, self.sums = lights, shape, None, None

    def add(self, k, sample, where):
        if not where.size:
            return
        if self.matrix is None:
            self.matrix, self.sums = np.zeros((self.shape[1], 3, 3)), np.zeros(self.shape)
        light = self.lights[k]
        self.matrix[where] += np.outer(light, light)
        self.sums[:, where] += light[:, np.newaxis, np.newaxis] * sample[where]

    def solve(self, sums, m):
        """Solve again, without them, where samples were left out and enough remain."""
        if self.matrix is None:
            return
        changed = np.flatnonzero(self.matrix[:, 0, 0] + self.matrix[:, 1, 1] + self.matrix[:, 2, 2])
        whole = self.lights.T @ self.lights
        inverse, determinant = _adjugate(np.moveaxis(whole - self.matrix[changed], 0, -1))
        enough = determinant > NEARLY_IN_A_PLANE * np.trace(whole) ** 3
        changed, inverse = changed[enough], inverse[..., enough] / determinant[enough]
        rest = sums[:, changed] - self.sums[:, changed]
        m[:, changed] = np.einsum("ijp,jpc->ipc", inverse, rest)


def _adjugate(matrices):
    """Return the adjugates and determinants of symmetric matrices, 3×3×count (LAPACK takes them singly)."""
    (a, b, c), (_, d, e), (_, _, f) = matrices
    first, second, third = d * f - e * e, c * e - b * f, b * e - c * d
    middle, mixed, last = a * f - c * c, b * c - a * e, a * d - b * b
    adjugate = np.array([[first, second, third], [second, middle, mixed], [third, mixed, last]])
    return adjugate, a * first + b * second + c * third


def _normals_and_albedo(m, mask, colour):
    """Split m, pixels×channels×3, into normals and albedo, as images."""
    mean = m.mean(axis=1)
    length = np.linalg.norm(mean, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        n = mean / length[:, np.newaxis]
    n[length == 0] = np.nan
    normals = np.full((*mask.shape, 3), np.nan)
    normals[mask] = n
    albedo = np.full((*mask.shape, m.shape[1]), np.nan)
    albedo[mask] = np.einsum("pck,pk->pc", m, np.nan_to_num(n))
    return normals, albedo if colour else albedo[..., 0]


def _check(
    images: Sequence[ArrayLike], lights: ArrayLike, intensities: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[int, ...], int]:
    """Return lights, strengths (count×channels), the images' rows and columns, and their channels."""
    try:
        count, first = len(images), np.asarray(images[0])
    except (TypeError, IndexError):
        raise ValueError("images must be a sequence of images, got none") from None
    lights = as_real("lights", lights)
    if lights.shape != (count, 3):
        raise ValueError(f"lights has shape {lights.shape}; expected {(count, 3)}, one row per image")
    if not np.isfinite(lights).all():
        raise ValueError("lights has values that are NaN or infinite; expected finite directions")
    rank = int(np.linalg.matrix_rank(lights, tol=1e-6 * max(np.abs(lights).max(initial=0), 1e-300)))
    if rank < 3:
        raise ValueError(f"lights has rank {rank}; expected three directions that are not in one plane")
    if first.ndim not in (2, 3) or (first.ndim == 3 and first.shape[2] != 3):
        raise ValueError(f"images: the first has shape {first.shape}; expected (rows, columns) or (…, 3)")
    channels = 3 if first.ndim == 3 else 1
    strengths = np.ones(count) if intensities is None else as_real("intensities", intensities)
    if strengths.shape not in ((count,), (count, channels)):
        expected = f"{(count,)} or {(count, channels)}, for each light"
        raise ValueError(f"intensities has shape {strengths.shape}; expected {expected}")
    if not (np.isfinite(strengths) & (strengths > 0)).all():
        raise ValueError("intensities must be finite and positive")
    strengths = np.broadcast_to(strengths.reshape(count, -1), (count, channels))
    return lights, strengths, first.shape[:2], channels


def _pixels(image, k, mask, channels):
    """Return one image's pixels inside the mask, pixels×channels."""
    if np.ma.is_masked(image):
        raise ValueError(f"images: number {k} is a masked array; expected plain ones, and a mask for all")
    image = np.asarray(image)
    wanted = mask.shape + ((channels,) if channels > 1 else ())
    if image.shape != wanted:
        raise ValueError(f"images: number {k} has shape {image.shape}; expected {wanted}, that of the first")
    if image.dtype.kind not in "iuf":
        raise ValueError(f"images: number {k} has type {image.dtype}; expected real numbers")
    pixels = (image if mask.all() else image[mask]).reshape(-1, channels)
    if pixels.dtype.kind == "f" and not np.isfinite(pixels).all():
        raise ValueError(f"images: number {k} is NaN or infinite inside the mask; expected finite values")
    return pixels


def _left_out(pixels, shadow, saturation):
    """Return the numbers of the pixels whose sample does not count."""
    wrong = np.zeros(len(pixels), dtype=bool)
    if shadow is not None:
        wrong |= sum(channel.astype(np.float64) for channel in pixels.T) < shadow * pixels.shape[1]
    if saturation is not None:
        for channel in pixels.T:  # three long passes are much faster than many short ones
            wrong |= channel >= saturation
    return np.flatnonzero(wrong)
