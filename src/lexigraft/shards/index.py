"""Vectors to an inverted index by shards of whole ranges of documents, which are then joined (`index.joining`).

All shards have the scale and the bits that one index of all vectors would have: they are found before, in one pass.
"""

import shutil
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from lexigraft.core.artifact import Manifest
from lexigraft.core.cut import DocumentCut
from lexigraft.core.progress import Progress
from lexigraft.core.settings import IndexSettings
from lexigraft.index import store
from lexigraft.index.build import build_index, count_postings
from lexigraft.index.codec import RANGE
from lexigraft.index.impact_bits import impact_bits
from lexigraft.index.inverted import IndexMeta
from lexigraft.index.joining import Part, join_indexes
from lexigraft.index.store import open_index
from lexigraft.shards.encoding import folder_of_shards
from lexigraft.shards.running import Where, make_shards
from lexigraft.stages.standalone import Invert, Inverting, seen_from
from lexigraft.vectors.quantize import document_scale
from lexigraft.vectors.store import DocumentVectors, open_vectors


@dataclass(frozen=True)
class IndexShards:
    """The inversion of the vectors at `vectors`, whose fingerprint is given, in so many shards below `folder`."""

    vectors: Path
    fingerprint: str
    folder: Path
    n_rows: int
    n_shards: int
    keep: DocumentCut
    scale: float
    bits: int
    memory_mib: int
    range_size: int = RANGE  # less in tests
    label: str = "inverting"

    @cached_property
    def _cut(self) -> list[tuple[int, int]]:
        """(first row, last row + 1) of each shard: at most so many of them, of whole ranges."""
        n_ranges = -(-self.n_rows // self.range_size)
        n_shards = min(self.n_shards, n_ranges)
        ends = [number * n_ranges // n_shards * self.range_size for number in range(n_shards)]
        return list(zip(ends, [*ends[1:], self.n_rows], strict=True))

    @property
    def sizes(self) -> list[int]:
        return [last - first for first, last in self._cut]

    def wanted(self, number: int) -> Manifest:
        config = {
            "shard": number, "of": len(self._cut), "rows": list(self._cut[number]), "keep": self.keep,
            "scale": self.scale, "bits": self.bits, "range_size": self.range_size,
        }  # fmt: skip
        return Manifest(store.KIND, store.FORMAT_VERSION, config, {"vectors": self.fingerprint})

    def make(self, number: int, folder: Path) -> None:
        opened = open_vectors(self.vectors, checksums=False)  # whose bytes were compared before there were shards
        queries = seen_from(self.folder / f"{number:05d}", opened.query_encoder, self.vectors)
        rows = replace(rows_of(opened, *self._cut[number]), query_encoder=queries)
        settings = IndexSettings(memory_mib=self.memory_mib, bits=self.bits)
        build_index(rows, folder, self.keep, settings, scale=self.scale, range_size=self.range_size)


def rows_of(vectors: DocumentVectors, first: int, last: int) -> DocumentVectors:
    """The rows `first` to `last`, without the last, whose entries stay where they are."""
    matrix = replace(
        vectors.matrix, row_ids=vectors.matrix.row_ids[first:last], indptr=vectors.matrix.indptr[first : last + 1]
    )
    return replace(vectors, matrix=matrix, titles=vectors.titles[first:last])


def invert_by_shards(where: Where, range_size: int = RANGE) -> Invert:
    """What `stages.standalone` indexes vectors by, for work that is done in shards. `range_size` is for tests."""

    def invert(inverting: Inverting, folder: Path, progress: Progress) -> IndexMeta:
        vectors, path, out, keep, settings = inverting
        bits = impact_bits(settings.index, vectors, keep)
        _, _, largest = count_postings(vectors.matrix, keep)
        # Kept shards have a name that is seen, and hidden ones go.
        hidden = folder_of_shards(out.resolve())
        shards = out.resolve().with_name(f"{out.name}.shards") if where.keep else hidden / "index"
        work = IndexShards(
            path.resolve(), vectors.fingerprint, shards, vectors.matrix.n_rows, where.shards, keep,
            document_scale(largest, bits), bits, settings.index.memory_mib, range_size,
        )  # fmt: skip
        parts = [Part(shard, open_index(shard)) for shard in make_shards(work, where, progress)]
        meta = join_indexes(parts, folder, vectors.query_encoder, settings.index, progress).meta
        if not where.keep:
            shutil.rmtree(hidden)
        return meta

    return invert
