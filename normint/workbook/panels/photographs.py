"""Panels on photographs: lights on the figurine, and a picture from a few of its pixels."""

import numpy as np

from normint.metrics import angular_error
from normint.normals.convert import gradient_to_normals
from normint.workbook.figures.images import only_kept
from normint.workbook.panels import pictures
from normint.workbook.panels.controls import chosen_method, menu, method_controls, noise_slider, slider
from normint.workbook.panels.panel import Panel
from normint.workbook.studies.control_points import control_points
from normint.workbook.studies.photographs import depth_angular_error, integrate_inside, photometric_gradient
from normint.workbook.studies.restoration import psnr, restore

LIGHTS = 12
POINTS = {
    "largest gradient": "gradient",
    "dithered |ΔL|": "dithered",
    "regular grid": "regular",
    "random": "random",
}
SLOPES = {"colours and slopes": True, "colours only": False}


def lights_panel(n=112):
    """Photograph the figurine under a few lights, with noise, and integrate the normals found.

    Parameters
    ----------
    n : int
        Rows of the figurine.

    Returns
    -------
    Panel

    Examples
    --------
    >>> panel = lights_panel(48)
    >>> before = panel.state["normals_off"]
    >>> panel.controls["sigma"].value = 0
    >>> panel.state["normals_off"] < before
    True
    """
    from normint.surfaces import figurine
    from normint.surfaces.rendering import photograph

    statue, lights = figurine(n), light_directions()
    images = photograph(statue, lights, mask=statue.mask).astype(np.float64)
    normals = np.where(statue.mask[..., np.newaxis], gradient_to_normals(statue.p, statue.q), np.nan)

    def solve(check, count, sigma, **values):
        noise = {"sigma": sigma / 100, "rng": np.random.default_rng(0)}
        p, q, found = photometric_gradient(images[:count], lights[:count], statue.mask, **noise)
        check()
        depth = integrate_inside(p, q, statue.mask, callback=check, **chosen_method(values))
        error, off = depth_angular_error(depth, normals)
        before = angular_error(found, normals)
        grain = np.random.default_rng(0).standard_normal(images[0].shape)
        seen = images[0] + sigma / 100 * images[:count].max() * grain
        state = {"depth": depth, "depth_error": error, "depth_off": off, "count": count}
        state |= {"photograph": seen, "normals_error": before, "normals_off": float(np.nanmean(before))}
        return state | {"mask": statue.mask, "summary": f"normals of the surface {off:.1f}° off"}

    controls = {"count": slider("lights", 4, 3, LIGHTS, 1), "sigma": noise_slider(2.0, 10.0, 0.5)}
    return Panel("lights", controls | method_controls("anisotropic_diffusion"), solve, _draw_lights)


def light_directions():
    """Return directions to the lights, of which the first few are well spread for every number of them.

    Examples
    --------
    >>> int(np.linalg.matrix_rank(light_directions()[:3]))
    3
    """
    turns = 2 * np.pi * np.arange(LIGHTS) * (1 - 2 / (1 + 5**0.5))  # the golden angle, again and again
    aside = 0.35 + 0.3 * (np.arange(LIGHTS) % 3) / 2
    lights = np.stack([aside * np.sin(turns), aside * np.cos(turns), np.ones(LIGHTS)], axis=1)
    return lights / np.linalg.norm(lights, axis=1, keepdims=True)


def control_points_panel(n=72, dataset="auto"):
    """Keep a fraction of a picture's pixels, and fill in the others.

    Parameters
    ----------
    n : int
        Rows and columns to which the picture is reduced.
    dataset : {"auto", "real", "stand-in"}
        See :func:`normint.datasets.peppers`.

    Returns
    -------
    Panel

    Examples
    --------
    >>> panel = control_points_panel(32, "stand-in")
    >>> less = panel.state["psnr"]
    >>> panel.controls["percent"].value = 40
    >>> panel.state["psnr"] > less
    True
    """
    import cv2

    from normint.datasets import peppers

    picture = peppers(which=dataset)
    image = cv2.resize(picture.image, (n, n), interpolation=cv2.INTER_AREA)

    def solve(check, percent, choice, slopes, **values):
        keep = control_points(image, percent / 100, choice, np.random.default_rng(0))
        gradient = "central" if slopes else None
        fill = restore(image, keep, gradient=gradient, callback=check, **chosen_method(values))
        off = psnr(image, fill)
        state = {"image": image, "keep": keep, "restored": fill, "psnr": off, "name": picture.name}
        return state | {"depth": fill[..., 1].astype(np.float64), "summary": f"PSNR {off:.1f} dB"}

    controls = {
        "percent": slider("kept (%)", 10.0, 1.0, 50.0, 1.0),
        "choice": menu("where", "gradient", POINTS),
        "slopes": menu("keep", True, SLOPES),
        **method_controls("mumford_shah", "fill by"),
    }
    mu = controls["mumford_shah_mu"]  # of colours from 0 to 255, here
    mu.min, mu.max, mu.value = -2, 2, 10.0
    return Panel("control points", controls, solve, _draw_points, height=0.35, zlabel="green")


def _draw_lights(state):
    figure, (seen, before, surface, after) = pictures.canvas()
    mask, (low, high) = state["mask"], np.percentile(state["photograph"][state["mask"]], (1, 99))
    photograph = np.where(mask, state["photograph"], np.nan)
    pictures.image(seen, photograph, f"photograph 1 of {state['count']}", vmin=low, vmax=high)
    pictures.angles(before, state["normals_error"], f"the normals found: {state['normals_off']:.1f}° off")
    pictures.lit(surface, state["depth"], "the surface, lit")
    pictures.angles(after, state["depth_error"], f"normals of the surface: {state['depth_off']:.1f}° off")
    return figure


def _draw_points(state):
    figure, (original, kept, restored, error) = pictures.canvas()
    image, keep, fill = state["image"], state["keep"], state["restored"]
    pictures.image(original, image, state["name"].partition(",")[0])
    pictures.image(kept, only_kept(image, keep), f"kept: {keep.mean():.1%} of the pixels")
    pictures.image(restored, fill, f"filled in: PSNR {state['psnr']:.1f} dB")
    off = np.abs(np.subtract(fill, image, dtype=np.float64)).mean(axis=-1)
    scale = {"scale": "mean |error| of the channels", "cmap": "magma", "vmin": 0, "vmax": 60}
    pictures.image(error, off, f"mean error {off.mean():.1f} levels", **scale)
    return figure
