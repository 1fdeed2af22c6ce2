"""The one writer of a live index: append, delete and merge, each of which happens whole or not at all.

New files are written first and are on the disk before the state that names them; what no state names is removed after
the state has changed, and what killed writers left is removed before anything is written.
"""

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.artifact import MANIFEST, Manifest, hash_file, read_manifest, write_artifact
from lexigraft.core.cut import DocumentCut
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.core.folders import make_folders
from lexigraft.core.known_checksums import reading_every_byte
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import IndexSettings, LexicalSettings, Settings, WordsSettings
from lexigraft.core.types import Document, Vocabulary
from lexigraft.index import store
from lexigraft.index.build import build_index
from lexigraft.index.impact_bits import FINE, impact_bits
from lexigraft.index.inverted import IndexMeta
from lexigraft.index.live.agreement import (
    common_scale,
    of_same_bits,
    require_alike,
    require_all_terms,
    require_living_bits,
    require_same_reading,
    require_same_rows,
    row_documents,
    seen_from_segment,
)
from lexigraft.index.live.bm25 import first_state, plan_counted_merge, write_counted_segment
from lexigraft.index.live.counts import CountedSegment
from lexigraft.index.live.deleted import write_deleted
from lexigraft.index.live.embedding import Embed, ReadTwice, embedded, require_embedding
from lexigraft.index.live.folder import (
    SCRATCH,
    remove,
    state_on_disk,
    sweep,
)
from lexigraft.index.live.giving_metadata import living_metadata, segments_with, with_metadata
from lexigraft.index.live.graft_facts import LiveGraft
from lexigraft.index.live.merging import plan_merge, rebuild_vectors, scales_of
from lexigraft.index.live.reader import Segment, open_counted, open_segment
from lexigraft.index.live.rewriting import grafting_beside, write_merged_segment
from lexigraft.index.live.state import SEGMENTS, LiveState, SegmentState, segment_name, write_state
from lexigraft.index.live.texts import drop_texts_beyond_limit, rows_of_segments, write_living_texts
from lexigraft.index.live.widening import longest_vocabulary
from lexigraft.index.metadata_columns import Living
from lexigraft.index.metadata_files import NO_METADATA, MetadataTable
from lexigraft.index.texts import TextWriter, keep_texts, own_order
from lexigraft.vectors.analysis import reading_in
from lexigraft.vectors.counted_texts import count_texts
from lexigraft.vectors.deciding_words import LEXICAL, decide_by_stream
from lexigraft.vectors.store import DocumentVectors

SHOWN_IDS = 3

OnMissing = Literal["error", "ok"]
MetadataLater = Callable[[], MetadataTable]  # asked for when all documents were read


@dataclass(frozen=True)
class Appended:
    segment: str
    n_rows: int
    n_replaced: int  # documents of these ids that were deleted in the same step
    scale: float
    own_scale: bool  # weights were too large for the scales there were


@dataclass(frozen=True)
class Deleted:
    n_documents: int
    n_rows: int
    n_missing: int


@dataclass(frozen=True)
class Merged:
    segments: tuple[str, ...]
    into: str | None  # None where no row was left; one of them where the others were empty
    n_rows: int
    n_dropped: int
    scales: tuple[float, ...]  # the different ones before
    largest_error: float  # of a weight, where there were several scales


