"""`normint warm-up`: after it nothing is left to compile, whatever a user asks for."""

import subprocess
import sys

import pytest

from normint import cli

# Which kernels are there, for which types, after the warm-up; and which are new after other calls. The size,
# the mask, priors and cameras are others than those of the warm-up.
PROGRAM = """
import warnings
import numpy as np
import normint
from normint import compiling
from normint.cli.warm_up import run_everything
from normint.integration import METHODS

def known():
    return {(k.py_func.__module__, k.__name__, s) for k in compiling.KERNELS for s in k.signatures}

run_everything()
before = known()
warnings.simplefilter("ignore")
figure = normint.surfaces.figurine(150)
normals = normint.gradient_to_normals(figure.p, figure.q)
K = [[900, 0, 75], [0, 900, 75], [0, 0, 1]]
depth = np.where(figure.mask, 900 + figure.depth, np.nan)
for method in METHODS:
    full = method in ("dct", "sylvester")
    n, mask = (normals[60:90, 60:90], None) if full else (normals, figure.mask)
    normint.integrate_normals(n, mask, method=method)
    near = dict(prior=depth[:len(n), :len(n)], prior_weight=1e-3) if not full else {}
    normint.integrate_normals(n, mask, K, method=method, least_cosine=0.01, **near)
    p, q = np.random.default_rng(0).normal(size=(2, 33, 47))
    normint.integrate(p, q, method=method)
for missed in sorted(map(str, known() - before)):
    print(missed)
"""


@pytest.mark.slow
def test_nothing_is_left_to_compile():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.slow
def test_the_command_says_what_it_did(capsys):
    assert cli.main(["warm-up"]) == 0
    told = capsys.readouterr().out
    assert told == "everything was compiled already\n" or told.startswith("compiled ")
