"""From photographs to a surface, with noise in the photographs (Figures 10 and 11)."""

import hashlib
from functools import lru_cache

import numpy as np

from normint import datasets
from normint.integration import integrate_quietly
from normint.metrics import angular_error
from normint.normals.convert import depth_to_normals, normals_to_gradient
from normint.normals.photometric_stereo import photometric_stereo

__all__ = ["content", "depth_angular_error", "integrate_inside", "photographed", "photometric_gradient"]

RECTANGULAR = ("dct", "sylvester")
STEEPEST = 0.1  # normals with a smaller n_z have slopes beyond 10: from photographs, these are shadows


def photographed(*, dataset, every, sigma, draw, method):
    """Integrate normals from noisy photographs of the Cat; a run of a study.

    Parameters
    ----------
    dataset : str
        See :func:`normint.datasets.cat`.
    every : int
        Only every so many rows and columns are used.
    sigma : float
        Noise of the photographs, see :func:`photometric_gradient`.
    draw : int
        Of the noise.
    method : str

    Returns
    -------
    dict
        The mean angular error, in degrees.
    """
    _, _, mask, truth = _cat(dataset, every)
    p, q = _gradient(dataset, every, sigma, draw)
    return {"angle": depth_angular_error(integrate_inside(p, q, mask, method), truth)[1]}


def content(data):
    """Return what changes with the photographs of a set; see :class:`normint.workbook.study.Study`."""
    return [data.name, hashlib.sha256(np.ascontiguousarray(data.images)).hexdigest()]


@lru_cache(2)
def _cat(dataset, every):
    cat = datasets.cat(dataset)
    return (
        cat.grey()[:, ::every, ::every],
        cat.lights,
        cat.mask[::every, ::every],
        cat.normals[::every, ::every],
    )


@lru_cache(1)  # all methods integrate the same
def _gradient(dataset, every, sigma, draw):
    grey, lights, mask, _ = _cat(dataset, every)
    return photometric_gradient(grey, lights, mask, sigma=sigma, rng=np.random.default_rng(draw))[:2]


def photometric_gradient(images, lights, mask=None, *, sigma=0.0, rng=None):
    """Compute a gradient from photographs, with noise added to them as in the paper's Figures 10 and 11.

    Parameters
    ----------
    images, lights, mask
        As for :func:`normint.photometric_stereo`; grey images.
    sigma : float
        Standard deviation of the noise, as a fraction of the brightest pixel inside the mask.
    rng : numpy.random.Generator, optional
        Where the noise comes from.

    Returns
    -------
    p, q : ndarray
        NaN outside the mask. Flat where there is no usable normal: where all images are black, or where it
        faces away or nearly so, as shadows make it.
    normals : ndarray
        As photometric stereo gives them.
    """
    if sigma:
        brightest = np.max(images if mask is None else images[:, mask])
        images = images + sigma * brightest * rng.standard_normal(images.shape)
    normals, _ = photometric_stereo(images, lights, mask)
    usable = normals.copy()
    with np.errstate(invalid="ignore"):
        usable[~(usable[..., 2] > STEEPEST)] = (0.0, 0.0, 1.0)
    p, q = normals_to_gradient(usable, mask)
    return p, q, normals


def integrate_inside(p, q, mask, method, **options):
    """Integrate on the mask, or with zeros around it where the method needs a rectangle; return the depth.

    Examples
    --------
    >>> mask = np.array([[True, True, False]])
    >>> integrate_inside(np.zeros((1, 3)), np.array([[1.0, 1.0, np.nan]]), mask, "dct").round(6)
    array([[-0.5,  0.5,  nan]])
    """
    if method in RECTANGULAR:
        p, q = np.where(mask, p, 0.0), np.where(mask, q, 0.0)
        depth = integrate_quietly(p, q, method=method, **options).depth
        return np.where(mask, depth - depth[mask].mean(), np.nan)
    return integrate_quietly(p, q, mask, method=method, **options).depth


def depth_angular_error(depth, normals):
    """Return the angle between a depth's normals and the true ones, in degrees, and its mean.

    Normals are central differences; pixels at the border of the depth have none and are NaN.
    """
    error = angular_error(depth_to_normals(depth), normals)
    return error, float(np.nanmean(error))
