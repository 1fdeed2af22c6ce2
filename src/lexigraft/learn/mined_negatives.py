"""The hard negatives of a run that one of its systems gives, usually BM25: its index of the judged view, and what it
ranks high there; each kept or made."""

from dataclasses import dataclass
from pathlib import Path

from lexigraft.core.artifact import Manifest, read_manifest
from lexigraft.core.errors import ArtifactError
from lexigraft.core.progress import Progress
from lexigraft.core.settings import Settings
from lexigraft.data.collection import QUERIES, Collection
from lexigraft.dense.store import KIND as DENSE_VECTORS
from lexigraft.learn.mining import mine
from lexigraft.learn.training_data import TRAIN
from lexigraft.stages.cells import ensure_index, ensure_lexical_vectors
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.layout import JUDGED, RunFolder

FORMAT_VERSION = 1
BM25 = "bm25"
MINED = "negatives.trec"


@dataclass(frozen=True)
class MinedNegatives:
    """Makes what is missing of them, as part of a stage. Of another system than BM25, the index is there already."""

    stage: str
    collection: Collection
    folder: RunFolder
    settings: Settings
    artifacts: Ensurer
    progress: Progress
    system: str = BM25

    @property
    def searched(self) -> Path:
        """What is searched of the judged view: an index, or the vectors of a dense system."""
        vectors = self.folder.vectors(JUDGED, self.system)
        made = read_manifest(vectors)
        is_dense = made is not None and made.kind == DENSE_VECTORS
        return vectors if is_dense else self.folder.index(JUDGED, self.system, 0)

    def index(self) -> Manifest:
        """The manifest of that; a run that has BM25 among its systems made it before."""
        found = read_manifest(self.searched)
        if found is not None and (self.system != BM25 or f"index {BM25} ({JUDGED})" in self.artifacts.labels):
            return found
        if self.system != BM25:
            raise ArtifactError(
                f"the run at {self.folder.root} has no index of {self.system!r} to find hard negatives with; make it "
                "with: lexigraft run, and name that system in run.systems"
            )
        vectors = ensure_lexical_vectors(self.artifacts, self.settings, JUDGED, self.collection, BM25, self.progress)
        return ensure_index(self.artifacts, self.settings, JUDGED, BM25, 0, vectors, self.progress)

    def mined(self, out: Path, depth: int) -> Manifest:
        """The `depth` highest documents of every training query that are not relevant to it, as MINED in `out`."""
        parents = {"index": self.index().fingerprint}
        parents |= {part: self.collection.digest(part) for part in (QUERIES, TRAIN)}
        wanted = Manifest("negatives", FORMAT_VERSION, {"depth": depth}, parents)
        searched = self.searched

        def make(draft: Path) -> None:
            mine(searched, self.collection, draft / MINED, depth, self.progress)

        return self.artifacts.ensure(self.stage, "mine negatives", out, wanted, make)
