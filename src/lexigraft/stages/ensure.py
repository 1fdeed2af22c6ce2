"""Makes an artifact unless the right one is there already: the one rule of resuming.

An artifact is right when its manifest was written by the same recipe (kind, format, settings, parents, seed) and its
files are whole. Because parents are named by fingerprint, a change anywhere re-makes exactly what depends on it.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from lexigraft.core.artifact import Manifest, open_artifact, read_manifest, write_artifact, write_json
from lexigraft.core.errors import ArtifactError
from lexigraft.core.plain_files import read_plain_file
from lexigraft.core.processes import is_leader, n_processes, process_rank
from lexigraft.core.resources import measured
from lexigraft.core.systems import OWN_HOME, System
from lexigraft.stages.layout import RunFolder

STAGES = (
    "collect", "vocabulary", "mlm", "pretrain", "teacher", "tilde", "finetune", "encode", "index", "evaluate", "report",
)  # fmt: skip
SECONDS_UNTIL_SEEN = 90.0  # a network file system shows a new folder to other machines within a minute

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Ensurer:
    """Makes or keeps the artifacts of one run; `from_stage` and what follows it are made anew."""

    run: RunFolder
    from_stage: str | None
    labels: list[str] = field(default_factory=list)  # of this call, in order
    facts: dict[str, Mapping[str, Any]] = field(default_factory=dict)  # what else the report says of a stage, by label
    made: set[Path] = field(default_factory=set)  # in this call: what systems share is not made anew for each
    system: str = ""  # whose stages these are, where a run has several of a kind: labels end with it

    def of(self, system: System) -> "Ensurer":
        """The same for the training of one system: its labels end with its name, but for the run's own model."""
        return self if system.home in ("", OWN_HOME) else replace(self, system=system.name)

    def label(self, label: str) -> str:
        """What the log and the report call a stage."""
        return f"{label} of {self.system}" if self.system else label

    def add_facts(self, label: str, facts: Mapping[str, Any]) -> None:
        """What the report says of a stage beside what it took."""
        self.facts[self.label(label)] = facts

    def ensure(
        self,
        stage: str,
        label: str,
        path: Path,
        wanted: Manifest,
        make: Callable[[Path], object],
        together: bool = False,
    ) -> Manifest:
        """The manifest of the artifact at `path`, made by `make(folder)` where the one there is not as wanted.

        Of several processes the leader makes it and the others wait; `together`: all of them do, and what the others
        write is thrown away.
        """
        label = self.label(label)
        self.labels.append(label)
        makers = Makers.ALL if together else Makers.LEADER
        with measured() as usage:
            found = keep_or_make(path, wanted, make, makers, anew=self.is_forced(stage) and path not in self.made)
        self.made.add(path)
        if found.was_there:
            log.info("%s: done before", label)
        elif is_leader():
            self.record(label, usage.seconds, usage.peak_rss_mib)
        return found.manifest

    def is_forced(self, stage: str) -> bool:
        return self.from_stage is not None and STAGES.index(stage) >= STAGES.index(self.from_stage)

    def record(self, label: str, seconds: float, peak_rss_mib: float) -> None:
        """Keep what a stage took, for the report; a stage that is done again replaces its line."""
        log.info("%s: %.1f s, %.0f MiB", label, seconds, peak_rss_mib)
        taken = {line["stage"]: line for line in self._all_timings()}
        taken[label] = {"stage": label, "seconds": round(seconds, 3), "peak_rss_mib": round(peak_rss_mib, 1)}
        write_json(self.run.timings, list(taken.values()))

    def timings(self) -> list[dict[str, Any]]:
        """What the stages of this call took, now or when they were done before, and the facts that some leave."""
        taken = {line["stage"]: line for line in self._all_timings()}
        labels = dict.fromkeys(self.labels)  # one may have been looked at twice
        return [{**taken[label], **self.facts.get(label, {})} for label in labels if label in taken]

    def _all_timings(self) -> list[dict[str, str | float]]:
        try:
            lines: list[dict[str, str | float]] = json.loads(read_plain_file(self.run.timings))
        except (OSError, ValueError):
            return []
        return lines


def barrier() -> None:
    """Return when every process of this run has come here; at once where there is one, which then needs no torch."""
    if n_processes() > 1:
        from lexigraft.train import distributed

        distributed.barrier()


class Makers(Enum):
    """Who makes an artifact, where several processes work on one run."""

    ALONE = "this process: no other comes here"
    LEADER = "the leader, and the others wait"
    ALL = "all of them, because it takes all, and what the others write is thrown away"


class Kept(NamedTuple):
    manifest: Manifest
    was_there: bool


def keep_or_make(
    path: Path,
    wanted: Manifest,
    make: Callable[[Path], object],
    makers: Makers = Makers.ALONE,
    anew: bool = False,
) -> Kept:
    """The artifact at `path`, made by `make(folder)` where the one there is not as wanted or, with `anew`, in any case.

    A caller that is not alone must be called by every process, or they wait for ever.
    """
    wait = _no_others if makers is Makers.ALONE else barrier
    wait()  # all look before the leader changes anything
    kept = None if anew else whole_artifact(path, wanted)
    wait()
    if (kept is not None) if makers is Makers.ALONE else _leader_has(kept is not None):
        return Kept(kept or _made_by_leader(path, wanted), was_there=True)
    if makers is Makers.ALONE or is_leader():
        with write_artifact(path, wanted) as folder:
            make(folder)
    elif makers is Makers.ALL:
        with TemporaryDirectory() as folder_of_no_use:
            make(Path(folder_of_no_use))
    wait()
    return Kept(_made_by_leader(path, wanted), was_there=False)


def _leader_has(found: bool) -> bool:
    """What the leader found: were two processes of different minds, each would wait for the other for ever."""
    if n_processes() == 1:
        return found
    from lexigraft.train import distributed

    return distributed.broadcast(float(found)) == 1


def _made_by_leader(path: Path, wanted: Manifest) -> Manifest:
    """The manifest of an artifact that the leader has written; another machine may see it some seconds later."""
    until = time.monotonic() + SECONDS_UNTIL_SEEN
    while True:
        found = read_manifest(path)
        if found is not None and found.same_recipe(wanted):
            return found
        if time.monotonic() > until:
            raise ArtifactError(
                f"{path}, which process 0 has written, is not there for process {process_rank()}: all machines need "
                "the same run; give them an --out that they share"
            )
        time.sleep(0.2)


def _no_others() -> None:
    """There is nobody to wait for."""


def whole_artifact(path: Path, wanted: Manifest) -> Manifest | None:
    """The manifest of the artifact at `path` where it is as wanted and whole."""
    found = read_manifest(path)
    if found is None or not found.same_recipe(wanted):
        return None
    try:
        return open_artifact(path, wanted.kind, wanted.format_version)
    except ArtifactError as error:
        log.warning("%s", error)
        log.warning("%s is made again", path)
        return None
