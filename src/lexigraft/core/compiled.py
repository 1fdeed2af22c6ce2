"""The one place that says how kernels are compiled: numba, cached on disk, without the GIL.

A typed wrapper, because numba's decorator hides a function's signature from the type checker. Kernels take and return
arrays and numbers only, and never allocate in inner loops.

numba is imported when a kernel is first called, because that takes longer than most of what a short process does. A
process that asks one question never needs it: what little work there is, numpy does (see `worth_loading`).

numba stamps a kernel's cache with the time and size of its own file, although the machine code holds what it calls in
other files, too, and every constant. So the stamp is widened here: by the stamps of the files of kernels whose names
the module has, and by the numbers it imported. Nothing is ever deleted, so processes that start together do not
disturb each other: each takes what was made of the sources it has, or makes it.
"""

import functools
import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar, cast

import numpy as np

Kernel = TypeVar("Kernel", bound=Callable[..., object])

LOADING = 25_000_000  # what numpy does in about the time in which numba is loaded, in units of `worth_loading`

_stamps: dict[str, str] = {}  # of every module that has kernels, by its name
_to_register: list[Callable[..., object]] = []  # functions that kernels may call and numba was not told of yet
_lock = RLock()
_loaded = False
_left = 0  # how many want numpy to go on
_done_without = 0


def compiled(function: Kernel) -> Kernel:
    """Compile `function` to machine code on first use; the result is cached beside the source or in the home folder,
    or, where neither can be written, not at all."""
    return cast(Kernel, _LazyKernel(function, _stamp_of_module(function)))


def inlined(function: Kernel) -> Kernel:
    """`function` as it is, which kernels may call, too: it becomes part of their machine code."""
    _stamp_of_module(function)
    _to_register.append(function)
    return function


def worth_loading(work: int) -> bool:
    """Whether a kernel shall do some work that numpy can do as well, with the same result.

    `work` is in units of some 20 nanoseconds of numpy's time. Until numba is loaded, numpy does the work of a process;
    when that has taken about as long as loading takes, there will be more of it, and kernels do the rest. So no process
    takes more than about twice as long as if it had known beforehand how much there would be.
    """
    global _done_without
    if _loaded:
        return True
    _done_without += work  # threads may lose some of each other's: it is an estimate
    return not _left and _done_without > LOADING


@contextmanager
def leaving_kernels() -> Iterator[None]:
    """Meanwhile numpy does the work of a process that has not loaded numba, however much there is: kernels are being
    compiled elsewhere. What only a kernel can do loads it all the same."""
    global _left
    _left += 1
    try:
        yield
    finally:
        _left -= 1


def for_steps(kernel: Kernel, steps: int) -> Kernel:
    """A kernel that calls no other one; or its source, run by Python, where so many steps of its inner loops, each some
    two microseconds of Python's time, are not worth loading numba."""
    if worth_loading(100 * steps):
        return kernel
    return cast(Kernel, getattr(kernel, "__wrapped__", kernel))


def are_loaded() -> bool:
    """Whether kernels do all work already, so that nobody need estimate how much there is."""
    return _loaded


def load_kernels() -> None:
    """From here on kernels do all work: for who knows that there is much, or measures how long it takes. Not while they
    are left to another process: a batch of one request would make all others wait for the compiler."""
    global _loaded
    _loaded = _loaded or not _left


class _LazyKernel:
    """A kernel that numba sees when it is first called, or first called by another kernel."""

    def __init__(self, function: Callable[..., object], stamp: str) -> None:
        functools.update_wrapper(self, function)
        self._function, self._stamp = function, stamp
        self._call: Callable[..., Any] = self._load_and_call
        self._made: Any = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._call(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        """What numba's own object has, such as `py_func` and `stats`."""
        if name.startswith("__"):  # who asks for these wants to know what kind of thing this is, and no machine code
            raise AttributeError(name)
        return getattr(self._dispatcher(), name)

    @property
    def _numba_type_(self) -> Any:
        """As what kernels see the name of this one: as numba's own."""
        return self._dispatcher()._numba_type_

    def _dispatcher(self) -> Any:
        with _lock:
            if self._made is None:
                self._made = _for_numba(self._function, self._stamp)
            return self._made

    def _load_and_call(self, *arguments: Any, **named: Any) -> Any:
        self._call = self._dispatcher()
        return self._call(*arguments, **named)


def _for_numba(function: Callable[..., object], stamp: str) -> Any:
    """The function as numba compiles it when it is called."""
    import numba
    from numba.extending import register_jitable

    load_kernels()
    while _to_register:
        register_jitable(_to_register.pop())
    try:
        kernel: Any = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # "cannot cache function ...: no locator available"
        return numba.njit(nogil=True)(function)
    file = kernel._cache._cache_file  # numba has no public way; a test shows that this one works
    file._source_stamp = (file._source_stamp, stamp)
    return kernel


def stamp_of_kernels() -> str:
    """What decides whether the machine code of all kernels that this process knows is still that of their sources."""
    return hashlib.blake2b(repr(sorted(_stamps.items())).encode()).hexdigest()


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
