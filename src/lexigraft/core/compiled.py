"""The one place that says how kernels are compiled: numba, cached on disk, without the GIL.

A typed wrapper, because numba's decorator hides a function's signature from the type checker. Kernels take and return
arrays and numbers only, and never allocate in inner loops.

numba stamps a kernel's cache with the time and size of its own file, although the machine code holds what it calls in
other files, too, and every constant. So the stamp is widened here: by the stamps of the files of kernels whose names
the module has, and by the numbers it imported. Nothing is ever deleted, so processes that start together do not
disturb each other: each takes what was made of the sources it has, or makes it.
"""

import hashlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.extending import register_jitable

Kernel = TypeVar("Kernel", bound=Callable[..., object])

_stamps: dict[str, str] = {}  # of every module that has kernels, by its name


def compiled(function: Kernel) -> Kernel:
    """Compile `function` to machine code on first use; the result is cached beside the source or in the home folder,
    or, where neither can be written, not at all."""
    stamp = _stamp_of_module(function)
    try:
        kernel: Any = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # "cannot cache function ...: no locator available"
        return cast(Kernel, numba.njit(nogil=True)(function))
    file = kernel._cache._cache_file  # numba has no public way; a test shows that this one works
    file._source_stamp = (file._source_stamp, stamp)
    return cast(Kernel, kernel)


def inlined(function: Kernel) -> Kernel:
    """`function` as it is, which kernels may call, too: it becomes part of their machine code."""
    _stamp_of_module(function)
    register_jitable(function)
    return function


def _stamp_of_module(function: Callable[..., object]) -> str:
    """What decides whether the machine code of a module's kernels is still that of the sources.

    Taken when the module's first kernel is made: what it imported is there, what it defines below is in its own file.
    """
    name = function.__module__
    if name not in _stamps:
        _stamps[name] = hashlib.blake2b(repr(_sources(name, function.__globals__)).encode()).hexdigest()
    return _stamps[name]


def _sources(name: str, names: Mapping[str, object]) -> tuple[object, ...]:
    """The file's time and size, the stamps of modules of kernels that it imported from, and the numbers it has."""
    numbers, others = [], set()
    for key, value in names.items():
        if isinstance(value, int | float | np.generic):
            numbers.append((key, repr(value)))
        else:
            other = getattr(value, "__name__" if isinstance(value, type(sys)) else "__module__", None)
            if other != name and other in _stamps:
                others.add((other, _stamps[other]))
    try:
        found = Path(str(names.get("__file__"))).stat()
        file = (found.st_mtime_ns, found.st_size)
    except OSError:  # a module without a file has no cache that could be old
        file = (0, 0)
    return file, sorted(others), sorted(numbers)
