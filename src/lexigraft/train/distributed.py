"""Several processes training one model (F5): each encodes a share of the batch, all see the whole of it.

Every process computes the same loss from the vectors of the whole batch, so a loss, a regulariser's weight and a
learning rate mean the same on one process and on many. `gather_rows` hands each process the gradient of its own rows,
and `add_gradients` adds up what the rows of all of them say of the weights.
"""

import atexit
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.core.errors import LexigraftError
from lexigraft.core.processes import n_processes, process_rank
from lexigraft.train.heartbeat import REMEDY, Heartbeat, Store, silence_allowed

PATIENCE = timedelta(days=2)  # the others wait while the leader reads a corpus or writes an index


class LostProcessError(LexigraftError, ConnectionError):
    """Another process of the training is gone."""


def connect() -> None:
    """Join the other processes; nothing where there are none, or when joined already."""
    if n_processes() > 1 and not dist.is_initialized():
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        if torch.cuda.is_available():
            # What names no device, as NCCL's own buffers do, must go to this process's GPU, not to the first.
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        silence = silence_allowed()
        with _together():
            dist.init_process_group(backend, timeout=PATIENCE)
            signs = _store_for_signs(silence)
        heartbeat = Heartbeat(signs, process_rank(), n_processes(), silence)
        heartbeat.start()
        # Left to the interpreter's end, the connection's threads may outlive what they use and abort the process.
        atexit.register(dist.destroy_process_group)
        atexit.register(heartbeat.stop)


def _store_for_signs(timeout: float) -> Store:
    """A connection of its own to the store that all processes share: torch's own waits there for days."""
    address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    patience = timedelta(seconds=timeout)
    store: Store = dist.TCPStore(  # type: ignore[attr-defined]  # torch offers it, and does not say so to mypy
        address, port, is_master=False, timeout=patience, wait_for_workers=False
    )
    return store


@contextmanager
def _together() -> Iterator[None]:
    """Around what needs all processes: where one of them is gone, this one ends with a line that says what to do."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:  # what gloo and the store make of a connection that was closed
        said = str(error).partition("\n")[0].partition("] ")[2] or str(error).partition("\n")[0]
        reason = said.partition(". This is typically")[0]
        raise LostProcessError(f"another process of this training is gone ({reason}); {REMEDY}") from error


def barrier() -> None:
    """Return when every process has come here."""
    if n_processes() > 1:
        connect()
        # Over the CPU: a process that waits hours must not hold a GPU.
        with _together():
            dist.all_reduce(torch.zeros(1))


def broadcast(value: float) -> float:
    """The leader's value, in every process."""
    if n_processes() == 1:
        return value
    connect()
    sent = torch.tensor([value], dtype=torch.float64)
    with _together():
        dist.broadcast(sent, 0)
    return float(sent)


def own_share(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows this process encodes: every process has equally many, so the last may have some of another's again."""
    n, share = n_processes(), -(-len(rows) // n_processes())
    if n == 1:
        return rows
    padded = np.concatenate((rows, np.resize(rows, share * n - len(rows))))
    return padded[process_rank() * share : (process_rank() + 1) * share]


class _GatherRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, own: Tensor) -> Tensor:
        parts = [torch.empty_like(own) for _ in range(n_processes())]
        with _together():
            dist.all_gather(parts, own.contiguous())
        ctx.share = len(own)
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        # All processes have the same loss of the same rows, so each already knows the gradient of its own.
        start = process_rank() * ctx.share
        return gradients[0][start : start + ctx.share].contiguous()


def gather_rows(own: Tensor, n_rows: int) -> Tensor:
    """The rows of all processes [n_rows, ...], in order, differentiable; `own` are those of `own_share`."""
    if n_processes() == 1:
        return own
    gathered: Tensor = _GatherRows.apply(own)  # type: ignore[no-untyped-call]
    return gathered[:n_rows]


def add_gradients(parameters: Iterable[Tensor]) -> None:
    """Every parameter's gradient becomes the sum over the processes; none where no process has one, so that the
    optimiser leaves such a parameter alone, as it does in one process."""
    if n_processes() == 1:
        return
    given = list(parameters)
    n_found = torch.tensor([parameter.grad is not None for parameter in given], dtype=torch.int64)
    with _together():
        dist.all_reduce(n_found)
        for parameter, n in zip(given, n_found.tolist(), strict=True):
            if not n:
                continue
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            dist.all_reduce(parameter.grad)


def total(value: Tensor) -> Tensor:
    """The sum of a value over the processes, without a gradient."""
    value = value.detach().clone()
    if n_processes() > 1:
        with _together():
            dist.all_reduce(value)
    return value
