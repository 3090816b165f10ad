"""`normint warm-up`: compile everything now, so that nothing has to later."""

import subprocess
import sys
import time
import warnings

from normint.cli.printing import complain, say

APART = ["bilateral", "calibrated"]  # they share few kernels with the others, and take about half of the time


def add_warm_up(commands):
    """Add the subcommand."""
    parser = commands.add_parser("warm-up", help="compile everything now, so that no later run has to")
    parser.set_defaults(command=warm_up)


def warm_up(arguments):
    """Compile, and say how long it took."""
    start = time.perf_counter()
    from normint import compiling

    count = 0 if compiling.complete() else _compile_on_two_cores()
    compiling.mark_complete()
    if not count:
        say("everything was compiled already")
    elif compiling.folder() is None:
        say("no folder can be written to, so that compiled code is not kept; set NUMBA_CACHE_DIR to one")
        return 1
    else:
        say(f"compiled {count} kernels in {time.perf_counter() - start:.0f} s, into {compiling.folder()}")
    return 0


def _compile_on_two_cores():
    """Run first what all share, then two halves; return how many kernels had to be compiled."""
    from normint import compiling
    from normint.integration import METHODS

    run_everything(["quadratic"])
    code = f"from normint.cli import warm_up; warm_up.run_everything({APART!r}); "
    code += "from normint import compiling; print(compiling.compiled())"
    half = subprocess.Popen([sys.executable, "-P", "-c", code], stdout=subprocess.PIPE, text=True)
    run_everything([name for name in METHODS if name not in APART])
    told = half.communicate()[0].strip()
    run_everything(APART)  # from disk, but for what the other could not keep there
    return compiling.compiled() + (int(told) if told.isdigit() else 0)


def compile_first():
    """Compile in a process of its own what is not compiled yet, before several need it at once."""
    from normint import compiling

    if not compiling.complete():
        complain("compiling everything once, before notebooks run side by side")
        subprocess.run([sys.executable, "-P", "-m", "normint", "warm-up"], stdout=subprocess.DEVNULL)


def run_everything(names=None):
    """Run methods in every way that is compiled anew: with and without a mask, a prior, and pieces.

    All of them, if no names are given.
    """
    import numpy as np

    from normint import integrate, surfaces
    from normint.integration import METHODS, options_of

    vase = surfaces.vase(96).with_noise(0.01, np.random.default_rng(0))  # some measure the noise
    # Two pieces and a small one; and, as people have them, a rectangle.
    apart = vase.mask.copy()
    apart[48] = False
    apart[:3, :3] = True
    prior = np.where(np.arange(96) == 48, vase.depth, np.nan)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # a few iterations do
        for name in METHODS if names is None else names:
            rectangle = name in ("dct", "sylvester")
            few = {"max_iterations": 3} if "max_iterations" in options_of(name) else {}
            schemes = ("fast", "paper") if "scheme" in options_of(name) else (None,)
            for scheme in schemes:
                options = few | ({} if scheme is None else {"scheme": scheme})
                integrate(vase.p, vase.q, method=name, **options)
                held = {"prior": np.nan_to_num(vase.depth), "prior_weight": 1e-3}
                integrate(vase.p, vase.q, method=name, **held, **options)
                if not rectangle:
                    integrate(vase.p, vase.q, apart, method=name, **options)
                    held = {"prior": np.nan_to_num(prior), "prior_weight": 1.0 * np.isfinite(prior)}
                    integrate(vase.p, vase.q, apart, method=name, **held, **options)
    for make in (surfaces.figurine, surfaces.bust):
        make(64)
