"""A live index of BM25 grafted: all of its documents at once, and those that are added later."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.arrays import open_array
from lexigraft.core.artifact import Manifest
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import AUTO, Settings
from lexigraft.dense.encode import encode_dense
from lexigraft.dense.store import VECTORS
from lexigraft.dense.unfinished import UnfinishedVectors
from lexigraft.grafted.given_vectors import write_given_vectors
from lexigraft.index.live.embedding import Embed, Embedded, ToEmbed
from lexigraft.index.live.graft_facts import GIVEN, LiveGraft
from lexigraft.index.live.opening import open_writer
from lexigraft.index.live.writer import LiveWriter, Merged
from lexigraft.learn.grafting import cost_of, shares_of
from lexigraft.learn.sentence_encoder import sentence_encoder, why_no_encoder
from lexigraft.stages.grafted_cells import BITS, open_reader

UNFINISHED = ".graft"  # in the live folder: vectors that a killed call has made


def graft_live(live: Path, vectors: Any, settings: Settings, wait: bool = False, progress: Progress = SILENT) -> Merged:
    """Graft all documents of a live index of BM25 as `settings.grafted` says, by `vectors`, an array or a path, or else
    by those of the sentence encoder that `settings.model.backbone` is. Until that is done, and where it is stopped, the
    index stays what it is; of what the encoder has done, a stopped call loses a batch."""
    grafted, unfinished = settings.grafted, live / UNFINISHED
    borrowed, told = (float(one) for one in shares_of(settings)[:2])
    facts = LiveGraft(borrowed, told, grafted.neighbours, cost_of(settings), grafted.length, GIVEN)
    if vectors is not None:
        with open_writer(live, wait) as writer:
            return writer.graft(facts, given_vectors(vectors, progress), settings.index, progress)
    backbone = _found_again(settings.model.backbone)
    require_encoder(backbone)
    with sentence_encoder(backbone) as (model, made), open_writer(live, wait) as writer:
        facts = replace(facts, encoder=backbone, bits=settings.model.bits, fingerprint=made.fingerprint)
        done = writer.graft(facts, encoded((model, made), facts, unfinished, progress), settings.index, progress)
        shutil.rmtree(unfinished, ignore_errors=True)
        return done


@contextmanager
def embedding_for(writer: LiveWriter, vectors: Any, progress: Progress = SILENT) -> Iterator[Embed | None]:
    """What makes vectors of documents that are added to a live index: of those given, or by the encoder that grafted
    it; None where it is not grafted and none are given."""
    graft = writer.state.graft if writer.state is not None else None
    if vectors is not None:
        if graft is not None and graft.encoder != GIVEN:
            raise InputError(f"{writer.folder} is grafted by its own encoder, {graft.encoder}; leave out the vectors")
        yield given_vectors(vectors, progress)
    elif graft is None or graft.encoder == GIVEN:
        yield None
    else:
        require_encoder(graft.encoder)
        with sentence_encoder(graft.encoder) as (model, made):
            if made.fingerprint != graft.fingerprint:
                raise InputError(
                    f"{writer.folder} was grafted by another encoder than {graft.encoder!r} is here, whose vectors "
                    "would not fit; graft it again: lexigraft index graft LIVE"
                )
            yield encoded((model, made), graft, None, progress)


def require_encoder(backbone: str) -> None:
    """Raise, with the remedy, unless there is a sentence encoder of that name."""
    if reason := why_no_encoder(backbone):
        raise InputError(
            f"documents' vectors are made by a sentence encoder, and {reason}; or give vectors that you made of all "
            "documents (vectors=..., --vectors FILE)"
        )


def given_vectors(vectors: Any, progress: Progress = SILENT) -> Embed:
    """Those of a file or an array, in the order of the documents or with their ids."""
    source = Path(vectors) if isinstance(vectors, str) else vectors

    def embed(rows: ToEmbed) -> Embedded:
        made = write_given_vectors(source, rows.row_ids, rows.folder, BITS, rows.without_words, progress)
        return Embedded(open_array(rows.folder / VECTORS, np.float16).reshape(-1, made.width), not made.by_id)

    return embed


def encoded(
    encoder: tuple[Path, Manifest], facts: LiveGraft, unfinished: Path | None, progress: Progress = SILENT
) -> Embed:
    """Those that a sentence encoder makes. What it has done is kept at `unfinished`, where that is given."""

    def embed(rows: ToEmbed) -> Embedded:
        network, name = open_reader(encoder, facts.bits, facts.length)
        kept = None if unfinished is None else UnfinishedVectors(unfinished, name)
        meta = encode_dense(
            rows.documents(), network, {"kind": "dense"}, rows.folder, BITS, progress=progress,
            total=len(rows.row_ids), unfinished=kept,
        )  # fmt: skip
        return Embedded(open_array(rows.folder / VECTORS, np.float16).reshape(-1, meta.width), by_place=False)

    return embed


def _found_again(backbone: str) -> str:
    """A name that means the same wherever the next call is made from."""
    return str(Path(backbone).resolve()) if backbone != AUTO and Path(backbone).is_dir() else backbone
