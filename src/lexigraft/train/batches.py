"""Which rows a step sees: a function of the seed and the step alone, which is what makes resuming exact."""

import numpy as np
from numpy.typing import NDArray


def rows_of_step(step: int, n_rows: int, batch: int, seed: int) -> NDArray[np.int64]:
    """The rows of a step: every pass goes through all rows once, in an order of its own; a batch never spans passes."""
    per_pass = max(1, n_rows // batch)
    order = np.random.default_rng((seed, step // per_pass)).permutation(n_rows)
    start = (step % per_pass) * batch
    return np.sort(order[start : start + batch])