class LiveWriter:
    """Made by `open_writer`, `create_live` and `open_or_begin`, which hold the lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def state(self) -> LiveState | None:
        """The newest; None before the first. Always that of the disk: whatever is raised while one is written, and
        wherever, readers see either the old one or the new one, and what is done next must start from the same."""
        return state_on_disk(self.folder)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """An empty folder that is gone after the block, or after a kill when the next writer comes."""
        folder = self.folder / SCRATCH
        remove(folder)
        folder.mkdir()
        try:
            yield folder
        finally:
            remove(folder)

    def adopt(
        self, index: Path, query_encoder: Mapping[str, Any], metadata: MetadataTable = NO_METADATA
    ) -> SegmentState:
        """Begin with a copy of the index at `index`; paths in `query_encoder` start at the live folder."""
        if self.state is not None:
            raise ArtifactError(f"{self.folder} has documents already; add vectors to it")
        manifest = read_manifest(index)
        meta = store.open_index(index).meta  # every byte is compared and, of an index made elsewhere, looked through
        require_living_bits(meta.bits)
        after = read_manifest(index)
        if manifest is None or after is None or manifest.fingerprint != after.fingerprint:
            raise ArtifactError(f"{index} was replaced while it was copied; try again")
        name = segment_name(1)
        with write_artifact(self.folder / SEGMENTS / name, manifest) as draft:
            for file, facts in manifest.files.items():
                make_folders((draft / file).parent)
                shutil.copyfile(index / file, draft / file)
                if hash_file(draft / file) != facts["sha256"]:
                    raise ArtifactError(
                        f"{index / file} does not match its checksum: it was changed or damaged; build it again"
                    )
            store.write_meta(draft, replace(meta, query_encoder=seen_from_segment(query_encoder)))
        segment = self._with_metadata(self._described(name, meta), [Living(metadata)])
        self._commit(LiveState(1, 2, meta.vocab_fingerprint, meta.keep, meta.passages, query_encoder, (segment,)))
        return segment

    def append(
        self,
        vectors: DocumentVectors,
        keep: DocumentCut | None = None,
        replacing: bool = False,
        settings: IndexSettings | None = None,
        progress: Progress = SILENT,
        texts: Path | None = None,
        metadata: MetadataLater | None = None,
    ) -> Appended:
        """Add documents as one more segment; paths in the vectors' query encoder start at the live folder. What a
        `TextWriter` left in the folder `texts` is kept with them, and so are their `metadata`.

        They must be of the same vocabulary and encoder, in passages or not as those here, and cut to as many terms
        (`keep`: of the first segment, 0 where not given; afterwards only to be checked). An id that lives here already
        raises `InputError`, or with `replacing` the old document is deleted in the same step.
        """
        if not vectors.matrix.n_rows:
            raise InputError("there are no documents to add: the vectors have no rows")
        state = self.state or LiveState(
            0, 1, vectors.matrix.vocab_fingerprint, keep or 0, vectors.passages, vectors.query_encoder, ()
        )
        usual = impact_bits(IndexSettings(), vectors, state.keep)
        settings = of_same_bits(settings, self._bits(state), usual)
        require_alike(self.folder, state, vectors, keep)
        added = row_documents(vectors.matrix.row_ids, vectors.passages)
        kept_segments, n_replaced = self._without(state, added, replacing)
        scale = common_scale(state, vectors, int(settings.bits))
        own_scale = scale is None and any(segment.n_postings for segment in state.segments)
        name = segment_name(state.next_segment)
        manifest = Manifest(
            store.KIND, store.FORMAT_VERSION, {"keep": state.keep, "scale": scale}, {"vectors": vectors.fingerprint}
        )
        shared = replace(vectors, query_encoder=seen_from_segment(state.query_encoder))
        if texts is not None:
            drop_texts_beyond_limit(texts, self.folder, kept_segments, settings)
        with write_artifact(self.folder / SEGMENTS / name, manifest) as draft:
            meta = build_index(shared, draft, state.keep, settings, progress, scale=scale)
            if texts is not None:
                keep_texts(texts, draft, vectors.matrix.row_ids, own_order(draft, meta.reordered))
        segments = (*kept_segments, self._with_given(self._described(name, meta), metadata))
        self._commit(replace(state, segments=segments, next_segment=state.next_segment + 1))
        return Appended(name, meta.n_documents, n_replaced, meta.scale, own_scale)

    def append_texts(
        self,
        documents: Iterable[Document],
        lexical: LexicalSettings,
        passages: bool = False,
        keep: DocumentCut | None = None,
        replacing: bool = False,
        settings: IndexSettings | None = None,
        progress: Progress = SILENT,
        words: WordsSettings | None = None,
        metadata: MetadataLater | None = None,
        embed: Embed | None = None,
    ) -> Appended:
        """Add documents by their texts to an index of BM25 as one more segment, or begin one, read as `lexical` and
        `words` say (afterwards only to be checked). With `passages`, they are passages of documents. As for vectors, a
        known id raises `InputError`, or its document is replaced. A grafted index needs somebody to `embed` them."""
        require_all_terms(keep)
        state, words = self.state, words or WordsSettings()
        require_embedding(self.folder, state, embed)
        settings = of_same_bits(settings, None if state is None else self._bits(state), FINE)
        if state is not None:
            require_same_reading(self.folder, state, lexical, words)
            require_same_rows(self.folder, state, passages)
            lexical, rule = reading_in(state.query_encoder)
        else:
            read, documents = decide_by_stream(Settings(lexical=lexical, words=words), documents, [LEXICAL])
            lexical, rule = read.lexical, read.words.rule
        known = self._vocabulary(state.segments)[0].terms if state is not None else ()
        with self.scratch() as folder:
            twice = ReadTwice(folder / "twice") if embed is not None else None
            with TextWriter(folder, settings.most_text_bytes) as texts:
                passing = texts.passing(documents) if twice is None else twice.passing(texts.passing(documents))
                rows = count_texts(passing, lexical, known, folder, rule)
            if not rows.n_rows:
                raise InputError("there are no documents to add; the collection is empty")
            state = state or first_state(rows, lexical, rule, passages)
            kept_segments, n_replaced = self._without(state, row_documents(rows.row_ids, passages), replacing)
            drop_texts_beyond_limit(folder, self.folder, kept_segments, settings)
            name, grafting = segment_name(state.next_segment), None
            if embed is not None and twice is not None:
                vectors, _ = embedded(embed, rows, lambda: twice.again(rows.row_ids))
                grafting = grafting_beside(self.folder, replace(state, segments=kept_segments), rows, vectors)
            meta, _ = write_counted_segment(self.folder / SEGMENTS / name, state, rows, settings, progress, grafting)
        changed = replace(
            state,
            segments=(*kept_segments, self._with_given(self._described(name, meta), metadata)),
            next_segment=state.next_segment + 1,
            vocab_fingerprint=rows.vocabulary.fingerprint,
        )
        self._commit(changed)
        return Appended(name, meta.n_documents, n_replaced, meta.scale, own_scale=False)

    def graft(
        self, facts: LiveGraft, embed: Embed, settings: IndexSettings | None = None, progress: Progress = SILENT
    ) -> Merged:
        """Write all documents again as one segment with words beside their own, as `facts` say and by the vectors that
        `embed` makes. What was grafted before becomes so anew."""
        state = self._present()
        if not state.counts_words:
            raise InputError(
                f"{self.folder} is not a live index of BM25, which keeps the counts of words: its encoder is "
                f"{state.query_encoder.get('kind')!r}, and only BM25 can be grafted"
            )
        if not state.n_living:
            raise InputError(f"there are no documents in {self.folder} to graft; add some first")
        settings = of_same_bits(settings, self._bits(state), FINE)
        return self._merge_range(0, len(state.segments), settings, progress, replace(state, graft=facts), embed)

    def _bits(self, state: LiveState) -> int | None:
        """Of an impact, in all segments alike; None before the first."""
        return open_segment(self.folder, state.segments[0], checksums=False).index.meta.bits if state.segments else None

    def _vocabulary(self, segments: Iterable[SegmentState]) -> tuple[Vocabulary, str]:
        """What the segments of an index of BM25 share: the longest vocabulary, and its fingerprint."""
        opened = [open_segment(self.folder, segment, checksums=True).index for segment in segments]
        return longest_vocabulary(opened)

    def delete(self, doc_ids: Iterable[str], missing: OnMissing = "error") -> Deleted:
        """Delete documents, all of their passages. Ids that do not live here raise `InputError` and nothing is deleted;
        with `missing` "ok" they are counted."""
        if missing not in ("error", "ok"):
            raise SettingError(f"missing = {missing!r} is not allowed: 'error' or 'ok'")
        state, wanted = self._present(), set(doc_ids)
        hits = self._find(state, wanted)
        found = {doc_id for hit in hits for doc_id in hit.rows}
        if (absent := sorted(wanted - found)) and missing == "error":
            raise InputError(
                f"{len(absent)} of {len(wanted)} ids are not in {self.folder} (such as {_some(absent)}); nothing was "
                "deleted; leave these out"
            )
        if found:
            self._commit(replace(state, segments=self._hide(state, hits)))
        n_rows = sum(len(rows) for hit in hits for rows in hit.rows.values())
        return Deleted(len(found), n_rows, len(absent))

    def set_metadata(self, given: MetadataTable, replacing: bool = False) -> None:
        """Let documents have the metadata that are `given`, beside what else they have; that of all other documents
        stays. With `replacing`, nothing stays of what any document had. Says how many of those given do not live here;
        raises where none does."""
        state = self._present()
        self._commit(replace(state, segments=segments_with(self.folder, state, given, replacing)))

    def merge(
        self, everything: bool = False, settings: IndexSettings | None = None, progress: Progress = SILENT
    ) -> list[Merged]:
        """Merge segments while it pays, or all of them into one; says what was done, nothing where nothing was."""
        done = []
        while span := self._plan(self._present(), everything):
            settings = of_same_bits(settings, self._bits(self._present()), FINE)
            done.append(self._merge_range(*span, settings, progress))
        return done

    def _plan(self, state: LiveState, everything: bool) -> tuple[int, int] | None:
        if not state.counts_words:
            return plan_merge(state.segments, everything)
        return plan_counted_merge(state.segments, everything, state.graft is not None)

    def _merge_range(
        self, first: int, last: int, settings: IndexSettings, progress: Progress, state: LiveState | None = None,
        embed: Embed | None = None,
    ) -> Merged:  # fmt: skip
        """Merge these segments of `state`: that of the disk, or that with another graft, which needs vectors by
        `embed`."""
        state = state or self._present()
        before, chosen, after = state.segments[:first], state.segments[first:last], state.segments[last:]
        # Every byte is checked: what is copied gets new checksums, and damage would look whole from then on.
        with reading_every_byte():
            counted = [open_counted(self.folder, one, checksums=True) for one in chosen if state.counts_words]
            opened = [Segment(one.index, one.allowed, one.metadata) for one in counted] or [
                open_segment(self.folder, segment, checksums=True) for segment in chosen
            ]
        survivors = [segment for segment in opened if segment.n_living]
        into, error, mean_length, graft = None, 0.0, state.mean_length, state.graft
        weighed_anew = state.counts_words and not before and not after
        if len(survivors) == 1 and survivors[0].allowed is None and not weighed_anew:  # the others are empty
            into = next(named for named, segment in zip(chosen, opened, strict=True) if segment.n_living)
        elif survivors and state.counts_words:
            others = [open_counted(self.folder, one, checksums=True) for one in (*before, *after)]
            into, mean_length, graft = self._write_recounted(state, counted, others, settings, progress, embed)
            into = self._with_metadata(into, living_metadata(survivors))
        elif survivors:
            into, error = self._write_merged(state, survivors, settings, progress)
            into = self._with_metadata(into, living_metadata(survivors))
        elif not before and not after:  # one stays, all deleted: the vocabulary lives in segments
            into = chosen[0]
        segments = (*before, *((into,) if into else ()), *after)
        fingerprint = self._vocabulary(segments)[1] if state.counts_words else state.vocab_fingerprint
        changed = replace(state, segments=segments, vocab_fingerprint=fingerprint, mean_length=mean_length, graft=graft)
        self._commit(replace(changed, next_segment=state.next_segment + 1))
        return Merged(
            tuple(segment.name for segment in chosen),
            into.name if into else None,
            into.n_living if into else 0,
            sum(segment.n_deleted for segment in chosen if segment != into),
            tuple(sorted(scales_of(survivors))),
            error,
        )

    def _write_merged(
        self, state: LiveState, segments: Sequence[Segment], settings: IndexSettings | None, progress: Progress
    ) -> tuple[SegmentState, float]:
        name = segment_name(state.next_segment)
        with self.scratch() as folder:
            vectors, scale, error = rebuild_vectors(segments, folder, progress)
            vectors = replace(vectors, query_encoder=seen_from_segment(state.query_encoder))
            write_living_texts(rows_of_segments(segments), folder)
            manifest = Manifest(store.KIND, store.FORMAT_VERSION, {"keep": state.keep, "scale": scale})
            with write_artifact(self.folder / SEGMENTS / name, manifest) as draft:
                meta = build_index(vectors, draft, state.keep, settings, progress, scale=scale)
                keep_texts(folder, draft, vectors.matrix.row_ids, own_order(draft, meta.reordered))
        return self._described(name, meta), error

    def _write_recounted(
        self,
        state: LiveState,
        segments: Sequence[CountedSegment],
        others: Sequence[CountedSegment],
        settings: IndexSettings,
        progress: Progress,
        embed: Embed | None,
    ) -> tuple[SegmentState, float | None, LiveGraft | None]:
        """The living documents of segments of BM25 as one segment, made of their counts, beside all `others`; the
        average length by which all are weighed from now on, and their graft."""
        living = [one for one in segments if Segment(one.index, one.allowed).n_living]
        name = segment_name(state.next_segment)
        with self.scratch() as scratch:
            made = write_merged_segment(self.folder, name, state, living, others, scratch, settings, progress, embed)
        return self._described(name, made.meta), made.mean_length, made.graft or state.graft

    def _present(self) -> LiveState:
        state = self.state
        if state is None:
            raise ArtifactError(f"there is nothing in {self.folder} yet; add documents first")
        return state

    def _commit(self, state: LiveState) -> None:
        before = self.state
        write_state(self.folder, replace(state, generation=(before.generation if before else 0) + 1))
        sweep(self.folder)

    def _described(self, name: str, meta: IndexMeta) -> SegmentState:
        manifest = hash_file(self.folder / SEGMENTS / name / MANIFEST)
        return SegmentState(name, meta.n_documents, meta.n_postings, meta.scale, manifest)

    def _with_given(self, named: SegmentState, metadata: MetadataLater | None) -> SegmentState:
        return named if metadata is None else self._with_metadata(named, [Living(metadata())])

    def _with_metadata(self, named: SegmentState, parts: Sequence[Living]) -> SegmentState:
        """A segment with what `parts` know of its documents, written for the generation that comes."""
        state = self.state
        return with_metadata(self.folder, named, 1 if state is None else state.generation + 1, parts)

    def _without(self, state: LiveState, doc_ids: set[str], replacing: bool) -> tuple[tuple[SegmentState, ...], int]:
        """The segments without these documents, and how many of them there were."""
        hits = self._find(state, doc_ids)
        found = {doc_id for hit in hits for doc_id in hit.rows}
        if found and not replacing:
            raise InputError(
                f"{len(found)} of the {len(doc_ids)} documents to add are in {self.folder} already (such as "
                f"{_some(sorted(found))}); give replacing=True to put the new ones in their place"
            )
        return self._hide(state, hits), len(found)

    def _find(self, state: LiveState, doc_ids: set[str]) -> list["_Found"]:
        """Where these documents live, a segment each. What is damaged would hide or name other documents."""
        opened = [open_segment(self.folder, segment, checksums=True) for segment in state.segments]
        return [_Found(segment, segment.rows_of_all(doc_ids)) for segment in opened]

    def _hide(self, state: LiveState, hits: Sequence["_Found"]) -> tuple[SegmentState, ...]:
        return tuple(
            self._hide_rows(state, named, hit.segment, [row for rows in hit.rows.values() for row in rows])
            for named, hit in zip(state.segments, hits, strict=True)
        )

    def _hide_rows(self, state: LiveState, named: SegmentState, segment: Segment, rows: list[int]) -> SegmentState:
        if not rows:
            return named
        known = segment.allowed
        allowed: NDArray[np.uint8] = np.ones(named.n_rows, np.uint8) if known is None else known.copy()
        allowed[np.asarray(rows)] = 0
        return replace(named, deleted=write_deleted(self.folder, named.name, state.generation + 1, allowed))


class _Found(NamedTuple):
    """A segment, and the living rows there of the documents looked for, by id."""

    segment: Segment
    rows: dict[str, list[int]]


def _some(doc_ids: Collection[str]) -> str:
    return ", ".join(repr(doc_id) for doc_id in islice(doc_ids, SHOWN_IDS))
