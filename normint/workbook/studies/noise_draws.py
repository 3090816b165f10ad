"""What the notebooks do again and again: a method on many noise draws, set beside the paper's numbers."""

from dataclasses import dataclass

import numpy as np

from normint.integration import integrate_quietly
from normint.metrics import angular_error
from normint.normals.convert import depth_to_normals, normals_to_gradient
from normint.normals.photometric_stereo import photometric_stereo
from normint.workbook.results import paper_values, record
from normint.workbook.study import Study

RECTANGULAR = ("dct", "sylvester")
STEEPEST = 0.1  # normals with a smaller n_z have slopes beyond 10: from photographs, these are shadows


@dataclass(frozen=True)
class First:
    """The result for the first draw.

    Attributes
    ----------
    depth, energies : ndarray
    iterations : int
    """

    depth: np.ndarray
    energies: np.ndarray
    iterations: int


@dataclass(frozen=True)
class Runs:
    """A method on several noise draws.

    Attributes
    ----------
    first : First
    errors : ndarray
        RMSE of every draw.
    """

    first: First
    errors: np.ndarray

    @property
    def mean(self):
        """The mean error."""
        return float(np.mean(self.errors))

    @property
    def spread(self):
        """The standard deviation of the errors over draws."""
        return float(np.std(self.errors))


def over_seeds(surface, sigma, seeds, **options):
    """Integrate a surface's gradient with noise, once for every seed.

    Parameters
    ----------
    surface : str
        See :data:`normint.workbook.study.cases.CASES`.
    sigma : float
        Noise level, see :meth:`normint.surfaces.Surface.with_noise`. Without noise one draw is enough.
    seeds : sequence of int
    **options
        For :func:`normint.workbook.study.integrated`: those of the surface, and of the method.

    Returns
    -------
    Runs

    Examples
    --------
    >>> runs = over_seeds("peaks", 0.1, range(3), n=32, method="dct")
    >>> len(runs.errors), runs.spread < runs.mean
    (3, True)
    """
    study = Study.over(surface=surface, sigma=sigma, seed=seeds, **options, keep=("depth", "energies"))
    table = study.run(label=options.get("method", ""))
    return Runs(First(**study.arrays(), iterations=int(table["iterations"][0])), table["rmse"].to_numpy())


def titled_depths(figure, runs, labels=None):
    """Return the depths of the first draws by title, with our error and the paper's, for a figure.

    Parameters
    ----------
    figure : str
    runs : dict
        From case to :class:`Runs`.
    labels : dict, optional
        Replacements for parts of the cases' names, such as ``{"mu=": "μ = "}``.
    """
    paper, titles = paper_values(), {}
    for case, run in runs.items():
        label = case
        for old, new in (labels or {}).items():
            label = label.replace(old, new)
        printed = paper[figure, case, "RMSE"]
        titles[f"{label}\nRMSE {run.errors[0]:.2f} (paper: {printed:.2f})"] = run.first.depth
    return titles


def report(figure, runs, *, tolerance, note="", reasons=None):
    """Print our errors beside the paper's and record them.

    Parameters
    ----------
    figure : str
        ``"fig08"``.
    runs : dict
        From case, as in `data/paper_values.csv`, to :class:`Runs`.
    tolerance : float
        How far our mean may be from the paper's single draw to count as reproduced.
    note : str
        Settings, for all cases.
    reasons : dict, optional
        From case to why it is not reproduced.
    """
    paper = paper_values()
    width = max(len(case) for case in runs)
    print(f"{'':{width}}   paper   this draw   all draws       verdict")
    for case, run in runs.items():
        count = len(run.errors)
        text = f"first draw {run.errors[0]:.2f}, mean of {count}; {note}" if count > 1 else note
        verdict = record(
            figure, case, "RMSE", run.mean, spread=run.spread if count > 1 else None,
            tolerance=tolerance, note=text, reason=(reasons or {}).get(case, ""),
        )  # fmt: skip
        every = f"{run.mean:.2f} ± {run.spread:.2f}" if count > 1 else "one draw"
        print(
            f"{case:{width}}   {paper[figure, case, 'RMSE']:5.2f}   {run.errors[0]:9.2f}   {every:11}     "
            f"{verdict.partition(':')[0]}"
        )


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
