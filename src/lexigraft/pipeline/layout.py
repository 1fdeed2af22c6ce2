"""Where a run keeps what: the only place that knows the names of the folders under RUN.

RUN/collection/                     what was read (for pydocs: the two views in BEIR layout)
RUN/VIEW/SYSTEM/vectors/            document vectors
RUN/VIEW/SYSTEM/index[-dkN]/        their index, pruned to N terms a document
RUN/judged/SYSTEM/evaluation-qkN-dkM/    run.trec, per-query measures, the report row
RUN/report.json report.md report.png
RUN/settings.json timings.json
"""

from dataclasses import dataclass
from pathlib import Path

from lexigraft.core.errors import ArtifactError

JUDGED, FULL = "judged", "full"


@dataclass(frozen=True)
class RunFolder:
    root: Path

    @property
    def collection(self) -> Path:
        return self.root / "collection"

    @property
    def settings(self) -> Path:
        return self.root / "settings.json"

    @property
    def timings(self) -> Path:
        return self.root / "timings.json"

    def report(self, suffix: str) -> Path:
        return self.root / f"report.{suffix}"

    def vectors(self, view: str, system: str) -> Path:
        return self.root / view / system / "vectors"

    def index(self, view: str, system: str, keep: int) -> Path:
        return self.root / view / system / (f"index-dk{keep}" if keep else "index")

    def evaluation(self, system: str, qk: int, dk: int) -> Path:
        return self.root / JUDGED / system / f"evaluation-qk{qk}-dk{dk}"

    def systems(self) -> list[str]:
        """The systems that can be searched, in alphabetical order."""
        return sorted({path.parent.name for view in (JUDGED, FULL) for path in self.root.glob(f"{view}/*/index")})

    def searchable_index(self, system: str | None) -> Path:
        """The index a person searches: the full view where there is one. None: the run's default system."""
        if not self.root.is_dir():
            raise ArtifactError(
                f"there is no run at {self.root}; make one with: lexigraft run --data DIR --out {self.root}"
            )
        present = self.systems()
        if not present:
            raise ArtifactError(f"the run at {self.root} has no index yet; continue it with the command that began it")
        chosen = system or ("bm25" if "bm25" in present else present[0])
        for view in (FULL, JUDGED):
            if (path := self.index(view, chosen, 0)).is_dir():
                return path
        raise ArtifactError(f"the run at {self.root} has no system {chosen!r}; present: {', '.join(present)}")
