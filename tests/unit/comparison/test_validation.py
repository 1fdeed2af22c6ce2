from dataclasses import replace

import pytest

from lexigraft.comparison.validation import validation_queries
from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.config import load_settings
from lexigraft.core.errors import InputError
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.collection import open_collection
from lexigraft.data.write import write_collection
from lexigraft.learn.training_data import training_data
from lexigraft.stages.finished_run import FinishedRun
from lexigraft.stages.layout import RunFolder

MODEL_AND_BM25 = ('run.systems=["bm25","esplade"]',)


def run_of(folder, n_train, splits, overrides=MODEL_AND_BM25) -> FinishedRun:
    """A run as it would be opened, of a collection whose first queries are training queries."""
    documents = [Document(f"d{i}", "", f"text number {i}") for i in range(n_train + 10)]
    queries = [Query(f"q{i}", f"number {i}") for i in range(n_train + 10)]
    qrels = {"train": [Qrel(f"q{i}", f"d{i}", 1) for i in range(n_train)]}
    for place, split in enumerate(splits):
        qrels[split] = [Qrel(f"q{n_train + i}", f"d{n_train + i}", 1) for i in range(5 * place, 5 * place + 5)]
    write_collection(folder, documents, queries, qrels)
    collection, settings = open_collection(folder), load_settings(None, overrides)
    return FinishedRun(
        RunFolder(folder / "run"), str(folder), settings, collection, collection.evaluation_split("auto")
    )


@pytest.mark.parametrize("splits", [("test",), ("dev",)])
def test_a_model_is_pruned_by_queries_that_did_not_train_it(tmp_path, splits):
    run = run_of(tmp_path / "data", 100, splits)
    found = validation_queries(run)
    assert found.described == "training queries that were held out"
    chosen = {qrel.query_id for qrel in found.qrels}
    trained = training_data(run.collection, run.split, run.settings.finetune)
    assert len(chosen) == 5  # a twentieth
    assert not chosen & {f"q{text.split()[-1]}" for text in trained.pairs.queries}
    assert chosen == {f"q{text.split()[-1]}" for text in trained.validation.queries}


def test_dev_queries_where_test_is_measured(tmp_path):
    run = run_of(tmp_path / "data", 100, ("test", "dev"))
    assert validation_queries(run).described == "dev"
    assert {qrel.query_id for qrel in validation_queries(run).qrels} == {f"q{105 + i}" for i in range(5)}


def test_a_model_that_validated_on_nothing_leaves_nothing(tmp_path):
    run = run_of(tmp_path / "data", 100, ("test",), (*MODEL_AND_BM25, "finetune.validate_every=0"))
    with pytest.raises(InputError, match=r"all training queries trained the model; add qrels/dev\.tsv"):
        validation_queries(run)


def test_nothing_measured(tmp_path):
    run = replace(run_of(tmp_path / "data", 3, ()), split=None)
    with pytest.raises(InputError, match=r"has no test or dev judgements.*data\.split"):
        validation_queries(run)


def test_a_part_of_what_is_measured_is_no_validation(tmp_path):
    """MS MARCO's dev.small is a part of dev."""
    run = run_of(tmp_path / "data", 100, ("dev",))
    write_collection(
        tmp_path / "msmarco",
        run.collection.documents(),
        run.collection.queries(),
        {
            "train": run.collection.qrels("train"),
            "dev": run.collection.qrels("dev"),
            "dev.small": run.collection.qrels("dev")[:3],
        },
    )
    collection = open_collection(tmp_path / "msmarco")
    found = validation_queries(replace(run, collection=collection, split="dev"))
    assert found.described == "training queries that were held out"


def test_training_queries_that_changed_after_training(tmp_path):
    run = run_of(tmp_path / "data", 100, ("test",))
    trained = Manifest("model", 1, {}, {"train": run.collection.digest("train")})
    with write_artifact(run.folder.model("finetuned"), trained):
        pass
    assert validation_queries(run).qrels
    with (tmp_path / "data/qrels/train.tsv").open("a") as file:
        file.write("q105\td105\t1\n")
    with pytest.raises(InputError, match="other train than the model"):
        validation_queries(replace(run, collection=open_collection(tmp_path / "data")))
