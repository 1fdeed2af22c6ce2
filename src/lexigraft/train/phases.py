"""Where the time of training goes: the share of every phase of a step, on the device's own clock."""

import time
from collections import defaultdict

import torch


class Phases:
    """`mark(name)`: the time since the last mark belongs to phase `name`. On a GPU marks are events in its queue, so
    that nothing waits for them; `settle` adds up those that have passed."""

    def __init__(self, device: torch.device) -> None:
        self._on_gpu = device.type == "cuda"
        self._marks: list[tuple[str, float | torch.cuda.Event]] = []
        self.seconds: dict[str, float] = defaultdict(float)
        self.mark("")

    def mark(self, name: str) -> None:
        if not self._on_gpu:
            self._marks.append((name, time.perf_counter()))
            return
        event: torch.cuda.Event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        self._marks.append((name, event))

    def settle(self, wait: bool = False) -> None:
        n_settled = 0
        for (_, before), (name, after) in zip(self._marks, self._marks[1:], strict=False):
            if isinstance(after, float) and isinstance(before, float):
                self.seconds[name] += after - before
            elif not isinstance(after, float) and not isinstance(before, float):
                if wait:
                    after.synchronize()
                elif not after.query():  # type: ignore[no-untyped-call]
                    break
                self.seconds[name] += before.elapsed_time(after) / 1000
            n_settled += 1
        self._marks = self._marks[n_settled:]

    def summary(self) -> str:
        """The phases with their shares, the longest first."""
        self.settle(wait=True)
        total = sum(self.seconds.values())
        longest_first = sorted(self.seconds.items(), key=lambda phase: -phase[1])
        return ", ".join(f"{name} {seconds / total:.0%}" for name, seconds in longest_first if seconds >= 0.005 * total)
