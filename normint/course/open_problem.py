"""Exercise 10: to beat least squares on scenes that nobody has seen. A score, weights, and a contest."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from normint.course import given
from normint.course.checking import Mistake, Task, draws
from normint.domain import Domain
from normint.surfaces.scenes import KINDS, scene

SIDE = 64  # pixels: large enough for jumps, small enough to try ideas on
VISIBLE = 8  # the variant of the scenes that are shown; 0 … 7 are those of the workbook
NEARER = 0.5  # an answer this much nearer to a mistake than to the right one has that mistake


@cache
def contest(seed=None):
    """Return one scene of each kind.

    Parameters
    ----------
    seed : int, optional
        Of the hidden scenes. Without it, those that everybody sees.

    Returns
    -------
    tuple of Scene

    Examples
    --------
    >>> [scene.kind for scene in contest()[:3]]
    ['steps', 'ramps', 'bodies']
    """
    if seed is None:
        variants = np.full(len(KINDS), VISIBLE)
    else:
        variants = np.random.default_rng([10, seed]).integers(100, 10**6, len(KINDS))
    return tuple(_scene(kind, int(variant)) for kind, variant in zip(KINDS, variants, strict=True))


@cache
def _scene(kind, variant):
    return scene(kind, variant, SIDE)


def errors(integrate, scenes):
    """Return the error of a method on each scene, in pixels, after one offset for each piece.

    Examples
    --------
    >>> errors(least_squares_image, contest()[:1]).shape
    (1,)
    """
    # Copies, since scenes are kept: a method that writes into its arguments must not spoil the next one's.
    return np.array([one.error(integrate(one.p.copy(), one.q.copy(), one.mask.copy())) for one in scenes])


def least_squares_image(p, q, mask, *, sign=1, swapped=False, factor=1.0, transposed=False):
    """Integrate by least squares, with an option for every mistake in p, q and z."""
    p, q = (q, p) if swapped else (p, q)
    omega = Domain(mask)
    z = sign * factor * omega.to_image(given.least_squares(omega, p, q))
    return np.where(mask, np.nan_to_num(z.T), np.nan) if transposed else z


def score(errors, reference, *, mean="geometric", upside_down=False, exponential=True):
    """Return the geometric mean of the ratios."""
    ratios = reference / errors if upside_down else errors / reference
    if mean == "of each":
        return errors.mean() / reference.mean()
    if mean == "arithmetic":
        return ratios.mean()
    if mean == "median":
        return np.median(ratios)
    logarithm = np.log(ratios).mean()
    return np.exp(logarithm) if exponential else logarithm


def edge_weights(r, scale, *, outer=2, inner=2, what="weight", factor=1.0):
    """Return the weights of Geman and McClure."""
    square = np.abs(r) ** inner
    weight = factor * (scale**inner / (scale**inner + square)) ** outer
    return {"weight": weight, "slope": np.abs(r) * weight, "energy": square / (scale**inner + square)}[what]


@cache
def _imitated(kind, variant, *options):
    """Return what least squares with a mistake makes of a scene: it is kept, since every check needs it."""
    one = _scene(kind, variant)
    return least_squares_image(one.p, one.q, one.mask, **dict(options))


@dataclass(frozen=True)
class Contest(Task):
    """A task without a right answer: a method is good if it beats least squares on the visible scenes.

    It is compared with least squares, and with what mistakes make of that: a method with p and q exchanged is
    closer to least squares with p and q exchanged than to least squares.
    """

    def verdict(self, cases, answers):
        """Return whether the score is below 1, and where it is won and lost."""
        named = [case.split()[-2:] for case in cases]
        scenes = [_scene(kind, int(variant)) for kind, variant in named]
        for one, (z,) in zip(scenes, answers.values(), strict=True):
            if z.shape != one.mask.shape:
                return False, [f"on {one.kind}, z has the shape {z.shape}, expected {one.mask.shape}"]
            if not np.isfinite(z[one.mask]).all():
                return False, [f"on {one.kind}, z has values inside the mask that are not finite"]
        found = np.array([one.error(z) for one, (z,) in zip(scenes, answers.values(), strict=True)])
        ratios = found / [one.error(_imitated(one.kind, one.variant)) for one in scenes]
        ours, best, worst = np.exp(np.log(ratios).mean()), np.argmin(ratios), np.argmax(ratios)
        text = f"best on {KINDS[best]} ({ratios[best]:.2f}), worst on {KINDS[worst]} ({ratios[worst]:.2f})."
        if ours < 0.995:
            return True, [f"the score is {ours:.2f}: better than least squares. {text}"]
        mistake = self._nearest(scenes, answers)
        if mistake is not None:
            return False, [mistake.what, f"Why: {mistake.why}"]
        return False, [
            f"the score is {ours:.2f}: not better than least squares. {text}",
            f"Hint: {self.hint}",
        ]

    def _nearest(self, scenes, answers):
        """Return the mistake that the answers are nearest to, if one is much nearer than least squares."""
        gaps = {}
        for number, mistake in enumerate(self.mistakes):
            wrong = (_imitated(one.kind, one.variant, *mistake.options.items()) for one in scenes)
            pairs = zip(scenes, answers.values(), wrong, strict=True)
            gaps[number] = np.mean([np.std((z - depth)[one.mask]) for one, (z,), depth in pairs])
        plain = next(number for number, mistake in enumerate(self.mistakes) if not mistake.options)
        nearest = min(gaps, key=gaps.get)
        scale = np.mean([np.std(one.surface.depth[one.mask]) for one in scenes])
        near = gaps[plain] < 1e-3 * scale if nearest == plain else gaps[nearest] < NEARER * gaps[plain]
        return self.mistakes[nearest] if near else None


def _error_cases(seed=None):
    two, four = np.array([[1.0, 4.0], [2.0, 2.0]]), np.array([[0.3, 5.0, 0.8, 2.0], [1.0, 4.0, 2.5, 1.5]])
    if seed is not None:
        two *= draws(16, seed).uniform(0.6, 1.6, size=two.shape)
        four *= draws(17, seed).uniform(0.6, 1.6, size=four.shape)
    return {"two scenes": tuple(two), "four scenes": tuple(four)}


def _residuals(seed=None):
    r, scales = np.array([-3.0, -1.0, 0.0, 0.2, 0.5, 8.0]), (0.5, 2.0)
    if seed is not None:
        r, scales = r * draws(18, seed).uniform(0.7, 1.4, size=r.size), draws(19, seed).uniform(0.4, 2.5, 2)
    return {f"six residuals and the scale {scale:.3g}": (r, scale) for scale in scales}


def _scenes(seed=None):
    """Return the scenes of the contest, under names from which `Contest` knows them again."""
    return {f"the scene {one.kind} {one.variant}": (one.p, one.q, one.mask) for one in contest(seed)}


check_score = Task(
    "score",
    "the geometric mean of errors / reference, a number",
    score,
    _error_cases,
    (
        Mistake(
            {"mean": "arithmetic"},
            "this is the arithmetic mean of the ratios.",
            "Twice as good here and half as good there should make 1. The arithmetic mean of ½ and 2 is "
            "1.25, and the other method, compared with this one, would get 1.25 as well: each worse than "
            "the other.",
        ),
        Mistake(
            {"mean": "of each"},
            "this is the ratio of the mean errors.",
            "The scene with the largest error then decides alone. Take the ratio of each scene first.",
        ),
        Mistake(
            {"mean": "median"},
            "this is the median of the ratios.",
            "It does not notice a method that fails on a third of the scenes.",
        ),
        Mistake(
            {"upside_down": True},
            "the ratio stands on its head.",
            "errors / reference: below 1 is better than least squares.",
        ),
        Mistake(
            {"exponential": False},
            "the exponential is missing.",
            "exp(mean(log)): the mean of the logarithms is 0 where the score should be 1.",
        ),
    ),
    returns=("the score",),
    hint="np.exp(np.mean(np.log(errors / reference))).",
)

check_edge_weights = Task(
    "edge_weights",
    "the weight of each residual, between 0 and 1",
    edge_weights,
    _residuals,
    (
        Mistake(
            {"outer": 1},
            "the fraction is not squared.",
            "s²/(s² + r²) is the weight of Cauchy, which belongs to a logarithm: it holds on to large "
            "residuals for longer. Here Φ is r²/(s² + r²), whose slope falls faster.",
        ),
        Mistake(
            {"inner": 1},
            "r and the scale are not squared.",
            "s/(s + |r|) has a kink at r = 0: even the smallest noise would lower the weight.",
        ),
        Mistake(
            {"what": "slope"},
            "this is Φ', and the weight is Φ'/r.",
            "w r² should have the slope of Φ at this r, but for a factor. As it is, residuals of zero count "
            "nothing.",
        ),
        Mistake(
            {"what": "energy"},
            "this is Φ itself.",
            "It grows with r: jumps would count most of all. A weight falls.",
        ),
    ),
    returns=("w",),
    hint="(scale² / (scale² + r²))², element by element.",
)

check_method = Contest(
    "integrate",
    "a depth, an image like p, that is better than that of least squares",
    least_squares_image,
    _scenes,
    (
        Mistake(
            {},
            "this is least squares: the score is 1.00.",
            "A good start. Now let the weights follow the residuals.",
        ),
        Mistake(
            {"sign": -1},
            "the surface is upside down.",
            "p = ∂z/∂u: where p is positive, z grows downwards.",
        ),
        Mistake(
            {"swapped": True},
            "p and q are exchanged.",
            "p belongs to the differences along u, down the image, and q to those along v.",
        ),
        Mistake(
            {"factor": 2.0},
            "the surface is twice as high as it should be.",
            "Is each edge counted once in the matrix and twice on the right-hand side?",
        ),
        Mistake(
            {"factor": 0.5},
            "the surface is half as high as it should be.",
            "The slope of an edge is the mean of its two pixels: is something halved twice?",
        ),
        Mistake(
            {"transposed": True},
            "the image is transposed.",
            "Vectors go down the columns: turn them into images with omega.to_image(z).",
        ),
    ),
    returns=("z",),
    hint="begin with a scale so large that all weights are 1, and lower it slowly, down to the noise.",
)  # fmt: skip
