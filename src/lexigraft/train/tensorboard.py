"""The values of every step as TensorBoard's event files, for who watches training there (F4)."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lexigraft.core.errors import MissingExtraError
from lexigraft.core.installing import install_extra
from lexigraft.core.processes import is_leader

Listener = Callable[[int, Mapping[str, float]], None]


@contextmanager
def scalars_to(folder: str) -> Iterator[tuple[Listener, ...]]:
    """Listeners for a `Loop` that write its values to event files in `folder`. There are none where `folder` is empty,
    and of several processes only the leader has one."""
    if not folder or not is_leader():
        yield ()
        return
    scalars = _Scalars(folder)
    try:
        yield (scalars.write,)
    finally:
        scalars.close()


class _Scalars:
    def __init__(self, folder: str) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            remedy = f"{install_extra('tensorboard')}, or leave the setting empty"
            raise MissingExtraError(f"finetune.tensorboard = {folder!r}", "tensorboard", remedy) from error
        self._make: Callable[..., Any] = SummaryWriter
        self._folder = folder
        self._writer: Any = None

    def write(self, step: int, values: Mapping[str, float]) -> None:
        if self._writer is None:  # what a killed run wrote of this and later steps is no longer shown
            self._writer = self._make(self._folder, purge_step=step)
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
