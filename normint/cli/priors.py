"""The prior of `normint integrate`: a depth map with a scale and a confidence, and control points."""

import numpy as np

from normint.cli.parsing import UsageError

FAR = 1.5  # from a prior, as a multiple of its noise


def check_prior(arguments):
    """Refuse flags that make no sense."""
    for flag, of in (("prior_weight", "prior"), ("prior_scale", "prior"), ("prior_confidence", "prior"),
                     ("points_weight", "points")):  # fmt: skip
        if getattr(arguments, flag) is not None and getattr(arguments, of) is None:
            name = flag.replace("_", "-")
            raise UsageError(f"--{name} is given without --{of}; expected both, or neither")
    for name in ("prior_weight", "points_weight"):
        value = getattr(arguments, name)
        if value is not None and not 0 < value < np.inf:
            raise UsageError(f"--{name.replace('_', '-')} is {value}; expected a finite number > 0")
    scale = arguments.prior_scale
    if scale is not None and (scale == 0 or not np.isfinite(scale)):
        raise UsageError(f"--prior-scale is {scale}; expected a finite number, not 0")


def read_prior(arguments, shape):
    """Read the files of the prior; return what `normint.priors.holding.hold` takes, and notes."""
    from normint.files.normal_maps import block_shapes, read_confidence, read_depth
    from normint.files.tables import read_points

    given, notes = {}, []
    if arguments.prior is not None:
        scale = 1.0 if arguments.prior_scale is None else arguments.prior_scale
        given["prior"] = read_depth(arguments.prior, shape, scale=scale, coarse=True)
        if given["prior"].shape != shape:
            given["size"] = block_shapes(shape)[given["prior"].shape]
        given["weight"] = arguments.prior_weight
    if arguments.prior_confidence is not None:
        given["confidence"] = read_confidence(arguments.prior_confidence, shape)
    if arguments.points is not None:
        given["points"], names = read_points(arguments.points, shape)
        if arguments.points_weight is not None:
            given["points_weight"] = arguments.points_weight
        if {"u", "v"} & {name.lower() for name in names}:
            notes.append(f"{arguments.points}: u was read as the row, downwards, and v as the column")
    return given, notes


def settings_of_prior(arguments):
    """Return what was asked for, as it goes into the report."""
    names = ("prior", "prior_weight", "prior_scale", "prior_confidence", "points", "points_weight")
    return {name: getattr(arguments, name) for name in names}


def hold_task(task):
    """Return what holds a task, or None. Notes and settings say what came of it."""
    from normint.priors.holding import hold

    if not task.prior:
        return None
    jumps = task.settings["method"] == "calibrated"
    held = hold(task.seen, rng=np.random.default_rng(0), jumps=jumps, **task.prior)
    if held.choice is not None:
        task.settings["prior_weight"] = held.choice.noise_weight if jumps else held.choice.weight
        task.settings["prior_weight_chosen"] = True
    if "prior" in task.prior:
        task.settings["prior_block"] = held.size
    if held.outside:
        task.notes.append(
            f"{held.outside} of {len(task.prior['points'])} points are outside the mask: left out"
        )
    if held.distance is not None:
        task.options.setdefault("distance", held.distance)
    if held.pieces:
        where = "zero mean" if held.distance is None else f"the mean distance {task.options['distance']:g}"
        pieces = "1 piece has" if held.pieces == 1 else f"{held.pieces} pieces have"
        task.notes.append(f"{pieces} no prior and no point: given {where}")
    return held


def compare_with_prior(task, held, depth):
    """Note a depth that is farther from the prior than its noise explains."""
    from normint.priors.holding import disagreement

    ratio = None if held is None else disagreement(task.seen, held, depth)
    if ratio is not None and ratio > FAR:
        weight = task.settings["prior_weight"]
        task.notes.append(
            f"the depth is {ratio:.1f} times as far from the prior as the prior's noise explains; "
            f"--prior-weight {10 * weight:.1g}, say, holds it closer (it was {weight:.1g})"
        )
