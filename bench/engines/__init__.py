"""Engines over the same whole-number impacts, one file each, and what measures them side by side, on one thread."""

import os

# Here, because it runs before any engine's library is imported and starts its threads.
for _variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"
