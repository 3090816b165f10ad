"""What can be integrated in a study: surfaces of which the truth is known, by name."""

import inspect
from dataclasses import dataclass, replace

import numpy as np

from normint import datasets, surfaces
from normint.inputs import nearest
from normint.integration import integrate_quietly
from normint.metrics import rmse
from normint.normals.integrate_normals import integrate_normals
from normint.surfaces.scenes import Scene, scene
from normint.surfaces.sculptures import sculpture
from normint.surfaces.surface import Surface
from normint.workbook.study.metrics import METRICS, aligned_error

DOMAINS = ("all", "mask")


@dataclass(frozen=True, eq=False)
class Slopes:
    """A surface, and slopes that were measured of it.

    Attributes
    ----------
    p, q : ndarray
    mask : ndarray of bool or None
    surface : Surface
        The truth, with its exact slopes.
    scene : Scene, optional
        What it comes from, if its pieces may each have a constant of their own.
    rng : Generator, optional
        What the noise was drawn from, for what is drawn after it.
    """

    p: np.ndarray
    q: np.ndarray
    mask: np.ndarray | None
    surface: Surface
    scene: Scene | None = None
    rng: np.random.Generator | None = None

    @property
    def shape(self):
        """Rows and columns."""
        return self.p.shape

    def integrate(self, method, **options):
        """Integrate the slopes."""
        return integrate_quietly(self.p, self.q, self.mask, method=method, **options)

    def known_depths(self, count):
        """Return the true depth at some pixels, by chance, and NaN at the others."""
        known, depth = self.rng.choice(self.p.size, count, replace=False), self.surface.depth
        prior = np.full(depth.shape, np.nan)
        prior.flat[known] = depth.flat[known]
        return prior

    def measure(self, depth, metric):
        """Compare a depth with the truth."""
        if self.scene is not None:  # whose pieces may each have a constant
            return self.scene.error(depth)
        if metric == "rmse":
            return rmse(depth, self.surface.depth, self.mask)
        return METRICS[metric](depth, self.surface)


@dataclass(frozen=True, eq=False)
class Normals:
    """An object, and normals that were measured of it.

    Attributes
    ----------
    seen : Sculpture or DepthAndNormals
        Normals, mask, camera and depth.
    """

    seen: object

    @property
    def shape(self):
        """Rows and columns."""
        return self.seen.mask.shape

    def integrate(self, method, **options):
        """Integrate the normals."""
        one = self.seen
        return integrate_normals(
            one.normals, one.mask, one.camera, axes="uvz", method=method, check_axes=False, **options
        )

    def measure(self, depth, metric):
        """Compare a depth with the truth."""
        if hasattr(self.seen, "error"):
            return self.seen.error(depth)
        return aligned_error(depth, self.seen.depth, scaled=self.seen.camera is not None)


def make_case(surface, **settings):
    """Make what a study integrates.

    Parameters
    ----------
    surface : str
        A key of `CASES`.
    **settings
        What :func:`parameters_of` lists for it.

    Examples
    --------
    >>> make_case("peaks", n=32, sigma=0.1, seed=3).shape
    (32, 32)
    """
    check_case(surface, settings)
    return CASES[surface](**settings)


def check_case(surface, settings):
    """Raise a ValueError that names what is wrong about a surface, or a setting of it."""
    if surface not in CASES:
        raise ValueError(
            f"surface is {surface!r}; expected one of {', '.join(CASES)}{nearest(surface, CASES)}"
        )
    if settings.get("domain", "all") not in DOMAINS:
        raise ValueError(f"domain is {settings['domain']!r}; expected {' or '.join(DOMAINS)}")
    if surface == "scene" and "kind" not in settings:
        raise ValueError('surface is "scene", which needs a kind, such as kind="steps"')
    for name in ("n", "seed", "variant", "number"):
        if name in settings and not _is_whole(settings[name]):
            raise ValueError(f"{name} is {settings[name]!r}; expected a whole number ≥ 0")


def parameters_of(surface):
    """Return the settings that a surface takes, with their defaults."""
    makers = [CASES[surface]]
    if surface in FORMULAS:
        makers.append(FORMULAS[surface])
    parameters = {}
    for maker in makers:
        for name, parameter in inspect.signature(maker).parameters.items():
            if parameter.kind is not parameter.VAR_KEYWORD:
                parameters[name] = None if parameter.default is parameter.empty else parameter.default
    return parameters


def _formula(make):
    """Return the maker of a noisy surface from that of an exact one."""

    def made(*, sigma=0.0, seed=0, domain="all", **shape):
        surface, rng = make(**shape), np.random.default_rng(seed)
        noisy = surface.with_noise(sigma, rng) if sigma else surface
        return Slopes(noisy.p, noisy.q, surface.mask if domain == "mask" else None, surface, rng=rng)

    return made


def _middle(*, n=128):
    """Make the middle of peaks of twice the side: a surface that nothing ends at its border."""
    large, inside = surfaces.peaks(2 * n), np.s_[n // 2 : n // 2 + n, n // 2 : n // 2 + n]
    cut = {name: getattr(large, name)[inside] for name in ("depth", "p", "q", "mask")}
    surface = replace(large, **cut)
    return Slopes(surface.p, surface.q, None, surface)


def _scene(*, kind=None, variant=0, n=128):
    found = scene(kind, variant, n)
    return Slopes(found.p, found.q, found.mask, found.surface, found)


def _sculpture(*, number=0, n=160):
    return Normals(sculpture(number, n))


def _measured(*, name="", dataset="auto"):
    objects = {one.name: one for one in datasets.measured_objects(dataset)}
    if name and name not in objects:
        raise ValueError(f"name is {name!r}; expected one of {', '.join(objects)}")
    return Normals(objects[name] if name else next(iter(objects.values())))


def _is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


FORMULAS = {
    "vase": surfaces.vase,
    "canadian_tent": surfaces.canadian_tent,
    "peaks": surfaces.peaks,
    "figurine": surfaces.figurine,
    "bust": surfaces.bust,
}
CASES = {name: _formula(make) for name, make in FORMULAS.items()} | {
    "middle_of_peaks": _middle,
    "scene": _scene,
    "sculpture": _sculpture,
    "measured": _measured,
}
