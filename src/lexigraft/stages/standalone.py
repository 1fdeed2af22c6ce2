"""One artifact and nothing else, without a run around it: an index of text or of vectors, or a model's vectors."""

import logging
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.artifact import Manifest, open_artifact, read_manifest, require_replaceable, write_artifact
from lexigraft.core.config import settings_config
from lexigraft.core.cut import DocumentCut
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.core.lock import working_folder, writer_lock
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.data.collection import Collection
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.index.inverted import IndexMeta
from lexigraft.index.store import open_index
from lexigraft.index.texts import TextWriter, copy_texts, keep_texts, own_order
from lexigraft.inference.meta import MODEL_FORMAT, MODEL_KIND, read_meta
from lexigraft.stages.collect import collect, collected, source_description
from lexigraft.stages.encode import encode_lexical, passage_config
from lexigraft.stages.ensure import keep_or_make
from lexigraft.stages.expanded_documents import named_expansions
from lexigraft.stages.find_model import find_model
from lexigraft.stages.layout import lies_at
from lexigraft.stages.origin import origin_of, same_content
from lexigraft.stages.standalone_origin import remove_metadata_of, require_of, source_of_vectors
from lexigraft.stages.texts import keep_texts_of_rows
from lexigraft.vectors import store as vectors_store
from lexigraft.vectors.deciding_words import LEXICAL, decide_words

log = logging.getLogger(__name__)


class Inverting(NamedTuple):
    """What is indexed, where its vectors lie, and where the index will lie."""

    vectors: vectors_store.DocumentVectors
    path: Path
    out: Path
    keep: DocumentCut
    settings: Settings


def invert_at_once(inverting: Inverting, folder: Path, progress: Progress) -> IndexMeta:
    """Write the index into `folder`, in this process."""
    return build_index(inverting.vectors, folder, inverting.keep, inverting.settings.index, progress)


Invert = Callable[[Inverting, Path, Progress], IndexMeta]


class Improving(NamedTuple):
    """BM25's vectors at `lexical`, of which better ones are to be made: of which documents, how these are read, a
    folder to work in, and one that stays after a kill."""

    collection: Collection
    settings: Settings
    lexical: Path
    scratch: Path
    aside: Path


Improve = Callable[[Improving, Path, Progress], None]  # writes vectors into a folder


def build(
    source: str,
    out: Path,
    settings: Settings,
    keep: DocumentCut = 0,
    progress: Progress = SILENT,
    replace_other: bool = False,
    invert: Invert = invert_at_once,
    improve: Improve | None = None,
) -> IndexMeta:
    """Index `source` (a collection folder, or "pydocs" in its full view) at `out`. An index of the same collection
    there is replaced; that of another one only with `replace_other`. `invert` makes lists of vectors: at once, or by
    shards. With `improve`, an index of BM25 is searchable until that of the better vectors takes its place; one that is
    there already stays until then."""
    require_free_for(out, index_store.KIND)
    description = source_description(source, settings.data)
    origin = origin_of(source, out)
    is_there = lies_at(out)
    is_other = require_of(out, source, lambda found: same_content(found.config, description), replace_other)
    passages = passage_config(settings.data)
    with _collected(source, out, settings, progress) as (collection, scratch):
        read = decide_words(settings, collection.documents(), [LEXICAL])
        lexical, rule = read.lexical.decided(), read.words.rule
        config = {**description, **passages, "keep": keep, **settings_config(lexical), **rule.entry}
        vectors_folder = scratch / "vectors"
        manifest = Manifest(vectors_store.KIND, vectors_store.FORMAT_VERSION, config)
        with (
            write_artifact(vectors_folder, manifest) as folder,
            TextWriter(scratch, settings.index.most_text_bytes) as texts,
        ):
            encode_lexical(collection, settings.data, lexical, rule, folder, progress, texts)

        def index(vectors_folder: Path, config: Mapping[str, Any]) -> None:
            manifest = Manifest(index_store.KIND, index_store.FORMAT_VERSION, dict(config), notes=origin.note)
            with write_artifact(out, manifest) as folder:
                vectors = vectors_store.open_vectors(vectors_folder)
                meta = invert(Inverting(vectors, vectors_folder, out, keep, settings), folder, progress)
                keep_texts(scratch, folder, vectors.matrix.row_ids, own_order(folder, meta.reordered))

        if improve is None or not is_there:
            index(vectors_folder, config)
        if improve is not None:
            if not is_there:
                log.info("searchable now, by BM25: lexigraft search --index %s", out)
                copy_texts(out, scratch)
            better, aside = scratch / "better", out.with_name(f".{out.name}.unfinished")
            improving = Improving(collection, read, vectors_folder, scratch, aside)
            with write_artifact(better, Manifest(vectors_store.KIND, vectors_store.FORMAT_VERSION, config)) as folder:
                improve(improving, folder, progress)
            index(better, {**config, "grafted": settings_config(settings.grafted)})
            shutil.rmtree(aside, ignore_errors=True)
    if is_other:
        remove_metadata_of(out)
    return open_index(out, checksums=False).meta


