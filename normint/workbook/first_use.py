"""The first minute on a new machine, where everything has to be compiled."""

import time
from threading import Thread

import numpy as np
from IPython import get_ipython

from normint import compiling, paths, surfaces
from normint.integration import integrate_quietly


def compile_while_reading():
    """Compile least squares and the calibrated method in a thread; do nothing where nobody reads.

    A cell that needs them earlier waits and says so; to compile them itself would take it as long.
    """
    if compiling.complete() or not paths.watched():
        return
    thread = Thread(target=_compile, daemon=True)

    def say_that_it_waits(cell):
        if thread.is_alive() and "integrate" in cell.raw_cell:
            print("normint: still compiling, first use only; this cell waits for it", flush=True)

    get_ipython().events.register("pre_run_cell", say_that_it_waits)
    thread.start()


def _compile():
    start = time.perf_counter()
    vase = surfaces.vase(96).with_noise(0.01, np.random.default_rng(0))
    integrate_quietly(vase.p, vase.q, vase.mask)
    integrate_quietly(vase.p, vase.q, method="calibrated")
    if compiling.compiled():
        print(f"normint: compiled in {time.perf_counter() - start:.0f} s", flush=True)
