"""Times are of one thread: whoever measures one holds a model to that, too."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from lexigraft.inference.threads import at_most


def one_blas_thread() -> AbstractContextManager[Any]:
    """numpy's products on one thread, where it can be told so; else on as many as OMP_NUM_THREADS says."""
    if importlib.util.find_spec("threadpoolctl") is None:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    held: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return held


@contextmanager
def one_thread() -> Iterator[None]:
    """A model's encoder computes on one thread, too, in torch or by its graph; BM25's never does otherwise."""
    with at_most(1), one_blas_thread():
        if "torch" not in sys.modules:
            yield
            return
        import torch

        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)
