"""Vocabularies measured and compared: `stats.json` or `comparison.json`, and `frequency.png`."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.comparison.frequency_picture import draw
from lexigraft.core.artifact import Manifest, write_artifact, write_json
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.data.collection import Collection
from lexigraft.stages.collect import source_description
from lexigraft.stages.standalone import require_free_for
from lexigraft.stages.vocabularies import judged_collection, open_vocabulary
from lexigraft.vocab import compare as comparing
from lexigraft.vocab.opened import OpenVocabulary
from lexigraft.vocab.stats import describe
from lexigraft.vocab.use import measure_use

KIND, FORMAT_VERSION = "vocabulary study", 1
ALL_QUERIES = "all"


@dataclass(frozen=True)
class Studied:
    """`facts` is all there is to print; `counts` are the vocabulary's own or, where it has none, the collection's."""

    opened: OpenVocabulary
    counts: NDArray[np.int64] | None
    facts: dict[str, Any]


def stats(
    vocabulary: Path, source: str | None, out: Path | None, settings: Settings, progress: Progress = SILENT
) -> dict[str, Any]:
    """The numbers of a vocabulary and, with a collection, of its use there; written to `out` where that is given."""
    [studied] = _study([vocabulary], source, out, settings, progress)
    if out is not None:
        _write(out, "stats.json", studied.facts, [studied], source, settings)
    return studied.facts


def compare(
    a: Path, b: Path, source: str | None, out: Path | None, settings: Settings, progress: Progress = SILENT
) -> dict[str, Any]:
    """What two vocabularies share, with the numbers of both; written to `out` where that is given."""
    studied = _study([a, b], source, out, settings, progress)
    first, second = studied
    found = comparing.compare(first.opened, first.counts, second.opened, second.counts)
    facts = {"a": first.facts, "b": second.facts, **asdict(found)}
    if out is not None:
        _write(out, "comparison.json", facts, studied, source, settings)
    return facts


def _study(
    paths: Sequence[Path], source: str | None, out: Path | None, settings: Settings, progress: Progress
) -> list[Studied]:
    """All that can be wrong is looked at before anything is read for long."""
    if out is not None:
        require_free_for(out, KIND)
    opened = [open_vocabulary(path) for path in paths]
    with ExitStack() as stack:
        collection = None
        if source is not None:
            collection = stack.enter_context(judged_collection(source, settings.data, progress))
        return [_studied(one, collection, settings, progress) for one in opened]


def _studied(opened: OpenVocabulary, collection: Collection | None, settings: Settings, progress: Progress) -> Studied:
    counts, counts_from, use = opened.counts, None if opened.counts is None else "vocabulary", None
    if collection is not None:
        which, queries = _queries(collection, settings.data.split)
        documents = progress.track((document.contents for document in collection.documents()), "reading documents")
        found = measure_use(opened, documents, queries)
        if not found.documents:
            raise InputError(f"{collection.name} has no documents to try a vocabulary on")
        measured = {name: value for name, value in vars(found).items() if not isinstance(value, np.ndarray)}
        use = {"name": collection.name, "queries_of": which, **measured}
        if counts is None:
            counts, counts_from = found.term_counts, "collection"
    facts = {"vocabulary": opened.name, **asdict(describe(opened, counts)), "counts_from": counts_from}
    return Studied(opened, counts, {**facts, "collection": use})


def _queries(collection: Collection, wanted: str) -> tuple[str, Iterator[str]]:
    """(the split, its judged queries), or all queries where nothing is judged."""
    split = collection.evaluation_split(wanted)
    if split is None:
        return ALL_QUERIES, (query.text for query in collection.queries())
    judged = {qrel.query_id for qrel in collection.qrels(split)}
    return split, (query.text for query in collection.queries() if query.query_id in judged)


def _write(
    out: Path, name: str, facts: dict[str, Any], studied: Sequence[Studied], source: str | None, settings: Settings
) -> None:
    data = None if source is None else source_description(source, settings.data)
    config = {"vocabularies": [one.opened.vocabulary.fingerprint for one in studied], "data": data}
    with write_artifact(out, Manifest(KIND, FORMAT_VERSION, config)) as folder:
        write_json(folder / name, facts)
        curves = {one.opened.name: one.counts for one in studied if one.counts is not None and one.counts.any()}
        if curves:
            draw(curves, folder / "frequency.png")
