"""Documents to learned vectors by shards, and the shards joined to what one process would have written, to the bit.

Shards are cut between the batches that documents are encoded in, so every text meets the same others on its way. What
is added up over all documents is added up batch by batch, in their order: sums of real numbers depend on that.
"""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from lexigraft.core.arrays import StringTable, write_strings
from lexigraft.core.artifact import Manifest, write_json
from lexigraft.core.errors import ArtifactError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.stored_record import as_expected, read_object, record_of
from lexigraft.inference.threads import at_most
from lexigraft.shards.texts import OfTexts
from lexigraft.stages.encode_model import query_encoder_of
from lexigraft.vectors import store
from lexigraft.vectors.encode import encode_batches
from lexigraft.vectors.encoding_facts import EncodingFacts
from lexigraft.vectors.open_network import open_network
from lexigraft.vectors.rows_writer import DocumentRowsWriter
from lexigraft.vectors.store import DocumentVectors, VectorsMeta, open_vectors, read_meta, row_ranges, write_meta

OF_BATCHES = "batches.json"  # what the model left out of each batch: EncodingFacts, in order


@dataclass(frozen=True)
class EncodeShards(OfTexts):
    """The encoding of `texts` by the model at `model`, whose fingerprint is given, in so many shards below `folder`.
    `threads`: of each shard; 0 for all that a process may use."""

    model: Path
    fingerprint: str
    passages: bool
    bits: int
    threads: int = 0
    label: str = "encoding documents"

    def wanted(self, number: int) -> Manifest:
        config = {**self.place_of(number), "bits": self.bits, "passages": self.passages}
        parents = {"model": self.fingerprint, "texts": self.opened.digest(self.cut[number])}
        return Manifest(store.KIND, store.FORMAT_VERSION, config, parents)

    def make(self, number: int, folder: Path) -> None:
        shard, facts = self.cut[number], list[EncodingFacts]()
        network = open_network(self.model, self.bits, on_gpu=True, fingerprint=self.fingerprint)
        final = self.folder / f"{number:05d}"
        queries = query_encoder_of(network, self.model, self.fingerprint, final, self.bits)
        with at_most(self.threads or os.cpu_count() or 1):
            encode_batches(self.opened.read(shard), network, queries, folder, self.passages, of_batches=facts)
        write_json(folder / OF_BATCHES, {"batches": [asdict(one) for one in facts]})


def join_vectors(shards: Sequence[Path], folder: Path, model: str, progress: Progress = SILENT) -> VectorsMeta:
    """Write the vectors of shards, one after the other, into `folder`; `model` is the way from there to the model."""
    meta, facts = read_meta(shards[0]), None
    with DocumentRowsWriter(folder) as writer:
        for path in progress.track(shards, "joining shards", len(shards)):
            vectors = open_vectors(path)
            _require_alike(path, vectors, meta)
            matrix = vectors.matrix
            writer.append_names(matrix.row_ids, vectors.titles)
            for start, end in row_ranges(matrix.indptr):
                ends = matrix.indptr[start : end + 1]
                span = slice(ends[0], ends[-1])
                writer.append_rows(ends[1:] - ends[0], matrix.term_ids[span], matrix.weights[span])
            facts = _added(facts, path)
    write_strings(folder, "terms", StringTable(shards[0], "terms"))
    queries = {**meta.query_encoder, "model": model}
    joined = replace(meta, n_rows=writer.n_rows, query_encoder=queries, encoding=facts.as_json() if facts else {})
    write_meta(folder, joined)
    return joined


def _require_alike(path: Path, vectors: DocumentVectors, meta: VectorsMeta) -> None:
    if vectors.matrix.vocab_fingerprint != meta.vocab_fingerprint:
        raise ArtifactError(f"{path} has another vocabulary than the shard before it; remove it, and make it again")


def _added(facts: EncodingFacts | None, shard: Path) -> EncodingFacts:
    """`facts` and what was left out of the batches of a shard, batch by batch."""
    file = shard / OF_BATCHES
    with as_expected(file):
        batches = [record_of(file, EncodingFacts, one) for one in read_object(file)["batches"]]
    for one in batches:
        if facts is None:
            facts = EncodingFacts(one.length, one.most_terms)
        facts.add(one)
    assert facts is not None, "a shard has a batch"
    return facts