def index_vectors(
    vectors: Path,
    out: Path,
    settings: Settings,
    keep: DocumentCut = 0,
    progress: Progress = SILENT,
    replace_other: bool = False,
    data: str | None = None,
    invert: Invert = invert_at_once,
) -> IndexMeta:
    """Index vectors made by `encode` at `out`. An index of the same collection there is replaced; that of another one
    only with `replace_other`. Vectors of a run, which do not name their collection, are known by their own path. `data`
    is the collection that they are of, whose texts are kept."""
    require_free_for(out, index_store.KIND)
    if settings.index.texts == "yes" and data is None:
        raise SettingError("vectors hold no texts; to keep those of the collection that they are of, give --data, too")
    opened = vectors_store.open_vectors(vectors)
    source = source_of_vectors(vectors)
    is_other = require_of(
        out, source, lambda found: found.parents.get("vectors") == opened.fingerprint, replace_other
    )  # fmt: skip
    queries = seen_from(out, opened.query_encoder, vectors)
    manifest = Manifest(
        index_store.KIND, index_store.FORMAT_VERSION, {"keep": keep}, {"vectors": opened.fingerprint},
        notes=origin_of(source, out).note,
    )  # fmt: skip
    with write_artifact(out, manifest) as folder:
        seen = replace(opened, query_encoder=queries)
        meta = invert(Inverting(seen, vectors, out, keep, settings), folder, progress)
        if data is not None:
            keep_texts_of_rows(data, opened.matrix.row_ids, settings, folder, meta.reordered)
    if is_other:
        remove_metadata_of(out)
    return open_index(out, checksums=False).meta


def train_alone(out: Path, wanted: Manifest, name: str, train: Callable[[Path, Path], None]) -> None:
    """The trained artifact `wanted` at `out`: kept where it is there, else made by `train(aside, folder)`, which keeps
    what is half done in the folder `aside` and continues what it finds there."""
    aside = out.with_name(f".{out.name}.training")
    with working_folder(aside):
        if keep_or_make(out, wanted, lambda folder: train(aside, folder)).was_there:
            log.info("%s: done before", name)
        shutil.rmtree(aside, ignore_errors=True)  # also what a call left that was killed just before this


def seen_from(folder: Path, query_encoder: Mapping[str, Any], before: Path) -> dict[str, Any]:
    """An encoder's description whose way to the model starts at `folder`, not at the folder `before`."""
    if "model" not in query_encoder:
        return dict(query_encoder)
    return {**query_encoder, "model": os.path.relpath((before / query_encoder["model"]).resolve(), folder.resolve())}


def find_finetuned(path: Path) -> tuple[Path, str]:
    """(folder, fingerprint) of the model at `path`, or that of the run there; raises where it writes no vectors yet."""
    model = find_model(path)
    fingerprint = open_artifact(model, MODEL_KIND, MODEL_FORMAT).fingerprint
    if not read_meta(model).query_length:
        remedy = "fine-tune it first: lexigraft finetune, which leaves RUN/model/finetuned"
        raise InputError(f"{model} was pre-trained and not fine-tuned: it writes no vectors yet; {remedy}")
    return model, fingerprint


