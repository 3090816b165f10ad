"""Is there a tent with the paper's Figure 14? Mumford-Shah on many tents, from two starts, in two orders.

The paper shows its tent and gives no formula. It does not say how wide a discontinuity is (ε), nor which
unknown is updated first. All of this is varied, on one draw of the noise.
"""

import csv
from dataclasses import asdict, astuple, dataclass, fields
from itertools import product

import numpy as np

from normint import paths
from normint.integration import integrate_quietly
from normint.metrics import rmse
from normint.solver.system import System
from normint.surfaces.formulas import canadian_tent
from normint.workbook.results import paper_values
from normint.workbook.study import Study

__all__ = ["Pair", "Setting", "errors", "grid", "nearest", "read", "rows", "search"]

SIZES, HALVES = (64, 128), (0.14, 0.26, 0.38)
SLOPES, EPSILONS = (0.7, 1.0, 1.3, 2.0), (0.01, 0.02, 0.03, 0.05, 0.1)
MU, SIGMA = 20.0, 0.01  # as in the caption
STEPS, TOLERANCE = 100, 1e-4  # of conjugate gradients, as in the paper's scheme of the method


@dataclass(frozen=True)
class Setting:
    """A tent, and a width of discontinuities.

    Attributes
    ----------
    n : int
        Rows and columns.
    length, width : float
        Half of the ridge and half of the width, in parts of n.
    slope : float
    epsilon : float
    """

    n: int
    length: float
    width: float
    slope: float
    epsilon: float

    def surface(self):
        """Return the tent."""
        return canadian_tent(self.n, round(self.length * self.n), round(self.width * self.n), self.slope)


@dataclass(frozen=True)
class Pair:
    """The two errors of Figure 14 for one setting, the second in both orders.

    Attributes
    ----------
    setting : Setting
    deviation : float
        The standard deviation of the tent's depth: the RMSE of a flat surface.
    least_squares : float
        RMSE from least squares, where the order does not matter.
    w_first, z_first : float
        RMSE from zero, if the indicators or the depth are updated first.
    """

    setting: Setting
    deviation: float
    least_squares: float
    w_first: float
    z_first: float

    @property
    def zero(self):
        """RMSE from zero, in the order that is nearer to the paper."""
        printed = paper_values()["fig14", "from zero", "RMSE"]
        return min(self.w_first, self.z_first, key=lambda error: abs(error - printed))

    def distance(self):
        """Return how far the pair is from the paper's in the better order: the larger of two differences."""
        printed = paper_values()
        first, second = (printed["fig14", f"from {start}", "RMSE"] for start in ("least squares", "zero"))
        return max(abs(self.least_squares - first), abs(self.zero - second))


def grid():
    """Return all settings of the full search."""
    return [Setting(*one) for one in product(SIZES, HALVES, HALVES, SLOPES, EPSILONS)]


def search(settings, seed=0, **where):
    """Return the `Pair` of every setting.

    Parameters
    ----------
    settings : sequence of Setting
    seed : int
    **where
        As for :meth:`normint.workbook.study.Study.run`.
    """
    table = Study(errors, tuple({**asdict(one), "seed": seed} for one in settings)).run(
        label="tents", **where
    )
    names = [field.name for field in fields(Pair)[1:]]
    rows = table[names].itertuples(index=False)
    return [Pair(one, *map(float, row)) for one, row in zip(settings, rows, strict=True)]


def errors(*, seed, **setting):
    """Return the numbers of a `Pair`.

    Notes
    -----
    With the depth first, and indicators of 1 everywhere, the first depth is what at most 100 steps of
    conjugate gradients make of zero: not yet that of least squares, which is why the order matters.
    """
    tent = Setting(**setting).surface()
    noisy = tent.with_noise(SIGMA, np.random.default_rng(seed))
    zero = np.zeros(tent.depth.shape)
    system = System(tent.mask, np.ones((2, *zero.shape)), solver="cg")
    begun = system.solve(
        noisy.p, noisy.q, slopes=True, initial=zero, tolerance=TOLERANCE, max_iterations=STEPS
    ).depth
    options = {"method": "mumford_shah", "scheme": "paper", "mu": MU, "epsilon": setting["epsilon"]}
    starts = {"least_squares": None, "w_first": zero, "z_first": begun}
    depths = {
        name: integrate_quietly(noisy.p, noisy.q, initial=start, **options).depth
        for name, start in starts.items()
    }
    found = {name: rmse(depth, tent.depth) for name, depth in depths.items()}
    return {"deviation": float(tent.depth.std()), **found}


def nearest(pairs, count=1):
    """Return the pairs nearest to the paper's, the nearest first."""
    return sorted(pairs, key=Pair.distance)[:count]


def rows(pairs):
    """Yield the rows of a table of pairs, its header first; to a thousandth of a pixel."""
    yield [field.name for field in (*fields(Setting), *fields(Pair)[1:])]
    for pair in pairs:
        numbers = pair.deviation, pair.least_squares, pair.w_first, pair.z_first
        yield [*astuple(pair.setting), *(f"{number:.3f}" for number in numbers)]


def read(path=None):
    """Read the pairs of the full search, by default those of `data/tents.csv`."""
    with open(path or paths.root() / "data" / "tents.csv", newline="", encoding="utf-8") as file:
        _, *lines = csv.reader(file)
    return [
        Pair(Setting(int(n), *map(float, tent)), *map(float, rest)) for n, *tent, rest in map(_split, lines)
    ]


def _split(line):
    """Tell the setting of a row, field by field, from the numbers that it gave."""
    count = len(fields(Setting))
    return *line[:count], line[count:]
