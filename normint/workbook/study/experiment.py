"""The experiment of most studies: integrate a surface whose truth is known, by one method."""

import json
from contextlib import suppress
from functools import lru_cache

import numpy as np

from normint.inputs import as_count, nearest
from normint.integration import METHODS, function_of, integrate_quietly, options_of
from normint.methods.calibrated.constants import CONSTANTS
from normint.workbook.study.cases import check_case, make_case, parameters_of
from normint.workbook.study.measuring import CLOCK
from normint.workbook.study.metrics import METRICS

EVERYWHERE = ("rmse", "inside")  # metrics that need no slopes of the truth
WITHOUT_SLOPES = ("scene", "sculpture", "measured")  # their truth is a depth alone


def integrated(*, surface="vase", method="quadratic", metrics="rmse", **others):
    """Integrate a surface and compare with the truth.

    Parameters
    ----------
    surface : str
        A key of :data:`normint.workbook.study.cases.CASES`.
    method : str
        A key of :data:`normint.integration.METHODS`.
    metrics : str
        Keys of :data:`normint.workbook.study.metrics.METRICS`, with commas between.
    **others
        Settings of the surface (``n``, ``sigma``, ``seed``, ``domain``, …) and options of the method. In
        place of arrays, ``initial`` is "zero", "rough" or a method, ``prior`` is "flat" or a number of pixels
        whose true depth is known, and ``constants`` is a dict of those that differ.

    Returns
    -------
    dict
        The metrics, the last energy, iterations, whether it converged, the processor's seconds that the
        method took; depth and energies as arrays.

    Examples
    --------
    >>> found = integrated(surface="peaks", n=32, method="dct")
    >>> found["rmse"] < 0.1, found["depth"].shape
    (True, (32, 32))
    """
    of_case, options = _split(surface, method, others)
    case = make_case(surface, **of_case)
    arrays = _arrays(case, options)
    start = CLOCK()
    result = case.integrate(method, **arrays)
    seconds = CLOCK() - start
    energies = np.asarray(result.energies, dtype=np.float64)
    return {
        **{name: case.measure(result.depth, name) for name in metrics.split(",")},
        "energy": float(energies[-1]) if energies.size else None,
        "iterations": int(result.iterations),
        "converged": bool(result.converged),
        "seconds": seconds,
        "depth": result.depth,
        "energies": energies,
    }


def settle(settings):
    """Check settings of :func:`integrated` and bring them into their only form; see :class:`Study`.

    Without noise, every seed gives the same: it becomes 0. What is not given is not filled in: defaults
    belong to the code.
    """
    for name, default in (("surface", "vase"), ("method", "quadratic"), ("metrics", "rmse")):
        settings.setdefault(name, default)
    surface, method = settings["surface"], settings["method"]
    others = {k: v for k, v in settings.items() if k not in ("surface", "method", "metrics")}
    check_case(surface, others)
    function_of(method)
    of_case, options = _split(surface, method, others)
    _check_metrics(surface, settings["metrics"], others.get("domain"))
    _check_starts(options)
    sigma = of_case.get("sigma", 0.0)
    if isinstance(sigma, bool) or not isinstance(sigma, (int, float)) or not 0 <= sigma < np.inf:
        raise ValueError(f"sigma is {sigma!r}; expected a finite number ≥ 0")
    if "seed" in of_case and not sigma:
        settings["seed"] = 0
    _try_options(method, json.dumps(options, sort_keys=True))
    return settings


integrated.settle = settle  # type: ignore[attr-defined]


def knows(name, surface, method):
    """Tell whether a setting means something for a surface or a method."""
    return name in parameters_of(surface) or name in options_of(method)


def _split(surface, method, others):
    """Tell settings of the surface from options of the method."""
    known, own = parameters_of(surface), options_of(method)
    for name in others:
        if name not in known and name not in own:
            every = [*known, *own]
            raise ValueError(
                f"{name} is neither a setting of surface {surface!r} nor an option of method {method!r}; "
                f"they have {', '.join(every)}{nearest(name, every)}"
            )
    of_case = {name: value for name, value in others.items() if name in known}
    return of_case, {name: value for name, value in others.items() if name not in known}


def _check_metrics(surface, metrics, domain):
    names = metrics.split(",") if isinstance(metrics, str) else [metrics]
    for name in names:
        if name not in METRICS:
            raise ValueError(f"metrics holds {name!r}; expected some of {', '.join(METRICS)}")
        if name not in EVERYWHERE and (surface in WITHOUT_SLOPES or domain == "mask"):
            raise ValueError(f"metrics holds {name!r}, which needs a whole image with exact slopes")


def _check_starts(options):
    start, prior = options.get("initial"), options.get("prior")
    if start is not None and start not in ("zero", "rough", *METHODS):
        raise ValueError(f"initial is {start!r}; expected zero, rough, or one of {', '.join(METHODS)}")
    if prior not in (None, "flat"):
        as_count("prior", prior)
    for name in options.get("constants") or {}:
        if name not in CONSTANTS._fields:
            raise ValueError(f"constants holds {name!r}; expected some of {', '.join(CONSTANTS._fields)}")


@lru_cache(maxsize=1000)
def _try_options(method, options):
    """Let a method look at its options, on a few pixels, before any run."""
    few, options = np.zeros((5, 5)), json.loads(options)
    options = {**options, **{name: few for name in ("initial", "prior") if options.get(name) is not None}}
    if options.get("constants") is not None:
        options["constants"] = CONSTANTS._replace(**options["constants"])
    if "callback" in options_of(method):
        options["callback"] = _stop
    with suppress(StopIteration):
        integrate_quietly(few, few, method=method, **options)


def _stop(*_):
    raise StopIteration


def _arrays(case, options):
    """Return options of a method, with arrays and tuples for what stands for them in settings."""
    options = dict(options)
    start = options.get("initial")
    if start == "zero":
        options["initial"] = np.zeros(case.shape)
    elif start == "rough":
        scale = case.surface.depth.std()
        options["initial"] = scale * np.random.default_rng(0).standard_normal(case.shape)
    elif start is not None:
        options["initial"] = case.integrate(start).depth
    prior = options.get("prior")
    if prior == "flat":
        options["prior"] = np.zeros(case.shape)
    elif prior is not None:
        options["prior"] = case.known_depths(prior)
    if options.get("constants") is not None:
        options["constants"] = CONSTANTS._replace(**options["constants"])
    return options