class Encoding(NamedTuple):
    """What is encoded, by what, and where the vectors will lie: `recipe` says the same for their manifest."""

    collection: Collection
    settings: Settings
    model: Path
    out: Path
    expansions: Path | None
    texts: TextWriter | None
    recipe: Manifest


def encode_at_once(encoding: Encoding, folder: Path, progress: Progress) -> None:
    """Write the vectors into `folder`, in this process."""
    from lexigraft.stages.encode_model import encode_with_trained_model

    collection, settings, model, out, expansions, texts, _ = encoding
    encode_with_trained_model(
        collection, settings.data, model, folder, out, progress, expansions, texts, settings.model.bits
    )


Write = Callable[[Encoding, Path, Progress], None]


def encode(
    source: str | Collection,
    model: Path,
    out: Path,
    settings: Settings,
    progress: Progress = SILENT,
    replace_other: bool = False,
    texts: TextWriter | None = None,
    write: Write = encode_at_once,
) -> vectors_store.VectorsMeta:
    """The vectors that the model at `model`, or that of the run there, writes for `source`, at `out`; of documents with
    their expansions, where `model.expansions` names a file of them. A collection that is open is read as it is. Vectors
    of another collection there are replaced only with `replace_other`. `texts` keeps what documents say on the way.
    `write` does the work: at once, or by shards."""
    from lexigraft.stages.encode_model import bits_config

    require_free_for(out, vectors_store.KIND)
    model, fingerprint = find_finetuned(model)
    parents = {"model": fingerprint}
    expansions = named_expansions(settings.model.expansions)
    if expansions is not None:
        if not read_meta(model).expansion_length:
            raise InputError(f"{model} was trained without expansions and reads none; encode without {expansions.file}")
        parents["expansions"] = expansions.digest
    opened: AbstractContextManager[tuple[Collection, Path]]
    if isinstance(source, Collection):
        description, opened, notes = source.description(), nullcontext((source, out)), {}
    else:
        description, notes = source_description(source, settings.data), origin_of(source, out).note
        require_of(out, source, lambda found: same_content(found.config, description), replace_other)
        opened = _collected(source, out, settings, progress)
    config = {**description, **passage_config(settings.data), **bits_config(settings.model.bits)}
    with opened as (collection, _):
        manifest = Manifest(vectors_store.KIND, vectors_store.FORMAT_VERSION, config, parents, notes=notes)
        file = expansions.file if expansions is not None else None
        with write_artifact(out, manifest) as folder:
            write(
                Encoding(collection, settings, model.resolve(), out.resolve(), file, texts, manifest), folder, progress
            )
    return vectors_store.read_meta(out)


@contextmanager
def _collected(source: str, out: Path, settings: Settings, progress: Progress) -> Iterator[tuple[Collection, Path]]:
    """The collection to work on, and a folder beside `out` to work in, with a lock in it: one builder at a time."""
    scratch = out.with_name(f".{out.name}.building")
    with writer_lock(scratch):
        folder = scratch / "collection"
        shutil.rmtree(folder, ignore_errors=True)  # of a builder that was killed
        folder.mkdir()
        try:
            collect(source, settings.data, folder, progress)
            yield next(iter(collected(source, settings.data, folder).values())), scratch
        finally:
            shutil.rmtree(scratch)


def require_free_for(out: Path, kind: str) -> None:
    """Raise unless `out` is free or holds an artifact of `kind`, which may be replaced."""
    require_replaceable(out)
    existing = read_manifest(out)
    if existing is not None and existing.kind != kind:
        article = "an" if kind[0] in "aeiou" else "a"
        raise ArtifactError(
            f"{out} holds a {existing.kind}, not {article} {kind}; give another folder, or remove it first"
        )
