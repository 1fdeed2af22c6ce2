"""What a setting of a run is chosen by: queries that the run neither reports numbers of nor trained on.

Dev queries; where dev is what is measured, or absent, training queries that fine-tuning held out or, where the run has
no model, any training queries. Queries that are measured are never among them.
"""

import hashlib
from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.artifact import Manifest, canonical_json, read_manifest, write_json
from lexigraft.core.config import settings_config
from lexigraft.core.cut import Keep
from lexigraft.core.errors import InputError
from lexigraft.core.settings import EvaluateSettings, SearchSettings
from lexigraft.core.systems import System
from lexigraft.core.types import Qrel
from lexigraft.data.collection import EVALUATION_SPLITS, QUERIES
from lexigraft.index.store import open_index
from lexigraft.learn.training_data import TRAIN, held_out
from lexigraft.measure.cost import flops, mean_terms
from lexigraft.measure.measures import measure
from lexigraft.stages.evaluate import JudgedQueries, asked_vectors, searcher_of, what_is_kept
from lexigraft.stages.finished_run import FinishedRun
from lexigraft.vectors.prune import prune

KIND, FORMAT_VERSION = "validation", 1
DEPTH = 10
CHOSEN_BY = "MRR@10"
UNTIMED = EvaluateSettings(timing_queries=1, timing_runs=1)  # nobody reads what encoding a validation query takes
MEASURES = (CHOSEN_BY, "R@10")


class NoValidationQueriesError(InputError):
    """The run has no judged queries that are neither reported nor trained on; `reason` says so without a remedy."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}; {remedy}")
        self.reason = reason


class ValidationQueries(NamedTuple):
    """`described` says which they are, `split` whose judgements they have."""

    described: str
    split: str
    qrels: list[Qrel]

    @property
    def digest(self) -> str:
        return hashlib.sha256(canonical_json(self.qrels).encode("utf-8", "surrogatepass")).hexdigest()


def validation_queries(
    run: FinishedRun, measured: bool = True, system: System | None = None, trained: bool = True
) -> ValidationQueries:
    """Those for a system of a run, or for its first model; raises where there are none, and says how to get some.
    `measured`: the run must report numbers of others; without it, one that measures nothing may have some, too.
    `trained`: without it they are asked for before the system is trained, whatever a model there was trained with."""
    model = system if system is not None and system.learns else _first_that_learns(run)
    split = run.measured_split() if measured else run.split
    reported = {qrel.query_id for qrel in run.collection.qrels(split)} if split is not None else set()
    dev = next((split for split in _dev_splits(run, split) if _has_others(run.collection.qrels(split), reported)), "")
    held_out_of_training = not dev and model is not None and TRAIN in run.collection.splits
    if dev:
        described = f"made {dev}" if run.settings.data.makes_pairs else dev
        found = ValidationQueries(described, dev, run.collection.qrels(dev))
    elif TRAIN not in run.collection.splits:
        found = ValidationQueries("", "", [])
    elif model is not None:
        if trained:
            _require_what_trained(run, model)
        kept = held_out(run.collection, split, model.settings.finetune)
        found = ValidationQueries("training queries that were held out", TRAIN, kept)
    else:
        found = ValidationQueries("training queries", TRAIN, run.collection.qrels(TRAIN))
    unreported = [qrel for qrel in found.qrels if qrel.query_id not in reported]
    if not _has_others(unreported, reported):
        raise NoValidationQueriesError(
            f"{run.collection.name} has no judged queries to choose a setting by: "
            + (f"{split} is what is measured" if split is not None else "nothing else is judged")
            + (", and all training queries trained the model" if held_out_of_training else ""),
            "add qrels/dev.tsv, or qrels/train.tsv and finetune.validate_every of more than 0",
        )
    return found._replace(qrels=unreported)


def _first_that_learns(run: FinishedRun) -> System | None:
    """A run's first model or, where it has none, its first dense encoder."""
    return next(iter(sorted((one for one in run.systems() if one.learns), key=lambda one: not one.is_model)), None)


def _require_what_trained(run: FinishedRun, model: System) -> None:
    """Raise where the training queries are no longer those of the model: others would be taken for held out."""
    trained = read_manifest(run.folder.of(model).model(model.trained_part))
    if trained is None:
        return
    for name in (TRAIN, QUERIES):
        if trained.parents.get(name, run.collection.digest(name)) != run.collection.digest(name):
            raise InputError(
                f"{run.collection.name} has other {name} than the model of {run.folder.root} was trained with, so "
                "which were held out is not known; continue the run, which trains again, or bring them back"
            )


def _dev_splits(run: FinishedRun, measured: str | None) -> list[str]:
    return [s for s in EVALUATION_SPLITS if s.startswith("dev") and s in run.collection.splits and s != measured]


def _has_others(qrels: Sequence[Qrel], reported: Set[str]) -> bool:
    """Whether some query with a relevant document is not among the reported; of dev.small all are where dev is."""
    return any(qrel.relevance > 0 and qrel.query_id not in reported for qrel in qrels)


def wanted_validation(run: FinishedRun, on: ValidationQueries, system: str, keep: Keep, index: Manifest) -> Manifest:
    """The recipe of `validate`'s result."""
    config = {"system": system, "split": on.described, "qk": keep[0], "dk": keep[1], **search_config(run)}
    parents = {"index": index.fingerprint, "queries": run.collection.digest(QUERIES), "judgements": on.digest}
    return Manifest(KIND, FORMAT_VERSION, config, parents)


def search_config(run: FinishedRun) -> dict[str, Any]:
    return settings_config(replace(run.settings.search, k=DEPTH))


def validate(
    queries: JudgedQueries,
    search: SearchSettings,
    index_path: Path,
    vectors_path: Path,
    system: str,
    keep: Keep,
    folder: Path,
) -> None:
    """Leave `row.json`: what a pruning is worth on validation queries, and what it costs there. Nothing is timed."""
    opened, cut = open_index(index_path), prune(queries.vectors, keep[0])
    searcher, asked = searcher_of(opened, keep[0], search, vectors_path), asked_vectors(queries, keep[0], search)
    rankings = [searcher.search(*asked.row(row), DEPTH, asked.row_ids[row]) for row in range(asked.n_rows)]
    row = {
        "system": system, "qk": keep[0], "dk": keep[1],
        **what_is_kept(queries, vectors_path, keep),
        "L0_q": mean_terms(cut.indptr),
        "L0_d": opened.meta.n_postings / opened.n_documents,
        "FLOPS": flops(cut, opened),
        "postings": opened.meta.n_postings,
        **{item.measure: item.mean for item in measure(rankings, queries.judged, MEASURES)},
        "queries": cut.n_rows,
    }  # fmt: skip
    write_json(folder / "row.json", row)
