"""Times are of one thread: whoever measures one holds a model to that, too."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from lexigraft.inference.threads import at_most


@contextmanager
def one_thread() -> Iterator[None]:
    """A model's encoder computes on one thread, too, in torch or by its graph; BM25's never does otherwise."""
    with at_most(1):
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
