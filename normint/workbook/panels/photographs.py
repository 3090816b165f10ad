"""Panels on photographs: lights on the figurine, and a picture from a few of its pixels."""

import numpy as np

from normint.metrics import angular_error
from normint.normals.convert import gradient_to_normals
from normint.workbook.figures.images import only_kept
from normint.workbook.panels import pictures
from normint.workbook.panels.controls import Choice, Number
from normint.workbook.panels.generated import METHODS, noise_control
from normint.workbook.panels.panel import Panel
from normint.workbook.panels.surface_view import turnable
from normint.workbook.studies.control_points import control_points
from normint.workbook.studies.noise_draws import depth_angular_error, integrate_inside, photometric_gradient
from normint.workbook.studies.restoration import psnr, restore

LIGHTS = 12
POINTS = {
    "largest gradient": "gradient",
    "dithered |ΔL|": "dithered",
    "regular grid": "regular",
    "random": "random",
}
FILLS = {"least squares": "quadratic", "Mumford-Shah": "mumford_shah"}
STEPS = 10  # of Mumford-Shah for each channel; with μ < 1, more of them would still change some colours
SLOPES = {"colours and slopes": "central", "colours only": None}


def lights_panel(n=112, live=None):
    """Photograph the figurine under a few lights, with noise, and integrate the normals found.

    Parameters
    ----------
    n : int
        Rows of the figurine.
    live : bool, optional
        See :class:`normint.workbook.panels.Panel`.

    Returns
    -------
    Panel

    Examples
    --------
    >>> panel = lights_panel(48, live=False)
    >>> before = panel.state["normals_off"]
    >>> panel.set(sigma=0.0)
    >>> panel.state["normals_off"] < before
    True
    """
    from normint.surfaces import figurine
    from normint.surfaces.rendering import photograph

    statue, lights = figurine(n), light_directions()
    images = photograph(statue, lights, mask=statue.mask).astype(np.float64)
    normals = np.where(statue.mask[..., np.newaxis], gradient_to_normals(statue.p, statue.q), np.nan)

    def solve(values, check):
        count, sigma = values["count"], values["sigma"] / 100
        rng = np.random.default_rng(0)
        p, q, found = photometric_gradient(images[:count], lights[:count], statue.mask, sigma=sigma, rng=rng)
        check()
        depth = integrate_inside(p, q, statue.mask, values["method"], callback=check)
        error, off = depth_angular_error(depth, normals)
        before = angular_error(found, normals)
        noise = sigma * images[:count].max() * np.random.default_rng(0).standard_normal(images[0].shape)
        state = {"depth": depth, "depth_error": error, "depth_off": off, "count": count}
        state |= {"photograph": images[0] + noise, "normals_error": before}
        return state | {"normals_off": float(np.nanmean(before)), "mask": statue.mask}

    controls = [
        Number("count", "lights", 4, 3, LIGHTS, 1, format="d"),
        noise_control(2.0, 10.0, 0.5),
        Choice("method", "method", "anisotropic_diffusion", METHODS),
    ]
    return Panel("lights", controls, solve, _draw_lights, _turn_lights, live=live)


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


def control_points_panel(n=96, dataset="auto", live=None):
    """Keep a fraction of a picture's pixels, and fill in the others.

    So that it answers at once, the picture is small, and Mumford-Shah does at most 10 iterations for each
    channel. With μ < 1, more of them would still change some colours.

    Parameters
    ----------
    n : int
        Rows and columns to which the picture is reduced.
    dataset : {"auto", "real", "stand-in"}
        See :func:`normint.datasets.peppers`.
    live : bool, optional
        See :class:`normint.workbook.panels.Panel`.

    Returns
    -------
    Panel

    Examples
    --------
    >>> panel = control_points_panel(32, "stand-in", live=False)
    >>> less = panel.state["psnr"]
    >>> panel.set(percent=40.0)
    >>> panel.state["psnr"] > less
    True
    """
    import cv2

    from normint.datasets import peppers

    picture = peppers(which=dataset)
    image = cv2.resize(picture.image, (n, n), interpolation=cv2.INTER_AREA)

    def solve(values, check):
        keep = control_points(image, values["percent"] / 100, values["choice"], np.random.default_rng(0))
        shah = values["method"] == "mumford_shah"
        options = {"mu": values["mu"], "max_iterations": STEPS} if shah else {}
        fill = restore(
            image, keep, gradient=values["slopes"], method=values["method"], callback=check, **options
        )
        state = {"image": image, "keep": keep, "restored": fill, "psnr": psnr(image, fill)}
        return state | {"name": picture.name}

    controls = [
        Number("percent", "control points (%)", 10.0, 1.0, 50.0, 1.0, format=".0f"),
        Choice("choice", "where", "gradient", POINTS),
        Choice("method", "fill by", "mumford_shah", FILLS),
        Choice("slopes", "keep", "central", SLOPES),
        Number("mu", "μ", 10.0, 0.01, 100.0, 0.1, log=True, when={"method": ("mumford_shah",)}),
    ]
    return Panel("control points", controls, solve, _draw_points, _turn_points, live=live)


def _draw_lights(state):
    figure, (seen, before, surface, after) = pictures.canvas()
    mask, (low, high) = state["mask"], np.percentile(state["photograph"][state["mask"]], (1, 99))
    picture = np.where(mask, state["photograph"], np.nan)
    pictures.photograph(seen, picture, f"photograph 1 of {state['count']}", vmin=low, vmax=high)
    pictures.angles(before, state["normals_error"], f"the normals found: {state['normals_off']:.1f}° off")
    pictures.lit(surface, state["depth"], "the surface, lit")
    pictures.angles(after, state["depth_error"], f"normals of the surface: {state['depth_off']:.1f}° off")
    return figure


def _draw_points(state):
    figure, (original, kept, restored, error) = pictures.canvas()
    image, keep, fill = state["image"], state["keep"], state["restored"]
    pictures.photograph(original, image, state["name"].partition(",")[0])
    pictures.photograph(kept, only_kept(image, keep), f"kept: {keep.mean():.1%} of the pixels")
    pictures.photograph(restored, fill, f"filled in: PSNR {state['psnr']:.1f} dB")
    off = np.abs(np.subtract(fill, image, dtype=np.float64)).mean(axis=-1)
    pictures.levels(error, off, f"mean error {off.mean():.1f} levels")
    return figure


def _turn_lights(state):
    return turnable(state["depth"], "turn it with the mouse")


def _turn_points(state):
    green = state["restored"][..., 1].astype(np.float64)
    return turnable(green, "a colour channel is a surface: green", aspect=0.35, zlabel="level")
