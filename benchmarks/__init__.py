"""Measurements of speed and memory: ``make bench``."""

import os

# Every time is a ratio to a transform on one thread, so nothing may use more. Must be set before numpy loads.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"
