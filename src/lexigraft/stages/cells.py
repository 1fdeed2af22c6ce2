"""The cells of a run's table: a system's index of dk terms a document, and what qk terms of each query find there.

`run` and the grid of costs make the same artifacts by the same recipes, so that each keeps what the other made.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from lexigraft.core.artifact import Manifest
from lexigraft.core.config import settings_config
from lexigraft.core.cut import DocumentCut, Keep
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.data.collection import CORPUS, QUERIES, Collection
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.index.impact_bits import USUAL, impact_bits
from lexigraft.stages.encode import encode_lexical, lexical_settings, passage_config
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.evaluate import JudgedQueries, encode_judged, evaluate_queries
from lexigraft.stages.layout import JUDGED
from lexigraft.vectors import store as vectors_store
from lexigraft.vectors.store import open_vectors

KIND, FORMAT_VERSION = "evaluation", 1


class MeasuredOn(NamedTuple):
    """Which judgements of a collection, and which view its documents are."""

    collection: Collection
    split: str
    view: str = JUDGED


def ensure_lexical_vectors(
    artifacts: Ensurer, settings: Settings, view: str, collection: Collection, system: str, progress: Progress = SILENT
) -> Manifest:
    """The vectors of BM25, as `system` sets it, of the documents of a view."""
    data, lexical, rule = settings.data, lexical_settings(system, settings.lexical), settings.words.rule
    config = {**document_config(settings), "encoder": "bm25", **settings_config(lexical), **rule.entry}
    # New queries or judgements change no document.
    wanted = Manifest(
        vectors_store.KIND, vectors_store.FORMAT_VERSION, config, {"corpus": collection.digest(CORPUS)},
        notes={"seed": settings.run.seed},
    )  # fmt: skip
    return artifacts.ensure(
        "encode", f"encode {system} ({view})", artifacts.run.vectors(view, system), wanted,
        lambda folder: encode_lexical(collection, data, lexical, rule, folder, progress),
    )  # fmt: skip


def document_config(settings: Settings) -> dict[str, str | int]:
    """How documents are read and cut, for the recipe of their vectors."""
    data = settings.data
    return {"on_duplicate": data.on_duplicate, "on_bad_bytes": data.on_bad_bytes, **passage_config(data)}


def ensure_index(
    artifacts: Ensurer,
    settings: Settings,
    view: str,
    system: str,
    keep: DocumentCut,
    vectors: Manifest,
    progress: Progress = SILENT,
) -> Manifest:
    """The index of `vectors`, a system's in a view, whose documents are cut to `keep`."""
    # The memory budget changes how the index is built, not what it is, so it stays out of the recipe; so do defaults,
    # which indexes from before these settings have.
    source = artifacts.run.vectors(view, system)
    bits = impact_bits(settings.index, open_vectors(source, checksums=False), keep)
    chosen = {"bits": bits} if bits != USUAL else {}
    chosen |= {"reorder": True} if settings.index.reorder else {}
    # Readers show no texts of another state of the collection than the index is of; a note changes no fingerprint.
    of_corpus = {"corpus": vectors.parents["corpus"]} if "corpus" in vectors.parents else {}
    wanted = Manifest(
        index_store.KIND, index_store.FORMAT_VERSION, {"keep": keep, **chosen}, {"vectors": vectors.fingerprint},
        notes={"seed": settings.run.seed, **of_corpus},
    )  # fmt: skip
    name = f"index {system} ({view})" if not keep else f"index {system} ({view}, dk={keep})"
    return artifacts.ensure(
        "index", name, artifacts.run.index(view, system, keep), wanted,
        lambda folder: build_index(open_vectors(source), folder, keep, settings.index, progress),
    )  # fmt: skip


def ensure_evaluation(
    artifacts: Ensurer,
    settings: Settings,
    on: MeasuredOn,
    system: str,
    keep: Keep,
    index: Manifest,
    encoded: dict[str, JudgedQueries],
    progress: Progress = SILENT,
) -> Path:
    """The folder of a cell's evaluation. `encoded` keeps the queries of each system, encoded once for all its cells."""
    (collection, split, view), (qk, dk) = on, keep
    config = {
        "system": system, "split": split, "qk": qk, "dk": dk,
        **settings_config(settings.search), **settings_config(settings.evaluate),
    }  # fmt: skip
    judged_on = {"qrels": collection.digest(split), "queries": collection.digest(QUERIES)}
    parents = {"index": index.fingerprint, **judged_on}
    wanted = Manifest(KIND, FORMAT_VERSION, config, parents, notes={"seed": settings.run.seed})
    path = artifacts.run.evaluation(system, qk, dk, view)
    make = _evaluation(artifacts, settings, on, system, keep, encoded, progress)
    artifacts.ensure("evaluate", f"evaluate {system} (qk={qk}, dk={dk})", path, wanted, make)
    return path


def _evaluation(
    artifacts: Ensurer,
    settings: Settings,
    on: MeasuredOn,
    system: str,
    keep: Keep,
    encoded: dict[str, JudgedQueries],
    progress: Progress,
) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        index_path = artifacts.run.index(on.view, system, keep[1])
        if system not in encoded:
            encoded[system] = encode_judged(on.collection, on.split, index_path, settings.evaluate)
        evaluate_queries(
            encoded[system], index_path, artifacts.run.vectors(on.view, system), system, keep,
            settings.search, settings.evaluate, folder, progress,
        )  # fmt: skip

    return make
