"""The hard negatives of a run that BM25 gives: its index of the judged view, and what it ranks high there; each kept or
made."""

from dataclasses import dataclass
from pathlib import Path

from lexigraft.core.artifact import Manifest, read_manifest
from lexigraft.core.progress import Progress
from lexigraft.core.settings import Settings
from lexigraft.data.collection import QUERIES, Collection
from lexigraft.learn.mining import mine
from lexigraft.learn.training_data import TRAIN
from lexigraft.stages.cells import ensure_index, ensure_lexical_vectors
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.layout import JUDGED, RunFolder

FORMAT_VERSION = 1
BM25 = "bm25"
MINED = "negatives.trec"


@dataclass(frozen=True)
class Bm25Negatives:
    """Makes what is missing of them, as part of a stage."""

    stage: str
    collection: Collection
    folder: RunFolder
    settings: Settings
    artifacts: Ensurer
    progress: Progress

    def index(self) -> Manifest:
        """BM25's index of the judged view; a run that has BM25 among its systems made it before."""
        found = read_manifest(self.folder.index(JUDGED, BM25, 0))
        if found is not None and f"index {BM25} ({JUDGED})" in self.artifacts.labels:
            return found
        vectors = ensure_lexical_vectors(self.artifacts, self.settings, JUDGED, self.collection, BM25, self.progress)
        return ensure_index(self.artifacts, self.settings, JUDGED, BM25, 0, vectors, self.progress)

    def mined(self, out: Path, depth: int) -> Manifest:
        """The `depth` highest documents of every training query that are not relevant to it, as MINED in `out`."""
        parents = {"index": self.index().fingerprint}
        parents |= {part: self.collection.digest(part) for part in (QUERIES, TRAIN)}
        wanted = Manifest("negatives", FORMAT_VERSION, {"depth": depth}, parents)
        index = self.folder.index(JUDGED, BM25, 0)

        def make(draft: Path) -> None:
            mine(index, self.collection, draft / MINED, depth, self.progress)

        return self.artifacts.ensure(self.stage, "mine negatives", out, wanted, make)
