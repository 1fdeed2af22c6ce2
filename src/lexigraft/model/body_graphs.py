"""The backbone's forward and backward pass recorded once for each shape of a batch and replayed (CUDA graphs).

A small backbone is some hundred short kernels, and launching them one by one takes longer than what they do. A shape is
recorded when it comes a second time; lengths are rounded up, so that there are few of them. Each recording keeps the
memory of its pass, so there is a limit. What is not recorded is launched, at the same lengths, and with the same random
numbers where a rectangle has padding. Where it has none, the library leaves out the mask when it launches, and
attention may then be another kernel, which draws others for its dropout.
"""

import gc
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

MOST = 16  # recordings
LENGTHS = 8  # subwords: lengths are rounded up to a multiple
ROOM = 2.2  # times what a step needs must be free, or nothing more is recorded: for the recording, and for launches

log = logging.getLogger(__name__)
Forward = Callable[[Tensor, Tensor], Tensor]


@contextmanager
def replayed(body: Any, longest: int | None, device: torch.device) -> Iterator[Callable[[], None]]:
    """Record and replay `body`, if any, on a GPU; gives what has to be called when a step begins."""
    if device.type != "cuda" or body is None:
        yield lambda: None
        return
    body.graphs = BodyGraphs(body, longest)
    if hasattr(torch.autograd.graph, "set_warn_on_accumulate_grad_stream_mismatch"):  # not before torch 2.10
        torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)  # recordings are made beside the stream
    try:
        yield body.graphs.begin_step
    finally:
        body.graphs = None
        _give_back_memory()


class BodyGraphs:
    """Replays `body`, whose `launched` takes subwords and mask [texts, length], while it trains. Within a step each
    recording is used once: what it has kept for the backward pass must not be overwritten."""

    def __init__(self, body: Any, longest: int | None) -> None:
        self._body, self._longest = body, longest
        self._graphs: dict[tuple[int, ...], Forward] = {}
        self._seen: dict[tuple[int, ...], tuple[Tensor, Tensor]] = {}
        self._due: list[tuple[int, ...]] = []
        self._in_step: Counter[tuple[int, ...]] = Counter()
        self._may_record = True
        self._step_needs: int | None = None  # bytes, at most, of what was launched before anything was recorded

    def begin_step(self) -> None:
        """Record what is due: now, when nothing of a step before is left that waits for its backward pass. Whoever
        holds on to what an earlier step computed keeps its gradients' stream, which a recording may not wait for."""
        self._in_step.clear()
        for key in self._due:
            if self._may_record and key not in self._graphs and len(self._graphs) < MOST:
                self._record(key, *self._seen[key])
        self._due.clear()

    def __call__(self, subwords: Tensor, mask: Tensor) -> Tensor:
        """Hidden states [texts, length, width]."""
        length = subwords.shape[1]
        spare = -length % LENGTHS
        if self._longest is not None and length + spare > self._longest:
            spare = 0
        shape = (len(subwords), length + spare)
        key = (*shape, self._in_step[shape])
        self._in_step[shape] += 1
        if spare:
            subwords, mask = (nn.functional.pad(part, (0, spare)) for part in (subwords, mask))
        run = self._graphs.get(key)
        if run is None:
            run = self._body.launched
            if self._may_record:
                if key in self._seen:
                    self._due.append(key)
                self._seen[key] = subwords, mask
        return run(subwords, mask)[:, :length]

    def _record(self, key: tuple[int, ...], subwords: Tensor, mask: Tensor) -> None:
        """Random numbers go on as if nothing had been recorded."""
        if not self._has_room(subwords.device):
            self._may_record = False
            return
        drawn = torch.cuda.get_rng_state(subwords.device)
        enabled, kind = torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")
        stream = torch.cuda.current_stream(subwords.device)
        try:
            with torch.autocast("cuda", dtype=kind, enabled=enabled, cache_enabled=False):
                inputs, shared = (subwords.clone(), mask.clone()), _Shared(self._body).train()
                recorded: Any = torch.cuda.make_graphed_callables(shared, inputs, allow_unused_input=True)
                self._graphs[key] = recorded
        except Exception as error:  # noqa: BLE001  # what a backbone does may not be recordable; it still runs
            said = (str(error).strip() or type(error).__name__).splitlines()[0]
            log.warning("the backbone's kernels are launched one by one, which is slower: %s", said)
            self._may_record = False
            self._graphs.clear()
            _give_back_memory()
            _renew_generator(subwords.device)  # the old one waits for the end of a recording
        torch.cuda.set_stream(stream)  # a recording that fails leaves its own
        torch.cuda.set_rng_state(drawn, subwords.device)

    def _has_room(self, device: torch.device) -> bool:
        torch.cuda.empty_cache()
        if self._step_needs is None:
            self._step_needs = torch.cuda.max_memory_allocated(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] >= ROOM * self._step_needs


def _give_back_memory() -> None:
    """Recordings are parts of cycles, and hold memory until those are collected."""
    gc.collect()
    torch.cuda.empty_cache()


def _renew_generator(device: torch.device) -> None:
    torch.cuda.default_generators[device.index or 0].graphsafe_set_state(torch.Generator(device))


class _Shared(nn.Module):
    """A module of its own with the same parameters: recording replaces a module's forward method."""

    def __init__(self, body: Any) -> None:
        super().__init__()
        self.body = body

    def forward(self, subwords: Tensor, mask: Tensor) -> Tensor:
        hidden: Tensor = self.body.launched(subwords, mask)
        return hidden
