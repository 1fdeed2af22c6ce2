"""The one place that says how kernels are compiled: numba, cached on disk, without the GIL.

A typed wrapper, because numba's decorator hides a function's signature from the type checker. Kernels take and return
arrays and numbers only, and never allocate in inner loops.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def compiled(function: Kernel) -> Kernel:
    """Compile `function` to machine code on first use; the result is cached beside the source or in the home folder,
    or, where neither can be written, not at all."""
    try:
        return cast(Kernel, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # "cannot cache function ...: no locator available"
        return cast(Kernel, numba.njit(nogil=True)(function))
